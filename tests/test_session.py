"""Rollouts on both sides: every call runs on a native session and on one of the reference, which agree."""

import copy
import pickle
import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vocabularies
from chats import HI, WEATHER, assistant, call, system, tool, user
from oracles import Both, agreed, assert_equal, assert_same_array, assert_same_columns
from turnloom import (
    BridgeRefusalReason,
    BridgeResult,
    DriftKind,
    Field,
    RenderError,
    Session,
    TokenColumns,
    TrainingSample,
)
from turnloom.configs import config_from_name

TOKENIZER = vocabularies.tokenizer("builtin")
RESULT = tool("ok")


class Sessions:
    """A native session and one of the reference."""

    def __init__(self, renderer: Both, messages: Any, **options: Any) -> None:
        self.native: Session
        self.reference: Session
        self.native, self.reference = agreed_pair(
            lambda side: side.session(messages, **options), renderer.native, renderer.reference
        )

    def call(self, name: str, *arguments: Any, **options: Any) -> Any:
        result = agreed(
            lambda: getattr(self.native, name)(*arguments, **options),
            lambda: getattr(self.reference, name)(*arguments, **options),
            assert_same,
        )
        self.check()
        return result

    def check(self) -> TokenColumns:
        assert_same_columns(self.native.columns, self.reference.columns)
        assert_same(self.native.prompt_ids(), self.reference.prompt_ids())
        assert_same(self.native.messages, self.reference.messages)
        assert_same(self.native.to_training_samples(), self.reference.to_training_samples())
        assert repr(self.native) == repr(self.reference)
        return self.native.columns


def agreed_pair(call: Callable[[Any], Any], native: Any, reference: Any) -> tuple[Any, Any]:
    results: list[Any] = [None, None]

    def run(index: int, side: Any) -> None:
        results[index] = call(side)

    agreed(lambda: run(0, native), lambda: run(1, reference), assert_equal)
    return results[0], results[1]


def assert_same(native: Any, expected: Any) -> None:
    if isinstance(native, np.ndarray):
        assert_same_array(native, expected)
    elif isinstance(native, TrainingSample):
        for name in ("token_ids", "loss_mask", "message_indices"):
            assert_same_array(getattr(native, name), getattr(expected, name))
        assert np.array_equal(native.logprobs, expected.logprobs, equal_nan=True)
    elif isinstance(native, list):
        assert len(native) == len(expected)
        for ours, theirs in zip(native, expected, strict=True):
            assert_same(ours, theirs)
    else:
        assert_equal(native, expected)


def start(messages: Any = (HI,), tools: Any = None, family: str = "qwen3", **fields: Any) -> Sessions:
    return Sessions(Both(TOKENIZER, config_from_name(family, **fields)), messages, tools=tools)


def ids_of(text: str) -> list[int]:
    return TOKENIZER.encode(text)


THOUGHT = '<think>\nr.\n</think>\n\nLook:\n<tool_call>\n{"name": "f", "arguments": {"a": [1]}}\n</tool_call>'


def fields_of(columns: TokenColumns, begin: int) -> list[tuple[str, Field]]:
    """Give the runs of tokens of one field and their texts."""
    runs: list[tuple[str, Field]] = []
    for id_, value in zip(columns.token_ids[begin:].tolist(), columns.fields[begin:].tolist(), strict=True):
        text = TOKENIZER.decode([id_])
        if runs and runs[-1][1] == value:
            runs[-1] = (runs[-1][0] + text, Field(value))
        else:
            runs.append((text, Field(value)))
    return runs


def test_a_rollout() -> None:
    session = start([system("S"), HI], [WEATHER])
    first = session.native.prompt_ids()
    sampled = ids_of(THOUGHT + "<|im_end|>")
    session.call("add_completion", sampled, [-0.5] * len(sampled))
    assert session.call("parse").tool_calls[0].arguments == {"a": [1]}
    result = session.call("add_messages", [RESULT])
    assert result and result.refusal is None
    columns = session.check()
    assert result.n_new_tokens == len(columns) - len(first) - len(sampled)
    assert columns.token_ids[: len(first)].tolist() == first.tolist()
    assert columns.token_ids[len(first) : len(first) + len(sampled)].tolist() == sampled
    assert sorted(set(columns.message_indices.tolist())) == [-1, 0, 1, 2, 3]
    assert columns.loss_mask.sum() == columns.sampled_mask.sum() == len(sampled)
    assert session.native.messages == [
        system("S"),
        HI,
        {
            **assistant("Look:", reasoning_content="r."),
            "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": '{"a": [1]}'}}],
        },
        RESULT,
    ]


