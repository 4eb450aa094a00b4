"""Completions for the tests of parsing: both sides on the same ids, and ids that are hard to read."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import turnloom
import vocabularies
from turnloom import (
    Delta,
    ParsedResponse,
    Renderer,
    Tokenizer,
    ToolCallParseStatus,
    config_from_name,
    reference,
)

FAMILIES = ("chatml", "qwen2.5", "qwen3", "llama-3", "llama-3.1", "llama-3.2")
TOOLS = [{"type": "function", "function": {"name": "f"}}, {"name": "g"}]


class BothParsers:
    """A native renderer and its reference: every parse runs on both, whole and streamed, and all agree."""

    def __init__(self, tokenizer: Tokenizer, family: str, **options: Any) -> None:
        config = config_from_name(family, **options)
        self.tokenizer = tokenizer
        self.native: Renderer = turnloom.create_renderer(tokenizer, config)
        self.reference = reference.create_renderer(tokenizer, config)

    def ids(self, completion: str | list[int]) -> list[int]:
        return self.tokenizer.encode(completion) if isinstance(completion, str) else completion

    def parse(
        self, completion: str | list[int], *, cuts: Sequence[int] = (), **options: Any
    ) -> ParsedResponse:
        """Parse whole, one id at a time, and cut at `cuts`; give the response."""
        ids = self.ids(completion)
        response = self.native.parse_response(ids, **options)
        assert_same(response, self.reference.parse_response(ids, **options))
        for positions in (range(len(ids)), cuts):
            deltas = stream(self.native, ids, positions, response, **options)
            assert deltas == stream(self.reference, ids, positions, response, **options)
            check_deltas([delta for part in deltas for delta in part], response)
        return response


@cache
def parsers(family: str, vocabulary: str = "builtin") -> BothParsers:
    return BothParsers(vocabularies.tokenizer(vocabulary), family)


def assert_same(response: ParsedResponse, expected: ParsedResponse) -> None:
    """Compare every field, and the types of values, too."""
    assert repr(response) == repr(expected)
    assert response == expected


def stream(
    renderer: Any, ids: list[int], cuts: Sequence[int], expected: ParsedResponse, **options: Any
) -> list[list[Delta]]:
    """Feed the ids in parts that end at the cuts; give the deltas of each part and of the end."""
    parser = renderer.stream_parser(**options)
    bounds = [0, *sorted(cut for cut in cuts if 0 < cut < len(ids)), len(ids)]
    deltas = [parser.feed(ids[begin:end]) for begin, end in pairwise(bounds)]
    deltas += [parser.end(), parser.end()]
    assert deltas[-1] == []
    assert_same(parser.finish(), expected)
    return deltas


def joined(deltas: Sequence[Delta], kind: str, call_index: int | None = None) -> str:
    return "".join(delta.text for delta in deltas if delta.kind == kind and delta.call_index == call_index)


def check_deltas(deltas: Sequence[Delta], response: ParsedResponse) -> None:
    """Joined, deltas are the response."""
    assert joined(deltas, "content") == response.content
    reasoning = joined(deltas, "reasoning_unfinished") + joined(deltas, "reasoning")
    assert reasoning == (response.reasoning_content or "")
    unfinished = [delta for delta in deltas if delta.kind == "reasoning_unfinished"]
    assert len(unfinished) == (not response.reasoning_complete)
    calls = [delta for delta in deltas if delta.kind.startswith("call_")]
    assert [(delta.kind, delta.call_index) for delta in calls] == [
        (kind, index) for index in range(len(response.tool_calls)) for kind in ("call_open", "call_close")
    ]
    assert [delta.name for delta in calls[::2]] == [call.name for call in response.tool_calls]
    assert [delta.status for delta in calls[1::2]] == [call.status for call in response.tool_calls]
    for index, call in enumerate(response.tool_calls):
        text = joined(deltas, "arguments", index)
        if call.name is None:
            assert text == ""
        elif call.arguments_text is not None:
            assert text == call.arguments_text
        else:
            assert text in call.raw


def statuses(response: ParsedResponse) -> list[str]:
    return [call.status.value for call in response.tool_calls]


def good_calls(response: ParsedResponse) -> list[tuple[str | None, Any]]:
    good = ToolCallParseStatus.OK
    return [(call.name, call.arguments) for call in response.tool_calls if call.status is good]


MARKERS = [
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<tool_call>",
    "</tool_call>",
    "<|python_tag|>",
    "<|im_start|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<tool_response>",
]
STOPS = ["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"]
PUNCTUATION = [
    *'{}[]":,;\\ \n\t-.',
    "\u00a0",
    "\x1c",
    "\x01",
    "0",
    "1",
    "e",
    "E+",
    "tru",
    "true",
    "null",
]
VALUES = [
    "{}",
    "[]",
    '{"a": 1}',
    '{"a": 1, "b": {"a": [true, null]}, "a": 2}',
    '"s"',
    '"\\u00e9\\ud83c\\udf78 \\n\\"\\\\"',
    '"\\ud83c"',
    '"\\udf78x"',
    '"\U0001f378\u00e9"',
    "123456789012345678901234567890",
    "-0",
    "1.5e-3",
    "1e999",
    "01",
    "NaN",
    "-Infinity",
    '"a</tool_call>b"',
    '"a<tool_call>\\nb"',
    '"<|python_tag|>"',
    '"x',
]
OBJECTS = [
    '{"name": "f", "arguments": {}}',
    '{"name": "f", "parameters": {"a": [1]}}',
    '{"arguments": {"a": 1}, "name": "g"}',
    '{"name": "g"}',
    '{"n\\u0061me": "h", "parameters": {}}',
    '{"name": "", "arguments": {}}',
    '{"name": 5, "parameters": {}}',
    '{"name": null}',
    '{"name": "f", "name": "g", "arguments": {}}',
    '{"name": "f", "arguments": {}, "parameters": {}}',
    '{"name": "f", "arguments": "str"}',
    '{"age": 36}',
    "[1]",
    "{",
]
HEADERS = ["<|im_start|>assistant\n", "<|start_header_id|>assistant<|end_header_id|>\n\n"]


@st.composite
def objects(draw: st.DrawFn) -> str:
    """Give what may be a call."""
    if draw(st.booleans()):
        return draw(st.sampled_from(OBJECTS))
    key = draw(st.sampled_from(["arguments", "parameters", "x"]))
    return f'{{"name": "{draw(st.sampled_from("fgh"))}", "{key}": {draw(st.sampled_from(VALUES))}}}'


def texts() -> SearchStrategy[str]:
    """Give parts of a completion."""
    call = objects()
    return st.one_of(
        st.sampled_from(MARKERS),
        st.sampled_from(PUNCTUATION),
        st.sampled_from(VALUES),
        call,
        call.map(lambda text: f"<tool_call>\n{text}\n</tool_call>"),
        call.map(lambda text: f"<tool_call>{text}"),
        call.map(lambda text: f"{text}; {text}"),
        call.map(lambda text: f"[{text}, {text}]"),
        call.map(lambda text: f"<|python_tag|>{text}"),
        st.sampled_from(["Hi", " ", "\n\n", "</tool", "<thi", "\u00e9", "\U0001f999", "assistant\n"]),
        st.text(max_size=4).filter(lambda text: text.isprintable()),
    )


@st.composite
def completions(draw: st.DrawFn, tokenizer: Tokenizer) -> list[int]:
    """Give ids: encoded parts, markers as tokens or spelled out, any ids, and then a few ids changed."""
    ids: list[int] = []
    if draw(st.integers(0, 5)) == 0:
        ids += tokenizer.encode(draw(st.sampled_from(HEADERS)))
    for _ in range(draw(st.integers(0, 7))):
        special = draw(st.sampled_from(["all", "all", "all", "none"]))
        ids += tokenizer.encode(draw(texts()), special=special)  # type: ignore[arg-type]
    any_id = st.integers(0, tokenizer.vocab_size + 2) | st.just(2**31 - 1)
    for _ in range(draw(st.sampled_from([0, 0, 1, 3]))):
        position = draw(st.integers(0, len(ids)))
        match draw(st.sampled_from(["insert", "delete", "repeat", "cut", "stop"])):
            case "insert":
                ids.insert(position, draw(any_id))
            case "delete":
                del ids[position : position + draw(st.integers(1, 4))]
            case "repeat":
                ids[position:position] = ids[position : position + draw(st.integers(1, 4))]
            case "cut":
                del ids[position:]
            case "stop":
                ids[position:position] = tokenizer.encode(draw(st.sampled_from(STOPS)))
    return ids
