"""Long and hostile completions: time grows with the length, not faster."""

import time
from collections.abc import Callable

import pytest

from completions import parsers

CALL_BEGIN = '<tool_call>\n{"name": "f", "arguments": '
PARTS = {
    "brackets": (CALL_BEGIN, "["),
    "objects": (CALL_BEGIN, '{"a":'),
    "python call": ("", "[f(a=1,"),
    "string": (CALL_BEGIN + '"', "a"),
    "white space": (CALL_BEGIN, " \n"),
    "white space of content": ("a", " \n"),
    "digits": (CALL_BEGIN, "1"),
    "members": (CALL_BEGIN + "{", '"a": [1, 2.5, "\\u00e9"], '),
    "escapes": (CALL_BEGIN + '"', "\\ud83c\\udf78"),
    "openers": ("", "<tool_call>"),
    "openers in reasoning": ("<think>", "<tool_call>{"),
    "closers in a string": (CALL_BEGIN + '"', "</tool_call>"),
    "openers in a string": (CALL_BEGIN + '"', "x<tool_call>"),
    "openers in strings": (CALL_BEGIN + "[", '"x<tool_call>y",'),
    "quotes and openers": ("<tool_call>", '"<tool_call>'),
    "broken strings": ("", '<tool_call>{"a": "x</tool_call>'),
    "half characters": ("", "\ufffd"),
}


def seconds(call: Callable[[], object]) -> float:
    begin = time.thread_time()
    call()
    return time.thread_time() - begin


@pytest.mark.parametrize("name", PARTS)
def test_time_is_linear(name: str) -> None:
    both = parsers("qwen3")
    before, part = PARTS[name]
    n_times = 200_000 // len(part)
    long = both.ids(before + part * n_times)
    short = long[: len(long) // 10]
    both.native.parse_response(short)
    fast = min(seconds(lambda: both.native.parse_response(short)) for _ in range(3))
    slow = min(seconds(lambda: both.native.parse_response(long)) for _ in range(3))
    assert slow < 30 * fast + 0.05

    def stream() -> None:
        parser = both.native.stream_parser()
        for id_ in long:
            parser.feed([id_])
        parser.finish()

    assert seconds(stream) < 2


def test_half_a_megabyte_of_arguments() -> None:
    both = parsers("qwen3")
    text = CALL_BEGIN + "{" + ", ".join(f'"k{i}": "{"x" * 100}"' for i in range(5_000)) + "}}\n</tool_call>"
    ids = both.ids(text)
    assert seconds(lambda: both.native.parse_response(ids)) < 0.25
    (call,) = both.native.parse_response(ids).tool_calls
    assert call.status == "ok"
    assert isinstance(call.arguments, dict) and len(call.arguments) == 5_000
