"""The tokens of a rollout: a prompt, what was sampled from it, what was appended to that, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turnloom._ids import TokenIds, token_id_array
from turnloom.bridge import BridgeRefusal
from turnloom.reference.parsing.completion import leaves_reasoning_open
from turnloom.reference.parsing.fields import completion_fields
from turnloom.rendered import TokenColumns

if TYPE_CHECKING:
    from turnloom._core_types import HistoryTuple
    from turnloom.reference.renderer import Renderer

Array = npt.NDArray[Any]


class TokenHistory:
    """Columns that only grow."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        nothing = np.empty(0)
        dtypes = (np.int32, np.int32, np.uint8, np.bool_, np.bool_, np.bool_, np.float32)
        self._columns: list[Array] = [nothing.astype(dtype) for dtype in dtypes]
        self._is_attributed = True
        self.prompt_begin = 0
        """Where what stands between the last completion and the next one begins."""
        self.completion_begin = 0

    def append_prompt(self, messages: object, tools: object) -> None:
        """Render a whole conversation and the generation prompt."""
        rendered = self._renderer.render(messages, tools=tools, add_generation_prompt=True)
        self._append_rendered(rendered.columns, 0)

    def append_completion(
        self,
        token_ids: TokenIds,
        logprobs: npt.NDArray[np.float32],
        known_tools: Sequence[str],
        message: int,
    ) -> None:
        """Append what the model sampled for a message."""
        ids = token_id_array(token_ids, "token_ids")
        format = self._renderer._format
        prompt = self._columns[0][self.prompt_begin : self.completion_begin].tolist()
        fields = completion_fields(
            format,
            ids.tolist(),
            starts_in_reasoning=leaves_reasoning_open(format, prompt),
            known_tools=known_tools,
        )
        n = len(ids)
        sampled = np.ones(n, np.bool_)
        self._append(ids, np.full(n, message), np.array(fields), sampled, sampled, sampled, logprobs)

    def bridge(self, new_messages: object, first_message: int) -> tuple[str, str] | None:
        """Go on with messages, or give the reason and the detail of a refusal."""
        ids = self._columns[0].tolist()
        prompt = ids[self.prompt_begin : self.completion_begin]
        completion = ids[self.completion_begin :]
        outcome = self._renderer._extend(prompt, completion, new_messages, allow_trim=False)
        if isinstance(outcome, BridgeRefusal):
            return outcome.reason, outcome.detail
        self._append_rendered(outcome[1].columns, first_message)
        return None

    def columns(self) -> HistoryTuple:
        """Give token ids, message indices, fields, sampled mask, is content, loss mask, logprobs."""
        columns = list(self._columns)
        if not self._is_attributed:
            columns[2:5] = [column[:0] for column in columns[2:5]]
        for column in columns:
            column.setflags(write=False)
        return tuple(columns)  # type: ignore[return-value]

    def token_ids(self) -> npt.NDArray[np.int32]:
        """Give the ids."""
        return self.columns()[0]

    def restore(self, columns: HistoryTuple, prompt_begin: int, completion_begin: int) -> None:
        """Take the columns of another history."""
        n = len(columns[0])
        self._is_attributed = n == 0 or len(columns[2]) > 0
        self._columns = [column if len(column) == n else np.zeros(n, column.dtype) for column in columns]
        self.prompt_begin = prompt_begin
        self.completion_begin = completion_begin

    def __copy__(self) -> TokenHistory:
        copied = TokenHistory(self._renderer)
        copied.__dict__.update(self.__dict__)
        return copied

    def _append_rendered(self, columns: TokenColumns, first_message: int) -> None:
        n = len(columns)
        indices = columns.message_indices
        unknown = np.zeros(n, np.uint8)
        if len(columns.fields) != n:
            self._is_attributed = False
        self.prompt_begin = len(self._columns[0])
        self._append(
            columns.token_ids,
            np.where(indices < 0, indices, indices + first_message),
            columns.fields if self._is_attributed else unknown,
            columns.sampled_mask if self._is_attributed else unknown,
            columns.is_content if self._is_attributed else unknown,
            unknown,
            unknown,
        )
        self.completion_begin = len(self._columns[0])

    def _append(self, *added: Array) -> None:
        self._columns = [
            np.concatenate([column, more.astype(column.dtype)])
            for column, more in zip(self._columns, added, strict=True)
        ]
