"""Hypothesis strategies: conversations that a caller may pass; `hostile` has those with something wrong."""

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import vocabularies
from catalog import CALL_OPTIONS, FAMILIES, MARKER_POLICIES, ON_LOSS
from chats import call
from turnloom.configs import FamilyConfig, config_from_name

MARKERS = [entry["content"] for entry in vocabularies.tokenizer_json("odd")["added_tokens"]]
ROLES = ["system", "user", "assistant", "tool"]
LOOK_ALIKES = [
    "<|im_end|",
    "<|IM_END|>",
    "< think>",
    "＜think＞",
    "<｜im_end｜>",
    "</tool_call",
    "<|im_end|\u200b>",
]
MARKS = ["\u0301", "\u0338", "\u0323", "e\u0301", "\u1161\u11a8", "\u3099", "\u200d", "\ufe0f"]
SPACES = ["\n", "\n\n", " ", "  ", "\r\n", "\t", "\0", "\x1c", "\x85", "\u2028", "\u3000"]
WORDS = ["Hi", "end", "word", "A", "B", "Z", "\u00e9", "Q", "{}", '"', "'", "\\", "中文", "🦙", "👨‍👩‍👧"]

# Unassigned characters have no properties yet that Python and the `tokenizers` package could agree on.
characters = st.characters(exclude_categories=["Cs", "Cn"])


@st.composite
def marker_halves(draw: st.DrawFn) -> str:
    """Give the beginning or the end of a marker."""
    marker = draw(st.sampled_from(MARKERS))
    cut = draw(st.integers(1, max(1, len(marker) - 1)))
    return draw(st.sampled_from([marker[:cut], marker[cut:]]))


def texts(*, markers: bool = True, max_fragments: int = 4) -> SearchStrategy[str]:
    """Give texts out of what renderers and encoders tend to get wrong."""
    fragments = [
        st.sampled_from(WORDS),
        st.sampled_from(SPACES),
        st.sampled_from(MARKS),
        st.text(characters, max_size=5),
    ]
    if markers:
        fragments += [
            st.sampled_from(MARKERS),
            st.sampled_from(MARKERS),
            marker_halves(),
            st.sampled_from(LOOK_ALIKES),
        ]
    else:
        fragments = [fragment.filter(lambda text: not holds_marker(text)) for fragment in fragments]
    return st.lists(st.one_of(fragments), max_size=max_fragments).map("".join)


def holds_marker(text: str) -> bool:
    """Tell whether there is anything that a marker could begin or end with."""
    return any(character in text for character in "<>|")


def contents(text: SearchStrategy[str]) -> SearchStrategy[Any]:
    """Give what may stand under `content`."""
    parts = text | st.one_of(
        text.map(lambda it: {"type": "text", "text": it}),
        text.map(lambda it: {"text": it}),
        text.map(lambda it: {"type": None, "text": it, "more": [it]}),
    )
    foreign = st.sampled_from([{"type": "image", "image": "a"}, {"type": "thinking", "thinking": "b"}])
    lists = st.lists(st.one_of(parts, parts, parts, foreign), max_size=3)
    return st.one_of(text, text, text, st.none(), lists, lists.map(tuple))


def json_values(text: SearchStrategy[str]) -> SearchStrategy[Any]:
    """Give nested values that JSON has a form for."""
    keys = st.one_of(text, text, st.integers(-3, 3), st.floats(), st.booleans(), st.none())
    scalars = st.one_of(text, st.integers(), st.floats(), st.booleans(), st.none(), st.just(10**30))
    return st.recursive(
        scalars,
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=2) | st.tuples(inner)
        ),
        max_leaves=5,
    )


@st.composite
def tool_calls(draw: st.DrawFn, text: SearchStrategy[str]) -> dict[str, Any]:
    """Give a call, wrapped or flat."""
    function = {"name": draw(text)}
    if draw(st.booleans()):
        function["arguments"] = draw(json_values(text))
    wrapped = draw(st.sampled_from([{"function": function}, {"function": None} | function, function]))
    if draw(st.booleans()):
        wrapped = wrapped | {"id": draw(st.sampled_from(["c1", "c2", "", None])), "type": "function"}
    return wrapped


