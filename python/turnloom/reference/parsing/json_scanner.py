"""Strict JSON, character by character.

As Python's `json` reads it, but for what JSON itself does not have (NaN, Infinity), for more than 501 levels
and for integers of more than 4,300 digits, which Python does not print.
"""

import copy
import json
from dataclasses import dataclass
from typing import Any

from turnloom.types import JsonValue

MAX_LEVELS = 501
"""A call and arguments of 500 levels, which is what can be rendered."""
MAX_INTEGER_DIGITS = 4300

SPACE = " \t\n\r"
LITERALS = {"t": "true", "f": "false", "n": "null"}

# What may follow in a number, and whether it may end there.
NUMBER_STATES: dict[str, tuple[dict[str, str], bool]] = {
    "minus": ({"0": "zero", "1-9": "integer"}, False),
    "zero": ({".": "point", "eE": "exponent"}, True),
    "integer": ({"0-9": "integer", ".": "point", "eE": "exponent"}, True),
    "point": ({"0-9": "fraction"}, False),
    "fraction": ({"0-9": "fraction", "eE": "exponent"}, True),
    "exponent": ({"+-": "exponent sign", "0-9": "exponent digits"}, False),
    "exponent sign": ({"0-9": "exponent digits"}, False),
    "exponent digits": ({"0-9": "exponent digits"}, True),
}
CLASSES = {"0-9": "0123456789", "1-9": "123456789", "eE": "eE", "+-": "+-"}


@dataclass(slots=True)
class Member:
    """An entry of the outermost object: where its key and its value stand."""

    key: str
    begin: int = -1
    end: int = -1


