"""Reading rows, the main job, and what it leaves behind."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import turnloom
import vocabularies
from turnloom.data import (
    COLUMNS,
    DEFAULT_COLUMNS,
    BadRow,
    BadRowError,
    InputError,
    ReadError,
    read_rows,
    render_files,
)
from turnloom.data.columns import row_slices

EXAMPLES = Path(__file__).parents[1] / "examples"
USER = {"role": "user", "content": "Hi"}
ROW = {"messages": [USER, {"role": "assistant", "content": "Yo"}]}
LIST_TYPES = {
    "token_ids": pa.list_(pa.int32()),
    "message_indices": pa.list_(pa.int32()),
    "sampled_mask": pa.list_(pa.bool_()),
    "is_content": pa.list_(pa.bool_()),
    "loss_mask": pa.list_(pa.bool_()),
    "fields": pa.list_(pa.uint8()),
    "byte_offsets": pa.list_(pa.list_(pa.int64(), 2)),
}


@pytest.fixture(scope="module")
def renderer() -> turnloom.Renderer:
    return turnloom.create_renderer(turnloom.load_tokenizer("builtin"), turnloom.Qwen3Config())


def write_jsonl(path: Path, rows: Sequence[Any]) -> Path:
    """Write rows as lines; bytes stand as they are."""
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def call_row(arguments: Any) -> dict[str, Any]:
    calls = [{"function": {"name": "f", "arguments": arguments}}]
    return {"messages": [USER, {"role": "assistant", "content": None, "tool_calls": calls}]}


def read_errors(output: Path) -> list[dict[str, Any]]:
    text = output.with_name(output.name + ".errors.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def texts(renderer: turnloom.Renderer, output: Path) -> list[str]:
    return [renderer.tokenizer.decode(ids) for ids in pq.read_table(output)["token_ids"].to_pylist()]


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    strange = {"messages": [{"role": "user", "content": "a\u2028b\u0085c\x0b"}]}
    text = "\ufeff" + json.dumps(strange, ensure_ascii=False).replace("\\u000b", "\x0b") + "\r\n"
    # A vertical tab may not stand in JSON as it is, and does not end the line either.
    data = text.encode() + b"\n \t\r\n" + json.dumps(ROW).encode()
    for path in (tmp_path / "a.jsonl", tmp_path / "a.JSONL.gz"):
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        rows = list(read_rows(path))
        assert [row.line for row in rows] == [1, 4]
        assert isinstance(rows[0].value, ValueError) and "Invalid control character" in str(rows[0].value)
        assert rows[1].value == ROW
        assert rows[-1].position == path.stat().st_size
    (tmp_path / "b.jsonl").write_bytes(data.replace(b"\x0b", b""))
    first = next(read_rows(tmp_path / "b.jsonl")).value
    assert first == {"messages": [{"role": "user", "content": "a\u2028b\u0085c"}]}


BAD_ROWS: list[tuple[Any, str, str, str]] = [
    (b'{"messages": [', "row", "not JSON: Expecting value at character 15", "ValueError"),
    (b'"\xff"', "row", "not UTF-8 at byte 1", "ValueError"),
    (b"[" * 100_000, "row", "not JSON: nested too deeply", "ValueError"),
    ([USER], "row", "expected a JSON object, got list", "TypeError"),
    ({"tools": []}, "messages", "missing", "ValueError"),
    ({"messages": None}, "messages", "missing", "ValueError"),
    ({"messages": "[{]"}, "messages", "not JSON: Expecting property name", "ValueError"),
    ({"messages": [USER], "tools": "{"}, "tools", "not JSON: Expecting property name", "ValueError"),
    ({"messages": []}, "messages", "no messages", "ValueError"),
    ({"messages": 5}, "messages", "", "TypeError"),
    ({"messages": [USER, {"content": "x"}]}, "messages[1].role", "missing", "RenderError"),
    (
        {"messages": [{"role": "user", "content": "\ud800"}]},
        "messages[0].content",
        "lone surrogate",
        "ValueError",
    ),
    ({"messages": [USER], "tools": [5]}, "tools[0]", "expected a dict, got int", "TypeError"),
    (
        {"messages": [{"role": "user", "content": [{"type": "image"}]}]},
        "messages[0].content[0]",
        "",
        "RenderError",
    ),
]


@pytest.mark.parametrize(("row", "place", "reason", "error"), BAD_ROWS)
def test_a_bad_row_is_listed_and_left_out(
    renderer: turnloom.Renderer, tmp_path: Path, row: Any, place: str, reason: str, error: str
) -> None:
    source, output = write_jsonl(tmp_path / "in.jsonl", [ROW, row, ROW]), tmp_path / "out.parquet"
    counts = render_files(renderer, [source], output)
    assert (counts.rows, counts.errors) == (2, 1)
    assert pq.read_table(output)["line"].to_pylist() == [1, 3]
    [record] = read_errors(output)
    assert list(record) == ["input", "line", "place", "reason", "error"]
    assert (record["input"], record["line"], record["error"]) == (str(source), 2, error)
    assert record["place"] == place or record["place"].startswith(place + ".")
    assert reason in record["reason"]


def test_every_column_is_what_the_renderer_gives(renderer: turnloom.Renderer, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (EXAMPLES / "tool_use.jsonl").read_text("utf-8").split("\n") if line]
    output = tmp_path / "out.parquet"
    counts = render_files(
        renderer,
        [EXAMPLES / "tool_use.jsonl"],
        output,
        columns=COLUMNS,
        add_generation_prompt=True,
        batch_rows=3,
    )
    table = pq.read_table(output)
    assert {name: table.schema.field(name).type for name in LIST_TYPES} == LIST_TYPES
    assert table.column_names == list(COLUMNS)
    for i, row in enumerate(rows):
        expected = renderer.render(
            row["messages"], tools=row["tools"], add_generation_prompt=True, byte_offsets=True
        ).columns
        for name in LIST_TYPES:
            np.testing.assert_array_equal(table[name][i].as_py(), getattr(expected, name), name)
    assert counts.tokens == sum(map(len, table["token_ids"].to_pylist()))
    assert counts.trained_tokens == sum(map(sum, table["loss_mask"].to_pylist()))


def test_all_examples_render(renderer: turnloom.Renderer, tmp_path: Path) -> None:
    inputs = sorted(EXAMPLES.glob("*.jsonl"))
    counts = render_files(renderer, inputs, tmp_path / "out.parquet", carry=["id"])
    assert counts.errors == 0 and counts.rows >= 40
    assert counts.input_bytes == sum(path.stat().st_size for path in inputs)
    assert len(set(pq.read_table(tmp_path / "out.parquet")["id"].to_pylist())) == counts.rows


def test_batches_and_threads_change_nothing(renderer: turnloom.Renderer, tmp_path: Path) -> None:
    inputs = [write_jsonl(tmp_path / "bad.jsonl", [ROW, b"{", {"messages": []}]), EXAMPLES / "chats.jsonl"]
    tables = []
    for batch_rows, threads in ((1, None), (2, 2), (1000, 1)):
        output = tmp_path / f"{batch_rows}.parquet"
        render_files(renderer, inputs, output, batch_rows=batch_rows, threads=threads)
        tables.append(pq.read_table(output))
        assert [error["line"] for error in read_errors(output)] == [2, 3]
    assert tables[0].equals(tables[1]) and tables[0].equals(tables[2])
    assert tables[0]["line"].to_pylist() == [1, *range(1, len(tables[0]))]


def test_parquet_gives_the_tokens_of_jsonl(renderer: turnloom.Renderer, tmp_path: Path) -> None:
    rows = [
        {"messages": [USER], "tools": None},
        {
            **call_row({"place": "Rome"}),
            "tools": [{"name": "f", "parameters": {"place": {"type": "string"}}}],
        },
        {**call_row({"n": 3}), "tools": [{"name": "f", "parameters": {"n": {"type": "integer"}}}]},
    ]
    source = write_jsonl(tmp_path / "in.jsonl", rows)
    render_files(renderer, [source], tmp_path / "jsonl.parquet")
    # As structs, every call would have a null `n` or `place`, were null fields not dropped.
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "structs.parquet")
    as_text = [{name: json.dumps(value) for name, value in row.items()} for row in rows]
    pq.write_table(pa.Table.from_pylist(as_text), tmp_path / "text.parquet")
    for name in ("structs", "text"):
        output = tmp_path / f"{name}-out.parquet"
        render_files(renderer, [tmp_path / f"{name}.parquet"], output)
        assert texts(renderer, output) == texts(renderer, tmp_path / "jsonl.parquet")
        assert pq.read_table(output)["line"].to_pylist() == [0, 1, 2]


def test_nulls_in_maps_and_json_text_stay(renderer: turnloom.Renderer, tmp_path: Path) -> None:
    arguments = pa.array([[("a", None), ("b", 1)]], pa.map_(pa.string(), pa.int64()))
    function = pa.StructArray.from_arrays([pa.array(["f"]), arguments], ["name", "arguments"])
    calls = pa.ListArray.from_arrays([0, 1], function)
    message = pa.StructArray.from_arrays([pa.array(["assistant"]), calls], ["role", "tool_calls"])
    pq.write_table(pa.table({"messages": pa.ListArray.from_arrays([0, 1], message)}), tmp_path / "in.parquet")
    render_files(renderer, [tmp_path / "in.parquet"], tmp_path / "out.parquet")
    assert '"arguments": {"a": null, "b": 1}' in texts(renderer, tmp_path / "out.parquet")[0]


def test_tools_of_the_job_are_for_rows_without(renderer: turnloom.Renderer, tmp_path: Path) -> None:
    rows = [
        {"messages": [USER]},
        {"messages": [USER], "tools": [{"name": "own"}]},
        {"messages": [USER], "tools": []},
    ]
    source, output = write_jsonl(tmp_path / "in.jsonl", rows), tmp_path / "out.parquet"
    for batch_rows in (1, 8):
        render_files(renderer, [source], output, tools=[{"name": "shared"}], batch_rows=batch_rows)
        found = [("shared" in text, "own" in text) for text in texts(renderer, output)]
        assert found == [(True, False), (False, True), (False, False)]


def test_columns_carried_from_jsonl_get_the_type_of_the_first_rows(
    renderer: turnloom.Renderer, tmp_path: Path
) -> None:
    extra: list[dict[str, Any]] = [
        {"n": 1, "score": 1, "ok": True, "tag": "é", "mixed": 1, "deep": {"a": [1]}},
        {"score": 0.5, "ok": None, "tag": "", "mixed": "x", "deep": None},
        {"n": "two"},
        {"n": 3, "tag": "\ud800"},
    ]
    names = ["n", "score", "ok", "tag", "mixed", "deep", "never"]
    source, output = (
        write_jsonl(tmp_path / "in.jsonl", [{**ROW, **row} for row in extra]),
        tmp_path / "out.parquet",
    )
    render_files(renderer, [source], output, columns=["token_ids"], carry=names, batch_rows=2)
    table = pq.read_table(output)
    assert table.column_names == ["token_ids", *names]
    assert [str(table.schema.field(name).type) for name in names] == [
        "int64", "double", "bool", "string", "string", "string", "string",
    ]  # fmt: skip
    assert table.select(names).to_pylist() == [
        {"n": 1, "score": 1.0, "ok": True, "tag": "é", "mixed": "1", "deep": '{"a": [1]}', "never": None},
        {"n": None, "score": 0.5, "ok": None, "tag": "", "mixed": '"x"', "deep": None, "never": None},
    ]
    assert [(row["place"], row["reason"]) for row in read_errors(output)] == [
        ("n", "'two' is not int64, as the column's first values were"),
        ("tag", "lone surrogate U+D800 at character 0"),
    ]


def test_columns_carried_from_parquet_are_the_same(renderer: turnloom.Renderer, tmp_path: Path) -> None:
    rows = pa.table(
        {
            "messages": [[USER], [], [USER]],
            "time": pa.array([1, 2, None], pa.timestamp("ns")),
            "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
            "meta": pa.array([{"x": 1, "y": None}, None, {"x": None, "y": "z"}]),
            "nothing": pa.nulls(3),
        }
    )
    pq.write_table(rows, tmp_path / "in.parquet")
    names = ["messages", "time", "kind", "meta", "nothing"]
    render_files(renderer, [tmp_path / "in.parquet"], tmp_path / "out.parquet", carry=names)
    table = pq.read_table(tmp_path / "out.parquet", columns=names)
    expected = pq.read_table(tmp_path / "in.parquet").take([0, 2])
    assert table.schema.equals(expected.schema)
    assert table["time"].cast(pa.int64()).to_pylist() == [1, None]
    assert table.drop("time").to_pylist() == expected.drop("time").to_pylist()


def test_a_failed_job_leaves_everything_as_it_was(renderer: turnloom.Renderer, tmp_path: Path) -> None:
    source, output = write_jsonl(tmp_path / "in.jsonl", [ROW, b"{", ROW]), tmp_path / "out.parquet"
    output.write_bytes(b"old")
    (tmp_path / "out.parquet.errors.jsonl").write_bytes(b"old errors")
    before = sorted(tmp_path.iterdir())

    def interrupt(counts: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render_files(renderer, [source], output, on_progress=interrupt)
    with pytest.raises(BadRowError, match=r"in\.jsonl:2: row: not JSON"):
        render_files(renderer, [source], output, strict=True)
    broken = tmp_path.parent / f"{tmp_path.name}.jsonl.gz"
    broken.write_bytes(gzip.compress(source.read_bytes())[:-9])
    with pytest.raises(ReadError, match=r"\.jsonl\.gz: cannot be read on"):
        render_files(renderer, [broken], output, batch_rows=1)
    assert sorted(tmp_path.iterdir()) == before
    assert (
        output.read_bytes() == b"old"
        and (tmp_path / "out.parquet.errors.jsonl").read_bytes() == b"old errors"
    )


def test_a_job_without_errors_removes_an_old_errors_file(renderer: turnloom.Renderer, tmp_path: Path) -> None:
    source, output = write_jsonl(tmp_path / "in.jsonl", [ROW]), tmp_path / "out.parquet"
    (tmp_path / "out.parquet.errors.jsonl").write_text("old")
    render_files(renderer, [source], output)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.parquet"]


def test_no_rows_still_give_every_column(renderer: turnloom.Renderer, tmp_path: Path) -> None:
    source, output = write_jsonl(tmp_path / "in.jsonl", []), tmp_path / "out.parquet"
    counts = render_files(renderer, [source], output, carry=["id"], metadata={"key": "value"})
    assert (counts.rows, counts.errors, counts.tokens) == (0, 0, 0)
    schema = pq.read_schema(output)
    assert schema.names == [*DEFAULT_COLUMNS, "id"] and schema.metadata[b"key"] == b"value"


def test_what_is_wrong_before_the_start_is_an_input_error(
    renderer: turnloom.Renderer, tmp_path: Path
) -> None:
    source, output = write_jsonl(tmp_path / "in.jsonl", [ROW]), tmp_path / "out.parquet"
    pq.write_table(pa.table({"messages": ["[]"], "id": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"messages": ["[]"], "id": ["1"]}), tmp_path / "b.parquet")
    parquet = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    wrong: list[tuple[Sequence[Path], dict[str, Any], str]] = [
        ([], {}, "inputs: no files"),
        ([source], {"columns": []}, "columns: none given"),
        ([source], {"columns": ["fields", "fields"]}, "columns: the output would have two columns 'fields'"),
        ([source], {"carry": ["line"]}, "carry: the output would have two columns 'line'"),
        (parquet, {"carry": ["id"]}, r"b\.parquet: column 'id' is string, but int64 in another input"),
        (parquet, {"carry": ["no"]}, r"a\.parquet: no column 'no' to carry; its columns are messages, id"),
        ([source, *parquet], {"carry": ["id"]}, "inputs of one kind"),
    ]
    for inputs, options, message in wrong:
        with pytest.raises(InputError, match=message):
            render_files(renderer, inputs, output, **options)
    assert not output.exists()


def test_places_are_split_from_reasons() -> None:
    for place, reason in [
        ("messages[3].role", "unknown role 'a: b'"),
        ("messages[0].tool_calls[1].function.arguments['a: b'][2]", "x: y"),
        ('tools[0]["it\'s: "][-1]', "two\nlines"),
    ]:
        row = BadRow.from_exception("a.jsonl", 1, ValueError(f"{place}: {reason}"))
        assert (row.place, row.reason) == (place, reason)
    assert BadRow.from_exception("a", 1, ValueError("no place in: this")).place == ""
    assert BadRow.from_exception("a", 1, KeyError("name: unknown")).place == "name"


def test_row_slices_stay_under_the_limit() -> None:
    offsets = np.array([0, 3, 3, 5, 9, 9], dtype=np.int64)
    assert list(row_slices(offsets, 5)) == [slice(0, 3), slice(3, 5)]
    assert list(row_slices(offsets, 100)) == [slice(0, 5)]
    assert list(row_slices(offsets[:1], 5)) == []
    with pytest.raises(OverflowError, match="a row of 4 tokens"):
        list(row_slices(offsets, 3))


def test_a_tokenizer_without_offsets(tmp_path: Path) -> None:
    config = turnloom.ChatMLConfig(marker_policy="all")
    renderer = turnloom.create_renderer(vocabularies.without_offsets(), config)
    source, output = write_jsonl(tmp_path / "in.jsonl", [ROW]), tmp_path / "out.parquet"
    with pytest.raises(
        InputError, match=r"^columns: 'sampled_mask' is not available, as the tokenizer gives"
    ):
        render_files(renderer, [source], output)
    assert not output.exists()
    counts = render_files(renderer, [source], output, columns=["token_ids", "message_indices"])
    assert (counts.rows, counts.trained_tokens) == (1, 0)
    assert pq.read_table(output)["token_ids"].to_pylist() == [renderer.render_ids(ROW["messages"])]
