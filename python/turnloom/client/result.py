"""What a call gives back."""

from typing import TypedDict

from turnloom.parsing import ParsedToolCall
from turnloom.rendered import RenderedTokens


class GenerateResult(TypedDict):
    """One completion: ids and log-probabilities as sampled, and the message that they are."""

    request_id: str
    """Empty if the engine gave none."""
    usage: dict[str, object] | None
    """As the engine counts."""
    prompt_ids: list[int]
    """What was sent."""
    renderer_prompt_ids: list[int] | None
    """None: it differs from `prompt_ids` only where an engine expands media."""
    mm_placeholders: object
    """None, for the same reason."""
    completion_ids: list[int]
    completion_logprobs: list[float]
    """One for each of `completion_ids`."""
    content: str
    reasoning_content: str | None
    tool_calls: list[ParsedToolCall]
    """Every attempt: run only those with status OK."""
    finish_reason: str | None
    """As the engine says; "tool_calls" where it says "stop" and there is a call with status OK."""
    reasoning_complete: bool | None
    routed_experts: object
    """As the engine gives it, with base64 text under "data" as a memoryview of its bytes."""
    sampling_mask: list[object] | None
    """For each of `completion_ids` what the engine gives: the ids that could have been sampled."""
    multi_modal_data: object
    prompt_attribution: RenderedTokens | None
    """Where each token of the prompt comes from; None if `prompt_ids` were passed without it."""