class JsonScanner:
    """Reads one value. White space before and after it is not part of it."""

    def __init__(self) -> None:
        self.text = ""
        self.failed = False
        self.begin = -1
        self.end = -1
        self.members: list[Member] = []
        """Of the value, if it is an object."""
        self._state = "value"
        self._open: list[str] = []  # of the brackets
        self._string_begin = 0
        self._string_is_key = False
        self._rest = ""  # of a literal
        self._digits = 0
        self._hex_digits = 0

    @property
    def complete(self) -> bool:
        """Whether the value has ended."""
        return self.end >= 0

    @property
    def at_top(self) -> bool:
        """Whether white space that comes next stands around the value."""
        return not self._open and not self.string_is_open

    @property
    def string_is_open(self) -> bool:
        """Whether the text so far ends inside a string."""
        return not self.failed and self._state in ("string", "escape", "hex")

    @property
    def in_string(self) -> bool:
        """Whether the next character is one of a string, and not part of an escape."""
        return not self.failed and self._state == "string"

    def copy(self) -> "JsonScanner":
        """Give one that goes on by itself."""
        other = copy.copy(self)
        other._open = self._open.copy()
        other.members = [copy.copy(member) for member in self.members]
        return other

    def feed(self, character: str) -> None:
        """Read a character. After a failure nothing counts."""
        position = len(self.text)
        self.text += character
        if not self.failed:
            self._feed(character, position)

    def finish(self) -> bool:
        """End the text; tell whether it was a value."""
        if not self.failed and self._state in NUMBER_STATES and not self._open:
            self._end_number(len(self.text))
        return not self.failed and self.complete

    def _feed(self, character: str, position: int) -> None:
        if self._state in NUMBER_STATES:
            if self._continue_number(character):
                return
            self._end_number(position)
            if self.failed:
                return
        match self._state:
            case "string":
                self._feed_string(character, position)
            case "escape":
                self._feed_escape(character)
            case "hex":
                self._hex_digits += 1
                self.failed = character not in "0123456789abcdefABCDEF"
                if self._hex_digits == 4:
                    self._state = "string"
            case "literal":
                self.failed = character != self._rest[0]
                self._rest = self._rest[1:]
                if not self.failed and not self._rest:
                    self._end_value(position + 1)
            case _ if character in SPACE:
                pass
            case "value" | "first element" if character != "]" or self._state == "value":
                self._begin_value(character, position)
            case "first key" | "key" if character == '"':
                self._begin_string(position, is_key=True)
            case "colon" if character == ":":
                self._state = "value"
            case "comma" if character == "," and self._open:
                self._state = "key" if self._open[-1] == "{" else "value"
            case "first element" | "first key" | "comma" if self._open and self._open[-1] + character in (
                "[]",
                "{}",
            ):
                self._open.pop()
                self._end_value(position + 1)
            case _:
                self.failed = True

    def _begin_value(self, character: str, position: int) -> None:
        if not self._open:
            self.begin = position
        elif self._open == ["{"]:
            self.members[-1].begin = position
        if character in "{[":
            self._open.append(character)
            self._state = "first key" if character == "{" else "first element"
            self.failed = len(self._open) > MAX_LEVELS
        elif character == '"':
            self._begin_string(position, is_key=False)
        elif character in LITERALS:
            self._state, self._rest = "literal", LITERALS[character][1:]
        elif character in "-0123456789":
            self._state = {"-": "minus", "0": "zero"}.get(character, "integer")
            self._digits = int(character != "-")
        else:
            self.failed = True

    def _end_value(self, end: int) -> None:
        self._state = "comma"
        if not self._open:
            self.end = end
        elif self._open == ["{"]:
            self.members[-1].end = end

    def _begin_string(self, position: int, *, is_key: bool) -> None:
        self._state, self._string_begin, self._string_is_key = "string", position, is_key

    def _feed_string(self, character: str, position: int) -> None:
        if character == "\\":
            self._state = "escape"
        elif character < " ":
            self.failed = True
        elif character == '"':
            if not self._string_is_key:
                self._end_value(position + 1)
                return
            self._state = "colon"
            if self._open == ["{"]:
                self.members.append(Member(string_value(self.text[self._string_begin : position + 1])))

    def _feed_escape(self, character: str) -> None:
        self._state, self._hex_digits = ("hex" if character == "u" else "string"), 0
        self.failed = character not in '"\\/bfnrtu'

    def _continue_number(self, character: str) -> bool:
        follow, _ = NUMBER_STATES[self._state]
        for characters, state in follow.items():
            if character in CLASSES.get(characters, characters):
                self._state = state
                if state == "integer":
                    self._digits += 1
                    self.failed = self._digits > MAX_INTEGER_DIGITS
                return True
        return False

    def _end_number(self, end: int) -> None:
        _, may_end = NUMBER_STATES[self._state]
        if may_end:
            self._end_value(end)
        else:
            self.failed = True


def string_value(text: str) -> str:
    """Give what a JSON string stands for. An escape of half a character is U+FFFD."""
    return _whole_characters(json.loads(text))


def json_value(text: str) -> tuple[JsonValue, tuple[str, ...]]:
    """Give the value of a JSON text, and the keys that an object in it has twice."""
    duplicates: list[str] = []

    def make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members: dict[str, Any] = {}
        reported: set[str] = set()
        for key, value in pairs:
            key = _whole_characters(key)
            if key in members and key not in reported:
                reported.add(key)
                duplicates.append(key)
            members[key] = _whole_values(value)
        return members

    value = json.loads(text, object_pairs_hook=make_object, parse_int=_integer)
    return _whole_values(value), tuple(duplicates)


def _whole_values(value: Any) -> Any:
    """Replace halves of characters in a value; objects in it have been through this."""
    if isinstance(value, str):
        return _whole_characters(value)
    if isinstance(value, list):
        # A loop, for a comprehension costs a second frame a level, and Python has but a thousand.
        for index, item in enumerate(value):
            value[index] = _whole_values(item)
    return value


def _whole_characters(text: str) -> str:
    return text if text.isascii() else "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


def _integer(digits: str) -> int:
    """Give an integer of any length that the scanner lets through, whatever limit Python is set to."""
    if len(digits) <= 600:
        return int(digits)
    sign = -1 if digits.startswith("-") else 1
    value = 0
    for begin in range(0, len(digits), 600):
        chunk = digits[begin : begin + 600].removeprefix("-")
        value = value * 10 ** len(chunk) + int(chunk)
    return sign * value
