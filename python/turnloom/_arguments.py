"""Checks of arguments that several calls share."""

from collections.abc import Mapping, Sequence, Sized

import numpy as np

_MOST_THREADS = 2**31 - 1


def thread_count(threads: int | None) -> int:
    """Return how many threads to run on.

    Raises:
        TypeError: `threads` is no int.
        ValueError: it is less than 1, or more than any system has.
    """
    if threads is None:
        return 1
    if not isinstance(threads, int) or isinstance(threads, bool):
        raise TypeError(f"threads: expected int or None, got {type(threads).__name__}")
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, got {threads}")
    if threads > _MOST_THREADS:
        raise ValueError(f"threads: expected at most {_MOST_THREADS}, got {threads}")
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


def is_trained(train: object, place: object) -> bool:
    """Return what the `train` of a message says, which data sets have as a bool or as 0 and 1; None is True.

    Raises:
        TypeError: it is no bool and no int.
        ValueError: it is another int.
    """
    if train is None:
        return True
    if not isinstance(train, int):
        raise TypeError(f"{place}: expected bool, 0 or 1, got {type(train).__name__}")
    if train not in (0, 1):
        raise ValueError(f"{place}: expected bool, 0 or 1, got another int")
    return bool(train)


def trained_messages(messages: Sequence[Mapping[str, object]], argument: str = "messages") -> list[int]:
    """Return the indices of the messages whose `train` does not take them out.

    Raises:
        TypeError, ValueError: a `train` is no bool, 0 or 1.
    """
    return [
        index
        for index, message in enumerate(messages)
        if is_trained(message.get("train"), f"{argument}[{index}].train")
    ]


def check_rows(conversations: Sized, tools: object, tools_per_row: Sized | None, on_error: str) -> None:
    """Check the arguments of `render_batch` that are about its rows.

    Raises:
        TypeError, ValueError: one is of a wrong type, or does not go with another.
    """
    if not isinstance(conversations, (list, tuple)):
        raise TypeError(f"conversations: expected list or tuple, got {type(conversations).__name__}")
    if tools_per_row is not None:
        if tools is not None:
            raise ValueError("tools_per_row: cannot be combined with tools")
        if not isinstance(tools_per_row, (list, tuple)):
            raise TypeError(f"tools_per_row: expected list or tuple, got {type(tools_per_row).__name__}")
        if len(tools_per_row) != len(conversations):
            raise ValueError(f"tools_per_row: {len(tools_per_row)} entries for {len(conversations)} rows")
    if on_error not in ("raise", "collect"):
        raise ValueError(f"on_error: expected 'raise' or 'collect', got {on_error!r}")


def check_completions(completions: Sized, prompts: Sized | None) -> None:
    """Check the arguments of `parse_batch` that are about its rows.

    Raises:
        TypeError, ValueError: one is of a wrong type, or they have different lengths.
    """
    if not isinstance(completions, (list, tuple)):
        raise TypeError(f"completions: expected list or tuple, got {type(completions).__name__}")
    if prompts is not None and not isinstance(prompts, (list, tuple)):
        raise TypeError(f"prompts: expected list or tuple, got {type(prompts).__name__}")
    if prompts is not None and len(prompts) != len(completions):
        raise ValueError(f"prompts: {len(prompts)} entries for {len(completions)} completions")


def check_text_format(format: object, add_generation_prompt: object) -> None:
    """Check the options of a text format; whether there is such a format is not known here.

    Raises:
        TypeError: one of them has a wrong type.
    """
    if not isinstance(format, str):
        raise TypeError(f"format: expected str, got {type(format).__name__}")
    if add_generation_prompt is not None and not isinstance(add_generation_prompt, bool):
        raise TypeError(
            f"add_generation_prompt: expected bool or None, got {type(add_generation_prompt).__name__}"
        )


def check_flags(**flags: object) -> None:
    """Check arguments that switch something; numbers and None do not.

    Raises:
        TypeError: one of them is no bool.
    """
    for name, value in flags.items():
        if value is not True and value is not False and not isinstance(value, np.bool_):
            raise TypeError(f"{name}: expected bool, got {type(value).__name__}")
