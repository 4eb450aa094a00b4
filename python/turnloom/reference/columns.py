"""From segments to token columns: text regions are encoded, and every token takes the origin of a piece."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from turnloom.reference.markers import Segment
from turnloom.reference.prompt import NO_MESSAGE, Prompt
from turnloom.rendered import Field, TokenColumns

Ids = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)
EncodeRegions = Callable[
    [list[str]],
    tuple[npt.NDArray[np.int32], Ints, Ints, Ints] | tuple[npt.NDArray[np.int32], None, None, Ints],
]
"""Encodes each region by itself: ids, byte begins, byte ends (in the token's region), tokens per region.

An encoder without offsets gives None for begins and ends."""


def token_columns(
    prompt: Prompt, segments: Sequence[Segment], encode_regions: EncodeRegions, *, byte_offsets: bool
) -> TokenColumns:
    """Encode a prompt that was cut into segments.

    Without offsets the tokens of a region cannot be told apart: they are the message's that the region begins
    with, and the other columns are empty.
    """
    regions = [prompt.text[s.begin : s.end].decode() for s in segments if s.token is None]
    has_offsets, encoded = _per_region(regions, encode_regions)
    ids: list[int] = []
    spans: list[tuple[int, int]] = []
    for segment in segments:
        if segment.token is not None:
            ids.append(segment.token)
            spans.append((segment.begin, segment.end))
            continue
        for token, begin, end in next(encoded):
            ids.append(token)
            spans.append((segment.begin + begin, segment.begin + end))
    columns = _attribute(prompt, ids, spans, byte_offsets=byte_offsets)
    return columns if has_offsets else _without_attribution(columns)


def _per_region(
    regions: list[str], encode_regions: EncodeRegions
) -> tuple[bool, Iterator[list[tuple[int, int, int]]]]:
    """Encode all regions in one call; tell whether there are offsets, and give each region's tokens."""
    if not regions:
        return True, iter(())
    ids, begins, ends, counts = encode_regions(regions)
    nowhere = np.zeros(len(ids), np.int64)
    spans = [(nowhere if offsets is None else offsets).tolist() for offsets in (begins, ends)]
    tokens = list(zip(ids.tolist(), *spans, strict=True))
    bounds = [0, *np.cumsum(counts).tolist()]
    return begins is not None, (tokens[begin:end] for begin, end in pairwise(bounds))


def _attribute(
    prompt: Prompt, ids: list[int], spans: list[tuple[int, int]], *, byte_offsets: bool
) -> TokenColumns:
    """Give every token the origin of the piece that holds its first byte."""
    pieces = prompt.pieces
    token_spans = np.array(spans, np.int64).reshape(-1, 2)
    piece_begins = np.array([piece.begin for piece in pieces], np.int64)
    origins = np.searchsorted(piece_begins, token_spans[:, 0], side="right") - 1
    return _read_only(
        TokenColumns(
            token_ids=np.array(ids, np.int32),
            message_indices=np.array([piece.message for piece in pieces], np.int32)[origins],
            fields=np.array([piece.field for piece in pieces], np.uint8)[origins],
            sampled_mask=np.array([piece.sampled for piece in pieces], np.bool_)[origins],
            is_content=np.array([piece.is_content for piece in pieces], np.bool_)[origins],
            loss_mask=np.array([piece.trained for piece in pieces], np.bool_)[origins],
            byte_offsets=token_spans if byte_offsets else None,
        )
    )


def _without_attribution(columns: TokenColumns) -> TokenColumns:
    nothing = np.empty(0, np.bool_)
    return _read_only(
        replace(
            columns,
            fields=np.empty(0, np.uint8),
            sampled_mask=nothing,
            is_content=nothing,
            loss_mask=nothing,
            byte_offsets=None if columns.byte_offsets is None else np.empty((0, 2), np.int64),
        )
    )


def with_history(prompt_ids: Ids, completion_ids: Ids, columns: TokenColumns) -> TokenColumns:
    """Put columns behind ids of which no more is known: those of a prompt and its completion."""
    n = len(prompt_ids) + len(completion_ids)

    def behind(value: int, column: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        is_available = len(column) == len(columns)
        return np.concatenate([np.full(n, value, column.dtype), column]) if is_available else column

    sampled_mask = behind(False, columns.sampled_mask)
    return _read_only(
        TokenColumns(
            token_ids=np.concatenate([prompt_ids, completion_ids, columns.token_ids], dtype=np.int32),
            message_indices=behind(NO_MESSAGE, columns.message_indices),
            fields=behind(Field.SCAFFOLD, columns.fields),
            sampled_mask=sampled_mask,
            is_content=behind(False, columns.is_content),
            loss_mask=sampled_mask,
        )
    )


def concatenated(rows: Sequence[TokenColumns], *, byte_offsets: bool) -> TokenColumns:
    """Put the columns of several conversations one after the other."""
    empty = np.empty(0)
    spans = [np.empty((0, 2), np.int64), *(row.byte_offsets for row in rows if row.byte_offsets is not None)]
    return _read_only(
        TokenColumns(
            token_ids=np.concatenate([empty.astype(np.int32), *(row.token_ids for row in rows)]),
            message_indices=np.concatenate([empty.astype(np.int32), *(row.message_indices for row in rows)]),
            fields=np.concatenate([empty.astype(np.uint8), *(row.fields for row in rows)]),
            sampled_mask=np.concatenate([empty.astype(np.bool_), *(row.sampled_mask for row in rows)]),
            is_content=np.concatenate([empty.astype(np.bool_), *(row.is_content for row in rows)]),
            loss_mask=np.concatenate([empty.astype(np.bool_), *(row.loss_mask for row in rows)]),
            byte_offsets=np.concatenate(spans) if byte_offsets else None,
        )
    )


def _read_only(columns: TokenColumns) -> TokenColumns:
    for field in fields(columns):
        array = getattr(columns, field.name)
        if array is not None:
            array.setflags(write=False)
    return columns
