"""Hypothesis strategies: arguments in which something is wrong."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

import strategies


class Text(str):
    """A subclass that prints something else."""

    __slots__ = ()

    def __str__(self) -> str:
        return "printed"

    __repr__ = __str__


def nested(levels: int, kind: type = list) -> Any:
    """Give lists or dicts in one another."""
    value: Any = kind()
    for _ in range(levels - 1):
        value = [value] if kind is list else {"k": value}
    return value


def cycle() -> Any:
    """Give a list that holds itself."""
    value: list[Any] = []
    value.append([value])
    return value


# Everything that may be wrong somewhere, and some of it right elsewhere.
MISFITS: Sequence[Any] = [
    *(None, 0, -1, 1.5, float("nan"), True, 2**70, 10**5000, b"bytes", bytearray(b"b")),
    *({1, 2}, frozenset(), object(), int, len, range(2), iter(()), Text("text"), "a string", ""),
    # lone surrogates
    *("\ud800", "a\udfffb", "x" * 7 + "🦙\udc00", ["\ud800"], {"\ud800": 1}, {"role": "\ud83e"}),
    *(
        [{"type": "image\udc00"}],
        {"name": "f", "arguments": {"k": "\udc80"}, "id": 1},
        {"name": "f", "id": "\udfff"},
    ),
    # lists and parts
    *([], (), [None], [[]], [b"a"], [{}], [{"type": "text"}], [{"type": 1, "text": "a"}], [{"text": 1}]),
    *([{"type": "text", "text": None}], [{"type": "image", "text": 1}], [{"type": "", "text": "a"}]),
    # dicts and calls
    *({}, {b"k": 1}, {(1, 2): 1}, {None: {1.5: {True: object()}}}, {"it's": {"a\n": [{1}]}}),
    *(
        {"function": 1},
        {"function": {}},
        {"function": {"name": 1}},
        {"name": None},
        {"role": "user"},
        {"role": 1},
    ),
    {"name": "f", "arguments": object()},
    # nesting
    *(nested(499), nested(500), nested(501), nested(500, dict), nested(501, dict), nested(5000), cycle()),
]


@st.composite
def broken(draw: st.DrawFn, value: Any) -> Any:
    """Give the value with a misfit put into it, or with something taken away."""
    misfit = draw(st.sampled_from(MISFITS))
    if isinstance(value, dict) and value and draw(st.integers(0, 4)):
        key = draw(st.sampled_from(list(value)))
        if draw(st.integers(0, 9)) == 0:
            return {kept: item for kept, item in value.items() if kept != key}
        return value | {key: draw(broken(value[key]))}
    if isinstance(value, list | tuple) and value and draw(st.integers(0, 4)):
        index = draw(st.integers(0, len(value) - 1))
        return [*value[:index], draw(broken(value[index])), *value[index + 1 :]]
    return misfit


# Keys that a generated message rarely has, so that there is more to break.
FULL_MESSAGE = {
    "role": "assistant",
    "content": ["a", {"type": "text", "text": "b"}],
    "reasoning_content": "r",
    "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": {"a": [1, {"b": None}]}}}],
    "tool_call_id": "c1",
    "name": "n",
    "train": False,
}


@st.composite
def hostile_calls(draw: st.DrawFn) -> strategies.Call:
    """Give arguments in which at least one thing may be wrong."""
    call = draw(strategies.calls())
    messages = [*call.messages, FULL_MESSAGE] if draw(st.booleans()) else [FULL_MESSAGE]
    tools = call.tools
    if draw(st.integers(0, 3)) == 0:
        tools = draw(broken(tools or [{"function": {"name": "f", "parameters": {"a": [1]}}}]))
    else:
        messages = draw(broken(messages))
    return strategies.Call(messages, tools, call.options)
