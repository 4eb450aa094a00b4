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
