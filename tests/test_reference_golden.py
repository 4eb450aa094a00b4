"""The reference against the golden files: text of all templates, ids of those whose vocabulary is at hand."""

import pytest

from golden_cases import TEMPLATES, TEMPLATES_WITH_IDS, GoldenCase
from golden_checks import CASES, IDS, check_ids, check_text
from golden_exceptions import INSTEAD
from turnloom import reference

pytestmark = pytest.mark.shared


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.id)
def test_text(case: GoldenCase) -> None:
    check_text(reference.create_renderer, case)


@pytest.mark.parametrize("template", TEMPLATES_WITH_IDS)
def test_ids(template: str) -> None:
    check_ids(reference.create_renderer, template)


def test_every_exception_is_needed() -> None:
    failures = {
        (case.template.format, case.case)
        for case in CASES.values()
        if case.error_type not in (None, "TemplateError")
    }
    assert {(name, case) for name, cases in INSTEAD.items() for case in cases} == failures


def test_all_records_were_read() -> None:
    assert {case.template.name for case in CASES.values()} == {template.name for template in TEMPLATES}
    assert len(CASES) > 1300
    assert {id_.partition(": ")[0] for id_ in IDS} == set(TEMPLATES_WITH_IDS)
