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
from dataclasses import replace
from typing import NoReturn

from turnloom.errors import RenderError
from turnloom.reference.families.family import Family, ListContent, OnLoss, Turn
from turnloom.reference.json_text import Json, python_repr
from turnloom.reference.messages import Message
from turnloom.reference.prompt import Prompt, PromptWriter


def render_prompt(
    family: Family,
    on_loss: OnLoss,
    messages: Sequence[Message],
    tools: Sequence[Json],
    *,
    add_generation_prompt: bool = False,
    continue_final_message: bool = False,
) -> Prompt:
    """Render a conversation as the family writes it.

    Raises:
        ValueError: no messages, or nothing to continue.
        RenderError: something that the caller passed would be lost.
    """
    if not messages:
        raise ValueError("messages: no messages")
    if continue_final_message and add_generation_prompt:
        raise ValueError("continue_final_message: cannot be combined with add_generation_prompt")
    turns = _place_turns(family, on_loss, messages)
    if on_loss == "raise":
        _check_losses(family, turns, tools)

    out = PromptWriter()
    n_written = family.write_opening(turns, tools, out)
    for turn in turns[n_written:]:
        if turn.role in family.roles:
            out.attribute_to(turn.index, turn.role)
            family.write_turn(turn, out)
    out.attribute_to_none()
    if continue_final_message:
        return _cut_after_content(out, turns[-1], family.strips_content)
    if add_generation_prompt:
        family.write_generation_prompt(out)
    return out.prompt()


def _place_turns(family: Family, on_loss: OnLoss, messages: Sequence[Message]) -> list[Turn]:
    turns = []
    for index, message in enumerate(messages):
        text, is_string = message.content.text, message.content.is_given
        if message.content.is_list and on_loss == "template":
            text, is_string = _list_text(family, message, index)
        is_last = index + 1 == len(messages)
        turns.append(
            Turn(
                message=message,
                index=index,
                text=text,
                text_is_string=is_string,
                is_last=is_last,
                previous_role=None if index == 0 else messages[index - 1].role,
                next_role=None if is_last else messages[index + 1].role,
            )
        )
    last_query = next((turn.index for turn in reversed(turns) if family.is_query(turn)), len(turns))
    return [replace(turn, after_last_query=turn.index > last_query) for turn in turns]


def _list_text(family: Family, message: Message, index: int) -> tuple[str, bool]:
    """Give what the template makes of a content list, and whether it is a string to it."""
    list_content = family.list_content
    if index == 0 and message.role == "system" and family.opening_list_content is not None:
        list_content = family.opening_list_content
    match list_content:
        case ListContent.DROP:
            return "", False
        case ListContent.REPR:
            return python_repr(message.content.values), False
    if message.content.foreign_part is not None:
        raise RenderError(_foreign_part_error(family, message, index))
    return message.content.text, True


def _check_losses(family: Family, turns: Sequence[Turn], tools: Sequence[Json]) -> None:
    name = family.name
    if tools and not family.tools:
        _raise_loss(f"tools: {name} does not render tools")
    for turn in turns:
        message, place = turn.message, f"messages[{turn.index}]"
        if turn.role not in family.roles:
            _raise_loss(f"{place}.role: {name} does not render the role {turn.role!r}")
        if message.content.foreign_part is not None:
            _raise_loss(_foreign_part_error(family, message, turn.index))
        if lost_text := family.lost_text(turn):
            _raise_loss(f"{place}.content: {name} does not render {lost_text}")
        if message.reasoning and turn.role not in family.reasoning_roles:
            place = f"{place}.{message.reasoning_key}"
            _raise_loss(f"{place}: {name} does not render reasoning of the role {turn.role!r}")
        if message.tool_calls and turn.role not in family.call_roles:
            _raise_loss(f"{place}.tool_calls: {name} does not render tool calls of the role {turn.role!r}")


def _foreign_part_error(family: Family, message: Message, index: int) -> str:
    part = message.content.foreign_part
    assert part is not None
    place = f"messages[{index}].content[{part.index}]"
    return f"{place}: {family.name} does not render a part of type {part.type!r}"


def _raise_loss(reason: str) -> NoReturn:
    raise RenderError(f'{reason} (on_loss="template" accepts that)')


def _cut_after_content(out: PromptWriter, final: Turn, strips_content: bool) -> Prompt:
    """Cut as transformers does: what stands after the body of the final message goes.

    Where the format strips white space around a body, white space that then ends the text goes, too.
    """
    end = out.content_ends.get(final.index)
    if end is None or not final.text_is_string:
        raise ValueError(
            f"messages[{final.index}].content: "
            "continue_final_message needs a final message whose content is rendered"
        )
    prompt = out.prompt()
    if strips_content:
        end = len(prompt.text[:end].decode().rstrip().encode())
    kept = [piece for piece in prompt.pieces if piece.begin < end]
    kept[-1] = replace(kept[-1], end=min(kept[-1].end, end))
    return Prompt(prompt.text[:end], kept)
