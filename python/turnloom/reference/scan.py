"""Searches for token ids, one id after the other."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turnloom._ids import TokenIds, check_array, token_id_array
from turnloom._ragged import checked_offsets
from turnloom.scan import TokenHits, TokensToFind
from turnloom.tokenizer import RaggedIds

MAX_TOKEN = 2**31 - 1


def scan(ids: TokenIds | RaggedIds, token_ids: TokensToFind) -> TokenHits:
    """Find every place where one of some tokens stands."""
    tokens = _token_set(token_ids)
    if not isinstance(ids, RaggedIds):
        return TokenHits(*_arrays(list(_hits(_read(ids), tokens, "ids[{}]".format))))
    ids = RaggedIds(ids.ids, checked_offsets(ids, "ids"))
    hits = [
        (row, position, token)
        for row, row_ids in enumerate(ids)
        for position, token in _hits(row_ids, tokens, f"ids[{row}][{{}}]".format)
    ]
    positions, found = _arrays([(position, token) for _, position, token in hits])
    rows = np.array([row for row, _, _ in hits], dtype=np.int64)
    rows.setflags(write=False)
    return TokenHits(positions, found, rows)


def count_tokens(ids: TokenIds, token_ids: TokensToFind) -> int:
    """Count the places where one of some tokens stands."""
    return len(list(_hits(_read(ids), _token_set(token_ids), "ids[{}]".format)))


def find_first(ids: TokenIds, token_ids: TokensToFind) -> int | None:
    """Give the first position where one of some tokens stands, or None."""
    tokens = _token_set(token_ids)
    return next((position for position, _ in _hits(_read(ids), tokens, "ids[{}]".format)), None)


def find_last(ids: TokenIds, token_ids: TokensToFind) -> int | None:
    """Give the last position where one of some tokens stands, or None."""
    tokens = _token_set(token_ids)
    array = _read(ids)
    last = len(array) - 1
    hits = _hits(array[::-1], tokens, lambda position: f"ids[{last - position}]")
    return next((last - position for position, _ in hits), None)


def split_at(ids: TokenIds, token_ids: TokensToFind) -> list[NDArray[np.integer[Any]]]:
    """Give the runs of ids between the places where one of some tokens stands."""
    tokens = _token_set(token_ids)
    array = _read(ids)
    runs = []
    begin = 0
    for end, _ in _hits(array, tokens, "ids[{}]".format):
        runs.append(array[begin:end])
        begin = end + 1
    return [*runs, array[begin:]]


def _token_set(token_ids: TokensToFind) -> set[int]:
    items = list(token_ids) if isinstance(token_ids, set | frozenset) else token_ids
    return set(token_id_array(items, "token_ids").tolist())  # type: ignore[arg-type]  # it checks


def _read(ids: TokenIds) -> NDArray[np.integer[Any]]:
    """Give the ids as an array; one that the caller passed may hold anything."""
    if not isinstance(ids, np.ndarray):
        return token_id_array(ids, "ids")
    check_array(ids, "ids")
    return ids


def _hits(
    ids: NDArray[np.integer[Any]], tokens: set[int], place: Callable[[int], str]
) -> Iterator[tuple[int, int]]:
    for position, token in enumerate(ids.tolist()):
        if not 0 <= token <= MAX_TOKEN:
            raise ValueError(f"{place(position)}: expected a token id from 0 to {MAX_TOKEN}, got {token}")
        if token in tokens:
            yield position, token


def _arrays(hits: list[tuple[int, int]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    positions = np.array([position for position, _ in hits], dtype=np.int64)
    tokens = np.array([token for _, token in hits], dtype=np.int32)
    positions.setflags(write=False)
    tokens.setflags(write=False)
    return positions, tokens
