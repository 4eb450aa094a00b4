"""Render, parse, render: the same text again."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import strategies
import turnloom
import vocabularies
from completions import completions
from turnloom import Renderer, RenderError, config_from_name

USER = {"role": "user", "content": "Hi"}
CONFIGS: list[tuple[str, dict[str, Any]]] = [
    ("chatml", {}),
    ("qwen2.5", {}),
    ("qwen3", {}),
    ("qwen3", {"revision": "first"}),
    ("qwen3", {"revision": "next"}),
    ("llama-3", {}),
    ("llama-3.1", {}),
    ("llama-3.2", {}),
]


def renderer(family: str, **options: Any) -> Renderer:
    tokenizer = vocabularies.tokenizer("builtin")
    return turnloom.create_renderer(tokenizer, config_from_name(family, **options))


def completion_of(renderer: Renderer, message: dict[str, Any]) -> tuple[list[int], list[int]]:
    """Give the ids of the prompt that a message answers, and those that the model would have sampled."""
    prompt = renderer.render_ids([USER], add_generation_prompt=True)
    whole = renderer.render_ids([USER, message])
    assume(whole[: len(prompt)] == prompt)  # not where a mark at the begin merges with the newline before it
    return prompt, whole[len(prompt) :]


def again(renderer: Renderer, message: dict[str, Any]) -> dict[str, Any]:
    prompt, completion = completion_of(renderer, message)
    return renderer.parse_response(completion, prompt_ids=prompt).to_message()


@pytest.mark.parametrize(("family", "options"), CONFIGS)
@settings(max_examples=60)
@given(data=st.data())
def test_canonical_messages(family: str, options: dict[str, Any], data: st.DataObject) -> None:
    message = data.draw(strategies.canonical_replies(family))
    r = renderer(family, **options)
    parsed = again(r, message)
    assert parsed == message
    assert r.render_text([USER, parsed]) == r.render_text([USER, message])


@pytest.mark.parametrize("family", ["chatml", "qwen2.5", "qwen3", "llama-3.1"])
@settings(max_examples=200)
@given(data=st.data())
def test_any_completion(family: str, data: st.DataObject) -> None:
    """What one round trip leaves, another does not change."""
    r = renderer(family, marker_policy="none")
    message = r.parse_response(data.draw(completions(r.tokenizer))).to_message()
    try:
        once = again(r, message)
        twice = again(r, once)
    except RenderError:
        assume(False)
    assert twice == once
    assert r.render_text([USER, twice]) == r.render_text([USER, once])
