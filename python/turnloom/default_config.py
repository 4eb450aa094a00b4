"""The options of `DefaultRenderer`. Loading this module loads pydantic."""

from datetime import datetime
from typing import Literal, TypeAlias

from pydantic import ConfigDict

from turnloom.base_config import BaseRendererConfig
from turnloom.template_limits import TemplateLimits

ToolParserName: TypeAlias = Literal["qwen3", "llama-3"]
ReasoningParserName: TypeAlias = Literal["think"]


class DefaultRendererConfig(BaseRendererConfig):
    """Any model by its own Jinja chat template. Further fields are variables of the template.

    >>> DefaultRendererConfig(reasoning_parser="think", enable_thinking=False).template_variables()
    {'enable_thinking': False}
    """

    model_config = ConfigDict(extra="allow")

    name: Literal["default"] = "default"
    thinking_retention: None = None
    """The template alone decides what is kept of earlier reasoning."""
    chat_template: str | None = None
    """The text of the template, or the name of one of the tokenizer's; None is the tokenizer's own."""
    tool_parser: ToolParserName | None = None
    """How completions write tool calls: "qwen3" as JSON in `<tool_call>` tags, "llama-3" as bare JSON or
    behind `<|python_tag|>`."""
    reasoning_parser: ReasoningParserName | None = None
    """How completions write reasoning: "think" in `<think>` tags."""
    now: datetime | None = None
    """The time that the template's `strftime_now` tells; it never comes from the clock."""
    isolate: bool = False
    """Run the template in a subprocess with limits on time and memory, for one that is not to be trusted."""
    limits: TemplateLimits = TemplateLimits()
    """What a rendering may use."""

    def template_variables(self) -> dict[str, object]:
        """Return the variables of the template."""
        return dict(self.model_extra or {})
