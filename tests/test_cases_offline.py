"""Cases from public bug reports that need no real vocabulary; the others, in the same shape."""

import pytest

import turnloom
import vocabularies
from chats import H41_TEXT, HI, assistant, call, tool, user
from oracles import Both
from turnloom import Field
from turnloom.configs import config_from_name

TOKENIZER = vocabularies.tokenizer("builtin")
TOKEN = TOKENIZER.added_tokens
YO = assistant("Yo")


def renderer(family: str, **fields: object) -> Both:
    return Both(TOKENIZER, config_from_name(family, **fields))


def test_h01_one_beginning_of_text() -> None:
    for both in (renderer("llama-3"), renderer("chatml", bos="<|begin_of_text|>")):
        ids = both.render_ids([HI], add_generation_prompt=True)
        assert ids.count(TOKEN["<|begin_of_text|>"]) == 1
        assert TOKENIZER.encode(both.render_text([HI], add_generation_prompt=True)) == ids


def test_h02_python_literals() -> None:
    text = renderer("qwen3").render_text(
        [HI, assistant(tool_calls=[call("f", {"flag": True, "x": None, "s": "é/—"})])]
    )
    line = '{"name": "f", "arguments": {"flag": true, "x": null, "s": "é/—"}}'
    assert text.endswith(f"<tool_call>\n{line}\n</tool_call><|im_end|>\n")


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [({"a": 1}, '{"a": 1}'), ('{"a": 1}', '{"a": 1}'), ('{"a":1}', '{"a":1}'), ("not JSON", "not JSON")],
)
def test_h03_arguments_as_a_string(arguments: object, printed: str) -> None:
    text = renderer("qwen3").render_text([HI, assistant(tool_calls=[call("f", arguments)])])
    assert f'\n{{"name": "f", "arguments": {printed}}}\n' in text


def test_h05_reasoning_of_earlier_turns() -> None:
    history = [HI, assistant("Yo", reasoning_content="r")]
    both = renderer("qwen3")
    dropped = both.render_text([*history, user("2")])
    assert dropped == (
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nYo<|im_end|>\n<|im_start|>user\n2<|im_end|>\n"
    )
    assert both.render_text([*history, tool("2")]) == (
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\nr\n</think>\n\nYo<|im_end|>\n"
        "<|im_start|>user\n<tool_response>\n2\n</tool_response><|im_end|>\n"
    )


@pytest.mark.parametrize(
    ("family", "close", "trained"),
    [
        ("chatml", "<|im_end|>", "Yo<|im_end|>"),
        ("qwen3", "<|im_end|>", "<think>\n\n</think>\n\nYo<|im_end|>"),
        ("llama-3", "<|eot_id|>", "Yo<|eot_id|>"),
    ],
)
def test_h32_h34_and_h35_what_is_trained(family: str, close: str, trained: str) -> None:
    rendered = renderer(family).render([HI, YO])
    ids, mask = rendered.token_ids, rendered.sampled_mask
    assert TOKENIZER.decode([id for id, sampled in zip(ids, mask, strict=True) if sampled]) == trained
    # The mask is not shifted: its last true entry stands at the stop token itself.
    last = max(i for i, sampled in enumerate(mask) if sampled)
    assert ids[last] == TOKEN[close]
    assert rendered.columns.fields[last] == Field.TURN_CLOSE


@pytest.mark.parametrize("family", ["chatml", "qwen3", "llama-3"])
def test_h35_every_assistant_turn_is_trained(family: str) -> None:
    rendered = renderer(family).render([HI, YO, user("2"), YO])
    assert rendered.tokens_per_message(sampled_only=True)[0::2] == [0, 0]
    assert min(rendered.tokens_per_message(sampled_only=True)[1::2]) >= 2


@pytest.mark.parametrize("policy", ["trusted", "none"])
def test_h41_control_tokens_of_a_user(policy: str) -> None:
    rendered = renderer("qwen3", marker_policy=policy).render([user(H41_TEXT)], add_generation_prompt=True)
    assert rendered.token_ids.count(TOKEN["<|im_start|>"]) == 2
    assert rendered.token_ids.count(TOKEN["<|im_end|>"]) == 1
    assert [marker.marker for marker in rendered.neutralised_markers] == ["<|im_end|>", "<|im_start|>"]
    content = [
        id for id, field in zip(rendered.token_ids, rendered.columns.fields, strict=True) if field == 1
    ]
    assert content == TOKENIZER.encode(H41_TEXT, special="none")


def test_h41_as_the_template_has_it() -> None:
    rendered = renderer("qwen3", marker_policy="all").render([user(H41_TEXT)], add_generation_prompt=True)
    assert rendered.token_ids.count(TOKEN["<|im_start|>"]) == 3
    assert [(marker.message_index, marker.became_token) for marker in rendered.content_markers] == [
        (0, True)
    ] * 2
    with pytest.raises(turnloom.RenderError, match=r"^messages\[0\]\.content: .* the marker '<\|im_end\|>'$"):
        renderer("qwen3", marker_policy="reject").render([user(H41_TEXT)])


def test_h44_nul() -> None:
    both = renderer("chatml")
    assert both.render_text([user("a\0b")]) == "<|im_start|>user\na\0b<|im_end|>\n"
    assert TOKENIZER.decode(both.render_ids([user("a\0b")])) == "<|im_start|>user\na\0b<|im_end|>\n"