def test_the_fields_of_a_completion_are_those_of_a_render() -> None:
    session = start()
    begin = len(session.native)
    session.call("add_completion", ids_of(THOUGHT + "<|im_end|>"))
    assert fields_of(session.check(), begin) == [
        ("<think>\n", Field.REASONING_MARKUP),
        ("r.\n", Field.REASONING),
        ("</think>\n\n", Field.REASONING_MARKUP),
        ("Look:\n", Field.CONTENT),
        ('<tool_call>\n{"name": "', Field.CALL_MARKUP),
        ("f", Field.TOOL_NAME),
        ('", "arguments": {"', Field.CALL_MARKUP),
        ('a": [1]}}', Field.TOOL_ARGUMENTS),
        ("\n</tool_call>", Field.CALL_MARKUP),
        ("<|im_end|>", Field.TURN_CLOSE),
    ]


ANSWERS = [
    assistant("Yo"),
    assistant("", reasoning_content=""),
    assistant("Yo\n\nw", reasoning_content="one\n\ntwo. "),
    assistant("é🦙", tool_calls=[call("f", {"é": "🦙"}), call("get_it", {})]),
    assistant("", tool_calls=[call("f", '{"a":1}')], reasoning_content="r"),
    assistant("a\n", tool_calls=[call("f", {"a": "</tool_call>"})]),
]
LLAMA_ANSWERS = [
    assistant("Yo"),
    assistant("", tool_calls=[call("f", {"a": 1})]),
    assistant("", tool_calls=[call("f", {"a": 1}), call("g", {})]),
]


@pytest.mark.parametrize(
    ("family", "answer"),
    [
        *(("qwen3", answer) for answer in ANSWERS),
        *(("qwen2.5", answer) for answer in ANSWERS if "reasoning_content" not in answer),
        *(("llama-3.1", answer) for answer in LLAMA_ANSWERS),
        ("chatml", assistant("Yo")),
    ],
)
def test_a_completion_has_the_columns_of_its_render(family: str, answer: dict[str, Any]) -> None:
    fields = {"parallel_tool_calls": True} if family == "llama-3.1" else {}
    session = start(family=family, **fields)
    renderer = Both(TOKENIZER, config_from_name(family, **fields))
    begin = len(session.native)
    rendered = renderer.render([HI, answer]).columns
    assert rendered.token_ids[:begin].tolist() == session.native.prompt_ids().tolist()
    end = int(np.flatnonzero(rendered.sampled_mask)[-1]) + 1
    session.call("add_completion", rendered.token_ids[begin:end])
    columns = session.check()
    for name in ("token_ids", "message_indices", "fields", "sampled_mask", "is_content"):
        assert getattr(columns, name)[begin:].tolist() == getattr(rendered, name)[begin:end].tolist(), name


COMPLETIONS = [
    "",
    "<think>",
    "\n<think>\n\n",
    "<think>r</think>",
    "<think>\n\n</think>\n\n\n",
    "</think>Yo",
    "<think>a <tool_call>{}</tool_call> b</think>c",
    "<think>a <tool_call>\n{}\n</tool_call>",
    "<tool_call>",
    "\n\n<tool_call>\n{",
    'a\n\n<tool_call>{"name": "f"',
    '<tool_call>{"name": "f", "arguments": 5, "name": "g"}</tool_call>\n\n<tool_call>{"name": 5}</tool_call>',
    '<tool_call>{"arguments": {"é": "🦙"}, "name": "é"}</tool_call>',
    '<tool_call>x {"name": "f"}</tool_call>',
    '{"name": "f", "parameters": {"a": 1}}; \n {"name": "g", "parameters": {}}',
    '[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {"b": "}"}}]',
    '<|python_tag|>{"name": "f", "parameters": {',
    "Yo<|im_end|>more<|im_end|>",
    "<|im_start|>assistant\n<think>r</think>",
]


