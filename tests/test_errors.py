"""Each kind of wrong input, with the exact class and text of its error."""

import re
from typing import Any

import pydantic
import pytest

import turnloom
import vocabularies
from chats import HI, assistant, user
from hostile import cycle, nested
from oracles import Both
from turnloom import RenderError
from turnloom.configs import FamilyConfig, Llama3Config, Qwen3Config, config_from_name

QWEN3 = Both(vocabularies.tokenizer("builtin"), Qwen3Config())
MESSAGES: list[tuple[Any, type[Exception], str]] = [
    ([], ValueError, "messages: no messages"),
    (None, TypeError, "messages: expected a list of messages, got NoneType"),
    (HI, TypeError, "messages: expected a list of messages, got dict"),
    ("Hi", TypeError, "messages: expected a list of messages, got str"),
    ([HI, ["user", "Hi"]], TypeError, "messages[1]: expected a dict, got list"),
    ([{"content": "Hi"}], RenderError, "messages[0].role: missing"),
    ([{"role": None}], RenderError, "messages[0].role: missing"),
    ([{"role": b"user"}], TypeError, "messages[0].role: expected str, got bytes"),
    ([HI, {"role": "us\udc00"}], ValueError, "messages[1].role: lone surrogate U+DC00 at character 2"),
    (
        [{"role": "tol"}],
        RenderError,
        "messages[0].role: qwen3 does not render the role 'tol' (on_loss=\"template\" accepts that)",
    ),
    ([{"role": "user", "name": 1}], TypeError, "messages[0].name: expected str, got int"),
    ([{"role": "tool", "tool_call_id": 1}], TypeError, "messages[0].tool_call_id: expected str, got int"),
]
CONTENT: list[tuple[Any, type[Exception], str]] = [
    (1, TypeError, "messages[0].content: expected str, list or None, got int"),
    (b"Hi", TypeError, "messages[0].content: expected str, list or None, got bytes"),
    ({"type": "text"}, TypeError, "messages[0].content: expected str, list or None, got dict"),
    ("\U0001f999a\ud800", ValueError, "messages[0].content: lone surrogate U+D800 at character 2"),
    (["a", 1], TypeError, "messages[0].content[1]: expected str or dict, got int"),
    ([None], TypeError, "messages[0].content[0]: expected str or dict, got NoneType"),
    ([{}], TypeError, "messages[0].content[0].text: expected str, got nothing"),
    ([{"type": "text", "text": None}], TypeError, "messages[0].content[0].text: expected str, got nothing"),
    ([{"text": 1}], TypeError, "messages[0].content[0].text: expected str, got int"),
    ([{"type": 1, "text": ""}], TypeError, "messages[0].content[0].type: expected str, got int"),
    (["", "\udfff"], ValueError, "messages[0].content[1]: lone surrogate U+DFFF at character 0"),
    ([{"text": "\udfff"}], ValueError, "messages[0].content[0].text: lone surrogate U+DFFF at character 0"),
    (
        [{"type": "image_url", "image_url": object()}],
        RenderError,
        "messages[0].content[0]: qwen3 does not render a part of type 'image_url' "
        '(on_loss="template" accepts that)',
    ),
]
REASONING: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"reasoning_content": 1}, TypeError, "messages[0].reasoning_content: expected str, got int"),
    ({"thinking": ["a"]}, TypeError, "messages[0].thinking: expected str, got list"),
    ({"thinking": None, "reasoning": b""}, TypeError, "messages[0].reasoning: expected str, got bytes"),
    ({"reasoning": "\ud800"}, ValueError, "messages[0].reasoning: lone surrogate U+D800 at character 0"),
]
CALLS: list[tuple[Any, type[Exception], str]] = [
    ({"name": "f"}, TypeError, "messages[0].tool_calls: expected list or None, got dict"),
    (["f"], TypeError, "messages[0].tool_calls[0]: expected a dict, got str"),
    ([{"function": "f"}], TypeError, "messages[0].tool_calls[0].function: expected a dict, got str"),
    ([{"function": {}}], RenderError, "messages[0].tool_calls[0].function.name: missing"),
    ([{"name": "f"}, {"name": None}], RenderError, "messages[0].tool_calls[1].name: missing"),
    ([{"name": 1}], TypeError, "messages[0].tool_calls[0].name: expected str, got int"),
    (
        [{"function": {"name": "\ud83e"}}],
        ValueError,
        "messages[0].tool_calls[0].function.name: lone surrogate U+D83E at character 0",
    ),
    ([{"name": "f", "id": 1}], TypeError, "messages[0].tool_calls[0].id: expected str, got int"),
]
# In arguments and in tools alike.
VALUES: list[tuple[Any, type[Exception], str]] = [
    ({"a": [0, 1, {2}]}, TypeError, "['a'][2]: Object of type set is not JSON serializable"),
    ({"a": {None: b""}}, TypeError, "['a'][None]: Object of type bytes is not JSON serializable"),
    ({"a": {(1,): 1}}, TypeError, "['a']: keys must be str, int, float, bool or None, not tuple"),
    ({"it's": {1.5: "\ud800"}}, ValueError, '["it\'s"][1.5]: lone surrogate U+D800 at character 0'),
    ({"a": {"b\ud800": 1}}, ValueError, "['a']: lone surrogate U+D800 at character 1"),
    ({"a": nested(500)}, ValueError, ": nested deeper than 500 levels"),
    ({"a": cycle()}, ValueError, ": nested deeper than 500 levels"),
]
TOOLS: list[tuple[Any, type[Exception], str]] = [
    ({"name": "f"}, TypeError, "tools: expected a list of tools or None, got dict"),
    ("f", TypeError, "tools: expected a list of tools or None, got str"),
    ([{}, "f"], TypeError, "tools[1]: expected a dict, got str"),
    ([None], TypeError, "tools[0]: expected a dict, got NoneType"),
]


