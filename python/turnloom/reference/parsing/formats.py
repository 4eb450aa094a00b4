"""What a completion of each family looks like."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from turnloom.reference.parsing.symbols import Kind, SymbolReader
from turnloom.tokenizer import Tokenizer


class Calls(Enum):
    """How calls are written."""

    NONE = "not at all"
    TAGGED = "JSON between tags"
    LLAMA = "JSON as the answer, or behind a tag"


@dataclass(frozen=True, slots=True)
class FamilyFormat:
    """The literals of a family."""

    header_token: str
    header: str
    """What follows that token in the header of the assistant's turn."""
    calls: Calls = Calls.NONE
    has_reasoning: bool = False


CHATML_HEADER = ("<|im_start|>", "assistant\n")
LLAMA_HEADER = ("<|start_header_id|>", "assistant<|end_header_id|>")
FAMILIES: Mapping[str, FamilyFormat] = {
    "chatml": FamilyFormat(*CHATML_HEADER),
    "qwen2.5": FamilyFormat(*CHATML_HEADER, Calls.TAGGED),
    "qwen3": FamilyFormat(*CHATML_HEADER, Calls.TAGGED, has_reasoning=True),
    "llama-3": FamilyFormat(*LLAMA_HEADER),
    "llama-3.1": FamilyFormat(*LLAMA_HEADER, Calls.LLAMA),
    "llama-3.2": FamilyFormat(*LLAMA_HEADER, Calls.LLAMA),
}
CALL_MARKERS: Mapping[Calls, dict[str, Kind]] = {
    Calls.NONE: {},
    Calls.TAGGED: {"<tool_call>": Kind.CALL_OPEN, "</tool_call>": Kind.CALL_CLOSE},
    Calls.LLAMA: {"<|python_tag|>": Kind.CALL_OPEN},
}
REASONING_MARKERS = {"<think>": Kind.THINK_OPEN, "</think>": Kind.THINK_CLOSE}


@dataclass(frozen=True, slots=True)
class CompletionFormat:
    """A family's format bound to a vocabulary."""

    header: str
    calls: Calls
    has_reasoning: bool
    stop_ids: frozenset[int]
    token_bytes: Mapping[int, bytes]
    markers: Mapping[int, tuple[Kind, str]]
    spelled_markers: Mapping[str, Kind]

    def symbol_reader(self) -> SymbolReader:
        """Give what reads the ids of one completion."""
        return SymbolReader(self.token_bytes, self.markers, self.spelled_markers, self.stop_ids)


class TokenBytes(dict[int, bytes]):
    """The bytes of the tokens of a vocabulary, none for an id that it lacks."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, id_: int) -> bytes:
        self[id_] = self._tokenizer.decode_bytes([id_])
        return self[id_]


def completion_format(
    tokenizer: Tokenizer, family: str, revision: str, stop_ids: list[int]
) -> CompletionFormat:
    """Bind the format of a family to a vocabulary."""
    literals = FAMILIES[family]
    # The template of this revision of Qwen3 has no place for reasoning.
    has_reasoning = literals.has_reasoning and revision != "instruct-2507"
    kinds: dict[str, Kind] = CALL_MARKERS[literals.calls] | (REASONING_MARKERS if has_reasoning else {})
    added = tokenizer.added_tokens
    markers = {added[text]: (kind, text) for text, kind in kinds.items() if text in added}
    markers[added[literals.header_token]] = (Kind.HEADER, literals.header_token)
    return CompletionFormat(
        header=literals.header,
        calls=literals.calls,
        has_reasoning=has_reasoning,
        stop_ids=frozenset(stop_ids),
        token_bytes=TokenBytes(tokenizer),
        markers=markers,
        spelled_markers={text: kind for text, kind in kinds.items() if text not in added},
    )
