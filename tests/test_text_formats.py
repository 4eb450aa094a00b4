"""The formats that are text alone, on both sides: recorded texts, the rules of the order of roles, errors."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import turnloom
from chats import HI, assistant, call, message, system, tool, user
from oracles import agreed, assert_equal
from turnloom import RenderError, reference

FORMATS = ("chatml", "im_start", "inst", "llama_2", "llama_3", "zephyr")


def apply(messages: Any, format: Any, **options: Any) -> str:
    return agreed(
        lambda: turnloom.apply_text_format(messages, format, **options),
        lambda: reference.apply_text_format(messages, format, **options),
        assert_equal,
    )


CHAT = [system("S"), user(" u\n"), assistant("a"), user("v")]


@pytest.mark.parametrize(
    ("format", "text", "generation_prompt"),
    [
        (
            "chatml",
            "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\n u\n<|im_end|>\n"
            "<|im_start|>assistant\na<|im_end|>\n<|im_start|>user\nv<|im_end|>\n",
            "<|im_start|>assistant\n",
        ),
        ("inst", "<s>[INST] S  u\n [/INST]a</s> [INST] v [/INST]", ""),
        ("llama_2", "<s>[INST] <<SYS>>\nS\n<</SYS>>\n\n u\n [/INST] a </s><s>[INST] v [/INST] ", ""),
        (
            "zephyr",
            "<|system|>\nS</s>\n<|user|>\n u\n</s>\n<|assistant|>\na</s>\n<|user|>\nv</s>\n",
            "<|assistant|>\n",
        ),
        (
            "llama_3",
            "<|begin_of_text|>\n<|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|>\n"
            "<|start_header_id|>user<|end_header_id|>\n\n u\n<|eot_id|>\n"
            "<|start_header_id|>assistant<|end_header_id|>\n\na<|eot_id|>\n"
            "<|start_header_id|>user<|end_header_id|>\n\nv<|eot_id|>\n",
            "<|start_header_id|>assistant<|end_header_id|>\n\n",
        ),
    ],
)
def test_texts(format: str, text: str, generation_prompt: str) -> None:
    assert apply(CHAT, format) == apply(CHAT, format, add_generation_prompt=True) == text + generation_prompt
    assert apply(CHAT, format, add_generation_prompt=False) == text
    if format == "chatml":
        assert apply(CHAT, "im_start") == text + generation_prompt


@pytest.mark.shared
def test_golden(shared: Path) -> None:
    lines = (shared / "golden" / "text_formats.jsonl").read_text(encoding="utf-8").split("\n")
    records = [json.loads(line) for line in lines if line]
    assert len(records) == 306
    for record in records:
        options = {"add_generation_prompt": record["add_generation_prompt"]}
        if "text" in record:
            assert apply(record["messages"], record["format"], **options) == record["text"], record["case"]
        else:
            with pytest.raises(RenderError):
                apply(record["messages"], record["format"], **options)


@given(
    st.sampled_from(FORMATS),
    st.lists(st.sampled_from([system("s"), user("u"), assistant("a")]), max_size=6),
    st.sampled_from([None, True, False]),
)
def test_the_order_of_roles(format: str, messages: list[Any], add_generation_prompt: bool | None) -> None:
    roles = [message["role"] for message in messages]
    turns = roles[1:] if roles[:1] == ["system"] else roles
    in_order = bool(turns) and turns == [("user", "assistant")[i % 2] for i in range(len(turns))]
    if format == "chatml" or in_order:
        text = apply(messages, format, add_generation_prompt=add_generation_prompt)
        assert text.count("u") >= roles.count("user")
    else:
        with pytest.raises(RenderError, match=r"^messages"):
            apply(messages, format, add_generation_prompt=add_generation_prompt)


def test_chatml_takes_any_role() -> None:
    assert apply([message("critic", "no")], "chatml", add_generation_prompt=False) == (
        "<|im_start|>critic\nno<|im_end|>\n"
    )
    assert apply([], "chatml") == "<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("messages", "format", "error"),
    [
        ([], "inst", r"^messages: inst needs a user's message$"),
        ([system("s")], "zephyr", r"^messages: zephyr needs a user's message$"),
        ([HI, HI], "inst", r"^messages\[1\]\.role: inst takes 'assistant' there, got 'user'$"),
        ([assistant("a")], "llama_3", r"^messages\[0\]\.role: llama_3 takes 'user' there, got 'assistant'$"),
        ([HI, tool("t")], "inst", r"^messages\[1\]\.role: inst does not render the role 'tool'$"),
        ([HI, assistant("a", tool_calls=[call("f", {})])], "chatml", r"^messages\[1\]\.tool_calls: "),
        ([HI, assistant("a", reasoning_content="r")], "inst", r"^messages\[1\]\.reasoning_content: "),
        ([user([{"type": "image"}])], "chatml", r"^messages\[0\]\.content\[0\]: "),
    ],
)
def test_conversations_that_are_refused(messages: Any, format: str, error: str) -> None:
    with pytest.raises(RenderError, match=error) as refused:
        apply(messages, format)
    assert "on_loss" not in str(refused.value)


def test_bad_arguments() -> None:
    with pytest.raises(KeyError, match="unknown format 'llama', known: chatml, im_start, inst"):
        apply([HI], "llama")
    with pytest.raises(TypeError, match=r"^format: expected str, got NoneType$"):
        apply([HI], None)
    with pytest.raises(TypeError, match=r"^add_generation_prompt: expected bool or None, got int$"):
        apply([HI], "inst", add_generation_prompt=1)
    with pytest.raises(TypeError, match=r"^messages: expected a list of messages, got str$"):
        apply("Hi", "inst")
    with pytest.raises(ValueError, match=r"^messages\[0\]\.content: "):
        apply([user("\ud800")], "inst")


def test_contents_in_every_form() -> None:
    assert apply([user(["a", {"type": "text", "text": "b"}]), assistant(None)], "inst") == (
        "<s>[INST] ab [/INST]</s> "
    )
