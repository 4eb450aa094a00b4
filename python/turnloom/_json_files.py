"""JSON objects in files, with errors that name the file."""

import json
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]


def read_json(path: str) -> JsonObject:
    """Read a file that holds one JSON object; the errors are those of `parse_json` and `open`."""
    with open(path, "rb") as file:
        return parse_json(file.read(), repr(path))


def parse_json(content: bytes, shown: str) -> JsonObject:
    """Read one JSON object.

    Args:
        shown: what errors call it.

    Raises:
        ValueError: it is none.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"source: {shown} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ValueError(f"source: {shown} is not a JSON object")
    return document
