"""Token columns as Arrow columns, without any work per row in Python."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from turnloom.batch import TokenBatch
from turnloom.rendered import TokenColumns

TOKEN_COLUMNS: Mapping[str, Any] = {
    "token_ids": pa.list_(pa.int32()),
    "message_indices": pa.list_(pa.int32()),
    "sampled_mask": pa.list_(pa.bool_()),
    "is_content": pa.list_(pa.bool_()),
    "loss_mask": pa.list_(pa.bool_()),
    "fields": pa.list_(pa.uint8()),
    "byte_offsets": pa.list_(pa.list_(pa.int64(), 2)),
}
"""Columns with one entry a token."""

SOURCE_COLUMNS: Mapping[str, Any] = {
    "input": pa.string(),
    "line": pa.int64(),
}
"""Where a row is from, as in the errors file: bad rows are left out, so its own position does not tell."""

COLUMN_TYPES: Mapping[str, Any] = {**TOKEN_COLUMNS, **SOURCE_COLUMNS}
COLUMNS = tuple(COLUMN_TYPES)
DEFAULT_COLUMNS = tuple(name for name in COLUMNS if name != "byte_offsets")

_MAX_OFFSET = 2**31 - 1


def is_available(columns: TokenColumns, name: str) -> bool:
    """Tell whether a column has its values: most need a tokenizer that gives offsets."""
    return len(getattr(columns, name)) == len(columns)


def kept_offsets(batch: TokenBatch) -> tuple[list[int], NDArray[np.int64]]:
    """Return the rows without an error, and where each begins in the batch's flat columns, with the end."""
    keep = np.ones(len(batch), dtype=np.bool_)
    keep[[row for row, _ in batch.errors]] = False
    # A bad row is empty, so dropping its end leaves the flat columns as they are.
    offsets = np.concatenate([batch.offsets[:1], batch.offsets[1:][keep]])
    return np.flatnonzero(keep).tolist(), offsets


def token_arrays(
    columns: TokenColumns, offsets: NDArray[np.int64], names: Sequence[str]
) -> Iterator[tuple[slice, list[Any]]]:
    """Yield slices of the rows, each with one Arrow list array a name.

    There is one slice, unless the rows hold more tokens than 32-bit list offsets can count.
    """
    for rows in row_slices(offsets, _MAX_OFFSET):
        begin, end = int(offsets[rows.start]), int(offsets[rows.stop])
        list_offsets = pa.array((offsets[rows.start : rows.stop + 1] - begin).astype(np.int32))
        yield rows, [_list_array(getattr(columns, name)[begin:end], list_offsets) for name in names]


def row_slices(offsets: NDArray[np.int64], max_tokens: int) -> Iterator[slice]:
    """Split rows into runs of at most `max_tokens` tokens.

    Raises:
        OverflowError: a single row has more.
    """
    begin, n_rows = 0, len(offsets) - 1
    while begin < n_rows:
        end = int(np.searchsorted(offsets, offsets[begin] + max_tokens, side="right")) - 1
        if end <= begin:
            raise OverflowError(
                f"a row of {offsets[begin + 1] - offsets[begin]} tokens; {max_tokens} is the limit"
            )
        yield slice(begin, end)
        begin = end


def _list_array(values: NDArray[Any], list_offsets: Any) -> Any:
    if values.ndim == 1:
        return pa.ListArray.from_arrays(list_offsets, pa.array(values))
    pairs = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])
    return pa.ListArray.from_arrays(list_offsets, pairs)
