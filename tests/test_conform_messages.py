"""Tool-call ids of whole conversations: pairing, ids that meet, prefixes that stay as they are."""

import copy
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import turnloom
from oracles import agreed
from turnloom import ConformedMessages, RenderError, reference

Message = dict[str, Any]

KINDS: list[tuple[str, int | None]] = [
    ("any", None),
    ("max_length", 8),
    ("max_length", 40),
    ("url_safe", None),
    ("bedrock", None),
    ("alphanumeric", 9),
    ("kimi", None),
]
ALL_BITS = 2**64 - 1


def conform(
    messages: Any, kind: str = "url_safe", n: int | None = None, hash_mask: int = ALL_BITS
) -> ConformedMessages:
    before = copy.deepcopy(messages)
    conformed = agreed(
        lambda: turnloom.ToolCallIdFormat(kind, n, hash_mask).conform_messages(messages),  # type: ignore[arg-type]
        lambda: reference.ToolCallIdFormat(kind, n, hash_mask).conform_messages(messages),
        assert_same_conformed,
    )
    assert messages == before
    return conformed


def assert_same_conformed(native: ConformedMessages, expected: ConformedMessages) -> None:
    assert native.messages == expected.messages
    assert list(native.mapping.items()) == list(expected.mapping.items())


def calls(*ids: str | None, name: str = "search") -> Message:
    """Make an assistant message with a call for each id; None leaves the id out."""
    functions = [{"function": {"name": name, "arguments": {}}} for _ in ids]
    with_ids = [call if id is None else {**call, "id": id} for call, id in zip(functions, ids, strict=True)]
    return {"role": "assistant", "content": None, "tool_calls": with_ids}


def result(id: str | None = None, **more: Any) -> Message:
    return {"role": "tool", "content": "ok", **({} if id is None else {"tool_call_id": id}), **more}


USER = {"role": "user", "content": "Hi"}


def call_ids(conformed: ConformedMessages) -> list[str]:
    messages: Sequence[Any] = conformed.messages
    return [call["id"] for message in messages for call in message.get("tool_calls") or []]


def result_ids(conformed: ConformedMessages) -> list[str]:
    messages: Sequence[Any] = conformed.messages
    return [message["tool_call_id"] for message in messages if "tool_call_id" in message]


def test_calls_and_results_get_the_same_value() -> None:
    for id, new in (("toolu_01Fake9Zz8Yy7Xx6Ww5Vv4", "mVYsUHUkS"), ("call_0aB", "14BbaXa9A")):
        conformed = conform([USER, calls(id), result(id)], "alphanumeric", 9)
        assert call_ids(conformed) == result_ids(conformed) == [new]
        assert conformed.restore(new) == id
        assert conformed.mapping == {new: id}


def test_kimi_ids_for_another_provider() -> None:
    ids = ["functions.list_dir:0", "functions.list_dir:1", "functions_list_dir_0"]
    conformed = conform([calls(*ids), *map(result, ids)])
    assert call_ids(conformed) == result_ids(conformed)
    assert call_ids(conformed) == [
        "functions_list_dir_0_7cbeea5b0dad803e",
        "functions_list_dir_1_7cbeeb5b0dad81f1",
        "functions_list_dir_0",
    ]


@pytest.mark.parametrize(("kind", "n"), KINDS)
@pytest.mark.parametrize("missing", [None, ""])
def test_calls_without_ids_are_paired_by_order(kind: str, n: int | None, missing: str | None) -> None:
    conformed = conform([USER, calls(missing, missing), result(missing), result(missing)], kind, n)
    assert len(set(call_ids(conformed))) == 2
    assert result_ids(conformed) == call_ids(conformed)
    assert [conformed.restore(id) for id in call_ids(conformed)] == [None, None]
    if kind == "any":
        expected = [f"call_{turnloom.fnv1a_64('call', round=number):016x}" for number in range(2)]
        assert call_ids(conformed) == expected


@pytest.mark.parametrize(("kind", "n"), KINDS)
def test_an_id_repeated_in_another_turn_is_another_call(kind: str, n: int | None) -> None:
    turn = [calls("call 1"), result("call 1")]
    conformed = conform([USER, *turn, USER, *turn, USER, *turn], kind, n)
    assert len(set(call_ids(conformed))) == 3
    assert result_ids(conformed) == call_ids(conformed)
    assert set(conformed.mapping.values()) == {"call 1"}
    if kind != "kimi":
        assert call_ids(conformed)[0] == turnloom.ToolCallIdFormat(kind, n).conform("call 1")  # type: ignore[arg-type]


