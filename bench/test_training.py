"""Rows of training data: samples, beside those of the `renderers` package; a batch masked, cut and packed.

pytest bench/test_training.py --benchmark-timer=time.process_time

Samples are of rollouts of some 36,000 tokens, each given once: new text to caches that other rollouts have
warmed. Lists are `token_ids` and `loss_mask`; arrays are the same in `columns`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import turnloom
import workloads
from test_render import in_turn

QWEN3 = workloads.SHARED / "tokenizers" / "qwen3" / "tokenizer.json"
SIDES = ("turnloom, arrays", "turnloom, lists", "renderers, lists")
Sample = tuple[Any, Any]


def make_renderer() -> turnloom.Renderer:
    tokenizer = turnloom.load_tokenizer(QWEN3 if QWEN3.is_file() else "builtin")
    # As renderers does: markers in a text are tokens.
    return turnloom.create_renderer(tokenizer, turnloom.Qwen3Config(marker_policy="all"))


@pytest.fixture(scope="module")
def renderer() -> turnloom.Renderer:
    return make_renderer()


def build_of(side: str, renderer: turnloom.Renderer) -> Callable[[Any], Sample]:
    """Give the call that one side makes a sample with."""

    def with_lists(chat: Any) -> Sample:
        sample = turnloom.build_training_sample(renderer, chat)
        return sample.token_ids, sample.loss_mask

    def with_arrays(chat: Any) -> Sample:
        columns = turnloom.build_training_sample(renderer, chat).columns
        return columns.token_ids, columns.loss_mask

    if not side.startswith("renderers"):
        return with_arrays if side.endswith("arrays") else with_lists
    if not QWEN3.is_file():
        pytest.skip("no vocabulary of Qwen3")
    peer = pytest.importorskip("renderers")
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(QWEN3), name_or_path="Qwen/Qwen3-8B")
    peer_renderer = peer.create_renderer(tokenizer)

    def by_peer(chat: Any) -> Sample:
        sample = peer.build_training_sample(peer_renderer, chat)
        return sample.token_ids, sample.loss_mask

    return by_peer


@pytest.mark.parametrize("side", SIDES)
def test_sample(benchmark: BenchmarkFixture, renderer: turnloom.Renderer, side: str) -> None:
    build = build_of(side, make_renderer())
    chats = workloads.conversations("long")
    samples = [build(chat) for chat in chats[:4]]
    benchmark.group = "a sample of some 36,000 tokens"
    fresh = chats[4:]
    benchmark.pedantic(lambda chat: samples.append(build(chat)), setup=in_turn(fresh), rounds=len(fresh))
    expected = build_of("turnloom, lists", renderer)
    for chat, sample in zip(chats, samples, strict=True):
        assert [list(values) for values in sample] == list(expected(chat))


@pytest.fixture(scope="module")
def chats() -> list[workloads.Conversation]:
    return workloads.conversations("chats")[:400]


@pytest.mark.parametrize(
    "rule", [None, turnloom.LossRule(turns="last", reasoning=False)], ids=["all", "last"]
)
def test_batch_with_a_rule(
    benchmark: BenchmarkFixture,
    renderer: turnloom.Renderer,
    chats: list[workloads.Conversation],
    rule: turnloom.LossRule | None,
) -> None:
    benchmark.group = "batch of 400 chats"
    assert len(benchmark(renderer.render_batch, chats, loss=rule)) == 400


@pytest.fixture(scope="module")
def batch(renderer: turnloom.Renderer, chats: list[workloads.Conversation]) -> turnloom.TokenBatch:
    return renderer.render_batch(chats * 10)


@pytest.mark.parametrize("side", ["right", "left", "drop"])
def test_truncate(benchmark: BenchmarkFixture, batch: turnloom.TokenBatch, side: Any) -> None:
    benchmark.group = f"truncate {len(batch)} rows of {len(batch.columns):,} tokens"
    length = int(np.median(np.diff(batch.offsets)))
    assert len(benchmark(batch.truncate, length, side=side)) == len(batch)


@pytest.mark.parametrize("length", [2048, 32768])
def test_pack(benchmark: BenchmarkFixture, batch: turnloom.TokenBatch, length: int) -> None:
    benchmark.group = f"pack {len(batch)} rows of {len(batch.columns):,} tokens"
    cut = batch.truncate(length)
    packed = benchmark(cut.pack, length)
    assert (packed.segment_ids > 0).sum() == len(cut.columns)


def test_untrained_rows(benchmark: BenchmarkFixture, batch: turnloom.TokenBatch) -> None:
    benchmark.group = f"untrained rows of {len(batch.columns):,} tokens"
    assert len(benchmark(lambda: batch.untrained_rows)) < len(batch)
