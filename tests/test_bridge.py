"""The bridge on both sides: what it writes behind a completion, and what it refuses."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vocabularies
from chats import EVIL, HI, assistant, call, message, system, text_part, tool, user
from oracles import Both
from turnloom import BridgeRefusalReason as Reason
from turnloom import Field, RenderedTokens, RenderError
from turnloom.configs import config_from_name
from turnloom.reference import families

TOKENIZER = vocabularies.tokenizer("builtin")
TOKEN = TOKENIZER.added_tokens
IM_END, END_OF_TEXT, THINK, THINK_CLOSE = (
    TOKEN[text] for text in ("<|im_end|>", "<|endoftext|>", "<think>", "</think>")
)
NEXT = user("And then?")


def both(family: str = "qwen3", **fields: Any) -> Both:
    return Both(TOKENIZER, config_from_name(family, **fields))


def ids_of(text: str) -> list[int]:
    return TOKENIZER.encode(text)


QWEN = both(thinking_retention="all")
PROMPT = QWEN.render_ids([HI], add_generation_prompt=True)
YO = ids_of("Yo<|im_end|>")


def extension(bridged: RenderedTokens | None, *before: list[int]) -> str:
    """Give the text behind the ids that stay, which have to be there."""
    assert bridged is not None
    kept = [id_ for ids in before for id_ in ids]
    assert bridged.token_ids[: len(kept)] == kept
    return TOKENIZER.decode(bridged.token_ids[len(kept) :])


def test_a_completion_that_was_closed() -> None:
    bridged = QWEN.bridge_to_next_turn(PROMPT, YO, [NEXT])
    text = extension(bridged, PROMPT, YO)
    assert text == "\n<|im_start|>user\nAnd then?<|im_end|>\n<|im_start|>assistant\n"
    assert bridged is not None
    assert bridged.message_roles == ["user"]
    assert bridged.message_indices[: len(PROMPT) + len(YO) + 1] == [-1] * (len(PROMPT) + len(YO) + 1)
    assert not any(bridged.sampled_mask)
    content = [id_ for id_, flag in zip(bridged.token_ids, bridged.is_content, strict=True) if flag]
    assert TOKENIZER.decode(content) == "And then?"


@pytest.mark.parametrize(
    ("completion", "close"),
    [
        ("", "<|im_end|>"),
        ("Yo", "<|im_end|>"),
        ("<think>\nr", "</think><|im_end|>"),
        ("<think>\nr\n</think>\n\nYo", "<|im_end|>"),
        ("<think>\nmaybe <tool_call>\n{", "<|im_end|>"),
        ("<think>\nr\n</think>\n\n<tool_call>\n{", "<|im_end|>"),
        ("Yo<|endoftext|>", ""),
        ("Yo<|im_end|>", ""),
    ],
)
def test_what_is_open_is_closed(completion: str, close: str) -> None:
    sampled = ids_of(completion)
    bridged = QWEN.bridge_to_next_turn(PROMPT, sampled, [tool("ok")])
    text = extension(bridged, PROMPT, sampled)
    start = "\n<|im_start|>user\n<tool_response>\nok\n</tool_response><|im_end|>\n<|im_start|>assistant\n"
    assert text == close + start
    assert bridged is not None
    added = bridged.columns.fields[len(PROMPT) + len(sampled) :].tolist()
    expected = {"</think>": Field.REASONING_MARKUP, "<|im_end|>": Field.TURN_CLOSE}
    assert added[: len(ids_of(close))] == [expected[TOKENIZER.decode([id_])] for id_ in ids_of(close)]


def test_a_prompt_that_opens_reasoning() -> None:
    renderer = both(revision="next", thinking_retention="all")
    prompt = renderer.render_ids([HI], add_generation_prompt=True)
    assert extension(renderer.bridge_to_next_turn(prompt, [], [NEXT]), prompt).startswith(
        "</think><|im_end|>"
    )
    sampled = ids_of("r\n</think>\n\nYo")
    assert extension(renderer.bridge_to_next_turn(prompt, sampled, [NEXT]), prompt, sampled).startswith(
        "<|im_end|>\n"
    )


def test_sampled_ids_that_are_not_canonical() -> None:
    odd = [ids_of(letter)[0] for letter in "hello"] + [IM_END]
    assert odd[:-1] != ids_of("hello")
    assert extension(QWEN.bridge_to_next_turn(PROMPT, odd, [NEXT]), PROMPT, odd).startswith("\n<|im_start|>")


def test_results_share_a_turn() -> None:
    bridged = QWEN.bridge_to_next_turn(PROMPT, YO, [tool("a", name="f"), tool("b"), NEXT])
    assert extension(bridged, PROMPT, YO) == (
        "\n<|im_start|>user\n<tool_response>\na\n</tool_response>\n<tool_response>\nb\n</tool_response>"
        "<|im_end|>\n<|im_start|>user\nAnd then?<|im_end|>\n<|im_start|>assistant\n"
    )
    assert bridged is not None
    assert bridged.message_tool_names == ["f", None, None]


def test_a_later_system_message_is_a_turn() -> None:
    bridged = QWEN.bridge_to_next_turn(PROMPT, YO, [system("Be brief."), NEXT])
    assert extension(bridged, PROMPT, YO).startswith("\n<|im_start|>system\nBe brief.<|im_end|>\n")


@pytest.mark.parametrize("family", ["llama-3", "llama-3.1", "llama-3.2"])
def test_llama(family: str) -> None:
    renderer = both(family)
    prompt = renderer.render_ids([HI], add_generation_prompt=True)
    for completion, close in (("Yo<|eot_id|>", ""), ("Yo", "<|eot_id|>"), ("Yo<|end_of_text|>", "")):
        sampled = ids_of(completion)
        bridged = renderer.bridge_to_next_turn(prompt, sampled, [NEXT], tools=[])
        assert extension(bridged, prompt, sampled) == (
            f"{close}<|start_header_id|>user<|end_header_id|>\n\nAnd then?<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n"
        )


def test_markers_of_a_user_stay_text() -> None:
    bridged = QWEN.bridge_to_next_turn(PROMPT, YO, [user(EVIL)])
    assert bridged is not None
    added = bridged.token_ids[len(PROMPT) + len(YO) :]
    assert added.count(IM_END) == 1 and added.count(THINK) == 0
    assert next(marker.marker for marker in bridged.neutralised_markers) == "<|im_end|>"
    with pytest.raises(RenderError, match=r"^new_messages\[0\]\.content: "):
        both(marker_policy="reject", thinking_retention="all").bridge_to_next_turn(PROMPT, YO, [user(EVIL)])


REFUSALS: list[tuple[str, dict[str, Any], list[int], list[int], list[Any]]] = [
    ("empty_prompt", {}, [], YO, [tool("ok")]),
    ("nothing_new", {}, PROMPT, YO, []),
    ("new_assistant_message", {}, PROMPT, YO, [tool("ok"), assistant("Yo")]),
    ("unknown_role", {}, PROMPT, YO, [tool("ok"), message("developer", "Do.")]),
    ("unknown_role", {"on_loss": "template"}, PROMPT, YO, [message("developer", "Do.")]),
    ("stop_inside_reasoning", {}, PROMPT, [THINK, *YO], [tool("ok")]),
    ("retention_policy", {}, PROMPT, YO, [tool("ok"), NEXT]),
    ("retention_policy", {"thinking_retention": "tool_cycle", "enable_thinking": False}, PROMPT, YO, [NEXT]),
    ("text_after_close", {}, PROMPT, [*YO, *ids_of("more")], [tool("ok")]),
    ("text_after_close", {}, PROMPT, [*YO, IM_END, THINK], [tool("ok")]),
]


@pytest.mark.parametrize(("reason", "fields", "prompt", "completion", "messages"), REFUSALS)
def test_refusals(
    reason: str, fields: dict[str, Any], prompt: list[int], completion: list[int], messages: list[Any]
) -> None:
    renderer = both(**fields)
    refusal = renderer.explain_bridge(prompt, completion, messages)
    assert refusal is not None
    assert refusal.reason == reason
    assert renderer.bridge_to_next_turn(prompt, completion, messages) is None


def test_every_reason_is_tested() -> None:
    of_families = set(Reason) - {Reason.ONLY_A_TEMPLATE}
    assert {reason for reason, *_ in REFUSALS} == {str(reason) for reason in of_families}


def test_the_details_name_the_place() -> None:
    def detail(messages: list[Any], completion: list[int] = YO) -> str:
        refusal = both().explain_bridge(PROMPT, completion, messages)
        assert refusal is not None
        return refusal.detail

    assert detail([tool(""), message("it's", "")]).startswith(
        'new_messages[1].role: qwen3 does not render the role "it\'s"'
    )
    assert detail([NEXT, tool("")]).startswith("new_messages[0].role: earlier reasoning goes")
    assert detail([tool("")], [*YO, 5]).startswith(f"previous_completion_ids[{len(YO)}]: ")


def test_what_is_behind_the_close_goes_if_that_is_allowed() -> None:
    completion = [*YO, *ids_of("more")]
    bridged = QWEN.bridge_to_next_turn(PROMPT, completion, [NEXT], allow_trim=True)
    assert bridged == QWEN.bridge_to_next_turn(PROMPT, YO, [NEXT])
    assert QWEN.explain_bridge(PROMPT, completion, [NEXT], allow_trim=True) is None


def test_where_thinking_is_off_a_user_may_go_on() -> None:
    assert both(enable_thinking=False).explain_bridge(PROMPT, YO, [NEXT]) is None
    assert both(revision="instruct-2507").explain_bridge(PROMPT, YO, [NEXT]) is None
    assert both("qwen2.5").explain_bridge(PROMPT, YO, [NEXT]) is None
    # To the template a result in a user's message is no query.
    assert both().explain_bridge(PROMPT, YO, [user("<tool_response>\nok\n</tool_response>")]) is None


def test_losses_are_errors() -> None:
    image = user([text_part("see"), {"type": "image"}])
    with pytest.raises(RenderError, match=r"^new_messages\[1\]\.content\[1\]: qwen3 does not render a part"):
        QWEN.bridge_to_next_turn(PROMPT, YO, [tool("ok"), image])
    with pytest.raises(RenderError, match=r"^new_messages\[0\]\.reasoning_content: "):
        QWEN.explain_bridge(PROMPT, YO, [user("Hi", reasoning_content="hm")])


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (([-1], YO, [NEXT]), r"^previous_prompt_ids\[0\]: expected a token id"),
        ((PROMPT, [2**31], [NEXT]), r"^previous_completion_ids\[0\]: expected a token id"),
        ((PROMPT, "Yo", [NEXT]), r"^previous_completion_ids: expected list, tuple or 1-D integer array"),
        ((PROMPT, [True], [NEXT]), r"^previous_completion_ids\[0\]: expected int, got bool"),
        ((np.zeros((2, 2), int), YO, [NEXT]), r"^previous_prompt_ids: expected a 1-D array"),
        ((PROMPT, YO, NEXT), r"^new_messages: expected a list of messages, got dict"),
        ((PROMPT, YO, [None]), r"^new_messages\[0\]: expected a dict, got NoneType"),
        ((PROMPT, YO, [{"content": ""}]), r"^new_messages\[0\]\.role: missing"),
        ((PROMPT, YO, [user(5)]), r"^new_messages\[0\]\.content: expected str, list or None, got int"),
        ((PROMPT, YO, [user("\ud800")]), r"^new_messages\[0\]\.content: "),
    ],
)
def test_bad_arguments(arguments: tuple[Any, Any, Any], error: str) -> None:
    for bridge in (QWEN.bridge_to_next_turn, QWEN.explain_bridge):
        with pytest.raises((TypeError, ValueError), match=error):
            bridge(*arguments)
    with pytest.raises(TypeError, match=r"^tools: expected a list of tools or None, got str"):
        QWEN.bridge_to_next_turn(PROMPT, YO, [NEXT], tools="f")


def test_a_refusal_comes_before_a_loss() -> None:
    loss = user("q", reasoning_content="r")
    refusal = both("qwen2.5").explain_bridge(PROMPT, [*YO, 5], [loss])
    assert refusal is not None
    assert refusal.reason is Reason.TEXT_AFTER_CLOSE


@pytest.mark.parametrize("value", [1, None, "x", 2.5, []])
def test_flags_are_bools(value: Any) -> None:
    for name in ("add_generation_prompt", "continue_final_message"):
        for call_ in (QWEN.render, QWEN.render_ids, QWEN.render_text):
            with pytest.raises(TypeError, match=rf"^{name}: expected bool, got {type(value).__name__}$"):
                call_([HI], **{name: value})
    with pytest.raises(TypeError, match=r"^byte_offsets: expected bool, got "):
        QWEN.render_batch([[HI]], byte_offsets=value)
    with pytest.raises(TypeError, match=r"^allow_trim: expected bool, got "):
        QWEN.bridge_to_next_turn(PROMPT, YO, [NEXT], allow_trim=value)
    assert QWEN.render_ids([HI], add_generation_prompt=np.True_) == PROMPT


def test_arrays_of_any_width() -> None:
    expected = QWEN.bridge_to_next_turn(PROMPT, YO, [NEXT])
    for dtype in (np.int16, np.int32, np.int64, np.uint16, np.uint64):
        arrays = np.array(PROMPT, dtype), np.array(YO, dtype)
        assert QWEN.bridge_to_next_turn(*arrays, [NEXT]) == expected
    assert QWEN.bridge_to_next_turn(tuple(PROMPT), tuple(YO), (NEXT,)) == expected


@pytest.mark.parametrize("vocabulary", vocabularies.NAMES)
def test_other_vocabularies(vocabulary: str) -> None:
    tokenizer = vocabularies.tokenizer(vocabulary)
    renderer = Both(tokenizer, config_from_name("chatml"))
    prompt = renderer.render_ids([HI], add_generation_prompt=True)
    completion = tokenizer.encode("Yo é🦙")
    bridged = renderer.bridge_to_next_turn(prompt, completion, [user(EVIL), system("é")])
    assert bridged is not None
    assert bridged.token_ids[: len(prompt) + len(completion)] == prompt + completion


def test_what_the_families_keep() -> None:
    kept = {
        ("chatml", ()): ("all", True),
        ("qwen2.5", ()): ("all", True),
        ("qwen3", ()): ("tool_cycle", False),
        ("qwen3", (("enable_thinking", False),)): ("all", False),
        ("qwen3", (("revision", "instruct-2507"),)): ("all", True),
        ("qwen3", (("revision", "next"),)): ("tool_cycle", False),
        ("qwen3", (("thinking_retention", "all"),)): ("all", False),
        ("llama-3", ()): ("all", True),
        ("llama-3.1", ()): ("all", True),
        ("llama-3.2", (("thinking_retention", "tool_cycle"),)): ("tool_cycle", True),
    }
    assert {family for family, _ in kept} == set(families.FAMILIES)
    for (family, fields), expected in kept.items():
        renderer = both(family, **dict(fields))
        for side in (renderer.native, renderer.reference):
            assert (side.effective_thinking_retention, side.is_prefix_stable) == expected


def test_a_bad_retention_is_refused() -> None:
    with pytest.raises(ValueError, match="thinking_retention"):
        config_from_name("qwen3", thinking_retention="template")


# Bridge and full render, on conversations that a render gives back as they were sampled.

WORDS = st.text("abc é🦙\n<|>", max_size=8).map(lambda text: f"w{text}w")
CALLS = st.lists(st.builds(call, st.just("f"), st.dictionaries(st.just("a"), WORDS, max_size=1)), max_size=2)
ANSWERS = st.builds(lambda content, calls: assistant(content, tool_calls=calls), WORDS, CALLS)
GUESTS = st.lists(st.builds(user, WORDS) | st.builds(tool, WORDS), min_size=1, max_size=3)


@given(st.lists(st.tuples(GUESTS, ANSWERS), min_size=1, max_size=3), GUESTS)
def test_bridge_equals_full_render(turns: list[tuple[list[Any], dict[str, Any]]], final: list[Any]) -> None:
    renderer = both("qwen2.5")
    messages: list[Any] = []
    prompt: list[int] = []
    completion: list[int] = []
    for guests, answer in turns:
        if messages:
            bridged = renderer.bridge_to_next_turn(prompt, completion, guests)
            assert bridged is not None
            assert bridged.token_ids[: len(prompt) + len(completion)] == prompt + completion
            prompt = bridged.token_ids
        else:
            prompt = renderer.render_ids(guests, add_generation_prompt=True)
        messages += guests
        assert prompt == renderer.render_ids(messages, add_generation_prompt=True)
        messages.append(answer)
        rendered = renderer.render_ids(messages)
        assert rendered[: len(prompt)] == prompt
        completion = rendered[len(prompt) : -1]  # without the newline behind the close
    bridged = renderer.bridge_to_next_turn(prompt, completion, final)
    assert bridged is not None
    full = renderer.render([*messages, *final], add_generation_prompt=True)
    assert bridged.token_ids == full.token_ids
    n_kept = len(prompt) + len(completion)
    shifted = [index if index < 0 else index - len(messages) for index in full.message_indices[n_kept + 1 :]]
    assert bridged.message_indices[n_kept + 1 :] == shifted
    assert bridged.is_content[n_kept + 1 :] == full.is_content[n_kept + 1 :]
    assert bridged.columns.fields[n_kept + 1 :].tolist() == full.columns.fields[n_kept + 1 :].tolist()


@given(
    st.lists(st.sampled_from([*PROMPT, *YO, THINK, THINK_CLOSE, END_OF_TEXT, 5, 10**6]), max_size=12),
    st.lists(
        st.sampled_from([*YO, THINK, THINK_CLOSE, END_OF_TEXT, TOKEN["<tool_call>"], 5, 10**6]), max_size=12
    ),
    st.lists(st.sampled_from([HI, tool("ok"), system("s"), assistant("a")]), max_size=3),
    st.booleans(),
)
def test_no_id_of_history_changes(
    prompt: list[int], completion: list[int], messages: list[Any], allow_trim: bool
) -> None:
    bridged = QWEN.bridge_to_next_turn(prompt, completion, messages, allow_trim=allow_trim)
    refusal = QWEN.explain_bridge(prompt, completion, messages, allow_trim=allow_trim)
    assert (bridged is None) == (refusal is not None)
    if bridged is None:
        return
    assert bridged.token_ids[: len(prompt)] == prompt
    behind = bridged.token_ids[len(prompt) :]
    kept = completion
    if behind[: len(completion)] != completion:
        assert allow_trim
        n_kept = max(i + 1 for i, id_ in enumerate(completion) if id_ in (IM_END, END_OF_TEXT))
        kept = completion[:n_kept]
    assert behind[: len(kept)] == kept
