"""`ChatTemplate` against every golden record of every template."""

import pytest

import turnloom
from conftest import SHARED
from template_cases import Record, load_template, records_by_template, render, special_tokens

pytestmark = pytest.mark.shared

RECORDS = records_by_template(SHARED) if SHARED.is_dir() else {}
TOKENS = special_tokens(SHARED) if SHARED.is_dir() else {}


@pytest.mark.parametrize("path", RECORDS)
def test_every_record(path: str) -> None:
    template = load_template(SHARED, path, TOKENS[path])
    for record in RECORDS[path]:
        if "text" in record:
            assert render(template, record) == record["text"], record["case"]
        else:
            check_refusal(template, record)


def check_refusal(template: turnloom.ChatTemplate, record: Record) -> None:
    """Check that the template's own refusal has its words, and that any other failure says what it is."""
    with pytest.raises(turnloom.RenderError) as raised:
        render(template, record)
    message, error = str(raised.value), record["error"]
    if error["type"] == "TemplateError":
        assert message == error["message"], record["case"]
    elif error["type"] == "RecursionError":
        assert isinstance(raised.value, turnloom.TemplateLimitError), record["case"]
    else:
        place, _, reason = message.partition(": ")
        assert place.startswith("chat_template, line "), record["case"]
        assert reason == f"{error['type']}: {error['message']}", record["case"]


def test_all_records_were_read() -> None:
    assert len(RECORDS) == 92
    assert sum(map(len, RECORDS.values())) == 9059
