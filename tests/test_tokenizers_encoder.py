"""The encoder over the `tokenizers` package: byte spans, added tokens under a normalizer, numbering."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers.pre_tokenizers import ByteLevel

import turnloom
from tokenizer_oracle import EDGE_TEXTS, encode_all, encode_without, full_tokenizer, tokenizer_json
from turnloom import load_tokenizer
from turnloom.tokenizers_encoder import TokenizersEncoder

BUILTIN = json.loads((Path(turnloom.__file__).parent / "builtin" / "tokenizer.json").read_bytes())
ENCODER = TokenizersEncoder(BUILTIN)
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
ALPHABET = {character: id_ for id_, character in enumerate(sorted(ByteLevel.alphabet()))}
NFC = {"type": "NFC"}

# A SentencePiece-like pipeline: spaces are spelled ▁, other bytes fall back to <0xHH>.
FALLBACK = tokenizer_json(
    {"▁": 0, "a": 1, "é": 2, "▁a": 3, "<unk>": 4} | {f"<0x{byte:02X}>": 5 + byte for byte in range(256)},
    normalizer={"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    decoder={
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
        ],
    },
    model={"merges": [["▁", "a"]], "byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True},
)


def source_bytes(encoder: TokenizersEncoder, region: str) -> list[bytes]:
    """Return the bytes of the region that each token claims."""
    _, begins, ends, _ = encoder.encode_regions([region])
    source = region.encode()
    return [source[begin:end] for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]


def byte_level(**parts: Any) -> dict[str, Any]:
    return tokenizer_json(ALPHABET, pre_tokenizer=BYTES, decoder=BYTES, **parts)


def test_arrays() -> None:
    ids, begins, ends, counts = ENCODER.encode_regions(["one two", "e\u0301", "x"])
    assert [array.dtype.name for array in (ids, begins, ends, counts)] == ["int32", "int64", "int64", "int64"]
    assert all(array.flags.c_contiguous for array in (ids, begins, ends, counts))
    assert counts.sum() == len(ids) == len(begins) == len(ends)
    assert begins[counts[0]] == 0  # offsets begin anew in each region
    assert [len(array) for array in ENCODER.encode_regions([])] == [0, 0, 0, 0]


@given(st.text())
def test_spans_tile_the_region(region: str) -> None:
    ids, begins, ends, _ = ENCODER.encode_regions([region])
    source = region.encode()
    assert (begins < ends).all()
    assert not len(ids) or (begins[0] == 0 and ends[-1] == len(source))
    if begins.tolist()[1:] == ends.tolist()[:-1]:
        assert b"".join(source_bytes(ENCODER, region)) == source
    else:  # tokens of one composed or reordered character share its source
        assert (begins[1:] <= ends[:-1]).all()
        assert region != full_tokenizer(BUILTIN).normalizer.normalize_str(region)


def test_a_part_of_a_character_has_its_own_bytes() -> None:
    encoder = TokenizersEncoder(byte_level())
    assert source_bytes(encoder, "🦙é") == [bytes([byte]) for byte in "🦙é".encode()]
    # Also in a region that normalisation changes elsewhere.
    encoder = TokenizersEncoder(byte_level(normalizer=NFC))
    assert source_bytes(encoder, "e\u0301🦙")[2:] == [bytes([byte]) for byte in "🦙".encode()]


@pytest.mark.parametrize(
    ("region", "spans"),
    [
        ("e\u0301x", ["e\u0301", "e\u0301", "x"]),  # two bytes of é, both from e and its mark
        ("x\u212b", ["x", "\u212b", "\u212b"]),
        ("\u1100\u1161\u11a8", ["\u1100\u1161\u11a8"] * 3),
    ],
)
def test_composed_characters_take_their_source(region: str, spans: list[str]) -> None:
    encoder = TokenizersEncoder(byte_level(normalizer=NFC))
    assert source_bytes(encoder, region) == [span.encode() for span in spans]


def test_byte_fallback() -> None:
    encoder = TokenizersEncoder(FALLBACK)
    assert source_bytes(encoder, "a a é🦙") == [
        b"a",
        b" a",
        b" ",
        "é".encode(),
        b"\xf0",
        b"\x9f",
        b"\xa6",
        b"\x99",
    ]


def test_fallback_decodes_as_the_package() -> None:
    tok = load_tokenizer(full_tokenizer(FALLBACK))
    for text in ("a a é🦙", " a", "\n"):
        assert tok.encode(text) == encode_all(FALLBACK)(text)
        assert tok.decode(tok.encode(text)) == text
        assert tok.decode_bytes(tok.encode(text)) == text.encode()
    incomplete = tok.encode("🦙")[:2]
    assert tok.decode(incomplete) == full_tokenizer(FALLBACK).decode(incomplete)


def test_no_decoder_joins_with_spaces() -> None:
    document = tokenizer_json({"a": 0, "b": 1}, added=[{"content": "<x>", "special": True}])
    tok = load_tokenizer(full_tokenizer(document))
    assert tok.decode([0, 2, 1]) == full_tokenizer(document).decode([0, 2, 1], skip_special_tokens=False)
    assert tok.decode([0, 2, 1], skip_special_tokens=True) == "a b"


def test_prefix_space() -> None:
    document = byte_level() | {"pre_tokenizer": BYTES | {"add_prefix_space": True}}
    encoder = TokenizersEncoder(document)
    ids, *_, counts = encoder.encode_regions(["ab", " c"])
    assert counts.tolist() == [3, 2]
    assert ids.tolist() == [ALPHABET[c] for c in "ĠabĠc"]
    assert source_bytes(encoder, "ab")[1:] == [b"a", b"b"]


@pytest.mark.parametrize(
    "normalizer", [None, NFC, {"type": "Lowercase"}, {"type": "Sequence", "normalizers": []}]
)
def test_normalized_added_tokens(normalizer: dict[str, Any] | None) -> None:
    added: list[dict[str, Any]] = [
        {"content": "<s>", "special": True},
        {"content": "caf\u00e9", "normalized": True},
        {"content": "<B>", "normalized": True},
        {"content": "b", "normalized": False},
    ]
    document = byte_level(added=added, normalizer=normalizer)
    tok = load_tokenizer(full_tokenizer(document))
    for text in ("cafe\u0301 CAFÉ <s>x<B>b<b>", "<s>", "caf<s>é", *EDGE_TEXTS):
        assert tok.encode(text) == encode_all(document)(text)
        assert tok.encode(text, special="none") == encode_without(document, ["<s>"])(text)
    assert tok.added_tokens == {token["content"]: tok.token_to_id(token["content"]) for token in added}


SPELLINGS = ["<s>", "<s", "s>", "a", "ab", "<think>", "B", "é", "x ", "_"]
FLAGS = st.fixed_dictionaries(
    dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), st.booleans())
)


@given(
    st.dictionaries(st.sampled_from(SPELLINGS), FLAGS, max_size=5),
    st.lists(st.lists(st.sampled_from([*SPELLINGS, " ", "  ", "\n", "<", "\u0301"])).map("".join)),
)
def test_added_token_flags(flags: dict[str, dict[str, bool]], texts: list[str]) -> None:
    document = byte_level(added=[{"content": content} | flags[content] for content in flags])
    markers = [content for content in flags if flags[content]["special"] or content == "<think>"]
    tok = load_tokenizer(full_tokenizer(document))
    expected_all, expected_none = encode_all(document), encode_without(document, markers)
    for text in texts:
        assert tok.encode(text) == expected_all(text)
        assert tok.encode(text, special="none") == expected_none(text)


def test_added_token_ids_are_those_of_the_package() -> None:
    added = [
        {"id": 900, "content": "<far>"},
        {"id": 400, "content": "<near>"},
        {"id": 3, "content": "a"},
        {"id": 7, "content": ""},
        {"id": 8, "content": "<near>"},
        {"id": 9, "content": "<last>"},
    ]
    document = byte_level(added=added)
    package = full_tokenizer(document)
    tok = load_tokenizer(package)
    assert tok.added_tokens == {t.content: id_ for id_, t in package.get_added_tokens_decoder().items()}
    assert tok.vocab_size == package.get_vocab_size(with_added_tokens=True)
    text = "<far><near>abc<last>"
    assert tok.encode(text) == encode_all(document)(text)


def test_added_token_in_the_byte_alphabet() -> None:
    document = byte_level(added=[{"content": "<é>"}, {"content": "<中>"}])
    package = full_tokenizer(document)
    tok = load_tokenizer(package)
    for text in ("<é>", "<中>"):
        ids = tok.encode(text)
        assert len(ids) == 1
        assert tok.decode(ids) == package.decode(ids)
        assert tok.decode_bytes(ids) == text.encode()


def test_unigram() -> None:
    vocab = [["<unk>", 0.0], ["▁", -2.0], ["a", -1.0], ["▁a", -1.5]]
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    document = tokenizer_json(
        {},
        added=[{"id": 0, "content": "<unk>", "special": True}],
        pre_tokenizer=metaspace,
        decoder=metaspace,
    ) | {"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}}
    tok = load_tokenizer(full_tokenizer(document))
    for text in ("a a", "<unk>a", "b"):
        assert tok.encode(text) == encode_all(document)(text)
        assert tok.decode(tok.encode(text)) == full_tokenizer(document).decode(
            tok.encode(text), skip_special_tokens=False
        )
    first = document | {"pre_tokenizer": metaspace | {"prepend_scheme": "first"}}
    with pytest.raises(ValueError, match=r"source: .*Metaspace with prepend_scheme 'first' is not supported"):
        load_tokenizer(full_tokenizer(first))


def test_post_processor_adds_nothing() -> None:
    template = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [256], "tokens": ["<s>"]}},
    }
    document = byte_level(added=[{"content": "<s>", "special": True}], post_processor=template)
    assert load_tokenizer(full_tokenizer(document)).encode("a") == [ALPHABET["a"]]


def test_a_package_without_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenizers.Encoding", object)
    encoder = TokenizersEncoder(BUILTIN)
    assert source_bytes(encoder, "ab 🦙") == source_bytes(ENCODER, "ab 🦙")
    with pytest.raises(NotImplementedError, match=r"^tokenizers \S+ gives no offsets, which text that norm"):
        encoder.encode_regions(["e\u0301"])
    with pytest.raises(
        NotImplementedError, match=r"^tokenizers \S+ gives no offsets, which a tokenizer that is"
    ):
        TokenizersEncoder(FALLBACK)
