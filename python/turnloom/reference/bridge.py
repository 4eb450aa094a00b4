"""From one turn of a rollout to the next: the ids that were sampled stay as they are.

    prompt ids + completion ids + [close] + new messages + generation prompt

Only what follows the completion is rendered and encoded, by itself: it begins behind the close of a turn, and
no merge reaches back over that.
"""

from collections.abc import Sequence

from turnloom.bridge import BridgeRefusal, BridgeRefusalReason
from turnloom.reference.engine import NEW_MESSAGES, CompletionEnd, place_new_turns, render_continuation
from turnloom.reference.families.family import Family, OnLoss, ThinkingRetention
from turnloom.reference.messages import Message
from turnloom.reference.parsing.completion import ends_in_reasoning
from turnloom.reference.parsing.formats import CompletionFormat
from turnloom.reference.prompt import Prompt

Reason = BridgeRefusalReason


def extend(
    family: Family,
    on_loss: OnLoss,
    retention: ThinkingRetention,
    format: CompletionFormat,
    prompt_ids: Sequence[int],
    completion_ids: Sequence[int],
    new_messages: Sequence[Message],
    *,
    allow_trim: bool,
) -> BridgeRefusal | tuple[int, Prompt]:
    """Give what goes behind the completion, and how many ids of the completion stay; or a refusal.

    Raises:
        RenderError: something in the new messages would be lost.
    """
    if not prompt_ids:
        return BridgeRefusal(Reason.EMPTY_PROMPT, "previous_prompt_ids: no ids")
    if not new_messages:
        return BridgeRefusal(Reason.NOTHING_NEW, f"{NEW_MESSAGES}: no messages")
    if refusal := _refuse_roles(family, [message.role for message in new_messages]):
        return refusal

    closes = [i for i, id_ in enumerate(completion_ids) if id_ in format.stop_ids]
    in_reasoning = ends_in_reasoning(format, prompt_ids, completion_ids)
    if in_reasoning and closes:
        detail = "previous_completion_ids: the turn was closed inside its reasoning"
        return BridgeRefusal(Reason.STOP_INSIDE_REASONING, detail)

    if retention == "tool_cycle" and (queries := _queries(family, on_loss, new_messages)):
        detail = (
            f"{_role_place(queries[-1])}: earlier reasoning goes when there is a new query "
            '(thinking_retention="all" keeps it)'
        )
        return BridgeRefusal(Reason.RETENTION_POLICY, detail)

    n_kept = closes[-1] + 1 if closes else len(completion_ids)
    if n_kept < len(completion_ids) and not allow_trim:
        place = f"previous_completion_ids[{n_kept}]"
        detail = f"{place}: ids behind the close of the turn (allow_trim=True drops them)"
        return BridgeRefusal(Reason.TEXT_AFTER_CLOSE, detail)
    end = CompletionEnd(in_reasoning=in_reasoning, in_turn=not closes)
    turns = place_new_turns(family, on_loss, new_messages)
    return n_kept, render_continuation(family, on_loss, turns, end)


def _queries(family: Family, on_loss: OnLoss, new_messages: Sequence[Message]) -> list[int]:
    turns = place_new_turns(family, on_loss, new_messages)
    return [turn.index for turn in turns if family.is_query(turn)]


def _refuse_roles(family: Family, roles: Sequence[str]) -> BridgeRefusal | None:
    for i, role in enumerate(roles):
        if role == "assistant":
            detail = f"{_role_place(i)}: an assistant's message was not sampled behind this prompt"
            return BridgeRefusal(Reason.NEW_ASSISTANT_MESSAGE, detail)
    for i, role in enumerate(roles):
        if role not in family.roles:
            detail = f"{_role_place(i)}: {family.name} does not render the role {role!r}"
            return BridgeRefusal(Reason.UNKNOWN_ROLE, detail)
    return None


def _role_place(message: int) -> str:
    return f"{NEW_MESSAGES}[{message}].role"
