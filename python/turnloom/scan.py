"""Searches for a few token ids in arrays of many."""

from collections.abc import Set
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turnloom import _core
from turnloom._ids import TokenIds, token_id_array
from turnloom._ragged import checked_offsets
from turnloom.tokenizer import RaggedIds

TokensToFind: TypeAlias = TokenIds | Set[int]
"""The token ids that are looked for, in any order."""


class TokenHits(NamedTuple):
    """Where tokens that were looked for stand, in order. Arrays are parallel and read-only."""

    positions: NDArray[np.int64]
    """int64[n_hits]: index of the token in the array; in a batch, in its row."""
    tokens: NDArray[np.int32]
    """int32[n_hits]: which token it is."""
    rows: NDArray[np.int64] | None = None
    """int64[n_hits]: the row of a batch; None for one array."""


def scan(ids: TokenIds | RaggedIds, token_ids: TokensToFind) -> TokenHits:
    """Find every place where one of some tokens stands.

        >>> turnloom.scan([5, 7, 5, 9], [5]).positions
        array([0, 2])

    An array is read in place, whatever its width.

    Args:
        ids: one array, list or tuple, or a batch of rows.
        token_ids: the tokens to look for: list, tuple, set or array.

    Raises:
        TypeError: `ids` or `token_ids` are no integers.
        ValueError: one of them is no token id.
    """
    if isinstance(ids, RaggedIds):
        return TokenHits(*_core.scan_ragged(ids.ids, checked_offsets(ids, "ids"), token_ids))
    return TokenHits(*_core.scan(ids, token_ids))


def count_tokens(ids: TokenIds, token_ids: TokensToFind) -> int:
    """Count the places where one of some tokens stands; see `scan`."""
    return _core.count_tokens(ids, token_ids)


def find_first(ids: TokenIds, token_ids: TokensToFind) -> int | None:
    """Return the first position where one of some tokens stands, or None; see `scan`.

    What is behind it in an array is not looked at.
    """
    return _core.find_first(ids, token_ids)


def find_last(ids: TokenIds, token_ids: TokensToFind) -> int | None:
    """Return the last position where one of some tokens stands, or None; see `scan`.

    What is before it in an array is not looked at.
    """
    return _core.find_last(ids, token_ids)


def split_at(ids: TokenIds, token_ids: TokensToFind) -> list[NDArray[np.integer[Any]]]:
    """Return the runs of ids between the places where one of some tokens stands; see `scan`.

    As `str.split` does, it leaves out the tokens that it splits at, and gives one run more than there are of
    them, empty ones included. The runs are views of an array, of a copy of a list.
    """
    array = ids if isinstance(ids, np.ndarray) else token_id_array(ids, "ids")
    ends = _core.scan(array, token_ids)[0].tolist()
    begins = [0, *(end + 1 for end in ends)]
    return [array[begin:end] for begin, end in zip(begins, [*ends, len(array)], strict=True)]
