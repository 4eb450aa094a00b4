"""Tool-call ids that a provider accepts, the same ones every time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, overload

from turnloom import _core
from turnloom._arguments import int_from
from turnloom._arrow import ArrowStrings, conform_arrow, is_arrow
from turnloom.types import Messages

ToolCallIdKind: TypeAlias = Literal["any", "max_length", "url_safe", "bedrock", "alphanumeric", "kimi"]

_MAX_LENGTH = 2**31 - 1
_ALL_BITS = 2**64 - 1


@dataclass(frozen=True, slots=True, eq=False)
class ConformedMessages:
    """A conversation whose tool-call ids a provider accepts; made by `ToolCallIdFormat.conform_messages`."""

    messages: list[Mapping[str, object]]
    """The messages in order. One without ids is the caller's own object, others are shallow copies."""
    mapping: dict[str, str | None]
    """What each id was; None where it was missing or empty."""

    def restore(self, id: str) -> str | None:
        """Return what an id was in the caller's messages, or None if it was missing or empty.

        Raises:
            KeyError: no call or result has this id.
        """
        if id not in self.mapping:
            raise KeyError(f"id: no tool call of the conversation has the id {id!r}")
        return self.mapping[id]


@dataclass(frozen=True, slots=True)
class ToolCallIdFormat:
    """Which tool-call ids are accepted, and what replaces one that is not. Immutable.

        >>> turnloom.ToolCallIdFormat.preset("mistral").conform("call_0aB")
        '14BbaXa9A'

    A replacement is made of the id by FNV-1a, so it is the same in every run, on every machine, for ever.
    Make a format with one of the functions named like its kind.
    """

    kind: ToolCallIdKind
    n: int | None = None
    """The length, where the kind has one."""
    _hash_mask: int = field(default=_ALL_BITS, repr=False)
    """The bits of each hash that are used; tests take a few, to see ids meet."""
    _native: _core.ToolCallIdFormat = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_native", _core.ToolCallIdFormat(self.kind, self.n or 0, self._hash_mask))

    def __reduce__(self) -> tuple[object, ...]:
        return ToolCallIdFormat, (self.kind, self.n, self._hash_mask)

    @staticmethod
    def any() -> "ToolCallIdFormat":
        """Accept every id."""
        return ToolCallIdFormat("any")

    @staticmethod
    def max_length(n: int) -> "ToolCallIdFormat":
        """Accept up to `n` characters. A replacement keeps the first ones, if `n` is above 17."""
        return ToolCallIdFormat("max_length", int_from(n, "n", lowest=1, highest=_MAX_LENGTH))

    @staticmethod
    def url_safe() -> "ToolCallIdFormat":
        """Accept one or more of `[A-Za-z0-9_-]`. A replacement keeps 40 characters, refused ones as `_`."""
        return ToolCallIdFormat("url_safe")

    @staticmethod
    def bedrock() -> "ToolCallIdFormat":
        """Accept 1 to 64 of `[a-zA-Z0-9_.:-]`. A replacement keeps 47 characters, refused ones as `_`."""
        return ToolCallIdFormat("bedrock")

    @staticmethod
    def alphanumeric(n: int) -> "ToolCallIdFormat":
        """Accept exactly `n` of `[A-Za-z0-9]`."""
        return ToolCallIdFormat("alphanumeric", int_from(n, "n", lowest=1, highest=_MAX_LENGTH))

    @staticmethod
    def kimi() -> "ToolCallIdFormat":
        """Accept `functions.{name}:{index}`; the index counts the calls of a conversation."""
        return ToolCallIdFormat("kimi")

    @staticmethod
    def preset(name: str) -> "ToolCallIdFormat":
        """Return the format of a provider.

        Args:
            name: "openai_40", "openai_64", "anthropic", "mistral", "bedrock", "gemini" or "kimi".

        Raises:
            KeyError: there is no preset of that name.
        """
        if name not in _PRESETS:
            raise KeyError(f"name: unknown preset {name!r}, expected one of {', '.join(_PRESETS)}")
        return _PRESETS[name]

    def accepts(self, id: str) -> bool:
        """Say whether an id fits as it is."""
        return self._native.accepts(id)

    def conform(self, id: str) -> str:
        """Return an id that is accepted or empty as it is, and the replacement of any other.

        Raises:
            ValueError: the kind is kimi, whose ids are counted over a conversation; or a lone surrogate.
        """
        return self._native.conform(id)

    @overload
    def conform_batch(self, ids: list[str] | tuple[str, ...]) -> list[str]: ...
    @overload
    def conform_batch(self, ids: ArrowStrings) -> ArrowStrings: ...
    def conform_batch(self, ids: list[str] | tuple[str, ...] | ArrowStrings) -> list[str] | ArrowStrings:
        """Conform many ids, each by itself; see `conform`.

        Args:
            ids: a list or tuple, or an Arrow array of type string or large_string, whose nulls stay null.

        Returns:
            A list; for an array of pyarrow, plain or chunked, one of the same type; for one of another Arrow
            package, an object with `__arrow_c_array__`, which any of them takes over without a copy.

        Raises:
            TypeError: `ids` are no strings.
            ValueError: as `conform`; or a string array would pass the 2 GiB that its type can hold.
        """
        if isinstance(ids, (list, tuple)):
            return self._native.conform_list(list(ids))
        if not is_arrow(ids):
            raise TypeError(f"ids: expected list, tuple or an Arrow string array, got {type(ids).__name__}")
        return conform_arrow(self._native, ids)

    def conform_messages(self, messages: Messages) -> ConformedMessages:
        """Conform all ids of a conversation, so that every result has the id of the call it answers.

        - Every call has an id of its own. Where ids are equal, or would become so, the first call keeps its
          id, and a later one gets the replacement of a further round. A call without an id gets one that is
          made of its place among the calls.
        - A result answers the first call with its id that has no result yet, in the newest turn with such a
          call. A result without an id takes calls in the same order, whatever their ids; one with an id that
          no call has, those without an id. A result that finds no call has an id of its own.
        - What a message gets depends only on the messages up to it, so that further turns leave the prefix of
          a prompt as it is.

        The input is not changed.

        Raises:
            TypeError, ValueError: as `Renderer.render`.
            RenderError: a message has no role, or a call no name.
            ValueError: the format has fewer ids than the conversation needs.
        """
        ids, originals, numbers = self._native.conform_messages(messages)
        conformed = [
            _with_ids(message, [ids[call] for call in calls], None if result is None else ids[result])
            for message, (calls, result) in zip(messages, numbers, strict=True)
        ]
        return ConformedMessages(conformed, dict(zip(ids, originals, strict=True)))


_PRESETS = {
    "openai_40": ToolCallIdFormat.max_length(40),
    "openai_64": ToolCallIdFormat.max_length(64),
    "anthropic": ToolCallIdFormat.url_safe(),
    "mistral": ToolCallIdFormat.alphanumeric(9),
    "bedrock": ToolCallIdFormat.bedrock(),
    "gemini": ToolCallIdFormat.any(),
    "kimi": ToolCallIdFormat.kimi(),
}


def _with_ids(
    message: Mapping[str, object], call_ids: list[str], result_id: str | None
) -> Mapping[str, object]:
    """Return a message with other ids; the message itself if it has none."""
    if not call_ids and result_id is None:
        return message
    copy = dict(message)
    if result_id is not None:
        copy["tool_call_id"] = result_id
    if call_ids:
        calls: list[dict[str, object]] = copy["tool_calls"]  # type: ignore[assignment]  # the core has checked it
        copy["tool_calls"] = [{**call, "id": id} for call, id in zip(calls, call_ids, strict=True)]
    return copy
