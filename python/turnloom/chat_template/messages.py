"""Messages as transformers 5 hands them to a chat template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from turnloom.errors import RenderError

Message: TypeAlias = dict[str, object]

_REASONING_KEYS = ("reasoning_content", "thinking", "reasoning")

_CONTINUE_MARK = "CONTINUE_FINAL_MESSAGE_TAG "


def prepare_messages(messages: Sequence[Mapping[str, object]], argument: str = "messages") -> list[Message]:
    """Return new dicts without keys that are None, reasoning under `reasoning_content` and `thinking`.

    Raises:
        TypeError: `messages` is no list of mappings.
    """
    if not isinstance(messages, (list, tuple)):
        raise TypeError(f"{argument}: expected list or tuple, got {type(messages).__name__}")
    prepared = []
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise TypeError(f"{argument}[{index}]: expected a mapping, got {type(message).__name__}")
        given = {key: value for key, value in message.items() if value is not None}
        reasoning = next((given[key] for key in _REASONING_KEYS if key in given), None)
        if reasoning is not None:
            given = {"thinking": reasoning, **given, "reasoning_content": reasoning}
        prepared.append(given)
    return prepared


def prepare_tools(tools: Sequence[Mapping[str, object]] | None) -> list[dict[str, object]] | None:
    """Return the tools as a list of dicts; no tools are not an empty list.

    Raises:
        TypeError: `tools` is no list of mappings.
    """
    return _dicts(tools, "tools")


def prepare_documents(documents: Sequence[Mapping[str, object]] | None) -> list[dict[str, object]] | None:
    """Return the documents as a list of dicts.

    Raises:
        TypeError: `documents` is no list of mappings.
    """
    return _dicts(documents, "documents")


def _dicts(values: Sequence[Mapping[str, object]] | None, argument: str) -> list[dict[str, object]] | None:
    if values is None:
        return None
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{argument}: expected a list of {argument} or None, got {type(values).__name__}")
    for index, value in enumerate(values):
        if not isinstance(value, Mapping):
            raise TypeError(f"{argument}[{index}]: expected a mapping, got {type(value).__name__}")
    return [dict(value) for value in values]


def mark_final_message(messages: list[Message]) -> str:
    """Put a mark behind the text of the final message, and return that text.

    Raises:
        RenderError: there is no text to continue.
    """
    place = f"messages[{len(messages) - 1}].content"
    content = messages[-1].get("content") if messages else None
    if isinstance(content, str):
        messages[-1]["content"] = content + _CONTINUE_MARK
        return content
    if isinstance(content, (list, tuple)):
        for index in reversed(range(len(content))):
            part = content[index]
            if isinstance(part, Mapping) and isinstance(text := part.get("text"), str):
                marked = {**part, "text": text + _CONTINUE_MARK}
                messages[-1]["content"] = [*content[:index], marked, *content[index + 1 :]]
                return text
    raise RenderError(f"{place}: continue_final_message needs a text to continue")


def cut_at_mark(rendered: str, final: str | None) -> str:
    """Return what stands before the mark behind the final text, or all where there is none.

    Raises:
        RenderError: the template did not write the final message as it is.
    """
    if final is None:
        return rendered
    mark = _CONTINUE_MARK.strip()
    begin = rendered.rfind(mark)
    if begin < 0 or final.strip() not in rendered:
        raise RenderError("continue_final_message: the template does not write the text of the final message")
    if rendered.startswith(_CONTINUE_MARK, begin):
        return rendered[:begin]
    return rendered[:begin].rstrip()  # the template strips the text
