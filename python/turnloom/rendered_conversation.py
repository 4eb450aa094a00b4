"""The exact tokens of a conversation, and what they say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnloom.parsing import ParsedResponse
    from turnloom.types import Messages


@dataclass
class RenderedConversation:
    """A prompt with what was sampled from it, as the `renderers` package has it.

    `Renderer.session` holds more of a rollout, at less cost a turn.
    """

    prompt_ids: list[int]
    completion_ids: list[int] = field(default_factory=list)
    completion_logprobs: list[float] = field(default_factory=list)
    messages: Messages = field(default_factory=list)
    """Those of the prompt."""
    parsed_completion: ParsedResponse | None = None

    @property
    def token_ids(self) -> list[int]:
        """The prompt and the completion."""
        return self.prompt_ids + self.completion_ids

    def with_completion(
        self,
        completion_ids: list[int],
        *,
        completion_logprobs: list[float] | None = None,
        parsed_completion: ParsedResponse | None = None,
    ) -> RenderedConversation:
        """Return a copy with another completion; it shares no list with this one."""
        return RenderedConversation(
            prompt_ids=list(self.prompt_ids),
            completion_ids=list(completion_ids),
            completion_logprobs=list(completion_logprobs or []),
            messages=list(self.messages),
            parsed_completion=parsed_completion,
        )
