r"""Llama 3.0, after llama3/llama-3-8b-instruct.jinja of meta-llama/Meta-Llama-3-8B-Instruct.

    <|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>
    <|start_header_id|>assistant<|end_header_id|>\n\n

(The break between the lines is for reading only.)
"""

from collections.abc import Sequence

from turnloom.reference.families.family import Family, ListContent, TokenLookup, Turn
from turnloom.reference.families.llama import MARKERS, LlamaFrame
from turnloom.reference.messages import Conversation
from turnloom.reference.prompt import ControlToken, PromptWriter


class Llama3(Family):
    """Any role, bodies stripped; no tools, calls or reasoning."""

    name = "llama-3"
    markers = MARKERS
    prints_content_lists = True

    def __init__(self, config: object, tokens: TokenLookup) -> None:
        self._frame = LlamaFrame(tokens)

    def list_content(self, turn: Turn, conversation: Conversation) -> ListContent:
        return ListContent.REPR

    def write_opening(self, turns: Sequence[Turn], conversation: Conversation, out: PromptWriter) -> int:
        out.control(self._frame.begin_of_text)
        return 0

    def write_turn(self, turn: Turn, out: PromptWriter) -> None:
        self._frame.open_as_given(turn.role, out)
        out.stripped_content(turn.text)
        self._frame.close(out)

    def write_generation_prompt(self, out: PromptWriter) -> None:
        self._frame.open("assistant", out)

    def stop_tokens(self) -> list[ControlToken]:
        return [self._frame.eot, self._frame.end_of_text]
