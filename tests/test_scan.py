"""Searches for token ids: every width, alignment, size and density against a plain loop."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import turnloom
from oracles import agreed, assert_equal, assert_same_array
from turnloom import RaggedIds, TokenHits, reference

WIDTHS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
# Close together, alone, far apart, many, none; and some that a narrow type cannot hold.
TOKEN_SETS = [
    [100],
    [98, 100, 101],
    [0, 127],
    [],
    [5, 300, 70_000, 2**31 - 1],
    [*range(3, 127, 7), 1_000, 40_000, 90_000, 200_000, 2**30],
    [151_643, 151_645],
]


def call_both(name: str, *arguments: Any) -> Any:
    return agreed(
        lambda: getattr(turnloom, name)(*arguments),
        lambda: getattr(reference, name)(*arguments),
        assert_same_hits if name == "scan" else assert_same_runs if name == "split_at" else assert_equal,
    )


def assert_same_hits(hits: TokenHits, expected: TokenHits) -> None:
    assert_same_array(hits.positions, expected.positions)
    assert_same_array(hits.tokens, expected.tokens)
    assert (hits.rows is None) == (expected.rows is None)
    if hits.rows is not None and expected.rows is not None:
        assert_same_array(hits.rows, expected.rows)


def assert_same_runs(runs: Any, expected: Any) -> None:
    assert [(run.dtype, run.tolist()) for run in runs] == [(run.dtype, run.tolist()) for run in expected]


def plain_loop(ids: Any, tokens: list[int]) -> list[tuple[int, int]]:
    return [(position, id) for position, id in enumerate(ids.tolist()) if id in tokens]


def random_ids(random: np.random.Generator, width: Any, size: int, tokens: list[int], density: float) -> Any:
    """Make ids that are no hits but for a share of them, and never negative."""
    highest = min(np.iinfo(width).max, 2**31 - 1)
    ids = random.integers(0, highest, size, dtype=np.int64, endpoint=True)
    ids[np.isin(ids, tokens)] = 1
    fitting = [token for token in tokens if token <= highest]
    if fitting:
        chosen = random.random(size) < density
        ids[chosen] = random.choice(fitting, int(chosen.sum()))
    return ids.astype(width)


@pytest.mark.parametrize("tokens", TOKEN_SETS, ids=str)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_width_size_alignment_and_density(width: Any, tokens: list[int]) -> None:
    random = np.random.default_rng(5)
    for size in range(301):
        density = (0.0, 0.01, 0.3, 1.0)[size % 4]
        start = size % 13
        ids = random_ids(random, width, size + start, tokens, density)[start:]
        expected = plain_loop(ids, tokens)
        hits = turnloom.scan(ids, tokens)
        assert list(zip(hits.positions.tolist(), hits.tokens.tolist(), strict=True)) == expected
        assert turnloom.count_tokens(ids, tokens) == len(expected)
        assert turnloom.find_first(ids, tokens) == (expected[0][0] if expected else None)
        assert turnloom.find_last(ids, tokens) == (expected[-1][0] if expected else None)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_single_hit_anywhere(width: Any) -> None:
    for position in range(300):
        ids = np.zeros(300, width)
        ids[position] = 100
        assert turnloom.scan(ids, [99, 100]).positions.tolist() == [position]
        assert turnloom.find_first(ids, [100]) == turnloom.find_last(ids, [100]) == position


IDS = st.lists(st.integers(0, 130) | st.integers(0, 2**31 - 1), max_size=200)
TOKENS = st.lists(st.integers(0, 130) | st.integers(0, 2**31 - 1), max_size=12)


@given(IDS, TOKENS, st.sampled_from([np.int32, np.int64, np.uint32, np.uint64]))
def test_searches_agree(ids: list[int], tokens: list[int], width: Any) -> None:
    array = np.array(ids, width)
    for name in ("scan", "count_tokens", "find_first", "find_last", "split_at"):
        call_both(name, ids, tokens)
        call_both(name, tuple(ids), set(tokens))
        call_both(name, array, frozenset(tokens))
        call_both(name, array, np.array(tokens, np.int64))


@given(st.lists(IDS, max_size=8), TOKENS, st.integers(0, 5))
def test_ragged_batches_agree(rows: list[list[int]], tokens: list[int], n_before: int) -> None:
    ids = np.array([3] * n_before + [id for row in rows for id in row], np.int32)
    offsets = np.cumsum([n_before, *map(len, rows)], dtype=np.int64)
    hits = call_both("scan", RaggedIds(ids, offsets), tokens)
    assert [rows[row][position] for row, position in zip(hits.rows, hits.positions, strict=True)] == (
        hits.tokens.tolist()
    )


@pytest.mark.parametrize(
    "array",
    [
        np.array([1, 7, 2], ">i8"),
        np.array([1, 7, 2], ">u2"),
        np.frombuffer(b"\0" + np.array([1, 7, 2], np.int32).tobytes(), np.uint8)[1:].view(np.int32),
    ],
    ids=["big-endian", "big-endian short", "not aligned"],
)
def test_foreign_layouts(array: Any) -> None:
    assert call_both("scan", array, [7]).positions.tolist() == [1]


def test_runs_between_hits_are_views() -> None:
    ids = np.array([7, 1, 2, 7, 7, 3], np.int64)
    runs = call_both("split_at", ids, [7])
    assert [run.tolist() for run in runs] == [[], [1, 2], [], [3]]
    assert all(run.base is ids for run in runs)
    assert [run.tolist() for run in call_both("split_at", [], [7])] == [[]]


@pytest.mark.parametrize("size", [3, 64, 65, 200])
@pytest.mark.parametrize("width", [np.int8, np.int16, np.int32, np.int64, np.uint32, np.uint64])
def test_an_id_that_is_no_token_is_an_error_where_it_stands(width: Any, size: int) -> None:
    wrong = -1 if np.iinfo(width).min < 0 else 2**31
    for position in (0, size // 2, size - 1):
        ids = np.zeros(size, width)
        ids[position] = wrong
        text = rf"^ids\[{position}\]: expected a token id from 0 to 2147483647, got {wrong}$"
        for name in ("scan", "count_tokens", "find_first", "find_last", "split_at"):
            with pytest.raises(ValueError, match=text):
                call_both(name, ids, [5])
        batch = RaggedIds(ids, np.array([0, 0, 1, size], np.int64))  # type: ignore[arg-type]
        row, in_row = (1, 0) if position == 0 else (2, position - 1)
        with pytest.raises(ValueError, match=rf"^ids\[{row}\]\[{in_row}\]: expected a token id"):
            call_both("scan", batch, [5])


def test_what_a_search_need_not_look_at_may_be_anything() -> None:
    ids = np.array([-1] * 100 + [5] + [0] * 100 + [5] + [-1] * 100)
    with pytest.raises(ValueError, match=r"^ids\[0\]: "):
        call_both("find_first", ids, [5])
    with pytest.raises(ValueError, match=r"^ids\[301\]: "):
        call_both("find_last", ids, [5])
    assert call_both("find_first", ids[100:], [5]) == 0
    assert call_both("find_last", ids[:202], [5]) == 201


ERRORS: list[tuple[Any, Any, type[Exception], str]] = [
    (5, [1], TypeError, "ids: expected list, tuple or 1-D integer array, got int"),
    ("ab", [1], TypeError, "ids: expected list, tuple or 1-D integer array, got str"),
    ([1, 2.0], [1], TypeError, "ids[1]: expected int, got float"),
    ([-1, True], [1], TypeError, "ids[1]: expected int, got bool"),
    ([1, 2**31], [1], ValueError, "ids[1]: expected a token id from 0 to 2147483647, got 2147483648"),
    (np.zeros(3), [1], TypeError, "ids: expected an integer array, got dtype float64"),
    (np.zeros(3, bool), [1], TypeError, "ids: expected an integer array, got dtype bool"),
    (np.zeros((2, 2), int), [1], TypeError, "ids: expected a 1-D array, got 2 dimensions"),
    (np.zeros(6, int)[::2], [1], TypeError, "ids: expected a C-contiguous array, got one with strides (16,)"),
    ([1], 1, TypeError, "token_ids: expected list, tuple or 1-D integer array, got int"),
    ([1], ["a"], TypeError, "token_ids[0]: expected int, got str"),
    ([1], {-2}, ValueError, "token_ids[0]: expected a token id from 0 to 2147483647, got -2"),
    ([1], np.array([1, -2]), ValueError, "token_ids[1]: expected a token id from 0 to 2147483647, got -2"),
]


@pytest.mark.parametrize(("ids", "tokens", "error", "text"), ERRORS)
def test_errors(ids: Any, tokens: Any, error: type[Exception], text: str) -> None:
    for name in ("scan", "count_tokens", "find_first", "find_last", "split_at"):
        with pytest.raises(error) as raised:
            call_both(name, ids, tokens)
        assert type(raised.value) is error and str(raised.value) == text


def test_ragged_errors() -> None:
    with pytest.raises(ValueError, match=r"^ids\.offsets: expected ascending offsets from 0 to 3$"):
        call_both("scan", RaggedIds(np.zeros(3, np.int32), np.array([0, 4])), [1])
    with pytest.raises(TypeError, match=r"^ids\.ids: expected an array, got list$"):
        call_both("scan", RaggedIds([1], np.array([0, 1])), [1])  # type: ignore[arg-type]
