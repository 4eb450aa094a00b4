"""What a completion holds: text, reasoning and tool calls; whole, or as it arrives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from turnloom import _core

if TYPE_CHECKING:
    from turnloom._ids import TokenIds
    from turnloom.tokenizer import Tokenizer
    from turnloom.types import JsonValue

DeltaKind: TypeAlias = Literal[
    "content", "reasoning", "reasoning_unfinished", "call_open", "arguments", "call_close"
]
FinishReason: TypeAlias = Literal["stop", "length", "tool_calls"]


class ToolCallParseStatus(StrEnum):
    """What became of an attempt at a tool call. Only OK calls are to be run."""

    OK = "ok"
    INVALID_JSON = "invalid_json"
    UNCLOSED_BLOCK = "unclosed_block"
    MISSING_NAME = "missing_name"
    MALFORMED_STRUCTURE = "malformed_structure"
    UNKNOWN_TOOL = "unknown_tool"


@dataclass(frozen=True, slots=True)
class ParsedToolCall:
    """An attempt at a tool call, good or not."""

    raw: str
    """Its text without the markers around it, stripped."""
    name: str | None = None
    arguments: JsonValue = None
    """The value, usually a dict; None where it could not be read."""
    token_span: tuple[int, int] | None = None
    """Half-open, in the ids of the completion; the markers are in it."""
    status: ToolCallParseStatus = ToolCallParseStatus.OK
    id: str | None = None
    """For formats that write one."""
    arguments_text: str | None = field(default=None, compare=False)
    """The JSON text that `arguments` was read from, exactly as sampled."""
    duplicate_keys: tuple[str, ...] = field(default=(), compare=False)
    """Keys that an object of the arguments has twice; the last value counts."""


@dataclass(frozen=True, slots=True)
class ParsedResponse:
    """A completion as a message."""

    content: str
    """All text outside of reasoning and calls, stripped."""
    reasoning_content: str | None = None
    tool_calls: list[ParsedToolCall] = field(default_factory=list)
    """Every attempt, in order: filter by status."""
    reasoning_complete: bool | None = True
    """False where the completion ends inside its reasoning, which is then kept unstripped."""

    def to_message(self) -> dict[str, Any]:
        """Return the assistant message in OpenAI's shape, with the good calls.

        Arguments are the JSON text as sampled, so what is rendered again has the same text. A call without an
        id stays without one: `ToolCallIdFormat.conform_messages` gives ids.
        """
        message: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.reasoning_content is not None:
            message["reasoning_content"] = self.reasoning_content
        if calls := [call for call in self.tool_calls if call.status is ToolCallParseStatus.OK]:
            message["tool_calls"] = [
                {
                    **({} if call.id is None else {"id": call.id}),
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments_text or "{}"},
                }
                for call in calls
            ]
        return message


class Delta(NamedTuple):
    """A piece of a response as it is decided.

    Joined texts of one kind (of one call, for "arguments") are what the final response has.
    """

    kind: DeltaKind
    """
    - "content", "reasoning": more text.
    - "call_open": a call begins; `name` is None where none could be read.
    - "arguments": more of the call's `arguments_text`. It is there before the call is known to be good.
    - "call_close": how the call ended.
    - "reasoning_unfinished": the completion ends inside its reasoning. `text` is the white space that
      stands in front of the reasoning then.
    """
    text: str = ""
    call_index: int | None = None
    """Which call: its place in `ParsedResponse.tool_calls`."""
    name: str | None = None
    status: ToolCallParseStatus | None = None


class ChatCompletionChunks:
    """Turns the deltas of one completion into chunks of OpenAI's streamed chat completions.

    Calls are told as they come, so a client sees one that turns out bad, too: `ParsedResponse` says which are
    good. A call without a name is not told of.
    """

    __slots__ = ("_completion_id", "_created", "_indices", "_model", "_with_arguments")

    def __init__(self, *, completion_id: str, model: str, created: int) -> None:
        self._completion_id = completion_id
        self._model = model
        self._created = created
        self._indices: dict[int | None, int] = {}
        self._with_arguments: set[int] = set()

    def first(self) -> dict[str, Any]:
        """Return the chunk that says who speaks."""
        return self._chunk({"role": "assistant", "content": ""})

    def chunks(self, deltas: Iterable[Delta]) -> list[dict[str, Any]]:
        """Return the chunks for further deltas."""
        told = (self._told(delta) for delta in deltas)
        return [self._chunk(delta) for delta in told if delta is not None]

    def last(self, response: ParsedResponse, *, cut: bool = False) -> dict[str, Any]:
        """Return the chunk that says why it ended.

        Args:
            cut: the completion did not end by itself, but at a limit.
        """
        has_calls = any(call.status is ToolCallParseStatus.OK for call in response.tool_calls)
        reason: FinishReason = "length" if cut else "tool_calls" if has_calls else "stop"
        return self._chunk({}, reason)

    def _told(self, delta: Delta) -> dict[str, Any] | None:
        match delta.kind:
            case "content":
                return {"content": delta.text}
            case "reasoning":
                return {"reasoning_content": delta.text}
            case "call_open" if delta.name is not None:
                index = self._indices[delta.call_index] = len(self._indices)
                function = {"name": delta.name, "arguments": ""}
                id_ = f"call_{self._completion_id}_{index}"
                return {"tool_calls": [{"index": index, "id": id_, "type": "function", "function": function}]}
            case "arguments":
                return self._arguments(self._indices[delta.call_index], delta.text)
            case "call_close" if delta.status is ToolCallParseStatus.OK:
                index = self._indices[delta.call_index]
                return None if index in self._with_arguments else self._arguments(index, "{}")
        return None

    def _arguments(self, index: int, text: str) -> dict[str, Any]:
        self._with_arguments.add(index)
        return {"tool_calls": [{"index": index, "function": {"arguments": text}}]}

    def _chunk(self, delta: dict[str, Any], finish_reason: FinishReason | None = None) -> dict[str, Any]:
        return {
            "id": self._completion_id,
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
        }


class StreamParser:
    """Parses a completion while it is sampled; made by `Renderer.stream_parser`. For one thread.

    >>> parser = renderer.stream_parser()
    >>> for ids in sampled:
    ...     for delta in parser.feed(ids): ...
    >>> last = parser.end()
    >>> response = parser.finish()
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.CompletionStream) -> None:
        self._core = core

    def feed(self, ids: TokenIds) -> list[Delta]:
        """Take more ids and return what they decide. Ids after a stop token are ignored.

        Raises:
            TypeError, ValueError: something in `ids` is no token id.
        """
        return self._core.feed(ids)

    def end(self) -> list[Delta]:
        """End the completion and return what was held back; nothing the second time."""
        return self._core.end()

    def finish(self) -> ParsedResponse:
        """End the completion, if `end` did not, and return all of it."""
        return self._core.finish()


