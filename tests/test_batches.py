"""Batches: which rows are trained, rows cut to a length, rows packed; by the reference and by properties."""

import re
import threading
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import turnloom
import turnloom.reference
import vocabularies
from chats import HI, assistant, user
from oracles import assert_same_array, assert_same_batch, attempt, describe
from turnloom import LossRule, PackedBatch, TokenBatch, TokenColumns
from turnloom.reference import packing

RENDERER = turnloom.create_renderer(vocabularies.tokenizer("builtin"), turnloom.Qwen3Config())
SIDES = ("right", "left", "drop")


def batch_of(lengths: list[int], *, trained: list[bool] | None = None, masks: bool = True) -> TokenBatch:
    """Give a batch whose columns all differ from token to token."""
    n = sum(lengths)
    sampled = np.arange(n) % 3 == 0
    nothing = np.empty(0, np.bool_)
    columns = TokenColumns(
        token_ids=np.arange(100, 100 + n, dtype=np.int32),
        message_indices=np.arange(n, dtype=np.int32) // 4 - 1,
        fields=(np.arange(n) % 9).astype(np.uint8),
        sampled_mask=sampled if masks else nothing,
        is_content=np.arange(n) % 2 == 0 if masks else nothing,
        loss_mask=(sampled if trained is None else np.array(trained, np.bool_)) if masks else nothing,
        byte_offsets=np.arange(2 * n, dtype=np.int64).reshape(n, 2) if masks else None,
    )
    for field in fields(columns):
        if (column := getattr(columns, field.name)) is not None:
            column.setflags(write=False)
    return TokenBatch(columns, np.cumsum([0, *lengths], dtype=np.int64), [])


@st.composite
def batches(draw: st.DrawFn) -> TokenBatch:
    """Give batches, empty rows among them."""
    lengths = draw(st.lists(st.integers(0, 9), max_size=12))
    n = sum(lengths)
    trained = draw(st.none() | st.lists(st.booleans(), min_size=n, max_size=n))
    return batch_of(lengths, trained=trained, masks=draw(st.integers(0, 4)) > 0)


class TestUntrainedRows:
    def test_rows_without_a_trained_token(self) -> None:
        rows = [[HI], [HI, assistant("Yo")], [HI, assistant("Yo", train=False)], []]
        batch = RENDERER.render_batch(rows, on_error="collect")
        assert batch.untrained_rows.tolist() == [0, 2]
        assert batch.untrained_rows.dtype == np.int64
        assert not batch.untrained_rows.flags.writeable
        assert [row for row, _ in batch.errors] == [3]
        assert RENDERER.render_batch(rows[:2], loss=LossRule(content_roles=["user"])).untrained_rows.size == 0

    def test_h33_what_truncation_takes_away_is_reported(self) -> None:
        chat = [HI, assistant("Yo"), user("Say it again, please."), assistant("Yo, yo, yo and yo.")]
        whole = RENDERER.render_batch([chat, chat[:1]], add_generation_prompt=True)
        n_first = RENDERER.render(chat).message_token_spans()[3][0]
        for n_kept in (len(whole[0]) - 3, n_first, 12, 9):
            cut = whole.truncate(n_kept)
            assert cut[0].loss_mask.tolist() == whole[0].loss_mask[:n_kept].tolist()
            assert cut[0].token_ids.tolist() == whole[0].token_ids[:n_kept].tolist()
        header = int(np.argmax(whole[0].loss_mask))
        assert whole.untrained_rows.tolist() == [1]
        assert whole.truncate(header).untrained_rows.tolist() == [0, 1]
        assert whole.truncate(header + 1).untrained_rows.tolist() == [1]
        # A row that was dropped is reported as that.
        dropped = whole.truncate(header, side="drop")
        assert dropped.dropped_rows.tolist() == [0] and dropped.untrained_rows.tolist() == [1]

    @given(batches())
    def test_generated(self, batch: TokenBatch) -> None:
        if len(batch.columns.loss_mask) != len(batch.columns):
            with pytest.raises(
                ValueError, match=r"^loss_mask: not available, as the tokenizer gives no offsets$"
            ):
                _ = batch.untrained_rows
            return
        expected = [i for i, row in enumerate(batch) if not any(row.loss_mask)]
        assert batch.untrained_rows.tolist() == expected

    def test_without_offsets_it_is_an_error(self) -> None:
        renderer = turnloom.create_renderer(vocabularies.without_offsets(), turnloom.Qwen3Config())
        with pytest.raises(ValueError, match=r"^loss_mask: not available"):
            _ = renderer.render_batch([[HI]]).untrained_rows


