"""The walk over a conversation, the same for every family.

    messages, tools --read--> Message, Json --place--> Turn --family writes--> Piece --markers--> tokens and
    text regions --encoder--> token columns

`render_prompt` is the middle of it. It checks that nothing would be lost, puts each message in its place as a
Turn (what the template sees of its content, its neighbours, whether it follows the last query) and asks the
family for the opening, each turn and the generation prompt. The family writes literals and the caller's texts
through a PromptWriter, which knows whose message they belong to and derives all attribution from that. Ids of
text are no concern here: `markers` and `columns` come after.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from turnloom.errors import RenderError
from turnloom.reference.families import think_block
from turnloom.reference.families.family import Family, ListContent, OnLoss, Turn
from turnloom.reference.json_text import python_repr
from turnloom.reference.messages import Conversation, Message
from turnloom.reference.prompt import Prompt, PromptWriter
from turnloom.rendered import Field

# What errors call the messages.
MESSAGES, NEW_MESSAGES = "messages", "new_messages"


def render_prompt(
    family: Family,
    on_loss: OnLoss,
    conversation: Conversation,
    *,
    add_generation_prompt: bool = False,
    continue_final_message: bool = False,
) -> Prompt:
    """Render a conversation as the family writes it.

    Raises:
        ValueError: no messages, or nothing to continue.
        RenderError: something that the caller passed would be lost.
    """
    if not conversation.messages:
        raise ValueError("messages: no messages")
    if continue_final_message and add_generation_prompt:
        raise ValueError("continue_final_message: cannot be combined with add_generation_prompt")
    turns = _place_turns(family, on_loss, conversation)
    if on_loss == "raise":
        _check_losses(family, turns, conversation)
    out = _writer(family, on_loss)
    n_written = family.write_opening(turns, conversation, out)
    _write_turns(family, turns[n_written:], out)
    if continue_final_message:
        return _cut_after_content(out, turns[-1])
    if add_generation_prompt:
        family.write_generation_prompt(out)
    return out.prompt()


@dataclass(frozen=True, slots=True)
class CompletionEnd:
    """How a completion ended, which says what has to be written before messages can go on from it."""

    in_reasoning: bool
    in_turn: bool


def place_new_turns(family: Family, on_loss: OnLoss, new_messages: Sequence[Message]) -> list[Turn]:
    """Put messages in their place behind a completion.

    Raises:
        RenderError: something that the caller passed would be lost.
    """
    conversation = Conversation(new_messages)
    turns = _place_turns(family, on_loss, conversation, goes_on=True)
    if on_loss == "raise":
        _check_losses(family, turns, conversation, NEW_MESSAGES)
    return turns


def render_continuation(family: Family, on_loss: OnLoss, turns: Sequence[Turn], end: CompletionEnd) -> Prompt:
    """Render messages that go on from a completion, and the generation prompt: what is open is closed."""
    out = _writer(family, on_loss)
    if end.in_reasoning:
        out.literal(think_block.CLOSE, Field.REASONING_MARKUP)
    if end.in_turn:
        out.control(family.stop_tokens()[0], Field.TURN_CLOSE)
    out.literal(family.after_close)
    _write_turns(family, turns, out)
    family.write_generation_prompt(out)
    return replace(out.prompt(), messages_name=NEW_MESSAGES)


def _writer(family: Family, on_loss: OnLoss) -> PromptWriter:
    return PromptWriter(quotes_string_arguments=family.quotes_string_arguments and on_loss == "template")


def _write_turns(family: Family, turns: Sequence[Turn], out: PromptWriter) -> None:
    for turn in turns:
        if turn.role in family.roles:
            out.attribute_to(turn.index, turn.role)
            family.write_turn(turn, out)
    out.attribute_to_none()


def _place_turns(
    family: Family, on_loss: OnLoss, conversation: Conversation, *, goes_on: bool = False
) -> list[Turn]:
    """Put each message in its place, which is the first one unless they go on from a completion."""
    messages = conversation.messages
    turns = []
    for index, message in enumerate(messages):
        is_last = index + 1 == len(messages)
        turn = Turn(
            message=message,
            index=index,
            text=message.content.text,
            text_is_string=message.content.is_given,
            has_tool_calls=message.has_tool_calls if on_loss == "template" else bool(message.tool_calls),
            is_first=index == 0 and not goes_on,
            is_last=is_last,
            previous_role=messages[index - 1].role if index > 0 else "assistant" if goes_on else None,
            next_role=None if is_last else messages[index + 1].role,
        )
        if message.content.is_list and on_loss == "template" and turn.role in family.roles:
            turn = _with_list_shown(family, turn, conversation, NEW_MESSAGES if goes_on else MESSAGES)
        turns.append(turn)
    last_query = next((turn.index for turn in reversed(turns) if family.is_query(turn)), len(turns))
    return [replace(turn, after_last_query=turn.index > last_query) for turn in turns]


def _with_list_shown(family: Family, turn: Turn, conversation: Conversation, argument: str) -> Turn:
    """Let a turn have what the template makes of its content list."""
    content = turn.message.content
    match family.list_content(turn, conversation):
        case ListContent.DROP:
            return replace(turn, text="", text_is_string=False)
        case ListContent.REPR:
            return replace(turn, text=python_repr(content.values), text_is_string=False)
    if content.foreign_part is not None:
        raise RenderError(_foreign_part_error(family, turn, argument))
    return turn


def _check_losses(
    family: Family, turns: Sequence[Turn], conversation: Conversation, argument: str = MESSAGES
) -> None:
    name = family.name
    if conversation.tools and not family.tools:
        _raise_loss(family, f"tools: {name} does not render tools")
    for turn in turns:
        message, place = turn.message, f"{argument}[{turn.index}]"
        if turn.role not in family.roles:
            _raise_loss(family, f"{place}.role: {name} does not render the role {turn.role!r}")
        if message.content.foreign_part is not None:
            _raise_loss(family, _foreign_part_error(family, turn, argument))
        if loss := family.find_loss(turn, conversation):
            _raise_loss(family, f"{place}.{loss.key}: {name} {loss.reason}")
        if message.reasoning and turn.role not in family.reasoning_roles:
            place = f"{place}.{message.reasoning_key}"
            _raise_loss(family, f"{place}: {name} does not render reasoning of the role {turn.role!r}")
        if message.tool_calls and turn.role not in family.call_roles:
            _raise_loss(
                family, f"{place}.tool_calls: {name} does not render tool calls of the role {turn.role!r}"
            )


def _foreign_part_error(family: Family, turn: Turn, argument: str) -> str:
    part = turn.message.content.foreign_part
    assert part is not None
    place = f"{argument}[{turn.index}].content[{part.index}]"
    return f"{place}: {family.name} does not render a part of type {part.type!r}"


def _raise_loss(family: Family, reason: str) -> NoReturn:
    raise RenderError(f'{reason} (on_loss="template" accepts that)' if family.can_lose else reason)


def _cut_after_content(out: PromptWriter, final: Turn) -> Prompt:
    """Cut as transformers does: what stands after the body of the final message goes.

    Where the format strips white space around the body, white space that then ends the text goes, too.
    """
    body = out.bodies.get(final.index)
    if body is None or not final.text_is_string:
        raise ValueError(
            f"messages[{final.index}].content: "
            "continue_final_message needs a final message whose content is rendered"
        )
    prompt = out.prompt()
    text = prompt.text[: body.end]
    if body.is_stripped:
        text = text.decode().rstrip().encode()
    kept = [piece for piece in prompt.pieces if piece.begin < len(text)]
    kept[-1] = replace(kept[-1], end=min(kept[-1].end, len(text)))
    return Prompt(text, kept)
