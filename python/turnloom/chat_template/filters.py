"""Jinja's filters and tests, with what they cost counted before they run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from types import GeneratorType
from typing import Any, TypeAlias

from jinja2.utils import _PassArg

from turnloom.chat_template.filter_costs import COSTS
from turnloom.chat_template.meter import CHARS_A_STEP, STEPS_A_CALL, Meter
from turnloom.chat_template.operations import count_digit_pairs
from turnloom.chat_template.state import current_meter

# What a template hands to a filter, and gets back, is of any type.
Filter: TypeAlias = Callable[..., Any]

# They use the methods of what they are given, and visit its items one after the other or not at all.
_SHALLOW_FILTERS = frozenset(
    {"attr", "batch", "count", "d", "default", "first", "items", "last", "length", "list", "map", "reject"}
    | {"rejectattr", "reverse", "select", "selectattr", "slice"}
)
# They do something to each item, and may give none of them.
_ITERATING_FILTERS = frozenset({"map", "reject", "rejectattr", "select", "selectattr"})
# They compare or calculate; the others tell of what type something is.
_DEEP_TESTS = frozenset(
    {"in", "==", "eq", "equalto", "!=", "ne", ">", "gt", "greaterthan", ">=", "ge"}
    | {"<", "lt", "lessthan", "<=", "le", "divisibleby", "even", "odd"}
)
# Their work can grow with the square of what they are given.
_SQUARE_FILTERS = frozenset({"pprint", "striptags", "sum", "title", "urlize", "wordwrap", "xmlattr"})


def counted_filter(name: str, function: Filter) -> Filter:
    """Return a filter that counts its work."""
    n_passed = 0 if _PassArg.from_obj(function) is None else 1  # the context, for one
    is_deep = name not in _SHALLOW_FILTERS
    is_square = name in _SQUARE_FILTERS
    is_iterating = name in _ITERATING_FILTERS
    count = COSTS.get(name)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        meter = current_meter()
        meter.step(STEPS_A_CALL)
        passed, args = args[:n_passed], args[n_passed:]
        if is_deep:
            size = sum(map(meter.weigh, (*args, *kwargs.values())))
            meter.step(size * size // CHARS_A_STEP**2 if is_square else 0)
        if is_iterating and args and args[0]:
            args = (_counted_items(meter, args[0]), *args[1:])
        if count is not None:
            args = (count(meter, *args, **kwargs), *args[1:])
        result = function(*passed, *args, **kwargs)
        if isinstance(result, GeneratorType):
            return _counted_items(meter, result)
        meter.made(result)
        return result

    return call


def counted_test(name: str, function: Filter) -> Filter:
    """Return a test that counts its work."""
    is_deep = name in _DEEP_TESTS
    is_division = name == "divisibleby"

    @wraps(function)
    def call(*args: Any) -> Any:
        meter = current_meter()
        meter.step()
        if is_deep:
            sizes = [meter.weigh(arg) for arg in args]
            if is_division:
                count_digit_pairs(meter, *sizes)
        return function(*args)

    return call


def _counted_items(meter: Meter, items: Iterable[object]) -> Iterator[object]:
    for item in items:
        meter.step(2)
        meter.made(item)
        yield item


def tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Write a value as JSON, not escaped for HTML."""
    encoder = json.JSONEncoder(
        ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )
    if indent is None:
        return encoder.encode(value)
    meter = current_meter()
    pieces = []
    for piece in encoder.iterencode(value):
        meter.make(len(piece))
        pieces.append(piece)
    return "".join(pieces)
