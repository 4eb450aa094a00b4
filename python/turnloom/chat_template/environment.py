"""The Jinja environment of transformers 5, with every operation counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from types import BuiltinMethodType, CodeType, MethodType
from typing import Any, NoReturn, cast

from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import BlockReference, Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.tests import TESTS
from jinja2.utils import Namespace, generate_lorem_ipsum
from markupsafe import Markup

from turnloom.chat_template.compiling import CountingCodeGenerator, compile_counting
from turnloom.chat_template.filters import Filter, counted_filter, counted_test, tojson
from turnloom.chat_template.formatting import EscapeFormatter, Formatter, format_arguments
from turnloom.chat_template.meter import count_given
from turnloom.chat_template.operations import BINARY_OPERATORS, count_binary, count_call
from turnloom.chat_template.state import current_meter, current_output
from turnloom.errors import RenderError


class ChatEnvironment(ImmutableSandboxedEnvironment):
    """What chat templates are compiled in and run in; it holds nothing of a rendering."""

    code_generator_class = CountingCodeGenerator
    intercepted_binops = BINARY_OPERATORS

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[GenerationTag, loopcontrols],
            finalize=self.weighed,
            optimized=False,
        )
        self.filters["tojson"] = tojson
        self.filters = {name: counted_filter(name, filter_) for name, filter_ in self.filters.items()}
        self.tests = {name: counted_test(name, cast(Filter, test)) for name, test in TESTS.items()}
        self.globals.update(
            raise_exception=_raise_exception,
            dict=_DictFactory(),
            namespace=_StrictNamespace,
            lipsum=_lipsum,
        )

    def _compile(self, source: str, filename: str) -> CodeType:
        return compile_counting(source)

    def step(self, n_steps: int) -> None:
        """Count the run of a function."""
        current_meter().step(n_steps)

    def visited(self) -> int:
        """Return the message that is visited, as a loop begins."""
        return current_output().visited

    def visit(self, item: object, outer: int, n_steps: int) -> None:
        """Begin a turn of a loop and count it, or end the loop."""
        current_meter().step(n_steps)
        current_output().visit(item, outer)

    def weighed(self, value: object) -> object:
        """Count a value that is about to be visited, and return it."""
        current_meter().weigh(value)
        return value

    def piece(self, value: object) -> object:
        """Count a value that is about to be joined to others, and return it."""
        meter = current_meter()
        meter.make(meter.weigh(value))
        return value

    def made(self, value: object) -> object:
        """Count a value that was made, and return it."""
        current_meter().made(value)
        return value

    def concat(self, pieces: Sequence[str]) -> str:  # type: ignore[override]
        """Join the output of a macro or a block."""
        current_meter().make(sum(map(len, pieces)))
        return "".join(pieces)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Return an item, as a template's `obj[argument]`."""
        if not isinstance(argument, str):
            current_meter().weigh(argument)
        return super().getitem(obj, argument)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Return the result of a binary operator."""
        meter = current_meter()
        count_binary(meter, operator, left, right)
        result = self.binop_table[operator](left, right)
        if operator == "%":
            meter.made(result)
        return result

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call something from a template."""
        meter = current_meter()
        meter.enter()
        try:
            meter.step(len(args) + len(kwargs))
            if not isinstance(__obj, (Macro, BlockReference, LoopContext)):
                args = count_call(meter, __obj, args, kwargs)
            result = super().call(__context, __obj, *args, **kwargs)
            meter.made(result)
            return result
        finally:
            meter.depth -= 1

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return what stands in for the methods `format` and `format_map` of a string."""
        if not isinstance(value, (MethodType, BuiltinMethodType)):
            return None
        if value.__name__ not in ("format", "format_map") or not isinstance(value.__self__, str):
            return None
        text = value.__self__
        is_format_map = value.__name__ == "format_map"
        formatter = EscapeFormatter(self, escape=text.escape) if isinstance(text, Markup) else Formatter(self)

        def formatted(*args: Any, **kwargs: Any) -> str:
            return type(text)(formatter.vformat(text, *format_arguments(is_format_map, args, kwargs)))

        return update_wrapper(formatted, value)


class GenerationTag(Extension):
    """`{% generation %} ... {% endgeneration %}` around what the model generated."""

    tags = {"generation"}  # noqa: RUF012  the base class has it so

    def parse(self, parser: Parser) -> nodes.Node:
        """Read the tag."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_note_span"), [], [], body).set_lineno(line)

    def _note_span(self, caller: Callable[[], str]) -> str:
        text = caller()
        current_output().begin_generation(text)
        return text


def is_generation_block(block: nodes.CallBlock) -> bool:
    """Return whether a block is that of the tag."""
    function = block.call.node
    return isinstance(function, nodes.ExtensionAttribute) and function.identifier == GenerationTag.identifier


class _StrictNamespace(Namespace):
    """`namespace()` of transformers 5: no name may begin with an underscore."""

    def __init__(*args: Any, **kwargs: Any) -> None:  # a name may be `self`
        self, rest = args[0], args[1:]
        values = dict(*rest, **kwargs)
        for name in values:
            _check_name(name)
        Namespace.__init__(self, values)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"namespace: expected a name without an underscore in front, got {name!r}")


class _DictFactory:
    """`dict` of transformers 5: to be called, without the other attributes of the type."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        """Return a dict of keys with one value."""
        return dict.fromkeys(*args)


def _raise_exception(message: object) -> NoReturn:
    raise RenderError(str(message))


def _lipsum(n: int = 5, html: bool = True, min: int = 20, max: int = 100) -> str:
    # One step a word.
    current_meter().step(count_given(n) * count_given(max))
    return generate_lorem_ipsum(n, html, min, max)
