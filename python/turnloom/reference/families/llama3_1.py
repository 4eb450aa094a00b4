r"""Llama 3.1 to 3.3, after llama3/llama-3.1-8b-instruct.jinja and llama3/llama-3.2-3b-instruct.jinja.

    <|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n
    Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\ns<|eot_id|>
    <|start_header_id|>user<|end_header_id|>\n\nq<|eot_id|>
    <|start_header_id|>assistant<|end_header_id|>\n\n{"name": "f", "parameters": {}}<|eot_id|>
    <|start_header_id|>ipython<|end_header_id|>\n\n"ok"<|eot_id|>

(The breaks between the lines are for reading only.)

The system block is always there, and tools make it say that there is Python, even an empty list of them. They
stand in the first message after it, which is then a user's whatever its role was, or in the system block.
Departures: the date never comes from the clock; with `parallel_tool_calls` a turn may hold several calls,
where the template refuses; a result without a content is empty and a call may be given without "function",
where the template fails.
"""

from collections.abc import Sequence
from typing import Protocol

from turnloom.errors import RenderError
from turnloom.reference.families import llama_tools
from turnloom.reference.families.family import Family, ListContent, Loss, TokenLookup, Turn
from turnloom.reference.families.llama import MARKERS, LlamaFrame
from turnloom.reference.messages import Conversation
from turnloom.reference.prompt import ControlToken, PromptWriter
from turnloom.rendered import Field


class Llama32Fields(Protocol):
    """The config fields of Llama 3.2."""

    @property
    def date_string(self) -> str: ...
    @property
    def tools_in_user_message(self) -> bool: ...
    @property
    def parallel_tool_calls(self) -> bool: ...


class Llama31Fields(Llama32Fields, Protocol):
    """The config fields of Llama 3.1."""

    @property
    def builtin_tools(self) -> Sequence[str] | None: ...


class Llama32(Family):
    """Llama 3.2: any role, tools and calls as JSON, bodies stripped."""

    name = "llama-3.2"
    markers = MARKERS
    call_roles = ("assistant",)
    tools = True
    prints_content_lists = True
    quotes_string_arguments = True

    def __init__(self, config: Llama32Fields, tokens: TokenLookup) -> None:
        self._frame = LlamaFrame(tokens)
        self._eom = tokens("<|eom_id|>")
        self._date = config.date_string
        self._tools_in_user_message = config.tools_in_user_message
        self._parallel_tool_calls = config.parallel_tool_calls
        self._builtin_tools: llama_tools.BuiltinTools | None = None

    def list_content(self, turn: Turn, conversation: Conversation) -> ListContent:
        return ListContent.REPR

    def find_loss(self, turn: Turn, conversation: Conversation) -> Loss | None:
        has_system = conversation.messages[0].role == "system"
        if turn.index == int(has_system) and self._needs_user_message(conversation) and turn.role != "user":
            return Loss("role", "renders the message that holds the tools as a user's")
        if turn.message.tool_calls and turn.text.strip():
            return Loss("content", "does not render content beside tool calls")
        return None

    def write_opening(self, turns: Sequence[Turn], conversation: Conversation, out: PromptWriter) -> int:
        out.control(self._frame.begin_of_text)
        system = turns[0] if turns[0].role == "system" else None
        self._write_system(system, conversation, out)
        n_written = 0 if system is None else 1
        if not self._needs_user_message(conversation):
            return n_written
        if n_written == len(turns):
            raise RenderError("tools: they go into the first user message, and there is none")
        user = turns[n_written]
        out.attribute_to(user.index, user.role)
        self._frame.open("user", out)
        llama_tools.write_tools(llama_tools.USER_INTRODUCTION, conversation.tools or (), out)
        out.stripped_content(user.text)
        self._frame.close(out)
        return n_written + 1

    def write_turn(self, turn: Turn, out: PromptWriter) -> None:
        if turn.has_tool_calls:
            self._write_calls(turn, out)
        elif turn.role in ("tool", "ipython"):
            self._frame.open("ipython", out)
            llama_tools.write_result(turn, out)
            self._frame.close(out)
        else:
            self._frame.open_as_given(turn.role, out)
            out.stripped_content(turn.text)
            self._frame.close(out)

    def write_generation_prompt(self, out: PromptWriter) -> None:
        self._frame.open("assistant", out)

    def stop_tokens(self) -> list[ControlToken]:
        return [self._frame.eot, self._frame.end_of_text, self._eom]

    def _needs_user_message(self, conversation: Conversation) -> bool:
        return conversation.tools is not None and self._tools_in_user_message

    def _write_system(self, system: Turn | None, conversation: Conversation, out: PromptWriter) -> None:
        tools, builtin_tools = conversation.tools, self._builtin_tools
        if system is not None:
            out.attribute_to(system.index, system.role)
        self._frame.open("system", out)
        if tools is not None or builtin_tools is not None:
            out.literal("Environment: ipython\n")
        if builtin_tools is not None:
            builtin_tools.write_names(out)
        out.literal(f"Cutting Knowledge Date: December 2023\nToday Date: {self._date}\n\n")
        if tools is not None and not self._tools_in_user_message:
            llama_tools.write_tools(llama_tools.SYSTEM_INTRODUCTION, tools, out)
        if system is not None:
            out.stripped_content(system.text)
        self._frame.close(out)
        out.attribute_to_none()

    def _write_calls(self, turn: Turn, out: PromptWriter) -> None:
        calls = turn.message.tool_calls
        place = f"messages[{turn.index}].tool_calls"
        if not calls or (len(calls) > 1 and not self._parallel_tool_calls):
            raise RenderError(f"{place}: {self.name} renders exactly one call a turn, got {len(calls)}")
        self._frame.open("assistant", out)
        llama_tools.write_calls(calls, self._builtin_tools, place, out)
        out.control(self._frame.eot if self._builtin_tools is None else self._eom, Field.TURN_CLOSE)


class Llama31(Llama32):
    """Llama 3.1 and 3.3: the same with built-in tools."""

    name = "llama-3.1"

    def __init__(self, config: Llama31Fields, tokens: TokenLookup) -> None:
        super().__init__(config, tokens)
        if config.builtin_tools is not None:
            self._builtin_tools = llama_tools.BuiltinTools(config.builtin_tools, tokens)
