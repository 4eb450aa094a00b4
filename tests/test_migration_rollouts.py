"""Tests of a user of the `renderers` package, as test_migration: completions, bridges, training."""

from pathlib import Path
from typing import Any

import pytest

import turnloom as renderers
from test_migration import AGAIN, CALL, HI, RESULT, SYSTEM, TOOLS, YO, selected
from user_tokenizer import BUILTIN, UserTokenizer

Status = renderers.ToolCallParseStatus


@pytest.fixture(scope="module", params=["builtin", pytest.param("shared", marks=pytest.mark.shared)])
def tokenizer(request: pytest.FixtureRequest, shared: Path) -> UserTokenizer:
    path = BUILTIN if request.param == "builtin" else shared / "tokenizers/qwen3/tokenizer.json"
    return UserTokenizer(path, "Qwen/Qwen3-8B", "<|im_end|>")


@pytest.fixture(scope="module")
def renderer(tokenizer: UserTokenizer) -> Any:
    return renderers.create_renderer(tokenizer)


@pytest.fixture(scope="module")
def llama_tokenizer() -> UserTokenizer:
    return UserTokenizer(BUILTIN, "meta-llama/Llama-3.2-1B-Instruct", "<|eot_id|>")


@pytest.fixture(scope="module")
def llama(llama_tokenizer: UserTokenizer) -> Any:
    return renderers.create_renderer(llama_tokenizer)


def block(text: str) -> str:
    return f"<tool_call>\n{text}\n</tool_call>"


LOOK = '{"name": "look", "arguments": {"at": "sky"}}'


class TestParse:
    @pytest.mark.parametrize(
        ("text", "reasoning", "content", "complete"),
        [
            ("Yo<|im_end|>", None, "Yo", True),
            ("<think>\nHm.\n</think>\n\nYo<|im_end|>", "Hm.", "Yo", True),
            ("<think>\nHm.", "\nHm.", "", False),
            ("Hm.\n</think>\n\nYo", None, "Hm.\n</think>\n\nYo", True),
            ("well <think>Hm.</think> Yo", None, "well <think>Hm.</think> Yo", True),
            ("</think>Yo", None, "</think>Yo", True),
            ("<think>\n\n</think>\n\nYo", None, "Yo", True),
            ("Yo<|endoftext|>more", None, "Yo", True),
            ("", None, "", True),
        ],
    )
    def test_reasoning(
        self,
        renderer: Any,
        tokenizer: UserTokenizer,
        text: str,
        reasoning: str | None,
        content: str,
        complete: bool,
    ) -> None:
        response = renderer.parse_response(tokenizer.encode(text))
        assert (response.reasoning_content, response.content) == (reasoning, content)
        assert response.reasoning_complete is complete
        assert response.tool_calls == []

    @pytest.mark.parametrize(
        ("text", "status", "name"),
        [
            (block(LOOK), Status.OK, "look"),
            (block("look(sky)"), Status.INVALID_JSON, None),
            (block('{"arguments": {}}'), Status.MISSING_NAME, None),
            (block("[1]"), Status.MISSING_NAME, None),
            ("<tool_call>\n{", Status.UNCLOSED_BLOCK, None),
            (block('{"name": "look", "arguments": "text"}'), Status.OK, "look"),
            (block('{"name": "look"}'), Status.OK, "look"),
        ],
    )
    def test_status(
        self, renderer: Any, tokenizer: UserTokenizer, text: str, status: str, name: str | None
    ) -> None:
        response = renderer.parse_response(tokenizer.encode(f"So.\n{text}<|im_end|>"))
        assert response.content == "So."
        (call,) = response.tool_calls
        assert (call.status, call.name) == (status, name)

    def test_spans(self, renderer: Any, tokenizer: UserTokenizer) -> None:
        ids = tokenizer.encode(f"So.\n{block(LOOK)}\n{block(LOOK)}<|im_end|>")
        calls = renderer.parse_response(ids).tool_calls
        assert [call.arguments for call in calls] == [{"at": "sky"}] * 2
        assert [tokenizer.decode(ids[slice(*call.token_span)]) for call in calls] == [block(LOOK)] * 2
        assert calls[0].raw == LOOK

    def test_a_call_ends_reasoning(self, renderer: Any, tokenizer: UserTokenizer) -> None:
        response = renderer.parse_response(tokenizer.encode(f"<think>\nHm.\n{block(LOOK)}<|im_end|>"))
        assert (response.reasoning_content, response.tool_calls[0].status) == ("Hm.", Status.OK)
        draft = renderer.parse_response(tokenizer.encode(f"<think>{block(LOOK)}</think>Yo"))
        assert (draft.content, draft.tool_calls) == ("Yo", [])

    def test_the_prompt_may_open_reasoning(self, renderer: Any, tokenizer: UserTokenizer) -> None:
        prompt = tokenizer.encode("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n")
        ids = tokenizer.encode("Hm.</think>Yo")
        response = renderer.parse_response(ids, prompt_ids=prompt)
        assert (response.reasoning_content, response.content) == ("Hm.", "Yo")
        assert renderer.parse_response(ids, prompt_ids=[]).reasoning_content is None

    def test_there_and_back(self, renderer: Any, tokenizer: UserTokenizer) -> None:
        message = CALL | {"content": "So.", "reasoning_content": "Hm."}
        rendered = renderer.render([HI, message])
        sampled = [id_ for id_, flag in zip(rendered.token_ids, rendered.sampled_mask, strict=True) if flag]
        response = renderer.parse_response(sampled, tools=TOOLS)
        assert (response.content, response.reasoning_content) == ("So.", "Hm.")
        assert [(call.name, call.arguments) for call in response.tool_calls] == [("look", {"at": "sky"})]

    @pytest.mark.parametrize("key", ["parameters", "arguments"])
    def test_llama(self, llama: Any, llama_tokenizer: UserTokenizer, key: str) -> None:
        ids = llama_tokenizer.encode(f'{{"name": "look", "{key}": {{"at": "sky"}}}}<|eot_id|>')
        response = llama.parse_response(ids, tools=TOOLS)
        assert (response.content, response.reasoning_content) == ("", None)
        assert [(call.name, call.arguments) for call in response.tool_calls] == [("look", {"at": "sky"})]

    @pytest.mark.parametrize("text", ["Yo", '{"name": "look"', '{"parameters": {}}', '{"name": "look"} x'])
    def test_text_of_llama(self, llama: Any, llama_tokenizer: UserTokenizer, text: str) -> None:
        response = llama.parse_response(llama_tokenizer.encode(text))
        assert (response.content, response.tool_calls) == (text, [])


