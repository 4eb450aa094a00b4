"""A rollout: the ids that were sent and sampled, kept as they are from turn to turn."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from turnloom._ids import token_id_array
from turnloom.bridge import BridgeRefusal, BridgeRefusalReason
from turnloom.drift import Observation, observe
from turnloom.parsing import ParsedResponse, tool_names
from turnloom.rendered import TokenColumns

if TYPE_CHECKING:
    from turnloom._core_types import HistoryTuple
    from turnloom._ids import TokenIds
    from turnloom.types import Messages, Tools

AnyMessage: TypeAlias = dict[str, Any]


class TokenHistory(Protocol):
    """The growing columns of a rollout; the core has one, the reference another."""

    @property
    def prompt_begin(self) -> int:
        """Where what stands between the last completion and the next one begins."""

    @property
    def completion_begin(self) -> int:
        """Where it ends."""

    def append_prompt(self, messages: object, tools: object) -> None: ...
    def append_completion(
        self, token_ids: TokenIds, logprobs: npt.NDArray[np.float32], known_tools: list[str], message: int
    ) -> None: ...
    def bridge(self, new_messages: object, first_message: int) -> tuple[str, str] | None: ...
    def columns(self) -> HistoryTuple: ...
    def token_ids(self) -> npt.NDArray[np.int32]: ...
    def restore(self, columns: HistoryTuple, prompt_begin: int, completion_begin: int) -> None: ...
    def __copy__(self) -> TokenHistory: ...


class SessionRenderer(Protocol):
    """What a session asks of its renderer."""

    @property
    def config(self) -> object: ...
    def _new_history(self) -> TokenHistory: ...
    def parse_response(
        self, token_ids: TokenIds, *, tools: Tools | None, prompt_ids: TokenIds | None
    ) -> ParsedResponse: ...


@dataclass(frozen=True, slots=True)
class BridgeResult:
    """What became of new messages. True where the session goes on with them."""

    refusal: BridgeRefusal | None
    """Why the session was left as it is; None where it goes on."""
    n_new_tokens: int = 0
    """How many tokens were appended."""

    def __bool__(self) -> bool:
        return self.refusal is None


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSample:
    """One run of ids to train on, as read-only arrays. Nothing is shifted: entry i is of token i."""

    token_ids: npt.NDArray[np.int32]
    """int32[n_tokens], up to the last one that was sampled."""
    loss_mask: npt.NDArray[np.bool_]
    """bool[n_tokens]: the token was sampled in this run."""
    logprobs: npt.NDArray[np.float32]
    """float32[n_tokens], as the sampler gave them: NaN where it gave none, 0 where nothing was sampled."""
    message_indices: npt.NDArray[np.int32]
    """int32[n_tokens]: index in the messages that the run was made of, -1 for no message."""


class Session:
    """A rollout of one conversation; made by `Renderer.session`.

    Ids that were sent or sampled never change. A turn costs what its new tokens cost. It is for one thread at
    a time.

    >>> session = renderer.session([{"role": "user", "content": "Hi"}])
    >>> session.add_completion(sampled_ids, logprobs)
    >>> if not session.add_messages([{"role": "user", "content": "And?"}]):
    ...     session.fork([{"role": "user", "content": "And?"}])
    """

    __slots__ = ("_earlier", "_has_completion", "_history", "_messages", "_renderer", "_tools")

    def __init__(self, renderer: SessionRenderer, messages: Messages, tools: Tools | None) -> None:
        self._renderer = renderer
        self._tools: Tools | None = None if tools is None else _copied(tools, "tools")
        self._earlier: list[TrainingSample] = []
        self._history: TokenHistory
        self._messages: list[AnyMessage]
        self._has_completion: bool
        self._start(_copied(messages, "messages"))

    def prompt_ids(self) -> npt.NDArray[np.int32]:
        """Return the ids to sample from, a read-only int32[n_tokens] that later turns leave as it is."""
        return self._history.token_ids()

    def __len__(self) -> int:
        return len(self.prompt_ids())

    @property
    def columns(self) -> TokenColumns:
        """The columns of all tokens since the last full render; later turns leave them as they are.

        Message indices are those of `messages`. `sampled_mask` is true of what was sampled and of what a full
        render says that a model would have sampled, `loss_mask` only of what was sampled in this session.
        """
        token_ids, message_indices, fields, sampled_mask, is_content, loss_mask, _ = self._history.columns()
        return TokenColumns(token_ids, message_indices, fields, sampled_mask, is_content, loss_mask)

    @property
    def messages(self) -> list[AnyMessage]:
        """All messages, a copy; completions as the messages that they were parsed to."""
        return copy.deepcopy(self._all_messages())

    @property
    def tools(self) -> Tools | None:
        """The tools that are offered, a copy."""
        return copy.deepcopy(self._tools)

    def add_completion(
        self, token_ids: TokenIds, logprobs: Sequence[float] | npt.NDArray[Any] | None = None
    ) -> None:
        """Append what was sampled from `prompt_ids()`: all of the turn, with its stop token if it has one.

        Args:
            logprobs: of each id.

        Raises:
            ValueError: the turn has a completion, or there are not as many log-probabilities as ids.
        """
        if self._has_completion:
            raise ValueError("token_ids: the turn has a completion already")
        ids = token_id_array(token_ids, "token_ids")
        values = _read_logprobs(logprobs, len(ids))
        self._history.append_completion(ids, values, tool_names(self._tools), len(self._messages))
        self._has_completion = True

    def parse(self) -> ParsedResponse:
        """Return the last completion as a message; see `Renderer.parse_response`.

        Raises:
            ValueError: the turn has no completion yet.
        """
        if not self._has_completion:
            raise ValueError("parse: the turn has no completion")
        ids = self._history.token_ids()
        begin, end = self._history.prompt_begin, self._history.completion_begin
        return self._renderer.parse_response(ids[end:], tools=self._tools, prompt_ids=ids[begin:end])

    def add_messages(self, new_messages: Messages) -> BridgeResult:
        """Go on with messages of users and tools: see `Renderer.bridge_to_next_turn`.

        Where that is not safe the session stays as it is, and the result has the reason: `fork` then renders
        the conversation again. With Qwen3, every new user message is such a case unless the renderer has
        `thinking_retention="all"`, since its template drops the reasoning of earlier turns.

        Raises:
            ValueError: the turn has no completion yet. An empty one is one, too.
            RenderError: something in the messages would be lost.
        """
        if not self._has_completion:
            raise ValueError("new_messages: the turn has no completion")
        n_tokens = len(self)
        sampled = self.parse().to_message()
        copied = _copied(new_messages, "new_messages")
        refusal = self._history.bridge(copied, len(self._messages) + 1)
        if refusal is not None:
            reason, detail = refusal
            return BridgeResult(BridgeRefusal(BridgeRefusalReason(reason), detail))
        self._messages += [sampled, *copied]
        self._has_completion = False
        return BridgeResult(None, len(self) - n_tokens)

    def fork(self, new_messages: Messages = (), *, messages: Messages | None = None) -> None:
        """Start a new run of ids: a full render of all messages, and of new ones behind them.

        What was sampled so far is kept as a training sample of its own, and nothing of it is trained again.

        Args:
            messages: render these instead of the messages that the session holds.

        Raises:
            RenderError, TypeError, ValueError: as `Renderer.render`. The session stays as it is.
        """
        held = self._all_messages() if messages is None else _copied(messages, "messages")
        samples = self.to_training_samples()
        self._start([*held, *_copied(new_messages, "new_messages")])
        self._earlier = samples

    def observe(self, messages: Messages) -> Observation:
        """Compare a history that came back from outside with the messages of this session.

        It is clean if it extends them; the messages behind them are then `new_messages`. Ids that a scaffold
        gave to sampled calls are no difference. Linear in the history.
        """
        return observe(self._all_messages(), messages)

    def to_training_samples(self) -> list[TrainingSample]:
        """Return a sample for every run of ids in which something was sampled, in order.

        Every sampled token is in exactly one of them, trained once.
        """
        token_ids, message_indices, _, _, _, loss_mask, logprobs = self._history.columns()
        end = len(token_ids) if self._has_completion else self._history.prompt_begin
        sample = TrainingSample(token_ids[:end], loss_mask[:end], logprobs[:end], message_indices[:end])
        return [*self._earlier, sample] if sample.loss_mask.any() else list(self._earlier)

    def __copy__(self) -> Session:
        copied = object.__new__(type(self))
        for name in self.__slots__:
            setattr(copied, name, getattr(self, name))
        copied._history = copy.copy(self._history)
        copied._messages = list(self._messages)
        copied._earlier = list(self._earlier)
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Session:
        # What it holds is never changed, so a copy that shares it is as deep as any.
        return copy.copy(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Session):
            return NotImplemented
        return (
            self._renderer.config == other._renderer.config
            and self._tools == other._tools
            and self._has_completion == other._has_completion
            and self._all_messages() == other._all_messages()
            and _same_arrays(self._history.columns(), other._history.columns())
            and len(self._earlier) == len(other._earlier)
            and all(
                _same_arrays(_arrays(ours), _arrays(theirs))
                for ours, theirs in zip(self._earlier, other._earlier, strict=True)
            )
        )

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __getstate__(self) -> dict[str, Any]:
        history = self._history
        return {
            "renderer": self._renderer,
            "tools": self._tools,
            "messages": self._messages,
            "has_completion": self._has_completion,
            "columns": history.columns(),
            "begins": (history.prompt_begin, history.completion_begin),
            "earlier": [_arrays(sample) for sample in self._earlier],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._renderer = state["renderer"]
        self._tools = state["tools"]
        self._messages = state["messages"]
        self._has_completion = state["has_completion"]
        self._history = self._renderer._new_history()
        self._history.restore(state["columns"], *state["begins"])
        self._earlier = [TrainingSample(*map(_read_only, arrays)) for arrays in state["earlier"]]

    def __repr__(self) -> str:
        n_messages = len(self._messages) + self._has_completion
        return f"<Session of {n_messages} messages and {len(self)} tokens>"

    def _start(self, messages: list[AnyMessage]) -> None:
        history = self._renderer._new_history()
        history.append_prompt(messages, self._tools)
        self._history = history
        self._messages = messages
        self._has_completion = False

    def _all_messages(self) -> list[AnyMessage]:
        if not self._has_completion:
            return self._messages
        return [*self._messages, self.parse().to_message()]


def _copied(items: object, argument: str) -> list[Any]:
    """Copy what is kept, so that the caller may change what was passed. What the items are is checked later.

    Raises:
        TypeError: it is no list, or holds something that cannot be copied.
        ValueError: it is nested too deep.
    """
    if not isinstance(items, (list, tuple)):
        raise TypeError(
            f"{argument}: expected a list of {argument.rpartition('_')[2]}, got {type(items).__name__}"
        )
    copied = []
    for i, item in enumerate(items):
        try:
            copied.append(copy.deepcopy(item))
        except RecursionError:
            raise ValueError(f"{argument}[{i}]: nested too deep to be kept") from None
        except Exception as error:
            raise TypeError(f"{argument}[{i}]: cannot be copied: {error}") from error
    return copied


def _read_logprobs(logprobs: object, n_ids: int) -> npt.NDArray[np.float32]:
    if logprobs is None:
        return np.full(n_ids, np.nan, np.float32)
    if not isinstance(logprobs, (list, tuple, np.ndarray)):
        raise TypeError(f"logprobs: expected list, tuple or 1-D array, got {type(logprobs).__name__}")
    try:
        given = np.asarray(logprobs)
    except ValueError as error:
        raise TypeError(f"logprobs: expected numbers ({error})") from None
    if given.dtype.kind not in "fiu" and given.size:
        raise TypeError(f"logprobs: expected numbers, got dtype {given.dtype}")
    if given.ndim != 1:
        raise TypeError(f"logprobs: expected a 1-D array, got {given.ndim} dimensions")
    if len(given) != n_ids:
        raise ValueError(f"logprobs: {len(given)} entries for {n_ids} ids")
    with np.errstate(over="ignore"):
        values = np.ascontiguousarray(given, np.float32)
    # Minus infinity is the logarithm of nothing.
    if (is_none := np.isnan(values) | np.isposinf(values)).any():
        position = int(is_none.argmax())
        raise ValueError(f"logprobs[{position}]: expected a log-probability, got {given[position]}")
    return values


def _arrays(sample: TrainingSample) -> tuple[npt.NDArray[Any], ...]:
    return sample.token_ids, sample.loss_mask, sample.logprobs, sample.message_indices


def _same_arrays(ours: Sequence[npt.NDArray[Any]], theirs: Sequence[npt.NDArray[Any]]) -> bool:
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(ours, theirs, strict=True))


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array
