"""Loading a tokenizer from every kind of source, and its calls."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import turnloom
from tokenizer_oracle import EDGE_TEXTS, encode_all, encode_without, full_tokenizer
from turnloom import RaggedIds, Tokenizer, load_tokenizer

BUILTIN = Path(turnloom.__file__).parent / "builtin" / "tokenizer.json"
DOCUMENT: dict[str, Any] = json.loads(BUILTIN.read_bytes())
MARKERS = [token["content"] for token in DOCUMENT["added_tokens"]]
PACKAGE = full_tokenizer(DOCUMENT)
ENCODE_ALL = encode_all(DOCUMENT)
ENCODE_NONE = encode_without(DOCUMENT, MARKERS)
TOKENIZER = load_tokenizer("builtin")
TEXTS = st.lists(st.one_of(st.text(), st.sampled_from([*MARKERS, *EDGE_TEXTS]))).map("".join)


@pytest.fixture
def tok() -> Tokenizer:
    return TOKENIZER


class FastTokenizer:
    """Shaped as a transformers fast tokenizer."""

    name_or_path = "org/name"

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        self.backend_tokenizer = backend


def test_sources(tok: Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(BUILTIN.read_bytes())
    (tmp_path / "tokenizer_config.json").write_text('{"chat_template": "x"}')
    text = "Hello <|im_start|>wörld"
    sources = [tmp_path, str(tmp_path), tmp_path / "tokenizer.json", PACKAGE, FastTokenizer(PACKAGE)]
    for source in sources:
        loaded = load_tokenizer(source)  # type: ignore[arg-type]
        assert loaded.encode(text) == tok.encode(text)
        assert loaded.backend == "native"
    assert load_tokenizer(tmp_path).config == {"chat_template": "x"}
    assert load_tokenizer(tmp_path).name_or_path == str(tmp_path)
    assert load_tokenizer(FastTokenizer(PACKAGE)).name_or_path == "org/name"
    assert load_tokenizer(PACKAGE).name_or_path == ""
    assert tok.config == {}
    assert load_tokenizer(tok) is tok


def test_file_of_another_name(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(BUILTIN.read_bytes())
    assert load_tokenizer(path).vocab_size == PACKAGE.get_vocab_size()


def test_passed_object_is_unchanged_and_its_settings_do_not_apply(tok: Tokenizer) -> None:
    package = full_tokenizer(DOCUMENT)
    package.enable_truncation(2)
    package.enable_padding(length=50)
    package.encode_special_tokens = True
    before = package.to_str()
    text = "<|im_start|>one two three four"
    assert load_tokenizer(package).encode(text) == tok.encode(text)
    assert package.to_str() == before
    assert package.encode_special_tokens
    package.add_tokens(["<late>"])
    assert load_tokenizer(package).token_to_id("<late>") == PACKAGE.get_vocab_size()


def test_missing_sources(tmp_path: Path) -> None:
    for name in ("Org/Name", "", str(tmp_path / "no.json")):
        with pytest.raises(FileNotFoundError, match=r"source: .* is neither a folder nor a file") as error:
            load_tokenizer(name)
        assert repr(name) in str(error.value)
    with pytest.raises(FileNotFoundError, match=r"source: the folder '.*' has no tokenizer\.json"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("not JSON", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "is not a JSON object"),
        ("{}", "model: missing"),
        ('{"model": {}}', "model.vocab: missing"),
        ('{"model": {"vocab": {"a": "b"}}}', r"model.vocab\['a'\]: 'b' is no token id"),
        ('{"model": {"vocab": {"a": -1}}}', r"model.vocab\['a'\]: -1 is no token id"),
        ('{"model": {"vocab": [1]}}', "model.vocab: expected pairs"),
        ('{"model": {"vocab": {}}, "added_tokens": [{}]}', r"added_tokens\[0\].content: missing"),
        ('{"model": {"vocab": {}}, "added_tokens": {}}', "added_tokens: expected a list, got dict"),
        ('{"model": {"vocab": {}}, "decoder": 1}', "decoder: expected an object with a type"),
        ('{"model": {"type": "GPT", "vocab": {}}}', "the tokenizers package refuses it"),
    ],
)
def test_bad_files(content: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=reason) as error:
        load_tokenizer(tmp_path)
    assert str(error.value).startswith(f"source: {str(path)!r} ")


def test_bad_config_file(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(BUILTIN.read_bytes())
    (tmp_path / "tokenizer_config.json").write_text("{")
    with pytest.raises(ValueError, match=r"source: '.*tokenizer_config\.json' is not JSON"):
        load_tokenizer(tmp_path)


def test_objects_that_are_no_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    for source, name in ((5, "int 5"), (None, "NoneType None"), (b"builtin", "bytes b'builtin'")):
        with pytest.raises(TypeError, match=rf"source: expected .*, got {name}"):
            load_tokenizer(source)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"source: expected .*, got FastTokenizer"):
        load_tokenizer(FastTokenizer(object()))  # type: ignore[arg-type]

    class WithoutToStr:
        """Shaped as the Tokenizer of tokenizers 1.0."""

    monkeypatch.setattr(tokenizers, "Tokenizer", WithoutToStr)
    with pytest.raises(TypeError, match=r"source: .* cannot be copied; pass its file"):
        load_tokenizer(WithoutToStr())  # type: ignore[arg-type]


@given(TEXTS)
def test_encode_equals_the_package(text: str) -> None:
    assert TOKENIZER.encode(text) == ENCODE_ALL(text)
    assert TOKENIZER.encode(text, special="none") == ENCODE_NONE(text)


@given(st.lists(st.integers(0, PACKAGE.get_vocab_size() + 100)), st.booleans())
def test_decode_equals_the_package(ids: list[int], skip: bool) -> None:
    expected = PACKAGE.decode(ids, skip_special_tokens=skip)
    assert TOKENIZER.decode(ids, skip_special_tokens=skip) == expected
    if not skip:
        assert TOKENIZER.decode_bytes(ids).decode(errors="replace") == expected


def test_encode_forms(tok: Tokenizer) -> None:
    array = tok.encode_array("a b c")
    assert array.dtype == np.int32
    assert not array.flags.writeable
    assert array.tolist() == tok.encode("a b c")
    rows = tok.encode_batch(EDGE_TEXTS)
    assert [row.tolist() for row in rows] == [tok.encode(text) for text in EDGE_TEXTS]
    assert [row.tolist() for row in tok.encode_batch(EDGE_TEXTS, special="none", threads=2)] == [
        tok.encode(text, special="none") for text in EDGE_TEXTS
    ]


def test_ragged_ids(tok: Tokenizer) -> None:
    rows = tok.encode_batch(("a b", "", "c"))
    assert isinstance(rows, RaggedIds)
    assert len(rows) == 3
    assert rows.ids.dtype == np.int32
    assert rows.offsets.dtype == np.int64
    assert rows.offsets.tolist() == [0, 2, 2, 3]
    assert rows[-1].tolist() == tok.encode("c")
    assert not rows[0].flags.writeable
    for row in (3, -4):
        with pytest.raises(IndexError, match=f"row {row} of 3"):
            rows[row]
    assert len(tok.encode_batch([])) == 0
    assert tok.decode_batch(rows) == ["a b", "", "c"]
    assert tok.decode_batch([[64], tok.encode_array("<|im_end|>")], skip_special_tokens=True) == [
        tok.decode([64]),
        "",
    ]


def test_encode_arguments(tok: Tokenizer) -> None:
    with pytest.raises(ValueError, match=r"^text: lone surrogate U\+D800 at character 5$"):
        tok.encode("hello\ud800")
    with pytest.raises(ValueError, match=r"^texts\[1\]: lone surrogate U\+DC00 at character 0$"):
        tok.encode_batch(["a", "\udc00"])
    with pytest.raises(TypeError, match=r"^text: expected str, got bytes"):
        tok.encode(b"x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^texts\[0\]: expected str, got int"):
        tok.encode_batch([1])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"^texts: expected list or tuple, got str"):
        tok.encode_batch("x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^special: expected 'all' or 'none', got 'some'"):
        tok.encode("x", special="some")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^threads: expected at least 1, got 0"):
        tok.encode_batch([], threads=0)
    with pytest.raises(ValueError, match=r"^threads: expected at most 2147483647, got 1180"):
        tok.encode_batch([], threads=2**70)
    with pytest.raises(TypeError, match=r"^threads: expected int or None, got bool"):
        tok.encode_batch([], threads=True)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", ">i4", "int64", "uint64"])
def test_decode_takes_integer_arrays(dtype: str, tok: Tokenizer) -> None:
    assert tok.decode(np.array([64, 65, 66], dtype)) == tok.decode([64, 65, 66]) == tok.decode((64, 65, 66))


@pytest.mark.parametrize(
    ("ids", "error", "text"),
    [
        ([1, -2], ValueError, "ids[1]: expected a token id from 0 to 2147483647, got -2"),
        ([2**31], ValueError, "ids[0]: expected a token id from 0 to 2147483647, got 2147483648"),
        ([0, 2**70], ValueError, f"ids[1]: expected a token id from 0 to 2147483647, got {2**70}"),
        (np.array([3, 2**63], np.uint64), ValueError, f"ids[1]: .* got {2**63}"),
        (np.array([-1]), ValueError, "ids[0]: .* got -1"),
        ([1, True], TypeError, "ids[1]: expected int, got bool"),
        ([1.0], TypeError, "ids[0]: expected int, got float"),
        ([np.int64(1)], TypeError, "ids[0]: expected int, got int64"),
        ("12", TypeError, "ids: expected list, tuple or 1-D integer array, got str"),
        (5, TypeError, "ids: expected list, tuple or 1-D integer array, got int"),
        (range(3), TypeError, "ids: expected list, tuple or 1-D integer array, got range"),
        (np.array([1.0]), TypeError, "ids: expected an integer array, got dtype float64"),
        (np.array([True]), TypeError, "ids: expected an integer array, got dtype bool"),
        (np.array([[1]]), TypeError, "ids: expected a 1-D array, got 2 dimensions"),
        (np.arange(6)[::2], TypeError, "ids: expected a C-contiguous array"),
    ],
)
def test_bad_ids(ids: Any, error: type[Exception], text: str, tok: Tokenizer) -> None:
    pattern = "^" + text.replace("[", r"\[").replace("]", r"\]")
    for call in (tok.decode, tok.decode_bytes):
        with pytest.raises(error, match=pattern):
            call(ids)
    with pytest.raises(error, match=pattern.replace("^ids", r"^batch\[1\]")):
        tok.decode_batch([[], ids])


def test_decode_batch_argument(tok: Tokenizer) -> None:
    with pytest.raises(TypeError, match=r"^batch: expected list, tuple or RaggedIds, got str"):
        tok.decode_batch("x")  # type: ignore[arg-type]
    for offsets in ([0, 2, 1], [0, 3], [-1, 2]):
        with pytest.raises(ValueError, match=r"^batch\.offsets: expected ascending offsets from 0 to 2"):
            tok.decode_batch(RaggedIds(np.array([1, 2], np.int32), np.array(offsets)))


def test_vocabulary(tok: Tokenizer) -> None:
    assert tok.vocab_size == PACKAGE.get_vocab_size(with_added_tokens=True)
    assert {tok.id_to_token(id_): id_ for id_ in range(tok.vocab_size)} == PACKAGE.get_vocab()
    assert tok.id_to_token(tok.vocab_size) is None
    assert tok.id_to_token(-1) is None
    assert tok.token_to_id("Ġthe") == PACKAGE.token_to_id("Ġthe")
    assert tok.token_to_id("no such token") is None
    decoder = PACKAGE.get_added_tokens_decoder()
    assert tok.added_tokens == {token.content: id_ for id_, token in decoder.items()}
    assert tok.special_ids == {id_ for id_, token in decoder.items() if token.special}


def test_immutable(tok: Tokenizer) -> None:
    tok.added_tokens.clear()
    tok.config["x"] = 1
    assert tok.added_tokens
    assert tok.config == {}
    for name in ("backend", "vocab_size", "anything"):
        with pytest.raises(AttributeError):
            setattr(tok, name, 1)


def test_threads_share_a_tokenizer(tok: Tokenizer) -> None:
    def work(n: int) -> list[object]:
        text = EDGE_TEXTS[n % len(EDGE_TEXTS)] + str(n)
        special = ("all", "none")[n % 2]
        ids = tok.encode(text, special=special)  # type: ignore[arg-type]
        return [ids, tok.decode(ids), tok.decode(ids, skip_special_tokens=True)]

    alone = [work(n) for n in range(400)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(400))) == alone


def test_a_token_or_an_id_of_another_type(tok: Tokenizer) -> None:
    assert tok.id_to_token(np.int32(0)) == tok.id_to_token(0)
    with pytest.raises(TypeError, match=r"^id: expected int, got float$"):
        tok.id_to_token(1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^token: expected str, got int$"):
        tok.token_to_id(3)  # type: ignore[arg-type]
