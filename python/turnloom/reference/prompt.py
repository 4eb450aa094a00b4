"""What a family writes: a text, tiled by pieces that say where each byte comes from."""

from dataclasses import dataclass
from enum import Enum

from turnloom.reference.json_text import Json, json_text
from turnloom.rendered import Field

NO_MESSAGE = -1


class Source(Enum):
    """Who answers for a piece of text, and so whether markers spelled in it may become tokens."""

    TEMPLATE = "the template itself"
    AUTHOR = "text of the assistant or of a system message"
    GUEST = "text of a user, of a tool, of a tool spec, of any other role"


@dataclass(frozen=True, slots=True)
class ControlToken:
    """A token that a family writes by id."""

    text: str
    id: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of bytes `[begin, end)` of the prompt with one origin."""

    begin: int
    end: int
    message: int
    """Index in the caller's messages, or NO_MESSAGE."""
    field: Field
    source: Source
    sampled: bool
    is_content: bool
    token: int | None = None
    """Id of a control token; None for text."""
    trained: bool = False
    """Set by `mark_trained`."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The rendered text as UTF-8, and its pieces, which tile it in order. No piece is empty."""

    text: bytes
    pieces: list[Piece]
    messages_name: str = "messages"
    """What errors call the messages."""


@dataclass(frozen=True, slots=True)
class Body:
    """Where the body of a message ends, also an empty one: `continue_final_message` cuts there."""

    end: int
    is_stripped: bool
    """The format does not render white space around it."""


class PromptWriter:
    """The one place where pieces are made: families write through it and never set an attribution.

    What is written belongs to the message that `attribute_to` named last.
    """

    def __init__(self, *, quotes_string_arguments: bool = False) -> None:
        self._chunks: list[bytes] = []
        self._pieces: list[Piece] = []
        self._n_bytes = 0
        self._message = NO_MESSAGE
        self._role = ""
        self._quotes_string_arguments = quotes_string_arguments
        self.bodies: dict[int, Body] = {}
        """Of each message that has one."""

    def attribute_to(self, message: int, role: str) -> None:
        """Let what follows belong to a message."""
        self._message = message
        self._role = role

    def attribute_to_none(self) -> None:
        """Let what follows belong to no message."""
        self.attribute_to(NO_MESSAGE, "")

    def control(self, token: ControlToken, field: Field = Field.SCAFFOLD) -> None:
        """Write a token by id."""
        self._write(token.text, field, Source.TEMPLATE, token.id)

    def literal(self, text: str, field: Field = Field.SCAFFOLD) -> None:
        """Write text of the template itself: markers in it are tokens."""
        self._write(text, field, Source.TEMPLATE)

    def caller_text(self, text: str, field: Field) -> None:
        """Write text that the caller passed: the marker policy applies."""
        is_author = self._role in ("assistant", "system") and field != Field.TOOL_SPEC
        self._write(text, field, Source.AUTHOR if is_author else Source.GUEST)

    def content(self, text: str) -> None:
        """Write the body of the message."""
        self.caller_text(text, Field.CONTENT)
        self.bodies[self._message] = Body(self._n_bytes, is_stripped=False)

    def stripped_content(self, text: str) -> None:
        """Write the body of the message without white space around it."""
        self.caller_text(text.strip(), Field.CONTENT)
        self.bodies[self._message] = Body(self._n_bytes, is_stripped=True)

    def json_content(self, value: Json) -> None:
        """Write the body of the message as JSON; the body of a str ends before its closing quote."""
        self.caller_text(json_text(value), Field.CONTENT)
        n_closing = 1 if isinstance(value, str) else 0
        self.bodies[self._message] = Body(self._n_bytes - n_closing, is_stripped=False)

    def arguments(self, value: Json) -> None:
        """Write the arguments of a call: as JSON, but a str as it is unless the format quotes it."""
        if not isinstance(value, str) or self._quotes_string_arguments:
            value = json_text(value)
        self.caller_text(value, Field.TOOL_ARGUMENTS)

    def prompt(self) -> Prompt:
        """Give what was written."""
        return Prompt(b"".join(self._chunks), self._pieces)

    def _write(self, text: str, field: Field, source: Source, token: int | None = None) -> None:
        if not text:
            return
        chunk = text.encode()
        begin, end = self._n_bytes, self._n_bytes + len(chunk)
        is_assistant = self._role == "assistant"
        sampled = is_assistant and field not in (Field.SCAFFOLD, Field.TOOL_SPEC)
        is_content = sampled if is_assistant else field == Field.CONTENT
        self._pieces.append(Piece(begin, end, self._message, field, source, sampled, is_content, token))
        self._chunks.append(chunk)
        self._n_bytes = end
