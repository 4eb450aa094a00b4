"""Tests of a user of the `renderers` package, as test_migration: results, configs, helpers, parsers."""

from typing import Any

import pydantic
import pytest

import turnloom as renderers
from turnloom import (
    introduces_user_query,
    resolve_thinking_retention,
    should_rerender_for_thinking_retention,
)
from turnloom.parsers import REASONING_PARSERS, TOOL_PARSERS, get_reasoning_parser, get_tool_parser
from user_tokenizer import BUILTIN, UserTokenizer

TOKENIZER = UserTokenizer(BUILTIN, "Qwen/Qwen3-8B", "<|im_end|>")
USER, TOOL = {"role": "user", "content": "Hi"}, {"role": "tool", "content": "blue"}


class TestResults:
    def test_tokens_from_lists(self) -> None:
        rendered = renderers.RenderedTokens(
            token_ids=[1, 2, 3, 4, 5],
            message_indices=[0, 0, 1, 1, -1],
            sampled_mask=[False, False, True, True, False],
            is_content=[False, True, True, True, False],
            message_roles=["user", "assistant", "tool"],
        )
        assert rendered.tokens_per_message() == [2, 2, 0]
        assert rendered.tokens_per_message(9, sampled_only=True) == [0, 2, 0]
        assert rendered.message_token_spans() == [(0, 2), (2, 4), None]
        assert rendered.role_token_spans() == {"user": [(0, 2)], "assistant": [(2, 4)], "tool": []}
        assert rendered.tokens_by_role() == {"user": 2, "assistant": 2, "tool": 0}
        assert rendered.content_token_spans_by_role() == {"user": [(1, 2)], "assistant": [(2, 4)], "tool": []}
        assert rendered.content_mask_for_roles({"user"}) == [False, True, False, False, False]
        assert renderers.RenderedTokens() == renderers.RenderedTokens(token_ids=[])

    def test_what_is_not_available_is_empty(self) -> None:
        rendered = renderers.RenderedTokens(token_ids=[1, 2], message_indices=[0, 0], message_roles=["user"])
        assert rendered.tokens_per_message(sampled_only=True) == [0]
        assert rendered.content_token_spans_by_role() == {}
        assert rendered.content_mask_for_roles({"user"}) == [False, False]

    def test_a_conversation(self) -> None:
        conversation = renderers.RenderedConversation(prompt_ids=[1, 2], messages=[USER])
        assert (conversation.completion_ids, conversation.parsed_completion) == ([], None)
        parsed = renderers.ParsedResponse(content="Yo")
        sampled = [3, 4]
        complete = conversation.with_completion(
            sampled, completion_logprobs=[-0.5, -0.1], parsed_completion=parsed
        )
        sampled.append(5)
        assert complete.token_ids == [1, 2, 3, 4]
        assert complete.completion_logprobs == [-0.5, -0.1]
        assert (complete.messages, complete.parsed_completion) == ([USER], parsed)
        assert complete.prompt_ids is not conversation.prompt_ids
        assert complete != conversation
        assert conversation.token_ids == [1, 2]
        assert complete.with_completion([9]).completion_logprobs == []

    def test_parsed(self) -> None:
        call = renderers.ParsedToolCall(raw="{}", name="look", arguments={}, token_span=(0, 3))
        assert (call.status, str(call.status)) == (renderers.ToolCallParseStatus.OK, "ok")
        assert call.id is None
        response = renderers.ParsedResponse("Yo", tool_calls=[call])
        assert (response.reasoning_content, response.reasoning_complete) == (None, True)
        assert {status.value for status in renderers.ToolCallParseStatus} == {
            "ok",
            "invalid_json",
            "unclosed_block",
            "missing_name",
            "malformed_structure",
            "unknown_tool",
        }


