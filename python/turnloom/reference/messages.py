"""Reading a conversation: the one place that looks into the caller's dicts and says what is wrong there."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from turnloom._arguments import is_trained
from turnloom.errors import RenderError
from turnloom.reference.json_text import Json, read_json
from turnloom.reference.place import Place, read_string

REASONING_KEYS = ("reasoning_content", "thinking", "reasoning")


@dataclass(frozen=True, slots=True)
class ForeignPart:
    """A part of a content list that is not text, such as an image."""

    index: int
    type: str


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a message."""

    text: str = ""
    """All its text: the string, or the text parts of a list joined."""
    is_given: bool = False
    """False for None and no content."""
    is_list: bool = False
    foreign_part: ForeignPart | None = None
    """The first one."""
    values: Json = None
    """A list as given, if it was asked for."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call in a message."""

    name: str
    arguments: Json
    """A str is text to be printed as it is."""
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message as the caller gave it."""

    role: str
    content: Content = field(default_factory=Content)
    reasoning: str | None = None
    reasoning_key: str = REASONING_KEYS[0]
    """The key that the reasoning was read from."""
    tool_calls: Sequence[ToolCall] = ()
    has_tool_calls: bool = False
    """Also of an empty list; False for None and no calls."""
    name: str | None = None
    tool_call_id: str | None = None
    train: bool = True
    """False: no token of it is trained."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is rendered."""

    messages: Sequence[Message]
    tools: Sequence[Json] | None = None
    """None and no tools are not the same to every format."""


def read_conversation(
    messages: object, tools: object, *, keep_lists: bool = False, argument: str = "messages"
) -> Conversation:
    """Read and check messages, one after the other, and then tools.

    Args:
        messages: the caller's list of dicts.
        tools: the caller's list of dicts, or None.
        keep_lists: keep content lists as they are, for a template that prints them.
        argument: what errors call the messages.

    Raises:
        TypeError: something has the wrong type.
        ValueError: a text holds a lone surrogate, a value is nested too deep.
        RenderError: a role or the name of a call is missing.
    """
    place = Place(argument)
    if not isinstance(messages, list | tuple):
        raise TypeError(f"{place}: expected a list of messages, got {type(messages).__name__}")
    read = [_read_message(message, place.index(i), keep_lists) for i, message in enumerate(messages)]
    return Conversation(read, None if tools is None else _read_tools(tools, Place("tools")))


def tool_names(messages: Sequence[Message]) -> list[str | None]:
    """Name the tool of each tool message: its `name`, else that of the last call before it with its id."""
    called: dict[str, str] = {}
    names: list[str | None] = []
    for message in messages:
        if message.role == "assistant":
            called.update({call.id: call.name for call in message.tool_calls if call.id is not None})
        name = message.name or called.get(message.tool_call_id or "")
        names.append(name or None if message.role == "tool" else None)
    return names


def _read_tools(tools: object, place: Place) -> list[Json]:
    if not isinstance(tools, list | tuple):
        raise TypeError(f"{place}: expected a list of tools or None, got {type(tools).__name__}")
    specs = []
    for i, tool in enumerate(tools):
        if not isinstance(tool, dict):
            raise TypeError(f"{place.index(i)}: expected a dict, got {type(tool).__name__}")
        specs.append(read_json(tool, place.index(i)))
    return specs


def _read_message(message: object, place: Place, keep_lists: bool) -> Message:
    if not isinstance(message, dict):
        raise TypeError(f"{place}: expected a dict, got {type(message).__name__}")
    role = message.get("role")
    if role is None:
        raise RenderError(f"{place}.role: missing")
    role = read_string(role, place.field("role"))
    content = _read_content(message.get("content"), place.field("content"), keep_lists)
    reasoning_key = next((key for key in REASONING_KEYS if message.get(key) is not None), REASONING_KEYS[0])
    return Message(
        role=role,
        content=content,
        reasoning=_read_optional(message, reasoning_key, place),
        reasoning_key=reasoning_key,
        tool_calls=_read_calls(message.get("tool_calls"), place.field("tool_calls")),
        has_tool_calls=message.get("tool_calls") is not None,
        name=_read_optional(message, "name", place),
        tool_call_id=_read_optional(message, "tool_call_id", place),
        train=is_trained(message.get("train"), place.field("train")),
    )


def _read_optional(source: dict[object, object], key: str, place: Place) -> str | None:
    value = source.get(key)
    return None if value is None else read_string(value, place.field(key))


def _read_content(content: object, place: Place, keep_lists: bool) -> Content:
    if content is None:
        return Content()
    if isinstance(content, str):
        return Content(read_string(content, place), is_given=True)
    if not isinstance(content, list | tuple):
        raise TypeError(f"{place}: expected str, list or None, got {type(content).__name__}")
    parts = [_read_part(part, i, place.index(i)) for i, part in enumerate(content)]
    return Content(
        text="".join(part for part in parts if isinstance(part, str)),
        is_given=True,
        is_list=True,
        foreign_part=next((part for part in parts if isinstance(part, ForeignPart)), None),
        values=read_json(content, place) if keep_lists else None,
    )


def _read_part(part: object, index: int, place: Place) -> str | ForeignPart:
    if isinstance(part, str):
        return read_string(part, place)
    if not isinstance(part, dict):
        raise TypeError(f"{place}: expected str or dict, got {type(part).__name__}")
    kind = part.get("type")
    kind = "text" if kind is None else read_string(kind, place.field("type"))
    if kind != "text":
        return ForeignPart(index, kind)
    text = part.get("text")
    if text is None:
        raise TypeError(f"{place}.text: expected str, got nothing")
    return read_string(text, place.field("text"))


def _read_calls(calls: object, place: Place) -> list[ToolCall]:
    if calls is None:
        return []
    if not isinstance(calls, list | tuple):
        raise TypeError(f"{place}: expected list or None, got {type(calls).__name__}")
    return [_read_call(call, place.index(i)) for i, call in enumerate(calls)]


def _read_call(call: object, place: Place) -> ToolCall:
    """Read `{"function": {"name": ..., "arguments": ...}, "id": ...}`, or the same without `function`."""
    if not isinstance(call, dict):
        raise TypeError(f"{place}: expected a dict, got {type(call).__name__}")
    function = call.get("function")
    if function is None:
        function, inner = call, place
    else:
        inner = place.field("function")
    if not isinstance(function, dict):
        raise TypeError(f"{inner}: expected a dict, got {type(function).__name__}")
    name = function.get("name")
    if name is None:
        raise RenderError(f"{inner}.name: missing")
    return ToolCall(
        name=read_string(name, inner.field("name")),
        arguments=read_json(function.get("arguments", {}), inner.field("arguments")),
        id=_read_optional(call, "id", place),
    )
