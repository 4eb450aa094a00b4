"""Parsing, native against reference: whole and cut anywhere, well-formed and not."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vocabularies
from completions import FAMILIES, TOOLS, BothParsers, assert_same, completions, parsers
from oracles import agreed, assert_equal
from turnloom import load_tokenizer

PROMPTS = ["", "<think>\n", "<|im_start|>assistant\n<think>\n", "<|im_end|>\n<|im_start|>assistant\n"]


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=300)
@given(st.data())
def test_completions(family: str, data: st.DataObject) -> None:
    both = parsers(family)
    ids = data.draw(completions(both.tokenizer))
    cuts = data.draw(st.lists(st.integers(0, len(ids)), max_size=4))
    tools = data.draw(st.sampled_from([None, TOOLS]))
    prompt = data.draw(st.sampled_from([None, *PROMPTS]))
    prompt_ids = None if prompt is None else both.ids(prompt)
    both.parse(ids, cuts=cuts, tools=tools, prompt_ids=prompt_ids)


@pytest.mark.parametrize("vocabulary", vocabularies.NAMES)
@settings(max_examples=60)
@given(st.data())
def test_vocabularies(vocabulary: str, data: st.DataObject) -> None:
    both = parsers(data.draw(st.sampled_from(["qwen3", "llama-3.1"])), vocabulary)
    both.parse(data.draw(completions(both.tokenizer)))


def without_tokens(*contents: str) -> BothParsers:
    document = vocabularies.tokenizer_json("builtin")
    kept = [token for token in document["added_tokens"] if token["content"] not in contents]
    # Ids stay as they are only for those before the first that goes.
    tokenizer = load_tokenizer(vocabularies.load(document | {"added_tokens": kept}))
    return BothParsers(tokenizer, "qwen3" if "<think>" in contents else "llama-3.1")


SPELLED = {
    "qwen3": without_tokens("<think>", "</think>", "<tool_call>", "</tool_call>"),
    "llama-3.1": without_tokens("<|python_tag|>"),
}


@pytest.mark.parametrize("family", SPELLED)
@settings(max_examples=200)
@given(st.data())
def test_markers_that_are_text(family: str, data: st.DataObject) -> None:
    both = SPELLED[family]
    ids = data.draw(completions(both.tokenizer))
    assert_same(both.parse(ids), both.parse(ids, cuts=data.draw(st.lists(st.integers(0, len(ids))))))


@settings(max_examples=100)
@given(st.data())
def test_prompts(data: st.DataObject) -> None:
    both = parsers("qwen3")
    prompt_ids = data.draw(completions(both.tokenizer))
    both.parse("r</think>c", prompt_ids=prompt_ids)


@settings(max_examples=40)
@given(st.data())
def test_batch(data: st.DataObject) -> None:
    both = parsers("qwen3")
    rows = data.draw(st.lists(completions(both.tokenizer), max_size=40))
    prompts = [both.ids(data.draw(st.sampled_from(PROMPTS))) for _ in rows]
    expected = [
        both.reference.parse_response(row, prompt_ids=prompt)
        for row, prompt in zip(rows, prompts, strict=True)
    ]
    for threads in (None, 2, 7):
        parsed = both.native.parse_batch(rows, prompts=prompts, threads=threads)
        for response, reference in zip(parsed, expected, strict=True):
            assert_same(response, reference)
    assert both.reference.parse_batch(rows, prompts=prompts) == expected


@pytest.mark.parametrize(
    "kind", [tuple, *(np.dtype(code).type for code in "bBhHiIlLqQ"), lambda ids: np.array(ids, ">i4")]
)
def test_kinds_of_ids(kind: Any) -> None:
    both = parsers("chatml")
    small = [id_ for id_ in both.ids("Hi there") if id_ < 128]
    ids = (
        tuple(small)
        if kind is tuple
        else np.array(small).astype(kind)
        if isinstance(kind, type)
        else kind(small)
    )
    assert both.native.parse_response(ids) == both.native.parse_response(small)
    assert both.native.parse_batch([ids])[0] == both.native.parse_response(small)
    parser = both.native.stream_parser(prompt_ids=ids)
    parser.feed(ids)
    assert parser.finish() == both.native.parse_response(small)


BAD_CALLS: list[dict[str, Any]] = [
    {"token_ids": "text"},
    {"token_ids": [1, -1]},
    {"token_ids": [1, 2**31]},
    {"token_ids": [10**30]},
    {"token_ids": [True]},
    {"token_ids": [1.0]},
    {"token_ids": np.zeros(2)},
    {"token_ids": np.zeros((2, 2), np.int32)},
    {"token_ids": np.arange(4)[::2]},
    {"token_ids": np.array([0, 2**32])},
    {"token_ids": None},
    {"token_ids": [], "prompt_ids": [-5]},
    {"token_ids": [], "prompt_ids": "x"},
    {"token_ids": [], "tools": {}},
    {"token_ids": [], "tools": ["f"]},
]


@pytest.mark.parametrize("call", BAD_CALLS, ids=repr)
def test_errors(call: dict[str, Any]) -> None:
    both = parsers("qwen3")
    with pytest.raises((TypeError, ValueError)):
        agreed(
            lambda: both.native.parse_response(**call),
            lambda: both.reference.parse_response(**call),
            assert_equal,
        )


@pytest.mark.parametrize(
    "call",
    [
        {"completions": "text"},
        {"completions": [[1], [2, -3]]},
        {"completions": [[1], [2]], "prompts": [[1]]},
        {"completions": [[1]], "prompts": [["x"]]},
        {"completions": [[1]], "prompts": 5},
        {"completions": [[1]], "threads": 0},
    ],
    ids=repr,
)
def test_errors_of_a_batch(call: dict[str, Any]) -> None:
    both = parsers("qwen3")
    with pytest.raises((TypeError, ValueError)):
        agreed(
            lambda: both.native.parse_batch(**call), lambda: both.reference.parse_batch(**call), assert_equal
        )


def test_errors_of_a_stream() -> None:
    both = parsers("qwen3")
    for renderer in (both.native, both.reference):
        parser = renderer.stream_parser()
        with pytest.raises(ValueError, match=r"^ids\[1\]: expected a token id from 0 to 2147483647, got -1$"):
            parser.feed([1, -1])
        parser.feed(both.ids("Hi"))
        parser.end()
        with pytest.raises(ValueError, match=r"^ids: the completion was ended$"):
            parser.feed([1])
        assert parser.finish().content == "Hi"
        assert parser.finish().content == "Hi"
