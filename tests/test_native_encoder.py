"""The native encoder and decoder on real vocabularies that pip brings, and the backend that is chosen."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vocabularies
from tokenizer_oracle import EDGE_TEXTS, encode_all, full_tokenizer, tokenizer_json
from turnloom import load_tokenizer
from turnloom.tokenizer_file import read_vocabulary
from turnloom.tokenizers_encoder import TokenizersEncoder
from vocabularies import DEEPSEEK_FILE, PATTERNS, QWEN_FILE, tiktoken_encoding

RUNS = st.sampled_from(
    [
        "  ",
        "\n\n",
        " \t",
        "'s",
        "'LL",
        "'\u017f",
        "123",
        "½",
        "e\u0301",
        "\u0344",
        "中文",
        "👩\u200d🚀",
        "<think",
        "Ab",
        "aB",
    ]
)
TEXTS = st.one_of(
    st.lists(st.one_of(st.text(), RUNS, st.sampled_from(EDGE_TEXTS)), max_size=12).map("".join),
    st.builds(
        lambda part, n: part * n, st.one_of(st.text(min_size=1, max_size=3), RUNS), st.integers(1, 300)
    ),
)


DEEPSEEK_DOCUMENT: dict[str, Any] = json.loads(DEEPSEEK_FILE.read_bytes())
DEEPSEEK = load_tokenizer(DEEPSEEK_FILE)
DEEPSEEK_ENCODER = TokenizersEncoder(DEEPSEEK_DOCUMENT)
DEEPSEEK_PACKAGE = full_tokenizer(DEEPSEEK_DOCUMENT)
QWEN = load_tokenizer(QWEN_FILE)


QWEN_TIKTOKEN = tiktoken_encoding(QWEN_FILE, PATTERNS["qwen2"], QWEN.added_tokens)


@given(TEXTS)
def test_deepseek(text: str) -> None:
    assert DEEPSEEK.encode(text) == DEEPSEEK_PACKAGE.encode(text, add_special_tokens=False).ids


@given(TEXTS)
def test_qwen_ranks(text: str) -> None:
    # That release of Unicode knows later marks than the package that the core agrees with.
    if unicodedata.is_normalized("NFC", text):
        assert QWEN.encode(text) == QWEN_TIKTOKEN.encode(text, allowed_special="all")
        assert QWEN.encode(text, special="none") == QWEN_TIKTOKEN.encode_ordinary(text)


@given(TEXTS)
def test_spans_are_those_of_the_package(text: str) -> None:
    if not text:
        return
    for found, expected in zip(
        DEEPSEEK._encoder.encode_regions([text]), DEEPSEEK_ENCODER.encode_regions([text]), strict=True
    ):
        assert found.tolist() == expected.tolist()
        assert found.dtype == expected.dtype


def test_batches_equal_single_calls() -> None:
    texts = [text * n for text in EDGE_TEXTS for n in (1, 3, 50)]
    rows = QWEN.encode_batch(texts)
    assert [row.tolist() for row in rows] == [QWEN.encode(text) for text in texts]
    assert [row.tolist() for row in QWEN.encode_batch(texts, threads=3)] == [row.tolist() for row in rows]


@pytest.mark.parametrize(
    "unit", ["a", " ", "1", "\n", "中", "\u0301", "e\u0301", "ab", "🦙", "a ", "'s", "\u00a0"]
)
def test_a_million_characters(unit: str) -> None:
    n = 1_000_000 // len(unit)
    for tok in (QWEN, DEEPSEEK):
        ids = tok.encode(unit * n)
        normalised = unicodedata.normalize("NFC", unit) if tok is QWEN else unit
        assert tok.decode(ids) == normalised * n


IDS = st.lists(st.integers(0, DEEPSEEK.vocab_size + 50), max_size=40)
# Tokens that are parts of characters, so that streams are cut within them.
PARTS = [id_ for id_ in range(DEEPSEEK.vocab_size) if b"\xef\xbf\xbd" in DEEPSEEK.decode([id_]).encode()]


@given(st.one_of(IDS, st.lists(st.sampled_from(PARTS), max_size=40)), st.booleans(), st.integers(1, 5))
def test_decode(ids: list[int], skip: bool, step: int) -> None:
    expected = DEEPSEEK_PACKAGE.decode(ids, skip_special_tokens=skip)
    assert DEEPSEEK.decode(ids, skip_special_tokens=skip) == expected
    assert DEEPSEEK.decode_batch([ids, []], skip_special_tokens=skip) == [expected, ""]
    stream = DEEPSEEK.stream_decoder(skip_special_tokens=skip)
    parts = [stream.feed(ids[i : i + step]) for i in range(0, len(ids), step)]
    assert "".join([*parts, stream.finish()]) == expected
    assert stream.finish() == ""
    assert stream.feed(ids) + stream.finish() == expected


def test_a_character_is_held_until_it_is_complete() -> None:
    llama = "🦙".encode()
    byte_ids = [QWEN.token_to_id(token) for token in ["ð", "Ł", "¦", "Ļ"]]
    assert QWEN.decode_bytes(byte_ids) == llama  # type: ignore[arg-type]
    stream = QWEN.stream_decoder()
    assert [stream.feed([id_]) for id_ in byte_ids] == ["", "", "", "🦙"]  # type: ignore[list-item]
    assert [stream.feed(byte_ids[:2]), stream.finish()] == ["", "\ufffd"]  # type: ignore[arg-type]
    assert [stream.feed([byte_ids[0]]), stream.feed([64])] == ["", "\ufffda"]  # type: ignore[list-item]


def character_model() -> dict[str, Any]:
    tokens = [f"<0x{byte:02X}>" for byte in range(256)] + ["<unk>", "▁", "a", "b", "▁a", "▁▁", "é"]
    return tokenizer_json(
        {token: id_ for id_, token in enumerate(tokens)},
        added=[{"content": "<end>", "special": True}],
        model={
            "merges": ["▁ a", "▁ ▁"],
            "byte_fallback": True,
            "fuse_unk": True,
            "unk_token": "<unk>",
        },
        normalizer={"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        decoder={
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
            ],
        },
    )


CHARACTERS_DOCUMENT = character_model()
CHARACTERS = load_tokenizer(full_tokenizer(CHARACTERS_DOCUMENT))
CHARACTERS_PACKAGE = full_tokenizer(CHARACTERS_DOCUMENT)


@given(st.lists(st.one_of(TEXTS, st.sampled_from([" a", "▁", "  ", "<end>", "<0x61>", "é"]))).map("".join))
def test_characters(text: str) -> None:
    assert CHARACTERS.backend == "native"
    assert CHARACTERS.encode(text) == CHARACTERS_PACKAGE.encode(text, add_special_tokens=False).ids


@given(st.lists(st.integers(0, 270), max_size=30), st.booleans(), st.integers(1, 4))
def test_characters_decode(ids: list[int], skip: bool, step: int) -> None:
    expected = CHARACTERS_PACKAGE.decode(ids, skip_special_tokens=skip)
    assert CHARACTERS.decode(ids, skip_special_tokens=skip) == expected
    stream = CHARACTERS.stream_decoder(skip_special_tokens=skip)
    parts = [stream.feed(ids[i : i + step]) for i in range(0, len(ids), step)]
    assert "".join([*parts, stream.finish()]) == expected


@given(st.text(["a", " ", "▁", "b", "中", "é"], min_size=1))
def test_characters_spans(text: str) -> None:
    package = TokenizersEncoder(CHARACTERS_DOCUMENT)
    found = [array.tolist() for array in CHARACTERS._encoder.encode_regions([text])]
    assert found == [array.tolist() for array in package.encode_regions([text])]


BUILTIN = vocabularies.tokenizer_json("builtin")
OTHER_SPLIT = {"type": "Split", "pattern": {"Regex": "a|b"}, "behavior": "Isolated", "invert": False}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"normalizer": {"type": "Lowercase"}}, "normalizer: Lowercase"),
        (
            {"pre_tokenizer": BYTE_LEVEL | {"add_prefix_space": True}},
            "pre_tokenizer: ByteLevel with add_prefix",
        ),
        (
            {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [OTHER_SPLIT, BYTE_LEVEL]}},
            r"pre_tokenizer: unknown pattern a\|b",
        ),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "pre_tokenizer: Whitespace"),
        ({"decoder": None}, "decoder: none"),
        ({"model": BUILTIN["model"] | {"dropout": 0.5}}, "model.dropout: 0.5"),
    ],
)
def test_unknown_pipelines(parts: dict[str, Any], reason: str) -> None:
    tok = load_tokenizer(full_tokenizer(BUILTIN | parts))
    assert tok.backend == "tokenizers"
    assert tok.backend_reason is not None
    with pytest.raises(ValueError, match=f"^{reason}"):
        raise ValueError(tok.backend_reason)
    if "model" not in parts:
        expected = encode_all(BUILTIN | parts)
        assert [tok.encode(text) for text in EDGE_TEXTS] == [expected(text) for text in EDGE_TEXTS]


def test_known_pipelines() -> None:
    for tok in (DEEPSEEK, QWEN, CHARACTERS, load_tokenizer("builtin")):
        assert tok.backend == "native"
        assert tok.backend_reason is None


@pytest.mark.parametrize("name", list(PATTERNS))
def test_every_pattern_as_ranks(name: str, tmp_path: Path) -> None:
    if name == "deepseek_v3":  # three patterns in turn, which a file of ranks cannot have
        return
    file = tmp_path / "some.tiktoken"
    file.write_bytes(QWEN_FILE.read_bytes())
    tok = load_tokenizer(file, pattern=PATTERNS[name], special_tokens={"<x>": 151643})
    oracle = tiktoken_encoding(file, PATTERNS[name], {"<x>": 151643})
    for text in EDGE_TEXTS:
        assert tok.encode(f"{text}<x>{text}") == oracle.encode(f"{text}<x>{text}", allowed_special="all")
    assert tok.special_ids == {151643}


def test_rank_file_settings(tmp_path: Path) -> None:
    file = tmp_path / "tiktoken.model"
    file.write_bytes(b"\n".join(QWEN_FILE.read_bytes().splitlines()[:5000]))
    with pytest.raises(ValueError, match="pattern: neither an argument nor"):
        load_tokenizer(tmp_path)
    with pytest.raises(ValueError, match="unknown pattern a"):
        load_tokenizer(file, pattern="a")
    config: dict[str, Any] = {"pat_str": PATTERNS["qwen2"], "special_tokens": {"old": {"<x>": 151643}}}
    config["special_tokens"]["new"] = {"<y>": 151643}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert load_tokenizer(tmp_path).added_tokens == {"<y>": 151643}
    assert load_tokenizer(tmp_path, special_tokens="old").added_tokens == {"<x>": 151643}
    assert load_tokenizer(tmp_path, special_tokens={}).added_tokens == {}
    assert load_tokenizer(tmp_path).encode("e\u0301") != load_tokenizer(tmp_path, nfc=True).encode("e\u0301")
    with pytest.raises(ValueError, match="no set 'other'"):
        load_tokenizer(tmp_path, special_tokens="other")
    with pytest.raises(ValueError, match=r"special_tokens\['<x>'\]: 5 is no id"):
        load_tokenizer(tmp_path, special_tokens={"<x>": 5})
    with pytest.raises(TypeError, match="special_tokens: expected str and int"):
        load_tokenizer(tmp_path, special_tokens={"<x>": "5"})  # type: ignore[dict-item]
    config = {"added_tokens_decoder": {"151643": {"content": "<z>", "special": True}}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert load_tokenizer(tmp_path, pattern=PATTERNS["qwen2"]).added_tokens == {"<z>": 151643}
    file.write_bytes(b"IQ== 0\nnot base64\n")
    with pytest.raises(ValueError, match="line 2: expected a token in base64 and its rank"):
        load_tokenizer(file, pattern=PATTERNS["qwen2"])
    with pytest.raises(TypeError, match="pattern: only for files of ranks"):
        load_tokenizer("builtin", pattern="a")


@pytest.mark.shared
def test_kimi(shared: Path) -> None:
    folder = shared / "tokenizers" / "kimi_k2"
    tok = load_tokenizer(folder)
    assert tok.backend == "native"
    oracle = tiktoken_encoding(folder / "tiktoken.model", PATTERNS["kimi"], tok.added_tokens)
    for text in [*EDGE_TEXTS, "汉字kana かな漢字、ＡＢＣ 〇々 x汉y 1234 it's DON'T"]:
        assert tok.encode(text) == oracle.encode(text, allowed_special="all")
        assert tok.encode(text, special="none") == oracle.encode_ordinary(text)
        assert tok.decode(tok.encode(text)) == text


def test_ids_at_the_ends_of_the_vocabulary() -> None:
    tok = DEEPSEEK
    assert tok.id_to_token(-1) is None
    assert tok.id_to_token(2**40) is None
    assert tok.token_to_id("\ud800") is None
    assert tok.decode(np.array([2**31 - 1])) == ""
    vocabulary = read_vocabulary(DEEPSEEK_DOCUMENT, ())
    assert tok.vocab_size == len(
        DEEPSEEK_DOCUMENT["model"]["vocab"].keys() | {t.content for t in vocabulary.added}
    )
