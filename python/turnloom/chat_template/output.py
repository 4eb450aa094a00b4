"""The text of one rendering as it grows, and what wrote it."""

from __future__ import annotations

from collections.abc import Generator

from turnloom.chat_template.messages import Message
from turnloom.chat_template.meter import Meter, exceeded

NO_MESSAGE = -1


class Output:
    """The text so far."""

    __slots__ = (
        "_index_of_message",
        "_meter",
        "_n_chars",
        "_pieces",
        "generation_spans",
        "visited",
        "writers",
    )

    def __init__(self, meter: Meter, messages: list[Message]) -> None:
        self._meter = meter
        self._index_of_message = {id(message): index for index, message in enumerate(messages)}
        self._n_chars = 0
        self._pieces: list[str] = []
        self.visited = NO_MESSAGE
        """The message that is the item of the innermost loop over messages."""
        self.writers: list[tuple[int, int]] = []
        """From which character on which message was visited."""
        self.generation_spans: list[tuple[int, str]] = []
        """Where each `{% generation %}` block begins, unless it is captured, and its text."""

    def visit(self, item: object, outer: int) -> None:
        """Begin a turn of a loop; `outer` is what was visited around the loop."""
        self.visited = self._index_of_message.get(id(item), outer)

    def extend(self, pieces: Generator[object, None, None]) -> None:
        """Write pieces as they are made.

        Raises:
            TypeError: a piece is no text, as what a `{% filter %}` block gives need not be.
        """
        limit = self._meter.limits.output_chars
        for piece in pieces:
            if not isinstance(piece, str):
                error = TypeError(f"expected text to write, got {type(piece).__name__}")
                pieces.throw(error)  # where the template writes it, which gives the error its line
                raise error
            if not self.writers or self.writers[-1][1] != self.visited:
                self.writers.append((self._n_chars, self.visited))
            self._pieces.append(piece)
            self._n_chars += len(piece)
            if self._n_chars > limit:
                raise exceeded("output_chars", limit, "characters of output")

    def begin_generation(self, text: str) -> None:
        """Note a `{% generation %}` block that is about to be written."""
        self.generation_spans.append((self._n_chars, text))

    def text(self) -> str:
        """Return all of it."""
        return "".join(self._pieces)
