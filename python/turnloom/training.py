"""Training samples of single conversations: the calls of the `renderers` package."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NotRequired, Protocol, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from turnloom._arguments import trained_messages
from turnloom.rendered import Field, RenderedTokens, TokenColumns

if TYPE_CHECKING:
    from turnloom.types import Message, Messages, Tools

Mask: TypeAlias = npt.NDArray[np.bool_]

_LISTS = ("token_ids", "loss_mask")


class SampleRenderer(Protocol):
    """What the calls here ask of a renderer."""

    def render(
        self, messages: Messages, *, tools: Tools | None = None, add_generation_prompt: bool = False
    ) -> RenderedTokens:
        """Return the tokens of a conversation."""

    def get_stop_token_ids(self) -> list[int]:
        """Return the ids at which generation stops, the close of a turn first."""


@dataclass(frozen=True, slots=True)
class RenderedTrainingSample:
    """A conversation to train on: Python lists, made when first used, and arrays in `columns`."""

    token_ids: list[int]
    loss_mask: list[bool]
    """Entry i is about token i: a trainer that predicts the next token shifts it."""
    multi_modal_data: object | None = None
    mm_token_type_ids: list[int] | None = None
    _columns: TokenColumns | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def from_columns(
        cls, columns: TokenColumns, multi_modal_data: object | None = None
    ) -> RenderedTrainingSample:
        """Wrap arrays; their lists are made when they are first asked for."""
        sample = cls.__new__(cls)
        for name, value in (
            ("multi_modal_data", multi_modal_data),
            ("mm_token_type_ids", None),
            ("_columns", columns),
        ):
            object.__setattr__(sample, name, value)
        return sample

    def __getattr__(self, name: str) -> Any:
        # Python comes here only while the slot is unset.
        if name not in _LISTS or self._columns is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        values = getattr(self._columns, name).tolist()
        object.__setattr__(self, name, values)
        return values

    @property
    def columns(self) -> TokenColumns:
        """The same as read-only arrays, with all other columns where the sample was rendered."""
        if self._columns is not None:
            return self._columns
        nothing = _read_only(np.empty(0, np.bool_))
        return TokenColumns(
            token_ids=_read_only(np.array(self.token_ids, np.int32)),
            message_indices=_read_only(np.empty(0, np.int32)),
            fields=_read_only(np.empty(0, np.uint8)),
            sampled_mask=nothing,
            is_content=nothing,
            loss_mask=_read_only(np.array(self.loss_mask, np.bool_)),
        )


class TrajectoryStep(TypedDict):
    """A prompt and what came of it."""

    prompt_ids: list[int]
    prompt_mask: list[bool]
    completion_ids: list[int]
    completion_mask: list[bool]
    completion_logprobs: list[float]
    routed_experts: None
    sampling_mask: None
    multi_modal_data: NotRequired[object]


def build_training_sample(
    renderer: SampleRenderer,
    messages: Messages,
    *,
    role_to_mask: Callable[[Any], bool] | None = None,
    tools: Tools | None = None,
    content_sft_roles: Collection[str] | None = None,
    ensure_final_stop: bool = False,
    message_loss_mask: Sequence[bool | int] | Mask | None = None,
) -> RenderedTrainingSample:
    """Render a conversation once, and tell which of its tokens are trained: those that the model samples.

    Tokens of no message are never trained, nor is a message with `"train": False`.

    Args:
        role_to_mask: tells of a message whether it is trained. A renderer that does not know what is sampled
            needs it, and then every token of such a message is trained, its markup too.
        content_sft_roles: of messages with these roles exactly the content is trained, whatever
            `role_to_mask` says.
        ensure_final_stop: append a stop token, trained, where a final message of the assistant has none.
        message_loss_mask: one bool, 0 or 1 a message, which can only take messages out.

    Raises:
        ValueError: `role_to_mask` or the content of roles is needed and not there, or `message_loss_mask`
            does not fit the messages.
        TypeError, RenderError: as `Renderer.render`.
    """
    rendered = renderer.render(messages, tools=tools)
    columns = rendered.columns
    selected = _selected(messages, message_loss_mask)
    owner = columns.message_indices
    if len(owner) != len(columns):
        if role_to_mask is not None or content_sft_roles or not selected[:-1].all():
            raise ValueError("messages: the renderer does not tell which tokens are of which message")
        owner = np.zeros(len(columns), np.int32)  # they are all alike
    loss_mask = _loss_mask(columns, owner, messages, role_to_mask, content_sft_roles)
    lacks_stop = ensure_final_stop and _lacks_stop(columns, loss_mask, messages[-1], role_to_mask, renderer)
    loss_mask &= selected[owner]
    if lacks_stop:
        final = len(messages) - 1
        columns = _with_stop(columns, renderer.get_stop_token_ids()[0], final)
        loss_mask = np.append(loss_mask, selected[final])
    return RenderedTrainingSample.from_columns(
        replace(columns, loss_mask=_read_only(loss_mask)), rendered.multi_modal_data
    )


def build_trajectory_step(
    renderer: SampleRenderer,
    prompt_messages: Sequence[Message] | Sequence[Mapping[str, object]],
    completion_messages: Sequence[Message] | Sequence[Mapping[str, object]],
    *,
    tools: Tools | None = None,
) -> TrajectoryStep:
    """Render a prompt and the messages that follow it, and cut where the prompt ends.

    That is as far as the prompt, with its generation prompt, and the whole have the same ids.

    Raises:
        TypeError, ValueError, RenderError: as `Renderer.render`.
    """
    for name, given in (("prompt_messages", prompt_messages), ("completion_messages", completion_messages)):
        if not isinstance(given, (list, tuple)):
            raise TypeError(f"{name}: expected a list of messages, got {type(given).__name__}")
    prompt = renderer.render(prompt_messages, tools=tools, add_generation_prompt=bool(completion_messages))
    rendered = renderer.render([*prompt_messages, *completion_messages], tools=tools)
    n_prompt = _common_prefix(prompt.columns.token_ids, rendered.columns.token_ids)
    n_completion = len(rendered.token_ids) - n_prompt
    step = TrajectoryStep(
        prompt_ids=rendered.token_ids[:n_prompt],
        prompt_mask=[False] * n_prompt,
        completion_ids=rendered.token_ids[n_prompt:],
        completion_mask=[True] * n_completion,
        completion_logprobs=[0.0] * n_completion,
        routed_experts=None,
        sampling_mask=None,
    )
    if rendered.multi_modal_data is not None:
        step["multi_modal_data"] = rendered.multi_modal_data
    return step


def _loss_mask(
    columns: TokenColumns,
    owner: npt.NDArray[np.int32],
    messages: Messages,
    role_to_mask: Callable[[Any], bool] | None,
    content_roles: Collection[str] | None,
) -> Mask:
    """Tell which tokens are trained, all messages being selected; `owner` is the message of each."""
    loss_mask = owner >= 0
    if len(columns.sampled_mask) == len(columns):
        loss_mask &= columns.sampled_mask
    elif role_to_mask is None:
        raise ValueError("role_to_mask: needed, as the renderer does not tell which tokens are sampled")
    has_role = _with_roles(messages, content_roles)[owner]
    if role_to_mask is not None:
        # Only of messages where its answer counts: it may know no others.
        asked = np.flatnonzero(_flags(len(messages), owner[loss_mask & ~has_role])).tolist()
        chosen = [i for i in asked if role_to_mask(messages[i])]
        loss_mask &= _flags(len(messages), chosen)[owner]
    if not has_role.any():
        return loss_mask
    if len(columns.is_content) != len(columns):
        raise ValueError("content_sft_roles: the renderer does not tell which tokens are content")
    return np.where(has_role, columns.is_content, loss_mask)


def _with_roles(messages: Messages, roles: Collection[str] | None) -> Mask:
    """Flag the messages of some roles."""
    if isinstance(roles, str):
        raise TypeError("content_sft_roles: expected a collection of roles, got str")
    wanted = frozenset(roles or ())
    return _flags(len(messages), [i for i, message in enumerate(messages) if message.get("role") in wanted])


def _selected(messages: Messages, message_loss_mask: Sequence[bool | int] | Mask | None) -> Mask:
    """Flag the messages that may be trained."""
    selected = trained_messages(messages)
    if message_loss_mask is None:
        return _flags(len(messages), selected)
    if not isinstance(message_loss_mask, (list, tuple, np.ndarray)):
        raise TypeError(f"message_loss_mask: expected a list, got {type(message_loss_mask).__name__}")
    if len(message_loss_mask) != len(messages):
        raise ValueError(f"message_loss_mask: {len(message_loss_mask)} entries for {len(messages)} messages")
    for i, value in enumerate(message_loss_mask):
        if not isinstance(value, (bool, int, np.bool_, np.integer)) or value not in (0, 1):
            raise ValueError(f"message_loss_mask[{i}]: expected bool, 0 or 1, got {value!r}")
    return _flags(len(messages), [i for i in selected if message_loss_mask[i]])


def _flags(n_messages: int, messages: list[int] | npt.NDArray[np.int32]) -> Mask:
    """Give a flag a message, and a last one that no message, -1, has: False."""
    flags = np.zeros(n_messages + 1, np.bool_)
    flags[messages] = True
    return flags


def _lacks_stop(
    columns: TokenColumns,
    loss_mask: Mask,
    final: Mapping[str, object] | Message,
    role_to_mask: Callable[[Any], bool] | None,
    renderer: SampleRenderer,
) -> bool:
    """Tell whether the last trained token ought to be a stop token and is none."""
    if not len(columns.sampled_mask) or final.get("role") != "assistant":
        return False
    if role_to_mask is not None and not role_to_mask(final):
        return False
    trained = np.flatnonzero(loss_mask)
    return not len(trained) or int(columns.token_ids[trained[-1]]) not in renderer.get_stop_token_ids()


def _with_stop(columns: TokenColumns, stop: int, message: int) -> TokenColumns:
    """Append a stop token that is sampled."""
    end = dict(
        token_ids=stop, message_indices=message, fields=Field.TURN_CLOSE, sampled_mask=True, is_content=True
    )
    longer = {
        name: _read_only(np.append(column, column.dtype.type(value)))
        for name, value in end.items()
        if len(column := getattr(columns, name))
    }
    return replace(columns, **longer, byte_offsets=None)


def _common_prefix(left: npt.NDArray[np.int32], right: npt.NDArray[np.int32]) -> int:
    n = min(len(left), len(right))
    different = np.flatnonzero(left[:n] != right[:n])
    return int(different[0]) if len(different) else n


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array
