"""What of a conversation is trained where only a chat template is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from turnloom._arguments import trained_messages

if TYPE_CHECKING:
    from turnloom.loss import LossRule
    from turnloom.types import Messages


def loss_mask(
    sampled: NDArray[np.bool_], indices: NDArray[np.int32], messages: Messages, rule: LossRule | None
) -> NDArray[np.bool_]:
    """Narrow what was sampled to what a rule selects; nothing of nothing.

    Raises:
        TypeError: the `train` of a message is no bool and no int.
        ValueError: the rule needs to know more of the tokens than the template tells, or a `train` is another
            int than 0 and 1.
    """
    selected = set(trained_messages(messages))
    if rule is not None and (rule.content_roles or not rule.reasoning or not rule.stop):
        raise ValueError(
            "loss: a chat template does not tell content, reasoning and close apart; "
            "only `turns` can be chosen"
        )
    turns = "all" if rule is None else rule.turns
    if turns == "all" and (len(selected) == len(messages) or not len(sampled)):
        return sampled
    if len(sampled) == 0 or len(indices) != len(sampled):
        raise ValueError(
            "loss: not known which tokens were sampled in which message: the template has no "
            "{% generation %} blocks, or its messages are not in order"
        )
    mask: NDArray[np.bool_] = sampled & np.isin(indices, sorted(_turns(turns, messages) & selected))
    mask.setflags(write=False)
    return mask


def _turns(turns: object, messages: Sequence[Mapping[str, object]]) -> set[int]:
    assistants = [i for i, message in enumerate(messages) if message.get("role") == "assistant"]
    if isinstance(turns, str):
        return set(assistants if turns == "all" else assistants[-1:])
    assert isinstance(turns, tuple)
    known = set(assistants)
    for position, index in enumerate(turns):
        if index not in known:
            raise ValueError(f"loss.turns[{position}]: messages[{index}] is not an assistant's")
    return set(turns)