def test_an_id_repeated_in_one_turn_is_paired_by_order() -> None:
    conformed = conform([calls("a", "a"), result("a"), result("a")])
    first, second = call_ids(conformed)
    assert first == "a" and second == f"a_{turnloom.fnv1a_64('a', round=1):016x}"
    assert result_ids(conformed) == [first, second]


def test_results_out_of_order_follow_their_ids() -> None:
    conformed = conform([calls("a b", "c d"), result("c d"), result("a b")])
    assert result_ids(conformed) == call_ids(conformed)[::-1]


def test_calls_of_a_turn_may_stand_in_several_messages() -> None:
    conformed = conform([calls(None), calls(None), result(), result(), calls(None), result()])
    assert result_ids(conformed) == call_ids(conformed)


def test_a_call_that_was_not_answered_does_not_take_later_results() -> None:
    conformed = conform([calls(None, None), result(), USER, calls(None), result(), result()])
    first, second, third = call_ids(conformed)
    assert result_ids(conformed) == [first, third, second]


def test_a_second_result_of_a_call_has_its_id() -> None:
    conformed = conform([calls("a", "b"), result("a"), result("a"), result("b")])
    assert result_ids(conformed) == ["a", "a", "b"]


def test_results_whose_id_no_call_has_go_to_calls_without_one() -> None:
    conformed = conform([calls(None, None), result("x"), result("y"), result("x")])
    first, second = call_ids(conformed)
    assert result_ids(conformed) == [first, second, first]


def test_results_without_a_call_have_ids_of_their_own() -> None:
    conformed = conform([result("lost one"), result(), calls("lost one"), result("lost one")])
    lost, missing, answered = result_ids(conformed)
    assert lost == turnloom.ToolCallIdFormat.url_safe().conform("lost one")
    assert conformed.mapping == {lost: "lost one", missing: None, answered: "lost one"}
    assert call_ids(conformed) == [answered]


def test_an_accepted_id_that_meets_a_replacement_is_replaced() -> None:
    new = turnloom.ToolCallIdFormat.url_safe().conform("a:b")
    conformed = conform([calls("a:b", new), result(new), result("a:b")])
    first, second = call_ids(conformed)
    assert first == new
    assert second == f"{new[:40]}_{turnloom.fnv1a_64(new, round=1):016x}"
    assert result_ids(conformed) == [second, first]
    assert (conformed.restore(first), conformed.restore(second)) == ("a:b", new)
    # In the other order the accepted id comes first and stays.
    first, second = call_ids(conform([calls(new, "a:b")]))
    assert first == new
    assert second == f"a_b_{turnloom.fnv1a_64('a:b', round=1):016x}"


@pytest.mark.parametrize("hash_mask", [1, 3, 0xFF])
@pytest.mark.parametrize(("kind", "n"), KINDS[:-1])
def test_ids_stay_different_with_a_weak_hash(kind: str, n: int | None, hash_mask: int) -> None:
    ids = ["a b", "a:b", "a/b", "a_b", "a b", *(f"{i}-é" for i in range(3))][: min(8, 2 * hash_mask)]
    if kind in ("max_length", "alphanumeric") and n != 40:
        ids = ids[: hash_mask + 1]  # there are no more all-hash ids
    conformed = conform([calls(*ids), *map(result, ids)], kind, n, hash_mask)
    assert len(set(call_ids(conformed))) == len(ids)
    assert [conformed.restore(id) for id in call_ids(conformed)] == ids
    assert result_ids(conformed) == call_ids(conformed)


def test_a_format_that_runs_out_of_ids_is_an_error() -> None:
    with pytest.raises(ValueError) as raised:
        conform([USER, calls("a b", "c d")], "alphanumeric", 9, hash_mask=0)
    assert str(raised.value) == "messages[1].tool_calls[1].id: the format has no free id left"
    with pytest.raises(ValueError) as raised:
        conform([result("a b"), result("c d")], "alphanumeric", 9, hash_mask=0)
    assert str(raised.value) == "messages[1].tool_call_id: the format has no free id left"
    every_id = conform([calls(*(f"id {i}" for i in range(62)))], "alphanumeric", 1)
    assert len(set(call_ids(every_id))) == 62


def test_kimi_counts_over_the_conversation() -> None:
    conformed = conform(
        [
            calls("a", "b", name="list_dir"),
            result("b"),
            result("a"),
            calls("a", name="read"),
            result("a"),
            result("functions.gone:7"),
            result("other"),
            result("another", name="grep"),
            calls(None, name="read"),
        ],
        "kimi",
    )
    assert call_ids(conformed) == [
        "functions.list_dir:0",
        "functions.list_dir:1",
        "functions.read:2",
        "functions.read:6",
    ]
    assert result_ids(conformed) == [
        "functions.list_dir:1",
        "functions.list_dir:0",
        "functions.read:2",
        "functions.gone:3",
        "functions.unknown:4",
        "functions.grep:5",
    ]


