"""Parsers of parts of a completion, by name, for renderers of one's own.

`DefaultRenderer` parses by the same rules; it takes the names in its config.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from turnloom import _core
from turnloom._ids import TokenIds, token_id_array
from turnloom._tokenizer_argument import TokenizerObject, own_tokenizer
from turnloom.parsing import ParsedToolCall, token_bytes

ParserT = TypeVar("ParserT")


@runtime_checkable
class ToolParser(Protocol):
    """Finds the tool calls in the ids of a completion."""

    def __init__(self, tokenizer: TokenizerObject) -> None: ...

    def extract(self, token_ids: TokenIds) -> tuple[list[int], list[ParsedToolCall]]:
        """Return the ids that belong to no call, and every attempt at a call."""


@runtime_checkable
class ReasoningParser(Protocol):
    """Finds the reasoning in the text of a completion."""

    def __init__(self, tokenizer: TokenizerObject) -> None: ...

    def extract(self, text: str) -> tuple[str | None, str]:
        """Return the reasoning, None if there is none, and the rest."""


class Qwen3ToolParser:
    """Calls that are JSON between `<tool_call>` and `</tool_call>`."""

    __slots__ = ("_parser",)

    def __init__(self, tokenizer: TokenizerObject) -> None:
        own = own_tokenizer(tokenizer)
        self._parser = _core.CompletionParser.of_parts(
            own._core, token_bytes(own), calls="tagged_json", has_reasoning=False, stop_tokens=[]
        )

    def extract(self, token_ids: TokenIds) -> tuple[list[int], list[ParsedToolCall]]:
        """Return the ids that belong to no call, and every attempt at a call."""
        ids = token_id_array(token_ids, "token_ids")
        calls = self._parser.parse(ids, [], None).tool_calls
        is_content = np.ones(len(ids), np.bool_)
        for call in calls:
            assert call.token_span is not None
            is_content[slice(*call.token_span)] = False
        return ids[is_content].tolist(), calls


class ThinkTextReasoningParser:
    """Reasoning between `<think>`, where the text begins, and `</think>`; no white space is taken away."""

    __slots__ = ()

    def __init__(self, tokenizer: TokenizerObject) -> None:
        """Take a tokenizer, as every parser does; text needs none."""

    def extract(self, text: str) -> tuple[str | None, str]:
        """Return the reasoning, None if there is none, and the rest, "" where it has no end."""
        if not text.startswith("<think>"):
            return None, text
        reasoning, close, rest = text.removeprefix("<think>").partition("</think>")
        return (reasoning or None, rest) if close else (reasoning, "")


TOOL_PARSERS: Mapping[str, type[ToolParser]] = MappingProxyType({"qwen3": Qwen3ToolParser})
REASONING_PARSERS: Mapping[str, type[ReasoningParser]] = MappingProxyType({"think": ThinkTextReasoningParser})


def get_tool_parser(name: str, tokenizer: TokenizerObject) -> ToolParser:
    """Make the tool parser of a name.

    Raises:
        ValueError: there is none of that name; the message lists those there are.
    """
    return _of_name(TOOL_PARSERS, name, "tool_parser")(tokenizer)


def get_reasoning_parser(name: str, tokenizer: TokenizerObject) -> ReasoningParser:
    """Make the reasoning parser of a name; see `get_tool_parser`."""
    return _of_name(REASONING_PARSERS, name, "reasoning_parser")(tokenizer)


def _of_name(parsers: Mapping[str, type[ParserT]], name: str, what: str) -> type[ParserT]:
    if name not in parsers:
        raise ValueError(f"name: unknown {what} {name!r}, known: {', '.join(parsers)}")
    return parsers[name]
