"""With `marker_policy="all"`, ids are those of the `tokenizers` package on the rendered text."""

import gzip
import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import turnloom
from catalog import FAMILIES
from conftest import SHARED
from golden_cases import TEMPLATES, GoldenCase, golden_cases, golden_records
from turnloom import Renderer
from turnloom.configs import config_from_name

pytestmark = pytest.mark.shared

CASES = list(golden_cases(SHARED)) if SHARED.is_dir() else []
VOCABULARIES = {"qwen3": ["chatml", "qwen3"], "llama3_1": ["llama-3"]}
CORPUS = {"chats.jsonl.gz": 400, "rollouts.jsonl.gz": 20}


class Exact:
    """A vocabulary, with the package's own idea of it."""

    def __init__(self, name: str) -> None:
        path = SHARED / "tokenizers" / name / "tokenizer.json"
        self.tokenizer = turnloom.load_tokenizer(path)
        self._package = tokenizers.Tokenizer.from_file(str(path))

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._package.encode_batch(texts, add_special_tokens=False)]


@pytest.fixture(scope="module", params=VOCABULARIES)
def vocabulary(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def exact(vocabulary: str) -> Exact:
    return Exact(vocabulary)


def test_golden_conversations(exact: Exact, vocabulary: str) -> None:
    n_compared = 0
    for template in TEMPLATES:
        config = config_from_name(template.config_name, **template.config_fields)
        missing = {getattr(config, "bos", None)} - {None, *exact.tokenizer.added_tokens}
        if template.config_name not in VOCABULARIES[vocabulary] or missing:
            continue
        cases = [case for case in CASES if case.template == template and case.expected is not None]
        renderers = {case.config: turnloom.create_renderer(exact.tokenizer, case.config) for case in cases}
        expected = exact.encode([case.expected for case in cases])
        for case, ids in zip(cases, expected, strict=True):
            assert render_ids(renderers[case.config], case) == ids, case.id
        n_compared += len(cases)
    assert n_compared > 60


def render_ids(renderer: Renderer, case: GoldenCase) -> list[int]:
    return renderer.render_ids(case.messages, tools=case.tools, **case.kwargs)


def test_golden_ids_of_qwen3() -> None:
    tokenizer = turnloom.load_tokenizer(SHARED / "tokenizers" / "qwen3")
    cases = {case.case: case for case in CASES if case.template.path == "qwen3/qwen3.jinja"}
    records = list(golden_records(SHARED / "golden" / "ids" / "qwen3.jsonl"))
    assert len(records) > 90
    for record in records:
        case = cases[record["case"]]
        renderer = turnloom.create_renderer(tokenizer, case.config)
        assert render_ids(renderer, case) == record["ids"], case.id


def corpus(path: Path, n_rows: int) -> list[list[dict[str, Any]]]:
    """Give conversations from all over a file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        n_lines = sum(1 for _ in lines)
        lines.seek(0)
        return [json.loads(line)["messages"] for line in islice(lines, 0, None, max(1, n_lines // n_rows))]


@pytest.mark.parametrize("file", CORPUS)
def test_corpus(exact: Exact, vocabulary: str, file: str) -> None:
    conversations = corpus(SHARED / "corpus" / file, CORPUS[file])
    assert len(conversations) >= CORPUS[file]
    for family in VOCABULARIES[vocabulary]:
        for options in FAMILIES[family]:
            if not {options.get("bos")} <= {None, *exact.tokenizer.added_tokens}:
                continue
            config = config_from_name(family, **options, marker_policy="all", on_loss="template")
            renderer = turnloom.create_renderer(exact.tokenizer, config)
            texts = [renderer.render_text(messages) for messages in conversations]
            batch = renderer.render_batch(conversations, threads=2)
            for row, ids in zip(batch, exact.encode(texts), strict=True):
                assert row.token_ids.tolist() == ids
