"""Rows of JSONL and Parquet files, one at a time and in constant memory."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types

from turnloom.data.errors import InputError, ReadError

EXTENSIONS = (".jsonl", ".jsonl.gz", ".parquet")

# A batch of Parquet rows is decoded at once; the file's own average decides how many rows that may be.
_PARQUET_BATCH_BYTES = 4 << 20
_PARQUET_BATCH_ROWS = 1024


@dataclass(frozen=True, slots=True)
class Row:
    """One row of an input, or what was wrong with it."""

    line: int
    """1-based line of a JSONL file, 0-based row of a Parquet file."""
    value: dict[str, Any] | Exception
    carried: dict[str, Any]
    """Where carried columns are found: Arrow scalars of a Parquet file, the whole object of a JSONL line."""
    n_bytes: int
    """About how much input the row was."""
    position: int
    """Bytes of the file on disk that are read so far."""


def file_kind(path: Path) -> str:
    """Return "jsonl" or "parquet".

    Raises:
        InputError: the extension is neither.
    """
    name = path.name.lower()
    if name.endswith((".jsonl", ".jsonl.gz")):
        return "jsonl"
    if name.endswith(".parquet"):
        return "parquet"
    raise InputError(f"{path}: unknown extension; readable are {', '.join(EXTENSIONS)}")


def check_input(path: Path) -> None:
    """Open an input and close it again, so that a job fails before it starts.

    Raises:
        InputError: missing, a folder, unreadable, an unknown extension, or a Parquet file without `messages`.
    """
    kind = file_kind(path)
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if not path.is_file():
        raise InputError(f"{path}: not a file")
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if kind == "parquet":
        names = parquet_schema(path).names
        if "messages" not in names:
            raise InputError(f"{path}: no column 'messages'; its columns are {', '.join(names)}")
        for name in ("messages", "tools"):
            if names.count(name) > 1:
                raise InputError(f"{path}: {names.count(name)} columns {name!r}")


def parquet_schema(path: Path) -> Any:
    """Return the Arrow schema of a Parquet file.

    Raises:
        InputError: it is not a Parquet file.
    """
    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file: {error}") from error


def read_rows(path: Path, carry: Sequence[str] = ()) -> Iterator[Row]:
    """Yield every row of a file in order.

    Of a Parquet file only `messages`, `tools` and the columns of `carry` are read.

    Raises:
        ReadError: the file breaks off or is damaged somewhere after its start.
    """
    try:
        yield from _jsonl_rows(path) if file_kind(path) == "jsonl" else _parquet_rows(path, carry)
    except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
        raise ReadError(f"{path}: cannot be read on: {error}") from error


def _jsonl_rows(path: Path) -> Iterator[Row]:
    with path.open("rb") as raw, _decompressed(path, raw) as lines:
        # Iterating a binary file splits at "\n" only; str.splitlines would also split at U+2028 and others.
        for line, text in enumerate(lines, start=1):
            if line == 1:
                text = text.removeprefix(b"\xef\xbb\xbf")
            if text.strip(b" \t\r\n"):
                value = _parse_object(text)
                yield Row(line, value, value if isinstance(value, dict) else {}, len(text), raw.tell())


def _decompressed(path: Path, raw: IO[bytes]) -> AbstractContextManager[Iterable[bytes]]:
    return gzip.GzipFile(fileobj=raw) if path.name.lower().endswith(".gz") else nullcontext(raw)


def _parse_object(text: bytes) -> dict[str, Any] | Exception:
    try:
        value = json.loads(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        return ValueError(f"row: not UTF-8 at byte {error.start}: {error.reason}")
    except (ValueError, RecursionError) as error:
        return ValueError(f"row: not JSON: {json_problem(error)}")
    if not isinstance(value, dict):
        return TypeError(f"row: expected a JSON object, got {type(value).__name__}")
    return value


def json_problem(error: Exception) -> str:
    """Say what json.loads disliked, in one line."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _parquet_rows(path: Path, carry: Sequence[str]) -> Iterator[Row]:
    size = path.stat().st_size
    # A buffer instead of whole column chunks keeps memory independent of the size of the row groups.
    with pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False) as file:
        schema = file.schema_arrow
        parsed = {
            name: _null_field_dropper(schema.field(name).type)
            for name in ("messages", "tools")
            if name in schema.names
        }
        n_rows = max(file.metadata.num_rows, 1)
        n_bytes = sum(file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups))
        batch_size = min(max(_PARQUET_BATCH_BYTES * n_rows // max(n_bytes, 1), 1), _PARQUET_BATCH_ROWS)
        line = 0
        for batch in file.iter_batches(batch_size, columns=list(dict.fromkeys([*parsed, *carry]))):
            row_bytes = batch.nbytes // max(batch.num_rows, 1) + 1
            for i in range(batch.num_rows):
                value: dict[str, Any] | Exception
                try:
                    value = {
                        name: drop_nulls(batch.column(name)[i].as_py(maps_as_pydicts="strict"))
                        for name, drop_nulls in parsed.items()
                    }
                except (ValueError, KeyError) as error:  # text that is not UTF-8, a map with a key twice
                    value = ValueError(f"row: cannot be read: {error}")
                carried = {name: batch.column(name)[i] for name in carry}
                yield Row(line, value, carried, row_bytes, size * (line + 1) // n_rows)
                line += 1


def _null_field_dropper(type_: Any) -> Callable[[Any], Any]:
    """Return a function that removes null fields of structs from a value of an Arrow type.

    All rows of a Parquet column share one struct, so a key that a row never had reads as null: an argument or
    a tool's property would appear out of nowhere. Real nulls need a map or a JSON string.
    """
    if types.is_struct(type_):
        fields = [(field.name, _null_field_dropper(field.type)) for field in type_]
        return lambda value: (
            value and {name: drop(value[name]) for name, drop in fields if value[name] is not None}
        )
    if types.is_map(type_):
        drop = _null_field_dropper(type_.item_type)
        return lambda value: value and {key: drop(item) for key, item in value.items()}
    if types.is_list(type_) or types.is_large_list(type_) or types.is_fixed_size_list(type_):
        drop = _null_field_dropper(type_.value_type)
        return lambda value: value and [drop(item) for item in value]
    return lambda value: value
