"""The conversation in a row: its messages and its tools."""

import json
from typing import Any

from turnloom.data.readers import Row, json_problem


def conversation(row: Row) -> tuple[Any, Any]:
    """Return a row's messages and tools; None for no tools.

    Either may be JSON text, as it often is in Parquet. What is in them is for the renderer to judge.

    Raises:
        TypeError, ValueError: the row could not be read, has no messages, or its JSON text is none.
    """
    if isinstance(row.value, Exception):
        raise row.value
    if row.value.get("messages") is None:
        raise ValueError("messages: missing")
    return _parsed(row.value["messages"], "messages"), _parsed(row.value.get("tools"), "tools")


def _parsed(value: Any, place: str) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place}: not JSON: {json_problem(error)}") from None
