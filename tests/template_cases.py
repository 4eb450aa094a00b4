"""The golden records of every chat template, as calls of `ChatTemplate`."""

import json
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from golden_cases import CALL_OPTIONS, golden_records
from turnloom.chat_template import ChatTemplate

NOW = datetime(2026, 1, 15, 12)
"""What `strftime_now` told when the records were made."""

Record = dict[str, Any]


def records_by_template(shared: Path) -> dict[str, list[Record]]:
    """Give the records of each template, by its path."""
    records: dict[str, list[Record]] = defaultdict(list)
    for path in sorted((shared / "golden").glob("*.jsonl")):
        for record in golden_records(path):
            if "template" in record:
                records[record["template"]].append(record)
    return records


def special_tokens(shared: Path) -> dict[str, dict[str, str]]:
    """Give the special tokens that each template sees, by its path."""
    index = json.loads((shared / "templates/INDEX.json").read_text(encoding="utf-8"))
    return {entry["template"]: entry["special_tokens"] for entry in index}


def load_template(shared: Path, path: str, tokens: Mapping[str, str]) -> ChatTemplate:
    """Compile a template of the collection."""
    source = (shared / "templates" / path).read_text(encoding="utf-8")
    return ChatTemplate(source, special_tokens=tokens, now=NOW)


def call_options(record: Record) -> tuple[dict[str, bool], dict[str, Any]]:
    """Give the options of the call, and the variables of the template."""
    options = {key: value for key, value in record["kwargs"].items() if key in CALL_OPTIONS}
    variables = {key: value for key, value in record["kwargs"].items() if key not in CALL_OPTIONS}
    return options, variables


def render(template: ChatTemplate, record: Record) -> str:
    """Render the conversation of a record."""
    options, variables = call_options(record)
    return template.render(record["messages"], tools=record["tools"], variables=variables, **options)
