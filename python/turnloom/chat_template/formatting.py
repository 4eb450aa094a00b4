"""How large the result of `%` and of `str.format` can be."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2.sandbox import SandboxedEscapeFormatter, SandboxedFormatter

from turnloom.chat_template.meter import STEPS_A_CALL, Meter
from turnloom.chat_template.state import current_meter

_NUMBER = re.compile(r"[0-9]+")
_CHARS_A_STEP = 16  # read one by one
_FLAGS = "-#0 +"


def count_percent_format(meter: Meter, template: str, values: object) -> None:
    """Count the result of `template % values`, before it is made."""
    n_chars = meter.weigh(values)
    meter.step(len(template) // _CHARS_A_STEP)
    specs = _percent_specs(template)
    meter.step(len(specs))
    for spec in specs:
        meter.make(_numbers_in(spec))
        if "*" in spec and isinstance(values, tuple):
            meter.make(sum(abs(value) for value in values if isinstance(value, int)))
    meter.make(len(template) + n_chars * (len(specs) if isinstance(values, Mapping) else 1))


def _percent_specs(template: str) -> list[str]:
    """Return flags, width and precision of each conversion, as Python reads them."""
    specs = []
    end = 0
    while (begin := template.find("%", end)) >= 0:
        end = begin + 1
        if template.startswith("(", end):
            end = _behind_key(template, end)
        begin = end
        while end < len(template) and (template[end] in _FLAGS or template[end] in "*.0123456789"):
            end += 1
        specs.append(template[begin:end])
        end += 1  # the kind of the conversion, which may be another %
    return specs


def _behind_key(template: str, begin: int) -> int:
    depth = 0
    for position in range(begin, len(template)):
        depth += {"(": 1, ")": -1}.get(template[position], 0)
        if not depth:
            return position + 1
    return len(template)


def _numbers_in(spec: str) -> int:
    # Twelve digits are more than any limit, and an int of a million digits cannot be read.
    return sum(int(number.lstrip("0")[:12] or 0) for number in _NUMBER.findall(spec))


class _CountsFields(string.Formatter):
    """Counts the fields of `str.format`, before they are written."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        meter = current_meter()
        meter.step(STEPS_A_CALL)
        meter.make(meter.weigh(value))
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> Any:
        current_meter().make(_numbers_in(format_spec))
        return super().format_field(value, format_spec)


class Formatter(_CountsFields, SandboxedFormatter):
    """`str.format`."""


class EscapeFormatter(_CountsFields, SandboxedEscapeFormatter):
    """`Markup.format`."""


def format_arguments(
    is_format_map: bool, args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[Sequence[object], Mapping[str, object]]:
    """Return what `vformat` takes, from the arguments of `format` or `format_map`."""
    if not is_format_map:
        return args, kwargs
    if kwargs or len(args) != 1 or not isinstance(args[0], Mapping):
        raise TypeError("format_map() takes exactly one argument, a mapping")
    return (), args[0]