def check(error: type[Exception], text: str, messages: Any, **options: Any) -> None:
    """All calls give the error, native and in the reference."""
    for call in (QWEN3.render_text, QWEN3.render_ids, QWEN3.render):
        with pytest.raises(error) as raised:
            call(messages, **options)
        assert type(raised.value) is error
        assert str(raised.value) == text


@pytest.mark.parametrize(("messages", "error", "text"), MESSAGES)
def test_messages(messages: Any, error: type[Exception], text: str) -> None:
    check(error, text, messages)


@pytest.mark.parametrize(("content", "error", "text"), CONTENT)
def test_content(content: Any, error: type[Exception], text: str) -> None:
    check(error, text, [user(content)])


@pytest.mark.parametrize(("keys", "error", "text"), REASONING)
def test_reasoning(keys: dict[str, Any], error: type[Exception], text: str) -> None:
    check(error, text, [assistant("", **keys)])


@pytest.mark.parametrize(("calls", "error", "text"), CALLS)
def test_tool_calls(calls: Any, error: type[Exception], text: str) -> None:
    check(error, text, [assistant("", tool_calls=calls)])


@pytest.mark.parametrize(("value", "error", "text"), VALUES)
def test_values(value: Any, error: type[Exception], text: str) -> None:
    call = {"function": {"name": "f", "arguments": value}}
    check(
        error, f"messages[1].tool_calls[0].function.arguments{text}", [HI, assistant("", tool_calls=[call])]
    )
    check(error, f"tools[0]{text}", [HI], tools=[value])


def test_integer_that_python_does_not_print() -> None:
    with pytest.raises(ValueError, match=r"^tools\[0\]\['a'\]: Exceeds the limit \(\d+ digits\)"):
        QWEN3.render([HI], tools=[{"a": 10**5000}])


@pytest.mark.parametrize(("tools", "error", "text"), TOOLS)
def test_tools(tools: Any, error: type[Exception], text: str) -> None:
    check(error, text, [HI], tools=tools)


def test_continue_final_message() -> None:
    both_flags = {"continue_final_message": True, "add_generation_prompt": True}
    check(
        ValueError,
        "continue_final_message: cannot be combined with add_generation_prompt",
        [HI],
        **both_flags,
    )
    needs = "continue_final_message needs a final message whose content is rendered"
    for final in (user(None), assistant(None), {"role": "assistant"}):
        check(ValueError, f"messages[1].content: {needs}", [HI, final], continue_final_message=True)


