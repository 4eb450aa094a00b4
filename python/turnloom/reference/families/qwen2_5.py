r"""Qwen2.5, after qwen2.5/qwen2.5-7b-instruct.jinja of Qwen/Qwen2.5-7B-Instruct.

    <|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n
    <|im_start|>user\nq<|im_end|>\n
    <|im_start|>assistant\na\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call><|im_end|>\n
    <|im_start|>user\n<tool_response>\nok\n</tool_response><|im_end|>\n

(The breaks between the lines are for reading only.)

Departure: no content is empty text and a content list is its texts joined, where the template fails on them.
"""

from collections.abc import Sequence
from typing import Protocol

from turnloom.reference.families import qwen
from turnloom.reference.families.chatml import AFTER_CLOSE, ChatMLFrame
from turnloom.reference.families.family import Family, ListContent, TokenLookup, Turn
from turnloom.reference.messages import Conversation
from turnloom.reference.prompt import ControlToken, PromptWriter


class Qwen25Fields(Protocol):
    """The config fields of this family."""

    @property
    def default_system(self) -> str | None: ...


class Qwen25(Family):
    """ChatML with a default system message, tools and calls."""

    name = "qwen2.5"
    markers = qwen.MARKERS
    roles = qwen.ROLES
    call_roles = ("assistant",)
    tools = True
    prints_content_lists = True
    quotes_string_arguments = True
    after_close = AFTER_CLOSE

    def __init__(self, config: Qwen25Fields, tokens: TokenLookup) -> None:
        self._frame = ChatMLFrame(tokens)
        self._end_of_text = tokens("<|endoftext|>")
        self._default_system = config.default_system

    def list_content(self, turn: Turn, conversation: Conversation) -> ListContent:
        # The template prints these two by themselves; all others it adds to a string, and fails.
        is_before_tools = turn.is_first and turn.role == "system" and bool(conversation.tools)
        return ListContent.REPR if turn.role == "tool" or is_before_tools else ListContent.JOIN

    def write_opening(self, turns: Sequence[Turn], conversation: Conversation, out: PromptWriter) -> int:
        tools = conversation.tools or ()
        return qwen.write_system_turn(self._frame, turns[0], tools, self._default_system, out)

    def write_turn(self, turn: Turn, out: PromptWriter) -> None:
        if turn.role == "tool":
            qwen.write_result(self._frame, turn, out)
            return
        self._frame.open(turn.role, out)
        out.content(turn.text)
        if turn.role == "assistant":
            # A call always begins on a new line: without content, that is the line end of the header.
            qwen.write_calls(turn.message.tool_calls, after_content=bool(turn.text), out=out)
        self._frame.close(out)

    def write_generation_prompt(self, out: PromptWriter) -> None:
        self._frame.open("assistant", out)

    def stop_tokens(self) -> list[ControlToken]:
        return [self._frame.im_end, self._end_of_text]
