"""Messages to a completion: render, send, check, parse."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from turnloom._arguments import int_from
from turnloom.client.context_length import context_length
from turnloom.client.endpoint import open_endpoint
from turnloom.client.request import given_prompt, request_body, request_headers
from turnloom.client.response import read_completion
from turnloom.client.result import GenerateResult
from turnloom.client.retries import RetryPolicy, post
from turnloom.errors import OverlongPromptError
from turnloom.parsing import ParsedResponse, ToolCallParseStatus, tool_names

if TYPE_CHECKING:
    import httpx

    from turnloom._ids import TokenIds
    from turnloom.rendered import RenderedTokens
    from turnloom.types import Messages, Tools

_INT32_MAX = 2**31 - 1


@runtime_checkable
class GenerateRenderer(Protocol):
    """What a call asks of its renderer."""

    def render(
        self, messages: Messages, *, tools: Tools | None = None, add_generation_prompt: bool = False
    ) -> RenderedTokens: ...
    def get_stop_token_ids(self) -> list[int]: ...
    def parse_response(
        self, token_ids: TokenIds, *, tools: Tools | None = None, prompt_ids: TokenIds | None = None
    ) -> ParsedResponse: ...


async def generate(
    *,
    client: httpx.AsyncClient | str,
    renderer: GenerateRenderer,
    messages: Messages = (),
    model: str,
    prompt_ids: TokenIds | None = None,
    multi_modal_data: object = None,
    prompt_attribution: RenderedTokens | None = None,
    tools: Tools | None = None,
    sampling_params: Mapping[str, object] | None = None,
    cache_salt: str | None = None,
    priority: int | None = None,
    extra_headers: Mapping[str, str] | None = None,
    max_prompt_len: int | None = None,
    process_multimodal: bool = True,
    retry: RetryPolicy | None = None,
) -> GenerateResult:
    """Sample one completion of a conversation, and parse it.

    Args:
        client: an `httpx.AsyncClient` with a base URL, or that URL. With a URL every call opens a connection
            of its own. The timeouts are those of `retry`, not the client's.
        messages: rendered with a generation prompt; not read where there are `prompt_ids`.
        prompt_ids: send these instead, such as `session.prompt_ids()`.
        multi_modal_data: None: no chat format here has media yet.
        prompt_attribution: of the `prompt_ids`, to be passed on into the result.
        sampling_params: for the engine. `stop_token_ids` and `logprobs` are set by the call.
        cache_salt, priority: for the engine.
        max_prompt_len: in tokens; None asks the engine once for its own limit.
        process_multimodal: True, as there are no media.
        retry: limits of time and repetition, `RetryPolicy()` where None.

    Raises:
        OverlongPromptError: the prompt is longer than `max_prompt_len`. Nothing was sent.
        MalformedGenerateResponseError: the engine's answer is not complete and consistent.
        httpx.HTTPStatusError: the engine refused. The message has what it said.
        httpx.TransportError: the connection failed, or there was no answer in time.
        TimeoutError: the call took longer than `retry.total_timeout`.
        RenderError, TypeError, ValueError: as `Renderer.render`, or for an argument.
        ImportError: httpx is not installed.
    """
    policy = RetryPolicy() if retry is None else retry
    if not isinstance(policy, RetryPolicy):
        raise TypeError(f"retry: expected RetryPolicy or None, got {type(retry).__name__}")
    if not isinstance(renderer, GenerateRenderer):
        raise TypeError(f"renderer: expected a Renderer, got {type(renderer).__name__}")
    deadline = asyncio.get_running_loop().time() + policy.total_timeout
    _refuse_what_is_missing(renderer, tools, multi_modal_data, process_multimodal)
    if prompt_ids is not None:
        sent = given_prompt(prompt_ids, prompt_attribution)
    elif prompt_attribution is not None:
        raise ValueError("prompt_attribution: it belongs to prompt_ids, which are missing")
    else:
        prompt_attribution = renderer.render(messages, tools=tools, add_generation_prompt=True)
        sent = prompt_attribution.token_ids
    if max_prompt_len is not None:
        int_from(max_prompt_len, "max_prompt_len", lowest=0, highest=_INT32_MAX)
    body = request_body(
        model=model,
        prompt_ids=sent,
        stop_token_ids=renderer.get_stop_token_ids(),
        sampling_params=sampling_params,
        cache_salt=cache_salt,
        priority=priority,
    )
    headers = request_headers(extra_headers)

    async with open_endpoint(client) as endpoint:
        if max_prompt_len is None:
            max_prompt_len = await context_length(endpoint, model, headers=headers, deadline=deadline)
        if max_prompt_len is not None and len(sent) > max_prompt_len:
            raise OverlongPromptError(prompt_len=len(sent), max_prompt_len=max_prompt_len)
        response = await post(
            endpoint.client,
            endpoint.generate_url,
            body=body,
            headers=headers,
            policy=policy,
            deadline=deadline,
        )

    completion = read_completion(response.content, sent)
    parsed = renderer.parse_response(completion.token_ids, tools=tools, prompt_ids=sent)
    return {
        "request_id": completion.request_id,
        "usage": completion.usage,
        "prompt_ids": list(sent),
        "renderer_prompt_ids": None,
        "mm_placeholders": None,
        "completion_ids": completion.token_ids,
        "completion_logprobs": completion.logprobs,
        "content": parsed.content,
        "reasoning_content": parsed.reasoning_content,
        "tool_calls": parsed.tool_calls,
        "finish_reason": _finish_reason(completion.finish_reason, parsed),
        "reasoning_complete": parsed.reasoning_complete,
        "routed_experts": completion.routed_experts,
        "sampling_mask": completion.sampling_mask,
        "multi_modal_data": multi_modal_data,
        "prompt_attribution": prompt_attribution,
    }


def _finish_reason(reason: str | None, parsed: ParsedResponse) -> str | None:
    # Engines of ids know nothing of calls; loops of agents go on at "tool_calls".
    has_calls = any(call.status is ToolCallParseStatus.OK for call in parsed.tool_calls)
    return "tool_calls" if reason == "stop" and has_calls else reason


def _refuse_what_is_missing(
    renderer: GenerateRenderer, tools: Tools | None, multi_modal_data: object, process_multimodal: bool
) -> None:
    if tool_names(tools) and not getattr(renderer, "supports_tools", True):
        raise ValueError(f"tools: {type(renderer).__name__} has no parser for calls; its config takes one")
    is_empty = getattr(multi_modal_data, "is_empty", None)
    if not process_multimodal or not (multi_modal_data is None or (callable(is_empty) and is_empty())):
        argument = "multi_modal_data" if process_multimodal else "process_multimodal"
        raise NotImplementedError(f"{argument}: {type(renderer).__name__} has no images, audio or video")
