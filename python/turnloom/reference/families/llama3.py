r"""Llama 3.0, after llama3/llama-3-8b-instruct.jinja of meta-llama/Meta-Llama-3-8B-Instruct.

    <|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>
    <|start_header_id|>assistant<|end_header_id|>\n\n

(The break between the lines is for reading only.)
"""

from collections.abc import Sequence

from turnloom.reference.families.family import Family, ListContent, TokenLookup, Turn
from turnloom.reference.json_text import Json
from turnloom.reference.prompt import ControlToken, PromptWriter
from turnloom.rendered import Field


class Llama3(Family):
    """Any role, bodies stripped; no tools, calls or reasoning."""

    name = "llama-3"
    list_content = ListContent.REPR
    strips_content = True

    def __init__(self, config: object, tokens: TokenLookup) -> None:
        self._begin_of_text = tokens("<|begin_of_text|>")
        self._end_of_text = tokens("<|end_of_text|>")
        self._start_header = tokens("<|start_header_id|>")
        self._end_header = tokens("<|end_header_id|>")
        self._eot = tokens("<|eot_id|>")

    def write_opening(self, turns: Sequence[Turn], tools: Sequence[Json], out: PromptWriter) -> int:
        out.control(self._begin_of_text)
        return 0

    def write_turn(self, turn: Turn, out: PromptWriter) -> None:
        self._write_header(turn.role, out)
        out.content(turn.text.strip())
        out.control(self._eot, Field.TURN_CLOSE)

    def write_generation_prompt(self, out: PromptWriter) -> None:
        self._write_header("assistant", out)

    def stop_tokens(self) -> list[ControlToken]:
        return [self._eot, self._end_of_text]

    def _write_header(self, role: str, out: PromptWriter) -> None:
        out.control(self._start_header)
        out.caller_text(role, Field.SCAFFOLD)
        out.control(self._end_header)
        out.literal("\n\n")
