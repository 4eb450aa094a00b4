"""Names and signatures of the `renderers` package, 0.1.12, as they are there: turnloom has them, too."""

import inspect
from collections.abc import Callable
from typing import Any, get_args

import pytest

import turnloom
from turnloom import parsers

NAMES = """
AutoRendererConfig BaseRendererConfig Content ContentPart DefaultRenderer DefaultRendererConfig Llama3Renderer
Llama3RendererConfig MalformedGenerateResponseError Message OffsetTokenizer OverlongPromptError ParsedResponse
ParsedToolCall Qwen3Renderer Qwen3RendererConfig
RenderedConversation RenderedTokens RenderedTrainingSample Renderer RendererConfig TextPart Tokenizer ToolCall
ToolCallFunction ToolCallParseStatus ToolSpec __version__ attribute_text_segments build_training_sample
build_trajectory_step config_from_name create_renderer extract_message_tool_names is_multimodal
merge_chat_template_kwargs reject_assistant_in_extension template_field_names trim_to_turn_close
"""
OF_MODULES = """
base.AttributedTextSegments base.MODEL_RENDERER_MAP base.introduces_user_query base.load_tokenizer
base.resolve_thinking_retention base.should_rerender_for_thinking_retention
configs.ResolvedThinkingRetention configs.ThinkingRetention
parsers.REASONING_PARSERS parsers.TOOL_PARSERS parsers.Qwen3ToolParser parsers.ReasoningParser
parsers.ThinkTextReasoningParser parsers.ToolParser parsers.get_reasoning_parser parsers.get_tool_parser
"""

# Parameters as there: "name" is required, "name=" has a default, what stands behind "*" is keyword-only.
SIGNATURES = """
create_renderer: tokenizer config=None * chat_template_kwargs=None
build_training_sample: renderer messages * role_to_mask=None tools=None content_sft_roles=None
    ensure_final_stop=False message_loss_mask=None
build_trajectory_step: renderer prompt_messages completion_messages * tools=None
attribute_text_segments: tokenizer segments * overlap_is_content=False
trim_to_turn_close: previous_prompt_ids previous_completion_ids close_token_ids * synthesize_close=None
reject_assistant_in_extension: new_messages
introduces_user_query: new_messages * is_user_query=?
resolve_thinking_retention: config implied
should_rerender_for_thinking_retention: thinking_retention new_messages * is_user_query=?
extract_message_tool_names: messages
is_multimodal: r
merge_chat_template_kwargs: config chat_template_kwargs
template_field_names: config
config_from_name: name
parsers.get_tool_parser: name tokenizer
parsers.get_reasoning_parser: name tokenizer
parsers.Qwen3ToolParser: tokenizer
parsers.ThinkTextReasoningParser: tokenizer
client.generate: * client renderer messages model prompt_ids=None multi_modal_data=None
    prompt_attribution=None tools=None sampling_params=None cache_salt=None priority=None
    extra_headers=None max_prompt_len=None process_multimodal=True
OverlongPromptError: * prompt_len max_prompt_len
Qwen3Renderer: tokenizer config=None
Llama3Renderer: tokenizer config=None
DefaultRenderer: tokenizer config=None
AttributedTextSegments: values=() * has_content_attribution
AutoRendererConfig: * thinking_retention=None name='auto'
DefaultRendererConfig: * thinking_retention=None name='default' tool_parser=None reasoning_parser=None
Qwen3RendererConfig: * thinking_retention=None name='qwen3' enable_thinking=True
Llama3RendererConfig: * thinking_retention=None date_string='26 Jul 2024' tools_in_user_message=True
ParsedResponse: content reasoning_content=None tool_calls=? reasoning_complete=True
ParsedToolCall: raw name=None arguments=None token_span=None status=? id=None
RenderedConversation: prompt_ids completion_ids=? completion_logprobs=? messages=? parsed_completion=None
RenderedConversation.with_completion: self completion_ids * completion_logprobs=None parsed_completion=None
RenderedTokens: token_ids=? message_indices=? sampled_mask=? is_content=? message_roles=? message_tool_names=?
    multi_modal_data=None
RenderedTokens.tokens_per_message: self n_messages=None * sampled_only=False
RenderedTokens.message_token_spans: self
RenderedTokens.role_token_spans: self
RenderedTokens.tokens_by_role: self * sampled_only=False
RenderedTokens.content_token_spans_by_role: self
RenderedTokens.content_mask_for_roles: self roles
RenderedTrainingSample: token_ids loss_mask multi_modal_data=None mm_token_type_ids=None
"""
METHODS = """
render: self messages * tools=None add_generation_prompt=False
render_ids: self messages * tools=None add_generation_prompt=False
parse_response: self token_ids * tools=None prompt_ids=None
get_stop_token_ids: self
bridge_to_next_turn: self previous_prompt_ids previous_completion_ids new_messages * tools=None
"""


