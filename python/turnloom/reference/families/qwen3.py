r"""Qwen3, after qwen3/{qwen3,qwen3-first,qwen3-instruct-2507,qwen3-next-80b}.jinja of Qwen/Qwen3-*.

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
from dataclasses import dataclass
from typing import Protocol

from turnloom.reference.families import qwen
from turnloom.reference.families.chatml import AFTER_CLOSE, ChatMLFrame
from turnloom.reference.families.family import Family, ListContent, Loss, TokenLookup, Turn
from turnloom.reference.families.think_block import split_think_block, think_block_loses_text
from turnloom.reference.messages import Conversation
from turnloom.reference.prompt import ControlToken, PromptWriter
from turnloom.rendered import Field


@dataclass(frozen=True, slots=True)
class Revision:
    """What one of the published templates does differently."""

    has_reasoning: bool = True
    opens_thinking: bool = False
    """The generation prompt opens a think block, whatever `enable_thinking` says."""
    lists: ListContent = ListContent.DROP
    result_lists: ListContent = ListContent.DROP

    @property
    def reads_enable_thinking(self) -> bool:
        """Whether the template knows that variable."""
        return self.has_reasoning and not self.opens_thinking


REVISIONS = {
    "current": Revision(),
    "first": Revision(lists=ListContent.JOIN, result_lists=ListContent.REPR),  # joined: the template fails
    "instruct-2507": Revision(has_reasoning=False),
    "next": Revision(opens_thinking=True),
}


class Qwen3Fields(Protocol):
    """The config fields of this family."""

    @property
    def revision(self) -> str: ...
    @property
    def enable_thinking(self) -> bool: ...
    @property
    def reemit_empty_thinking(self) -> bool: ...


class Qwen3(Family):
    """ChatML with tools, calls and reasoning."""

    name = "qwen3"
    markers = ("<think>", "</think>", *qwen.MARKERS)
    roles = qwen.ROLES
    call_roles = ("assistant",)
    tools = True
    after_close = AFTER_CLOSE

    def __init__(self, config: Qwen3Fields, tokens: TokenLookup) -> None:
        self._frame = ChatMLFrame(tokens)
        self._end_of_text = tokens("<|endoftext|>")
        if config.revision not in REVISIONS:
            raise ValueError(f"config.revision: unknown revision {config.revision!r}")
        self._revision = REVISIONS[config.revision]
        if not config.enable_thinking and not self._revision.reads_enable_thinking:
            raise ValueError(
                f"config.enable_thinking: the revision {config.revision!r} cannot switch thinking off"
            )
        self._ends_thinking = not config.enable_thinking
        self._reemits_empty_thinking = config.reemit_empty_thinking and self._ends_thinking
        self.reasoning_roles = ("assistant",) if self._revision.has_reasoning else ()
        self.retention = "tool_cycle" if self._revision.has_reasoning and config.enable_thinking else "all"
        self.is_prefix_stable = not self._revision.has_reasoning
        self.prints_content_lists = self._revision.result_lists is ListContent.REPR

    def is_query(self, turn: Turn) -> bool:
        is_tool_response = turn.text.startswith("<tool_response>") and turn.text.endswith("</tool_response>")
        return turn.role == "user" and turn.text_is_string and not is_tool_response

    def list_content(self, turn: Turn, conversation: Conversation) -> ListContent:
        if turn.is_first and turn.role == "system":
            return ListContent.JOIN  # the template fails there
        return self._revision.result_lists if turn.role == "tool" else self._revision.lists

    def find_loss(self, turn: Turn, conversation: Conversation) -> Loss | None:
        is_split = turn.role in self.reasoning_roles and turn.message.reasoning is None
        if is_split and think_block_loses_text(turn.text):
            return Loss("content", "does not render text beside a think block")
        return None

    def write_opening(self, turns: Sequence[Turn], conversation: Conversation, out: PromptWriter) -> int:
        return qwen.write_system_turn(self._frame, turns[0], conversation.tools or (), None, out)

    def write_turn(self, turn: Turn, out: PromptWriter) -> None:
        if turn.role == "tool":
            qwen.write_result(self._frame, turn, out)
            return
        self._frame.open(turn.role, out)
        if turn.role == "assistant":
            self._write_assistant(turn, out)
        else:
            out.content(turn.text)
        self._frame.close(out)

    def write_generation_prompt(self, out: PromptWriter) -> None:
        self._frame.open("assistant", out)
        if self._revision.opens_thinking:
            out.literal("<think>\n")
        elif self._ends_thinking:
            out.literal("<think>\n\n</think>\n\n")

    def stop_tokens(self) -> list[ControlToken]:
        return [self._frame.im_end, self._end_of_text]

    def _write_assistant(self, turn: Turn, out: PromptWriter) -> None:
        reasoning, content = self._split_reasoning(turn)
        is_kept = turn.after_last_query and (turn.is_last or bool(reasoning))
        is_reemitted = self._reemits_empty_thinking and not reasoning
        if self._revision.has_reasoning and (is_kept or is_reemitted):
            out.literal("<think>\n", Field.REASONING_MARKUP)
            out.caller_text(reasoning.strip("\n"), Field.REASONING)
            out.literal("\n</think>\n\n", Field.REASONING_MARKUP)
            out.content(content.lstrip("\n"))
        else:
            out.content(content)
        qwen.write_calls(turn.message.tool_calls, after_content=bool(content), out=out)

    def _split_reasoning(self, turn: Turn) -> tuple[str, str]:
        if not self._revision.has_reasoning:
            return "", turn.text
        if turn.message.reasoning is not None:
            return turn.message.reasoning, turn.text
        return split_think_block(turn.text)
