"""What a template is given, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from turnloom.chat_template.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The variables of one rendering."""

    messages: list[Message]
    """As `prepare_messages` gives them."""
    tools: Sequence[Mapping[str, object]] | None = None
    documents: Sequence[Mapping[str, object]] | None = None
    add_generation_prompt: bool = False
    variables: Mapping[str, object] = field(default_factory=dict)
    """The special tokens, and what else the caller gives."""
    final_text: str | None = None
    """The text that the model is to continue, with a mark behind it in the messages, or None."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """A rendered text, and what was seen while it was rendered."""

    text: str
    n_steps: int
    """What it cost, as the limit on steps counts."""
    writers: list[tuple[int, int]]
    """From which character on the template was at which message, -1 for none: the item of the innermost loop
    over messages."""
    generation_spans: list[tuple[int, str]] | None
    """Of each `{% generation %}` block where it should begin, in characters, and its text; None where the
    template has none."""


class Runner(Protocol):
    """Runs one template. Immutable, and shared by any number of threads."""

    def run(self, request: Request) -> Rendering:
        """Render.

        Raises:
            RenderError: the template refuses the conversation, or fails on it.
            TemplateLimitError: the template wants more than its limits allow.
        """
