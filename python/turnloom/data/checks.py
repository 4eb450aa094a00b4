"""What must hold before a job starts."""

from collections.abc import Sequence
from pathlib import Path

from turnloom.data.carried import CarriedColumns
from turnloom.data.columns import COLUMNS
from turnloom.data.errors import InputError
from turnloom.data.readers import check_input


def errors_path(output: Path) -> Path:
    """Return where the bad rows of a job go: the output's name with `.errors.jsonl` behind it."""
    return output.with_name(output.name + ".errors.jsonl")


def check_job(
    inputs: Sequence[Path], output: Path, columns: Sequence[str], carry: Sequence[str]
) -> CarriedColumns:
    """Check everything about a job that can be known before it starts.

    Raises:
        InputError: naming the path or the column that is wrong.
    """
    _check_columns(columns, carry)
    _check_files(inputs, output)
    return CarriedColumns(carry, inputs)


def _check_files(inputs: Sequence[Path], output: Path) -> None:
    if not inputs:
        raise InputError("inputs: no files")
    for path in inputs:
        check_input(path)
    if output.suffix.lower() != ".parquet":
        raise InputError(f"{output}: the output is a Parquet file, so its name must end in .parquet")
    if not output.parent.is_dir():
        raise InputError(f"{output}: no such folder: {output.parent}")
    for written in (output, errors_path(output)):
        if written.exists() and not written.is_file():
            raise InputError(f"{written}: exists and is not a file")
        if written.exists() and any(written.samefile(path) for path in inputs):
            raise InputError(f"{written}: is an input, and would be overwritten")


def _check_columns(columns: Sequence[str], carry: Sequence[str]) -> None:
    if not columns:
        raise InputError(f"columns: none given; known are {', '.join(COLUMNS)}")
    for name in columns:
        if name not in COLUMNS:
            raise InputError(f"columns: unknown column {name!r}; known are {', '.join(COLUMNS)}")
    names = [*columns, *carry]
    for name in names:
        if names.count(name) > 1:
            kind = "columns" if name not in carry else "carry"
            raise InputError(f"{kind}: the output would have two columns {name!r}")
