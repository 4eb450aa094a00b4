"""Checks of arguments that several calls share."""


def thread_count(threads: int | None) -> int:
    """Return how many threads to run on.

    Raises:
        TypeError: `threads` is no int.
        ValueError: it is less than 1.
    """
    if threads is None:
        return 1
    if not isinstance(threads, int) or isinstance(threads, bool):
        raise TypeError(f"threads: expected int or None, got {type(threads).__name__}")
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, got {threads}")
    return threads


def int_from(value: object, place: str, *, lowest: int, highest: int) -> int:
    """Return an int argument that lies in a range, ends included.

    Raises:
        TypeError: it is no int.
        ValueError: it is out of the range.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{place}: expected int, got {type(value).__name__}")
    if not lowest <= value <= highest:
        raise ValueError(f"{place}: expected an int from {lowest} to {highest}, got {value}")
    return value
