r"""Formats that are text alone: ChatML, and the five that LangChain's prompts go by.

chatml, im_start  <|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n
inst              <s>[INST] s q [/INST]a</s> [INST] q [/INST]
llama_2           <s>[INST] <<SYS>>\ns\n<</SYS>>\n\nq [/INST] a </s>
llama_3           <|begin_of_text|>\n<|start_header_id|>user<|end_header_id|>\n\nq<|eot_id|>\n
zephyr            <|user|>\nq</s>\n<|assistant|>\n
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from turnloom._arguments import check_text_format
from turnloom.errors import RenderError
from turnloom.reference.engine import render_prompt
from turnloom.reference.families.family import EveryRole, Family, Turn
from turnloom.reference.messages import Conversation, read_conversation
from turnloom.reference.prompt import ControlToken, PromptWriter

ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class Tags:
    """A format in which every turn has its role in front."""

    before: str
    after_role: str
    after: str
    opening: str = ""
    takes_any_role: bool = False
    """In any order, and always with a generation prompt."""

    def frame(self, turn: Turn) -> tuple[str, str]:
        """Give what stands around a content."""
        return f"{self.before}{turn.role}{self.after_role}", self.after

    @property
    def generation_prompt(self) -> str:
        """Give the header of an assistant's turn."""
        return f"{self.before}assistant{self.after_role}"


@dataclass(frozen=True, slots=True)
class Instructions:
    """A format in which a user's turn is an instruction that the system message is a part of."""

    system: tuple[str, str]
    user: tuple[str, str]
    assistant_after: str
    opening: str = ""
    takes_any_role: bool = field(default=False, init=False)
    generation_prompt: str = field(default="", init=False)

    def frame(self, turn: Turn) -> tuple[str, str]:
        """Give what stands around a content."""
        match turn.role:
            case "system":
                return self.system
            case "assistant":
                return "", self.assistant_after
        return "" if turn.previous_role == "system" else self.user[0], self.user[1]


FORMATS: dict[str, Tags | Instructions] = {
    "chatml": Tags("<|im_start|>", "\n", "<|im_end|>\n", takes_any_role=True),
    "im_start": Tags("<|im_start|>", "\n", "<|im_end|>\n"),
    "inst": Instructions(("[INST] ", " "), ("[INST] ", " [/INST]"), "</s> ", opening="<s>"),
    "llama_2": Instructions(("<s>[INST] <<SYS>>\n", "\n<</SYS>>\n\n"), ("<s>[INST] ", " [/INST] "), " </s>"),
    "llama_3": Tags("<|start_header_id|>", "<|end_header_id|>\n\n", "<|eot_id|>\n", "<|begin_of_text|>\n"),
    "zephyr": Tags("<|", "|>\n", "</s>\n"),
}


class TextFormat(Family):
    """One of them, written by the engine of the chat formats."""

    can_lose = False

    def __init__(self, name: str) -> None:
        self.name = name  # type: ignore[misc]  # a class has one name, this one has six
        self._format = FORMATS[name]
        self.roles = EveryRole() if self._format.takes_any_role else ROLES  # type: ignore[misc]

    def write_opening(self, turns: Sequence[Turn], conversation: Conversation, out: PromptWriter) -> int:
        if not self._format.takes_any_role:
            self._check_order([turn.role for turn in turns])
        out.literal(self._format.opening)
        return 0

    def write_turn(self, turn: Turn, out: PromptWriter) -> None:
        before, after = self._format.frame(turn)
        out.literal(before)
        out.content(turn.text)
        out.literal(after)

    def write_generation_prompt(self, out: PromptWriter) -> None:
        out.literal(self._format.generation_prompt)

    def stop_tokens(self) -> list[ControlToken]:
        return []

    def _check_order(self, roles: list[str]) -> None:
        first = 1 if roles[0] == "system" else 0
        if first == len(roles):
            raise RenderError(f"messages: {self.name} needs a user's message")
        for i, role in enumerate(roles[first:], first):
            expected = "assistant" if (i - first) % 2 else "user"
            if role != expected:
                raise RenderError(f"messages[{i}].role: {self.name} takes {expected!r} there, got {role!r}")


def apply_text_format(messages: object, format: str, *, add_generation_prompt: bool | None = None) -> str:
    """Return a conversation as text.

    Raises:
        KeyError: there is no such format.
        RenderError: the format cannot express the conversation.
    """
    check_text_format(format, add_generation_prompt)
    conversation = read_conversation(messages, None)
    if format not in FORMATS:
        raise KeyError(f"format: unknown format {format!r}, known: {', '.join(FORMATS)}")
    family, found = TextFormat(format), FORMATS[format]
    if not conversation.messages:
        if not found.takes_any_role:
            raise RenderError(f"messages: {format} needs a user's message")
        return "" if add_generation_prompt is False else found.generation_prompt
    if add_generation_prompt is None:
        add_generation_prompt = found.takes_any_role or conversation.messages[-1].role == "user"
    prompt = render_prompt(family, "raise", conversation, add_generation_prompt=add_generation_prompt)
    return prompt.text.decode()
