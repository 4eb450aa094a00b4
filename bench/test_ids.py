"""Tool-call ids, hashes and searches as pytest-benchmark rows; `ids_table.py` measures them side by side."""

from typing import Any

import pytest

from ids_rows import Row, rows

ROWS = rows()


@pytest.mark.parametrize("side", ["baseline", "ours"])
@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_ids(benchmark: Any, row: Row, side: str) -> None:
    benchmark.group = row.name
    row.check(row.ours(), row.baseline())
    benchmark(row.ours if side == "ours" else row.baseline)
