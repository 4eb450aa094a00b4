"""The golden files: what chat templates give for many conversations."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import tokenizers

from turnloom.configs import RendererConfig, config_from_name

CALL_OPTIONS = ("add_generation_prompt", "continue_final_message")
QWEN_SYSTEM = "You are a helpful assistant"


@dataclass(frozen=True)
class Template:
    """A template of the golden files, and the config that renders it."""

    path: str
    config_name: str
    config_fields: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def name(self) -> str:
        """What cases are named after."""
        return self.path.removesuffix(".jinja")

    @property
    def golden_file(self) -> str:
        """The golden file that has its records."""
        return self.path.partition("/")[0] + ".jsonl"

    @property
    def format(self) -> str:
        """The family and, if it is not the current one, the revision."""
        return " ".join([self.config_name, *(v for k, v in self.config_fields.items() if k == "revision")])


TEMPLATES = (
    Template("chatml/chatml-generic.jinja", "chatml"),
    Template("chatml/chatml-axolotl.jinja", "chatml"),
    Template("chatml/qwen1.5-moe.jinja", "chatml", {"default_system": QWEN_SYSTEM}),
    Template("chatml/qwen2-7b-instruct.jinja", "chatml", {"default_system": f"{QWEN_SYSTEM}."}),
    Template("chatml/nous-hermes-2-mixtral.jinja", "chatml", {"bos": "<s>"}),
    Template(
        "hermes/hermes-3.jinja",
        "chatml",
        {"bos": "<|begin_of_text|>", "default_system": f"{QWEN_SYSTEM}."},
    ),
    Template("qwen2.5/qwen2.5-7b-instruct.jinja", "qwen2.5"),
    Template("qwen3/qwen3.jinja", "qwen3"),
    Template("qwen3/qwen3-first.jinja", "qwen3", {"revision": "first"}),
    Template("qwen3/qwen3-instruct-2507.jinja", "qwen3", {"revision": "instruct-2507"}),
    Template("qwen3/qwen3-next-80b.jinja", "qwen3", {"revision": "next"}),
    Template("llama3/llama-3-8b-instruct.jinja", "llama-3"),
    Template("llama3/llama-3.1-8b-instruct.jinja", "llama-3.1"),
    # The template asks the clock for the date; the records saw this one.
    Template("llama3/llama-3.2-3b-instruct.jinja", "llama-3.2", {"date_string": "15 Jan 2026"}),
)

TEMPLATES_WITH_IDS = ("qwen3/qwen3", "llama3/llama-3.1-8b-instruct", "llama3/llama-3.2-3b-instruct")


@dataclass(frozen=True)
class GoldenCase:
    """One conversation under one template: arguments of `render_text`, and its result or error."""

    id: str
    template: Template
    case: str
    config: RendererConfig
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] | None
    kwargs: dict[str, bool]
    expected: str | None
    """The text; None where the template fails."""
    error_type: str | None
    """"TemplateError" is the template's own refusal; others are its failures."""


def golden_cases(shared: Path) -> Iterator[GoldenCase]:
    """Give the records of all templates above, for transformers' ids and what its templates drop."""
    for template in TEMPLATES:
        for record in golden_records(shared / "golden" / template.golden_file):
            if record["template"] == template.path:
                yield _case(template, record)


def golden_records(path: Path) -> Iterator[dict[str, Any]]:
    """Give the records of one file."""
    # Not splitlines(): a line ends at "\n" only.
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line:
            yield json.loads(line)


def _case(template: Template, record: dict[str, Any]) -> GoldenCase:
    kwargs = {key: value for key, value in record["kwargs"].items() if key in CALL_OPTIONS}
    # What else was passed are variables of the template, and fields of our config.
    variables = {key: value for key, value in record["kwargs"].items() if key not in CALL_OPTIONS}
    fields = {**template.config_fields, **variables}
    return GoldenCase(
        id=f"{template.name}: {record['case']}",
        template=template,
        case=record["case"],
        config=config_from_name(template.config_name, marker_policy="all", on_loss="template", **fields),
        messages=record["messages"],
        tools=record["tools"],
        kwargs=kwargs,
        expected=record.get("text"),
        error_type=record["error"]["type"] if "error" in record else None,
    )


def golden_ids(shared: Path) -> dict[str, list[int]]:
    """Give the ids of the cases, by the id of the case, for vocabularies that are at hand."""
    return {
        f"{record['template'].removesuffix('.jinja')}: {record['case']}": record["ids"]
        for name in ("qwen3", "llama3")
        for record in golden_records(shared / "golden" / "ids" / f"{name}.jsonl")
    }


def control_token_tokenizer() -> tokenizers.Tokenizer:
    """Make a tokenizer that has the control tokens of every template above, and one token a byte."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab={character: i for i, character in enumerate(alphabet)}, merges=[])
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens(
        [
            "<s>",
            "<|im_start|>",
            "<|im_end|>",
            "<|endoftext|>",
            "<|begin_of_text|>",
            "<|end_of_text|>",
            "<|start_header_id|>",
            "<|end_header_id|>",
            "<|eot_id|>",
            "<|eom_id|>",
            "<|python_tag|>",
        ]
    )
    return tokenizer
