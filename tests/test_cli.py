"""The commands as they are typed: what they print, and their exit codes."""

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import turnloom
from conftest import Run
from turnloom.cli.conversation_text import token_texts

EXAMPLES = Path(__file__).parents[1] / "examples"
FORMAT = ("-t", "builtin", "-f", "qwen3")


def test_render_then_show(run: Run) -> None:
    code, out, err = run(
        "render", str(EXAMPLES / "chats.jsonl"), "-o", "out.parquet", *FORMAT, "--carry", "id"
    )
    assert (code, err) == (0, "")
    summary = dict(line.rsplit(maxsplit=1) for line in out.splitlines())
    table = pq.read_table("out.parquet")
    assert summary["rows"] == str(len(table)) and summary["errors"] == "0"
    assert int(summary["tokens"].replace(",", "")) == sum(map(len, table["token_ids"].to_pylist()))
    assert int(summary["trained tokens"].replace(",", "")) == sum(map(sum, table["loss_mask"].to_pylist()))

    emoji = table["id"].to_pylist().index("lang-emoji")
    code, out, err = run("show", "out.parquet", "--row", str(emoji))
    assert (code, err) == (0, "")
    assert f"row {emoji} of out.parquet" in out and f"chats.jsonl:{emoji + 1}" in out
    # Characters of several tokens are whole, and the user's turn is not trained.
    assert (
        "<|im_start|>user\nReply with flags only: where are Nairobi, Montréal and Zürich? 🌍<|im_end|>" in out
    )
    assert "<|im_start|>assistant\n{+🇰🇪 🇨🇦 🇨🇭<|im_end|>+}\n" in out
    assert "👨‍👩‍👧‍👦 — four people" in out


def test_rows_that_train_nothing_are_counted(run: Run, tmp_path: Path) -> None:
    user, answer = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}
    rows = [[user, answer], [user], [user, answer | {"train": False}], [{"role": "tol"}]]
    (tmp_path / "more.jsonl").write_text("".join(json.dumps({"messages": row}) + "\n" for row in rows))
    code, _, err = run("render", "more.jsonl", "-o", "out.parquet", *FORMAT, "--columns", "loss_mask")
    assert code == 3 and err.splitlines()[0] == "turnloom: rows without a trained token: 2"
    masks = pq.read_table("out.parquet")["loss_mask"].to_pylist()
    assert [any(mask) for mask in masks] == [True, False, False]
    # Prompts are there to be sampled from.
    _, _, err = run("render", "more.jsonl", "-o", "out.parquet", *FORMAT, "--add-generation-prompt")
    assert "trained" not in err


def test_the_output_says_how_it_was_made(run: Run) -> None:
    run(
        "render",
        "in.jsonl",
        "-o",
        "out.parquet",
        *FORMAT,
        "--option",
        "enable_thinking=false",
        "--on-loss",
        "template",
    )
    metadata = {key.decode(): value.decode() for key, value in pq.read_schema("out.parquet").metadata.items()}
    assert metadata["turnloom.version"] == turnloom.__version__
    assert (metadata["turnloom.family"], metadata["turnloom.tokenizer"]) == ("qwen3", "builtin")
    config = turnloom.Qwen3Config(enable_thinking=False, on_loss="template")
    assert turnloom.Qwen3Config.model_validate_json(metadata["turnloom.config"]) == config


def test_options_reach_the_renderer(run: Run) -> None:
    run(
        "render",
        str(EXAMPLES / "shop.jsonl"),
        "-o",
        "out.parquet",
        *FORMAT,
        "--tools",
        str(EXAMPLES / "tools.json"),
        "--add-generation-prompt",
        "--option",
        "enable_thinking=0",
        "--marker-policy",
        "all",
        "--columns",
        "fields,token_ids",
        "--batch-rows",
        "2",
        "--threads",
        "2",
    )
    renderer = turnloom.create_renderer(
        turnloom.load_tokenizer("builtin"), turnloom.Qwen3Config(enable_thinking=False, marker_policy="all")
    )
    tools = json.loads((EXAMPLES / "tools.json").read_text("utf-8"))
    lines = (EXAMPLES / "shop.jsonl").read_text("utf-8").splitlines()
    expected = [
        renderer.render_ids(json.loads(line)["messages"], tools=tools, add_generation_prompt=True)
        for line in lines
    ]
    table = pq.read_table("out.parquet")
    assert table.column_names == ["fields", "token_ids"]
    assert table["token_ids"].to_pylist() == expected