@pytest.mark.parametrize("family", ["qwen3", "qwen2.5", "llama-3.1", "chatml"])
@pytest.mark.parametrize("text", COMPLETIONS)
def test_the_fields_of_any_completion(family: str, text: str) -> None:
    start(family=family).call("add_completion", ids_of(text))


@pytest.mark.parametrize("vocabulary", ["builtin", "characters"])
@pytest.mark.parametrize("seed", range(40))
def test_the_fields_of_random_completions(seed: int, vocabulary: str) -> None:
    tokenizer = vocabularies.tokenizer(vocabulary)
    chance = random.Random(seed)
    pieces = [*COMPLETIONS, "\n", " ", "🦙", '"', "}", "{", ";", ",", "\\"]
    ids: list[int] = []
    for _ in range(chance.randrange(8)):
        more = tokenizer.encode(chance.choice(pieces))
        ids += more[: chance.randrange(len(more) + 1)] if chance.random() < 0.3 else more
        if chance.random() < 0.2:
            ids.append(chance.randrange(tokenizer.vocab_size + 5))
    family = chance.choice(["chatml"] if vocabulary == "characters" else ["qwen3", "llama-3.1", "qwen2.5"])
    Sessions(Both(tokenizer, config_from_name(family)), [HI]).call("add_completion", ids)


def test_a_refusal_leaves_the_session_as_it_is() -> None:
    session = start()
    session.call("add_completion", ids_of("Yo<|im_end|>"))
    before = session.check()
    result = session.call("add_messages", [user("2")])
    assert not result
    assert result.refusal.reason is BridgeRefusalReason.RETENTION_POLICY
    assert_same_columns(session.check(), before)
    assert session.call("add_messages", [RESULT]) == BridgeResult(None, len(session.native) - len(before))


def test_a_fork_trains_each_sampled_token_once() -> None:
    session = start()
    first, second = ids_of("<think>\nr\n</think>\n\nYo<|im_end|>"), ids_of("Bye<|im_end|>")
    session.call("add_completion", first, [-1.0] * len(first))
    session.call("fork", [user("2")])
    text = TOKENIZER.decode(session.native.prompt_ids().tolist())
    assert "<|im_start|>assistant\nYo<|im_end|>\n" in text and text.endswith("<|im_start|>assistant\n")
    assert not session.check().loss_mask.any()
    session.call("add_completion", second, [-2.0] * len(second))
    samples = session.native.to_training_samples()
    trained = [sample.token_ids[sample.loss_mask].tolist() for sample in samples]
    assert trained == [first, second]
    assert [set(sample.logprobs[sample.loss_mask].tolist()) for sample in samples] == [{-1.0}, {-2.0}]
    assert all(not sample.logprobs[~sample.loss_mask].any() for sample in samples)


def test_a_fork_with_other_messages() -> None:
    session = start()
    session.call("fork")  # nothing was sampled, so there is nothing to keep
    assert session.native.to_training_samples() == []
    session.call("add_completion", ids_of("Yo<|im_end|>"))
    session.call("fork", [user("2")], messages=[HI, assistant("Yo!")])
    assert session.native.messages == [HI, assistant("Yo!"), user("2")]
    for arguments, options in (
        ((), {"messages": []}),
        (([user(5)],), {}),
        ((HI,), {}),
        ((), {"messages": 5}),
    ):
        before = copy.copy(session.native)
        with pytest.raises((TypeError, ValueError)):
            session.call("fork", *arguments, **options)
        assert session.native == before


def test_a_sample_ends_with_what_was_sampled() -> None:
    session = start()
    session.call("add_completion", ids_of("Yo<|im_end|>"))
    end = len(session.native)
    session.call("add_messages", [RESULT])
    (sample,) = session.native.to_training_samples()
    assert len(sample.token_ids) == len(sample.message_indices) == end
    assert np.isnan(sample.logprobs[sample.loss_mask]).all()


def test_snapshots_stay_as_they_are() -> None:
    session = start()
    snapshots = []
    for turn in range(30):
        sampled = ids_of(f"{turn}<|im_end|>")
        session.call("add_completion", sampled, np.full(len(sampled), -turn, np.float64))
        columns = session.native.columns
        snapshots.append((columns, [getattr(columns, name).copy() for name in columns.__slots__[:6]]))
        assert session.call("add_messages", [tool(str(turn))])
    for columns, values in snapshots:
        for name, value in zip(columns.__slots__, values, strict=False):
            assert_same_array_values(getattr(columns, name), value)
            assert not getattr(columns, name).flags.writeable