def signatures(text: str) -> list[tuple[str, list[str]]]:
    lines = text.replace("\n    ", " ").strip().splitlines()
    return [
        (name, parameters.replace("26 Jul 2024", "26_Jul_2024").split())
        for name, _, parameters in (line.partition(": ") for line in lines)
    ]


def found(path: str) -> Callable[..., Any]:
    value: Any = turnloom
    for name in path.split("."):
        value = getattr(value, name)
    assert callable(value)
    return value  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", NAMES.split())
def test_name(name: str) -> None:
    assert hasattr(turnloom, name)
    assert name in turnloom.__all__


@pytest.mark.parametrize("path", OF_MODULES.split())
def test_name_of_a_module(path: str) -> None:
    module, name = path.split(".")
    place = {"base": turnloom, "configs": __import__("turnloom.configs").configs, "parsers": parsers}[module]
    assert hasattr(place, name)


@pytest.mark.parametrize(
    ("path", "expected"),
    signatures(SIGNATURES)
    + [
        (f"{renderer}.{method}", parameters)
        for renderer in ("Renderer", "DefaultRenderer")
        for method, parameters in signatures(METHODS)
    ],
)
def test_signature(path: str, expected: list[str]) -> None:
    """Each parameter is there by its name, kind, place and default; ours come behind them."""
    parameters = inspect.signature(found(path)).parameters
    keyword_only = False
    for place, text in enumerate(expected):
        if text == "*":
            keyword_only = True
            continue
        name, has_default, default = text.partition("=")
        parameter = parameters[name]
        if keyword_only:
            assert parameter.kind is parameter.KEYWORD_ONLY, name
        else:
            assert list(parameters)[place] == name
            assert parameter.kind is parameter.POSITIONAL_OR_KEYWORD, name
        assert parameter.default is not parameter.empty or not has_default, name
        if has_default and default != "?":
            assert repr(parameter.default).replace(" ", "_") == default, name
    known = {text.partition("=")[0] for text in expected}
    for name, parameter in parameters.items():
        is_optional = parameter.default is not parameter.empty or parameter.kind is parameter.VAR_KEYWORD
        assert name in known or is_optional, f"{name} is needed, and they do not pass it"


def test_keys_of_types() -> None:
    assert {"role", "content", "tool_calls", "tool_call_id", "name", "reasoning", "reasoning_content"} <= set(
        turnloom.Message.__annotations__
    )
    assert {"type", "id", "function"} <= set(turnloom.ToolCall.__annotations__)
    assert {"name", "arguments"} <= set(turnloom.ToolCallFunction.__annotations__)
    assert {"type", "text"} <= set(turnloom.TextPart.__annotations__)


def test_retention_policies() -> None:
    from turnloom import configs

    assert get_args(configs.ThinkingRetention) == ("tool_cycle", "all")
    assert set(get_args(configs.ResolvedThinkingRetention)) == {"template", "tool_cycle", "all"}
