"""The core's JSON text against `json.dumps`, its repr against `repr`, and what it refuses to read."""

import collections
import enum
import json
import math
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from turnloom import _core

TABLES = Path(__file__).parent.parent / "cpp" / "src" / "unicode_tables.inc"

Json = None | bool | int | float | str | list["Json"] | tuple["Json", ...] | dict[object, "Json"]

# Where Python's float repr changes its form, and the ends of the range.
FLOATS = [
    0.0, -0.0, 1.0, 0.1, 1e-4, 9.999999999999999e-05, 1e-5, 1e-7, 123456.789, 1e15, 9999999999999998.0, 1e16,
    12345678901234567.0, 1e22, 1e23, 2.0**53, 2.0**53 + 2, 5e-324, 2.2250738585072014e-308, 1e100,
    1.7976931348623157e308, -1.5, math.inf, -math.inf, math.nan,
]  # fmt: skip
INTEGERS = [0, -1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**100, -(10**4299)]
QUOTES_AND_ESCAPES = st.text(alphabet="'\"\\\n\r\t\f\b\x00\x1f\x7f\x80\xa0\xadaé\u2028\ufeff😀")

floats = st.floats() | st.sampled_from(FLOATS)
integers = st.integers() | st.sampled_from(INTEGERS)


def trees(text: st.SearchStrategy[str]) -> st.SearchStrategy[Json]:
    keys = text | integers | floats | st.booleans() | st.none()
    return st.recursive(
        text | integers | floats | st.booleans() | st.none(),
        lambda children: st.lists(children, max_size=4) | st.dictionaries(keys, children, max_size=4),
        max_leaves=20,
    )


def is_stable(char: str) -> bool:
    """Whether every Unicode version in question knows the character, and so agrees on its printability."""
    return unicodedata.ucd_3_2_0.category(char) not in ("Cn", "Cs")


any_text = st.text(st.characters(exclude_categories=["Cs"])) | QUOTES_AND_ESCAPES
stable_text = st.text(st.characters(exclude_categories=["Cs"]).filter(is_stable)) | QUOTES_AND_ESCAPES


def dumps(value: object, indent: int | None = None, separators: tuple[str, str] | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)


def nested(levels: int, innermost: Json = 1, *, as_dict: bool = False) -> Json:
    for _ in range(levels):
        innermost = {"k": innermost} if as_dict else [innermost]
    return innermost


@given(
    trees(any_text),
    st.sampled_from([None, 0, 1, 2, 4]),
    st.sampled_from([None, (",", ":"), (", ", ": "), (" ,\n", "=é")]),
)
def test_json_text(value: Json, indent: int | None, separators: tuple[str, str] | None) -> None:
    item_separator, key_separator = separators or (None, None)
    actual = _core.json_text(value, indent=indent, item_separator=item_separator, key_separator=key_separator)
    assert actual == dumps(value, indent, separators)


@given(trees(stable_text))
def test_python_repr(value: Json) -> None:
    assert _core.python_repr(value) == repr(value)


@given(floats)
@example(1e-4)
@example(9007199254740993.0)
def test_float_repr(value: float) -> None:
    assert _core.python_repr(value) == repr(value)
    assert _core.json_text(value) == json.dumps(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (FLOATS[1:8], "[-0.0, 1.0, 0.1, 0.0001, 9.999999999999999e-05, 1e-05, 1e-07]"),
        (
            [1e15, 1e16, math.inf, -math.inf, math.nan],
            "[1000000000000000.0, 1e+16, Infinity, -Infinity, NaN]",
        ),
        ({None: 1, True: 2, 3: 4, 0.5: 6}, '{"null": 1, "true": 2, "3": 4, "0.5": 6}'),
        ({1: "a", "1": "b"}, '{"1": "a", "1": "b"}'),
        ('"\\\n\r\t\f\b\x00\x1f\x7f/é\u2028', '"\\"\\\\\\n\\r\\t\\f\\b\\u0000\\u001f\x7f/é\u2028"'),
        ((1, (), [], {}), "[1, [], [], {}]"),
        (2**64, "18446744073709551616"),
        ("", '""'),
    ],
)
def test_json_text_examples(value: Json, expected: str) -> None:
    assert _core.json_text(value) == expected


@pytest.mark.parametrize(
    ("indent", "expected"),
    [
        (2, '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}'),
        (0, '{\n"a": [\n1,\n{}\n],\n"b": []\n}'),
        (None, '{"a": [1, {}], "b": []}'),
    ],
)
def test_json_indent(indent: int | None, expected: str) -> None:
    assert _core.json_text({"a": [1, {}], "b": []}, indent=indent) == expected


@pytest.mark.parametrize("position", range(40))
@pytest.mark.parametrize("char", ['"', "\\", "\x1f", "\x00", "\x7f", "é", "😀"])
def test_one_escape_anywhere(char: str, position: int) -> None:
    text = "x" * position + char + "y" * 20
    assert _core.json_text(text) == dumps(text)
    assert _core.python_repr(text) == repr(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["it's", 'a "b"', 'it\'s "b"', ""], "[\"it's\", 'a \"b\"', 'it\\'s \"b\"', '']"),
        ("\t\n\r\\\x00\x1b\x7f\x85\xa0\xad", "'\\t\\n\\r\\\\\\x00\\x1b\\x7f\\x85\\xa0\\xad'"),
        ("é\u200b\u2028\ufeff\U000e0001😀", "'é\\u200b\\u2028\\ufeff\\U000e0001😀'"),
        ({None: True, 2: False, "k": None}, "{None: True, 2: False, 'k': None}"),
        ([math.inf, -math.inf, math.nan, -0.0], "[inf, -inf, nan, -0.0]"),
        ((1, (2,)), "[1, [2]]"),
    ],
)
def test_python_repr_examples(value: Json, expected: str) -> None:
    assert _core.python_repr(value) == expected


