"""What sets the families apart: their config fields, and what each of them would lose. Both sides give it."""

import datetime
import time
from typing import Any

import pytest

import vocabularies
from chats import HI, WEATHER, assistant, call, message, system, text_part, tool, user
from oracles import Both
from turnloom import Field, RenderError
from turnloom.configs import config_from_name

ACCEPTED = '(on_loss="template" accepts that)'
LLAMAS = ("llama-3.1", "llama-3.2")
TOOL = {"name": "f"}
TOOL_INDENTED = '{\n    "name": "f"\n}\n\n'
CALL_FORM = (
    'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.'
    "Do not use variables.\n\n"
)
IN_USER = (
    "Given the following functions, please respond with a JSON for a function call with its proper arguments "
    "that best answers the given prompt.\n\n" + CALL_FORM + TOOL_INDENTED
)
IN_SYSTEM = (
    "You have access to the following functions. To call a function, please respond with JSON for a function "
    "call." + CALL_FORM + TOOL_INDENTED
)
QWEN_SYSTEM = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."


def both(family: str, **fields: Any) -> Both:
    return Both(vocabularies.tokenizer("builtin"), config_from_name(family, **fields))


def qwen_turn(role: str, text: str) -> str:
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


def llama_turn(role: str, text: str, close: str = "<|eot_id|>") -> str:
    return f"<|start_header_id|>{role}<|end_header_id|>\n\n{text}{close}"


def llama_opening(text: str = "", *, before: str = "", date: str = "26 Jul 2024") -> str:
    dates = f"Cutting Knowledge Date: December 2023\nToday Date: {date}\n\n"
    return "<|begin_of_text|>" + llama_turn("system", before + dates + text)


