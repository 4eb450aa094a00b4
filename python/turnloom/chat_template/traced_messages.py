"""The list of messages as a template sees it, with a record of when it looks at which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import SupportsIndex, TypeAlias

Message: TypeAlias = dict[str, object]


class Reading:
    """How far a template had written when it first looked at each message.

    As long as a template looks at messages in their order, and at nothing that tells of later ones, such as
    their number, what it has written is what it would have written without the later ones.
    """

    def __init__(self, n_messages: int, position: Callable[[], int]) -> None:
        self.n_messages = n_messages
        self.begins: list[int] = []
        """For each message looked at, where the output stood."""
        self.in_order = True
        """No message was looked at before one that precedes it, nor was their number known."""
        self._position = position

    def look_at(self, index: int) -> None:
        """Note that a message is looked at."""
        if index == len(self.begins):
            self.begins.append(self._position())
        elif index > len(self.begins):
            self.in_order = False

    def look_at_number(self) -> None:
        """Note that the template learns how many messages there are, if it does not know all of them."""
        if len(self.begins) < self.n_messages:
            self.in_order = False


class TracedMessages(list[Message]):
    """A list that notes what is looked at; otherwise as any list.

    Code in C that takes a list by its fields, as `json` and `+` do, goes past the methods: who hands one to
    such code calls `all_messages` before.
    """

    __slots__ = ("_first", "_reading")

    def __init__(self, messages: list[Message], reading: Reading, first: int = 0) -> None:
        super().__init__(messages)
        self._reading = reading
        self._first = first

    def all_messages(self) -> list[Message]:
        """Return the messages as a list, noting that all are looked at."""
        self._reading.look_at_number()
        return list(super().__iter__())

    def __iter__(self) -> Iterator[Message]:
        for index, message in enumerate(super().__iter__(), self._first):
            self._reading.look_at(index)
            yield message
        self._reading.look_at_number()

    def __reversed__(self) -> Iterator[Message]:
        return reversed(self.all_messages())

    def __len__(self) -> int:
        self._reading.look_at_number()
        return super().__len__()

    def __bool__(self) -> bool:
        # Of the whole list this tells nothing, there is always a message; of its end it tells whether there
        # is one more.
        if not self._first:
            return super().__len__() > 0
        return len(self) > 0

    def __contains__(self, message: object) -> bool:
        return message in self.all_messages()

    def __eq__(self, other: object) -> bool:
        return self.all_messages() == other

    def __ne__(self, other: object) -> bool:
        return self.all_messages() != other

    __hash__ = None  # as of any list

    def __getitem__(self, index: SupportsIndex | slice) -> Message | list[Message]:  # type: ignore[override]
        if isinstance(index, slice):
            return self._slice(index)
        position = index.__index__()
        if 0 <= position < super().__len__():
            self._reading.look_at(self._first + position)
        else:
            self._reading.look_at_number()
        return super().__getitem__(position)

    def _slice(self, index: slice) -> list[Message]:
        start = 0 if index.start is None else index.start
        is_rest = index.stop is None and index.step in (None, 1) and isinstance(start, int) and start >= 0
        if not is_rest or start > super().__len__():
            return self.all_messages()[index]
        return TracedMessages(super().__getitem__(slice(start, None)), self._reading, self._first + start)
