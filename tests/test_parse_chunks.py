"""Deltas as OpenAI's chunks, put together as a client does."""

import json
from typing import Any

import pytest

from completions import parsers
from turnloom import ChatCompletionChunks

CALLS = (
    "<think>\nr\n</think>\n\nHi\n"
    '<tool_call>\n{"name": "f", "arguments": {"a": [1, 2]}}\n</tool_call>\n'
    '<tool_call>\n{"arguments": {}}\n</tool_call>\n'
    '<tool_call>\n{"name": "now"}\n</tool_call>'
)


def put_together(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """Join chunks as clients do."""
    message: dict[str, Any] = {"content": "", "reasoning_content": "", "tool_calls": {}}
    for chunk in chunks:
        (choice,) = chunk["choices"]
        delta = choice["delta"]
        for key in ("content", "reasoning_content"):
            message[key] += delta.get(key, "")
        for part in delta.get("tool_calls", []):
            call = message["tool_calls"].setdefault(part["index"], {"arguments": ""})
            call.update(id=part.get("id", call.get("id")))
            function = part["function"]
            call.update(name=function.get("name", call.get("name")))
            call["arguments"] += function["arguments"]
    message["finish_reason"] = chunks[-1]["choices"][0]["finish_reason"]
    return message


@pytest.mark.parametrize("n_ids", [1, 3, 1000])
def test_chunks(n_ids: int) -> None:
    both = parsers("qwen3")
    ids = both.ids(CALLS)
    chunks = ChatCompletionChunks(completion_id="x", model="m", created=7)
    parser = both.native.stream_parser()
    sent = [chunks.first()]
    for begin in range(0, len(ids), n_ids):
        sent += chunks.chunks(parser.feed(ids[begin : begin + n_ids]))
    sent += chunks.chunks(parser.end())
    response = parser.finish()
    sent.append(chunks.last(response))
    assert {(chunk["id"], chunk["model"], chunk["created"]) for chunk in sent} == {("x", "m", 7)}
    assert json.loads(json.dumps(sent)) == sent
    assert put_together(sent) == {
        "content": response.content,
        "reasoning_content": response.reasoning_content,
        "tool_calls": {
            0: {"id": "call_x_0", "name": "f", "arguments": '{"a": [1, 2]}'},
            1: {"id": "call_x_1", "name": "now", "arguments": "{}"},
        },
        "finish_reason": "tool_calls",
    }


def test_why_it_ended() -> None:
    chunks = ChatCompletionChunks(completion_id="x", model="m", created=7)
    response = parsers("qwen3").parse("Hi")
    assert put_together([chunks.last(response)])["finish_reason"] == "stop"
    assert put_together([chunks.last(response, cut=True)])["finish_reason"] == "length"