def assert_same_array_values(array: np.ndarray, expected: np.ndarray) -> None:
    assert array.tolist() == expected.tolist()


def test_copies_go_their_own_ways() -> None:
    session = start()
    session.call("add_completion", ids_of("Yo<|im_end|>"))
    for copied in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        for one in (session.native, session.reference):
            other = copied(one)
            assert other == one
            before = one.prompt_ids().tolist()
            assert other.add_messages([tool("other")])
            assert one.prompt_ids().tolist() == before
            assert other != one
            third = copied(one)
            assert third.add_messages([tool("third")])
            third.add_completion(ids_of("Bye"))
            assert "other" not in TOKENIZER.decode(third.prompt_ids().tolist())
            assert other.messages[-1] == tool("other")
    assert session.call("add_messages", [RESULT])
    assert session.native != 5
    with pytest.raises(TypeError):
        hash(session.native)


def test_a_pickle_goes_on() -> None:
    session = start()
    session.call("add_completion", ids_of("Yo<|im_end|>"), np.full(len(ids_of("Yo<|im_end|>")), -0.25))
    session.call("fork", [user("2")])
    session.call("add_completion", ids_of("<think>r"))
    for one in (session.native, session.reference):
        restored = pickle.loads(pickle.dumps(one))
        assert restored == one
        assert_same(restored.to_training_samples(), one.to_training_samples())
        assert restored.add_messages([RESULT]) == one.add_messages([RESULT])
        assert restored == one


def test_what_the_caller_changes_later_has_no_effect() -> None:
    messages, tools = [user("Hi")], [copy.deepcopy(WEATHER)]
    session = start(messages, tools)
    messages[0]["content"] = "changed"
    tools[0]["function"]["name"] = "changed"
    session.native.messages[0]["content"] = "changed"
    new = [tool("ok")]
    session.call("add_completion", ids_of("Yo"))
    session.call("add_messages", new)
    new[0]["content"] = "changed"
    assert session.native.messages == [HI, assistant("Yo"), RESULT]
    assert session.native.tools == [WEATHER]


def test_turns_out_of_order() -> None:
    session = start()
    for name, arguments, error in (
        ("add_messages", ([RESULT],), r"^new_messages: the turn has no completion$"),
        ("parse", (), r"^parse: the turn has no completion$"),
    ):
        with pytest.raises(ValueError, match=error):
            session.call(name, *arguments)
    session.call("add_completion", [])
    with pytest.raises(ValueError, match=r"^token_ids: the turn has a completion already$"):
        session.call("add_completion", ids_of("Yo"))
    assert session.call("add_messages", [RESULT])


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (([-1],), r"^token_ids\[0\]: expected a token id"),
        (("Yo",), r"^token_ids: expected list, tuple or 1-D integer array, got str"),
        ((5,), r"^token_ids: expected list, tuple or 1-D integer array, got int"),
        (([1, 2], [0.5]), r"^logprobs: 1 entries for 2 ids"),
        (([1], [float("nan")]), r"^logprobs\[0\]: expected a log-probability, got nan"),
        (([1, 2], [-1.0, 1e39]), r"^logprobs\[1\]: expected a log-probability, got 1e\+39"),
        (([1], ["1"]), r"^logprobs: expected numbers, got dtype <U1"),
        (([1], [True]), r"^logprobs: expected numbers, got dtype bool"),
        (([1], [10**400]), r"^logprobs: expected numbers, got dtype object"),
        ((range(10**14),), r"^token_ids: expected list, tuple or 1-D integer array, got range"),
        ((np.array(5),), r"^token_ids: expected a 1-D array, got 0 dimensions"),
        (([1], [[0.5]]), r"^logprobs: expected a 1-D array, got 2 dimensions"),
        (([1], "a"), r"^logprobs: expected list, tuple or 1-D array, got str"),
    ],
)
def test_bad_completions(arguments: tuple[Any, ...], error: str) -> None:
    session = start()
    with pytest.raises((TypeError, ValueError), match=error):
        session.call("add_completion", *arguments)
    session.call("add_completion", ids_of("Yo"))


