"""`build_training_sample` and `build_trajectory_step`, held against a mask that is built token by token."""

import copy
import pickle
import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
import turnloom
import vocabularies
from chats import HI, assistant, call, system, tool, user
from oracles import Both, agreed, assert_equal, assert_same_array, assert_same_columns, attempt
from test_scale import processor_time
from turnloom import (
    Field,
    RenderedTokens,
    RenderedTrainingSample,
    build_training_sample,
    build_trajectory_step,
)
from turnloom.configs import FamilyConfig, config_from_name

TOKENIZER = vocabularies.tokenizer("builtin")
YO = assistant("Yo")
CHAT = [
    system("S"),
    HI,
    assistant("I look.", tool_calls=[call("f", {"a": 1})]),
    tool("3"),
    assistant("Done", reasoning_content="r"),
]


def both_of(family: str = "qwen3", **fields: Any) -> Both:
    return Both(TOKENIZER, config_from_name(family, **fields))


def is_assistant(message: Any) -> bool:
    return message["role"] == "assistant"


def build(both: Both, messages: Any, **options: Any) -> RenderedTrainingSample:
    """Build with both renderers, which must agree."""

    def assert_same(sample: RenderedTrainingSample, expected: RenderedTrainingSample) -> None:
        assert_equal(sample, expected)
        assert_same_columns(sample.columns, expected.columns)

    return agreed(
        lambda: build_training_sample(both.native, messages, **options),
        lambda: build_training_sample(both.reference, messages, **options),
        assert_same,
    )


def naive_sample(
    both: Both,
    messages: Any,
    *,
    role_to_mask: Callable[[Any], bool] = lambda message: True,
    content_sft_roles: Any = (),
    message_loss_mask: Any = None,
    tools: Any = None,
) -> tuple[list[int], list[bool]]:
    """Decide token by token."""
    rendered = both.native.render(messages, tools=tools)
    mask = []
    for k, index in enumerate(rendered.message_indices):
        trained = False
        if index >= 0:
            if messages[index]["role"] in content_sft_roles:
                trained = rendered.is_content[k]
            else:
                trained = rendered.sampled_mask[k] and bool(role_to_mask(messages[index]))
            if message_loss_mask is not None and not message_loss_mask[index]:
                trained = False
            if messages[index].get("train", True) not in (None, True):
                trained = False
        mask.append(trained)
    return rendered.token_ids, mask


class NoMasks:
    """A renderer that gives what a template alone tells."""

    def __init__(self, renderer: turnloom.Renderer, *, indices: bool = True, sampled: bool = False) -> None:
        self._renderer, self._indices, self._sampled = renderer, indices, sampled

    def render(self, messages: Any, **options: Any) -> RenderedTokens:
        it = self._renderer.render(messages, **options)
        return RenderedTokens(
            token_ids=it.token_ids,
            message_indices=it.message_indices if self._indices else [],
            sampled_mask=it.sampled_mask if self._sampled else [],
            message_roles=it.message_roles,
        )

    def get_stop_token_ids(self) -> list[int]:
        return self._renderer.get_stop_token_ids()


class OpenEnd(NoMasks):
    """A renderer whose final turn has no close."""

    def render(self, messages: Any, **options: Any) -> RenderedTokens:
        it = self._renderer.render(messages, **options)
        n = it.token_ids.index(TOKENIZER.added_tokens["<|im_end|>"], it.message_token_spans()[-1][0])
        return RenderedTokens.from_columns(
            it.columns.rows(0, n), it.message_roles, it.message_tool_names, it.content_markers
        )


