"""What the Qwen families share: tools in the system turn, calls as JSON in tags, results in a user turn."""

from collections.abc import Sequence

from turnloom.reference.families import chatml
from turnloom.reference.families.chatml import ChatMLFrame
from turnloom.reference.families.family import Turn
from turnloom.reference.json_text import Json, json_text
from turnloom.reference.messages import ToolCall
from turnloom.reference.prompt import PromptWriter
from turnloom.rendered import Field

ROLES = ("system", "user", "assistant", "tool")
MARKERS = (
    *chatml.MARKERS,
    "<|endoftext|>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
)

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


def write_system_turn(
    frame: ChatMLFrame, first: Turn, tools: Sequence[Json], default: str | None, out: PromptWriter
) -> int:
    """Write the system turn, if there is anything to put into it.

    Args:
        frame: the frame of turns.
        first: the first message, whose turn it is if that is a system message.
        tools: tool specs that stand in it.
        default: text of the system turn where the first message is none.

    Returns:
        how many messages were written.
    """
    is_system = first.role == "system"
    if is_system:
        out.attribute_to(first.index, first.role)
    elif default is None and not tools:
        return 0
    frame.open("system", out)
    if is_system:
        out.content(first.text)
    else:
        out.literal(default or "")
    if tools:
        if is_system or default is not None:
            out.literal("\n\n")
        _write_tools(tools, out)
    frame.close(out)
    return 1 if is_system else 0


def write_calls(calls: Sequence[ToolCall], *, after_content: bool, out: PromptWriter) -> None:
    """Write the calls of a turn, each on lines of its own."""
    for i, call in enumerate(calls):
        if after_content or i > 0:
            out.literal("\n", Field.CALL_MARKUP)
        out.literal('<tool_call>\n{"name": "', Field.CALL_MARKUP)
        out.caller_text(call.name, Field.TOOL_NAME)
        out.literal('", "arguments": ', Field.CALL_MARKUP)
        out.arguments(call.arguments)
        out.literal("}\n</tool_call>", Field.CALL_MARKUP)


def write_result(frame: ChatMLFrame, turn: Turn, out: PromptWriter) -> None:
    """Write the result of a call; consecutive ones share one user turn."""
    if turn.previous_role != "tool":
        out.control(frame.im_start)
        out.literal("user")
    out.literal("\n<tool_response>\n")
    out.content(turn.text)
    out.literal("\n</tool_response>")
    if turn.next_role != "tool":
        frame.close(out)


def _write_tools(tools: Sequence[Json], out: PromptWriter) -> None:
    out.literal(TOOLS_HEADER)
    for tool in tools:
        out.literal("\n")
        out.caller_text(json_text(tool), Field.TOOL_SPEC)
    out.literal(TOOLS_FOOTER)
