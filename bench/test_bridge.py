"""From turn to turn: the bridge, beside that of the `renderers` package; a session's turn.

pytest bench/test_bridge.py --benchmark-timer=time.process_time

Every call has new messages of its own, of text that was not seen before. Arrays are arrays in and `.columns`
out; lists are lists of ids in, and `token_ids` and the other lists out.
"""

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import turnloom
import workloads
from test_render import in_turn
from test_training import QWEN3

SIDES = ("turnloom, arrays", "turnloom, lists", "renderers, lists")
SIZES = {"+83 ids on 1,100": (1_100, 60), "+1,000 ids on 36,000": (36_000, 980)}
N_ROUNDS = 200
Messages = list[dict[str, Any]]
Bridge = Callable[[Messages], Any]


@pytest.fixture(scope="module")
def tokenizer() -> turnloom.Tokenizer:
    return turnloom.load_tokenizer(QWEN3 if QWEN3.is_file() else "builtin")


@pytest.fixture(scope="module")
def renderer(tokenizer: turnloom.Tokenizer) -> turnloom.Renderer:
    # As renderers does: markers in a text are tokens.
    return turnloom.create_renderer(tokenizer, turnloom.Qwen3Config(marker_policy="all"))


@pytest.fixture(scope="module")
def text(tokenizer: turnloom.Tokenizer) -> np.ndarray:
    """Ids of rollouts one behind the other."""
    return np.concatenate([tokenizer.encode_array(text) for text in workloads.texts("rollouts")[:200]])


def results(tokenizer: turnloom.Tokenizer, text: np.ndarray, n_ids: int, n: int) -> list[Messages]:
    """Give new tool results of some length."""
    pieces = (text[begin : begin + n_ids] for begin in range(0, len(text) - n_ids, n_ids))
    return [[{"role": "tool", "content": tokenizer.decode(piece)}] for piece in islice(pieces, n)]


def completion_of(tokenizer: turnloom.Tokenizer) -> list[int]:
    call = '<tool_call>\n{"name": "read_file", "arguments": {"path": "src/main.py"}}\n</tool_call>'
    return tokenizer.encode("<think>\nI have to look at the file first.\n</think>\n\n" + call + "<|im_end|>")


def bridge_of(side: str, renderer: turnloom.Renderer, prompt: list[int], completion: list[int]) -> Bridge:
    """Give the call that one side goes on with."""
    arrays = np.array(prompt, np.int32), np.array(completion, np.int32)

    def with_arrays(messages: Messages) -> Any:
        bridged = renderer.bridge_to_next_turn(*arrays, messages)
        assert bridged is not None
        return bridged.columns

    def with_lists(messages: Messages) -> Any:
        bridged = renderer.bridge_to_next_turn(prompt, completion, messages)
        assert bridged is not None
        return bridged.token_ids, bridged.message_indices, bridged.sampled_mask, bridged.is_content

    if not side.startswith("renderers"):
        return with_arrays if side.endswith("arrays") else with_lists
    if not QWEN3.is_file():
        pytest.skip("no vocabulary of Qwen3")
    peer = pytest.importorskip("renderers")
    from transformers import PreTrainedTokenizerFast

    peer_tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(QWEN3), name_or_path="Qwen/Qwen3-8B")
    peer_renderer = peer.create_renderer(peer_tokenizer)

    def by_peer(messages: Messages) -> Any:
        bridged = peer_renderer.bridge_to_next_turn(prompt, completion, messages)
        return bridged.token_ids, bridged.message_indices, bridged.sampled_mask, bridged.is_content

    return by_peer


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("side", SIDES)
def test_bridge(
    benchmark: BenchmarkFixture,
    tokenizer: turnloom.Tokenizer,
    renderer: turnloom.Renderer,
    text: np.ndarray,
    side: str,
    size: str,
) -> None:
    n_prompt, n_new = SIZES[size]
    user = {"role": "user", "content": tokenizer.decode(text[-n_prompt:])}
    prompt = renderer.render_ids([user], add_generation_prompt=True)
    completion = completion_of(tokenizer)
    messages = results(tokenizer, text, n_new, N_ROUNDS)
    bridge = bridge_of(side, renderer, prompt, completion)
    expected = bridge_of("turnloom, lists", renderer, prompt, completion)
    bridged = []
    benchmark.group = size
    benchmark.pedantic(lambda new: bridged.append(bridge(new)), setup=in_turn(messages), rounds=len(messages))
    for new, result in zip(messages[:20], bridged, strict=False):
        ids = result.token_ids if side.endswith("arrays") else result[0]
        assert list(ids) == expected(new)[0]


@pytest.mark.parametrize("n_history", [1_000, 1_000_000])
def test_session_turn(
    benchmark: BenchmarkFixture,
    tokenizer: turnloom.Tokenizer,
    renderer: turnloom.Renderer,
    text: np.ndarray,
    n_history: int,
) -> None:
    history = np.tile(text, n_history // len(text) + 1)[:n_history]
    session = renderer.session([{"role": "user", "content": tokenizer.decode(history)}])
    completion = np.array(completion_of(tokenizer), np.int32)
    logprobs = np.full(len(completion), -0.5, np.float32)

    def turn(messages: Messages) -> None:
        session.add_completion(completion, logprobs)
        assert session.add_messages(messages)
        assert len(session.prompt_ids()) == len(session.columns)

    turns = results(tokenizer, text, 60, 400)
    for messages in turns[:20]:
        turn(messages)
    benchmark.group = "turn of a session, by the ids of its history"
    benchmark.pedantic(turn, setup=in_turn(turns[20:]), rounds=len(turns) - 20)
