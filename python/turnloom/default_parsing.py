"""Completions of a model whose format is known by its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from turnloom import _core
from turnloom._ids import TokenIds, token_id_array
from turnloom.parsing import ParsedResponse, StreamParser, token_bytes, tool_names

if TYPE_CHECKING:
    from turnloom.default_config import DefaultRendererConfig
    from turnloom.tokenizer import Tokenizer
    from turnloom.types import Tools

_CALLS_OF_PARSER: dict[str | None, Literal["none", "tagged_json", "llama_json"]] = {
    None: "none",
    "qwen3": "tagged_json",
    "llama-3": "llama_json",
}
_THINK_OPEN, _THINK_CLOSE = "<think>", "</think>"


class DefaultParser:
    """Parses completions; the arguments and errors are those of the methods of `Renderer`."""

    __slots__ = ("_has_reasoning", "_parser", "_tokenizer", "stop_token_ids")

    def __init__(self, tokenizer: Tokenizer, config: DefaultRendererConfig) -> None:
        self._tokenizer = tokenizer
        self._has_reasoning = config.reasoning_parser is not None
        eos_token = tokenizer.special_tokens.get("eos_token")
        eos_id = None if eos_token is None else tokenizer.token_to_id(eos_token)
        self.stop_token_ids = [] if eos_id is None else [eos_id]
        self._parser = _core.CompletionParser.of_parts(
            tokenizer._core,
            token_bytes(tokenizer),
            calls=_CALLS_OF_PARSER[config.tool_parser],
            has_reasoning=self._has_reasoning,
            stop_tokens=self.stop_token_ids,
        )

    def parse(
        self, token_ids: TokenIds, *, tools: Tools | None, prompt_ids: TokenIds | None
    ) -> ParsedResponse:
        """Parse a completion."""
        prompt = self._open_reasoning(prompt_ids, "prompt_ids")
        return self._told(self._parser.parse(token_ids, tool_names(tools), prompt))

    def parse_batch(
        self,
        completions: Sequence[TokenIds],
        *,
        tools: Tools | None,
        prompts: Sequence[TokenIds | None] | None,
        threads: int,
    ) -> list[ParsedResponse]:
        """Parse many completions."""
        if prompts is not None:
            prompts = [self._open_reasoning(ids, f"prompts[{row}]") for row, ids in enumerate(prompts)]
        parsed = self._parser.parse_batch(list(completions), tool_names(tools), prompts, threads)
        return [self._told(response) for response in parsed]

    def stream(self, *, tools: Tools | None, prompt_ids: TokenIds | None) -> StreamParser:
        """Return a parser of a completion that comes in parts."""
        stream = self._parser.stream(tool_names(tools), self._open_reasoning(prompt_ids, "prompt_ids"))
        return StreamParser(stream) if self._has_reasoning else _StreamWithoutReasoning(stream)

    def _told(self, response: ParsedResponse) -> ParsedResponse:
        return response if self._has_reasoning else _without_reasoning(response)

    def _open_reasoning(self, ids: TokenIds | None, place: str) -> list[int] | None:
        """Return the end of a prompt that leaves a think block open, from its opener on, else None.

        How the header of an assistant's turn looks is not known, so it has to be the last of the prompt's
        added tokens that opens the block: in a turn that is closed, another one follows.
        """
        if ids is None:
            return None
        prompt = token_id_array(ids, place)
        if not self._has_reasoning:
            return None
        added = self._tokenizer.added_tokens
        added_ids = frozenset(added.values())
        begin = len(prompt)
        while begin > 0 and int(prompt[begin - 1]) not in added_ids:
            begin -= 1
        if _THINK_OPEN in added:
            is_open = begin > 0 and int(prompt[begin - 1]) == added[_THINK_OPEN]
            return prompt[begin - 1 :].tolist() if is_open else None
        text = self._tokenizer.decode(prompt[begin:])
        opener = text.rfind(_THINK_OPEN)
        if opener < 0 or _THINK_CLOSE in text[opener:]:
            return None
        return self._tokenizer.encode(text[opener:], special="none")


class _StreamWithoutReasoning(StreamParser):
    __slots__ = ()

    def finish(self) -> ParsedResponse:
        return _without_reasoning(super().finish())


def _without_reasoning(response: ParsedResponse) -> ParsedResponse:
    # Nothing was looked for, so nothing is known.
    return replace(response, reasoning_complete=None)