@st.composite
def messages_of(draw: st.DrawFn, roles: SearchStrategy[str], text: SearchStrategy[str]) -> dict[str, Any]:
    """Give one message; most have few keys."""
    message: dict[str, Any] = {"role": draw(roles), "content": draw(contents(text))}
    optional: dict[str, SearchStrategy[Any]] = {
        "reasoning_content": st.none() | text,
        "thinking": st.none() | text,
        "reasoning": st.none() | text,
        "tool_calls": st.none() | st.lists(tool_calls(text), max_size=2),
        "tool_call_id": st.sampled_from(["c1", "c2", "", None]),
        "name": st.none() | text,
        "train": st.sampled_from([True, False, 0, 1, None]),
        "unknown": st.just(object()),
    }
    for key in draw(st.lists(st.sampled_from(sorted(optional)), max_size=2, unique=True)):
        message[key] = draw(optional[key])
    if draw(st.integers(0, 15)) == 0:
        del message["content"]
    return message


def conversations(
    *, roles: Sequence[str] = ROLES, any_role: bool = True, text: SearchStrategy[str] | None = None
) -> SearchStrategy[list[dict[str, Any]]]:
    """Give conversations; with `any_role`, some roles are any text."""
    text = texts() if text is None else text
    known = st.sampled_from(list(roles))
    role = st.one_of(known, known, known, known, text) if any_role else known
    return st.lists(messages_of(role, text), min_size=1, max_size=5)


def tool_lists(text: SearchStrategy[str] | None = None) -> SearchStrategy[Any]:
    """Give what may be passed as `tools`."""
    text = texts() if text is None else text
    tools = st.lists(st.dictionaries(text, json_values(text), max_size=3), max_size=2)
    return st.one_of(st.none(), st.none(), tools, tools.map(tuple))


@dataclass
class Call:
    """Arguments of a call."""

    messages: Any
    tools: Any = None
    options: dict[str, bool] = field(default_factory=dict)


def calls(**given: Any) -> SearchStrategy[Call]:
    """Give arguments of `render` that may be refused, but are of the right types."""
    return st.builds(Call, conversations(**given), tool_lists(), st.sampled_from(list(CALL_OPTIONS)))


@st.composite
def configs(
    draw: st.DrawFn,
    families: Sequence[str] = tuple(FAMILIES),
    policies: Sequence[str] = MARKER_POLICIES,
    on_loss: Sequence[str] = ON_LOSS,
) -> FamilyConfig:
    """Give a config. Losses are accepted more often, so that more is rendered."""
    family = draw(st.sampled_from(list(families)))
    return config_from_name(
        family,
        **draw(st.sampled_from(list(FAMILIES[family]))),
        marker_policy=draw(st.sampled_from(list(policies))),
        on_loss=draw(st.sampled_from([*on_loss, on_loss[-1]])),
    )


def vocabulary_names() -> SearchStrategy[str]:
    return st.sampled_from(vocabularies.NAMES)


def is_nfc(text: str) -> bool:
    return unicodedata.is_normalized("NFC", text)


@st.composite
def canonical_replies(draw: st.DrawFn, family: str) -> dict[str, Any]:
    """Give assistant messages that are what a completion of the family says: parsed, they are the same again.

    Texts are stripped, in NFC as vocabularies have them, and hold no markers; names need no escapes, and
    arguments are JSON text as `json.dumps` writes it.
    """
    plain = texts(markers=False).map(lambda text: unicodedata.normalize("NFC", text.strip()))
    calls_in = family in ("qwen2.5", "qwen3") or (family.startswith("llama-3.") and draw(st.booleans()))
    message: dict[str, Any] = {"role": "assistant", "content": draw(plain)}
    if family == "qwen3" and (reasoning := draw(plain)):
        message["reasoning_content"] = reasoning
    if calls_in:
        is_llama = family.startswith("llama")
        scalars = plain | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
        values = st.recursive(
            scalars | st.none(),
            lambda inner: st.lists(inner, max_size=2) | st.dictionaries(plain, inner, max_size=2),
            max_leaves=5,
        )
        calls = st.builds(
            call,
            st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,8}", fullmatch=True),
            # An escape may compose with a mark behind it, as `\\n`.
            st.dictionaries(plain, values, max_size=3).map(_json_text).filter(is_nfc),
        )
        message["tool_calls"] = draw(st.lists(calls, min_size=is_llama, max_size=1 if is_llama else 2))
        if is_llama:
            message["content"] = ""
        if not message["tool_calls"]:
            del message["tool_calls"]
    return message


def _json_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