def test_bad_rows_give_exit_code_3_and_strict_1(run: Run, tmp_path: Path) -> None:
    with (tmp_path / "in.jsonl").open("a") as file:
        file.write('{"messages": [{"role": "usr", "content": "x"}]}\n')
    code, _, err = run("render", "in.jsonl", "-o", "out.parquet", *FORMAT, "--strict")
    assert code == 1
    assert "in.jsonl:2: messages[0].role: " in err and "nothing was written" in err
    assert os.listdir() == ["in.jsonl"]
    code, out, err = run("render", "in.jsonl", "-o", "out.parquet", *FORMAT)
    assert code == 3
    assert (
        "out.parquet.errors.jsonl" in err
        and dict(line.rsplit(maxsplit=1) for line in out.splitlines())["errors"] == "1"
    )
    assert len(pq.read_table("out.parquet")) == 1
    record = json.loads(Path("out.parquet.errors.jsonl").read_text())
    assert (record["input"], record["line"], record["place"], record["error"]) == (
        "in.jsonl", 2, "messages[0].role", "RenderError",
    )  # fmt: skip


USAGE: list[tuple[list[str], str]] = [
    (["no.jsonl"], "no.jsonl: no such file"),
    (["folder.jsonl"], "folder.jsonl: not a file"),
    (["in.txt"], "in.txt: unknown extension; readable are .jsonl, .jsonl.gz, .parquet"),
    (["no-messages.parquet"], "no-messages.parquet: no column 'messages'; its columns are text"),
    (["not.parquet"], "not.parquet: not a readable Parquet file"),
    (["in.jsonl", "-o", "no/out.parquet"], "no/out.parquet: no such folder: no"),
    (["in.jsonl", "-o", "out.jsonl"], "out.jsonl: the output is a Parquet file"),
    (["in.jsonl", "-o", "folder.parquet"], "folder.parquet: exists and is not a file"),
    (["chats.parquet", "-o", "./chats.parquet"], "chats.parquet: is an input, and would be overwritten"),
    (["in.jsonl", "-t", "no-tokenizer"], "--tokenizer no-tokenizer: "),
    (["in.jsonl", "-f", "nope"], "--family: unknown family 'nope', known: chatml, "),
    (
        ["in.jsonl", "--option", "thinking=1"],
        "--option thinking: qwen3 has no such field; known are revision, enable_thinking, reemit",
    ),
    (["in.jsonl", "--option", "enable_thinking=perhaps"], "--option enable_thinking: "),
    (["in.jsonl", "--option", "enable_thinking"], "--option enable_thinking: expected FIELD=VALUE"),
    (["in.jsonl", "--option", "on_loss=raise"], "--option on_loss: use --on-loss"),
    (["in.jsonl", "--marker-policy", "some"], "--marker-policy: "),
    (["in.jsonl", "--on-loss", "ignore"], "--on-loss: "),
    (
        ["in.jsonl", "--columns", "token_ids,x"],
        "columns: unknown column 'x'; known are token_ids, message_indices",
    ),
    (["in.jsonl", "--columns", "line,line"], "columns: the output would have two columns 'line'"),
    (["in.jsonl", "--carry", "fields"], "carry: the output would have two columns 'fields'"),
    (["chats.parquet", "--carry", "x"], "chats.parquet: no column 'x' to carry; its columns are messages"),
    (["in.jsonl", "--tools", "no.json"], "--tools no.json: cannot be read"),
    (["in.jsonl", "--tools", "in.txt"], "--tools in.txt: not JSON"),
    (["in.jsonl", "--tools", "tool.json"], "--tools tool.json: expected a JSON list of tools, got dict"),
    (["in.jsonl", "--tools", "five.json"], "--tools five.json: tools[0]: expected a JSON object, got int"),
    (["in.jsonl", "--threads", "0"], "--threads"),
    (["in.jsonl", "--batch-rows", "0"], "--batch-rows"),
    (["in.jsonl", "--nope"], "--nope"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE)
def test_wrong_usage_is_named_and_gives_exit_code_2(
    run: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "folder.parquet").mkdir()
    (tmp_path / "in.txt").write_text("hello")
    (tmp_path / "tool.json").write_text('{"name": "f"}')
    (tmp_path / "five.json").write_text("[5]")
    (tmp_path / "not.parquet").write_text("hello")
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "no-messages.parquet")
    pq.write_table(pa.table({"messages": ["[]"]}), tmp_path / "chats.parquet")
    before = sorted(tmp_path.rglob("*"))
    # The last value of an option counts.
    code, out, err = run("render", "-o", "out.parquet", *FORMAT, *arguments)
    assert (code, out) == (2, "")
    assert message in err and "Traceback" not in err
    assert sorted(tmp_path.rglob("*")) == before


