"""Operators and methods: what they cost, counted before they run."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from turnloom.chat_template.formatting import count_percent_format
from turnloom.chat_template.meter import CHARS_A_STEP, Meter, check_int_bits, count_given

BYTES_A_PIECE = 64
"""Of a short string in a list."""

_ENCODINGS = frozenset({"utf-8", "utf8", "utf-16", "utf-32", "ascii", "latin-1", "iso-8859-1"})
_ON_ERROR = frozenset({"strict", "ignore", "replace", "backslashreplace", "xmlcharrefreplace"})
_WHITE_SPACE = [character for character in map(chr, range(0x3001)) if character.isspace()]

BINARY_OPERATORS = frozenset({"+", "-", "*", "/", "//", "%", "**"})
_SQUARE_OPERATORS = frozenset({"*", "//", "%", "**"})


def count_binary(meter: Meter, operator: str, left: object, right: object) -> None:
    """Count the result of `left operator right`."""
    if isinstance(left, int) and isinstance(right, int):
        _count_int(meter, operator, left, right)
    elif operator == "+":
        if isinstance(left, (str, bytes, list, tuple)) and isinstance(right, (str, bytes, list, tuple)):
            meter.make(sys.getsizeof(left) + sys.getsizeof(right))
    elif operator == "*":
        for sequence, times in ((left, right), (right, left)):
            if isinstance(sequence, (str, bytes, list, tuple)) and isinstance(times, int):
                meter.make(sys.getsizeof(sequence) * count_given(times))
    elif operator == "%" and isinstance(left, (str, bytes)):
        count_percent_format(meter, left if isinstance(left, str) else left.decode("latin-1"), right)


def _count_int(meter: Meter, operator: str, left: int, right: int) -> None:
    n_left, n_right = left.bit_length(), right.bit_length()
    n_bits = max(n_left, n_right)
    if operator == "*":
        n_bits = n_left + n_right
    elif operator == "**":
        meter.step(n_right)
        n_bits = max(n_bits, n_left * abs(right) if n_left > 1 else 1)
        n_left = n_right = n_bits
    check_int_bits(n_bits)
    meter.step(n_bits // CHARS_A_STEP)
    if operator in _SQUARE_OPERATORS:
        count_digit_pairs(meter, n_left, n_right)


def count_digit_pairs(meter: Meter, n_left_bits: int, n_right_bits: int) -> None:
    """Count work that takes each digit of one integer together with each of another."""
    meter.step(n_left_bits * n_right_bits // CHARS_A_STEP**2)


def count_call(
    meter: Meter, function: object, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> tuple[object, ...]:
    """Count a call of anything but a macro, and return its arguments: a list where one was an iterator."""
    # A namespace, say, has no such attribute.
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if isinstance(owner, (str, bytes)) and name == "join":
        items: list[object] = list(*args)
        count_join(meter, owner, items)
        return (items,)
    for arg in (owner, *args, *kwargs.values()):
        meter.weigh(arg)
    if isinstance(owner, (str, bytes)):
        _count_method(meter, owner, name, args, kwargs)
    elif isinstance(owner, int) and name == "to_bytes":
        meter.make(_int(args, kwargs, "length"))
    return args


def _count_method(
    meter: Meter, text: str | bytes, name: str, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> None:
    n_chars = len(text)
    first = args[0] if args else kwargs.get("sep")
    if name in _PADDING:
        meter.make(4 * _int(args, kwargs, "width"))
    elif name == "expandtabs":
        meter.make(n_chars + n_chars * _int(args, kwargs, "tabsize", default=8))
    elif name == "replace" and len(args) > 1:
        count_replace(meter, text, first, args[1])
    elif name == "translate" and isinstance(first, Mapping):
        lengths = [len(value) for value in first.values() if isinstance(value, str)]
        meter.make(n_chars * max(lengths, default=1))
    elif name in ("split", "rsplit", "splitlines"):
        meter.make(BYTES_A_PIECE * n_pieces(text, first if name != "splitlines" else None))
    elif name in ("encode", "decode"):
        _check_encoding(name, [*args, *kwargs.values()])
    if name in _SEARCHING_EVERYWHERE and isinstance(first, (str, bytes)):
        meter.step(n_chars * len(first) // CHARS_A_STEP)
    meter.make(n_chars if name in _COPYING else 0)


_PADDING = frozenset({"center", "ljust", "rjust", "zfill"})
# These look at all of what is searched for at each place, at worst.
_SEARCHING_EVERYWHERE = frozenset(
    {"rfind", "rindex", "rsplit", "rpartition", "strip", "lstrip", "rstrip", "removesuffix"}
)
_COPYING = frozenset({"partition", "rpartition", "encode", "decode", "hex"})


def _check_encoding(method: str, names: list[object]) -> None:
    # Others take time that grows with the square of the text.
    for name in names:
        if isinstance(name, str) and name.lower().replace("_", "-") not in _ENCODINGS | _ON_ERROR:
            raise ValueError(f"{method}: expected one of {', '.join(sorted(_ENCODINGS))}, got {name!r}")


def _int(args: tuple[object, ...], kwargs: Mapping[str, object], name: str, default: int = 0) -> int:
    return count_given(args[0] if args else kwargs.get(name, default))


def count_replace(meter: Meter, text: str | bytes, old: object, new: object) -> None:
    """Count the result of replacing all there is."""
    if isinstance(text, str) and isinstance(old, str) and isinstance(new, str):
        n_places = text.count(old)
        meter.make(len(text) + n_places * max(len(new) - len(old), 0))
    elif isinstance(text, bytes) and isinstance(old, bytes) and isinstance(new, bytes):
        meter.make(len(text) + text.count(old) * len(new))


def count_join(meter: Meter, separator: str | bytes, items: list[object]) -> None:
    """Count the result of joining."""
    meter.make(len(separator) * len(items) + meter.weigh(items))


def n_pieces(text: str | bytes, separator: object) -> int:
    """Return at most how many pieces a text splits into."""
    if isinstance(text, bytes):
        return len(text) + 1
    if isinstance(separator, str) and separator:
        return text.count(separator) + 1
    if len(text) < 64:
        return len(text)
    return sum(map(text.count, _WHITE_SPACE)) + 1