def tool_names(tools: object) -> list[str]:
    """Return the names of the tools, in OpenAI's envelope or flat; what has no name is left out."""
    if tools is None:
        return []
    if not isinstance(tools, (list, tuple)):
        raise TypeError(f"tools: expected a list of tools or None, got {type(tools).__name__}")
    names = []
    for index, tool in enumerate(tools):
        if not isinstance(tool, dict):
            raise TypeError(f"tools[{index}]: expected a dict, got {type(tool).__name__}")
        function = tool.get("function")
        name = (function if isinstance(function, dict) else tool).get("name")
        if isinstance(name, str):
            names.append(name)
    return names


def token_bytes(tokenizer: Tokenizer) -> _core.TokenBytes:
    """Return the bytes of all tokens as the core wants them, one table a tokenizer."""
    if tokenizer._token_bytes is None:
        tokenizer._token_bytes = _make_token_bytes(tokenizer)
    return tokenizer._token_bytes


def _make_token_bytes(tokenizer: Tokenizer) -> _core.TokenBytes:
    if isinstance(tokenizer._tokens, _core.TokenTable):
        return _core.TokenBytes.of_table(tokenizer._tokens)
    n_ids = max([tokenizer.vocab_size, *(id_ + 1 for id_ in tokenizer.added_tokens.values())])
    while tokenizer.id_to_token(n_ids) is not None:  # where ids before it stand for no token
        n_ids += 1
    return _core.TokenBytes([tokenizer.decode_bytes([id_]) for id_ in range(n_ids)])
