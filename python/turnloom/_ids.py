"""The one check of token ids that a caller passes in."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

TokenIds: TypeAlias = list[int] | tuple[int, ...] | NDArray[np.integer[Any]]
"""Token ids in: a list, a tuple, or a 1-D C-contiguous integer array of any width."""

_INT32_MAX = 2**31 - 1


def token_id_array(ids: TokenIds, place: str) -> NDArray[np.int32]:
    """Return `ids` as int32[n]; an int32 array is returned as it is.

    Args:
        place: what errors call it, as `ids` or `batch[3]`.

    Raises:
        TypeError: not one of the accepted types, or an element that is no int (a bool is none).
        ValueError: a negative id, or one past int32.
    """
    if isinstance(ids, np.ndarray):
        check_array(ids, place)
        array: NDArray[np.integer[Any]] = ids
    elif isinstance(ids, (list, tuple)):
        if not set(map(type, ids)) <= {int}:
            _check_elements(ids, place)
        try:
            array = np.array(ids, dtype=np.int64)
        except OverflowError:
            position = next(i for i, value in enumerate(ids) if not 0 <= value <= _INT32_MAX)
            raise _out_of_range(place, position, ids[position]) from None
    else:
        raise TypeError(f"{place}: expected list, tuple or 1-D integer array, got {type(ids).__name__}")
    if array.size and not 0 <= array.min() <= array.max() <= _INT32_MAX:
        position = int(np.argmax((array < 0) | (array > _INT32_MAX)))
        raise _out_of_range(place, position, int(array[position]))
    return array.astype(np.int32, copy=False)


def check_array(array: NDArray[Any], place: str) -> None:
    """Check that an array is of integers, 1-D and C-contiguous; its elements are not looked at.

    Raises:
        TypeError: it is not.
    """
    if array.dtype.kind not in "iu":
        raise TypeError(f"{place}: expected an integer array, got dtype {array.dtype}")
    if array.ndim != 1:
        raise TypeError(f"{place}: expected a 1-D array, got {array.ndim} dimensions")
    if not array.flags.c_contiguous:
        raise TypeError(f"{place}: expected a C-contiguous array, got one with strides {array.strides}")


def _check_elements(ids: Sequence[object], place: str) -> None:
    for position, value in enumerate(ids):
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{place}[{position}]: expected int, got {type(value).__name__}")


def _out_of_range(place: str, position: int, value: int) -> ValueError:
    return ValueError(f"{place}[{position}]: expected a token id from 0 to {_INT32_MAX}, got {value}")
