"""Where in the caller's input a value stands, for error messages."""


class Place:
    """A path such as `messages[1].tool_calls[0].function.arguments['a'][2]`, put together when printed."""

    __slots__ = ("_parent", "_step")

    def __init__(self, argument: str) -> None:
        self._parent: Place | None = None
        self._step = argument

    def field(self, name: str) -> "Place":
        """Give the place of a named field of this value."""
        return self._child(f".{name}")

    def index(self, index: int) -> "Place":
        """Give the place of an item of this list."""
        return self._child(f"[{index}]")

    def key(self, key: object) -> "Place":
        """Give the place of the value under a key of this dict."""
        return self._child(f"[{key!r}]")

    def _child(self, step: str) -> "Place":
        child = Place(step)
        child._parent = self
        return child

    def __str__(self) -> str:
        steps = []
        place: Place | None = self
        while place is not None:
            steps.append(place._step)
            place = place._parent
        return "".join(reversed(steps))


def read_string(value: object, place: Place) -> str:
    """Give a str that can be written as UTF-8.

    Raises:
        TypeError: not a str.
        ValueError: it holds a lone surrogate.
    """
    if not isinstance(value, str):
        raise TypeError(f"{place}: expected str, got {type(value).__name__}")
    # The text itself: a subclass, such as an enum, may print something else.
    text = str.__str__(value)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code_point = ord(text[error.start])
        raise ValueError(f"{place}: lone surrogate U+{code_point:04X} at character {error.start}") from None
    return text
