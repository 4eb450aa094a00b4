"""The check of ragged ids that a caller passes in."""

import numpy as np
from numpy.typing import NDArray

from turnloom._ids import check_array
from turnloom.tokenizer import RaggedIds


def checked_offsets(batch: RaggedIds, place: str) -> NDArray[np.int64]:
    """Return offsets with which every row lies in the ids; the ids themselves are not looked at.

    They are a copy: what is checked cannot change while it is used, whoever else writes to the array.

    Raises:
        TypeError: `ids` is no 1-D integer array, or `offsets` no int64 array.
        ValueError: the offsets are none, not in order, or out of range.
    """
    for name, array in (("ids", batch.ids), ("offsets", batch.offsets)):
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{place}.{name}: expected an array, got {type(array).__name__}")
        check_array(array, f"{place}.{name}")
    if batch.offsets.dtype != np.int64:
        raise TypeError(f"{place}.offsets: expected an int64 array, got dtype {batch.offsets.dtype}")
    offsets = np.array(batch.offsets, subok=False)  # not as a subclass, such as a masked array, has it
    if not offsets.size:
        raise ValueError(f"{place}.offsets: expected one entry more than rows, got none")
    if offsets[0] < 0 or offsets[-1] > len(batch.ids) or (offsets[1:] < offsets[:-1]).any():
        raise ValueError(f"{place}.offsets: expected ascending offsets from 0 to {len(batch.ids)}")
    return offsets