class TestBatchArguments:
    def test_wrong_types(self) -> None:
        for conversations in (None, iter([[HI]]), {0: [HI]}, "Hi"):
            name = type(conversations).__name__
            with pytest.raises(TypeError, match=f"^conversations: expected list or tuple, got {name}$"):
                QWEN3.render_batch(conversations)
        with pytest.raises(TypeError, match=r"^tools_per_row: expected list or tuple, got dict$"):
            QWEN3.render_batch([[HI]], tools_per_row={})
        for threads in (1.0, "2", True):
            with pytest.raises(TypeError, match=r"^threads: expected int or None, got \w+$"):
                QWEN3.render_batch([[HI]], threads=threads)

    def test_wrong_values(self) -> None:
        with pytest.raises(ValueError, match=r"^tools_per_row: 1 entries for 2 rows$"):
            QWEN3.render_batch([[HI], [HI]], tools_per_row=[None])
        with pytest.raises(ValueError, match=r"^tools_per_row: cannot be combined with tools$"):
            QWEN3.render_batch([[HI]], tools_per_row=[None], tools=[])
        with pytest.raises(ValueError, match=r"^on_error: expected 'raise' or 'collect', got 'ignore'$"):
            QWEN3.render_batch([[HI]], on_error="ignore")
        for threads in (0, -1):
            with pytest.raises(ValueError, match=rf"^threads: expected at least 1, got {threads}$"):
                QWEN3.render_batch([[HI]], threads=threads)


class TestConstruction:
    def test_tokenizer(self) -> None:
        with pytest.raises(TypeError, match=r"^tokenizer: expected a tokenizer, got str$"):
            turnloom.create_renderer("builtin", Qwen3Config())  # type: ignore[arg-type]

    def test_config(self) -> None:
        with pytest.raises(TypeError, match=r"^config: expected a config such as Qwen3Config\(\), got str$"):
            turnloom.create_renderer(vocabularies.tokenizer("builtin"), "qwen3")  # type: ignore[arg-type]

    def test_unknown_family(self) -> None:
        with pytest.raises(KeyError, match=r"name: unknown family 'qwen33', known: chatml, .*qwen3"):
            config_from_name("qwen33")
        with pytest.raises(KeyError, match=r"config\.name: unknown family 'qwen33', known: chatml, "):
            turnloom.create_renderer(vocabularies.tokenizer("builtin"), FamilyConfig(name="qwen33"))

    def test_unknown_or_wrong_field(self) -> None:
        for field, value in (
            ("marker_policy", "some"),
            ("on_loss", "ignore"),
            ("enable_thinking", "x"),
            ("bos", ""),
        ):
            with pytest.raises(pydantic.ValidationError, match=field):
                config_from_name("qwen3", **{field: value})

    def test_config_is_frozen(self) -> None:
        with pytest.raises(pydantic.ValidationError, match="frozen"):
            Qwen3Config().enable_thinking = False  # type: ignore[misc]

    def test_vocabulary_without_a_control_token(self) -> None:
        document = vocabularies.tokenizer_json("builtin")
        for config, token in ((Qwen3Config(), "<|endoftext|>"), (Llama3Config(), "<|eot_id|>")):
            kept = [entry for entry in document["added_tokens"] if entry["content"] != token]
            tokenizer = vocabularies.load(document | {"added_tokens": kept})
            text = f"tokenizer: has no added token {token!r}, which this format writes"
            with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
                Both(tokenizer, config)

    def test_bos_that_is_no_added_token(self) -> None:
        text = "tokenizer: has no added token '<s>', which this format writes"
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            Both(vocabularies.tokenizer("builtin"), config_from_name("chatml", bos="<s>"))


def test_columns_are_read_only() -> None:
    columns = QWEN3.native.render([HI], byte_offsets=True).columns
    for array in (columns.token_ids, columns.loss_mask, columns.byte_offsets):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_renderers_have_no_attributes_to_set() -> None:
    with pytest.raises(AttributeError):
        QWEN3.native.config = Llama3Config()
    with pytest.raises(AttributeError):
        QWEN3.native.other = 1
