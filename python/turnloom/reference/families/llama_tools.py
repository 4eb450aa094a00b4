"""Tools, calls and results as the templates of Llama 3.1 to 3.3 write them."""

from collections.abc import Sequence

from turnloom.errors import RenderError
from turnloom.reference.families.family import TokenLookup, Turn
from turnloom.reference.json_text import Json, json_text
from turnloom.reference.messages import ToolCall
from turnloom.reference.prompt import PromptWriter
from turnloom.rendered import Field

SYSTEM_INTRODUCTION = (
    "You have access to the following functions. "
    "To call a function, please respond with JSON for a function call."
)
USER_INTRODUCTION = (
    "Given the following functions, please respond with a JSON for a function call "
    "with its proper arguments that best answers the given prompt.\n\n"
)
CALL_FORM = (
    'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.'
    "Do not use variables.\n\n"
)


def write_tools(introduction: str, tools: Sequence[Json], out: PromptWriter) -> None:
    """Write what tools there are and how they are called, under one of the two introductions."""
    out.literal(introduction)
    out.literal(CALL_FORM)
    for tool in tools:
        out.caller_text(json_text(tool, indent=4), Field.TOOL_SPEC)
        out.literal("\n\n")


def write_result(turn: Turn, out: PromptWriter) -> None:
    """Write the result of a call as JSON: a text gets quotes. No content is nothing."""
    if turn.text_is_string:
        out.json_content(turn.text)
    elif turn.message.content.is_given:
        out.json_content(turn.message.content.values)


class BuiltinTools:
    """The tools of Llama 3.1 that the system block names only, with a syntax of their own for calls."""

    def __init__(self, names: Sequence[str], tokens: TokenLookup) -> None:
        self._names = names
        self._python_tag = tokens("<|python_tag|>")

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def write_names(self, out: PromptWriter) -> None:
        """Write the line that names them; that there is Python goes without saying."""
        named = ", ".join(name for name in self._names if name != "code_interpreter")
        out.literal(f"Tools: {named}\n\n")

    def write_call(self, call: ToolCall, place: str, out: PromptWriter) -> None:
        """Write `<|python_tag|>name.call(key="value", ...)`.

        Raises:
            RenderError: the arguments are no object of strings.
        """
        arguments = call.arguments
        if not isinstance(arguments, dict):
            raise _not_strings(place, call)
        out.control(self._python_tag, Field.CALL_MARKUP)
        out.caller_text(call.name, Field.TOOL_NAME)
        out.literal(".call(", Field.CALL_MARKUP)
        for i, (key, value) in enumerate(arguments.items()):
            if not isinstance(key, str) or not isinstance(value, str):
                raise _not_strings(place, call)
            out.literal(", " if i > 0 else "", Field.CALL_MARKUP)
            out.caller_text(key, Field.TOOL_ARGUMENTS)
            out.literal('="', Field.CALL_MARKUP)
            out.caller_text(value, Field.TOOL_ARGUMENTS)
            out.literal('"', Field.CALL_MARKUP)
        out.literal(")", Field.CALL_MARKUP)


def write_calls(
    calls: Sequence[ToolCall], builtin_tools: BuiltinTools | None, place: str, out: PromptWriter
) -> None:
    """Write the calls of a turn, in JSON where the tool is not built in; several are separated by "; "."""
    for i, call in enumerate(calls):
        out.literal("; " if i > 0 else "", Field.CALL_MARKUP)
        if builtin_tools is not None and call.name in builtin_tools:
            builtin_tools.write_call(call, place, out)
        else:
            _write_json_call(call, out)


def _write_json_call(call: ToolCall, out: PromptWriter) -> None:
    out.literal('{"name": "', Field.CALL_MARKUP)
    out.caller_text(call.name, Field.TOOL_NAME)
    out.literal('", "parameters": ', Field.CALL_MARKUP)
    out.arguments(call.arguments)
    out.literal("}", Field.CALL_MARKUP)


def _not_strings(place: str, call: ToolCall) -> RenderError:
    return RenderError(f"{place}: a call of the built-in tool {call.name!r} takes an object of strings")
