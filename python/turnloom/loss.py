"""Which tokens are trained."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turnloom import _core
from turnloom._arguments import int_from
from turnloom._ids import check_array

Turns: TypeAlias = Literal["all", "last"] | list[int] | tuple[int, ...] | NDArray[np.integer[Any]]

_TURNS: tuple[Literal["all"], Literal["last"]] = ("all", "last")
_MAX_INDEX = 2**31 - 1  # `message_indices` are int32.


@dataclass(frozen=True, slots=True, kw_only=True)
class LossRule:
    """What `loss_mask` selects; as it is, all that the model samples.

    A message with `"train": False` is out, whatever the rule says.

        >>> answers = LossRule(turns="last", reasoning=False)
        >>> renderer.render_batch(conversations, loss=answers)
    """

    turns: Turns = "all"
    """Of which assistant messages: "all", only the "last", or those at the indices of a list."""
    content_roles: Collection[str] = frozenset()
    """Other roles whose content is trained, too, without the markup around it."""
    reasoning: bool = True
    """Whether reasoning and its markup are trained."""
    stop: bool = True
    """Whether the close of a turn is trained."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "turns", _checked_turns(self.turns))
        object.__setattr__(self, "content_roles", _checked_roles(self.content_roles))
        for name in ("reasoning", "stop"):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise TypeError(f"{name}: expected bool, got {type(value).__name__}")


def loss_rule(loss: object, place: str = "loss") -> LossRule | None:
    """Check the rule of one conversation.

    Raises:
        TypeError: it is neither a rule nor None.
    """
    if loss is not None and not isinstance(loss, LossRule):
        raise TypeError(f"{place}: expected LossRule or None, got {type(loss).__name__}")
    return loss


def row_loss_rules(loss: object, n_rows: int) -> list[LossRule | None]:
    """Give the rule of each row of a batch, out of one for all or one a row.

    Raises:
        TypeError: something in it is no rule.
        ValueError: there are not as many as rows.
    """
    if not isinstance(loss, (list, tuple)):
        if loss is not None and not isinstance(loss, LossRule):
            raise TypeError(f"loss: expected LossRule, list, tuple or None, got {type(loss).__name__}")
        return [loss] * n_rows
    if len(loss) != n_rows:
        raise ValueError(f"loss: {len(loss)} entries for {n_rows} rows")
    return [loss_rule(rule, f"loss[{row}]") for row, rule in enumerate(loss)]


def core_rules(rules: list[LossRule | None]) -> list[_core.LossRule | None]:
    """Give the core's form of rules; rows that share a rule share it there, too."""
    made: dict[int, _core.LossRule | None] = {}
    for rule in rules:
        if id(rule) not in made:
            made[id(rule)] = core_rule(rule)
    return [made[id(rule)] for rule in rules]


def core_rule(rule: LossRule | None) -> _core.LossRule | None:
    """Give the core's form of a rule."""
    if rule is None:
        return None
    return _core.LossRule(
        turns=rule.turns if isinstance(rule.turns, str) else list(rule.turns),
        content_roles=list(rule.content_roles),
        reasoning=rule.reasoning,
        stop=rule.stop,
    )


def _checked_turns(turns: object) -> Turns:
    if isinstance(turns, str):
        for name in _TURNS:
            if turns == name:
                return name
        raise ValueError(f"turns: expected 'all', 'last' or indices of messages, got {turns!r}")
    if isinstance(turns, np.ndarray):
        check_array(turns, "turns")
        turns = turns.tolist()
    if not isinstance(turns, (list, tuple)):
        raise TypeError(f"turns: expected str, list, tuple or 1-D integer array, got {type(turns).__name__}")
    return tuple(
        int_from(index, f"turns[{i}]", lowest=0, highest=_MAX_INDEX) for i, index in enumerate(turns)
    )


def _checked_roles(roles: object) -> frozenset[str]:
    if not isinstance(roles, (set, frozenset, list, tuple)):
        raise TypeError(f"content_roles: expected set, list or tuple, got {type(roles).__name__}")
    for role in roles:
        if not isinstance(role, str):
            raise TypeError(f"content_roles: expected str, got {type(role).__name__}")
        if role == "assistant":
            raise ValueError("content_roles: 'assistant' cannot be one of them: turns chooses its messages")
        try:
            role.encode()
        except UnicodeEncodeError:
            raise ValueError(f"content_roles: lone surrogate in {role!r}") from None
    return frozenset(roles)
