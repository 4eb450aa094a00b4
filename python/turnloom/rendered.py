"""What a rendered conversation is: its tokens, and where each of them comes from."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Span = tuple[int, int]

_LISTS = ("token_ids", "message_indices", "sampled_mask", "is_content")
_FIELDS = (*_LISTS, "message_roles", "message_tool_names", "multi_modal_data")


class Field(IntEnum):
    """The part of a turn that a token belongs to: the values of the `fields` column."""

    SCAFFOLD = 0
    CONTENT = 1
    REASONING = 2
    REASONING_MARKUP = 3
    CALL_MARKUP = 4
    TOOL_NAME = 5
    TOOL_ARGUMENTS = 6
    TOOL_SPEC = 7
    TURN_CLOSE = 8


@dataclass(frozen=True, slots=True, eq=False)
class TokenColumns:
    """Parallel arrays, one entry a token. They are read-only; an array that is not available is empty."""

    token_ids: npt.NDArray[np.int32]
    """int32[n_tokens]"""
    message_indices: npt.NDArray[np.int32]
    """int32[n_tokens]: index in the caller's messages, -1 for no message."""
    fields: npt.NDArray[np.uint8]
    """uint8[n_tokens]: values of `Field`."""
    sampled_mask: npt.NDArray[np.bool_]
    """bool[n_tokens]: the model would have sampled it."""
    is_content: npt.NDArray[np.bool_]
    """bool[n_tokens]: body of a message; on an assistant's tokens equal to `sampled_mask`."""
    loss_mask: npt.NDArray[np.bool_]
    """bool[n_tokens]: what to train on."""
    byte_offsets: npt.NDArray[np.int64] | None = None
    """int64[n_tokens, 2]: half-open spans of the UTF-8 of the rendered text; None unless asked for."""

    def __len__(self) -> int:
        return len(self.token_ids)

    def rows(self, begin: int, end: int) -> "TokenColumns":
        """Give the tokens `[begin, end)` as views."""
        spans = None if self.byte_offsets is None else self.byte_offsets[begin:end]
        return TokenColumns(
            self.token_ids[begin:end],
            self.message_indices[begin:end],
            self.fields[begin:end],
            self.sampled_mask[begin:end],
            self.is_content[begin:end],
            self.loss_mask[begin:end],
            spans,
        )


@dataclass(frozen=True, slots=True)
class ContentMarker:
    """A marker, such as `<|im_end|>`, that text of the caller spells at least in part."""

    message_index: int
    field: Field
    byte_begin: int
    """In the UTF-8 of the rendered text."""
    byte_end: int
    marker: str
    became_token: bool


