"""What a chat format is to the engine: its literals and its real differences.

The walk over messages, the checks for losses, the emission of pieces and their attribution are the engine's.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Literal, Protocol

from turnloom.reference.messages import Conversation, Message
from turnloom.reference.prompt import ControlToken, PromptWriter

MarkerPolicy = Literal["trusted", "all", "none", "reject"]
OnLoss = Literal["raise", "template"]
ThinkingRetention = Literal["tool_cycle", "all"]

TokenLookup = Callable[[str], ControlToken]
"""Gives the control token with a spelling; ValueError if the vocabulary lacks it."""


class RendererConfig(Protocol):
    """What every config has. A family's own fields are a protocol beside the family."""

    @property
    def name(self) -> str: ...
    @property
    def marker_policy(self) -> MarkerPolicy: ...
    @property
    def on_loss(self) -> OnLoss: ...
    @property
    def thinking_retention(self) -> ThinkingRetention | None: ...


class ListContent(Enum):
    """What a template makes of a content list. Only `on_loss="template"` shows it; else texts are joined."""

    JOIN = "the texts joined, also where the template fails on a list"
    DROP = "empty text"
    REPR = "the list as Python prints it"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message in its place."""

    message: Message
    index: int
    text: str
    """The content as the template sees it: differs from `message.content.text` only for lists."""
    text_is_string: bool
    """Whether the template sees a string: None and no content are none, a list only where it is joined."""
    has_tool_calls: bool
    """Whether the template sees calls; an empty list counts with `on_loss="template"` only."""
    is_first: bool
    """Of the conversation; never of messages that go one on."""
    is_last: bool
    previous_role: str | None
    next_role: str | None
    after_last_query: bool = False
    """It stands after the last message for which `Family.is_query` holds."""

    @property
    def role(self) -> str:
        """The message's role."""
        return self.message.role


@dataclass(frozen=True, slots=True)
class Loss:
    """A part of a message that the template drops, or renders as something else than it is."""

    key: str
    """Of the message, such as "content"."""
    reason: str
    """Follows the name of the family: "does not render ..."."""


class EveryRole:
    """The set of all roles."""

    def __contains__(self, role: object) -> bool:
        return True


class Family(ABC):
    """A chat format bound to the control tokens of a vocabulary."""

    name: ClassVar[str]
    markers: ClassVar[Sequence[str]] = ()
    """Control tokens of the format, whether or not a tokenizer.json flags them as special."""

    # What the template renders; anything else that the caller passes would be lost.
    roles: ClassVar[Container[str]] = EveryRole()
    reasoning_roles: Container[str] = ()
    call_roles: ClassVar[Container[str]] = ()
    tools: ClassVar[bool] = False

    prints_content_lists: bool = False
    """A content list may have to be printed: `list_content` is REPR, or a result is printed as JSON."""
    quotes_string_arguments: ClassVar[bool] = False
    """Arguments that are given as JSON text are printed as a JSON string of it, with `on_loss="template"`."""

    after_close: ClassVar[str] = ""
    """What stands between the close of a turn and the next turn."""
    retention: ThinkingRetention = "all"
    """What the template keeps of earlier reasoning, as its options are."""
    is_prefix_stable: bool = True
    """Appending turns leaves what was rendered before as it was."""

    can_lose: ClassVar[bool] = True
    """A caller may accept losses, with `on_loss="template"`."""

    @abstractmethod
    def __init__(self, config: RendererConfig, tokens: TokenLookup) -> None:
        """Look up the control tokens; a family may ask more of its config than what every config has."""

    def is_query(self, turn: Turn) -> bool:
        """Tell whether the message asks the model something new, so that reasoning before it may go."""
        return False

    def list_content(self, turn: Turn, conversation: Conversation) -> ListContent:
        """Tell what the template makes of the content list of a message."""
        return ListContent.JOIN

    def find_loss(self, turn: Turn, conversation: Conversation) -> Loss | None:
        """Find what else of a message would be lost."""
        return None

    @abstractmethod
    def write_opening(self, turns: Sequence[Turn], conversation: Conversation, out: PromptWriter) -> int:
        """Write what stands before the turns, as no message's. Return how many turns that included."""

    @abstractmethod
    def write_turn(self, turn: Turn, out: PromptWriter) -> None:
        """Write one message, as that message's."""

    @abstractmethod
    def write_generation_prompt(self, out: PromptWriter) -> None:
        """Write what the model is to continue, as no message's."""

    @abstractmethod
    def stop_tokens(self) -> Sequence[ControlToken]:
        """Give the tokens that end the model's turn, the canonical one first."""
