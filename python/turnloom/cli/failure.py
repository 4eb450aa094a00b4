"""How a command ends early."""

from enum import IntEnum
from typing import NoReturn

import typer


class ExitCode(IntEnum):
    """Exit codes of the command line; 0 is success."""

    FAILED = 1
    USAGE = 2
    BAD_ROWS = 3
    """Finished, and some rows are in the errors file."""
    INTERRUPTED = 130


def fail(message: str, code: ExitCode = ExitCode.USAGE) -> NoReturn:
    """End the command with one line on stderr."""
    typer.echo(f"turnloom: {message}", err=True)
    raise typer.Exit(int(code))