class TestConfigs:
    def test_frozen_and_closed(self) -> None:
        config = renderers.Qwen3RendererConfig()
        with pytest.raises(pydantic.ValidationError):
            config.enable_thinking = False
        with pytest.raises(pydantic.ValidationError):
            renderers.Qwen3RendererConfig(preserve_thinking=True)  # type: ignore[call-arg]
        assert config == renderers.Qwen3RendererConfig(enable_thinking=True)
        assert len({config, renderers.Qwen3RendererConfig()}) == 1

    def test_union(self) -> None:
        class Run(pydantic.BaseModel):
            renderer: renderers.RendererConfig

        run = Run.model_validate({"renderer": {"name": "qwen3", "enable_thinking": False}})
        assert run.renderer == renderers.Qwen3RendererConfig(enable_thinking=False)
        run = Run.model_validate({"renderer": {"name": "auto"}})
        assert isinstance(run.renderer, renderers.AutoRendererConfig)
        run = Run.model_validate({"renderer": {"name": "default", "tool_parser": "qwen3", "persona": "x"}})
        assert run.renderer.model_extra == {"persona": "x"}
        with pytest.raises(pydantic.ValidationError):
            Run.model_validate({"renderer": {"name": "qwen3", "date_string": "x"}})

    def test_every_config_has_a_base(self) -> None:
        for config in (
            renderers.AutoRendererConfig(),
            renderers.DefaultRendererConfig(),
            renderers.Qwen3RendererConfig(),
            renderers.Llama3RendererConfig(),
        ):
            assert isinstance(config, renderers.BaseRendererConfig)
            assert config.thinking_retention is None

    def test_by_name(self) -> None:
        assert renderers.config_from_name("auto") is None
        assert renderers.config_from_name("qwen3") == renderers.Qwen3RendererConfig()
        assert renderers.config_from_name("default") == renderers.DefaultRendererConfig()

    def test_variables_of_the_template(self) -> None:
        assert renderers.template_field_names(renderers.Qwen3RendererConfig()) == {"enable_thinking"}
        assert renderers.Qwen3RendererConfig.template_field_names() == {"enable_thinking"}
        names = renderers.template_field_names(renderers.Llama3RendererConfig())
        assert names == {"date_string", "tools_in_user_message"}
        assert renderers.AutoRendererConfig.template_field_names() == frozenset()

    def test_merge(self) -> None:
        config = renderers.Qwen3RendererConfig(thinking_retention="all")
        assert renderers.merge_chat_template_kwargs(config, None) == config
        assert renderers.merge_chat_template_kwargs(config, {}) == config
        merged = renderers.merge_chat_template_kwargs(config, chat_template_kwargs={"enable_thinking": False})
        assert (merged.enable_thinking, merged.thinking_retention) == (False, "all")
        for name in ("thinking_retention", "add_vision_id"):
            with pytest.raises(ValueError, match=name):
                renderers.merge_chat_template_kwargs(config, {name: "all"})
        with pytest.raises(TypeError):
            renderers.merge_chat_template_kwargs(config, "enable_thinking")  # type: ignore[arg-type]
        default = renderers.merge_chat_template_kwargs(renderers.DefaultRendererConfig(), {"persona": "x"})
        assert default.model_extra == {"persona": "x"}


