"""Reasoning that stands in the content of a message, between `<think>` and `</think>`."""

OPEN, CLOSE = "<think>", "</think>"


def split_think_block(text: str) -> tuple[str, str]:
    """Give reasoning and content, as the templates of Qwen3 and those after it split them.

    Reasoning is what stands before the first close, and after the last open before that; content is what
    stands after the last close. Newlines around both go.
    """
    if CLOSE not in text:
        return "", text
    parts = text.split(CLOSE)
    return parts[0].rstrip("\n").split(OPEN)[-1].lstrip("\n"), parts[-1].lstrip("\n")


def think_block_loses_text(text: str) -> bool:
    """Tell whether that split drops anything but white space."""
    before, close, after = text.partition(CLOSE)
    unread = before.rpartition(OPEN)[0].strip()
    return bool(close) and (bool(unread) or CLOSE in after)
