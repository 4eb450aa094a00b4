"""FNV-1a, 64 bits, over texts, bytes and token ids."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from turnloom._arguments import int_from
from turnloom._ids import TokenIds, token_id_array
from turnloom._ragged import checked_offsets
from turnloom.reference.place import Place, read_string
from turnloom.tokenizer import RaggedIds

OFFSET_BASIS = 14695981039346656037
PRIME = 1099511628211
MAX_INT64 = 2**63 - 1
MAX_UINT64 = 2**64 - 1


def fnv1a_64(data: bytes | str | TokenIds, *, round: int | None = None) -> int:
    """Hash bytes, the UTF-8 of a text, or the little-endian int32 of ids, after the 8 bytes of a round."""
    return hash_bytes(round_bytes(round) + _read_bytes(data, Place("data")))


def fnv1a_64_batch(
    data: Sequence[bytes | str | TokenIds] | RaggedIds, *, round: int | None = None
) -> NDArray[np.uint64]:
    """Hash each row; see `fnv1a_64`."""
    start = round_bytes(round)
    place = Place("data")
    if isinstance(data, RaggedIds):
        offsets = checked_offsets(data, "data")
        rows = [
            ids.astype("<i4").tobytes() for ids in RaggedIds(token_id_array(data.ids, "data.ids"), offsets)
        ]
    elif isinstance(data, list | tuple):
        rows = [_read_bytes(row, place.index(i)) for i, row in enumerate(data)]
    else:
        raise TypeError(
            f"{place}: expected list, tuple, RaggedIds or an Arrow string array, got {type(data).__name__}"
        )
    return _hashes([hash_bytes(start + row) for row in rows])


def prefix_hashes(ids: TokenIds, block_size: int) -> NDArray[np.uint64]:
    """Hash everything up to the end of each full block."""
    block_size = int_from(block_size, "block_size", lowest=1, highest=MAX_INT64)
    array = token_id_array(ids, "ids")
    ends = range(block_size, len(array) + 1, block_size)
    return _hashes([fnv1a_64(array[:end]) for end in ends])


def hash_bytes(data: bytes) -> int:
    """Hash bytes, one after the other."""
    value = OFFSET_BASIS
    for byte in data:
        value = (value ^ byte) * PRIME & MAX_UINT64
    return value


def round_bytes(round: int | None) -> bytes:
    """Give what a round puts before the data; nothing without one."""
    if round is None:
        return b""
    return int_from(round, "round", lowest=0, highest=MAX_UINT64).to_bytes(8, "little")


def _hashes(values: list[int]) -> NDArray[np.uint64]:
    hashes = np.array(values, dtype=np.uint64)
    hashes.setflags(write=False)
    return hashes


def _read_bytes(data: object, place: Place) -> bytes:
    if isinstance(data, str):
        return read_string(data, place).encode()
    if isinstance(data, bytes):
        return data
    if isinstance(data, list | tuple | np.ndarray):
        return token_id_array(data, str(place)).astype("<i4").tobytes()
    raise TypeError(
        f"{place}: expected str, bytes or token ids (list, tuple or 1-D integer array), "
        f"got {type(data).__name__}"
    )
