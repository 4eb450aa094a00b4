"""The account of what a rendering uses."""

from __future__ import annotations

import math
import sys
from typing import Any

from jinja2.utils import Namespace

from turnloom.errors import TemplateLimitError
from turnloom.template_limits import TemplateLimits

CHARS_A_STEP = 1024
STEPS_A_CALL = 8

MAX_INT_BITS = 100_000
"""Larger integers cannot be printed, and calculating with them takes long."""

_LARGEST_COUNT = 2**62  # past any limit

_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_CONTAINERS: tuple[Any, ...] = (list, tuple, dict, set, frozenset, *_VIEWS, Namespace)


class Meter:
    """Counts what one rendering uses and ends it at a limit."""

    __slots__ = ("_n_bytes", "depth", "limits", "n_steps")

    def __init__(self, limits: TemplateLimits) -> None:
        self.limits = limits
        self.n_steps = 0
        self.depth = 0
        self._n_bytes = 0

    def step(self, n: int = 1) -> None:
        """Count work before it is done; what is not above zero, NaN too, is none."""
        if n > 0:
            self.n_steps += n
        if self.n_steps > self.limits.steps:
            raise exceeded("steps", self.limits.steps, "steps")

    def make(self, n_bytes: int) -> None:
        """Count the bytes of a value, before it is made where its size is known; as in `step`, never less."""
        if n_bytes > 0:
            self._n_bytes += n_bytes
        if self._n_bytes > self.limits.made_bytes:
            raise exceeded("made_bytes", self.limits.made_bytes, "bytes of strings and lists")

    def enter(self) -> None:
        """Count a call inside the calls that have not returned."""
        self.step(STEPS_A_CALL)
        self.depth += 1
        if self.depth > self.limits.call_depth:
            raise exceeded("call_depth", self.limits.call_depth, "calls inside one another")

    def made(self, value: object) -> None:
        """Count a new string or list; what is in the list was counted when it was made. Check an integer."""
        if isinstance(value, (str, bytes, list, tuple, dict)):
            self.make(sys.getsizeof(value))
        elif isinstance(value, int):
            check_int_bits(value.bit_length())

    def weigh(self, value: object) -> int:
        """Count a value with all that is in it, before something visits all of it, and return its size.

        Values may share parts: a list of a list twice, and so on, is small in memory and huge when printed.
        The size is in characters, an integer has one a bit, what is no string either counts as one.
        """
        if isinstance(value, (str, bytes)):
            n_chars = len(value)
        elif isinstance(value, int):
            n_chars = 1 + value.bit_length()
        elif isinstance(value, _CONTAINERS):
            n_chars = self._weigh_tree(value)
        elif isinstance(value, range):
            n_chars = len(value)
            self.step(n_chars)
        else:
            return 1
        if n_chars >= CHARS_A_STEP:
            self.step(n_chars // CHARS_A_STEP)
        return n_chars

    def _weigh_tree(self, root: object) -> int:
        n_chars = 0
        to_visit: list[Any] = [root]
        while to_visit:
            value = to_visit.pop()
            self.step()
            if isinstance(value, str):
                n_chars += len(value)
            elif isinstance(value, int):
                n_chars += value.bit_length()
            elif isinstance(value, dict):
                to_visit += value.keys()
                to_visit += value.values()
            elif isinstance(value, Namespace):
                to_visit.append(value._Namespace__attrs)
            elif isinstance(value, _CONTAINERS):
                to_visit += value
            elif isinstance(value, range):
                self.step(len(value))
            n_chars += 1
        return n_chars


def check_int_bits(n_bits: int) -> None:
    """Refuse an integer of so many bits if that is too wide."""
    if n_bits > MAX_INT_BITS:
        raise exceeded("made_bytes", MAX_INT_BITS, "bits in an integer")


def count_given(value: object) -> int:
    """Return a size that a template gives, as an int of at least zero; 0 where it is no number."""
    if isinstance(value, (int, float)) and value > 0:
        return math.ceil(min(value, _LARGEST_COUNT))
    return 0


def exceeded(limit: str, value: float, what: str) -> TemplateLimitError:
    """Return the error of a limit."""
    return TemplateLimitError(f"chat_template: more than {value:,} {what} (limits.{limit})")
