"""Arrow string arrays, taken and given through Arrow's C data interface: no Arrow package is needed."""

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias, TypeGuard

from turnloom import _core


class ArrowArray(Protocol):
    """An array of any Arrow package, such as a `pyarrow.StringArray`."""

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...


class ChunkedArrowArray(Protocol):
    """A `pyarrow.ChunkedArray`, such as a column of a table."""

    @property
    def chunks(self) -> list[Any]: ...
    @property
    def type(self) -> Any: ...


ArrowStrings: TypeAlias = ArrowArray | ChunkedArrowArray
"""An Arrow array of type string or large_string."""


def is_arrow(strings: object) -> TypeGuard[ArrowStrings]:
    """Say whether an object is an Arrow array, of whatever type."""
    return hasattr(strings, "__arrow_c_array__") or _is_chunked(strings)


def chunks_of(strings: ArrowStrings) -> Iterator[tuple[int, ArrowArray]]:
    """Give each contiguous part and the row that it begins at."""
    if not _is_chunked(strings):
        yield 0, strings  # type: ignore[misc]  # what is not chunked is an array
        return
    first_row = 0
    for chunk in strings.chunks:
        yield first_row, chunk
        first_row += len(chunk)


def conform_arrow(format: _core.ToolCallIdFormat, ids: ArrowStrings) -> ArrowStrings:
    """Conform an array; the result is of the caller's package if that is pyarrow."""
    conformed = [format.conform_arrow(chunk) for _, chunk in chunks_of(ids)]
    if not _is_of_pyarrow(ids):
        return conformed[0]
    import pyarrow

    arrays = [pyarrow.array(chunk) for chunk in conformed]
    if _is_chunked(ids):
        return pyarrow.chunked_array(arrays, type=ids.type)  # type: ignore[no-any-return]
    return arrays[0]  # type: ignore[no-any-return]


def _is_chunked(strings: object) -> TypeGuard[ChunkedArrowArray]:
    return _is_of_pyarrow(strings) and hasattr(strings, "chunks")


def _is_of_pyarrow(strings: object) -> bool:
    return type(strings).__module__.partition(".")[0] == "pyarrow"
