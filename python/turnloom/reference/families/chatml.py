r"""ChatML, after chatml/chatml-generic.jinja, the template that many models share.

    <|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n

With `bos` and `default_system` it is also the template of Qwen1.5, Qwen2, Nous-Hermes-2 and Hermes 3.
Departure: a content list is its texts joined, where these templates fail with a TypeError.
"""

from collections.abc import Sequence
from typing import Protocol

from turnloom.reference.families.family import Family, TokenLookup, Turn
from turnloom.reference.messages import Conversation
from turnloom.reference.prompt import ControlToken, PromptWriter
from turnloom.rendered import Field

MARKERS = ("<|im_start|>", "<|im_end|>")
AFTER_CLOSE = "\n"


class ChatMLFields(Protocol):
    """The config fields of this family."""

    @property
    def bos(self) -> str | None: ...
    @property
    def default_system(self) -> str | None: ...


class ChatMLFrame:
    """The frame `<|im_start|>role\\n` ... `<|im_end|>\\n` of a turn, which the Qwen families share."""

    def __init__(self, tokens: TokenLookup) -> None:
        self.im_start = tokens("<|im_start|>")
        self.im_end = tokens("<|im_end|>")

    def open(self, role: str, out: PromptWriter) -> None:
        """Open a turn of a role that the template itself names."""
        out.control(self.im_start)
        out.literal(f"{role}\n")

    def open_as_given(self, role: str, out: PromptWriter) -> None:
        """Open a turn of whatever role the caller wrote."""
        out.control(self.im_start)
        out.caller_text(role, Field.SCAFFOLD)
        out.literal("\n")

    def close(self, out: PromptWriter) -> None:
        """Close the turn."""
        out.control(self.im_end, Field.TURN_CLOSE)
        out.literal(AFTER_CLOSE)


class ChatML(Family):
    """Any role, nothing trimmed or escaped."""

    name = "chatml"
    markers = MARKERS
    after_close = AFTER_CLOSE

    def __init__(self, config: ChatMLFields, tokens: TokenLookup) -> None:
        self._frame = ChatMLFrame(tokens)
        self._bos = None if config.bos is None else tokens(config.bos)
        self._default_system = config.default_system

    def write_opening(self, turns: Sequence[Turn], conversation: Conversation, out: PromptWriter) -> int:
        if self._bos is not None:
            out.control(self._bos)
        if self._default_system is not None and turns[0].role != "system":
            self._frame.open("system", out)
            out.literal(self._default_system)
            self._frame.close(out)
        return 0

    def write_turn(self, turn: Turn, out: PromptWriter) -> None:
        self._frame.open_as_given(turn.role, out)
        out.content(turn.text)
        self._frame.close(out)

    def write_generation_prompt(self, out: PromptWriter) -> None:
        self._frame.open("assistant", out)

    def stop_tokens(self) -> list[ControlToken]:
        return [self._frame.im_end]
