"""Rendered conversations in flat arrays: their rows, cut to a length, put side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from turnloom import _core
from turnloom._arguments import int_from
from turnloom._ragged import checked_offsets
from turnloom.packing import PackedBatch
from turnloom.rendered import ContentMarker, TokenColumns
from turnloom.tokenizer import RaggedIds

CutSide: TypeAlias = Literal["right", "left", "drop"]

_MAX_INT32 = 2**31 - 1
_MAX_INT64 = 2**63 - 1


def _no_rows() -> npt.NDArray[np.int64]:
    return _read_only(np.empty(0, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class TokenBatch:
    """Rendered conversations one after the other: row r is `[offsets[r], offsets[r + 1])` of every column.

    >>> batch = renderer.render_batch(conversations)
    >>> batch[0].token_ids
    """

    columns: TokenColumns
    offsets: npt.NDArray[np.int64]
    """int64[n_rows + 1]"""
    errors: list[tuple[int, Exception]]
    """Row and reason of every row that was left empty, in row order."""
    content_markers: list[tuple[int, ContentMarker]] = field(default_factory=list)
    """Row and marker, for every marker spelled at least in part by text of the caller."""
    dropped_rows: npt.NDArray[np.int64] = field(default_factory=_no_rows)
    """int64[n]: the rows that `truncate` emptied, in order."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> TokenColumns:
        n_rows = len(self)
        if not -n_rows <= row < n_rows:
            raise IndexError(f"row {row} of a batch of {n_rows}")
        row %= n_rows
        return self.columns.rows(int(self.offsets[row]), int(self.offsets[row + 1]))

    def __iter__(self) -> Iterator[TokenColumns]:
        return (self[row] for row in range(len(self)))

    @property
    def untrained_rows(self) -> npt.NDArray[np.int64]:
        """The rows without a trained token, int64[n]; without those of `errors` and `dropped_rows`.

        Raises:
            ValueError: the loss mask is not available, as the tokenizer gives no offsets.
        """
        offsets = _checked_offsets(self)
        loss_mask = self.columns.loss_mask
        if len(loss_mask) != len(self.columns):
            raise ValueError("loss_mask: not available, as the tokenizer gives no offsets")
        n_trained = np.diff(np.searchsorted(np.flatnonzero(loss_mask), offsets))
        untrained = n_trained == 0
        untrained[[row for row, _ in self.errors]] = False
        untrained[self.dropped_rows] = False
        return _read_only(np.flatnonzero(untrained))

    def truncate(self, max_length: int, *, side: CutSide = "right") -> TokenBatch:
        """Return the same rows with at most `max_length` tokens each, every column cut alike.

        Byte offsets and content markers go on telling bytes of the whole text.

        Args:
            side: "right" cuts off the end of a longer row, "left" its beginning; "drop" empties it and lists
                it in `dropped_rows`.
        """
        max_length = int_from(max_length, "max_length", lowest=1, highest=_MAX_INT64)
        if side not in ("right", "left", "drop"):
            raise ValueError(f"side: expected 'right', 'left' or 'drop', got {side!r}")
        begins, offsets, dropped = _core.cut_rows(_checked_offsets(self), max_length, side)
        parts = {
            name: _core.take_rows(column, begins, offsets)
            for name, column in _arrays(self.columns)
            if len(column)
        }
        return replace(
            self,
            columns=replace(self.columns, **parts),
            offsets=offsets,
            dropped_rows=_read_only(np.union1d(self.dropped_rows, dropped)),
        )

    def pack(self, length: int, *, pad_id: int = 0) -> PackedBatch:
        """Return the rows side by side in bins of `length` tokens, in few of them.

        The longest row comes first, rows of one length in their order, and each goes into the first bin that
        has room (first-fit decreasing). Empty rows are left out.

        Args:
            pad_id: the token id where no row stands.

        Raises:
            ValueError: a row is longer than `length`; `truncate` the batch first.
        """
        length = int_from(length, "length", lowest=1, highest=_MAX_INT32)
        pad_id = int_from(pad_id, "pad_id", lowest=0, highest=_MAX_INT32)
        offsets = _checked_offsets(self)
        columns = self.columns
        token_ids, message_indices, loss_mask, position_ids, segment_ids, bins, begins = _core.pack(
            columns.token_ids, columns.message_indices, columns.loss_mask, offsets, length, pad_id
        )
        return PackedBatch(
            token_ids=token_ids,
            message_indices=message_indices,
            loss_mask=loss_mask,
            position_ids=position_ids,
            segment_ids=segment_ids,
            row_bins=bins,
            row_begins=begins,
            row_lengths=_read_only(np.diff(offsets)),
        )


_COLUMN_TYPES = {
    "token_ids": "int32",
    "message_indices": "int32",
    "fields": "uint8",
    "sampled_mask": "bool",
    "is_content": "bool",
    "loss_mask": "bool",
    "byte_offsets": "int64",
}


def _arrays(columns: TokenColumns) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    for name in _COLUMN_TYPES:
        if (column := getattr(columns, name)) is not None:
            yield name, column


def _checked_offsets(batch: TokenBatch) -> npt.NDArray[np.int64]:
    """Check what may have been put together by hand, and return a copy of the offsets.

    Raises:
        TypeError, ValueError: an array is not what it is said to be, or does not fit the others.
    """
    n_tokens = len(batch.columns)
    for name, column in _arrays(batch.columns):
        dtype, shape = _COLUMN_TYPES[name], (2,) if name == "byte_offsets" else ()
        is_array = isinstance(column, np.ndarray) and column.dtype == dtype and column.shape[1:] == shape
        if not is_array or not column.flags.c_contiguous:
            raise TypeError(f"columns.{name}: expected a C-contiguous {dtype} array, one entry a token")
        if len(column) not in (0, n_tokens):
            raise ValueError(f"columns.{name}: {len(column)} entries for {n_tokens} tokens")
    return checked_offsets(RaggedIds(batch.columns.token_ids, batch.offsets), "batch")


def _read_only(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    rows.setflags(write=False)
    return rows
