"""The check of ragged ids that a caller passes in."""

import numpy as np

from turnloom._ids import check_array
from turnloom.tokenizer import RaggedIds


def check_ragged(batch: RaggedIds, place: str) -> None:
    """Check that every row lies in the ids; the ids themselves are not looked at.

    Raises:
        TypeError: `ids` is no 1-D integer array, or `offsets` no int64 array.
        ValueError: the offsets are none, not in order, or out of range.
    """
    for name, array in (("ids", batch.ids), ("offsets", batch.offsets)):
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{place}.{name}: expected an array, got {type(array).__name__}")
        check_array(array, f"{place}.{name}")
    offsets = batch.offsets
    if offsets.dtype != np.int64:
        raise TypeError(f"{place}.offsets: expected an int64 array, got dtype {offsets.dtype}")
    if not offsets.size:
        raise ValueError(f"{place}.offsets: expected one entry more than rows, got none")
    if offsets[0] < 0 or offsets[-1] > len(batch.ids) or (offsets[1:] < offsets[:-1]).any():
        raise ValueError(f"{place}.offsets: expected ascending offsets from 0 to {len(batch.ids)}")
