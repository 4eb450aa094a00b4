"""What filters cost whose result, or whose work, is larger than what they are given."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from turnloom.chat_template.formatting import count_percent_format
from turnloom.chat_template.meter import CHARS_A_STEP, Meter, count_given
from turnloom.chat_template.operations import BYTES_A_PIECE, count_join, count_replace, n_pieces

# It takes what the filter takes, and returns the filter's first argument: a list, where that was an iterator.
Cost: TypeAlias = Callable[..., Any]

_MAX_ROUND_DIGITS = 400
_MAX_JSON_DEPTH = 1000  # Python's own limit is about this


def _batch(meter: Meter, items: Any, linecount: int, fill_with: object = None) -> Any:
    meter.make(0 if fill_with is None else 8 * count_given(linecount))
    return items


def _center(meter: Meter, text: Any, width: int = 80) -> Any:
    meter.make(4 * count_given(width))
    return text


def _format(meter: Meter, text: Any, /, *args: Any, **kwargs: Any) -> Any:
    count_percent_format(meter, str(text), kwargs or args)
    return text


def _indent(meter: Meter, text: Any, width: int | str = 4, *_: Any, **__: Any) -> Any:
    n_chars = len(width) if isinstance(width, str) else count_given(width)
    meter.make(n_pieces(str(text), None) * (n_chars + BYTES_A_PIECE))
    return text


def _join(meter: Meter, items: Any, d: Any = "", *_: Any, **__: Any) -> Any:
    items = list(items)
    count_join(meter, str(d), items)
    return items


def _list(meter: Meter, items: Any) -> Any:
    meter.make(BYTES_A_PIECE * len(items) if isinstance(items, (str, bytes)) else 0)
    return items


def _replace(meter: Meter, text: Any, old: Any, new: Any, *_: Any, **__: Any) -> Any:
    count_replace(meter, str(text), str(old), str(new))
    return text


def _round(_: Meter, value: Any, precision: int = 0, *__: Any, **___: Any) -> Any:
    if abs(precision) > _MAX_ROUND_DIGITS:
        raise ValueError(f"round: expected at most {_MAX_ROUND_DIGITS} digits, got {precision}")
    return value


def _slice(meter: Meter, items: Any, *_: Any, **__: Any) -> Any:
    items = list(items)
    meter.made(items)
    return items


def _sort(meter: Meter, items: Any, *_: Any, **__: Any) -> Any:
    if not isinstance(items, dict):
        items = list(items)
    meter.step(int(meter.weigh(items) * math.log2(len(items) + 1)) // CHARS_A_STEP)
    return items


def _tojson(
    meter: Meter,
    value: Any,
    _: object = False,
    indent: int | str | None = None,
    separators: object = None,
    *__: Any,
    **___: Any,
) -> Any:
    n_chars = meter.weigh(value)
    meter.make(n_chars * (1 if separators is None else meter.weigh(separators)))
    if indent is not None:  # the lines themselves are counted as they are written
        meter.make(_MAX_JSON_DEPTH * (len(indent) if isinstance(indent, str) else count_given(indent)))
    return value


def _trim(meter: Meter, text: Any, chars: str | None = None) -> Any:
    meter.step(len(str(text)) * len(chars or "") // CHARS_A_STEP)
    return text


def _wordcount(meter: Meter, text: Any) -> Any:
    meter.make(BYTES_A_PIECE * len(str(text)) // 2)
    return text


def _wordwrap(
    meter: Meter,
    text: Any,
    _: int = 79,
    __: bool = True,
    wrapstring: str | None = None,
    *___: Any,
    **____: Any,
) -> Any:
    meter.make(len(str(text)) * len(wrapstring or " "))
    return text


COSTS: dict[str, Cost] = {
    "batch": _batch,
    "center": _center,
    "dictsort": _sort,
    "format": _format,
    "groupby": _sort,
    "indent": _indent,
    "join": _join,
    "list": _list,
    "replace": _replace,
    "round": _round,
    "slice": _slice,
    "sort": _sort,
    "tojson": _tojson,
    "trim": _trim,
    "unique": _sort,
    "wordcount": _wordcount,
    "wordwrap": _wordwrap,
}