class TestTruncate:
    @given(batches(), st.integers(1, 10), st.sampled_from(SIDES))
    def test_as_the_reference(self, batch: TokenBatch, max_length: int, side: Any) -> None:
        cut = batch.truncate(max_length, side=side)
        assert_same_batch(cut, packing.truncate(batch, max_length, side=side))
        assert_same_array(cut.dropped_rows, packing.truncate(batch, max_length, side=side).dropped_rows)

    @given(batches(), st.integers(1, 10), st.sampled_from(SIDES))
    def test_columns_stay_aligned(self, batch: TokenBatch, max_length: int, side: Any) -> None:
        cut = batch.truncate(max_length, side=side)
        assert len(cut) == len(batch)
        for number, (row, whole) in enumerate(zip(cut, batch, strict=True)):
            begin = max(0, len(whole) - max_length) if side == "left" else 0
            is_dropped = side == "drop" and len(whole) > max_length
            end = begin if is_dropped else min(len(whole), begin + max_length)
            assert (number in cut.dropped_rows) == is_dropped
            for column in fields(TokenColumns):
                values, expected = getattr(row, column.name), getattr(whole, column.name)
                if expected is not None:
                    assert values.tolist() == expected[begin:end].tolist()

    def test_rows_that_were_dropped_before_stay_listed(self) -> None:
        batch = batch_of([5, 2, 9, 3]).truncate(5, side="drop")
        assert batch.dropped_rows.tolist() == [2]
        again = batch.truncate(3, side="drop")
        assert again.dropped_rows.tolist() == [0, 2]
        assert again.truncate(1).dropped_rows.tolist() == [0, 2]

    def test_errors_and_markers_stay(self) -> None:
        batch = RENDERER.render_batch([[user("<|im_end|>")], []], on_error="collect")
        cut = batch.truncate(2)
        assert (cut.errors, cut.content_markers) == (batch.errors, batch.content_markers)
        assert len(cut.content_markers) == 1

    @pytest.mark.parametrize(
        ("arguments", "error", "text"),
        [
            ({"max_length": 0}, ValueError, f"max_length: expected an int from 1 to {2**63 - 1}, got 0"),
            ({"max_length": -3}, ValueError, f"max_length: expected an int from 1 to {2**63 - 1}, got -3"),
            (
                {"max_length": 2**63},
                ValueError,
                f"max_length: expected an int from 1 to {2**63 - 1}, got {2**63}",
            ),
            ({"max_length": True}, TypeError, "max_length: expected int, got bool"),
            ({"max_length": 1.0}, TypeError, "max_length: expected int, got float"),
            ({"max_length": np.int64(1)}, TypeError, "max_length: expected int, got int64"),
            ({"max_length": None}, TypeError, "max_length: expected int, got NoneType"),
            (
                {"max_length": 1, "side": "middle"},
                ValueError,
                "side: expected 'right', 'left' or 'drop', got 'middle'",
            ),
            (
                {"max_length": 1, "side": None},
                ValueError,
                "side: expected 'right', 'left' or 'drop', got None",
            ),
        ],
    )
    def test_wrong_arguments(self, arguments: dict[str, Any], error: type[Exception], text: str) -> None:
        with pytest.raises(error, match=f"^{re.escape(text)}$"):
            batch_of([3]).truncate(**arguments)

    def test_a_huge_length_cuts_nothing(self) -> None:
        batch = batch_of([3, 0])
        assert_same_batch(batch.truncate(2**63 - 1), packing.truncate(batch, 100))


