"""Files of conversations in, Parquet files of tokens out. Needs the `cli` extra."""

from turnloom.data.checks import check_job, errors_path
from turnloom.data.columns import COLUMNS, DEFAULT_COLUMNS
from turnloom.data.errors import BadRow, BadRowError, InputError, ReadError
from turnloom.data.job import JobCounts, render_files
from turnloom.data.readers import Row, read_rows

__all__ = [
    "COLUMNS",
    "DEFAULT_COLUMNS",
    "BadRow",
    "BadRowError",
    "InputError",
    "JobCounts",
    "ReadError",
    "Row",
    "check_job",
    "errors_path",
    "read_rows",
    "render_files",
]
