"""Which message each part of a rendered text belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from turnloom.chat_template.messages import Message
from turnloom.chat_template.output import NO_MESSAGE
from turnloom.chat_template.rendering import Rendering

Bounds = list[tuple[int, int]]
"""From which character on the text belongs to which message, -1 for none; ascending."""

_MAX_SEARCHES = 100
"""Of the whole text, so that the work stays linear."""


def message_bounds(rendering: Rendering, messages: Sequence[Message]) -> Bounds | None:
    """Return which message each part of the text belongs to, or None where that is not certain.

    A part belongs to the message that the template's loop over the messages was at when it was written. What
    stands before the loop belongs to the first message if the loop leaves that out, as templates do with a
    system message that they write at the top. It is certain if each message has one part, in their order, and
    no message's text stands outside of its own part only.
    """
    bounds = list(rendering.writers)
    indices = [index for _, index in bounds if index != NO_MESSAGE]
    if bounds and bounds[0][1] == NO_MESSAGE and 0 not in indices:
        bounds[0] = (0, 0)
        indices.insert(0, 0)
    if not all(earlier < later for earlier, later in pairwise(indices)):
        return None
    return bounds if _texts_are_in_place(bounds, rendering.text, messages) else None


def _texts_are_in_place(bounds: Bounds, text: str, messages: Sequence[Message]) -> bool:
    parts = [""] * len(messages)
    for (begin, index), (end, _) in pairwise([*bounds, (len(text), NO_MESSAGE)]):
        if index != NO_MESSAGE:
            parts[index] = text[begin:end]
    n_searches = 0
    for part, message in zip(parts, messages, strict=True):
        for own in _texts(message):
            if own in part:
                continue
            n_searches += 1
            if n_searches > _MAX_SEARCHES or own in text:
                return False
    return True


def _texts(message: Message) -> list[str]:
    content = message.get("content")
    parts = content if isinstance(content, (list, tuple)) else [{"text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return [stripped for text in texts if isinstance(text, str) and (stripped := text.strip())]
