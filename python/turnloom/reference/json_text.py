"""JSON-like values in tools, arguments and content parts: reading them, and the texts templates print."""

import json

from turnloom.reference.place import Place, read_string

Json = dict["JsonKey", "Json"] | list["Json"] | str | int | float | None
JsonKey = str | int | float | None  # bool is an int

MAX_LEVELS = 500


def read_json(value: object, place: Place) -> Json:
    """Copy a value into plain dicts, lists and scalars: what its subclasses print is no one's format.

    Raises:
        TypeError: an object or a key that JSON has no form for.
        ValueError: a lone surrogate, an integer longer than Python prints, more than 500 levels (a cycle).
    """
    return _read(value, place, place, 0)


def _read(value: object, place: Place, root: Place, n_levels: int) -> Json:
    if isinstance(value, dict | list | tuple):
        if n_levels == MAX_LEVELS:
            raise ValueError(f"{root}: nested deeper than {MAX_LEVELS} levels")
        # Loops, for a comprehension costs a second frame a level, and Python has but a thousand.
        if isinstance(value, dict):
            members: dict[JsonKey, Json] = {}
            for key, item in value.items():
                read_key = _read_key(key, place)
                members[read_key] = _read(item, place.key(key), root, n_levels + 1)
            return members
        items: list[Json] = []
        for index, item in enumerate(value):
            items.append(_read(item, place.index(index), root, n_levels + 1))
        return items
    if value is None or isinstance(value, str | int | float):
        return _read_scalar(value, place)
    raise TypeError(f"{place}: Object of type {type(value).__name__} is not JSON serializable")


def _read_key(key: object, place: Place) -> JsonKey:
    if key is None or isinstance(key, str | int | float):
        return _read_scalar(key, place)
    raise TypeError(f"{place}: keys must be str, int, float, bool or None, not {type(key).__name__}")


def _read_scalar(value: str | int | float | None, place: Place) -> JsonKey:
    match value:
        case None | bool():
            return value
        case str():
            return read_string(value, place)
        case float():
            return float.__float__(value)
    try:
        int.__repr__(value)
    except ValueError as error:  # more digits than sys.get_int_max_str_digits()
        raise ValueError(f"{place}: {error}") from None
    return int.__int__(value)


def json_text(
    value: Json,
    *,
    indent: int | None = None,
    item_separator: str | None = None,
    key_separator: str | None = None,
) -> str:
    """Print a value as the `tojson` filter of chat templates does."""
    if item_separator is None:
        item_separator = ", " if indent is None else ","
    separators = (item_separator, ": " if key_separator is None else key_separator)
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)


def python_repr(value: Json) -> str:
    """Print a value as a template does that writes it without a filter."""
    return repr(value)
