"""Rows to a batch, where not every row has every column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from turnloom.rendered import TokenColumns

NO_TOKENS = TokenColumns(
    token_ids=np.empty(0, np.int32),
    message_indices=np.empty(0, np.int32),
    fields=np.empty(0, np.uint8),
    sampled_mask=np.empty(0, np.bool_),
    is_content=np.empty(0, np.bool_),
    loss_mask=np.empty(0, np.bool_),
    byte_offsets=np.empty((0, 2), np.int64),
)


def joined(rows: Sequence[TokenColumns], byte_offsets: bool) -> TokenColumns:
    """Put rows behind one another. A column is there if every row has it."""
    rows = rows or [NO_TOKENS]

    def column(name: str) -> Any:
        arrays = [getattr(row, name) for row in rows]
        if any(array is None or len(array) != len(row) for array, row in zip(arrays, rows, strict=True)):
            return getattr(NO_TOKENS, name)
        joined = np.concatenate(arrays)
        joined.setflags(write=False)
        return joined

    return TokenColumns(
        token_ids=column("token_ids"),
        message_indices=column("message_indices"),
        fields=NO_TOKENS.fields,
        sampled_mask=column("sampled_mask"),
        is_content=NO_TOKENS.is_content,
        loss_mask=column("loss_mask"),
        byte_offsets=column("byte_offsets") if byte_offsets else None,
    )
