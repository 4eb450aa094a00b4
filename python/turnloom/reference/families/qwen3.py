r"""Qwen3, after qwen3/qwen3.jinja, the current revision of the template of Qwen/Qwen3-*.

    <|im_start|>user\nq<|im_end|>\n
    <|im_start|>assistant\n<think>\nr\n</think>\n\na\n
    <tool_call>\n{"name": "f", "arguments": {}}\n</tool_call><|im_end|>\n
    <|im_start|>user\n<tool_response>\nok\n</tool_response><|im_end|>\n

(The breaks between the lines are for reading only.)

Reasoning is kept after the last query only; there the last assistant message has a think block even without
any. The think and tool tags are literals: the marker scan finds them where the vocabulary has them as tokens.
Departure: text beside an inline think block, which the template drops, is a loss.
"""

from collections.abc import Sequence
from typing import Protocol

from turnloom.reference.families.chatml import ChatMLFrame
from turnloom.reference.families.family import Family, ListContent, TokenLookup, Turn
from turnloom.reference.json_text import Json, json_text
from turnloom.reference.messages import ToolCall
from turnloom.reference.prompt import ControlToken, PromptWriter
from turnloom.rendered import Field

TOOLS_HEADER = (
    "# Tools\n\n"
    "You may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>"
)
TOOLS_FOOTER = (
    "\n</tools>\n\n"
    "For each function call, return a json object with function name and arguments within "
    "<tool_call></tool_call> XML tags:\n"
    '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
)


class Qwen3Fields(Protocol):
    """The config fields of this family."""

    @property
    def enable_thinking(self) -> bool: ...


class Qwen3(Family):
    """ChatML with tools, calls and reasoning."""

    name = "qwen3"
    markers = (
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "<tool_response>",
        "</tool_response>",
    )
    roles = ("system", "user", "assistant", "tool")
    reasoning_roles = ("assistant",)
    call_roles = ("assistant",)
    tools = True
    list_content = ListContent.DROP
    opening_list_content = ListContent.JOIN  # the template fails there

    def __init__(self, config: Qwen3Fields, tokens: TokenLookup) -> None:
        self._frame = ChatMLFrame(tokens)
        self._end_of_text = tokens("<|endoftext|>")
        self._enable_thinking = config.enable_thinking

    def is_query(self, turn: Turn) -> bool:
        is_tool_response = turn.text.startswith("<tool_response>") and turn.text.endswith("</tool_response>")
        return turn.role == "user" and turn.text_is_string and not is_tool_response

    def lost_text(self, turn: Turn) -> str | None:
        if turn.role != "assistant" or turn.message.reasoning is not None or "</think>" not in turn.text:
            return None
        before, _, after = turn.text.partition("</think>")
        has_text_before = "<think>" in before and before.rpartition("<think>")[0].strip()
        return "text beside a think block" if has_text_before or "</think>" in after else None

    def write_opening(self, turns: Sequence[Turn], tools: Sequence[Json], out: PromptWriter) -> int:
        system = turns[0] if turns[0].role == "system" else None
        if not tools:
            return 0
        if system is not None:
            out.attribute_to(system.index, system.role)
        self._frame.open("system", out)
        if system is not None:
            out.content(system.text)
            out.literal("\n\n")
        out.literal(TOOLS_HEADER)
        for tool in tools:
            out.literal("\n")
            out.caller_text(json_text(tool), Field.TOOL_SPEC)
        out.literal(TOOLS_FOOTER)
        self._frame.close(out)
        return 0 if system is None else 1

    def write_turn(self, turn: Turn, out: PromptWriter) -> None:
        match turn.role:
            case "assistant":
                self._write_assistant(turn, out)
            case "tool":
                self._write_tool_response(turn, out)
            case _:
                self._frame.open(turn.role, out)
                out.content(turn.text)
                self._frame.close(out)

    def write_generation_prompt(self, out: PromptWriter) -> None:
        self._frame.open("assistant", out)
        if not self._enable_thinking:
            out.literal("<think>\n\n</think>\n\n")

    def stop_tokens(self) -> list[ControlToken]:
        return [self._frame.im_end, self._end_of_text]

    def _write_assistant(self, turn: Turn, out: PromptWriter) -> None:
        reasoning, content = _split_reasoning(turn)
        self._frame.open("assistant", out)
        if turn.after_last_query and (turn.is_last or reasoning):
            out.literal("<think>\n", Field.REASONING_MARKUP)
            out.caller_text(reasoning.strip("\n"), Field.REASONING)
            out.literal("\n</think>\n\n", Field.REASONING_MARKUP)
            out.content(content.lstrip("\n"))
        else:
            out.content(content)
        for i, call in enumerate(turn.message.tool_calls):
            if content or i > 0:
                out.literal("\n", Field.CALL_MARKUP)
            _write_call(call, out)
        self._frame.close(out)

    def _write_tool_response(self, turn: Turn, out: PromptWriter) -> None:
        """Consecutive tool messages share one user turn."""
        if turn.previous_role != "tool":
            out.control(self._frame.im_start)
            out.literal("user")
        out.literal("\n<tool_response>\n")
        out.content(turn.text)
        out.literal("\n</tool_response>")
        if turn.next_role != "tool":
            self._frame.close(out)


def _split_reasoning(turn: Turn) -> tuple[str, str]:
    """Give reasoning and content; reasoning may stand in the content as a think block."""
    if turn.message.reasoning is not None or "</think>" not in turn.text:
        return turn.message.reasoning or "", turn.text
    parts = turn.text.split("</think>")
    return parts[0].rstrip("\n").split("<think>")[-1].lstrip("\n"), parts[-1].lstrip("\n")


def _write_call(call: ToolCall, out: PromptWriter) -> None:
    out.literal('<tool_call>\n{"name": "', Field.CALL_MARKUP)
    out.caller_text(call.name, Field.TOOL_NAME)
    out.literal('", "arguments": ', Field.CALL_MARKUP)
    out.arguments(call.arguments)
    out.literal("}\n</tool_call>", Field.CALL_MARKUP)