def test_show_says_what_it_cannot_show(run: Run, tmp_path: Path) -> None:
    run("render", "in.jsonl", "-o", "out.parquet", *FORMAT)
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "other.parquet")
    pq.write_table(pa.table({"token_ids": [[1]]}), tmp_path / "ids.parquet")
    for arguments, message in [
        (["no.parquet"], "no.parquet: no such file"),
        (["in.jsonl"], "in.jsonl: not a readable Parquet file"),
        (["other.parquet"], "other.parquet: no column 'token_ids'; its columns are text"),
        (["out.parquet", "--row", "1"], "--row 1: out.parquet has rows 0 to 0"),
        (["out.parquet", "--row", "-1"], "--row -1: out.parquet has rows 0 to 0"),
        (["out.parquet", "--tokenizer", "nope"], "--tokenizer nope: "),
        (["ids.parquet"], "ids.parquet: does not say which tokenizer it was made with; give --tokenizer"),
    ]:
        code, out, err = run("show", *arguments)
        assert (code, out) == (2, "") and message in err
    code, out, _ = run("show", "ids.parquet", "-t", "builtin")
    assert code == 0 and "neither loss_mask nor sampled_mask" in out


def test_show_counts_messages_and_stops_at_the_limit(run: Run) -> None:
    run("render", "in.jsonl", "-o", "out.parquet", *FORMAT)
    tokens = pq.read_table("out.parquet").to_pylist()[0]
    code, out, _ = run("show", "out.parquet", "--limit", "3")
    n_tokens = len(tokens["token_ids"])
    assert code == 0 and f"... and {n_tokens - 3} more tokens" in out and "Yo" not in out
    rows = {line.split()[0]: line.split()[1:3] for line in out.split("\n\n")[-1].splitlines()[1:]}
    trained = str(sum(tokens["loss_mask"]))
    first = str(tokens["message_indices"].count(0))
    assert rows == {
        "0": [first, "0"],
        "1": [str(n_tokens - int(first)), trained],
        "all": [str(n_tokens), trained],
    }


def test_show_spells_what_would_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    row = {"messages": [{"role": "user", "content": "a\x1b[31mb\u202ec\td\x00[bold]e"}]}
    (tmp_path / "in.jsonl").write_text(json.dumps(row))
    run("render", "in.jsonl", "-o", "out.parquet", *FORMAT)
    _, out, _ = run("show", "out.parquet")
    assert "a\\x1b[31mb\\u202ec\td\\x00[bold]e<|im_end|>" in out


def test_token_texts_join_characters() -> None:
    assert token_texts([b"a\xf0\x9f", b"\x99", b"\x82b", b"\xc3", b"\xa9\xc3", b"\xa9"]) == [
        "a🙂",
        "",
        "b",
        "é",
        "é",
        "",
    ]
    assert token_texts([b"ok", b"\xf0\x9f"]) == ["ok", "\ufffd"]
    assert token_texts([]) == []


def test_help_and_version(run: Run) -> None:
    assert run("--version") == (0, f"turnloom {turnloom.__version__}\n", "")
    for arguments in (["--help"], ["render", "--help"], ["show", "-h"]):
        code, out, err = run(*arguments)
        assert (code, err) == (0, "") and "turnloom" in out
    assert "--marker-policy" in run("render", "--help")[1]


def test_missing_packages_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turnloom.cli, "find_spec", lambda name: None if name == "pyarrow" else object())
    code, out, err = run("--help")
    assert (code, out) == (1, "")
    assert err == "turnloom: the command line needs pyarrow; run: pip install 'turnloom[cli]'\n"