class TestBridge:
    @pytest.fixture
    def prompt(self, renderer: Any) -> list[int]:
        ids: list[int] = renderer.render_ids([SYSTEM, HI], tools=TOOLS, add_generation_prompt=True)
        return ids

    def test_contract(self, renderer: Any, tokenizer: UserTokenizer, prompt: list[int]) -> None:
        completion = tokenizer.encode(f"<think>\nHm.\n</think>\n\n{block(LOOK)}<|im_end|>")
        bridged = renderer.bridge_to_next_turn(prompt, completion, [RESULT], tools=TOOLS)
        n_before = len(prompt) + len(completion)
        assert bridged.token_ids[:n_before] == prompt + completion
        assert tokenizer.decode(bridged.token_ids[n_before:]) == (
            "\n<|im_start|>user\n<tool_response>\nblue\n</tool_response><|im_end|>\n<|im_start|>assistant\n"
        )
        assert set(bridged.message_indices[:n_before]) == {-1}
        assert not any(bridged.sampled_mask)
        assert selected(tokenizer, bridged.token_ids, bridged.is_content) == "blue"
        assert (bridged.message_roles, bridged.message_tool_names) == (["tool"], [None])
        assert bridged.tokens_per_message() == [bridged.message_indices.count(0)]

    def test_cut_off(self, renderer: Any, tokenizer: UserTokenizer, prompt: list[int]) -> None:
        for text, close in (
            ("<think>\nHm.\n</think>\n\nYo", "<|im_end|>"),
            ("<think>\nHm", "</think><|im_end|>"),
        ):
            completion = tokenizer.encode(text)
            bridged = renderer.bridge_to_next_turn(prompt, completion, [RESULT])
            behind = tokenizer.decode(bridged.token_ids[len(prompt) + len(completion) :])
            assert behind.startswith(f"{close}\n<|im_start|>user\n<tool_response>")

    def test_refusals(self, renderer: Any, tokenizer: UserTokenizer, prompt: list[int]) -> None:
        completion = tokenizer.encode("Yo<|im_end|>")
        unfinished = tokenizer.encode("<think>\nHm.<|im_end|>")
        for arguments in (
            ([], completion, [RESULT]),
            (prompt, completion, []),
            (prompt, completion, [YO]),
            (prompt, completion, [{"role": "critic", "content": "No."}]),
            (prompt, unfinished, [RESULT]),
            (prompt, completion, [AGAIN]),
        ):
            assert renderer.bridge_to_next_turn(*arguments) is None

    @pytest.mark.parametrize("options", [{"thinking_retention": "all"}, {"enable_thinking": False}])
    def test_retention(self, tokenizer: UserTokenizer, prompt: list[int], options: dict[str, Any]) -> None:
        renderer = renderers.create_renderer(tokenizer, renderers.Qwen3RendererConfig(**options))
        completion = tokenizer.encode("Yo<|im_end|>")
        bridged: Any = renderer.bridge_to_next_turn(prompt, completion, [AGAIN])
        assert selected(tokenizer, bridged.token_ids, bridged.is_content) == "And now?"

    def test_llama(self, llama: Any, llama_tokenizer: UserTokenizer) -> None:
        prompt = llama.render_ids([HI], add_generation_prompt=True)
        completion = llama_tokenizer.encode("Yo<|eot_id|>")
        bridged = llama.bridge_to_next_turn(prompt, completion, [AGAIN])
        assert bridged.token_ids == llama.render_ids([HI, YO, AGAIN], add_generation_prompt=True)


