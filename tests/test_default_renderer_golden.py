"""`DefaultRenderer` against the recorded ids, and its message indices against those of native families."""

import json
import unicodedata
from collections import Counter
from functools import cache
from typing import Any

import pytest
import tokenizers

import turnloom
from conftest import SHARED
from golden_cases import TEMPLATES, golden_records
from golden_checks import CASES
from template_cases import (
    NOW,
    TEMPLATES_WITH_IDS,
    Record,
    call_options,
    records_by_template,
    special_tokens,
    tokenizer_with,
)

pytestmark = pytest.mark.shared

RECORDS = records_by_template(SHARED) if SHARED.is_dir() else {}
TOKENS = special_tokens(SHARED) if SHARED.is_dir() else {}


@cache
def tokenizer_of(path: str) -> turnloom.Tokenizer:
    folder = SHARED / "tokenizers" / TEMPLATES_WITH_IDS[path]
    backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    template = (SHARED / "templates" / path).read_text(encoding="utf-8")
    return tokenizer_with(backend, template, **TOKENS[path])


def renderer_of(path: str, record: Record) -> tuple[turnloom.DefaultRenderer, dict[str, Any]]:
    options, variables = call_options(record)
    return make_renderer(path, json.dumps(variables)), {"tools": record["tools"], **options}


@cache
def make_renderer(path: str, variables: str) -> turnloom.DefaultRenderer:
    config = turnloom.DefaultRendererConfig(now=NOW, **json.loads(variables))
    return turnloom.create_renderer(tokenizer_of(path), config)


@pytest.mark.parametrize("path", TEMPLATES_WITH_IDS)
def test_ids_and_spans(path: str) -> None:
    records = {record["case"]: record for record in RECORDS[path]}
    expected = {
        entry["case"]: entry["ids"]
        for entry in golden_records(SHARED / "golden/ids" / f"{path.partition('/')[0]}.jsonl")
        if entry["template"] == path
    }
    assert len(expected) > 50
    known: Counter[str] = Counter()
    for case, ids in expected.items():
        record = records[case]
        renderer, options = renderer_of(path, record)
        assert renderer.render_ids(record["messages"], **options) == ids, case
        rendered = renderer.render(record["messages"], byte_offsets=True, **options)
        assert rendered.token_ids == ids, case
        spans = rendered.columns.byte_offsets
        known["spans"] += spans is not None
        known["message_indices"] += len(rendered.message_indices) == len(ids)
        # Under NFC a token can stand for other bytes than its own.
        if spans is not None and unicodedata.is_normalized("NFC", record["text"]):
            check_spans(renderer.tokenizer, record["text"].encode(), ids, spans.tolist())
    # Gemma's template puts the system message into the first user's.
    assert known["spans"] >= 0.93 * len(expected)
    assert known["message_indices"] >= 0.79 * len(expected)


def check_spans(tokenizer: turnloom.Tokenizer, text: bytes, ids: list[int], spans: list[list[int]]) -> None:
    """Check that spans follow one another over the whole text, and that each is the text of its token."""
    token_bytes = cache(lambda id_: tokenizer.decode_bytes([id_]))
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    for id_, (begin, end), (next_begin, _) in zip(ids, spans, [*spans[1:], [len(text), 0]], strict=True):
        assert next_begin == end
        # Gemma's decoder makes a space of "▁", also where the text has that itself.
        written, decoded = (part.replace("▁".encode(), b" ") for part in (text[begin:end], token_bytes(id_)))
        assert decoded == written


NATIVE = {template.path: template for template in TEMPLATES if template.path in TEMPLATES_WITH_IDS}


@pytest.mark.parametrize("path", NATIVE)
def test_bodies_have_the_message_indices_of_the_native_family(path: str) -> None:
    n_compared = 0
    for record in RECORDS[path]:
        if "text" not in record:
            continue
        case = CASES[f"{NATIVE[path].name}: {record['case']}"]
        renderer, options = renderer_of(path, record)
        rendered = renderer.render(record["messages"], **options)
        native = turnloom.create_renderer(renderer.tokenizer, case.config).render(
            record["messages"], tools=record["tools"], **case.kwargs
        )
        assert native.token_ids == rendered.token_ids
        assert native.message_roles == rendered.message_roles
        assert native.message_tool_names == rendered.message_tool_names
        for own, expected, is_body in zip(
            rendered.message_indices, native.message_indices, native.is_content, strict=False
        ):
            if is_body:
                assert own == expected, record["case"]
                n_compared += 1
    assert n_compared > 1000


def test_all_recorded_ids_are_compared() -> None:
    entries = [
        entry["template"]
        for file in (SHARED / "golden/ids").glob("*.jsonl")
        for entry in golden_records(file)
    ]
    assert set(entries) == set(TEMPLATES_WITH_IDS)