def test_messages_without_ids_are_the_callers_own() -> None:
    messages = [USER, calls("a"), result("a"), {"role": "assistant", "content": "Bye", "tool_calls": []}]
    conformed = turnloom.ToolCallIdFormat.any().conform_messages(messages)
    assert [new is old for new, old in zip(conformed.messages, messages, strict=True)] == [
        True,
        False,
        False,
        True,
    ]


def test_other_keys_stay() -> None:
    flat = {"name": "f", "arguments": {"id": "inner"}, "id": "a b", "type": "function", "more": 1}
    messages = [{"role": "assistant", "tool_calls": (flat,), "extra": 2}, result("a b", name="f")]
    conformed = conform(messages)
    new = turnloom.ToolCallIdFormat.url_safe().conform("a b")
    assert conformed.messages == [
        {"role": "assistant", "tool_calls": [{**flat, "id": new}], "extra": 2},
        {**messages[1], "tool_call_id": new},
    ]


def test_restore_of_an_unknown_id_is_a_key_error() -> None:
    conformed = conform([calls("a")])
    with pytest.raises(KeyError) as raised:
        conformed.restore("b")
    assert raised.value.args == ("id: no tool call of the conversation has the id 'b'",)


IDS = (
    st.none()
    | st.sampled_from(["", "a", "b", "a b", "a:b", "a_b", "functions.f:1", "é"])
    | st.text("ab :", max_size=3)
)
NAMES = st.sampled_from(["f", "g"])
MESSAGES = st.lists(
    st.one_of(
        st.just(USER),
        st.lists(IDS, max_size=3).map(lambda ids: calls(*ids)),
        st.tuples(IDS, NAMES).map(lambda pair: result(pair[0], name=pair[1])),
        IDS.map(result),
        st.just({"role": "assistant", "content": "text"}),
    ),
    min_size=1,
    max_size=14,
)


@pytest.mark.parametrize("hash_mask", [ALL_BITS, 0xFF])
@pytest.mark.parametrize(("kind", "n"), KINDS)
@given(messages=MESSAGES)
def test_what_holds_for_every_conversation(
    kind: str, n: int | None, hash_mask: int, messages: list[Message]
) -> None:
    conformed = conform(messages, kind, n, hash_mask)
    ids = call_ids(conformed)
    assert len(set(ids)) == len(ids)
    assert set(conformed.mapping) == {*ids, *result_ids(conformed)}
    given = [call.get("id") or None for message in messages for call in message.get("tool_calls", [])]
    assert [conformed.restore(id) for id in ids] == given
    format = turnloom.ToolCallIdFormat(kind, n, hash_mask)  # type: ignore[arg-type]
    assert all(format.accepts(id) for id in conformed.mapping)
    for end in range(1, len(messages)):
        prefix = format.conform_messages(messages[:end])
        assert prefix.messages == conformed.messages[:end]


ERRORS: list[tuple[Any, type[Exception], str]] = [
    ([], ValueError, "messages: no messages"),
    ({}, TypeError, "messages: expected a list of messages, got dict"),
    ([USER, 1], TypeError, "messages[1]: expected a dict, got int"),
    ([{"content": ""}], RenderError, "messages[0].role: missing"),
    ([result(5)], TypeError, "messages[0].tool_call_id: expected str, got int"),  # type: ignore[arg-type]
    ([calls(5)], TypeError, "messages[0].tool_calls[0].id: expected str, got int"),  # type: ignore[arg-type]
    ([calls("\ud800")], ValueError, "messages[0].tool_calls[0].id: lone surrogate U+D800 at character 0"),
    (
        [{"role": "assistant", "tool_calls": [{"id": "a", "function": {}}]}],
        RenderError,
        "messages[0].tool_calls[0].function.name: missing",
    ),
]


@pytest.mark.parametrize(("messages", "error", "text"), ERRORS)
def test_errors(messages: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        conform(messages)
    assert type(raised.value) is error and str(raised.value) == text


@pytest.mark.parametrize("id", ["same", None])
def test_time_grows_with_the_conversation_only(id: str | None) -> None:
    n = 30_000
    conformed = turnloom.ToolCallIdFormat.alphanumeric(9).conform_messages(
        [calls(*[id] * n), *[result(id)] * n, *[calls(id), result(id)] * n]
    )
    assert len(set(call_ids(conformed))) == 2 * n
    assert result_ids(conformed) == call_ids(conformed)
