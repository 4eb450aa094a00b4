"""The native side against the golden files: text of all templates, ids where the vocabulary is at hand."""

import pytest

import turnloom
from golden_cases import TEMPLATES_WITH_IDS, GoldenCase
from golden_checks import CASES, check_ids, check_text

pytestmark = pytest.mark.shared


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.id)
def test_text(case: GoldenCase) -> None:
    check_text(turnloom.create_renderer, case)


@pytest.mark.parametrize("template", TEMPLATES_WITH_IDS)
def test_ids(template: str) -> None:
    check_ids(turnloom.create_renderer, template)
