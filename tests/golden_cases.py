"""The golden files: what chat templates give for many conversations."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import tokenizers

from turnloom.configs import RendererConfig, config_from_name

QWEN_SYSTEM = "You are a helpful assistant"


@dataclass(frozen=True)
class Template:
    """A template of the golden files, and the config that renders it."""

    path: str
    config_name: str
    config_fields: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def golden_file(self) -> str:
        """The golden file that has its records."""
        return self.path.partition("/")[0] + ".jsonl"


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
    Template("qwen3/qwen3.jinja", "qwen3"),
    Template("llama3/llama-3-8b-instruct.jinja", "llama-3"),
)


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
    kwargs = dict(record["kwargs"])
    fields = dict(template.config_fields)
    if "enable_thinking" in kwargs:  # a variable of the template, and a field of our config
        fields["enable_thinking"] = kwargs.pop("enable_thinking")
    return GoldenCase(
        id=f"{template.path.removesuffix('.jinja')}: {record['case']}",
        template=template,
        case=record["case"],
        config=config_from_name(template.config_name, marker_policy="all", on_loss="template", **fields),
        messages=record["messages"],
        tools=record["tools"],
        kwargs=kwargs,
        expected=record.get("text"),
        error_type=record["error"]["type"] if "error" in record else None,
    )


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
        ]
    )
    return tokenizer
