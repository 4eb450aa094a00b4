"""Tool-call ids: the recorded values, single ids and batches on both sides, and what Arrow arrays become."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import turnloom
from oracles import agreed, assert_equal
from turnloom import ToolCallIdFormat, reference

FORMATS: list[tuple[str, *tuple[int, ...]]] = [
    ("any",),
    ("max_length", 1),
    ("max_length", 10),
    ("max_length", 17),
    ("max_length", 18),
    ("max_length", 40),
    ("url_safe",),
    ("bedrock",),
    ("alphanumeric", 1),
    ("alphanumeric", 9),
    ("alphanumeric", 20),
    ("alphanumeric", 31),
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=70)
USUAL = st.text("abcXYZ019_-.: ", max_size=70)
PRESETS = {
    "openai_40": ToolCallIdFormat.max_length(40),
    "openai_64": ToolCallIdFormat.max_length(64),
    "anthropic": ToolCallIdFormat.url_safe(),
    "mistral": ToolCallIdFormat.alphanumeric(9),
    "bedrock": ToolCallIdFormat.bedrock(),
    "gemini": ToolCallIdFormat.any(),
    "kimi": ToolCallIdFormat.kimi(),
}


def call_both(format: tuple[str, *tuple[int, ...]], method: str, argument: Any) -> Any:
    kind, *n = format
    return agreed(
        lambda: getattr(getattr(turnloom.ToolCallIdFormat, kind)(*n), method)(argument),
        lambda: getattr(getattr(reference.ToolCallIdFormat, kind)(*n), method)(argument),
        assert_equal,
    )


@pytest.mark.shared
def test_recorded_values(shared: Path) -> None:
    lines = (shared / "golden" / "tool_call_ids.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    for record in records:
        format = (record["format"], *([record["n"]] if record["n"] else []))
        assert call_both(format, "accepts", record["id"]) == record["accepts"]
        assert call_both(format, "conform", record["id"]) == record["conform"]
    for format in {(record["format"], record["n"]) for record in records}:
        same = [record for record in records if (record["format"], record["n"]) == format]
        conformed = call_both(
            (format[0], *([format[1]] if format[1] else [])),
            "conform_batch",
            [record["id"] for record in same],
        )
        assert conformed == [record["conform"] for record in same]


@pytest.mark.parametrize(
    ("preset", "id", "conformed"),
    [
        ("mistral", "toolu_01Fake9Zz8Yy7Xx6Ww5Vv4", "mVYsUHUkS"),
        ("mistral", "call_0aB", "14BbaXa9A"),
        ("mistral", "abcdefghi\n", "uO4hJ2W6H"),
        ("anthropic", "functions.list_dir:0", "functions_list_dir_0_7cbeea5b0dad803e"),
        ("anthropic", "functions.list_dir:1", "functions_list_dir_1_7cbeeb5b0dad81f1"),
        ("anthropic", "functions_list_dir_0", "functions_list_dir_0"),
        ("anthropic", "abcdefghi\n", "abcdefghi__339b080bf7c3afd2"),
        (
            "openai_40",
            "chatcmpl-tool-0f1e2d3c4b5a69788796a5b4c3d2e1f0",
            "chatcmpl-tool-0f1e2d3c4_4915b01895dd35eb",
        ),
        (
            "openai_64",
            "chatcmpl-tool-0f1e2d3c4b5a69788796a5b4c3d2e1f0",
            "chatcmpl-tool-0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        ),
        ("bedrock", "functions.list_dir:0", "functions.list_dir:0"),
        ("bedrock", "a b", "a_b_aa3fd3db615433b2"),
        ("gemini", "any thing\n", "any thing\n"),
    ],
)
def test_presets(preset: str, id: str, conformed: str) -> None:
    assert ToolCallIdFormat.preset(preset) == PRESETS[preset]
    assert reference.ToolCallIdFormat.preset(preset).conform(id) == conformed
    assert ToolCallIdFormat.preset(preset).conform(id) == conformed


def test_bedrock_keeps_47_characters() -> None:
    id = "é" + "a" * 60 + "/"
    conformed = call_both(("bedrock",), "conform", id)
    assert conformed == f"_{'a' * 46}_{turnloom.fnv1a_64(id, round=0):016x}"
    assert call_both(("bedrock",), "accepts", conformed)
    assert call_both(("bedrock",), "accepts", "a" * 64) and not call_both(("bedrock",), "accepts", "a" * 65)


def test_an_unknown_preset_is_a_key_error() -> None:
    text = (
        "name: unknown preset 'openai', expected one of openai_40, openai_64, anthropic, mistral, bedrock, "
    )
    for side in (turnloom, reference):
        with pytest.raises(KeyError) as raised:
            side.ToolCallIdFormat.preset("openai")
        assert raised.value.args == (text + "gemini, kimi",)


@pytest.mark.parametrize("format", FORMATS, ids=str)
@given(st.lists(TEXTS | USUAL, max_size=40))
@example(["", "a", "a" * 64, "a" * 65, "é" * 64, "🦙" * 18, "a\n", "\0"])
def test_native_and_reference_agree(format: tuple[str, *tuple[int, ...]], ids: list[str]) -> None:
    conformed = call_both(format, "conform_batch", ids)
    assert conformed == [call_both(format, "conform", id) for id in ids]
    assert call_both(format, "conform_batch", tuple(ids)) == conformed
    for id, new in zip(ids, conformed, strict=True):
        accepted = call_both(format, "accepts", id)
        assert new == id if accepted or not id else new != id
        assert not id or call_both(format, "accepts", new)


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_a_batch_has_what_single_ids_have(format: tuple[str, *tuple[int, ...]]) -> None:
    ids = [f"functions.tool {i}:" + "x" * (i % 50) for i in range(3000)]
    kind, *n = format
    native: ToolCallIdFormat = getattr(ToolCallIdFormat, kind)(*n)
    assert native.conform_batch(ids) == [native.conform(id) for id in ids]


@given(TEXTS | USUAL | st.from_regex(r"functions\.[a-z:.\n]{0,4}:[0-9a٣]{0,3}", fullmatch=True))
@example("functions.a:0")
@example("functions.:0")
@example("functions.a:")
@example("functions.a:0\n")
@example("functions.a:b:12")
def test_kimi_accepts_agrees(id: str) -> None:
    call_both(("kimi",), "accepts", id)


def test_kimi_ids_are_of_conversations_only() -> None:
    for method, argument in (("conform", "a"), ("conform", "functions.a:0"), ("conform_batch", ["a"])):
        with pytest.raises(
            ValueError, match=r"^id: a kimi id is counted over a conversation, .*conform_messages"
        ):
            call_both(("kimi",), method, argument)


ERRORS: list[tuple[str, Any, type[Exception], str]] = [
    ("accepts", 1, TypeError, "id: expected str, got int"),
    ("accepts", "\ud800", ValueError, "id: lone surrogate U+D800 at character 0"),
    ("conform", None, TypeError, "id: expected str, got NoneType"),
    ("conform", "a\udfff", ValueError, "id: lone surrogate U+DFFF at character 1"),
    ("conform_batch", "ab", TypeError, "ids: expected list, tuple or an Arrow string array, got str"),
    ("conform_batch", ["a", None], TypeError, "ids[1]: expected str, got NoneType"),
    ("conform_batch", ["a", b"b"], TypeError, "ids[1]: expected str, got bytes"),
    ("conform_batch", ["\udc00"], ValueError, "ids[0]: lone surrogate U+DC00 at character 0"),
]


@pytest.mark.parametrize(("method", "argument", "error", "text"), ERRORS)
def test_errors(method: str, argument: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        call_both(("url_safe",), method, argument)
    assert type(raised.value) is error and str(raised.value) == text


@pytest.mark.parametrize("kind", ["max_length", "alphanumeric"])
@pytest.mark.parametrize(
    ("n", "error", "text"),
    [
        (0, ValueError, "n: expected an int from 1 to 2147483647, got 0"),
        (-3, ValueError, "n: expected an int from 1 to 2147483647, got -3"),
        (2**31, ValueError, "n: expected an int from 1 to 2147483647, got 2147483648"),
        ("9", TypeError, "n: expected int, got str"),
        (True, TypeError, "n: expected int, got bool"),
    ],
)
def test_a_length_is_positive(kind: str, n: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        call_both((kind, n), "accepts", "a")
    assert str(raised.value) == text


def test_formats_are_values() -> None:
    assert ToolCallIdFormat.alphanumeric(9) == ToolCallIdFormat.preset("mistral")
    assert len({ToolCallIdFormat.max_length(9), ToolCallIdFormat.max_length(9), ToolCallIdFormat.any()}) == 2
    assert repr(ToolCallIdFormat.max_length(9)) == "ToolCallIdFormat(kind='max_length', n=9)"
    copy = pickle.loads(pickle.dumps(ToolCallIdFormat.preset("mistral")))
    assert copy == ToolCallIdFormat.preset("mistral") and copy.conform("call_0aB") == "14BbaXa9A"


def test_an_unchanged_id_is_the_same_object() -> None:
    ids = ["a b", "plain", "é"]
    conformed = ToolCallIdFormat.url_safe().conform_batch(ids)
    assert conformed[1] is ids[1]


@pytest.mark.parametrize("type", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_arrow_arrays(format: tuple[str, *tuple[int, ...]], type: pa.DataType) -> None:
    kind, *n = format
    native: ToolCallIdFormat = getattr(ToolCallIdFormat, kind)(*n)
    ids = [None, "", "a b", "plain", "é" * 70, None, *(f"call {i}" for i in range(30)), None, "🦙"]
    expected = [None if id is None else native.conform(id) for id in ids]
    array = pa.array(ids, type)
    conformed = native.conform_batch(array)
    assert isinstance(conformed, pa.Array) and conformed.type == type
    conformed.validate(full=True)
    assert conformed.to_pylist() == expected and conformed.null_count == array.null_count
    for begin, end in ((1, 7), (4, 4), (6, 20), (13, None)):
        part = native.conform_batch(array[begin:end])
        assert isinstance(part, pa.Array)
        part.validate(full=True)
        assert part.to_pylist() == expected[begin:end]


def test_chunked_arrow_arrays() -> None:
    format = ToolCallIdFormat.url_safe()
    array = pa.chunked_array([["a b", None], [], ["c"]], pa.string())
    conformed = format.conform_batch(array)
    assert isinstance(conformed, pa.ChunkedArray) and conformed.type == pa.string()
    assert conformed.to_pylist() == [format.conform("a b"), None, "c"]
    assert [len(chunk) for chunk in conformed.chunks] == [2, 0, 1]
    assert format.conform_batch(pa.chunked_array([], pa.string())) == pa.chunked_array([], pa.string())


class OtherPackage:
    """An array of an Arrow package that is not pyarrow."""

    def __init__(self, array: pa.Array) -> None:
        self._array = array

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self._array.__arrow_c_array__(requested_schema)


def test_arrays_of_other_packages_become_what_any_package_takes() -> None:
    conformed: Any = ToolCallIdFormat.url_safe().conform_batch(OtherPackage(pa.array(["a", None, "b c"])))
    assert len(conformed) == 3
    expected = ["a", None, ToolCallIdFormat.url_safe().conform("b c")]
    arrays = [pa.array(conformed), pa.array(conformed)]
    conformed.__arrow_c_array__()  # capsules that nobody takes over
    del conformed
    assert [array.to_pylist() for array in arrays] == [expected, expected]


@pytest.mark.parametrize("array", [pa.array([1]), pa.array([b"a"]), pa.array(["a"]).dictionary_encode()])
def test_other_arrow_types_are_refused(array: pa.Array) -> None:
    with pytest.raises(
        TypeError, match=r"^ids: expected an Arrow array of type string or large_string, got "
    ):
        ToolCallIdFormat.any().conform_batch(array)


@pytest.mark.parametrize("offsets", [[0, 3, 1], [0, 2**31 - 1, 4]])
def test_arrow_offsets_that_do_not_ascend(offsets: list[int]) -> None:
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"abcd")]
    array = pa.Array.from_buffers(pa.string(), 2, buffers)
    with pytest.raises(ValueError, match=r"\[[01]\]: the offsets of the Arrow array do not ascend"):
        ToolCallIdFormat.alphanumeric(9).conform_batch(array)