class TestHelpers:
    def test_trim_to_turn_close(self) -> None:
        assert renderers.trim_to_turn_close([1, 9], [2, 9, 3, 8, 4], {8, 9}) == [1, 9, 2, 9, 3, 8]
        assert renderers.trim_to_turn_close([1, 9], [2, 3], {9}) is None
        assert renderers.trim_to_turn_close([1, 9], [2, 3], {9}, synthesize_close=9) == [1, 9, 2, 3, 9]
        assert renderers.trim_to_turn_close([1], [], {9}) is None

    @pytest.mark.parametrize("overlap", [True, False])
    def test_attribute_text_segments(self, overlap: bool) -> None:
        segments = [("user\n", False), ("Hello", True), ("", True), (" there", False)]
        pairs = renderers.attribute_text_segments(TOKENIZER, segments, overlap_is_content=overlap)
        assert [id_ for id_, _ in pairs] == TOKENIZER.encode("user\nHello there")
        assert TOKENIZER.decode([id_ for id_, is_content in pairs if is_content]) == "Hello"
        assert pairs.has_content_attribution
        assert renderers.attribute_text_segments(TOKENIZER, []) == []

    def test_a_token_of_two_segments(self) -> None:
        token = TOKENIZER.encode(" the")
        assert len(token) == 1
        for segments, first, overlapping in (
            ([(" t", True), ("he", False)], True, True),
            ([(" t", False), ("he", True)], False, True),
        ):
            for overlap, expected in ((False, first), (True, overlapping)):
                pairs = renderers.attribute_text_segments(TOKENIZER, segments, overlap_is_content=overlap)
                assert pairs == [(token[0], expected)]

    def test_a_tokenizer_without_offsets(self) -> None:
        class Plain:
            name_or_path, unk_token_id, eos_token_id = "", None, None
            encode, decode = TOKENIZER.encode, TOKENIZER.decode
            convert_tokens_to_ids = TOKENIZER.convert_tokens_to_ids

        pairs = renderers.attribute_text_segments(Plain(), [("user\n", False), ("Hello", True)])
        assert [id_ for id_, _ in pairs] == TOKENIZER.encode("user\nHello")
        assert not pairs.has_content_attribution
        assert not any(is_content for _, is_content in pairs)

    def test_bridge_rules(self) -> None:
        assert renderers.reject_assistant_in_extension([USER, {"role": "assistant", "content": ""}])
        assert not renderers.reject_assistant_in_extension([USER, TOOL])
        assert introduces_user_query([TOOL, USER])
        assert not introduces_user_query([TOOL])
        assert introduces_user_query([TOOL], is_user_query=lambda message: message["role"] == "tool")
        config = renderers.Qwen3RendererConfig()
        assert resolve_thinking_retention(config, "tool_cycle") == "tool_cycle"
        config = renderers.Qwen3RendererConfig(thinking_retention="all")
        assert resolve_thinking_retention(config, "tool_cycle") == "all"
        assert should_rerender_for_thinking_retention("template", [TOOL])
        assert should_rerender_for_thinking_retention("tool_cycle", [USER])
        assert not should_rerender_for_thinking_retention("tool_cycle", [TOOL])
        assert not should_rerender_for_thinking_retention("all", [USER])

    def test_tool_names(self) -> None:
        calls = [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}]
        messages: list[dict[str, Any]] = [
            USER,
            {"role": "assistant", "content": "", "tool_calls": calls},
            TOOL | {"tool_call_id": "c1"},
            TOOL | {"tool_call_id": "c2"},
            TOOL | {"tool_call_id": "c1", "name": "own"},
            USER | {"name": "me"},
        ]
        assert renderers.extract_message_tool_names(messages) == [None, None, "look", None, "own", None]

    def test_multimodal(self) -> None:
        class Images:
            is_multimodal = True

        assert renderers.is_multimodal(Images())
        assert not renderers.is_multimodal(object())


class TestParsers:
    def test_calls(self) -> None:
        parser = get_tool_parser("qwen3", TOKENIZER)
        call = '<tool_call>\n{"name": "look", "arguments": {"at": "sky"}}\n</tool_call>'
        ids = TOKENIZER.encode(f"So.\n{call}")
        content_ids, (parsed,) = parser.extract(ids)
        assert TOKENIZER.decode(content_ids) == "So.\n"
        assert (parsed.name, parsed.arguments, parsed.status) == ("look", {"at": "sky"}, "ok")
        assert parsed.token_span is not None
        assert TOKENIZER.decode(ids[slice(*parsed.token_span)]) == call
        assert parser.extract(content_ids) == (content_ids, [])

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("<think>\nHm.\n</think>\n\nYo", ("\nHm.\n", "\n\nYo")),
            ("<think></think>Yo", (None, "Yo")),
            ("<think>Hm.", ("Hm.", "")),
            ("Yo <think>Hm.</think>", (None, "Yo <think>Hm.</think>")),
            ("", (None, "")),
        ],
    )
    def test_reasoning(self, text: str, expected: tuple[str | None, str]) -> None:
        assert get_reasoning_parser("think", TOKENIZER).extract(text) == expected

    def test_names(self) -> None:
        assert "qwen3" in TOOL_PARSERS
        assert list(REASONING_PARSERS) == ["think"]
        for get in (get_tool_parser, get_reasoning_parser):
            with pytest.raises(ValueError, match="'nothing'"):
                get("nothing", TOKENIZER)
