"""The Parquet output: row groups of a sensible size from batches of any size."""

from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

# Large enough to be read quickly, small enough that a few of them fit in memory.
_ROW_GROUP_BYTES = 32 << 20


class TableWriter:
    """Write rows to an open file; the Parquet footer is written by `close`."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        self._schema = schema
        self._writer = pq.ParquetWriter(file, schema, compression="zstd")
        self._waiting: list[Any] = []
        self._waiting_bytes = 0

    def write(self, arrays: Sequence[Any]) -> None:
        """Add rows, one array a column of the schema."""
        table = pa.Table.from_arrays(list(arrays), schema=self._schema)
        self._waiting.append(table)
        self._waiting_bytes += table.nbytes
        if self._waiting_bytes >= _ROW_GROUP_BYTES:
            self._write_row_group()

    def close(self) -> None:
        """Write what is waiting, and the footer."""
        if self._waiting:
            self._write_row_group()
        self._writer.close()

    def abandon(self) -> None:
        """Let go of the file without caring what is in it; after `close`, do nothing."""
        # An open ParquetWriter closes itself when it is deleted, and complains if the file is closed by then.
        with suppress(OSError, pa.ArrowException):
            self._writer.close()
        self._writer.is_open = False

    def _write_row_group(self) -> None:
        table = pa.concat_tables(self._waiting)
        self._writer.write_table(table, row_group_size=max(len(table), 1))
        self._waiting, self._waiting_bytes = [], 0