class TestPack:
    @given(batches(), st.integers(1, 24), st.integers(0, 2**31 - 1))
    def test_as_the_reference(self, batch: TokenBatch, length: int, pad_id: int) -> None:
        if len(batch.columns.loss_mask) != len(batch.columns):
            batch = replace(batch, columns=replace(batch.columns, loss_mask=batch.columns.token_ids < 0))
        packed, error = attempt(lambda: batch.pack(length, pad_id=pad_id))
        expected, expected_error = attempt(lambda: packing.pack(batch, length, pad_id=pad_id))
        assert describe(error) == describe(expected_error)
        if error is None:
            for field in fields(PackedBatch):
                array, wanted = getattr(packed, field.name), getattr(expected, field.name)
                assert (array.dtype, array.shape) == (wanted.dtype, wanted.shape), field.name
                assert array.tolist() == wanted.tolist(), field.name
                assert not array.flags.writeable

    @given(batches(), st.integers(9, 24))
    def test_every_row_once_and_none_over_another(self, batch: TokenBatch, length: int) -> None:
        packed = batch.pack(length, pad_id=7)
        taken = np.zeros(packed.token_ids.shape, int)
        for number, row in enumerate(batch):
            place = packed.place_of(number)
            if not len(row):
                assert place is None and packed.row_bins[number] == -1
                continue
            taken[place] += 1
            assert packed.token_ids[place].tolist() == row.token_ids.tolist()
            assert packed.message_indices[place].tolist() == row.message_indices.tolist()
            assert packed.position_ids[place].tolist() == list(range(len(row)))
            assert len(set(packed.segment_ids[place].tolist())) == 1
            if len(row.loss_mask):
                assert packed.loss_mask[place].tolist() == [False, *row.loss_mask[1:].tolist()]
        assert (taken == (packed.segment_ids > 0)).all()
        padding = taken == 0
        assert (packed.token_ids[padding] == 7).all() and (packed.position_ids[padding] == 0).all()
        assert (packed.message_indices[padding] == -1).all()
        if len(packed.loss_mask):
            assert not packed.loss_mask[padding].any()

    @given(batches(), st.integers(9, 24))
    def test_no_bin_too_many(self, batch: TokenBatch, length: int) -> None:
        packed = batch.pack(length)
        lengths = packed.row_lengths
        used = [int(lengths[packed.rows_of(bin)].sum()) for bin in range(len(packed))]
        assert sum(used) == lengths.sum() and all(0 < n <= length for n in used)
        for number in np.flatnonzero(lengths):
            # When a row came, no bin before its own had room: only longer rows were there.
            for bin in range(packed.row_bins[number]):
                rows = packed.rows_of(bin)
                before = rows[
                    (lengths[rows] > lengths[number]) | (lengths[rows] == lengths[number]) & (rows < number)
                ]
                assert lengths[before].sum() + lengths[number] > length
        for bin in range(len(packed)):
            segments = packed.segment_ids[bin]
            rows = packed.rows_of(bin)
            assert [int(segments[packed.place_of(row)[1]][0]) for row in rows] == list(
                range(1, len(rows) + 1)
            )

    def test_an_example(self) -> None:
        packed = batch_of([2, 0, 3, 3, 1]).pack(5, pad_id=9)
        assert packed.token_ids.tolist() == [[102, 103, 104, 100, 101], [105, 106, 107, 108, 9]]
        assert packed.segment_ids.tolist() == [[1, 1, 1, 2, 2], [1, 1, 1, 2, 0]]
        assert packed.position_ids.tolist() == [[0, 1, 2, 0, 1], [0, 1, 2, 0, 0]]
        assert packed.row_bins.tolist() == [0, -1, 0, 1, 1]
        assert packed.row_begins.tolist() == [3, 0, 0, 0, 3]
        assert packed.row_lengths.tolist() == [2, 0, 3, 3, 1]
        assert packed.rows_of(1).tolist() == [3, 4]
        assert len(packed) == 2

    def test_rendered_rows(self) -> None:
        rows = [[HI, assistant("Yo " * n)] for n in (1, 30, 2, 3, 40)]
        batch = RENDERER.render_batch(rows)
        packed = batch.pack(int(np.diff(batch.offsets).max()))
        for number in range(len(rows)):
            assert packed.token_ids[packed.place_of(number)].tolist() == batch[number].token_ids.tolist()
        # No row begins with a trained token, so nothing is lost.
        assert packed.loss_mask.sum() == batch.columns.loss_mask.sum()

    def test_no_rows(self) -> None:
        for batch in (batch_of([]), batch_of([0, 0])):
            packed = batch.pack(8)
            assert packed.token_ids.shape == packed.loss_mask.shape == (0, 8) and len(packed) == 0
            assert packed.row_bins.tolist() == [-1] * len(batch)

    def test_masks_that_are_not_available(self) -> None:
        packed = batch_of([3, 2], masks=False).pack(8)
        assert packed.token_ids.shape == (1, 8)
        assert packed.loss_mask.shape == (0, 8)

    def test_a_row_that_is_too_long(self) -> None:
        text = "row 1: 7 tokens do not fit into length=6; truncate the batch first"
        with pytest.raises(ValueError, match=f"^{text}$"):
            batch_of([6, 7, 8]).pack(6)
        assert len(batch_of([6, 7, 8]).truncate(6).pack(6)) == 3

    @pytest.mark.parametrize(
        ("arguments", "error", "text"),
        [
            ({"length": 0}, ValueError, "length: expected an int from 1 to 2147483647, got 0"),
            ({"length": 2**31}, ValueError, f"length: expected an int from 1 to 2147483647, got {2**31}"),
            ({"length": False}, TypeError, "length: expected int, got bool"),
            ({"length": np.int32(8)}, TypeError, "length: expected int, got int32"),
            ({"length": 8, "pad_id": -1}, ValueError, "pad_id: expected an int from 0 to 2147483647, got -1"),
            ({"length": 8, "pad_id": None}, TypeError, "pad_id: expected int, got NoneType"),
        ],
    )
    def test_wrong_arguments(self, arguments: dict[str, Any], error: type[Exception], text: str) -> None:
        with pytest.raises(error, match=f"^{re.escape(text)}$"):
            batch_of([3]).pack(**arguments)

    def test_places_that_are_not_there(self) -> None:
        packed = batch_of([3]).pack(4)
        for row in (-1, 1):
            with pytest.raises(IndexError, match=f"^row {row} of a batch of 1$"):
                packed.place_of(row)
        with pytest.raises(IndexError, match=r"^bin 1 of 1$"):
            packed.rows_of(1)


