"""The messages and tools that callers pass: plain dicts in OpenAI's shape."""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypeAlias, TypedDict

JsonValue: TypeAlias = "Mapping[str, JsonValue] | Sequence[JsonValue] | str | int | float | bool | None"


class TextPart(TypedDict):
    """A part of a content list that is text."""

    text: str
    type: NotRequired[Literal["text"]]


class ForeignPart(TypedDict, total=False):
    """A part that is no text. A family that has no place for it refuses it by its type."""

    type: str
    image_url: object
    image: object
    thinking: str


ContentPart: TypeAlias = str | TextPart | ForeignPart
Content: TypeAlias = str | Sequence[ContentPart] | None


class ToolCallFunction(TypedDict):
    """The function of a tool call."""

    name: str
    arguments: NotRequired[JsonValue]
    """An object, or JSON text, which is printed as it is. Absent means no arguments."""


class ToolCall(TypedDict):
    """A tool call; the flat form is `ToolCallFunction` with an `id`."""

    function: ToolCallFunction
    id: NotRequired[str | None]
    type: NotRequired[str]


class FlatToolCall(ToolCallFunction):
    """A tool call without the `function` wrapper."""

    id: NotRequired[str | None]


class Message(TypedDict):
    """One message. Keys that are None count as absent, and keys that are not listed here are ignored."""

    role: str
    content: NotRequired[Content]
    reasoning_content: NotRequired[str | None]
    """Read before `thinking`, which is read before `reasoning`."""
    thinking: NotRequired[str | None]
    reasoning: NotRequired[str | None]
    tool_calls: NotRequired[Sequence[ToolCall | FlatToolCall] | None]
    tool_call_id: NotRequired[str | None]
    name: NotRequired[str | None]
    train: NotRequired[bool | int | None]
    """False or 0: no token of the message is trained."""


class FunctionSpec(TypedDict):
    """What a tool is called and what it takes; also the flat form of a tool."""

    name: str
    description: NotRequired[str]
    parameters: NotRequired[Mapping[str, object]]
    strict: NotRequired[bool]


class ToolSpec(TypedDict):
    """A tool in OpenAI's envelope. Templates print it as it is given, envelope or flat."""

    type: Literal["function"]
    function: FunctionSpec


Messages: TypeAlias = Sequence[Message] | Sequence[Mapping[str, object]]
Tools: TypeAlias = Sequence[ToolSpec] | Sequence[FunctionSpec] | Sequence[Mapping[str, object]]
