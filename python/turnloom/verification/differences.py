"""Where two renderings of one conversation begin to differ."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from turnloom.rendered import RenderedTokens, TokenColumns
from turnloom.tokenizer import Tokenizer

_CHARACTERS_AROUND = 40
_TOKENS_AROUND = 6


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing in which two renderings of a conversation differ."""

    what: str
    """One of "text", "error" (only one side raises it, or another), and the fields of `RenderedTokens`."""
    place: str
    """As "byte 12" of the text, or "token 5"; empty where there is none."""
    native: str
    other: str
    """What each has there, with what stands before and behind."""
    other_side: str
    """What was compared with the native side, as "reference"."""

    def __str__(self) -> str:
        place = f" at {self.place}" if self.place else ""
        width = max(len("native"), len(self.other_side)) + 1
        return (
            f"{self.what} differs{place}\n"
            f"  {'native:':<{width}} {self.native}\n"
            f"  {self.other_side + ':':<{width}} {self.other}"
        )


def text_difference(native: str, other: str, side: str) -> Difference | None:
    """Compare two texts."""
    if native == other:
        return None
    at = _first_difference(native, other)
    place = f"byte {len(native[:at].encode())}"
    return Difference("text", place, _around(native, at), _around(other, at), side)


def _first_difference(native: Sequence[object], other: Sequence[object]) -> int:
    shorter = min(len(native), len(other))
    return next((k for k in range(shorter) if native[k] != other[k]), shorter)


def _around(text: str, at: int) -> str:
    before = text[max(at - _CHARACTERS_AROUND, 0) : at]
    behind = text[at : at + _CHARACTERS_AROUND]
    return f"{before!r} then {behind!r}" if behind else f"{before!r} then the end"


def ids_difference(native: list[int], other: list[int], side: str, tokenizer: Tokenizer) -> Difference | None:
    """Compare the token ids of one text."""
    if native == other:
        return None
    at = _first_difference(native, other)
    place = f"token {at}, byte {len(tokenizer.decode_bytes(native[:at]))}"

    def around(ids: list[int]) -> str:
        before, behind = ids[max(at - _TOKENS_AROUND, 0) : at], ids[at : at + _TOKENS_AROUND]
        shown = f"{behind} {tokenizer.decode(behind)!r}" if behind else "the end"
        return f"{tokenizer.decode(before)!r} then {shown}"

    return Difference("token_ids", place, around(native), around(other), side)


def rendered_difference(
    native: RenderedTokens, other: RenderedTokens, side: str, tokenizer: Tokenizer
) -> Difference | None:
    """Compare token ids, every other column, and what belongs to the whole conversation."""
    ids = native.columns.token_ids.tolist()
    difference = ids_difference(ids, other.columns.token_ids.tolist(), side, tokenizer)
    if difference is not None:
        return difference
    for column in fields(TokenColumns):
        values, expected = getattr(native.columns, column.name), getattr(other.columns, column.name)
        at = _first_unequal_row(values, expected)
        if at is not None:
            token = repr(tokenizer.decode([ids[at]])) if at < len(ids) else "no token"
            shown = (_row(values, at), _row(expected, at))
            return Difference(column.name, f"token {at}, {token}", *shown, side)
    for name in ("message_roles", "message_tool_names", "content_markers"):
        if getattr(native, name) != getattr(other, name):
            return Difference(name, "", repr(getattr(native, name)), repr(getattr(other, name)), side)
    return None


def _first_unequal_row(values: object, expected: object) -> int | None:
    if not isinstance(values, np.ndarray) or not isinstance(expected, np.ndarray):
        return None if values is expected else 0
    n_rows = min(len(values), len(expected))
    unequal = np.flatnonzero((values[:n_rows] != expected[:n_rows]).reshape(n_rows, -1).any(axis=1))
    if len(unequal):
        return int(unequal[0])
    return None if len(values) == len(expected) else n_rows


def _row(values: object, at: int) -> str:
    if not isinstance(values, np.ndarray):
        return repr(values)
    return repr(values[at].tolist()) if at < len(values) else "the end"