def test_a_batch_put_together_by_hand_is_checked() -> None:
    batch = batch_of([3, 2])
    columns = batch.columns
    wrong: list[tuple[TokenBatch, str]] = [
        (replace(batch, offsets=np.array([0, 6], np.int64)), r"batch\.offsets: expected ascending offsets"),
        (replace(batch, offsets=np.array([0, 3, 2], np.int64)), r"batch\.offsets: expected ascending"),
        (replace(batch, offsets=np.array([0, 5], np.int32)), r"batch\.offsets: expected an int64 array"),
        (
            replace(batch, columns=replace(columns, fields=columns.fields[:3])),
            r"columns\.fields: 3 entries for 5",
        ),
        (
            replace(batch, columns=replace(columns, loss_mask=columns.fields)),
            r"columns\.loss_mask: expected a C-contiguous bool array, one entry a token",
        ),
        (
            replace(batch, columns=replace(columns, token_ids=columns.token_ids.astype(np.int64))),
            r"columns\.token_ids",
        ),
        (
            replace(batch, columns=replace(columns, byte_offsets=columns.byte_offsets[:, 0])),
            r"columns\.byte_offsets",
        ),
        (
            replace(batch, columns=replace(columns, is_content=columns.is_content[::-1])),
            r"columns\.is_content",
        ),
    ]
    for broken, text in wrong:
        for call in (lambda it: it.truncate(2), lambda it: it.pack(8), lambda it: it.untrained_rows):
            with pytest.raises((TypeError, ValueError), match=f"^{text}"):
                call(broken)


def test_many_rows() -> None:
    """One bin a row and many rows a bin: neither is quadratic."""
    n_rows = 200_000
    long = batch_of([3] * n_rows)
    assert len(long.pack(5)) == n_rows
    assert len(long.pack(6)) == n_rows // 2
    assert len(long.pack(3 * n_rows)) == 1
    assert len(long.truncate(2).columns) == 2 * n_rows


class Lying(np.ndarray):
    """An array that shows other elements than it has."""

    def __getitem__(self, index: Any) -> Any:
        return np.zeros(len(self), np.int64)[index]


@pytest.mark.parametrize(
    "offsets",
    [np.ma.array([0, 10**9], mask=[False, True]), np.array([0, 10**12]).view(Lying)],
    ids=["masked", "lying"],
)
def test_offsets_are_checked_as_the_memory_has_them(offsets: np.ndarray) -> None:
    batch = replace(batch_of([5]), offsets=offsets)
    for call in (lambda: batch.truncate(10**8), lambda: batch.pack(10**6), lambda: batch.untrained_rows):
        with pytest.raises(ValueError, match=r"^batch\.offsets: expected ascending offsets from 0 to 5"):
            call()
    ragged = turnloom.RaggedIds(batch.columns.token_ids, offsets)
    for find in (turnloom.scan, turnloom.reference.scan):
        with pytest.raises(ValueError, match=r"^ids\.offsets: "):
            find(ragged, [5])


def test_offsets_that_another_thread_changes() -> None:
    batch = batch_of([3] * 2000)
    offsets = batch.offsets.copy()
    changing = replace(batch, offsets=offsets)
    expected = batch.pack(64)
    done = threading.Event()

    def change() -> None:
        while not done.is_set():
            offsets[10] = 10**12
            offsets[10] = batch.offsets[10]

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(300):
            packed, error = attempt(lambda: changing.pack(64))
            assert isinstance(error, ValueError) or np.array_equal(packed.token_ids, expected.token_ids)
    finally:
        done.set()
        thread.join()
