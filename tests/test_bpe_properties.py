"""Merging in the core against the plain reference and the `tokenizers` package, on models made at random."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from turnloom import _core
from turnloom.reference.bpe import Bpe
from turnloom.tokenizer_file import bytes_to_alphabet

# Few letters, so that pairs overlap and words repeat; the last is no token of the character models.
LETTERS = ["a", "b", "c", "é", "中", " ", "🦙"]
WORDS = st.one_of(
    st.text(LETTERS, min_size=1, max_size=40),
    st.text(LETTERS[:3], min_size=1, max_size=200),
    st.lists(st.sampled_from(["ab", "abc", "aa", "bé", "中中", "  a"]), min_size=1, max_size=60).map("".join),
)


@st.composite
def merge_lists(draw: st.DrawFn, letters: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Draw merges of letters and of what earlier merges made; some make the same token."""
    tokens = list(letters)
    merges: list[tuple[bytes, bytes]] = []
    for _ in range(draw(st.integers(0, 40))):
        pair = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        merges.append(pair)
        tokens.append(b"".join(pair))
    order = draw(st.permutations(merges)) if draw(st.booleans()) else merges
    return list(order)


def first_of_each(merges: list[tuple[bytes, bytes]], letters: list[bytes]) -> Iterator[bytes]:
    """Yield every token once."""
    yield from dict.fromkeys([*letters, *(left + right for left, right in merges)])


def package_ids(model: dict[str, Any], word: str, normalize: bool) -> list[int]:
    """Encode with the package; a text is one word."""
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    document = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": replace if normalize else None,
        "pre_tokenizer": None if normalize else byte_level,
        "post_processor": None,
        "decoder": None,
        "model": {"type": "BPE"} | model,
    }
    ids: list[int] = Tokenizer.from_str(json.dumps(document)).encode(word, add_special_tokens=False).ids
    return ids


BYTES = [bytes([byte]) for byte in range(256)]


@given(merge_lists(letters=[b"a", b"b", b"c", b"\xc3", b"\xa9", b"\xe4\xb8"]), WORDS, st.booleans())
def test_byte_level(merges: list[tuple[bytes, bytes]], word: str, ignore_merges: bool) -> None:
    word = word.replace(" ", "a").replace("🦙", "b")  # letters alone are one word
    letters = [*BYTES, b"\xe4\xb8"]
    ids = {token: id_ for id_, token in enumerate(first_of_each(merges, letters))}
    vocab = {bytes_to_alphabet(token): id_ for token, id_ in ids.items()}
    pairs = [[bytes_to_alphabet(left), bytes_to_alphabet(right)] for left, right in merges]
    expected = Bpe(ids, merges, ignore_merges=ignore_merges).encode_word(word)
    encoder = _core.byte_level_encoder(vocab, pairs, ignore_merges=ignore_merges, split="gpt2", nfc=False)
    assert encode(encoder, word) == expected
    model = {"vocab": vocab, "merges": pairs, "ignore_merges": ignore_merges}
    assert package_ids(model, word, normalize=False) == expected


def encode(encoder: _core.TextEncoder, text: str) -> list[int]:
    """Encode a text, and check that its tokens tile it."""
    ids, begins, ends, counts = encoder.encode_regions([text])
    assert counts.tolist() == [len(ids)]
    assert begins.tolist() == [0, *ends.tolist()[:-1]]
    assert ends[-1] == len(text.encode())
    found: list[int] = ids.tolist()
    return found


@given(merge_lists(letters=[b"a", b"b", b"c", "é".encode(), "中".encode(), b" "]), WORDS, st.booleans())
def test_characters(merges: list[tuple[bytes, bytes]], word: str, ignore_merges: bool) -> None:
    letters = [letter.encode() for letter in LETTERS[:-1]]
    byte_ids = {byte: byte for byte in range(256)}
    ids = {token: 256 + id_ for id_, token in enumerate(first_of_each(merges, letters))}

    def spell(token: bytes) -> str:
        return token.decode().replace(" ", "▁")

    vocab = {f"<0x{byte:02X}>": byte for byte in byte_ids} | {spell(token): id_ for token, id_ in ids.items()}
    strings = [f"{spell(left)} {spell(right)}" for left, right in merges]
    reference = Bpe(ids, merges, ignore_merges=ignore_merges, byte_tokens=byte_ids)
    encoder = _core.character_encoder(vocab, strings, ignore_merges=ignore_merges)
    expected = reference.encode_word(word)
    assert encode(encoder, word) == expected
    symbols = word.replace(" ", "▁")
    assert encode(encoder, symbols) == expected
    model = {
        "vocab": vocab | {"<unk>": len(vocab)},
        "merges": strings,
        "ignore_merges": ignore_merges,
        "byte_fallback": True,
        "fuse_unk": True,
        "unk_token": "<unk>",
    }
    assert package_ids(model, word, normalize=True) == expected


@pytest.mark.parametrize(
    ("vocab", "merges", "reason"),
    [
        ({"a": 0}, [], "no token for the byte"),
        ({bytes_to_alphabet(byte): byte[0] for byte in BYTES}, ["a b"], r"merges\[0\]: of or into something"),
        ({bytes_to_alphabet(byte): byte[0] for byte in BYTES}, ["ab"], r"merges\[0\]: expected two tokens"),
        ({bytes_to_alphabet(byte): byte[0] for byte in BYTES}, [["a"]], r"merges\[0\]: expected a str or"),
        ({bytes_to_alphabet(byte): byte[0] for byte in BYTES} | {"aa": 5}, [], r"\[5\]: id given twice"),
        ({"aa": 2**21}, [], "id out of range"),
        ({"aa": True}, [], "no token id"),
    ],
)
def test_models_that_are_none(vocab: dict[str, int], merges: list[Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        _core.byte_level_encoder(vocab, merges, ignore_merges=False, split="gpt2", nfc=False)