class RenderedTokens:
    """Tokens of one conversation as Python lists, made when first used, and as arrays in `columns`.

    It is constructed and compared as the dataclass of the same name in the `renderers` package. An empty
    list means that the signal is not available.
    """

    __slots__ = (*_FIELDS, "_columns", "content_markers")

    token_ids: list[int]
    message_indices: list[int]
    """Index in the caller's messages, -1 for no message."""
    sampled_mask: list[bool]
    is_content: list[bool]
    message_roles: list[str]
    message_tool_names: list[str | None]
    """For each tool message the name of its tool, where it is known; None for other messages."""
    multi_modal_data: object | None
    content_markers: list[ContentMarker]
    """Every marker spelled at least in part by text of the caller."""

    def __init__(
        self,
        token_ids: list[int] | None = None,
        message_indices: list[int] | None = None,
        sampled_mask: list[bool] | None = None,
        is_content: list[bool] | None = None,
        message_roles: list[str] | None = None,
        message_tool_names: list[str | None] | None = None,
        multi_modal_data: object | None = None,
    ) -> None:
        self.token_ids = [] if token_ids is None else token_ids
        self.message_indices = [] if message_indices is None else message_indices
        self.sampled_mask = [] if sampled_mask is None else sampled_mask
        self.is_content = [] if is_content is None else is_content
        self.message_roles = [] if message_roles is None else message_roles
        self.message_tool_names = [] if message_tool_names is None else message_tool_names
        self.multi_modal_data = multi_modal_data
        self.content_markers = []
        self._columns: TokenColumns | None = None

    @classmethod
    def from_columns(
        cls,
        columns: TokenColumns,
        message_roles: list[str],
        message_tool_names: list[str | None],
        content_markers: list[ContentMarker],
    ) -> "RenderedTokens":
        """Wrap arrays; their lists are made when they are first asked for."""
        rendered = cls.__new__(cls)
        rendered.message_roles = message_roles
        rendered.message_tool_names = message_tool_names
        rendered.multi_modal_data = None
        rendered.content_markers = content_markers
        rendered._columns = columns
        return rendered

    def __getattr__(self, name: str) -> Any:
        # Python comes here only while the slot is unset.
        if name not in _LISTS or self._columns is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        values = getattr(self._columns, name).tolist()
        setattr(self, name, values)
        return values

    @property
    def columns(self) -> TokenColumns:
        """The same as read-only arrays. `fields` is empty where the object was made from lists."""
        if self._columns is not None:
            return self._columns
        sampled_mask = _read_only(self.sampled_mask, np.bool_)
        return TokenColumns(
            token_ids=_read_only(self.token_ids, np.int32),
            message_indices=_read_only(self.message_indices, np.int32),
            fields=_read_only([], np.uint8),
            sampled_mask=sampled_mask,
            is_content=_read_only(self.is_content, np.bool_),
            loss_mask=sampled_mask,
        )

    @property
    def neutralised_markers(self) -> list[ContentMarker]:
        """The markers in `content_markers` that were kept as ordinary text."""
        return [marker for marker in self.content_markers if not marker.became_token]

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _FIELDS)

    __hash__ = None  # type: ignore[assignment]  # as a dataclass that is not frozen

    def __repr__(self) -> str:
        return f"RenderedTokens({', '.join(f'{name}={getattr(self, name)!r}' for name in _FIELDS)})"

    def tokens_per_message(self, n_messages: int | None = None, *, sampled_only: bool = False) -> list[int]:
        """Count the tokens of each message, at most of the first `n_messages`."""
        n_counts = len(self.message_roles)
        if n_messages is not None:
            n_counts = min(n_messages, n_counts)
        counts = [0] * n_counts
        if sampled_only and len(self.sampled_mask) != len(self.token_ids):
            return counts
        counted = self.sampled_mask if sampled_only else [True] * len(self.message_indices)
        for message, counts_here in zip(self.message_indices, counted, strict=False):
            if counts_here and 0 <= message < n_counts:
                counts[message] += 1
        return counts

    def message_token_spans(self) -> list[Span | None]:
        """Give each message's tokens as `[first, last + 1)`; None for a message without tokens."""
        n_messages = len(self.message_roles) or max(self.message_indices, default=-1) + 1
        spans: list[Span | None] = [None] * n_messages
        for token, message in enumerate(self.message_indices):
            if 0 <= message < n_messages:
                known = spans[message]
                spans[message] = (token if known is None else known[0], token + 1)
        return spans

    def role_token_spans(self) -> dict[str, list[Span]]:
        """Group `message_token_spans` by role, in message order."""
        grouped: dict[str, list[Span]] = {role: [] for role in self.message_roles}
        for role, span in zip(self.message_roles, self.message_token_spans(), strict=False):
            if span is not None:
                grouped[role].append(span)
        return grouped

    def tokens_by_role(self, *, sampled_only: bool = False) -> dict[str, int]:
        """Count the tokens of each role; a role of the conversation is there even with none."""
        counts = dict.fromkeys(self.message_roles, 0)
        for role, n_tokens in zip(
            self.message_roles, self.tokens_per_message(sampled_only=sampled_only), strict=True
        ):
            counts[role] += n_tokens
        return counts

    def content_token_spans_by_role(self) -> dict[str, list[Span]]:
        """Give the runs of `is_content` tokens inside each message, by role; {} where not available."""
        if not self._has_content_attribution():
            return {}
        grouped: dict[str, list[Span]] = {role: [] for role in self.message_roles}
        for role, span in zip(self.message_roles, self.message_token_spans(), strict=False):
            if span is not None:
                grouped[role] += _runs(self.is_content, *span)
        return grouped

    def content_mask_for_roles(self, roles: Set[str]) -> list[bool]:
        """Tell for each token whether it is the body of a message of one of the roles."""
        if not self._has_content_attribution():
            return [False] * len(self.token_ids)
        chosen = [role in roles for role in self.message_roles]
        return [
            is_content and 0 <= message < len(chosen) and chosen[message]
            for is_content, message in zip(self.is_content, self.message_indices, strict=True)
        ]

    def _has_content_attribution(self) -> bool:
        n_tokens = len(self.token_ids)
        complete = len(self.is_content) == n_tokens and len(self.message_indices) == n_tokens
        return bool(self.is_content) and bool(self.message_roles) and complete


def _runs(flags: Sequence[bool], begin: int, end: int) -> Iterator[Span]:
    """Give the runs of true flags in `[begin, end)`."""
    run_begin = begin
    for position in range(begin, end):
        if not flags[position]:
            if run_begin < position:
                yield run_begin, position
            run_begin = position + 1
    if run_begin < end:
        yield run_begin, end


def _read_only(values: Sequence[object], dtype: type[np.generic]) -> Array:
    array: Array = np.array(values, dtype)
    array.setflags(write=False)
    return array
