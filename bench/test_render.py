"""Rows of rendering, for comparing one state of the code with another.

pytest bench --benchmark-save=before; pytest bench --benchmark-compare
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import turnloom
import workloads

Item = TypeVar("Item")
FAMILIES = {"qwen3": "qwen3", "llama-3.2": "llama3_1"}
SHORT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello! What can I do for you?"}]


@pytest.fixture(scope="module", params=FAMILIES)
def renderer(request: pytest.FixtureRequest) -> turnloom.Renderer:
    folder = workloads.SHARED / "tokenizers" / FAMILIES[request.param]
    tokenizer = turnloom.load_tokenizer(folder if folder.is_dir() else "builtin")
    if tokenizer.token_to_id("<|eom_id|>" if request.param == "llama-3.2" else "<|im_end|>") is None:
        pytest.skip(f"no vocabulary for {request.param}")
    return turnloom.create_renderer(tokenizer, turnloom.config_from_name(request.param))


def in_turn(items: Sequence[Item]) -> Callable[[], tuple[tuple[Item], dict[str, Any]]]:
    """Give the next item to each round, so that a row is not about one text."""
    endless: Iterator[Item] = itertools.cycle(items)
    return lambda: ((next(endless),), {})


def measure(benchmark: BenchmarkFixture, call: Callable[[Item], object], items: Sequence[Item]) -> None:
    benchmark.pedantic(call, setup=in_turn(items), rounds=max(20, len(items)), warmup_rounds=len(items))


@pytest.mark.benchmark(group="short")
def test_short(benchmark: BenchmarkFixture, renderer: turnloom.Renderer) -> None:
    rendered = benchmark(renderer.render, SHORT)
    assert len(rendered.columns.token_ids) > 10


@pytest.mark.benchmark(group="typical")
def test_typical(benchmark: BenchmarkFixture, renderer: turnloom.Renderer) -> None:
    measure(benchmark, renderer.render, workloads.conversations("typical")[:40])


@pytest.mark.benchmark(group="long")
def test_long(benchmark: BenchmarkFixture, renderer: turnloom.Renderer) -> None:
    measure(benchmark, renderer.render, workloads.conversations("long")[:8])


@pytest.mark.benchmark(group="tools")
def test_tools(benchmark: BenchmarkFixture, renderer: turnloom.Renderer) -> None:
    rows = [row for row in workloads.tool_conversations() if not refuses(renderer, *row)]
    measure(benchmark, lambda row: renderer.render(row[0], tools=row[1]), rows)


def refuses(renderer: turnloom.Renderer, chat: list[Any], tools: list[Any]) -> bool:
    """Tell whether the family has no form for a conversation, such as several calls in a message."""
    try:
        renderer.render_text(chat, tools=tools)
    except turnloom.RenderError:
        return True
    return False


@pytest.mark.benchmark(group="batch")
def test_batch(benchmark: BenchmarkFixture, renderer: turnloom.Renderer) -> None:
    chats = workloads.conversations("chats")[:200]
    batch = benchmark(renderer.render_batch, chats)
    assert len(batch) == len(chats)
