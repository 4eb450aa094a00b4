"""From a chat template to columns: text, which message its parts belong to, and tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from turnloom.chat_template import ChatTemplate
from turnloom.chat_template.attribution import Bounds, message_bounds
from turnloom.chat_template.messages import cut_at_mark
from turnloom.chat_template.output import NO_MESSAGE
from turnloom.chat_template.rendering import Rendering, Request
from turnloom.rendered import TokenColumns
from turnloom.token_spans import token_spans

if TYPE_CHECKING:
    from turnloom.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class AttributedText:
    """A rendered conversation before it is encoded. Positions are in characters."""

    text: str
    bounds: Bounds | None
    """From where on the text belongs to which message; None where that is not certain."""
    generated: list[tuple[int, int]] | None
    """What the template marks as generated, half-open; None where it does not say."""


def attributed_text(template: ChatTemplate, request: Request) -> AttributedText:
    """Render once, and once more without the generation prompt if there is one, to tell it apart."""
    rendering = template.runner.run(request)
    text = cut_at_mark(rendering.text, request.final_text)
    bounds = message_bounds(rendering, request.messages)
    if bounds is not None and request.add_generation_prompt:
        bounds = _without_generation_prompt(bounds, text, template, request)
    if bounds is not None:
        bounds = [(begin, index) for begin, index in bounds if begin < len(text)]
    return AttributedText(text, bounds, _generated(rendering, len(text)))


def _without_generation_prompt(
    bounds: Bounds, text: str, template: ChatTemplate, request: Request
) -> Bounds | None:
    history = template.runner.run(replace(request, add_generation_prompt=False)).text
    if text.startswith(history):
        return [*bounds[: bisect_left(bounds, (len(history), NO_MESSAGE))], (len(history), NO_MESSAGE)]
    # The history ends in another way. What was written behind the loop over messages is of no message.
    return bounds if bounds[-1][1] == NO_MESSAGE else None


def _generated(rendering: Rendering, end: int) -> list[tuple[int, int]] | None:
    if rendering.generation_spans is None:
        return None
    spans = []
    behind = 0
    for begin, text in rendering.generation_spans:
        # A block inside a macro, say, is written later than it ends.
        if begin < behind or not rendering.text.startswith(text, begin):
            return None
        behind = begin + len(text)
        spans.append((min(begin, end), min(behind, end)))
    return spans


def to_columns(tokenizer: Tokenizer, attributed: AttributedText, *, byte_offsets: bool) -> TokenColumns:
    """Encode a text. What is not known of its tokens is empty."""
    ids = tokenizer.encode_array(attributed.text)
    wanted = byte_offsets or attributed.bounds is not None or attributed.generated is not None
    spans = token_spans(tokenizer, attributed.text, ids) if wanted else None
    indices = np.empty(0, np.int32)
    sampled = np.empty(0, np.bool_)
    if spans is not None and attributed.bounds is not None:
        indices = _message_indices(spans, attributed.text, attributed.bounds)
    if spans is not None and attributed.generated is not None:
        sampled = _sampled_mask(spans, attributed.text, attributed.generated)
    for array in (indices, sampled):
        array.setflags(write=False)
    return TokenColumns(
        token_ids=ids,
        message_indices=indices,
        fields=np.empty(0, np.uint8),
        sampled_mask=sampled,
        is_content=np.empty(0, np.bool_),
        loss_mask=sampled,
        byte_offsets=spans if byte_offsets else None,
    )


def _message_indices(spans: NDArray[np.int64], text: str, bounds: Bounds) -> NDArray[np.int32]:
    """Give each token the message that its first byte belongs to."""
    begins = _byte_positions(text, [begin for begin, _ in bounds])
    # In front of the first bound there is nothing.
    indices = np.array([NO_MESSAGE, *(index for _, index in bounds)], np.int32)
    return indices[np.searchsorted(begins, spans[:, 0], side="right")]


def _sampled_mask(
    spans: NDArray[np.int64], text: str, generated: Sequence[tuple[int, int]]
) -> NDArray[np.bool_]:
    """Choose the tokens that have a byte in what was generated."""
    mask = np.zeros(len(spans), np.bool_)
    positions = _byte_positions(text, [position for span in generated for position in span])
    for begin, end in positions.reshape(-1, 2):
        first = np.searchsorted(spans[:, 1], begin, side="right")
        mask[first : np.searchsorted(spans[:, 0], end, side="left")] = True
    return mask


def _byte_positions(text: str, positions: Iterable[int]) -> NDArray[np.int64]:
    """Return where characters begin in the UTF-8 of a text, for ascending positions."""
    n_bytes = behind = 0
    byte_positions = []
    for position in positions:
        n_bytes += len(text[behind:position].encode())
        behind = position
        byte_positions.append(n_bytes)
    return np.array(byte_positions, np.int64)


def roles_of(messages: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the role of each message, "" where it has none."""
    return [role if isinstance(role := message.get("role"), str) else "" for message in messages]