def test_bad_messages() -> None:
    for messages, error in (
        ([], "no messages"),
        (5, "expected a list"),
        ([{"role": 5}], r"messages\[0\]\.role"),
    ):
        with pytest.raises((TypeError, ValueError), match=error):
            start(messages)
    session = start()
    session.call("add_completion", ids_of("Yo"))
    with pytest.raises(RenderError, match=r"^new_messages\[0\]\.content\[0\]: "):
        session.call("add_messages", [user([{"type": "image"}])])
    assert session.call("add_messages", [RESULT])


def test_without_offsets_the_other_columns_are_not_available() -> None:
    renderer = Both(vocabularies.tokenizer("package"), config_from_name("chatml"))
    session = Sessions(renderer, [HI])
    assert len(session.check().fields) in (0, len(session.native))


HELD = [
    HI,
    assistant(
        "Look at this",
        reasoning_content="r r",
        tool_calls=[call("f", '{"a":1,"b":"x y"}'), call("g", "not JSON")],
    ),
    tool("ok", tool_call_id="c1"),
]


def changed(index: int, **fields: Any) -> list[dict[str, Any]]:
    messages = copy.deepcopy(HELD)
    messages[index] |= fields
    return messages


def with_calls(*calls: dict[str, Any]) -> list[dict[str, Any]]:
    return changed(1, tool_calls=list(calls))


F, G = HELD[1]["tool_calls"]


@pytest.mark.parametrize(
    ("messages", "kind", "index", "field", "texts"),
    [
        (changed(0, content=" Hi"), "whitespace", 0, "content", ("Hi", " Hi")),
        (changed(0, content=["H", "o"]), "other", 0, "content", ("Hi", "Ho")),
        (changed(0, role="system"), "other", 0, "role", ("user", "system")),
        (changed(1, content=None), "other", 1, "content", ("Look at this", "")),
        (changed(1, reasoning_content=None), "dropped_reasoning", 1, "reasoning_content", ("r r", "")),
        (changed(1, reasoning_content="r  r"), "whitespace", 1, "reasoning_content", ("r r", "r  r")),
        (changed(1, reasoning_content="s"), "other", 1, "reasoning_content", ("r r", "s")),
        (
            with_calls(call("f", {"a": 1, "b": "x y"}), G),
            "json_spelling",
            1,
            "tool_calls[0].function.arguments",
            ('{"a":1,"b":"x y"}', '{"a": 1, "b": "x y"}'),
        ),
        (
            with_calls(call("f", '{"a":1,"b":"xy"}'), G),
            "rewritten_call",
            1,
            "tool_calls[0].function.arguments",
            ('{"a":1,"b":"x y"}', '{"a":1,"b":"xy"}'),
        ),
        (
            with_calls(call("e", F["function"]["arguments"]), G),
            "rewritten_call",
            1,
            "tool_calls[0].function.name",
            ("f", "e"),
        ),
        (with_calls(F), "rewritten_call", 1, "tool_calls[1].function.name", ("g", "")),
        (changed(2, tool_call_id="c2"), "other", 2, "tool_call_id", ("c1", "c2")),
        (HELD[:2], "other", 2, "messages", ("tool", "")),
        ([], "other", 0, "messages", ("user", "")),
    ],
)
def test_drift(messages: list[Any], kind: str, index: int, field: str, texts: tuple[str, str]) -> None:
    observation = start(HELD, on_loss="template").call("observe", messages)
    assert not observation.is_clean
    drift = observation.drift
    assert (drift.kind, drift.message_index, drift.field) == (DriftKind(kind), index, field)
    assert (drift.held, drift.observed) == texts
    assert observation.new_messages == []


def test_a_history_that_extends_is_clean() -> None:
    session = start()
    session.call("add_completion", ids_of(THOUGHT + "<|im_end|>"))
    history = session.native.messages
    assert session.call("observe", history).is_clean
    # A scaffold names the call that was sampled, and adds its result.
    history[1]["tool_calls"][0]["id"] = "call_1"
    result = tool("ok", tool_call_id="call_1")
    observation = session.call("observe", [*history, result])
    assert observation.is_clean
    assert observation.new_messages == [result]
    assert session.call("add_messages", observation.new_messages)


