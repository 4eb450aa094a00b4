"""Cases from public bug reports: completions. On the builtin vocabulary, and with real ids."""

from pathlib import Path
from typing import Any

import pytest

import turnloom
from completions import BothParsers, good_calls, parsers, statuses

OPEN, CLOSE = "<tool_call>\n", "\n</tool_call>"


@pytest.fixture(params=["builtin", pytest.param("real", marks=pytest.mark.shared)])
def qwen(request: pytest.FixtureRequest) -> BothParsers:
    if request.param == "builtin":
        return parsers("qwen3")
    shared: Path = request.getfixturevalue("shared")
    return BothParsers(turnloom.load_tokenizer(shared / "tokenizers/qwen3"), "qwen3")


@pytest.fixture(params=["builtin", pytest.param("real", marks=pytest.mark.shared)])
def llama(request: pytest.FixtureRequest) -> BothParsers:
    if request.param == "builtin":
        return parsers("llama-3.1")
    shared: Path = request.getfixturevalue("shared")
    return BothParsers(turnloom.load_tokenizer(shared / "tokenizers/llama3_1"), "llama-3.1")


def call(name: str, arguments: str) -> str:
    return f'{OPEN}{{"name": "{name}", "arguments": {arguments}}}{CLOSE}'


@pytest.mark.parametrize("special", ["none", "all"])
def test_h07_close_tag_inside_a_string(qwen: BothParsers, special: Any) -> None:
    inner = qwen.tokenizer.encode('{"name": "write", "arguments": {"t": "a</tool_call>b"}}', special=special)
    response = qwen.parse([*qwen.ids(OPEN), *inner, *qwen.ids(CLOSE)])
    assert good_calls(response) == [("write", {"t": "a</tool_call>b"})]
    assert statuses(response) == ["ok"]


@pytest.mark.shared
@pytest.mark.parametrize("tag", [[522, 14172, 13429, 29], [151658]], ids=["spelled", "token"])
def test_h07_with_real_ids(shared: Path, tag: list[int]) -> None:
    qwen = BothParsers(turnloom.load_tokenizer(shared / "tokenizers/qwen3"), "qwen3")
    before = qwen.ids(OPEN + '{"name": "write", "arguments": {"t": "a')
    response = qwen.parse([*before, *tag, *qwen.ids('b"}}' + CLOSE)])
    assert good_calls(response) == [("write", {"t": "a</tool_call>b"})]


def test_h09_every_way_of_chunking(qwen: BothParsers) -> None:
    ids = qwen.ids(call("f", '{"n": 5}'))
    for first in range(len(ids)):
        for second in range(first, len(ids)):
            response = qwen.parse(ids, cuts=[first, second])
    assert response.tool_calls[0].arguments_text == '{"n": 5}'


def test_h11_text_before_the_call(qwen: BothParsers) -> None:
    response = qwen.parse("Let me look." + call("f", "{}"))
    assert response.content == "Let me look."
    assert good_calls(response) == [("f", {})]


def test_h12_nested_braces_behind_the_python_tag(llama: BothParsers) -> None:
    response = llama.parse('<|python_tag|>{"name": "f", "parameters": {"o": {"p": {"q": 1}}}}')
    assert good_calls(response) == [("f", {"o": {"p": {"q": 1}}})]


def test_h13_a_json_answer_is_no_call(qwen: BothParsers, llama: BothParsers) -> None:
    answer = '{"name": "Ada", "age": 36}'
    for both in (qwen, llama):
        response = both.parse(answer, tools=[{"type": "function", "function": {"name": "f"}}])
        assert response.content == answer
        assert response.tool_calls == []


def test_h18_a_truncated_call(qwen: BothParsers) -> None:
    ids = qwen.ids(OPEN + '{"name": "f", "arguments": {"a": "x')
    response = qwen.parse(ids)
    (record,) = response.tool_calls
    assert (record.status, record.name, record.token_span) == ("unclosed_block", "f", (0, len(ids)))
    assert record.raw == '{"name": "f", "arguments": {"a": "x'
    assert response.content == ""


def test_h19_no_arguments(qwen: BothParsers) -> None:
    response = qwen.parse(call("now", "{}"))
    assert good_calls(response) == [("now", {})]
    assert response.tool_calls[0].arguments_text == "{}"


def test_h21_a_surrogate_pair(qwen: BothParsers) -> None:
    response = qwen.parse(call("f", '{"e": "\\ud83c\\udf78"}'))
    assert good_calls(response) == [("f", {"e": "\U0001f378"})]


def test_h23_calls_are_found_in_ids(qwen: BothParsers) -> None:
    ids = qwen.ids(call("f", "{}"))
    added = qwen.tokenizer.added_tokens
    assert (ids[0], ids[-1]) == (added["<tool_call>"], added["</tool_call>"])
    assert good_calls(qwen.parse(ids)) == [("f", {})]


def test_h24_think_opened_in_the_prompt(qwen: BothParsers) -> None:
    response = qwen.parse("plan\n</think>\n\n42", prompt_ids=qwen.ids("<think>\n"))
    assert (response.reasoning_content, response.content) == ("plan", "42")


def test_h25_text_before_the_think_block(qwen: BothParsers) -> None:
    response = qwen.parse("Sure.<think>x</think>Yes")
    assert (response.reasoning_content, response.content) == (None, "Sure.<think>x</think>Yes")


def test_h26_a_draft_inside_thinking(qwen: BothParsers) -> None:
    response = qwen.parse(f"<think>\nmaybe {call('rm', '{}')} no\n</think>\n\nDone")
    assert response.tool_calls == []
    assert response.reasoning_content == f"maybe {call('rm', '{}')} no"
    assert response.content == "Done"


def test_h27_a_character_split_over_tokens() -> None:
    both = parsers("llama-3.1")
    ids = both.tokenizer.encode("\U0001f999")
    assert len(ids) > 1
    for renderer in (both.native, both.reference):
        parser = renderer.stream_parser()
        texts = [[delta.text for delta in parser.feed([id_])] for id_ in ids]
        assert texts == [[]] * (len(ids) - 1) + [["\U0001f999"]]
        cut = renderer.stream_parser()
        assert [cut.feed([id_]) for id_ in ids[:-1]] == [[]] * (len(ids) - 1)
        assert [delta.text for delta in cut.end()] == ["\ufffd"]
    both.parse(ids)


@pytest.mark.shared
def test_h27_with_real_ids(shared: Path) -> None:
    both = BothParsers(turnloom.load_tokenizer(shared / "tokenizers/llama3_1"), "llama-3.1")
    parser = both.native.stream_parser()
    deltas = [parser.feed([id_]) for id_ in (9468, 99, 247)]
    assert [len(part) for part in deltas] == [0, 0, 1]
    assert parser.finish().content == "\U0001f999"
    assert both.parse([9468, 99]).content == "\ufffd"


def test_h47_a_bad_call_before_a_good_one(qwen: BothParsers) -> None:
    response = qwen.parse("<think>r</think>C" + call("f", '{"a": True}') + call("g", '{"b": 2}'))
    assert (response.reasoning_content, response.content) == ("r", "C")
    assert statuses(response) == ["invalid_json", "ok"]
    assert response.tool_calls[0].raw == '{"name": "f", "arguments": {"a": True}}'
    assert good_calls(response) == [("g", {"b": 2})]


@pytest.mark.shared
def test_ids_past_the_vocabulary(shared: Path) -> None:
    qwen = BothParsers(turnloom.load_tokenizer(shared / "tokenizers/qwen3"), "qwen3")
    assert qwen.parse([151669, *qwen.ids("Hi"), 151935]).content == "Hi"
