"""FNV-1a, 64 bits: fast, the same on every machine, and no defence against chosen collisions."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from turnloom import _core
from turnloom._arguments import int_from
from turnloom._arrow import ArrowStrings, chunks_of, is_arrow
from turnloom._ids import TokenIds, token_id_array
from turnloom._ragged import checked_offsets
from turnloom.tokenizer import RaggedIds

_MAX_INT64 = 2**63 - 1
_MAX_UINT64 = 2**64 - 1


def fnv1a_64(data: bytes | str | TokenIds, *, round: int | None = None) -> int:
    """Return the FNV-1a hash of bytes, of a text's UTF-8, or of token ids as little-endian int32.

        >>> hex(turnloom.fnv1a_64("foobar"))
        '0x85944171f73967e8'

    Args:
        round: hash its 8 bytes, least significant first, before the data: another hash of the same data.

    Raises:
        TypeError: `data` is none of these.
        ValueError: a lone surrogate, a number that is no token id, or a round that is no uint64.
    """
    return _core.fnv1a_64(data, round=_checked(round))


def fnv1a_64_batch(
    data: Sequence[bytes | str | TokenIds] | RaggedIds | ArrowStrings, *, round: int | None = None
) -> NDArray[np.uint64]:
    """Return the hash of each row as a read-only uint64[n_rows]; see `fnv1a_64`.

    Args:
        data: a list or tuple, ragged ids, or an Arrow array of strings, which is read in place.

    Raises:
        TypeError, ValueError: as `fnv1a_64`; ValueError, too, for a null.
    """
    round = _checked(round)
    if isinstance(data, RaggedIds):
        offsets = checked_offsets(data, "data")
        return _core.fnv1a_64_ragged(token_id_array(data.ids, "data.ids"), offsets, round=round)
    if isinstance(data, (list, tuple)):
        return _core.fnv1a_64_list(list(data), round=round)
    if not is_arrow(data):
        raise TypeError(
            f"data: expected list, tuple, RaggedIds or an Arrow string array, got {type(data).__name__}"
        )
    hashes = [_core.fnv1a_64_arrow(chunk, first_row=row, round=round) for row, chunk in chunks_of(data)]
    return hashes[0] if len(hashes) == 1 else _joined(hashes)


def prefix_hashes(ids: TokenIds, block_size: int) -> NDArray[np.uint64]:
    """Return a hash for each full block of ids, of everything from the first id to the block's end.

    Equal hashes mean equal prefixes, so they serve as keys of a prefix cache and for finding duplicates.

    Args:
        block_size: ids in a block.

    Returns:
        A read-only uint64[len(ids) // block_size]; entry `b` is `fnv1a_64(ids[: (b + 1) * block_size])`.

    Raises:
        TypeError, ValueError: `ids` are no token ids, or `block_size` no int of at least 1.
    """
    return _core.prefix_hashes(ids, int_from(block_size, "block_size", lowest=1, highest=_MAX_INT64))


def _checked(round: int | None) -> int | None:
    return None if round is None else int_from(round, "round", lowest=0, highest=_MAX_UINT64)


def _joined(hashes: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    joined = np.concatenate([np.empty(0, np.uint64), *hashes])
    joined.setflags(write=False)
    return joined
