"""Native core and reference refuse the same input with the same class and text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hostile
import strategies
import vocabularies
from catalog import FAMILIES, every_config
from chats import HI
from oracles import Both, attempt
from test_parity_render import run_every_call
from turnloom import RenderError
from turnloom.configs import FamilyConfig

CONFIGS = {
    config.name + " " + config.on_loss: config
    for family in FAMILIES
    for config in every_config(family)
    if config.marker_policy == "all"
}
BOTH = {name: Both(vocabularies.tokenizer("builtin"), config) for name, config in CONFIGS.items()}


@given(hostile.hostile_calls(), st.sampled_from(list(BOTH.values())))
def test_generated(call: strategies.Call, both: Both) -> None:
    run_every_call(both, call.messages, tools=call.tools, **call.options)


@given(st.data(), strategies.configs(policies=["reject"]), strategies.vocabulary_names())
def test_rejected_markers(data: st.DataObject, config: FamilyConfig, vocabulary: str) -> None:
    call = data.draw(strategies.calls())
    run_every_call(
        Both(vocabularies.tokenizer(vocabulary), config), call.messages, tools=call.tools, **call.options
    )


def places() -> dict[str, Any]:
    """Give for each place of a conversation what makes a conversation of what is put there."""

    def in_message(key: str) -> Any:
        return lambda misfit: ([hostile.FULL_MESSAGE | {key: misfit}], None)

    def in_call(key: str) -> Any:
        return in_calls(lambda misfit: {"name": "f", "arguments": {}, "id": "c"} | {key: misfit})

    def in_calls(make_call: Any) -> Any:
        return lambda misfit: ([HI, hostile.FULL_MESSAGE | {"tool_calls": [make_call(misfit)]}], None)

    return {
        "messages": lambda misfit: (misfit, None),
        "message": lambda misfit: ([HI, misfit], None),
        **{key: in_message(key) for key in hostile.FULL_MESSAGE},
        "thinking": in_message("thinking"),
        "reasoning": lambda misfit: ([{"role": "assistant", "reasoning": misfit, "thinking": None}], None),
        "part": lambda misfit: ([{"role": "user", "content": ["a", misfit]}], None),
        "part.type": lambda misfit: ([{"role": "user", "content": [{"type": misfit, "text": "a"}]}], None),
        "part.text": lambda misfit: ([{"role": "user", "content": [{"type": "text", "text": misfit}]}], None),
        "part.key": lambda misfit: ([{"role": "user", "content": [{"text": "a", "more": misfit}]}], None),
        "call": in_calls(lambda misfit: misfit),
        "call.function": in_calls(lambda misfit: {"function": misfit}),
        "call.function.name": in_calls(lambda misfit: {"function": {"name": misfit}}),
        "call.function.arguments": in_calls(lambda misfit: {"function": {"name": "f", "arguments": misfit}}),
        **{f"call.{key}": in_call(key) for key in ("name", "arguments", "id")},
        "tools": lambda misfit: ([HI], misfit),
        "tool": lambda misfit: ([HI], [{}, misfit]),
        "tool.key": lambda misfit: ([HI], [{"it's": {1: misfit}}]),
    }


@pytest.mark.parametrize("place", places())
@pytest.mark.parametrize("both", BOTH.values(), ids=BOTH)
def test_every_misfit_in_every_place(place: str, both: Both) -> None:
    for misfit in hostile.MISFITS:
        messages, tools = places()[place](misfit)
        _, error = attempt(lambda messages=messages, tools=tools: both.render(messages, tools=tools))
        if error is not None:
            assert type(error) in (TypeError, ValueError, RenderError)
            assert ": " in str(error)


def test_the_first_of_several_errors() -> None:
    keys = ("content", "reasoning", "tool_calls", "name", "tool_call_id")
    for both in BOTH.values():
        wrong = {"role": "user"} | dict.fromkeys(keys, 1)
        for key in keys:
            with pytest.raises(TypeError, match=rf"^messages\[0\]\.{key}: "):
                both.render_ids([wrong, 5], tools=6)
            wrong = wrong | {key: None}
        with pytest.raises(TypeError, match=r"^messages\[1\]: "):
            both.render_ids([wrong, 5], tools=6)
        with pytest.raises(TypeError, match=r"^tools: "):
            both.render_ids([wrong], tools=6)
