"""One row of an output, read back."""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from turnloom.data.errors import InputError
from turnloom.data.metadata import OutputMetadata
from turnloom.data.readers import parquet_schema
from turnloom.rendered import Field

_FIELDS = frozenset(int(field) for field in Field)


@dataclass(frozen=True, slots=True)
class StoredRow:
    """Tokens of a row; None for what the file does not have."""

    index: int
    token_ids: list[int]
    message_indices: list[int] | None
    trained: list[bool] | None
    """The loss mask, else the sampled mask."""
    fields: list[int] | None
    input: str | None
    line: int | None
    metadata: OutputMetadata


def read_stored_row(path: Path, index: int) -> StoredRow:
    """Read one row; only its row group is loaded.

    Raises:
        InputError: no readable Parquet file with token ids, or no such row, or one that is no row of tokens.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    schema = parquet_schema(path)
    if "token_ids" not in schema.names:
        raise InputError(f"{path}: no column 'token_ids'; its columns are {', '.join(schema.names)}")
    names = ("token_ids", "message_indices", "loss_mask", "sampled_mask", "fields", "input", "line")
    try:
        with pq.ParquetFile(path) as file:
            n_rows = file.metadata.num_rows
            if not 0 <= index < n_rows:
                known = f"rows 0 to {n_rows - 1}" if n_rows else "no rows"
                raise InputError(f"--row {index}: {path} has {known}")
            groups = range(file.metadata.num_row_groups)
            starts = list(accumulate((file.metadata.row_group(i).num_rows for i in groups), initial=0))
            group = bisect_right(starts, index) - 1
            table = file.read_row_group(group, [name for name in names if name in schema.names])
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    values: dict[str, Any] = table.slice(index - starts[group], 1).to_pylist()[0]
    _check_columns(values, f"{path}: row {index}")
    return StoredRow(
        index=index,
        token_ids=values["token_ids"],
        message_indices=values.get("message_indices"),
        trained=values.get("loss_mask", values.get("sampled_mask")),
        fields=values.get("fields"),
        input=values.get("input"),
        line=values.get("line"),
        metadata=OutputMetadata.of_schema(schema),
    )


def _check_columns(values: dict[str, Any], place: str) -> None:
    """Check that a row is what `turnloom render` writes; the file may be another's."""
    checks: dict[str, Callable[[object], bool]] = {
        "token_ids": lambda value: type(value) is int and 0 <= value < 2**31,
        "message_indices": lambda value: type(value) is int,
        "loss_mask": lambda value: type(value) is bool,
        "sampled_mask": lambda value: type(value) is bool,
        "fields": lambda value: value in _FIELDS,
    }
    n_tokens: int | None = None
    for name, is_sound in checks.items():
        column = values.get(name)
        if column is None and name != "token_ids":
            continue
        if not isinstance(column, list):
            raise InputError(f"{place}: {name}: expected a list, got {type(column).__name__}")
        for position, value in enumerate(column):
            if not is_sound(value):
                raise InputError(f"{place}: {name}[{position}]: cannot be {value!r}")
        n_tokens = len(column) if n_tokens is None else n_tokens
        if len(column) != n_tokens:
            raise InputError(f"{place}: {name}: {len(column)} entries for {n_tokens} tokens")
