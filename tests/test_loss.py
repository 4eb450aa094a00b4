"""What `loss=` and `"train"` select, held against a mask that is derived token by token."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
import vocabularies
from catalog import FAMILIES, SCENARIOS, Scenario
from chats import HI, assistant, call, system, tool, user
from oracles import Both, attempt
from turnloom import Field, LossRule, RenderedTokens
from turnloom.configs import FamilyConfig, config_from_name

TOKENIZER = vocabularies.tokenizer("builtin")
CHAT = [
    system("Be brief."),
    user("Hi"),
    assistant("Yo", reasoning_content="hm"),
    user("Weather?"),
    assistant("I look.", reasoning_content="a call", tool_calls=[call("f", {"city": "Oslo"})]),
    tool("3 degrees"),
    assistant("Cold.", reasoning_content="so"),
]
RULES = [
    LossRule(),
    LossRule(turns="last"),
    LossRule(turns=[]),
    LossRule(reasoning=False),
    LossRule(stop=False),
    LossRule(content_roles={"user"}),
    LossRule(turns="last", content_roles=["system", "tool", "nobody"], reasoning=False, stop=False),
]


def qwen3() -> Both:
    return Both(TOKENIZER, config_from_name("qwen3"))


def trained_text(both: Both, messages: list[Any], rule: LossRule | None = None, **options: Any) -> list[str]:
    """Give the runs of trained tokens as text."""
    columns = both.render(messages, loss=rule, **options).columns
    edges = np.flatnonzero(np.diff(columns.loss_mask, prepend=False, append=False))
    return [TOKENIZER.decode(columns.token_ids[a:b]) for a, b in edges.reshape(-1, 2)]


def expected_mask(rendered: RenderedTokens, messages: list[Any], rule: LossRule) -> list[bool]:
    """Derive the loss mask from the other columns."""
    roles = rendered.message_roles
    assistants = [i for i, role in enumerate(roles) if role == "assistant"]
    turns = {"all": assistants, "last": assistants[-1:]}.get(str(rule.turns), rule.turns)
    left_out = [field for field in (Field.REASONING, Field.REASONING_MARKUP) if not rule.reasoning]
    left_out += [] if rule.stop else [Field.TURN_CLOSE]
    mask = []
    for message, field, sampled, is_content in zip(
        rendered.message_indices,
        rendered.columns.fields.tolist(),
        rendered.sampled_mask,
        rendered.is_content,
        strict=True,
    ):
        taken = sampled and message in turns and field not in left_out
        if message >= 0 and roles[message] in rule.content_roles:
            taken = is_content
        mask.append(taken and messages[message].get("train", True) in (None, True))
    return mask


def check(both: Both, messages: Any, rule: LossRule, **options: Any) -> None:
    """Both sides give the expected mask, and everything else as without a rule."""
    rendered, error = attempt(lambda: both.render(messages, loss=rule, **options))
    if isinstance(error, AssertionError):
        raise error
    plain, plain_error = attempt(lambda: both.render(messages, **options))
    if plain_error is not None or error is not None:
        assert str(error) == str(plain_error) or str(error).startswith("loss.turns[")
        return
    assert rendered == plain
    assert rendered.columns.loss_mask.tolist() == expected_mask(rendered, messages, rule)
    batch = both.render_batch([messages], loss=[rule], tools=options.get("tools"))
    if not options.get("add_generation_prompt") and not options.get("continue_final_message"):
        assert batch[0].loss_mask.tolist() == rendered.columns.loss_mask.tolist()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
@pytest.mark.parametrize("family", FAMILIES)
def test_catalog(family: str, scenario: Scenario) -> None:
    both = Both(TOKENIZER, config_from_name(family, on_loss="template"))
    for rule in RULES:
        check(both, scenario.messages, rule, tools=scenario.tools)


def rules() -> st.SearchStrategy[LossRule]:
    turns = st.sampled_from(["all", "last"]) | st.lists(st.integers(0, 5), max_size=3)
    roles = st.sets(st.sampled_from(["user", "tool", "system", "ipython", ""]))
    return st.builds(LossRule, turns=turns, content_roles=roles, reasoning=st.booleans(), stop=st.booleans())


@given(strategies.calls(), strategies.configs(), strategies.vocabulary_names(), rules())
def test_generated(call: strategies.Call, config: FamilyConfig, vocabulary: str, rule: LossRule) -> None:
    both = Both(vocabularies.tokenizer(vocabulary), config)
    check(both, call.messages, rule, tools=call.tools, **call.options)


@given(st.lists(st.tuples(strategies.calls(), st.none() | rules()), max_size=3), strategies.configs())
def test_batches(rows: list[tuple[strategies.Call, LossRule | None]], config: FamilyConfig) -> None:
    both = Both(TOKENIZER, config)
    batch = both.render_batch(
        [it.messages for it, _ in rows],
        tools_per_row=[it.tools for it, _ in rows],
        loss=[rule for _, rule in rows],
        threads=2,
        on_error="collect",
    )
    errors = dict(batch.errors)
    for row, (it, rule) in enumerate(rows):
        rendered, error = attempt(
            lambda it=it, rule=rule: both.native.render(it.messages, tools=it.tools, loss=rule)
        )
        assert str(errors.get(row)) == str(error)
        if error is None:
            assert batch[row].loss_mask.tolist() == rendered.columns.loss_mask.tolist()


def test_every_turn() -> None:
    close = "<|im_end|>"
    calls = '<tool_call>\n{"name": "f", "arguments": {"city": "Oslo"}}\n</tool_call>'
    look = f"<think>\na call\n</think>\n\nI look.\n{calls}{close}"
    answer = f"<think>\nso\n</think>\n\nCold.{close}"
    assert trained_text(qwen3(), CHAT) == [f"Yo{close}", look, answer]
    assert trained_text(qwen3(), CHAT, LossRule()) == [f"Yo{close}", look, answer]
    assert trained_text(qwen3(), CHAT, LossRule(turns="last")) == [answer]
    assert trained_text(qwen3(), CHAT, LossRule(turns=[4])) == [look]
    assert trained_text(qwen3(), CHAT, LossRule(turns=np.array([6, 2, 2]))) == [f"Yo{close}", answer]
    assert trained_text(qwen3(), CHAT, LossRule(turns="last", reasoning=False)) == [f"Cold.{close}"]
    assert trained_text(qwen3(), CHAT, LossRule(turns=(6,), stop=False)) == ["<think>\nso\n</think>\n\nCold."]


def test_content_of_other_roles() -> None:
    assert trained_text(qwen3(), CHAT, LossRule(turns=[], content_roles={"user", "tool"})) == [
        "Hi",
        "Weather?",
        "3 degrees",
    ]


def test_messages_that_are_not_trained() -> None:
    chat = [*CHAT[:2], CHAT[2] | {"train": False}, *CHAT[3:6], CHAT[6] | {"train": True}]
    assert [text[-15:] for text in trained_text(qwen3(), chat)] == ["call><|im_end|>", "Cold.<|im_end|>"]
    # What is out stays out, also where a rule names it; the last turn is the last one all the same.
    assert trained_text(qwen3(), chat, LossRule(turns=[2])) == []
    assert trained_text(qwen3(), [*CHAT[:6], CHAT[6] | {"train": 0}], LossRule(turns="last")) == []
    quiet = user("Hi", train=False)
    assert trained_text(qwen3(), [quiet, user("2")], LossRule(content_roles=["user"])) == ["2"]


def test_without_a_rule_the_mask_is_the_sampled_mask() -> None:
    renderer = qwen3().native
    for loss in (None, LossRule()):
        columns = renderer.render(CHAT, loss=loss).columns
        assert columns.loss_mask is columns.sampled_mask
        batch = renderer.render_batch([CHAT, CHAT], loss=loss).columns
        assert batch.loss_mask is batch.sampled_mask
    assert renderer.render_batch([CHAT, [*CHAT, assistant("x", train=False)]]).columns.loss_mask.sum() > 0


def test_one_rule_for_all_rows_and_one_a_row() -> None:
    both = qwen3()
    last = LossRule(turns="last")
    shared = both.render_batch([CHAT, [HI]], loss=last)
    own = both.render_batch([CHAT, CHAT], loss=(None, last))
    assert shared[0].loss_mask.tolist() == own[1].loss_mask.tolist()
    assert own[0].loss_mask.tolist() == own[0].sampled_mask.tolist()


def test_a_rule_that_does_not_fit_a_row() -> None:
    both = qwen3()
    rule = LossRule(turns=[0])
    text = "loss.turns[0]: messages[0] is of the role 'user', not an assistant's"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}") as raised:
        both.render_batch([[assistant("a")], [HI]], loss=rule)
    assert raised.value.__notes__ == ["row 1 of the batch"]
    batch = both.render_batch([[assistant("a")], [HI]], loss=rule, on_error="collect")
    assert [(row, str(error)) for row, error in batch.errors] == [(1, text)]
    with pytest.raises(ValueError, match=r"^loss\.turns\[1\]: no message 2 in a conversation of 2$"):
        both.render([HI, assistant("Yo")], loss=LossRule(turns=[1, 2]))


def test_no_offsets_no_mask() -> None:
    both = Both(vocabularies.without_offsets(), config_from_name("qwen3"))
    columns = both.render([*CHAT, assistant("x", train=False)], loss=LossRule(turns="last")).columns
    assert len(columns.loss_mask) == len(columns.sampled_mask) == 0


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ({"turns": "first"}, ValueError, "turns: expected 'all', 'last' or indices of messages, got 'first'"),
        ({"turns": 1}, TypeError, "turns: expected str, list, tuple or 1-D integer array, got int"),
        ({"turns": {1}}, TypeError, "turns: expected str, list, tuple or 1-D integer array, got set"),
        ({"turns": [0, True]}, TypeError, "turns[1]: expected int, got bool"),
        ({"turns": [1.0]}, TypeError, "turns[0]: expected int, got float"),
        ({"turns": [np.int64(1)]}, TypeError, "turns[0]: expected int, got int64"),
        ({"turns": [-1]}, ValueError, "turns[0]: expected an int from 0 to 2147483647, got -1"),
        ({"turns": np.zeros(2)}, TypeError, "turns: expected an integer array, got dtype float64"),
        ({"turns": np.zeros((1, 1), int)}, TypeError, "turns: expected a 1-D array, got 2 dimensions"),
        ({"content_roles": "user"}, TypeError, "content_roles: expected set, list or tuple, got str"),
        ({"content_roles": [1]}, TypeError, "content_roles: expected str, got int"),
        ({"content_roles": ["a\ud800"]}, ValueError, "content_roles: lone surrogate in 'a\\ud800'"),
        (
            {"content_roles": ["assistant"]},
            ValueError,
            "content_roles: 'assistant' cannot be one of them: turns chooses its messages",
        ),
        ({"reasoning": 1}, TypeError, "reasoning: expected bool, got int"),
        ({"stop": None}, TypeError, "stop: expected bool, got NoneType"),
    ],
)
def test_wrong_rules(fields: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        LossRule(**fields)


@pytest.mark.parametrize(
    ("loss", "error", "text"),
    [
        ("last", TypeError, "loss: expected LossRule, list, tuple or None, got str"),
        ([LossRule()], ValueError, "loss: 1 entries for 2 rows"),
        ([None, "last"], TypeError, "loss[1]: expected LossRule or None, got str"),
    ],
)
def test_wrong_arguments(loss: Any, error: type[Exception], text: str) -> None:
    both = qwen3()
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        both.render_batch([[HI], [HI]], loss=loss)
    with pytest.raises(TypeError, match=r"^loss: expected LossRule or None, got (str|list)$"):
        both.render([HI], loss=loss)


@pytest.mark.parametrize(
    ("train", "error", "text"),
    [
        ("no", TypeError, "messages[1].train: expected bool, 0 or 1, got str"),
        (0.0, TypeError, "messages[1].train: expected bool, 0 or 1, got float"),
        (2, ValueError, "messages[1].train: expected bool, 0 or 1, got another int"),
        (-1, ValueError, "messages[1].train: expected bool, 0 or 1, got another int"),
        (2**70, ValueError, "messages[1].train: expected bool, 0 or 1, got another int"),
    ],
)
def test_wrong_train(train: Any, error: type[Exception], text: str) -> None:
    for render in (qwen3().render, qwen3().render_ids, qwen3().render_text):
        with pytest.raises(error, match=f"^{re.escape(text)}$"):
            render([HI, assistant("Yo", train=train)])


def test_rules_compare_and_hash() -> None:
    rule = LossRule(turns=[1, 2], content_roles=["user", "tool"])
    assert rule == LossRule(turns=(1, 2), content_roles={"tool", "user"})
    assert len({rule, LossRule(turns=np.array([1, 2]), content_roles=("user", "tool"))}) == 1
    assert rule.turns == (1, 2) and rule.content_roles == {"user", "tool"}
