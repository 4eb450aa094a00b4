"""The golden records of every chat template, as calls of `ChatTemplate`."""

import json
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import tokenizers

import turnloom
from golden_cases import CALL_OPTIONS, golden_records
from turnloom.chat_template import ChatTemplate

NOW = datetime(2026, 1, 15, 12)
"""What `strftime_now` told when the records were made."""

TEMPLATES_WITH_IDS = {
    "qwen3/qwen3.jinja": "qwen3",
    "qwen3-vl/qwen3-vl.jinja": "qwen3",
    "qwen3.5/qwen3.5-think.jinja": "qwen3_5",
    "qwen3.6/qwen3.6.jinja": "qwen3_5",
    "qwen3.8/qwen3.8.jinja": "qwen3_5",
    "llama3/llama-3.1-8b-instruct.jinja": "llama3_1",
    "llama3/llama-3.2-3b-instruct.jinja": "llama3_1",
    "gemma/gemma-3.jinja": "gemma3",
    "glm/glm-5.1.jinja": "glm4_7",
    "minimax/minimax-m2.7.jinja": "minimax_m2",
    "deepseek/deepseek-r1.jinja": "deepseek_v3_1",
    "deepseek/deepseek-v3.1.jinja": "deepseek_v3_1",
    "gpt-oss/gpt-oss.jinja": "gptoss",
}
"""The vocabulary that the ids of each template's records are of."""

Record = dict[str, Any]


class ModelTokenizer:
    """Shaped as a transformers fast tokenizer: a vocabulary, and what comes with it for chats."""

    def __init__(
        self,
        backend: tokenizers.Tokenizer,
        template: str | dict[str, str] | None,
        special_tokens: Mapping[str, str],
    ) -> None:
        self.name_or_path = ""
        self.backend_tokenizer = backend
        self.chat_template = template
        self.special_tokens_map = special_tokens


def tokenizer_with(
    backend: tokenizers.Tokenizer, template: str | dict[str, str] | None = None, **special_tokens: str
) -> turnloom.Tokenizer:
    """Give a vocabulary a chat template and special tokens, as `eos_token="</s>"`."""
    return turnloom.load_tokenizer(ModelTokenizer(backend, template, special_tokens))


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
