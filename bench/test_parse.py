"""Rows of parsing completions, ours and those of other packages on the same ids.

pytest bench/test_parse.py
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import turnloom
import workloads

CALL = (
    '<tool_call>\n{"name": "search", "arguments": {"query": "weather in Paris tomorrow", "n": 5}}'
    "\n</tool_call>"
)
CALLS = (
    "<think>\nThe user asks for two things, so I look both of them up, one call for each. "
    + "The first is about the weather, the second about the trains; both need a date. " * 5
    + "\n</think>\n\nLet me look that up.\n"
    + CALL
    + "\n"
    + CALL
    + "<|im_end|>"
)
PLAIN = (
    "It is a truth universally acknowledged, that a plain answer is mostly words and little else. " * 120
    + "<|im_end|>"
)


def vocabulary() -> Path | str:
    folder = workloads.SHARED / "tokenizers/qwen3"
    return folder if folder.is_dir() else "builtin"


@pytest.fixture(scope="module")
def ours() -> turnloom.Renderer:
    renderer = turnloom.create_renderer(turnloom.load_tokenizer(vocabulary()), turnloom.Qwen3Config())
    renderer.parse_response([])  # reads the vocabulary
    return renderer


@pytest.fixture(scope="module", params=["turnloom", "renderers", "tml-renderers"])
def parse(request: pytest.FixtureRequest, ours: turnloom.Renderer) -> Callable[[list[int]], Any]:
    if request.param == "turnloom":
        return ours.parse_response
    if vocabulary() == "builtin":
        pytest.skip("no vocabulary of Qwen3")
    if request.param == "renderers":
        renderers = pytest.importorskip("renderers")
        from transformers import PreTrainedTokenizerFast

        path = Path(vocabulary()) / "tokenizer.json"
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(path), name_or_path="Qwen/Qwen3-8B")
        return renderers.create_renderer(tokenizer).parse_response
    qwen3 = pytest.importorskip("tml_renderers.renderers").Qwen3()
    chats = pytest.importorskip("tml_renderers.chat").OpenAIMessage
    _, parser = qwen3.render_for_completion(chats.from_oss_messages([{"role": "user", "content": "Hi"}]))
    return parser.parse_tokens


@pytest.mark.parametrize(("name", "text"), [("calls", CALLS), ("plain", PLAIN)])
def test_whole(
    benchmark: BenchmarkFixture,
    ours: turnloom.Renderer,
    parse: Callable[[list[int]], Any],
    name: str,
    text: str,
) -> None:
    ids = ours.tokenizer.encode(text)
    benchmark.group = f"{name}, {len(ids)} tokens"
    response = benchmark(parse, ids)
    if isinstance(response, turnloom.ParsedResponse):
        assert len(response.tool_calls) == text.count("<tool_call>")


@pytest.mark.parametrize("text", [CALLS, PLAIN], ids=["calls", "plain"])
def test_stream(benchmark: BenchmarkFixture, ours: turnloom.Renderer, text: str) -> None:
    parts = [[id_] for id_ in ours.tokenizer.encode(text)]
    benchmark.group = f"one id at a time, {len(parts)} tokens"

    def run() -> turnloom.ParsedResponse:
        parser = ours.stream_parser()
        for part in parts:
            parser.feed(part)
        return parser.finish()

    assert benchmark(run).content


@pytest.mark.parametrize("threads", [1, 2])
def test_batch(benchmark: BenchmarkFixture, ours: turnloom.Renderer, threads: int) -> None:
    rows = [np.array(ours.tokenizer.encode(text), np.int32) for text in (CALLS, PLAIN)] * 200
    benchmark.group = "batch of 400"
    assert len(benchmark(ours.parse_batch, rows, threads=threads)) == 400
