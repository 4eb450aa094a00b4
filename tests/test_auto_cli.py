"""The chat format on the command line: found by itself, and listed."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conftest import Run
from model_folders import write_model


@pytest.fixture
def model(tmp_path: Path) -> str:
    """Write a model's folder, with a chat template that is known."""
    return write_model(tmp_path / "model")


def test_the_family_is_that_of_the_template(run: Run, model: str) -> None:
    code, _, err = run("render", "in.jsonl", "-o", "out.parquet", "-t", model, "--on-loss", "template")
    assert code == 0
    assert err == (
        "turnloom: --family chatml, default_system='You are a helpful assistant.': "
        "its chat template (sha256 793202280c09) is a known one\n"
    )
    config = json.loads(pq.read_schema("out.parquet").metadata[b"turnloom.config"])
    assert config["default_system"] == "You are a helpful assistant."
    assert config["on_loss"] == "template"
    told = ("-f", "chatml", "--option", "default_system=You are a helpful assistant.")
    assert run("render", "in.jsonl", "-o", "told.parquet", "-t", model, *told)[0] == 0
    assert pq.read_table("told.parquet") == pq.read_table("out.parquet")


def test_options_overrule_what_was_found(run: Run, model: str) -> None:
    arguments = ("in.jsonl", "-o", "out.parquet", "-t", model, "-f", "auto", "--option", "default_system=Hi.")
    assert run("render", *arguments)[0] == 0
    config = json.loads(pq.read_schema("out.parquet").metadata[b"turnloom.config"])
    assert config["default_system"] == "Hi."
    code, _, err = run("render", *arguments, "--option", "enable_thinking=false")
    assert code == 2
    assert "--option enable_thinking: chatml has no such field; known are bos, default_system" in err


def test_no_family_and_none_found(run: Run) -> None:
    code, out, err = run("render", "in.jsonl", "-o", "out.parquet", "-t", "builtin")
    assert (code, out) == (2, "")
    assert err == (
        "turnloom: --family: not given, and the tokenizer has no chat template; its name, 'builtin', is not "
        "known; `turnloom families` lists those there are\n"
    )


@pytest.mark.parametrize(
    ("family", "problem"),
    [
        (
            "default",
            "--family default: a chat template alone has no loss mask; the command line needs a family",
        ),
        ("", "--family: unknown family '', known: chatml, "),
    ],
)
def test_no_family_of_that_name(run: Run, family: str, problem: str) -> None:
    code, _, err = run("render", "in.jsonl", "-o", "out.parquet", "-t", "builtin", "-f", family)
    assert code == 2
    assert err.startswith(f"turnloom: {problem}")


def test_a_template_that_is_not_known(run: Run, tmp_path: Path) -> None:
    model = write_model(tmp_path / "other", "{{ messages }}")
    code, _, err = run("render", "in.jsonl", "-o", "out.parquet", "-t", model)
    assert code == 2
    assert err.startswith("turnloom: --family: not given, and its chat template (sha256 ")
    code, out, _ = run("families", "-t", model)
    assert code == 1
    assert "is not a known one; its name, " in out


def test_families(run: Run, model: str) -> None:
    code, out, err = run("families")
    assert (code, err) == (0, "")
    assert "Every family can: render, parse" in out
    blocks = {block.splitlines()[0]: block.splitlines()[1:] for block in out.split("\n\n")}
    assert blocks["qwen3, revision='first'"] == []
    assert "    Qwen/Qwen3-4B-Instruct-2507" in blocks["qwen3, revision='instruct-2507'"]
    assert "    Qwen/Qwen3-8B" in blocks["qwen3"]

    code, out, err = run("families", "-t", model)
    assert (code, err) == (0, "")
    assert out.startswith("chatml (render, parse")
    code, out, err = run("families", "-t", "builtin")
    assert (code, err) == (1, "")
    assert out.startswith("no known family (nothing): the tokenizer has no chat template")
    assert run("families", "-t", "nowhere")[0] == 2
