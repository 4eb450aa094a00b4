"""Two renderings of one conversation, compared token by token along the bytes they stand for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Protocol

BytesOfToken = Callable[[int], bytes]


class Rendered(Protocol):
    """What `RenderedTokens` of both packages has."""

    token_ids: list[int]
    message_indices: list[int]
    sampled_mask: list[bool]
    is_content: list[bool]
    message_roles: list[str]
    message_tool_names: list[str | None]


@dataclass(frozen=True)
class Difference:
    """The first difference, and whether borders between the peer's encodes account for all there are."""

    text: str
    only_borders: bool


def chunk_borders(
    token_ids: Sequence[int], chunks: Sequence[Sequence[int]], bytes_of: BytesOfToken
) -> set[int]:
    """Give the byte positions where the peer ended one encode and began the next.

    Args:
        token_ids: what it returned; tokens that are in no chunk it appended by themselves.
        chunks: the results of its encodes, in order.
    """
    borders = set()
    token, position = 0, 0
    for chunk in filter(None, chunks):
        while list(token_ids[token : token + len(chunk)]) != list(chunk):
            if token >= len(token_ids):
                raise ValueError("what the peer encoded is not what it returned")
            position += len(bytes_of(token_ids[token]))
            token += 1
        borders.add(position)
        position += sum(len(bytes_of(id_)) for id_ in chunk)
        token += len(chunk)
        borders.add(position)
    return borders


def compare(ours: Rendered, theirs: Rendered, borders: set[int], bytes_of: BytesOfToken) -> Difference | None:
    """Compare every column. Return None if all are equal."""
    for name in ("message_roles", "message_tool_names"):
        left, right = getattr(ours, name), getattr(theirs, name)
        if left != right:
            return Difference(f"{name}: {left} / {right}", only_borders=False)
    if ours.token_ids == theirs.token_ids:
        wrong = first_unequal(columns(ours), columns(theirs))
        if wrong is None:
            return None
        token = bytes_of(ours.token_ids[wrong])
        both = f"{columns(ours)[wrong]} / {columns(theirs)[wrong]}"
        return Difference(
            f"token {wrong} {token!r}: (id, message, sampled, content) {both}", only_borders=False
        )
    return _compare_bytes(ours, theirs, borders, bytes_of)


def _compare_bytes(ours: Rendered, theirs: Rendered, borders: set[int], bytes_of: BytesOfToken) -> Difference:
    left_text, right_text = (b"".join(map(bytes_of, it.token_ids)) for it in (ours, theirs))
    if left_text != right_text:
        at = first_unequal(left_text, right_text)
        assert at is not None
        begin = max(0, at - 40)
        return Difference(
            f"byte {at}: {left_text[begin : at + 40]!r} / {right_text[begin : at + 40]!r}", only_borders=False
        )
    left_cuts, right_cuts = (_cuts(it.token_ids, bytes_of) for it in (ours, theirs))
    first = ""
    for begin, end in pairwise(sorted(left_cuts.keys() & right_cuts.keys())):
        left = columns(ours)[left_cuts[begin] : left_cuts[end]]
        right = columns(theirs)[right_cuts[begin] : right_cuts[end]]
        if left == right:
            continue
        shown = f"bytes {begin}-{end} {left_text[begin:end]!r}: {left} / {right}"
        first = first or shown
        same_ids = [row[0] for row in left] == [row[0] for row in right]
        # The first tokens begin at the same byte, so they have the same origin.
        is_border = any(begin <= border <= end for border in borders)
        if same_ids or not is_border or left[0][1:] != right[0][1:]:
            return Difference(shown, only_borders=False)
    return Difference(first, only_borders=True)


def columns(it: Rendered) -> list[tuple[Any, ...]]:
    """Give one tuple for each token."""
    return list(zip(it.token_ids, it.message_indices, it.sampled_mask, it.is_content, strict=True))


def first_unequal(left: Sequence[Any], right: Sequence[Any]) -> int | None:
    """Give the first position where two sequences differ."""
    for i, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return i
    return None if len(left) == len(right) else min(len(left), len(right))


def _cuts(token_ids: Sequence[int], bytes_of: BytesOfToken) -> dict[int, int]:
    """Give the byte at which each token begins, and the end -> the token's index."""
    begins = accumulate((len(bytes_of(id_)) for id_ in token_ids), initial=0)
    return {begin: token for token, begin in enumerate(begins)}
