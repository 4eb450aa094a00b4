"""A template compiled and run in this process."""

from __future__ import annotations

from collections.abc import Callable, Generator
from datetime import datetime
from functools import cache
from traceback import walk_tb
from typing import cast

import jinja2
from jinja2 import nodes

from turnloom.chat_template.compiling import FILENAME
from turnloom.chat_template.environment import ChatEnvironment, is_generation_block
from turnloom.chat_template.meter import Meter, exceeded
from turnloom.chat_template.output import Output
from turnloom.chat_template.rendering import Rendering, Request
from turnloom.chat_template.state import current_meter, rendering_into
from turnloom.errors import RenderError, TemplateLimitError
from turnloom.template_limits import TemplateLimits

MAX_NAMES_TIMES_BRANCHES = 500_000
"""Compiling takes time that grows with this product; the longest templates have 20,000."""


class CompiledTemplate:
    """Runs a template within limits."""

    __slots__ = ("_has_generation_blocks", "_limits", "_template")

    def __init__(self, source: str, *, now: datetime | None, limits: TemplateLimits) -> None:
        """Compile a template.

        Raises:
            ValueError: it is no Jinja template. The message has the line.
            TemplateLimitError: it is too long, or nests too deeply.
        """
        self._limits = limits
        if len(source) > limits.source_chars:
            raise exceeded("source_chars", limits.source_chars, "characters of the template")
        try:
            self._template, self._has_generation_blocks = _compile(source)
        except jinja2.TemplateSyntaxError as error:
            raise ValueError(f"chat_template, line {error.lineno}: {error.message}") from error
        except TemplateLimitError:
            raise
        except (RecursionError, MemoryError, SyntaxError) as error:
            # Python has limits of its own on nested blocks and brackets, which the generated code meets.
            raise TemplateLimitError(f"chat_template: nests too deeply ({error})") from error
        except ValueError as error:
            raise ValueError(f"chat_template: {error}") from error  # a number of too many digits
        self._template.globals["strftime_now"] = _clock(now)

    def run(self, request: Request) -> Rendering:
        """Render; see `Runner`."""
        meter = Meter(self._limits)
        output = Output(meter, request.messages)
        context = self._template.new_context(
            {
                "messages": request.messages,
                "tools": request.tools,
                "documents": request.documents,
                "add_generation_prompt": request.add_generation_prompt,
                **request.variables,
            }
        )
        with rendering_into(output, meter):
            try:
                pieces = self._template.root_render_func(context)
                output.extend(cast(Generator[object, None, None], pieces))
                text = output.text()
            except RenderError:
                raise
            except Exception as error:
                raise self._explained(error) from error
        spans = output.generation_spans if self._has_generation_blocks else None
        return Rendering(text, meter.n_steps, output.writers, spans)

    def _explained(self, error: Exception) -> RenderError:
        place = "chat_template"
        for frame, line in walk_tb(error.__traceback__):
            if frame.f_code.co_filename == FILENAME:
                place = f"chat_template, line {self._template.get_corresponding_lineno(line)}"
        if isinstance(error, RecursionError):
            return TemplateLimitError(f"{place}: calls or values nest too deeply")
        if isinstance(error, (MemoryError, OverflowError)):
            return TemplateLimitError(f"{place}: {str(error) or 'out of memory'}")
        return RenderError(f"{place}: {type(error).__name__}: {error}")


@cache
def _environment() -> ChatEnvironment:
    return ChatEnvironment()


def _compile(source: str) -> tuple[jinja2.Template, bool]:
    """Return the template, and whether it has `{% generation %}` blocks."""
    environment = _environment()
    tree = environment.parse(source)
    n_names = len({name.name for name in tree.find_all(nodes.Name)})
    n_branches = sum(1 for _ in tree.find_all((nodes.If, nodes.For, nodes.CondExpr, nodes.AssignBlock)))
    if n_names * n_branches > MAX_NAMES_TIMES_BRANCHES:
        raise TemplateLimitError(f"chat_template: too many names ({n_names}) and branches ({n_branches})")
    code = environment.compile(tree)
    template = jinja2.Template.from_code(environment, code, environment.make_globals(None))
    return template, any(map(is_generation_block, tree.find_all(nodes.CallBlock)))


def _clock(now: datetime | None) -> Callable[[str], str]:
    def strftime_now(format: str) -> str:
        if now is None:
            raise RenderError("chat_template: asks for the date (strftime_now), pass it as `now`")
        current_meter().make(256 * len(format))  # the most that the C library writes
        return now.strftime(format)

    return strftime_now
