"""Tests of a user of the `renderers` package. One import is changed, and they pass.

They pass with `import renderers` in its place, too: nothing here depends on where the two differ, which is
what docs/migrate-from-renderers.md lists.
"""

from pathlib import Path
from typing import Any

import pytest

import turnloom as renderers
from user_tokenizer import BUILTIN, UserTokenizer

HI = {"role": "user", "content": "Hi"}
YO = {"role": "assistant", "content": "Yo"}
SYSTEM = {"role": "system", "content": "Be brief."}
CALL = {
    "role": "assistant",
    "content": "",
    "tool_calls": [
        {"type": "function", "id": "c1", "function": {"name": "look", "arguments": {"at": "sky"}}}
    ],
}
RESULT = {"role": "tool", "content": "blue", "tool_call_id": "c1"}
AGAIN = {"role": "user", "content": "And now?"}
TOOLS = [{"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}]

EMPTY_THINK = "<think>\n\n</think>\n\n"
LLAMA_SYSTEM = (
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\n"
    "Today Date: 26 Jul 2024\n\n<|eot_id|>"
)


@pytest.fixture(scope="module", params=["builtin", pytest.param("shared", marks=pytest.mark.shared)])
def qwen_tokenizer(request: pytest.FixtureRequest, shared: Path) -> UserTokenizer:
    path = BUILTIN if request.param == "builtin" else shared / "tokenizers/qwen3/tokenizer.json"
    return UserTokenizer(path, "Qwen/Qwen3-8B", "<|im_end|>")


@pytest.fixture(scope="module", params=["builtin", pytest.param("shared", marks=pytest.mark.shared)])
def llama_tokenizer(request: pytest.FixtureRequest, shared: Path) -> UserTokenizer:
    path = BUILTIN if request.param == "builtin" else shared / "tokenizers/llama3_1/tokenizer.json"
    return UserTokenizer(path, "meta-llama/Llama-3.2-1B-Instruct", "<|eot_id|>")


@pytest.fixture(scope="module")
def qwen(qwen_tokenizer: UserTokenizer) -> Any:
    return renderers.create_renderer(qwen_tokenizer)


@pytest.fixture(scope="module")
def llama(llama_tokenizer: UserTokenizer) -> Any:
    return renderers.create_renderer(llama_tokenizer)


def selected(tokenizer: UserTokenizer, ids: list[int], mask: list[bool]) -> str:
    return tokenizer.decode([id_ for id_, flag in zip(ids, mask, strict=True) if flag])


class TestCreate:
    def test_the_name_of_the_model_decides(self, qwen: Any, llama: Any) -> None:
        assert isinstance(qwen, renderers.Qwen3Renderer)
        assert isinstance(llama, renderers.Llama3Renderer)
        assert not isinstance(qwen, renderers.Llama3Renderer)
        assert not renderers.is_multimodal(qwen)

    def test_a_class_is_called(self, qwen_tokenizer: UserTokenizer, qwen: Any) -> None:
        made = renderers.Qwen3Renderer(qwen_tokenizer)
        assert made.config == renderers.Qwen3RendererConfig()
        assert made.render_ids([HI]) == qwen.render_ids([HI])

    def test_properties(self, qwen: Any, llama: Any) -> None:
        assert (qwen.effective_thinking_retention, qwen.is_prefix_stable) == ("tool_cycle", False)
        assert (llama.effective_thinking_retention, llama.is_prefix_stable) == ("all", True)

    def test_stop_tokens(self, qwen: Any, qwen_tokenizer: UserTokenizer) -> None:
        names = ["<|im_end|>", "<|endoftext|>"]
        assert qwen.get_stop_token_ids() == [qwen_tokenizer.convert_tokens_to_ids(name) for name in names]

    def test_stop_tokens_of_llama(self, llama: Any, llama_tokenizer: UserTokenizer) -> None:
        names = ["<|eot_id|>", "<|end_of_text|>", "<|eom_id|>"]
        assert llama.get_stop_token_ids() == [llama_tokenizer.convert_tokens_to_ids(name) for name in names]

    def test_kwargs_of_the_template(self, qwen_tokenizer: UserTokenizer) -> None:
        made = renderers.create_renderer(qwen_tokenizer, chat_template_kwargs={"enable_thinking": False})
        assert made.config == renderers.Qwen3RendererConfig(enable_thinking=False)
        assert made.effective_thinking_retention == "all"
        with pytest.raises(ValueError, match="date_string"):
            renderers.create_renderer(qwen_tokenizer, chat_template_kwargs={"date_string": "x"})

    def test_retention_of_an_auto_config(self, qwen_tokenizer: UserTokenizer) -> None:
        config = renderers.AutoRendererConfig(thinking_retention="all")
        assert renderers.create_renderer(qwen_tokenizer, config).effective_thinking_retention == "all"


class TestQwen:
    def test_text(self, qwen: Any, qwen_tokenizer: UserTokenizer) -> None:
        ids = qwen.render_ids([SYSTEM, HI], add_generation_prompt=True)
        assert qwen_tokenizer.decode(ids) == (
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
        )
        assert ids == qwen_tokenizer.encode(qwen_tokenizer.decode(ids))

    def test_reasoning_of_the_last_turn_only(self, qwen: Any, qwen_tokenizer: UserTokenizer) -> None:
        thought = YO | {"reasoning_content": "Hm."}
        text = qwen_tokenizer.decode(qwen.render_ids([HI, thought, AGAIN, thought]))
        assert text.count("<think>\nHm.\n</think>\n\nYo") == 1
        assert "<|im_start|>assistant\nYo<|im_end|>" in text

    def test_columns(self, qwen: Any, qwen_tokenizer: UserTokenizer) -> None:
        rendered = qwen.render([SYSTEM, HI, CALL, RESULT], tools=TOOLS, add_generation_prompt=True)
        ids = rendered.token_ids
        assert ids == qwen.render_ids([SYSTEM, HI, CALL, RESULT], tools=TOOLS, add_generation_prompt=True)
        columns = (rendered.message_indices, rendered.sampled_mask, rendered.is_content)
        assert {len(column) for column in columns} == {len(ids)}
        assert rendered.message_indices[-1] == -1
        assert rendered.message_roles == ["system", "user", "assistant", "tool"]
        assert rendered.message_tool_names == [None, None, None, "look"]
        assert rendered.multi_modal_data is None
        sampled = '<tool_call>\n{"name": "look", "arguments": {"at": "sky"}}\n</tool_call><|im_end|>'
        assert selected(qwen_tokenizer, ids, rendered.sampled_mask) == sampled
        assert selected(qwen_tokenizer, ids, rendered.content_mask_for_roles({"tool", "user"})) == "Hiblue"
        for index, is_sampled, is_content in zip(*columns, strict=True):
            assert is_sampled == is_content or index != 2

    def test_counts_and_spans(self, qwen: Any, qwen_tokenizer: UserTokenizer) -> None:
        rendered = qwen.render([HI, YO])
        spans = rendered.message_token_spans()
        assert [end - begin for begin, end in spans] == rendered.tokens_per_message()
        assert sum(rendered.tokens_per_message()) == len(rendered.token_ids)
        begin, end = spans[0]
        assert qwen_tokenizer.decode(rendered.token_ids[begin:end]) == "<|im_start|>user\nHi<|im_end|>\n"
        assert rendered.role_token_spans() == {"user": [spans[0]], "assistant": [spans[1]]}
        assert rendered.tokens_by_role(sampled_only=True)["user"] == 0
        assert rendered.tokens_by_role(sampled_only=True)["assistant"] == sum(rendered.sampled_mask)
        ((begin, end),) = rendered.content_token_spans_by_role()["user"]
        assert qwen_tokenizer.decode(rendered.token_ids[begin:end]) == "Hi"
        assert rendered.tokens_per_message(1) == rendered.tokens_per_message()[:1]

    def test_tools(self, qwen: Any, qwen_tokenizer: UserTokenizer) -> None:
        text = qwen_tokenizer.decode(qwen.render_ids([HI], tools=TOOLS))
        assert text.startswith("<|im_start|>system\n# Tools\n\nYou may call one or more functions")
        assert '\n{"name": "look", "description": "Looks.", "parameters": {' in text
        assert qwen.render_ids([HI], tools=[]) == qwen.render_ids([HI])

    def test_results_share_a_turn(self, qwen: Any, qwen_tokenizer: UserTokenizer) -> None:
        text = qwen_tokenizer.decode(qwen.render_ids([HI, CALL, RESULT, RESULT]))
        response = "<tool_response>\nblue\n</tool_response>"
        assert text.endswith(f"<|im_start|>user\n{response}\n{response}<|im_end|>\n")

    def test_thinking_switched_off(self, qwen_tokenizer: UserTokenizer) -> None:
        config = renderers.Qwen3RendererConfig(enable_thinking=False)
        ids = renderers.create_renderer(qwen_tokenizer, config).render_ids([HI], add_generation_prompt=True)
        assert qwen_tokenizer.decode(ids).endswith(f"<|im_start|>assistant\n{EMPTY_THINK}")

    @pytest.mark.parametrize("arguments", ['{"at":"sky"}', '{"at":', None, [1, 2], {"a": {"b": 1.0}}])
    def test_arguments(self, qwen: Any, qwen_tokenizer: UserTokenizer, arguments: object) -> None:
        expected = {
            '{"at":"sky"}': '{"at":"sky"}',
            '{"at":': '{"at":',
            "None": "null",
            "[1, 2]": "[1, 2]",
            "{'a': {'b': 1.0}}": '{"a": {"b": 1.0}}',
        }[str(arguments)]
        call = {"function": {"name": "look", "arguments": arguments}}
        text = qwen_tokenizer.decode(qwen.render_ids([HI, {**CALL, "tool_calls": [call]}]))
        assert f'{{"name": "look", "arguments": {expected}}}' in text

    def test_lists_of_texts(self, qwen: Any) -> None:
        parts = ["aa", {"type": "text", "text": "bb"}, {"text": "cc"}]
        assert qwen.render_ids([HI | {"content": parts}]) == qwen.render_ids([HI | {"content": "aabbcc"}])

    def test_no_messages(self, qwen: Any, llama: Any) -> None:
        for renderer in (qwen, llama):
            with pytest.raises(ValueError, match=r"(?i)no messages"):
                renderer.render([])


class TestLlama:
    def test_text(self, llama: Any, llama_tokenizer: UserTokenizer) -> None:
        ids = llama.render_ids([HI, YO], add_generation_prompt=True)
        assert llama_tokenizer.decode(ids) == (
            f"{LLAMA_SYSTEM}<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\nYo<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n"
        )

    def test_calls_and_results(self, llama: Any, llama_tokenizer: UserTokenizer) -> None:
        rendered = llama.render([HI, CALL, RESULT])
        text = llama_tokenizer.decode(rendered.token_ids)
        assert text.endswith('<|start_header_id|>ipython<|end_header_id|>\n\n"blue"<|eot_id|>')
        sampled = selected(llama_tokenizer, rendered.token_ids, rendered.sampled_mask)
        assert sampled == '{"name": "look", "parameters": {"at": "sky"}}<|eot_id|>'
        assert rendered.message_tool_names == [None, None, "look"]

    def test_where_tools_are(self, llama_tokenizer: UserTokenizer) -> None:
        for in_user, role in ((True, "user"), (False, "system")):
            config = renderers.Llama3RendererConfig(tools_in_user_message=in_user)
            rendered = renderers.create_renderer(llama_tokenizer, config).render([SYSTEM, HI], tools=TOOLS)
            begin, end = rendered.role_token_spans()[role][0]
            assert '"name": "look"' in llama_tokenizer.decode(rendered.token_ids[begin:end])

    def test_date(self, llama_tokenizer: UserTokenizer) -> None:
        config = renderers.Llama3RendererConfig(date_string="1 Jan 2030")
        ids = renderers.create_renderer(llama_tokenizer, config).render_ids([HI])
        assert "Today Date: 1 Jan 2030\n" in llama_tokenizer.decode(ids)

    def test_no_tools_are_tools(self, llama: Any, llama_tokenizer: UserTokenizer) -> None:
        assert "Environment: ipython" in llama_tokenizer.decode(llama.render_ids([HI], tools=[]))

    def test_refusals(self, llama: Any) -> None:
        two = CALL | {"tool_calls": CALL["tool_calls"] * 2}  # type: ignore[operator]
        with pytest.raises(ValueError, match="call"):
            llama.render([HI, two])
        with pytest.raises(ValueError, match=r"(?i)user"):
            llama.render([YO], tools=TOOLS)