def test_every_character_is_printable_as_in_python() -> None:
    characters = (chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF)
    differing = [char for char in characters if _core.python_repr(char) != repr(char)]
    ours = version_of(TABLES.read_text(encoding="utf-8").splitlines()[0].rsplit(" ", 1)[1])
    pythons = version_of(unicodedata.unidata_version)
    if ours > pythons:
        assert {unicodedata.category(char) for char in differing} == {"Cn"}
    elif ours < pythons:
        assert all(char.isprintable() and _core.python_repr(char).startswith("'\\") for char in differing)
    else:
        assert differing == []


def version_of(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.strip(".").split("."))


def test_subclasses_print_as_their_base() -> None:
    class Color(enum.StrEnum):
        RED = "red"

    class Number(enum.IntEnum):
        ONE = 1
        HUGE = 2**70

    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    counts = collections.Counter("aab")
    value = [Color.RED, Number.ONE, Number.HUGE, ordered, counts, {Color.RED: Number.ONE}]
    assert _core.json_text(value) == dumps(value)
    assert _core.python_repr([ordered, Color.RED]) == "[{'b': 2, 'a': 1}, 'red']"


def test_strings_of_a_dict_subclass_outlive_its_items() -> None:
    class Fresh(dict[str, str]):
        def items(self):  # type: ignore[no-untyped-def]
            return [(f"key {i}" * 50, f"value {i}" * 50) for i in range(50)]

    value = Fresh(a="b")
    assert _core.json_text([value] * 20) == dumps([value] * 20)


def test_items_that_empty_the_container_being_read() -> None:
    class Emptying(dict[str, int]):
        def items(self):  # type: ignore[no-untyped-def]
            outer_list.clear()
            outer_dict.clear()
            return super().items()

    outer_list: list[object] = [Emptying(a=1), "x", "y"]
    outer_dict: dict[str, object] = {}
    assert _core.json_text(outer_list) == '[{"a": 1}]'
    outer_dict.update(a=Emptying(b=2), c=3)
    assert _core.json_text(outer_dict) == '{"a": {"b": 2}}'


@pytest.mark.parametrize("as_dict", [False, True])
def test_depth(as_dict: bool) -> None:
    deepest = nested(500, as_dict=as_dict)
    assert _core.json_text(deepest) == dumps(deepest)
    assert _core.python_repr(deepest) == repr(deepest)
    for levels in (501, 100_000):
        with pytest.raises(ValueError, match=r"^value: nested deeper than 500 levels$"):
            _core.json_text(["sibling", nested(levels - 1, as_dict=as_dict)])


def test_cycles() -> None:
    items: list[object] = [1]
    items += [items, items]
    members: dict[str, object] = {"a": 1}
    members["self"] = (members,)
    for cycle in (items, members):
        with pytest.raises(ValueError, match=r"^value: nested deeper than 500 levels$"):
            _core.json_text(cycle)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1, 2}, "value: Object of type set is not JSON serializable"),
        ({"a": [0, 1, {2}]}, "value['a'][2]: Object of type set is not JSON serializable"),
        (({"it's": {None: b"x"}},), 'value[0]["it\'s"][None]: Object of type bytes is not JSON serializable'),
        ([{(1, 2): 3}], "value[0]: keys must be str, int, float, bool or None, not tuple"),
        ([collections.deque()], "value[0]: Object of type deque is not JSON serializable"),
    ],
)
def test_wrong_types(value: object, message: str) -> None:
    for write in (_core.json_text, _core.python_repr):
        with pytest.raises(TypeError) as raised:
            write(value)
        assert str(raised.value) == message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("\ud800", "value: lone surrogate U+D800 at character 0"),
        (["a", "é😀ab\udfffc\ud800"], "value[1]: lone surrogate U+DFFF at character 4"),
        ({"k": {"\ud83d\ude00": 1}}, "value['k']: lone surrogate U+D83D at character 0"),
        ({"k\n": ["x\udc80"]}, "value['k\\n'][0]: lone surrogate U+DC80 at character 1"),
    ],
)
def test_lone_surrogates(value: object, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        _core.json_text(value)
    assert str(raised.value) == message


@given(any_text, st.characters(categories=["Cs"]), st.text())
def test_any_lone_surrogate(before: str, surrogate: str, after: str) -> None:
    with pytest.raises(ValueError) as raised:
        _core.json_text({"k": before + surrogate + after})
    expected = f"value['k']: lone surrogate U+{ord(surrogate):04X} at character {len(before)}"
    assert str(raised.value) == expected


def test_integer_with_more_digits_than_python_prints() -> None:
    huge = 10**5000
    with pytest.raises(ValueError) as of_python:
        str(huge)
    with pytest.raises(ValueError) as raised:
        _core.json_text([{"n": huge}])
    assert str(raised.value) == f"value[0]['n']: {of_python.value}"


def test_large_values_take_linear_time() -> None:
    value = {f"key {i}": ["x" * 10, i, i / 7] for i in range(50_000)} | {"text": '\n"é' * 1_000_000}
    assert _core.json_text(value) == dumps(value)
    assert _core.python_repr(value) == repr(value)
