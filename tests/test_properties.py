"""What holds for every conversation."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import strategies
import vocabularies
from catalog import FAMILIES
from chats import HI, assistant, system, user
from oracles import attempt
from strategies import Call, is_nfc
from tokenizer_oracle import Encode, encode_without
from turnloom import ContentMarker, Field, RenderedTokens, Renderer, RenderError, create_renderer
from turnloom._core import declared_markers
from turnloom.configs import FamilyConfig, config_from_name

SAMPLED_FIELDS = {
    Field.CONTENT,
    Field.REASONING,
    Field.REASONING_MARKUP,
    Field.CALL_MARKUP,
    Field.TOOL_NAME,
    Field.TOOL_ARGUMENTS,
    Field.TURN_CLOSE,
}
CALL = strategies.calls()
NAMES = strategies.vocabulary_names()
ACCEPTING = strategies.configs(on_loss=["template"])


def renderer_of(config: FamilyConfig, vocabulary: str = "builtin", **fields: str) -> Renderer:
    changed = config.model_copy(update=fields)
    return create_renderer(vocabularies.tokenizer(vocabulary), changed)


def render(renderer: Renderer, call: Call) -> RenderedTokens:
    """Render; conversations that the format refuses are no examples."""
    rendered, error = attempt(
        lambda: renderer.render(call.messages, tools=call.tools, byte_offsets=True, **call.options)
    )
    assume(error is None)
    return rendered


def text_of(renderer: Renderer, call: Call) -> str:
    return renderer.render_text(call.messages, tools=call.tools, **call.options)


@given(CALL, ACCEPTING, NAMES)
def test_every_token_is_attributed(call: Call, config: FamilyConfig, vocabulary: str) -> None:
    rendered = render(renderer_of(config, vocabulary), call)
    columns = rendered.columns
    assert len({len(column) for column in (columns.token_ids, columns.message_indices, columns.fields)}) == 1
    assert len(rendered.message_roles) == len(rendered.message_tool_names) == len(call.messages)
    for message, field, sampled, is_content, loss in zip(
        rendered.message_indices,
        columns.fields.tolist(),
        rendered.sampled_mask,
        rendered.is_content,
        columns.loss_mask.tolist(),
        strict=True,
    ):
        assert -1 <= message < len(call.messages)
        role = rendered.message_roles[message] if message >= 0 else None
        assert loss == (sampled and call.messages[message].get("train", True) in (None, True))
        assert sampled == (role == "assistant" and Field(field) in SAMPLED_FIELDS)
        assert is_content == (sampled if role == "assistant" else role is not None and field == Field.CONTENT)


@given(CALL, ACCEPTING, NAMES)
def test_byte_offsets_tile_the_text(call: Call, config: FamilyConfig, vocabulary: str) -> None:
    renderer = renderer_of(config, vocabulary)
    spans = render(renderer, call).columns.byte_offsets.tolist()
    text = text_of(renderer, call)
    assert (spans[0][0], spans[-1][1]) == (0, len(text.encode())) if spans else text == ""
    for (begin, end), (next_begin, next_end) in pairwise(spans):
        assert begin <= end and begin <= next_begin <= end <= next_end
        if is_nfc(text):
            assert end == next_begin


@given(CALL, ACCEPTING, st.sampled_from(["builtin", "package"]))
def test_tokens_spell_the_text(call: Call, config: FamilyConfig, vocabulary: str) -> None:
    renderer = renderer_of(config, vocabulary)
    rendered = render(renderer, call)
    text = text_of(renderer, call)
    assume(is_nfc(text))
    assert renderer.tokenizer.decode(rendered.token_ids) == text
    source = text.encode()
    for token, (begin, end) in zip(rendered.token_ids, rendered.columns.byte_offsets.tolist(), strict=True):
        assert renderer.tokenizer.decode_bytes([token]) == source[begin:end]


@given(CALL, strategies.configs(on_loss=["template"], policies=["all"]), NAMES)
def test_policy_all_gives_the_ids_of_the_text(call: Call, config: FamilyConfig, vocabulary: str) -> None:
    renderer = renderer_of(config, vocabulary)
    rendered = render(renderer, call)
    text = text_of(renderer, call)
    if vocabulary == "odd":
        # There a text can swallow the beginning of a control token; markers are looked for as they were
        # passed, also if the package looks for them in normalized text; and white space that a token strips
        # is not matched a second time, which the package does with tokens that begin with white space.
        assume(is_nfc(text) and not any(spelling in text for spelling in ("Z<", "\u00e9<", "  ", "\nB")))
    package = vocabularies.package_tokenizer(vocabulary)
    assert rendered.token_ids == package.encode(text, add_special_tokens=False).ids


@cache
def encoder_without_markers() -> Encode:
    document = vocabularies.tokenizer_json("builtin")
    special = [entry["content"] for entry in document["added_tokens"] if entry["special"]]
    return encode_without(document, {*special, *declared_markers()})


@given(strategies.texts(), st.sampled_from(["trusted", "none"]))
def test_guarded_text_is_ordinary_text(text: str, policy: str) -> None:
    encode = encoder_without_markers()
    renderer = renderer_of(config_from_name("chatml", marker_policy=policy))
    ids = renderer.tokenizer.added_tokens
    assert renderer.render_ids([user(text)]) == [
        ids["<|im_start|>"],
        *encode(f"user\n{text}"),
        ids["<|im_end|>"],
        *encode("\n"),
    ]


@given(CALL, ACCEPTING, NAMES)
def test_policies_agree_without_markers(call: Call, config: FamilyConfig, vocabulary: str) -> None:
    expected = render(renderer_of(config, vocabulary, marker_policy="all"), call)
    assume(not expected.content_markers)
    for policy in ("trusted", "none", "reject"):
        rendered = renderer_of(config, vocabulary, marker_policy=policy).render(
            call.messages, tools=call.tools, **call.options
        )
        assert rendered == expected
        assert rendered.content_markers == []
        assert np.array_equal(rendered.columns.fields, expected.columns.fields)


@given(CALL, ACCEPTING)
def test_content_markers(call: Call, config: FamilyConfig) -> None:
    renderer = renderer_of(config)
    rendered = render(renderer, call)
    source = text_of(renderer, call).encode()
    tokens = dict(zip(map(tuple, rendered.columns.byte_offsets.tolist()), rendered.token_ids, strict=True))
    assert rendered.content_markers == sorted(rendered.content_markers, key=lambda marker: marker.byte_begin)
    for marker in rendered.content_markers:
        span = (marker.byte_begin, marker.byte_end)
        assert source[slice(*span)].decode() == marker.marker
        is_token = tokens.get(span) == renderer.tokenizer.token_to_id(marker.marker)
        assert is_token == marker.became_token
        assert marker.became_token == is_allowed(rendered, marker, config.marker_policy)


def is_allowed(rendered: RenderedTokens, marker: ContentMarker, policy: str) -> bool:
    """Tell what the policy says of a marker; markers of this vocabulary never lie in several pieces."""
    if policy in ("all", "none"):
        return policy == "all"
    role = rendered.message_roles[marker.message_index] if marker.message_index >= 0 else None
    return role in ("assistant", "system") and marker.field != Field.TOOL_SPEC


@given(CALL, ACCEPTING)
def test_reject_refuses_what_trusted_keeps_as_text(call: Call, config: FamilyConfig) -> None:
    trusted = render(renderer_of(config, marker_policy="trusted"), call)
    rendered, error = attempt(
        lambda: renderer_of(config, marker_policy="reject").render(
            call.messages, tools=call.tools, **call.options
        )
    )
    if trusted.neutralised_markers:
        first = trusted.neutralised_markers[0]
        span = f"bytes {first.byte_begin}-{first.byte_end} of the rendered text"
        assert type(error) is RenderError
        assert str(error).endswith(f": {span} spell the marker {first.marker!r}")
    else:
        assert rendered == trusted


@given(
    strategies.conversations(roles=["user", "tool"], any_role=False),
    strategies.tool_lists(),
    st.sampled_from(list(FAMILIES)),
    st.sampled_from(["trusted", "none"]),
    NAMES,
)
def test_guests_write_no_control_tokens(
    messages: list[dict[str, object]], tools: object, family: str, policy: str, vocabulary: str
) -> None:
    """The sequence of markers is that of the same conversation with harmless text."""
    renderer = renderer_of(config_from_name(family, marker_policy=policy, on_loss="template"), vocabulary)
    # The last query is the same in both: in Qwen3, it decides what is shown of the reasoning before it.
    end = [HI, assistant("a")]
    harmless = [message | {"content": "x"} for message in messages]
    rendered = render(renderer, Call([system("S"), *messages, *end], tools))
    expected = render(renderer, Call([system("S"), *harmless, *end], tools and [{"x": "x"} for _ in tools]))
    markers = marker_ids(vocabulary)
    assert [id for id in rendered.token_ids if id in markers] == [
        id for id in expected.token_ids if id in markers
    ]


@cache
def marker_ids(vocabulary: str) -> frozenset[int]:
    """Give the ids of markers that ordinary text never has."""
    document = vocabularies.tokenizer_json(vocabulary)
    return frozenset(
        entry["id"]
        for entry in document["added_tokens"]
        if (entry["special"] or entry["content"] in declared_markers())
        and entry["content"] not in document["model"]["vocab"]
    )


@pytest.mark.parametrize("family", ["chatml", "llama-3"])
@given(data=st.data())
def test_a_longer_conversation_begins_with_the_shorter(family: str, data: st.DataObject) -> None:
    """Holds for formats that render every message by itself."""
    config = data.draw(strategies.configs(families=[family], on_loss=["template"]))
    messages = data.draw(strategies.conversations())
    n_kept = data.draw(st.integers(1, len(messages)))
    renderer = renderer_of(config)
    whole = render(renderer, Call(messages)).columns
    part = render(renderer, Call(messages[:n_kept])).columns
    for column in ("token_ids", "message_indices", "fields", "sampled_mask", "is_content", "byte_offsets"):
        assert np.array_equal(getattr(whole, column)[: len(part)], getattr(part, column)), column


@given(strategies.conversations(), strategies.tool_lists(), ACCEPTING)
def test_a_continued_text_begins_the_finished_one(
    messages: object, tools: object, config: FamilyConfig
) -> None:
    renderer = renderer_of(config)
    text, error = attempt(lambda: renderer.render_text(messages, tools=tools, continue_final_message=True))
    assume(error is None)
    finished = renderer.render_text(messages, tools=tools)
    assert finished.startswith(text)
    assert len(text) < len(finished)


@given(CALL, strategies.configs())
def test_arguments_are_not_changed(call: Call, config: FamilyConfig) -> None:
    renderer = renderer_of(config)
    before = repr(call)
    first = attempt(lambda: renderer.render(call.messages, tools=call.tools, **call.options))
    assert repr(call) == before
    assert repr(attempt(lambda: renderer.render(call.messages, tools=call.tools, **call.options))) == repr(
        first
    )


@pytest.mark.parametrize("policy", ["trusted", "none", "reject"])
def test_a_word_inside_another_is_no_marker(policy: str) -> None:
    renderer = renderer_of(config_from_name("chatml", marker_policy=policy), "odd")
    assert renderer.render([user("a wordy sword")]).content_markers == []
    _, error = attempt(lambda: renderer.render([user("a word")]))
    assert (error is not None) == (policy == "reject")
