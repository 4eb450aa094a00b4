"""Columns of the input that are carried over to the output."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from turnloom.data.errors import InputError
from turnloom.data.readers import Row, file_kind, parquet_schema


def _is_int(value: object) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63


def _is_number(value: object) -> bool:
    return type(value) is float or (type(value) is int and -(2**53) <= value <= 2**53)


# Types that a column of JSON values can have: the first that takes all of them, else it is JSON text.
_JSON_TYPES: Sequence[tuple[Any, Callable[[object], bool]]] = (
    (pa.bool_(), lambda value: type(value) is bool),
    (pa.int64(), _is_int),
    (pa.float64(), _is_number),
    (pa.string(), lambda value: type(value) is str),
)


class CarriedColumns:
    """Carried columns of a job: their types, and the arrays of a batch.

    From Parquet a column keeps its type. JSON values have none, so the first batch decides: bool, int64,
    float64 or string if all its values fit, JSON text otherwise.
    """

    def __init__(self, names: Sequence[str], inputs: Sequence[Path]) -> None:
        """Find the types that Parquet inputs give.

        Raises:
            InputError: a Parquet input without the column or with another type than the input before, or
                inputs of both kinds.
        """
        self.names = names
        self._types: dict[str, Any] = {}
        self._fits: dict[str, Callable[[object], bool]] = {}
        if names and len({file_kind(path) for path in inputs}) > 1:
            raise InputError("carried columns need inputs of one kind, all JSONL or all Parquet")
        for path in inputs if names and file_kind(inputs[0]) == "parquet" else ():
            self._add_schema(path)

    def _add_schema(self, path: Path) -> None:
        schema = parquet_schema(path)
        for name in self.names:
            if name not in schema.names:
                raise InputError(
                    f"{path}: no column {name!r} to carry; its columns are {', '.join(schema.names)}"
                )
            type_ = schema.field(name).type
            if self._types.setdefault(name, type_) != type_:
                raise InputError(
                    f"{path}: column {name!r} is {type_}, but {self._types[name]} in another input"
                )

    def decide_types(self, rows: Sequence[Row]) -> None:
        """Give the columns that have no type yet the type of these rows' values."""
        for name in self.names:
            if name not in self._types:
                values = [value for row in rows if (value := row.carried.get(name)) is not None]
                for type_, fits in _JSON_TYPES:
                    if values and all(map(fits, values)):
                        self._types[name], self._fits[name] = type_, fits
                        break
                else:
                    self._types[name] = pa.string()

    def schema_fields(self) -> list[Any]:
        """Return the Arrow fields, once every type is decided."""
        return [pa.field(name, self._types[name]) for name in self.names]

    def values(self, row: Row) -> list[Any]:
        """Return a row's values, one a column.

        Raises:
            ValueError: a JSON value that the column's type cannot hold.
        """
        return [self._value(name, row.carried.get(name)) for name in self.names]

    def _value(self, name: str, value: Any) -> Any:
        if value is None or isinstance(value, pa.Scalar):
            return value
        if name not in self._fits:
            value = json.dumps(value, ensure_ascii=False)
        elif not self._fits[name](value):
            raise ValueError(
                f"{name}: {value!r:.80} is not {self._types[name]}, as the column's first values were"
            )
        if type(value) is str:
            _check_text(name, value)
        return value

    def arrays(self, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Return one Arrow array a column."""
        columns = zip(*rows, strict=True) if rows else ((),) * len(self.names)
        return [
            _array(list(values), self._types[name]) for name, values in zip(self.names, columns, strict=True)
        ]


def _check_text(name: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        raise ValueError(f"{name}: lone surrogate U+{code:04X} at character {error.start}") from error


def _array(values: list[Any], type_: Any) -> Any:
    if pa.types.is_null(type_):  # pyarrow builds no null array from scalars
        return pa.nulls(len(values))
    return pa.array(values, type=type_)