def move_clock(monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    now = time.time() + days * 86_400

    class Moved(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:
            return cls.fromtimestamp(now, tz)

    monkeypatch.setattr(time, "time", lambda: now)
    monkeypatch.setattr(datetime, "datetime", Moved)


@pytest.mark.parametrize("family", LLAMAS)
@pytest.mark.parametrize("fields", [{}, {"date_string": "15 Jan 2026"}], ids=str)
def test_the_date_is_never_that_of_the_clock(
    monkeypatch: pytest.MonkeyPatch, family: str, fields: dict[str, str]
) -> None:
    texts = set()
    for days in (0, 1):
        move_clock(monkeypatch, days)
        texts.add(both(family, **fields).render_text([HI]))
    date = fields.get("date_string", "26 Jul 2024")
    assert texts == {llama_opening(date=date) + llama_turn("user", "Hi")}


@pytest.mark.parametrize("family", LLAMAS)
def test_tools_in_user_message(family: str) -> None:
    messages = [system(" S "), user(" q ")]
    environment = "Environment: ipython\n"
    in_user = both(family).render(messages, tools=[TOOL])
    assert both(family).render_text(messages, tools=[TOOL]) == llama_opening(
        "S", before=environment
    ) + llama_turn("user", IN_USER + "q")
    specs = [index for index, field in zip(in_user.message_indices, in_user.columns.fields, strict=True)
             if field == Field.TOOL_SPEC]  # fmt: skip
    assert set(specs) == {1}
    assert both(family, tools_in_user_message=False).render_text(messages, tools=[TOOL]) == llama_opening(
        IN_SYSTEM + "S", before=environment
    ) + llama_turn("user", "q")


@pytest.mark.parametrize("family", LLAMAS)
def test_no_tools_are_not_an_empty_list_of_them(family: str) -> None:
    empty = IN_USER.removesuffix(TOOL_INDENTED)
    assert both(family).render_text([HI]) == llama_opening() + llama_turn("user", "Hi")
    assert both(family).render_text([HI], tools=[]) == llama_opening(
        before="Environment: ipython\n"
    ) + llama_turn("user", empty + "Hi")


@pytest.mark.parametrize("family", LLAMAS)
def test_parallel_tool_calls(family: str) -> None:
    messages = [HI, assistant(tool_calls=[call("f", {"a": 1}), call("g", '{"b":2}')])]
    text = both(family, parallel_tool_calls=True).render_text(messages)
    calls = '{"name": "f", "parameters": {"a": 1}}; {"name": "g", "parameters": {"b":2}}'
    assert text == llama_opening() + llama_turn("user", "Hi") + llama_turn("assistant", calls)
    for on_loss in ("raise", "template"):
        with pytest.raises(RenderError) as raised:
            both(family, on_loss=on_loss).render_text(messages)
        assert str(raised.value) == f"messages[1].tool_calls: {family} renders exactly one call a turn, got 2"


def test_builtin_tools() -> None:
    renderer = both("llama-3.1", builtin_tools=["brave_search", "code_interpreter", "f"])
    opening = llama_opening(before="Environment: ipython\nTools: brave_search, f\n\n")
    messages = [assistant(tool_calls=[call("f", {"q": 'a "b"', "é": ""})]), tool("r")]
    builtin_call = '<|python_tag|>f.call(q="a "b"", é="")'
    assert renderer.render_text(messages) == opening + llama_turn(
        "assistant", builtin_call, "<|eom_id|>"
    ) + llama_turn("ipython", '"r"')
    text = renderer.render_text([assistant(tool_calls=[call("g", {})])])
    assert text == opening + llama_turn("assistant", '{"name": "g", "parameters": {}}', "<|eom_id|>")
    assert renderer.render(messages).sampled_mask[-1] is False
    assert len(renderer.get_stop_token_ids()) == 3


@pytest.mark.parametrize("arguments", [[], None, "q", {"q": 1}, {1: "q"}, {"a": "b", "q": None}], ids=repr)
def test_a_builtin_tool_takes_strings(arguments: Any) -> None:
    renderer = both("llama-3.1", builtin_tools=["it's"], on_loss="template")
    with pytest.raises(RenderError) as raised:
        renderer.render_ids([HI, assistant(tool_calls=[call("it's", arguments)])])
    assert str(raised.value) == (
        'messages[1].tool_calls: a call of the built-in tool "it\'s" takes an object of strings'
    )


def test_default_system() -> None:
    default = both("qwen2.5")
    assert default.render_text([HI]) == qwen_turn("system", QWEN_SYSTEM) + qwen_turn("user", "Hi")
    assert default.render_text([system(), HI]) == qwen_turn("system", "") + qwen_turn("user", "Hi")
    assert both("qwen2.5", default_system="S").render_text([HI]) == qwen_turn("system", "S") + qwen_turn(
        "user", "Hi"
    )
    assert both("qwen2.5", default_system=None).render_text([HI]) == qwen_turn("user", "Hi")
    with_tools = "<|im_start|>system\n{}# Tools\n\n"
    assert default.render_text([HI], tools=[TOOL]).startswith(with_tools.format(f"{QWEN_SYSTEM}\n\n"))
    assert (
        both("qwen2.5", default_system=None).render_text([HI], tools=[TOOL]).startswith(with_tools.format(""))
    )


def test_reemit_empty_thinking() -> None:
    block = "<think>\n\n</think>\n\n"
    messages = [
        HI,
        assistant("\na"),
        user("q"),
        assistant("b", reasoning_content="r"),
        user("s"),
        assistant("c"),
    ]
    off = {"enable_thinking": False}
    shown = both("qwen3", **off, reemit_empty_thinking=True)
    template_text = both("qwen3", **off).render_text(messages)
    assert qwen_turn("assistant", "\na") in template_text
    assert shown.render_text(messages) == template_text.replace("assistant\n\na", f"assistant\n{block}a")
    assert qwen_turn("assistant", "b") in shown.render_text(messages)  # it had reasoning
    thinking = both("qwen3", reemit_empty_thinking=True)
    assert thinking.render_text(messages) == template_text

    rendered = shown.render(messages[:3], add_generation_prompt=True)
    markup = rendered.columns.fields == Field.REASONING_MARKUP
    assert set(rendered.columns.message_indices[markup].tolist()) == {1}
    assert rendered.columns.sampled_mask[markup].all()


@pytest.mark.parametrize(
    ("revision", "generation_prompt", "shows_reasoning"),
    [
        ("current", "<|im_start|>assistant\n", True),
        ("first", "<|im_start|>assistant\n", True),
        ("instruct-2507", "<|im_start|>assistant\n", False),
        ("next", "<|im_start|>assistant\n<think>\n", True),
    ],
)
def test_revision(revision: str, generation_prompt: str, shows_reasoning: bool) -> None:
    renderer = both("qwen3", revision=revision, on_loss="template")
    messages = [HI, assistant("a", reasoning_content="r")]
    body = "<think>\nr\n</think>\n\na" if shows_reasoning else "a"
    rendered = qwen_turn("user", "Hi") + qwen_turn("assistant", body)
    assert renderer.render_text(messages, add_generation_prompt=True) == rendered + generation_prompt
    results = {"first": "[{'type': 'text', 'text': 'r'}]"}.get(revision, "")
    assert renderer.render_text([tool([text_part("r")])]) == (
        f"<|im_start|>user\n<tool_response>\n{results}\n</tool_response><|im_end|>\n"
    )


@pytest.mark.parametrize("revision", ["instruct-2507", "next"])
def test_thinking_that_cannot_be_switched_off(revision: str) -> None:
    with pytest.raises(ValueError, match=f"enable_thinking: the revision '{revision}' cannot"):
        config_from_name("qwen3", revision=revision, enable_thinking=False)


LOSSES = [
    ("qwen3", {"revision": "instruct-2507"}, [HI, assistant("a", reasoning="r")],
     "messages[1].reasoning: qwen3 does not render reasoning of the role 'assistant'"),
    ("qwen3", {"revision": "first"}, [assistant("a<think>r</think>b")],
     "messages[0].content: qwen3 does not render text beside a think block"),
    ("qwen3", {"revision": "next"}, [message("developer", "a")],
     "messages[0].role: qwen3 does not render the role 'developer'"),
    ("qwen2.5", {}, [HI, message("ipython", "r")],
     "messages[1].role: qwen2.5 does not render the role 'ipython'"),
    ("qwen2.5", {}, [HI, assistant("a", thinking="r")],
     "messages[1].thinking: qwen2.5 does not render reasoning of the role 'assistant'"),
    ("llama-3.1", {}, [HI, assistant("a", tool_calls=[call("f", {})])],
     "messages[1].content: llama-3.1 does not render content beside tool calls"),
    ("llama-3.2", {}, [user("", tool_calls=[call("f", {})])],
     "messages[0].tool_calls: llama-3.2 does not render tool calls of the role 'user'"),
]  # fmt: skip


@pytest.mark.parametrize(("family", "fields", "messages", "error"), LOSSES, ids=[loss[-1] for loss in LOSSES])
def test_losses(family: str, fields: dict[str, Any], messages: list[Any], error: str) -> None:
    with pytest.raises(RenderError) as raised:
        both(family, **fields).render_text(messages)
    assert str(raised.value) == f"{error} {ACCEPTED}"
    both(family, **fields, on_loss="template").render_text(messages)


@pytest.mark.parametrize("family", LLAMAS)
def test_who_holds_the_tools(family: str) -> None:
    messages = [system("S"), assistant("a"), HI]
    with pytest.raises(RenderError) as raised:
        both(family).render_text(messages, tools=[WEATHER])
    holder = "renders the message that holds the tools as a user's"
    assert str(raised.value) == f"messages[1].role: {family} {holder} {ACCEPTED}"
    text = both(family, on_loss="template").render_text(messages, tools=[TOOL])
    assert llama_turn("user", IN_USER + "a") + llama_turn("user", "Hi") in text
    for tools in ([], [TOOL]):
        with pytest.raises(RenderError) as raised:
            both(family, on_loss="template").render_text([system("S")], tools=tools)
        assert str(raised.value) == "tools: they go into the first user message, and there is none"


@pytest.mark.parametrize("family", ["qwen2.5", *LLAMAS])
def test_arguments_as_json_text(family: str) -> None:
    messages = [HI, assistant(tool_calls=[call("f", '{"a":1}')])]
    assert ': {"a":1}}' in both(family).render_text(messages)
    assert ': "{\\"a\\":1}"}' in both(family, on_loss="template").render_text(messages)


@pytest.mark.parametrize("family", LLAMAS)
def test_no_calls(family: str) -> None:
    messages = [HI, assistant("a", tool_calls=[])]
    assert both(family).render_text(messages).endswith(llama_turn("assistant", "a"))
    with pytest.raises(RenderError, match="renders exactly one call a turn, got 0"):
        both(family, on_loss="template").render_text(messages)


def test_lists_that_the_template_prints() -> None:
    parts = [text_part("a"), {"type": "image", "url": "u"}]
    printed = "[{'type': 'text', 'text': 'a'}, {'type': 'image', 'url': 'u'}]"
    qwen = both("qwen2.5", on_loss="template")
    assert qwen.render_text([system(parts), HI], tools=[TOOL]).startswith(
        f"<|im_start|>system\n{printed}\n\n# Tools"
    )
    with pytest.raises(RenderError, match=r"^messages\[0\]\.content\[1\]: "):
        qwen.render_text([system(parts), HI])
    assert f"\n{printed}\n</tool_response>" in qwen.render_text([HI, tool(parts)])
    # A role that is not rendered has nothing to lose.
    assert qwen.render_text([HI, message("developer", parts)]) == qwen.render_text([HI])

    llama = both("llama-3.2", on_loss="template")
    assert llama_turn("user", printed) in llama.render_text([user(parts)])
    json_text = '[{"type": "text", "text": "a"}, {"type": "image", "url": "u"}]'
    assert llama_turn("ipython", json_text) in llama.render_text([HI, tool(parts)])


@pytest.mark.parametrize("family", LLAMAS)
def test_a_result_is_continued_inside_its_quotes(family: str) -> None:
    text = both(family).render_text([HI, tool("r \n ")], continue_final_message=True)
    assert text == llama_opening() + llama_turn("user", "Hi") + llama_turn("ipython", '"r \\n ', close="")
    stripped = both(family).render_text([HI, assistant("a \n")], continue_final_message=True)
    assert stripped == llama_opening() + llama_turn("user", "Hi") + llama_turn("assistant", "a", close="")