class TestTraining:
    CHAT = (HI, CALL, RESULT, YO)

    def test_all_that_is_sampled(self, renderer: Any) -> None:
        sample = renderers.build_training_sample(renderer, list(self.CHAT), tools=TOOLS)
        rendered = renderer.render(list(self.CHAT), tools=TOOLS)
        assert (sample.token_ids, sample.loss_mask) == (rendered.token_ids, rendered.sampled_mask)
        assert (sample.multi_modal_data, sample.mm_token_type_ids) == (None, None)

    def test_roles(self, renderer: Any, tokenizer: UserTokenizer) -> None:
        sample = renderers.build_training_sample(
            renderer,
            list(self.CHAT),
            role_to_mask=lambda message: message["content"] == "Yo",
            content_sft_roles={"tool"},
            ensure_final_stop=True,
        )
        assert selected(tokenizer, sample.token_ids, sample.loss_mask).replace("\n", "") == (
            "blue<think></think>Yo<|im_end|>"
        )

    def test_mask_of_messages(self, renderer: Any, tokenizer: UserTokenizer) -> None:
        sample = renderers.build_training_sample(
            renderer, list(self.CHAT), message_loss_mask=[1, True, 0, False]
        )
        trained = selected(tokenizer, sample.token_ids, sample.loss_mask)
        assert trained.startswith("<tool_call>")
        assert "Yo" not in trained
        for wrong in ([1], [1, 1, 1, 2]):
            with pytest.raises(ValueError, match="message_loss_mask"):
                renderers.build_training_sample(renderer, list(self.CHAT), message_loss_mask=wrong)

    def test_trajectory_step(self, renderer: Any, tokenizer: UserTokenizer) -> None:
        step = renderers.build_trajectory_step(renderer, [HI], [YO])
        assert step["prompt_ids"] == renderer.render_ids([HI], add_generation_prompt=True)
        assert tokenizer.decode(step["completion_ids"]) == "<think>\n\n</think>\n\nYo<|im_end|>\n"
        n_prompt, n_completion = len(step["prompt_ids"]), len(step["completion_ids"])
        assert (step["prompt_mask"], step["completion_mask"]) == ([False] * n_prompt, [True] * n_completion)
        assert step["completion_logprobs"] == [0.0] * n_completion
        assert (step["routed_experts"], step["sampling_mask"]) == (None, None)