@pytest.mark.parametrize(
    "messages", [5, [5], [{"role": 5}], [user(5)], [user([5])], [assistant(tool_calls=5)]]
)
def test_bad_observations(messages: Any) -> None:
    with pytest.raises(TypeError, match=r"^messages"):
        start().call("observe", messages)


def test_a_long_rollout_has_no_drift() -> None:
    """200 turns with truncations, tools and forks, some 100,000 ids."""
    chance = random.Random(7)
    renderer = Both(TOKENIZER, config_from_name("qwen3")).native
    assert renderer is not None
    session = renderer.session([HI])
    trained: list[list[int]] = [[]]
    n_forks = 0
    for turn in range(200):
        before = session.prompt_ids()
        words = " ".join(chance.choice(["über", "🦙", "go", "<think>", "x\n"]) for _ in range(60))
        text = chance.choice(["<think>\n{}\n</think>\n\nYes", "{}", "<think>\n{}", THOUGHT + "{}"])
        sampled = ids_of(text.replace("{}", words) + chance.choice(["<|im_end|>", ""]))
        session.add_completion(sampled, [-float(turn)] * len(sampled))
        trained[-1] += sampled
        new = [chance.choice([tool, tool, tool, user])(words * 3)]
        if not session.add_messages(new):
            session.fork(new)
            trained.append([])
            n_forks += 1
        else:
            ids = session.prompt_ids()
            assert np.array_equal(ids[: len(before)], before)
            assert ids[len(before) : len(before) + len(sampled)].tolist() == sampled
    samples = session.to_training_samples()
    assert n_forks > 20
    assert [sample.token_ids[sample.loss_mask].tolist() for sample in samples] == [
        row for row in trained if row
    ]
    assert sum(len(sample.token_ids) for sample in samples) > 100_000


def test_messages_that_cannot_be_kept_change_nothing() -> None:
    session = start(thinking_retention="all")
    session.call("add_completion", ids_of("Yo<|im_end|>"))
    before = copy.copy(session.native)
    nested: Any = "x"
    for _ in range(5000):
        nested = [nested]
    for extra, error in ((threading.Lock(), "cannot be copied: "), (nested, "nested too deep")):
        for call_ in ("add_messages", "fork"):
            with pytest.raises((TypeError, ValueError), match=rf"^new_messages\[1\]: {error}"):
                session.call(call_, [RESULT, user("x", extra=extra)])
            assert session.native == before
    with pytest.raises(ValueError, match=r"^tools\[0\]: nested too deep"):
        start(tools=[{"a": nested}])
    with pytest.raises(TypeError, match=r"^new_messages: expected a list of messages, got NoneType"):
        session.call("fork", None)
    assert session.call("add_messages", [user("x")])


def test_one_completion_of_several_threads_is_taken() -> None:
    renderer = Both(TOKENIZER, config_from_name("qwen3")).native
    assert renderer is not None
    ids = np.array(ids_of("Yo") * 20_000, np.int32)
    for _ in range(10):
        session = renderer.session([HI])
        n_prompt = len(session)
        taken: list[bool] = []

        def add(session: Session = session, taken: list[bool] = taken) -> None:
            try:
                session.add_completion(ids)
                taken.append(True)
            except ValueError:
                taken.append(False)

        threads = [threading.Thread(target=add) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(taken) == [False, False, False, True]
        assert len(session) == n_prompt + len(ids)


@pytest.mark.parametrize(
    ("held", "observed", "kind"),
    [
        ('{"a": true}', '{"a": 1}', "rewritten_call"),
        ('{"a": 1.0}', '{"a": 1}', "rewritten_call"),
        ('{"a": 1, "b": 2}', '{"b":2,"a":1}', "json_spelling"),
        ('{"a": 1, "a": 2}', '{"a": 2}', "rewritten_call"),
        ('{"\\u00e9": 1}', '{"é": 1}', "json_spelling"),
    ],
)
def test_what_is_the_same_json(held: str, observed: str, kind: str) -> None:
    messages = [HI, assistant("", tool_calls=[call("f", held)])]
    other = [HI, assistant("", tool_calls=[call("f", observed)])]
    drift = start(messages).call("observe", other).drift
    assert drift is not None
    assert drift.kind == kind


def test_an_image_is_no_text() -> None:
    drift = start([user("x")]).call("observe", [user([{"type": "image", "text": "x"}])]).drift
    assert drift is not None
    assert drift.field == "content"
