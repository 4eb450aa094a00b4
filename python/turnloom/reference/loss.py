"""Which pieces of a prompt are trained."""

from collections.abc import Sequence
from dataclasses import replace

from turnloom.loss import LossRule
from turnloom.reference.messages import Message
from turnloom.reference.prompt import NO_MESSAGE, Piece, Prompt
from turnloom.rendered import Field

_REASONING = (Field.REASONING, Field.REASONING_MARKUP)


def mark_trained(prompt: Prompt, messages: Sequence[Message], rule: LossRule | None) -> Prompt:
    """Mark the pieces that a rule selects; no rule is the default one.

    Raises:
        ValueError: a message that the rule lists is not there, or is no assistant's.
    """
    rule = rule or LossRule()
    chosen = _chosen_messages(messages, rule)

    def is_trained(piece: Piece) -> bool:
        if piece.message == NO_MESSAGE or not chosen[piece.message]:
            return False
        if piece.field in _REASONING and not rule.reasoning:
            return False
        if piece.field == Field.TURN_CLOSE and not rule.stop:
            return False
        return piece.is_content  # of an assistant that is all that is sampled

    return replace(prompt, pieces=[replace(piece, trained=is_trained(piece)) for piece in prompt.pieces])


def _chosen_messages(messages: Sequence[Message], rule: LossRule) -> list[bool]:
    assistants = [i for i, message in enumerate(messages) if message.role == "assistant"]
    if rule.turns == "all":
        turns = set(assistants)
    elif rule.turns == "last":
        turns = set(assistants[-1:])
    else:
        turns = {_checked(index, i, messages) for i, index in enumerate(rule.turns)}
    chosen = [i in turns or message.role in rule.content_roles for i, message in enumerate(messages)]
    return [message.train and is_chosen for message, is_chosen in zip(messages, chosen, strict=True)]


def _checked(index: int, position: int, messages: Sequence[Message]) -> int:
    place = f"loss.turns[{position}]"
    if index >= len(messages):
        raise ValueError(f"{place}: no message {index} in a conversation of {len(messages)}")
    if messages[index].role != "assistant":
        raise ValueError(
            f"{place}: messages[{index}] is of the role {messages[index].role!r}, not an assistant's"
        )
    return index
