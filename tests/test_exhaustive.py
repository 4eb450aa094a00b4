"""The same ids as the packages, with and without markers: every code point, the corpus, all vocabularies.

A sample of the texts runs by default, on vocabularies that need no other material than packages; all of it
with `--exhaustive` (`make exhaustive`, an hour).
"""

import gzip
import json
import random
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import normalizers

import vocabularies
from tokenizer_oracle import EncodeBatch, encode_batch, encode_batch_without, full_tokenizer
from turnloom import Tokenizer, load_tokenizer
from turnloom._core import declared_markers
from turnloom.tokenizer import SpecialText
from turnloom.tokenizer_file import read_vocabulary
from vocabularies import DEEPSEEK_FILE, PATTERNS, QWEN_FILE, tiktoken_encoding

SHARED_NAMES = [
    "deepseek_v3_1",
    "gemma3",
    "glm4_7",
    "gptoss",
    "kimi_k2",
    "llama3_1",
    "minimax_m2",
    "qwen3",
    "qwen3_5",
]
OFFLINE_NAMES = ["builtin", "characters", "deepseek", "qwen"]
SPECIAL: tuple[SpecialText, ...] = ("all", "none")
BATCH = 20_000

Side = tuple[Tokenizer, EncodeBatch, EncodeBatch]
"""Ours, and theirs with markers as tokens and as text."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run over all vocabularies, or over those that need no other material than packages."""
    names: list[Any] = [*OFFLINE_NAMES]
    if metafunc.config.getoption("--exhaustive"):
        names += [pytest.param(name, marks=pytest.mark.shared) for name in SHARED_NAMES]
    metafunc.parametrize("side", names, indirect=True, scope="module")


@pytest.fixture(scope="module")
def side(request: pytest.FixtureRequest, shared: Path) -> Side:
    match request.param:
        case "builtin" | "characters":
            return _of_document(vocabularies.tokenizer_json(request.param))
        case "deepseek":
            return _of_file(DEEPSEEK_FILE)
        case "qwen":
            return _of_ranks(vocabularies.qwen3(), QWEN_FILE, PATTERNS["qwen2"], nfc=True)
        case "kimi_k2":
            folder = shared / "tokenizers" / "kimi_k2"
            return _of_ranks(load_tokenizer(folder), folder / "tiktoken.model", PATTERNS["kimi"], nfc=False)
    return _of_file(shared / "tokenizers" / request.param / "tokenizer.json")


def _of_file(path: Path) -> Side:
    return _of_document(json.loads(path.read_bytes()), load_tokenizer(path))


def _of_document(document: dict[str, Any], tok: Tokenizer | None = None) -> Side:
    markers = {token.content for token in read_vocabulary(document, declared_markers()).added if token.marker}
    whole = full_tokenizer(document)
    return (
        tok or load_tokenizer(whole),
        encode_batch(whole),
        encode_batch_without(document, markers, whole),
    )


def _of_ranks(tok: Tokenizer, file: Path, pattern: str, *, nfc: bool) -> Side:
    encoding = tiktoken_encoding(file, pattern, tok.added_tokens)
    # Not Python's: it knows later marks than the package that the core agrees with.
    normalize: Callable[[str], str] = normalizers.NFC().normalize_str if nfc else str
    return (
        tok,
        lambda texts: [encoding.encode(normalize(text), allowed_special="all") for text in texts],
        lambda texts: [encoding.encode_ordinary(normalize(text)) for text in texts],
    )


@pytest.fixture
def is_exhaustive(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--exhaustive"))


def check(side: Side, texts: Iterable[str], special: SpecialText) -> None:
    """Compare all ids."""
    tok, encode_all, encode_ordinary = side
    encode = encode_all if special == "all" else encode_ordinary
    n_texts = 0
    remaining = iter(texts)
    while batch := list(islice(remaining, BATCH)):
        found = tok.encode_batch(batch, special=special)
        expected = encode(batch)
        # All of them at once, and one by one only to say which differs.
        if found.ids.tolist() != list(chain.from_iterable(expected)):
            for text, row, ids in zip(batch, found, expected, strict=True):
                assert row.tolist() == ids, text
        assert np.diff(found.offsets).tolist() == list(map(len, expected))
        n_texts += len(batch)
    assert n_texts


def test_code_points(side: Side, is_exhaustive: bool) -> None:
    step = 1 if is_exhaustive else 211
    forms = ["{}", "x{}y", " {}1", "e\u0301{}\u0323"]
    check(side, (form.format(character) for character in _characters(step) for form in forms), "all")
    check(side, (f"<|{character}<think>" for character in _characters(step)), "none")


def _characters(step: int) -> Iterator[str]:
    return (chr(code) for code in range(0, 0x110000, step) if not 0xD800 <= code < 0xE000)


@pytest.mark.shared
@pytest.mark.parametrize("kind", ["documents", "messages", "segments"])
def test_corpus(side: Side, kind: str, shared: Path, is_exhaustive: bool) -> None:
    for special in SPECIAL:
        texts = CORPUS[kind](shared / "corpus")
        check(side, texts if is_exhaustive else _first(texts, 100_000), special)


def _first(texts: Iterable[str], n_characters: int) -> Iterator[str]:
    for text in texts:
        if n_characters < 0:
            return
        n_characters -= len(text)
        yield text


def _messages(folder: Path) -> Iterator[list[str]]:
    """Give the contents of each conversation, of rollouts and of chats in turn while there are both."""
    with gzip.open(folder / "rollouts.jsonl.gz") as rollouts, gzip.open(folder / "chats.jsonl.gz") as chats:
        for lines in zip_longest(rollouts, chats):
            for line in filter(None, lines):
                messages = json.loads(line)["messages"]
                yield [message["content"] for message in messages if message.get("content")]


def _segments(folder: Path) -> Iterator[str]:
    """Cut the texts into pieces of 1 to 400 characters."""
    shuffled = random.Random(0)
    for contents in _messages(folder):
        text = "\n".join(contents)
        begin = 0
        while begin < len(text):
            end = begin + shuffled.randint(1, 400)
            yield text[begin:end]
            begin = end


CORPUS: dict[str, Callable[[Path], Iterator[str]]] = {
    "documents": lambda folder: map("\n".join, _messages(folder)),
    "messages": lambda folder: (content for contents in _messages(folder) for content in contents),
    "segments": _segments,
}