class TestSamples:
    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"role_to_mask": is_assistant},
            {"role_to_mask": lambda message: message["role"] == "user"},
            {"content_sft_roles": {"tool"}},
            {"content_sft_roles": ["user", "assistant"], "role_to_mask": lambda message: False},
            {"message_loss_mask": [True, 0, 1, False, False]},
            {"message_loss_mask": np.array([1, 1, 0, 1, 1]), "content_sft_roles": ("system",)},
        ],
    )
    @pytest.mark.parametrize("family", ["chatml", "qwen2.5", "qwen3", "llama-3.1"])
    def test_masks(self, family: str, options: dict[str, Any]) -> None:
        both = both_of(family, on_loss="template")
        sample = build(both, CHAT, **options)
        assert (sample.token_ids, sample.loss_mask) == naive_sample(both, CHAT, **options)

    @given(
        strategies.calls(),
        strategies.configs(),
        st.none() | st.sets(st.sampled_from(["user", "assistant", "tool", "system"])),
        st.none() | st.sets(st.sampled_from(["user", "assistant", "tool", "system"])),
        st.none() | st.lists(st.booleans(), min_size=5, max_size=5),
    )
    def test_generated(
        self,
        call: strategies.Call,
        config: FamilyConfig,
        roles: set[str] | None,
        content_sft_roles: set[str] | None,
        message_loss_mask: list[bool] | None,
    ) -> None:
        both = Both(TOKENIZER, config)
        options: dict[str, Any] = {"tools": call.tools}
        if roles is not None:
            options["role_to_mask"] = lambda message: message["role"] in roles
        if content_sft_roles is not None:
            options["content_sft_roles"] = content_sft_roles
        if message_loss_mask is not None:
            options["message_loss_mask"] = message_loss_mask[: len(call.messages)]
        sample, error = attempt(lambda: build(both, call.messages, **options))
        if error is None:
            assert (sample.token_ids, sample.loss_mask) == naive_sample(both, call.messages, **options)
        else:
            _, expected = attempt(lambda: both.render(call.messages, tools=call.tools))
            assert str(error) == str(expected)

    def test_h32_and_h34_header_and_newline_are_not_trained(self) -> None:
        sample = build(both_of(), [HI, YO])
        trained = [id for id, loss in zip(sample.token_ids, sample.loss_mask, strict=True) if loss]
        assert TOKENIZER.decode(trained) == "<think>\n\n</think>\n\nYo<|im_end|>"
        assert sample.loss_mask[-1] is False
        assert sample.token_ids[-2] == TOKENIZER.added_tokens["<|im_end|>"] and sample.loss_mask[-2] is True

    def test_h35_without_a_sampled_mask_a_role_filter_is_needed(self) -> None:
        renderer = NoMasks(both_of("chatml").native)
        text = "role_to_mask: needed, as the renderer does not tell which tokens are sampled"
        with pytest.raises(ValueError, match=f"^{text}$"):
            build_training_sample(renderer, [HI, YO])
        sample = build_training_sample(renderer, [HI, YO], role_to_mask=is_assistant, ensure_final_stop=True)
        trained = [id for id, loss in zip(sample.token_ids, sample.loss_mask, strict=True) if loss]
        assert TOKENIZER.decode(trained) == "<|im_start|>assistant\nYo<|im_end|>\n"
        with pytest.raises(ValueError, match=r"^content_sft_roles: the renderer does not tell"):
            build_training_sample(renderer, [HI, YO], role_to_mask=is_assistant, content_sft_roles={"user"})
        tokenizer = vocabularies.without_offsets()
        both = Both(tokenizer, config_from_name("qwen3"))
        with pytest.raises(ValueError, match=f"^{text}$"):
            build(both, [HI, YO])

    def test_h35_any_chat_template(self) -> None:
        body = "{{ m.content }}<|im_end|>"
        tags = "{% if m.role == 'user' %}BODY{% else %}{% generation %}BODY{% endgeneration %}{% endif %}"

        def renderer_of(turn: str) -> turnloom.DefaultRenderer:
            template = "{% for m in messages %}<|im_start|>{{ m.role }}\nTURN{{ '\\n' }}{% endfor %}".replace(
                "TURN", turn
            )
            renderer = turnloom.create_renderer(
                TOKENIZER, turnloom.DefaultRendererConfig(chat_template=template)
            )
            assert isinstance(renderer, turnloom.DefaultRenderer)
            return renderer

        with pytest.raises(ValueError, match=r"^role_to_mask: needed"):
            build_training_sample(renderer_of(body), [HI, YO])
        whole = build_training_sample(renderer_of(body), [HI, YO], role_to_mask=is_assistant)
        tagged = build_training_sample(renderer_of(tags.replace("BODY", body)), [HI, YO])
        assert whole.token_ids == tagged.token_ids == both_of("chatml").render_ids([HI, YO])
        trained = [
            [id for id, loss in zip(it.token_ids, it.loss_mask, strict=True) if loss]
            for it in (whole, tagged)
        ]
        texts = [TOKENIZER.decode(ids) for ids in trained]
        assert texts == ["<|im_start|>assistant\nYo<|im_end|>\n", "Yo<|im_end|>"]

    def test_without_message_indices(self) -> None:
        renderer = NoMasks(both_of("chatml").native, indices=False, sampled=True)
        sample = build_training_sample(renderer, [HI, YO], ensure_final_stop=True)
        assert sample.loss_mask == both_of("chatml").render([HI, YO]).sampled_mask
        for messages, options in (
            ([HI, YO], {"role_to_mask": is_assistant}),
            ([HI, YO], {"content_sft_roles": {"user"}}),
            ([HI, YO], {"message_loss_mask": [1, 0]}),
            ([HI, YO | {"train": False}], {}),
        ):
            with pytest.raises(
                ValueError, match=r"^messages: the renderer does not tell which tokens are of which"
            ):
                build_training_sample(renderer, messages, **options)

    def test_a_role_filter_is_asked_only_where_it_counts(self) -> None:
        asked = []

        def role_to_mask(message: Any) -> bool:
            asked.append(message)
            return {"assistant": True}[message["role"]]

        build_training_sample(both_of().native, CHAT, role_to_mask=role_to_mask)
        assert asked == [CHAT[2], CHAT[4]]

    def test_train_on_a_message(self) -> None:
        both = both_of()
        chat = [HI, assistant("a", train=False), user("2"), assistant("b", train=1)]
        sample = build(both, chat, content_sft_roles={"assistant"})
        assert sample == build(both, chat, message_loss_mask=[1, 0, 1, 1])
        trained = [id for id, loss in zip(sample.token_ids, sample.loss_mask, strict=True) if loss]
        assert TOKENIZER.decode(trained) == "<think>\n\n</think>\n\nb<|im_end|>"


