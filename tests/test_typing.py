"""Types of the public calls: mypy checks the `assert_type` lines; a run only checks that the calls work."""

from collections.abc import Mapping
from typing import Literal, assert_type

import numpy as np
import numpy.typing as npt

import turnloom
from turnloom import (
    ChatMLConfig,
    ContentMarker,
    FamilyDescription,
    Field,
    KnownFamily,
    LossRule,
    PackedBatch,
    Qwen3Config,
    RaggedIds,
    RenderedTokens,
    RenderedTrainingSample,
    Renderer,
    TokenBatch,
    TokenColumns,
    Tokenizer,
    TrajectoryStep,
    build_training_sample,
    build_trajectory_step,
)
from turnloom.types import Message, ToolSpec

MESSAGES: list[Message] = [
    {"role": "user", "content": [{"type": "text", "text": "Hi"}, "!"]},
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "hm",
        "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": {"a": [1, None]}}}],
    },
    {"role": "tool", "content": "ok", "tool_call_id": "c1"},
]
TOOLS: list[ToolSpec] = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]


def test_tokenizer() -> None:
    tok = assert_type(turnloom.load_tokenizer("builtin"), Tokenizer)
    ids = assert_type(tok.encode("Hi", special="none"), list[int])
    assert_type(tok.encode_array("Hi"), npt.NDArray[np.int32])
    batch = assert_type(tok.encode_batch(["Hi"], threads=1), RaggedIds)
    assert_type(batch[0], npt.NDArray[np.int32])
    assert_type(batch.offsets, npt.NDArray[np.int64])
    assert_type(tok.decode(ids), str)
    assert_type(tok.decode_bytes(ids), bytes)
    assert_type(tok.decode_batch(batch), list[str])
    assert_type(tok.token_to_id("Hi"), int | None)
    assert_type(tok.id_to_token(1), str | None)
    assert_type(tok.special_ids, frozenset[int])
    assert_type(tok.chat_template, str | dict[str, str] | None)
    assert_type(tok.special_tokens, Mapping[str, str])


def test_renderer() -> None:
    tok = turnloom.load_tokenizer("builtin")
    renderer = assert_type(turnloom.create_renderer(tok, Qwen3Config()), Renderer)
    assert_type(renderer.render_text(MESSAGES, tools=TOOLS), str)
    assert_type(renderer.render_ids(MESSAGES, tools=None, add_generation_prompt=True), list[int])
    assert_type(renderer.get_stop_token_ids(), list[int])
    # Plain dicts, as they come from JSON.
    plain: list[dict[str, object]] = [{"role": "user", "content": "Hi"}]
    assert_type(renderer.render_ids(plain, tools=[{"name": "f"}]), list[int])
    assert_type(renderer.render_text(tuple(plain)), str)


def test_rendered() -> None:
    renderer = turnloom.create_renderer(turnloom.load_tokenizer("builtin"), ChatMLConfig(default_system="S"))
    rendered = assert_type(renderer.render(MESSAGES[:1], byte_offsets=True), RenderedTokens)
    assert_type(rendered.token_ids, list[int])
    assert_type(rendered.sampled_mask, list[bool])
    assert_type(rendered.message_roles, list[str])
    assert_type(rendered.message_tool_names, list[str | None])
    assert_type(rendered.neutralised_markers, list[ContentMarker])
    assert_type(rendered.message_token_spans(), list[tuple[int, int] | None])
    assert_type(rendered.tokens_by_role(), dict[str, int])
    columns = assert_type(rendered.columns, TokenColumns)
    assert_type(columns.token_ids, npt.NDArray[np.int32])
    assert_type(columns.fields, npt.NDArray[np.uint8])
    assert_type(columns.loss_mask, npt.NDArray[np.bool_])
    assert_type(columns.byte_offsets, npt.NDArray[np.int64] | None)
    assert_type(Field(int(columns.fields[0])), Field)


def test_batch() -> None:
    renderer = turnloom.create_renderer(turnloom.load_tokenizer("builtin"), Qwen3Config())
    batch = assert_type(
        renderer.render_batch([MESSAGES], tools_per_row=[TOOLS], threads=2, on_error="collect"), TokenBatch
    )
    assert_type(batch[0], TokenColumns)
    assert_type(batch.errors, list[tuple[int, Exception]])
    assert_type([len(row) for row in batch], list[int])


def test_training() -> None:
    renderer = turnloom.create_renderer(turnloom.load_tokenizer("builtin"), Qwen3Config())
    rule = assert_type(LossRule(turns=[1], content_roles={"tool"}, reasoning=False), LossRule)
    assert_type(renderer.render(MESSAGES, loss=rule), RenderedTokens)
    batch = renderer.render_batch([MESSAGES, MESSAGES], loss=[rule, None])
    assert_type(batch.untrained_rows, npt.NDArray[np.int64])
    cut = assert_type(batch.truncate(99, side="left"), TokenBatch)
    packed = assert_type(cut.pack(128, pad_id=0), PackedBatch)
    assert_type(packed.segment_ids, npt.NDArray[np.int32])
    assert_type(packed.place_of(0), tuple[int, slice] | None)
    assert_type(packed.rows_of(0), npt.NDArray[np.int64])
    sample = assert_type(
        build_training_sample(
            renderer, MESSAGES, role_to_mask=lambda message: True, message_loss_mask=[1, True, 0]
        ),
        RenderedTrainingSample,
    )
    assert_type(sample.loss_mask, list[bool])
    assert_type(sample.columns, TokenColumns)
    step = assert_type(build_trajectory_step(renderer, MESSAGES[:1], MESSAGES[1:]), TrajectoryStep)
    assert_type(step["completion_logprobs"], list[float])


def test_config() -> None:
    config = Qwen3Config(enable_thinking=False, marker_policy="all")
    assert_type(config.enable_thinking, bool)
    assert_type(config.name, Literal["qwen3"])
    assert_type(config.on_loss, Literal["raise", "template"])
    assert_type(turnloom.template_field_names(config), frozenset[str])


def test_families() -> None:
    description = assert_type(turnloom.describe(turnloom.load_tokenizer("builtin")), FamilyDescription)
    assert_type(description.family, str | None)
    assert_type(description.found_by, Literal["template", "name", "nothing"])
    assert_type(description.abilities, tuple[str, ...])
    assert_type(turnloom.known_families(), list[KnownFamily])
    assert_type(turnloom.MODEL_RENDERER_MAP, Mapping[str, str])
