"""A Jinja chat template, compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from traceback import walk_tb
from types import MappingProxyType

import jinja2
from jinja2 import nodes

from turnloom.chat_template.compiling import FILENAME
from turnloom.chat_template.environment import ChatEnvironment
from turnloom.chat_template.limits import TemplateLimits
from turnloom.chat_template.messages import (
    cut_at_mark,
    mark_final_message,
    prepare_messages,
    prepare_tools,
)
from turnloom.chat_template.meter import Meter, current_meter, exceeded, metered
from turnloom.chat_template.traced_messages import Message, Reading, TracedMessages
from turnloom.errors import RenderError, TemplateLimitError

MAX_NAMES_TIMES_BRANCHES = 500_000
"""Compiling takes time that grows with this product; the longest templates have 20,000."""

_NO_VARIABLES: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Rendering:
    """A rendered text, and what was seen while it was rendered."""

    text: str
    n_steps: int
    """What it cost, as the limit on steps counts."""
    generation_spans: list[tuple[int, str]]
    """Of each `{% generation %}` block where it should begin, in characters, and its text."""
    reading: Reading | None
    """When the template looked at which message, if that was asked for."""


class ChatTemplate:
    """A chat template that renders as `apply_chat_template(tokenize=False)` of transformers 5 does.

    It needs no transformers, never reads the clock, and ends with an error at its limits. Immutable, and
    shared by any number of threads.

    >>> ChatTemplate("{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}").render(
    ...     [{"role": "user", "content": "Hi"}]
    ... )
    '[user] Hi'
    """

    __slots__ = ("_has_generation_tags", "_limits", "_special_tokens", "_template", "source")

    def __init__(
        self,
        source: str,
        *,
        special_tokens: Mapping[str, str] = MappingProxyType({}),
        now: datetime | None = None,
        limits: TemplateLimits = TemplateLimits(),  # noqa: B008  it is immutable
    ) -> None:
        """Compile a template.

        Args:
            special_tokens: variables of the template, such as `{"bos_token": "<s>"}`.
            now: what `strftime_now` tells. Without it, a template that calls that fails.

        Raises:
            TypeError: `source` is no string.
            ValueError: it is no Jinja template. The message has the line.
            TemplateLimitError: it is too long, or nests too deeply.
        """
        if not isinstance(source, str):
            raise TypeError(f"chat_template: expected str, got {type(source).__name__}")
        self.source = source
        self._limits = limits
        self._special_tokens = dict(special_tokens)
        self._template, self._has_generation_tags = _compile(source, limits)
        self._template.globals["strftime_now"] = _clock(now)

    @property
    def has_generation_tags(self) -> bool:
        """Whether the template marks what the model generated with `{% generation %}`."""
        return self._has_generation_tags

    def render(
        self,
        messages: Sequence[Mapping[str, object]],
        *,
        tools: Sequence[Mapping[str, object]] | None = None,
        documents: Sequence[Mapping[str, object]] | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
        variables: Mapping[str, object] = _NO_VARIABLES,
    ) -> str:
        """Return the text of a conversation.

        Args:
            variables: further variables of the template, such as `{"enable_thinking": False}`.

        Raises:
            RenderError: the template refuses the conversation, or fails on it.
            TemplateLimitError: the template wants more than its limits allow.
            TypeError: an argument is of a wrong type.
            ValueError: `add_generation_prompt` together with `continue_final_message`.
        """
        prepared = prepare_messages(messages)
        if add_generation_prompt and continue_final_message:
            raise ValueError("continue_final_message: cannot be combined with add_generation_prompt")
        final = mark_final_message(prepared) if continue_final_message else None
        text = self.rendering(
            prepared,
            tools=tools,
            documents=documents,
            add_generation_prompt=add_generation_prompt,
            variables=variables,
        ).text
        return text if final is None else cut_at_mark(text, final)

    def rendering(
        self,
        prepared: list[Message],
        *,
        tools: Sequence[Mapping[str, object]] | None = None,
        documents: Sequence[Mapping[str, object]] | None = None,
        add_generation_prompt: bool = False,
        variables: Mapping[str, object] = _NO_VARIABLES,
        trace: bool = False,
    ) -> Rendering:
        """Render messages that `prepare_messages` gave.

        Args:
            trace: note when the template looks at which message.
        """
        meter = Meter(self._limits)
        reading = Reading(len(prepared), lambda: meter.n_output_chars) if trace else None
        context = self._template.new_context(
            {
                "messages": prepared if reading is None else TracedMessages(prepared, reading),
                "tools": prepare_tools(tools),
                "documents": documents,
                "add_generation_prompt": add_generation_prompt,
                **self._special_tokens,
                **variables,
            }
        )
        pieces = []
        with metered(meter):
            try:
                for piece in self._template.root_render_func(context):
                    meter.output(piece)
                    pieces.append(piece)
            except Exception as error:
                raise self._explained(error) from error
        return Rendering("".join(pieces), meter.n_steps, meter.generation_spans, reading)

    def _explained(self, error: Exception) -> Exception:
        if isinstance(error, RenderError):
            return error
        place = "chat_template"
        for frame, line in walk_tb(error.__traceback__):
            if frame.f_code.co_filename == FILENAME:
                place = f"chat_template, line {self._template.get_corresponding_lineno(line)}"
        if isinstance(error, RecursionError):
            return TemplateLimitError(f"{place}: calls or values nest too deeply")
        if isinstance(error, (MemoryError, OverflowError)):
            return TemplateLimitError(f"{place}: {str(error) or 'out of memory'}")
        return RenderError(f"{place}: {type(error).__name__}: {error}")

    def __repr__(self) -> str:
        return f"<ChatTemplate of {len(self.source):,} characters>"


@cache
def _environment() -> ChatEnvironment:
    return ChatEnvironment()


def _compile(source: str, limits: TemplateLimits) -> tuple[jinja2.Template, bool]:
    if len(source) > limits.source_chars:
        raise exceeded("source_chars", limits.source_chars, "characters of the template")
    environment = _environment()
    try:
        tree = environment.parse(source)
        n_names = len({name.name for name in tree.find_all(nodes.Name)})
        n_branches = sum(1 for _ in tree.find_all((nodes.If, nodes.For, nodes.CondExpr, nodes.AssignBlock)))
        if n_names * n_branches > MAX_NAMES_TIMES_BRANCHES:
            raise TemplateLimitError(f"chat_template: too many names ({n_names}) and branches ({n_branches})")
        has_generation_tags = any(
            block.call.node.identifier.endswith("GenerationTag")
            for block in tree.find_all(nodes.CallBlock)
            if isinstance(block.call.node, nodes.ExtensionAttribute)
        )
        code = environment.compile(tree)
    except jinja2.TemplateSyntaxError as error:
        raise ValueError(f"chat_template, line {error.lineno}: {error.message}") from error
    except (RecursionError, MemoryError, SyntaxError) as error:
        # Python has limits of its own on nested blocks and brackets, which the generated code meets.
        raise TemplateLimitError(f"chat_template: nests too deeply ({error})") from error
    template = jinja2.Template.from_code(environment, code, environment.make_globals(None))
    return template, has_generation_tags


def _clock(now: datetime | None) -> Callable[[str], str]:
    def strftime_now(format: str) -> str:
        if now is None:
            raise RenderError("chat_template: asks for the date (strftime_now), pass it as `now`")
        current_meter().make(256 * len(format))  # the most that the C library writes
        return now.strftime(format)

    return strftime_now