class TestFinalStop:
    @pytest.mark.parametrize("family", ["chatml", "qwen3", "llama-3"])
    def test_turns_with_a_close_stay(self, family: str) -> None:
        both = both_of(family)
        assert build(both, [HI, YO], ensure_final_stop=True) == build(both, [HI, YO])
        assert build(both, [YO, HI], ensure_final_stop=True) == build(both, [YO, HI])

    def test_a_turn_without_one_gets_one(self) -> None:
        renderer = OpenEnd(both_of("chatml").native)
        close = TOKENIZER.added_tokens["<|im_end|>"]
        plain = build_training_sample(renderer, [HI, YO])
        closed = build_training_sample(renderer, [HI, YO], ensure_final_stop=True)
        assert closed.token_ids == [*plain.token_ids, close]
        assert closed.loss_mask == [*plain.loss_mask, True]
        columns = closed.columns
        assert len({len(column) for column in (columns.token_ids, columns.fields, columns.is_content)}) == 1
        assert (columns.message_indices[-1], columns.fields[-1]) == (1, Field.TURN_CLOSE)
        # It follows the choice of its message.
        left_out = build_training_sample(renderer, [HI, YO], ensure_final_stop=True, message_loss_mask=[1, 0])
        assert left_out.token_ids == closed.token_ids and not any(left_out.loss_mask)
        nobody = build_training_sample(
            renderer, [HI, YO], ensure_final_stop=True, role_to_mask=lambda message: False
        )
        assert nobody.token_ids == plain.token_ids


class TestSampleType:
    def test_lists_and_arrays(self) -> None:
        sample = build(both_of(), CHAT)
        columns = sample.columns
        assert_same_array(columns.loss_mask, columns.loss_mask)
        assert sample.token_ids == columns.token_ids.tolist() and sample.token_ids is sample.token_ids
        assert sample.loss_mask == columns.loss_mask.tolist()
        assert (sample.multi_modal_data, sample.mm_token_type_ids) == (None, None)
        with pytest.raises(FrozenInstanceError):
            sample.token_ids = []
        with pytest.raises(AttributeError):
            _ = sample.ids

    def test_it_is_a_value(self) -> None:
        sample = build(both_of(), [HI, YO])
        same = RenderedTrainingSample(sample.token_ids, sample.loss_mask)
        assert same == sample and repr(same) == repr(sample)
        assert same != RenderedTrainingSample(sample.token_ids, [False] * len(sample.token_ids))
        assert same.columns.loss_mask.tolist() == sample.loss_mask
        for twin in (copy.copy(sample), copy.deepcopy(sample), pickle.loads(pickle.dumps(sample))):
            assert twin == sample

    @pytest.mark.parametrize(
        ("options", "error", "text"),
        [
            ({"message_loss_mask": [True]}, ValueError, "message_loss_mask: 1 entries for 2 messages"),
            ({"message_loss_mask": [1, 2]}, ValueError, "message_loss_mask[1]: expected bool, 0 or 1, got 2"),
            (
                {"message_loss_mask": [1.0, 1]},
                ValueError,
                "message_loss_mask[0]: expected bool, 0 or 1, got 1.0",
            ),
            (
                {"message_loss_mask": ["1", 1]},
                ValueError,
                "message_loss_mask[0]: expected bool, 0 or 1, got '1'",
            ),
            ({"message_loss_mask": 1}, TypeError, "message_loss_mask: expected a list, got int"),
            ({"message_loss_mask": {0: 1, 1: 1}}, TypeError, "message_loss_mask: expected a list, got dict"),
            (
                {"content_sft_roles": "tool"},
                TypeError,
                "content_sft_roles: expected a collection of roles, got str",
            ),
        ],
    )
    def test_wrong_arguments(self, options: dict[str, Any], error: type[Exception], text: str) -> None:
        with pytest.raises(error, match=f"^{re.escape(text)}$"):
            build(both_of(), [HI, YO], **options)


