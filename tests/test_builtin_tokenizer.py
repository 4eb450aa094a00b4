"""What the vocabulary that comes with the package promises."""

import unicodedata
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnloom import Tokenizer, load_tokenizer

FILE = resources.files("turnloom").joinpath("builtin/tokenizer.json")
TOKENIZER = load_tokenizer("builtin")

SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|python_tag|>",
]
NOT_SPECIAL = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"]


@pytest.fixture
def tok() -> Tokenizer:
    return TOKENIZER


def test_size(tok: Tokenizer) -> None:
    assert len(FILE.read_bytes()) < 400_000
    assert tok.vocab_size == 8192
    assert all(tok.id_to_token(id_) is not None for id_ in range(8192))


def test_control_tokens(tok: Tokenizer) -> None:
    assert set(tok.added_tokens) == {*SPECIAL, *NOT_SPECIAL}
    assert tok.special_ids == {tok.added_tokens[token] for token in SPECIAL}
    assert sorted(tok.added_tokens.values()) == list(range(8176, 8192))
    for token, id_ in tok.added_tokens.items():
        assert tok.encode(f"a{token}b") == [*tok.encode("a"), id_, *tok.encode("b")]
        assert id_ not in tok.encode(token, special="none")
        assert tok.decode(tok.encode(token, special="none")) == token


def test_every_byte_is_a_token(tok: Tokenizer) -> None:
    single = {tok.decode_bytes([id_]) for id_ in range(8176)}
    assert single >= {bytes([byte]) for byte in range(256)}


def test_digits_are_single(tok: Tokenizer) -> None:
    assert len(tok.encode("1234567890")) == 10


def test_prose_and_json_are_short(tok: Tokenizer) -> None:
    prose = "Return the number of items in a container. The arguments are the same as for the class."
    assert len(tok.encode(prose)) < len(prose) / 3.5
    call = '{"name": "read_file", "arguments": {"path": "value", "encoding": "utf-8"}}'
    assert len(tok.encode(call)) < len(call) / 2.5


@given(st.text())
def test_round_trip(text: str) -> None:
    ids = TOKENIZER.encode(text)
    assert TOKENIZER.decode(ids) == unicodedata.normalize("NFC", text)
    assert TOKENIZER.decode_bytes(ids) == TOKENIZER.decode(ids).encode()
