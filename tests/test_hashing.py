"""FNV-1a: published values, batches, and the native core against the reference."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import turnloom
from oracles import agreed, assert_equal, assert_same_array
from turnloom import RaggedIds, reference

# From the tables of the algorithm's authors (draft-eastlake-fnv, appendix C).
PUBLISHED = [
    ("", 0xCBF29CE484222325),
    ("a", 0xAF63DC4C8601EC8C),
    ("b", 0xAF63DF4C8601F1A5),
    ("c", 0xAF63DE4C8601EFF2),
    ("f", 0xAF63DB4C8601EAD9),
    ("fo", 0x08985907B541D342),
    ("foo", 0xDCB27518FED9D577),
    ("foob", 0xDD120E790C2512AF),
    ("fooba", 0xCAC165AFA2FEF40A),
    ("foobar", 0x85944171F73967E8),
    (b"\x00", 0xAF63BD4C8601B7DF),
    (b"foobar\x00", 0x34531CA7168B8F38),
    ("hello", 0xA430D84680AABD0B),
]
ROUNDS = st.none() | st.integers(0, 2**64 - 1) | st.integers(0, 3)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
IDS = st.lists(st.integers(0, 2**31 - 1), max_size=30)
ROWS = TEXTS | st.binary(max_size=80) | IDS | IDS.map(tuple) | IDS.map(lambda ids: np.array(ids, np.uint32))


def hash_of(data: Any, **options: Any) -> int:
    return agreed(
        lambda: turnloom.fnv1a_64(data, **options), lambda: reference.fnv1a_64(data, **options), assert_equal
    )


def hashes_of(data: Any, **options: Any) -> list[int]:
    hashes: list[int] = agreed(
        lambda: turnloom.fnv1a_64_batch(data, **options),
        lambda: reference.fnv1a_64_batch(data, **options),
        assert_same_array,
    ).tolist()
    return hashes


@pytest.mark.parametrize(("data", "value"), PUBLISHED)
def test_published_values(data: str | bytes, value: int) -> None:
    assert hash_of(data) == value
    assert hash_of(data.encode() if isinstance(data, str) else data) == value


def test_a_round_goes_before_the_data() -> None:
    assert hash_of("id", round=0) == hash_of(bytes(8) + b"id")
    assert hash_of("id", round=0x0102) == hash_of(b"\x02\x01" + bytes(6) + b"id")
    assert hash_of("id", round=2**64 - 1) == hash_of(b"\xff" * 8 + b"id")


def test_ids_are_hashed_as_little_endian_int32() -> None:
    data = b"\x01\x00\x00\x00\x04\x03\x02\x01"
    for ids in (
        [1, 0x01020304],
        (1, 0x01020304),
        np.array([1, 0x01020304]),
        np.array([1, 0x01020304], ">i4"),
    ):
        assert hash_of(ids) == hash_of(data)
    assert hash_of([]) == hash_of("") == hash_of(b"")


@given(ROWS, ROUNDS)
def test_hash_agrees(data: Any, round: int | None) -> None:
    hash_of(data, round=round)


@given(st.lists(ROWS, max_size=70), ROUNDS)
@example([b"x" * n for n in range(70)], None)
@example([b"y" * 30] * 33, 7)
@example([b"", b"z" * 5000, *[b"w"] * 14], None)
def test_batch_agrees(rows: list[Any], round: int | None) -> None:
    assert hashes_of(rows, round=round) == [turnloom.fnv1a_64(row, round=round) for row in rows]
    assert hashes_of(tuple(rows), round=round) == hashes_of(rows, round=round)


@given(st.lists(IDS, max_size=40), ROUNDS, st.integers(0, 3))
def test_ragged_batch_agrees(rows: list[list[int]], round: int | None, n_before: int) -> None:
    ids = np.array([9] * n_before + [id for row in rows for id in row], np.int32)
    offsets = np.cumsum([n_before, *map(len, rows)], dtype=np.int64)
    assert hashes_of(RaggedIds(ids, offsets), round=round) == hashes_of(rows, round=round)


@pytest.mark.parametrize("type", [pa.string(), pa.large_string()])
def test_arrow_strings_are_hashed_in_place(type: pa.DataType) -> None:
    texts = ["", "a", "ünï", "🦙" * 9, *(f"id-{i}" for i in range(40))]
    array = pa.array(texts, type)
    assert turnloom.fnv1a_64_batch(array).tolist() == hashes_of(texts)
    assert turnloom.fnv1a_64_batch(array[3:], round=1).tolist() == hashes_of(texts[3:], round=1)
    assert turnloom.fnv1a_64_batch(array[:0]).tolist() == []
    chunked = pa.chunked_array([array[:2], array[2:2], array[2:]])
    hashes = turnloom.fnv1a_64_batch(chunked)
    assert hashes.tolist() == hashes_of(texts) and not hashes.flags.writeable
    assert turnloom.fnv1a_64_batch(pa.chunked_array([], type)).tolist() == []


def test_arrow_errors_name_the_row() -> None:
    chunked = pa.chunked_array([["a", "b"], ["c", None]])
    with pytest.raises(ValueError, match=r"^data\[3\]: null has no hash$"):
        turnloom.fnv1a_64_batch(chunked)
    with pytest.raises(
        TypeError, match=r"^data: expected an Arrow array of type string or large_string, got "
    ):
        turnloom.fnv1a_64_batch(pa.array([1, 2]))
    with pytest.raises(TypeError, match=r"^data: expected an Arrow array of type string"):
        turnloom.fnv1a_64_batch(pa.array(["a"]).dictionary_encode())


def prefix_hashes_of(ids: Any, block_size: Any) -> list[int]:
    hashes: list[int] = agreed(
        lambda: turnloom.prefix_hashes(ids, block_size),
        lambda: reference.prefix_hashes(ids, block_size),
        assert_same_array,
    ).tolist()
    return hashes


@given(IDS, st.integers(1, 9))
def test_prefix_hashes_cover_everything_before(ids: list[int], block_size: int) -> None:
    ends = range(block_size, len(ids) + 1, block_size)
    assert prefix_hashes_of(ids, block_size) == [turnloom.fnv1a_64(ids[:end]) for end in ends]
    assert prefix_hashes_of(np.array(ids, np.int64), block_size) == prefix_hashes_of(ids, block_size)


ERRORS: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (1, {}, TypeError, "data: expected str, bytes or token ids (list, tuple or 1-D integer array), got int"),
    (
        None,
        {},
        TypeError,
        "data: expected str, bytes or token ids (list, tuple or 1-D integer array), got NoneType",
    ),
    ("a\ud800", {}, ValueError, "data: lone surrogate U+D800 at character 1"),
    ([1, "a"], {}, TypeError, "data[1]: expected int, got str"),
    ([1, True, "a"], {}, TypeError, "data[1]: expected int, got bool"),
    ([-1, 0], {}, ValueError, "data[0]: expected a token id from 0 to 2147483647, got -1"),
    ([0, 2**80], {}, ValueError, f"data[1]: expected a token id from 0 to 2147483647, got {2**80}"),
    ([-5, "a"], {}, TypeError, "data[1]: expected int, got str"),
    (
        np.array([0, 2**31], np.uint32),
        {},
        ValueError,
        "data[1]: expected a token id from 0 to 2147483647, got 2147483648",
    ),
    (np.zeros(2), {}, TypeError, "data: expected an integer array, got dtype float64"),
    (np.zeros((1, 2), int), {}, TypeError, "data: expected a 1-D array, got 2 dimensions"),
    (
        np.zeros(4, np.int32)[::2],
        {},
        TypeError,
        "data: expected a C-contiguous array, got one with strides (8,)",
    ),
    ("", {"round": -1}, ValueError, "round: expected an int from 0 to 18446744073709551615, got -1"),
    ("", {"round": 2**64}, ValueError, f"round: expected an int from 0 to {2**64 - 1}, got {2**64}"),
    ("", {"round": True}, TypeError, "round: expected int, got bool"),
    ("", {"round": 1.0}, TypeError, "round: expected int, got float"),
]


@pytest.mark.parametrize(("data", "options", "error", "text"), ERRORS)
def test_errors(data: Any, options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        hash_of(data, **options)
    assert type(raised.value) is error and str(raised.value) == text
    with pytest.raises(error) as raised:
        hashes_of([b"", data], **options)
    assert str(raised.value) == text.replace("data", "data[1]", 1)


@pytest.mark.parametrize("data", ["text", 5, None, {"a": 1}])
def test_a_batch_is_a_list(data: Any) -> None:
    with pytest.raises(
        TypeError, match=r"^data: expected list, tuple, RaggedIds or an Arrow string array, got "
    ):
        hashes_of(data)


def test_ragged_errors() -> None:
    ids = np.array([1, -1], np.int32)
    with pytest.raises(ValueError, match=r"^data\.ids\[1\]: expected a token id from 0"):
        hashes_of(RaggedIds(ids, np.array([0, 2])))
    for offsets in ([0, 3], [-1, 1], [1, 0], []):
        with pytest.raises(ValueError, match=r"^data\.offsets: expected "):
            hashes_of(RaggedIds(ids, np.array(offsets, np.int64)))
    with pytest.raises(TypeError, match=r"^data\.offsets: expected an int64 array, got dtype int32$"):
        hashes_of(RaggedIds(ids, np.array([0], np.int32)))  # type: ignore[arg-type]


@pytest.mark.parametrize("block_size", [0, -1, 2**63])
def test_block_size_is_positive(block_size: int) -> None:
    with pytest.raises(ValueError, match=r"^block_size: expected an int from 1 to "):
        prefix_hashes_of([1], block_size)
    with pytest.raises(TypeError, match=r"^block_size: expected int, got str$"):
        prefix_hashes_of([1], "1")