class TestTrajectorySteps:
    @pytest.mark.parametrize("family", ["chatml", "qwen2.5", "qwen3", "llama-3"])
    def test_prompt_and_completion_are_the_whole(self, family: str) -> None:
        both = both_of(family)
        step = agreed(
            lambda: build_trajectory_step(both.native, [HI], [YO, user("2")]),
            lambda: build_trajectory_step(both.reference, [HI], [YO, user("2")]),
            assert_equal,
        )
        assert step["prompt_ids"] + step["completion_ids"] == both.native.render_ids([HI, YO, user("2")])
        n = len(step["completion_ids"])
        assert step["prompt_ids"] == both.native.render_ids([HI], add_generation_prompt=True)
        assert step["prompt_mask"] == [False] * len(step["prompt_ids"])
        assert step["completion_mask"] == [True] * n and step["completion_logprobs"] == [0.0] * n
        assert list(step) == [
            *("prompt_ids", "prompt_mask", "completion_ids", "completion_mask", "completion_logprobs"),
            *("routed_experts", "sampling_mask"),
        ]
        assert step["routed_experts"] is step["sampling_mask"] is None

    def test_no_completion(self) -> None:
        both = both_of()
        step = build_trajectory_step(both.native, [HI], [])
        assert step["prompt_ids"] == both.native.render_ids([HI]) and step["completion_ids"] == []

    def test_a_prompt_that_reads_on_differently(self) -> None:
        # With thinking off the generation prompt has a think block that a later turn has not.
        both = both_of(enable_thinking=False)
        step = build_trajectory_step(both.native, [HI], [assistant("Yo"), user("2")])
        assert step["prompt_ids"] + step["completion_ids"] == both.native.render_ids([HI, YO, user("2")])
        assert len(step["prompt_ids"]) < len(both.native.render_ids([HI], add_generation_prompt=True))

    def test_wrong_messages(self) -> None:
        renderer = both_of().native
        with pytest.raises(TypeError, match=r"^prompt_messages: expected a list of messages, got dict$"):
            build_trajectory_step(renderer, HI, [YO])
        with pytest.raises(TypeError, match=r"^completion_messages: expected a list of messages, got str$"):
            build_trajectory_step(renderer, [HI], "Yo")
        with pytest.raises(ValueError, match=r"^messages: no messages$"):
            build_trajectory_step(renderer, [], [YO])


def turns(n: int) -> list[Any]:
    return [message for i in range(n // 2) for message in (user(f"Question {i}?"), assistant(f"Answer {i}."))]


def test_h46_the_mask_of_a_thousand_turns() -> None:
    renderer = both_of("chatml").native
    chat = turns(1000)
    sample = build_training_sample(renderer, chat)
    # The naive way renders every prefix; what a turn adds behind its header, up to its close, is trained.
    expected = [False] * len(sample.token_ids)
    for i in range(1, len(chat), 2):
        begin = len(renderer.render_ids(chat[:i], add_generation_prompt=True))
        end = len(renderer.render_ids(chat[: i + 1])) - 1
        expected[begin:end] = [True] * (end - begin)
    assert sample.loss_mask == expected


def test_h46_cost_grows_with_the_turns() -> None:
    renderer = both_of("chatml").native

    def cost(n: int) -> float:
        chat = turns(n)
        return processor_time(
            lambda: build_training_sample(
                renderer, chat, role_to_mask=is_assistant, content_sft_roles={"user"}
            )
        )

    # Eight times the turns: about 8 where cost is linear, 64 where it is quadratic.
    assert cost(16_000) < 28 * cost(2_000) + 0.05
