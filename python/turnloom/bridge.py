"""From one turn of a rollout to the next: what a bridge refuses, and why."""

from dataclasses import dataclass
from enum import StrEnum


class BridgeRefusalReason(StrEnum):
    """Why it cannot be proven that the next prompt is the last prompt, its completion and more."""

    EMPTY_PROMPT = "empty_prompt"
    """There are no ids of a previous prompt."""
    NOTHING_NEW = "nothing_new"
    """There are no new messages."""
    NEW_ASSISTANT_MESSAGE = "new_assistant_message"
    """A new message is an assistant's: its ids would not be sampled ones."""
    UNKNOWN_ROLE = "unknown_role"
    """The format does not render the role of a new message."""
    STOP_INSIDE_REASONING = "stop_inside_reasoning"
    """The completion was closed inside its think block."""
    RETENTION_POLICY = "retention_policy"
    """A new query ends what the format keeps of earlier reasoning, so a full render has other ids."""
    TEXT_AFTER_CLOSE = "text_after_close"
    """The completion goes on behind its last close."""
    ONLY_A_TEMPLATE = "only_a_template"
    """The format is known as a chat template alone, which gives whole conversations."""


@dataclass(frozen=True, slots=True)
class BridgeRefusal:
    """The answer of a bridge that would not be safe."""

    reason: BridgeRefusalReason
    detail: str
    """Where, and what is wrong there."""
