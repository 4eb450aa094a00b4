"""Where a history that came back from outside differs from the one that was sampled."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from turnloom import _core

AnyMessage: TypeAlias = Mapping[str, Any]

_REASONING_KEYS = ("reasoning_content", "thinking", "reasoning")
_ABSENT = ""


class DriftKind(StrEnum):
    """What happened to a text."""

    WHITESPACE = "whitespace"
    """Only white space differs."""
    JSON_SPELLING = "json_spelling"
    """The arguments of a call are the same value in another spelling."""
    DROPPED_REASONING = "dropped_reasoning"
    """The reasoning is gone."""
    REWRITTEN_CALL = "rewritten_call"
    """A tool call is another one, or there are more or fewer of them."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Drift:
    """The first difference."""

    message_index: int
    field: str
    """Such as "content" or "tool_calls[0].function.arguments"; "messages" where a message is missing."""
    held: str
    """The text as the session has it, empty where it has none."""
    observed: str
    kind: DriftKind


@dataclass(frozen=True, slots=True)
class Observation:
    """What a history from outside is to a session."""

    drift: Drift | None
    """None where it extends what the session holds."""
    new_messages: list[dict[str, Any]] = field(default_factory=list)
    """The messages behind those that the session holds; none where it drifted."""

    @property
    def is_clean(self) -> bool:
        """Whether it extends what the session holds."""
        return self.drift is None


def observe(held: Sequence[AnyMessage], observed: object) -> Observation:
    """Compare messages with those that were held.

    Raises:
        TypeError: `observed` is no list of dicts, or a text in it is none.
    """
    if not isinstance(observed, (list, tuple)):
        raise TypeError(f"messages: expected a list of messages, got {type(observed).__name__}")
    texts = [_texts(message, f"messages[{i}]") for i, message in enumerate(observed)]
    for i, message in enumerate(held):
        if i == len(observed):
            return Observation(Drift(i, "messages", str(message["role"]), _ABSENT, DriftKind.OTHER))
        if drift := _first_difference(i, _texts(message, f"messages[{i}]"), texts[i]):
            return Observation(drift)
    return Observation(None, list(observed[len(held) :]))


def _first_difference(index: int, held: Mapping[str, str], observed: Mapping[str, str]) -> Drift | None:
    names = dict.fromkeys((*held, *observed))
    for name in names:
        # A scaffold gives the calls that were sampled ids of its own.
        if name.endswith("].id") and name not in held:
            continue
        ours, theirs = held.get(name, _ABSENT), observed.get(name, _ABSENT)
        if ours != theirs:
            return Drift(index, name, ours, theirs, _kind(name, ours, theirs))
    return None


def _kind(name: str, held: str, observed: str) -> DriftKind:
    if name in ("content", "reasoning_content"):
        if name == "reasoning_content" and not observed.strip():
            return DriftKind.DROPPED_REASONING
        return DriftKind.WHITESPACE if held.split() == observed.split() else DriftKind.OTHER
    if not name.startswith("tool_calls"):
        return DriftKind.OTHER
    if name.endswith(".arguments") and _is_same_json(held, observed):
        return DriftKind.JSON_SPELLING
    return DriftKind.REWRITTEN_CALL


def _is_same_json(held: str, observed: str) -> bool:
    try:
        return _spelled_alike(held) == _spelled_alike(observed)
    except (ValueError, RecursionError):
        return False


def _spelled_alike(text: str) -> str:
    """Give JSON in one spelling: sorted keys, of which none is lost, and numbers as they are."""

    def sorted_members(members: list[tuple[str, Any]]) -> list[Any]:
        return ["object", *sorted(members, key=lambda member: member[0])]

    return json.dumps(json.loads(text, object_pairs_hook=sorted_members))


def _texts(message: object, place: str) -> dict[str, str]:
    """Give the texts of a message that a format renders, in order, by their names."""
    if not isinstance(message, Mapping):
        raise TypeError(f"{place}: expected a dict, got {type(message).__name__}")
    texts = {"role": _text(message.get("role"), f"{place}.role")}
    reasoning = next((key for key in _REASONING_KEYS if message.get(key) is not None), _REASONING_KEYS[0])
    texts["reasoning_content"] = _text(message.get(reasoning), f"{place}.{reasoning}")
    texts["content"] = _content(message.get("content"), f"{place}.content")
    for key in ("name", "tool_call_id"):
        texts[key] = _text(message.get(key), f"{place}.{key}")
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, (list, tuple)):
        raise TypeError(f"{place}.tool_calls: expected list or None, got {type(calls).__name__}")
    for i, call in enumerate(calls or ()):
        texts |= _call(call, f"tool_calls[{i}]", place)
    return texts


def _call(call: object, name: str, place: str) -> dict[str, str]:
    if not isinstance(call, Mapping):
        raise TypeError(f"{place}.{name}: expected a dict, got {type(call).__name__}")
    function = call.get("function") or call
    if not isinstance(function, Mapping):
        raise TypeError(f"{place}.{name}.function: expected a dict, got {type(function).__name__}")
    arguments = function.get("arguments", {})
    texts = {
        f"{name}.function.name": _text(function.get("name"), f"{place}.{name}.function.name"),
        f"{name}.function.arguments": (
            arguments
            if isinstance(arguments, str)
            else _json_text(arguments, f"{place}.{name}.function.arguments")
        ),
    }
    if call.get("id") is not None:
        texts[f"{name}.id"] = _text(call["id"], f"{place}.{name}.id")
    return texts


def _content(content: object, place: str) -> str:
    """Give the texts of a content joined; a part that is no text is spelled as JSON."""
    if not isinstance(content, (list, tuple)):
        return _text(content, place)
    parts = []
    for i, part in enumerate(content):
        if isinstance(part, Mapping):
            text = part.get("text") if part.get("type") in (None, "text") else None
            parts.append(text if isinstance(text, str) else _json_text(dict(part), f"{place}[{i}]"))
        else:
            parts.append(_text(part, f"{place}[{i}]"))
    return "".join(parts)


def _json_text(value: Any, place: str) -> str:
    try:
        return _core.json_text(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{place}: {error}") from None


def _text(text: object, place: str) -> str:
    if text is None:
        return _ABSENT
    if not isinstance(text, str):
        raise TypeError(f"{place}: expected str or None, got {type(text).__name__}")
    return text
