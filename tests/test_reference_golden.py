"""The reference against the golden files: text of all templates, ids of those whose vocabulary is at hand."""

from pathlib import Path

import pytest

import turnloom
from conftest import SHARED
from golden_cases import TEMPLATES, GoldenCase, control_token_tokenizer, golden_cases, golden_records
from golden_exceptions import GENERATION_PROMPT, INSTEAD
from turnloom import reference

pytestmark = pytest.mark.shared

CASES = list(golden_cases(SHARED)) if SHARED.is_dir() else []


@pytest.fixture(scope="module")
def tokenizer() -> turnloom.Tokenizer:
    return turnloom.load_tokenizer(control_token_tokenizer())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_text(tokenizer: turnloom.Tokenizer, case: GoldenCase) -> None:
    renderer = reference.create_renderer(tokenizer, case.config)

    def render() -> str:
        return renderer.render_text(case.messages, tools=case.tools, **case.kwargs)

    if case.expected is not None:
        assert render() == case.expected
    elif case.error_type == "TemplateError":
        with pytest.raises(turnloom.RenderError):
            render()
    else:
        instead = INSTEAD[case.config.name][case.case]
        if instead.text is not None:
            assert render() == opening(case) + instead.text + GENERATION_PROMPT
        else:
            with pytest.raises(turnloom.RenderError) as raised:
                render()
            assert str(raised.value) == instead.error


def opening(case: GoldenCase) -> str:
    """What the config of a ChatML template puts in front of the first turn."""
    bos, system = (case.template.config_fields.get(name) for name in ("bos", "default_system"))
    is_written = system is not None and case.messages[0]["role"] != "system"
    return (bos or "") + (f"<|im_start|>system\n{system}<|im_end|>\n" if is_written else "")


def test_every_exception_is_needed() -> None:
    failures = {(case.config.name, case.case) for case in CASES if case.expected is None}
    assert {(name, case) for name, cases in INSTEAD.items() for case in cases} == failures


def test_all_records_were_read() -> None:
    assert {case.template.path for case in CASES} == {template.path for template in TEMPLATES}
    assert len(CASES) > 700


def golden_ids(path: Path) -> dict[str, list[int]]:
    return {record["case"]: record["ids"] for record in golden_records(path)}


def test_ids_of_qwen3() -> None:
    tokenizer = turnloom.load_tokenizer(SHARED / "tokenizers" / "qwen3")
    expected = golden_ids(SHARED / "golden" / "ids" / "qwen3.jsonl")
    cases = [
        case for case in CASES if case.template.path == "qwen3/qwen3.jinja" and case.expected is not None
    ]
    assert {case.case for case in cases} == set(expected)
    for case in cases:
        renderer = reference.create_renderer(tokenizer, case.config)
        assert renderer.render_ids(case.messages, tools=case.tools, **case.kwargs) == expected[case.case], (
            case.id
        )
