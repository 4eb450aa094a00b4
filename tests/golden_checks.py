"""What is checked against the golden files, of the reference and of the native side."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import turnloom
from conftest import SHARED
from golden_cases import GoldenCase, control_token_tokenizer, golden_cases, golden_ids
from golden_exceptions import instead_of

CASES = {case.id: case for case in golden_cases(SHARED)} if SHARED.is_dir() else {}
IDS = golden_ids(SHARED) if SHARED.is_dir() else {}

CreateRenderer = Callable[[turnloom.Tokenizer, Any], Any]


@cache
def _control_tokens() -> turnloom.Tokenizer:
    return turnloom.load_tokenizer(control_token_tokenizer())


@cache
def _vocabulary(family: str) -> turnloom.Tokenizer:
    folder = {"qwen3": "qwen3", "llama3": "llama3_1"}[family]
    return turnloom.load_tokenizer(SHARED / "tokenizers" / folder)


def check_text(create_renderer: CreateRenderer, case: GoldenCase) -> None:
    """Compare the text of a case with its record, or with what takes the place of a failure."""
    renderer = create_renderer(_control_tokens(), case.config)

    def render() -> str:
        return renderer.render_text(case.messages, tools=case.tools, **case.kwargs)

    if case.expected is not None:
        assert render() == case.expected
        return
    if case.error_type == "TemplateError":
        with pytest.raises(turnloom.RenderError):
            render()
        return
    instead = instead_of(case)
    if instead.error is not None:
        with pytest.raises(turnloom.RenderError) as raised:
            render()
        assert str(raised.value) == instead.error
    elif instead.as_template is not None:
        assert render() == CASES[f"{instead.as_template}: {case.case}"].expected
    else:
        assert render() == instead.text


def check_ids(create_renderer: CreateRenderer, template: str) -> None:
    """Compare the ids of all cases of a template that gives a text."""
    cases = [case for case in CASES.values() if case.template.name == template and case.expected is not None]
    assert {case.id for case in cases} == {id_ for id_ in IDS if id_.startswith(f"{template}: ")}
    assert cases
    for case in cases:
        renderer = create_renderer(_vocabulary(template.partition("/")[0]), case.config)
        ids = renderer.render_ids(case.messages, tools=case.tools, **case.kwargs)
        assert ids == IDS[case.id], case.id
