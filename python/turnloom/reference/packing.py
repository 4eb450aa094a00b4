"""What `TokenBatch.truncate` and `TokenBatch.pack` do, one row after the other."""

from dataclasses import replace

import numpy as np

from turnloom.batch import CutSide, TokenBatch
from turnloom.packing import PackedBatch
from turnloom.reference.columns import concatenated
from turnloom.rendered import TokenColumns


def truncate(batch: TokenBatch, max_length: int, *, side: CutSide = "right") -> TokenBatch:
    """Cut every row to at most `max_length` tokens."""
    rows: list[TokenColumns] = []
    dropped = set(batch.dropped_rows.tolist())
    for number, row in enumerate(batch):
        if len(row) <= max_length:
            rows.append(row)
        elif side == "right":
            rows.append(row.rows(0, max_length))
        elif side == "left":
            rows.append(row.rows(len(row) - max_length, len(row)))
        else:
            rows.append(row.rows(0, 0))
            dropped.add(number)
    return replace(
        batch,
        columns=concatenated(rows, byte_offsets=batch.columns.byte_offsets is not None),
        offsets=_read_only(np.cumsum([0, *map(len, rows)], dtype=np.int64)),
        dropped_rows=_read_only(np.array(sorted(dropped), np.int64)),
    )


def pack(batch: TokenBatch, length: int, *, pad_id: int = 0) -> PackedBatch:
    """Put every row, the longest first, into the first bin of `length` tokens that has room.

    Raises:
        ValueError: a row is longer than a bin.
    """
    for number, row in enumerate(batch):
        if len(row) > length:
            raise ValueError(
                f"row {number}: {len(row)} tokens do not fit into length={length}; truncate the batch first"
            )
    bins: list[list[int]] = []
    for number in sorted(range(len(batch)), key=lambda row: -len(batch[row])):
        if not len(batch[number]):
            continue
        with_room = (rows for rows in bins if _used(batch, rows) + len(batch[number]) <= length)
        rows = next(with_room, None)
        if rows is None:
            rows = []
            bins.append(rows)
        rows.append(number)
    return _packed(batch, bins, length, pad_id)


def _used(batch: TokenBatch, rows: list[int]) -> int:
    return sum(len(batch[row]) for row in rows)


def _packed(batch: TokenBatch, bins: list[list[int]], length: int, pad_id: int) -> PackedBatch:
    shape = (len(bins), length)
    packed = PackedBatch(
        token_ids=np.full(shape, pad_id, np.int32),
        loss_mask=np.zeros(shape, np.bool_),
        position_ids=np.zeros(shape, np.int32),
        segment_ids=np.zeros(shape, np.int32),
        message_indices=np.full(shape, -1, np.int32),
        row_bins=np.full(len(batch), -1, np.int64),
        row_begins=np.zeros(len(batch), np.int64),
        row_lengths=np.array([len(row) for row in batch], np.int64),
    )
    for bin, rows in enumerate(bins):
        begin = 0
        for segment, number in enumerate(rows, 1):
            row = batch[number]
            place = (bin, slice(begin, begin + len(row)))
            packed.token_ids[place] = row.token_ids
            packed.loss_mask[place] = row.loss_mask
            packed.loss_mask[bin, begin] = False
            packed.position_ids[place] = range(len(row))
            packed.segment_ids[place] = segment
            packed.message_indices[place] = row.message_indices
            packed.row_bins[number] = bin
            packed.row_begins[number] = begin
            begin += len(row)
    return packed


def _read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
