"""The progress bar of a job, and its summary."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from turnloom.data import JobCounts


@contextmanager
def progress_bar(total_bytes: int) -> Iterator[Callable[[JobCounts], None]]:
    """Show a bar on stderr while the block runs; nothing when stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda counts: None
        return
    columns = (
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=total_bytes)

        def update(counts: JobCounts) -> None:
            description = f"{counts.rows:,} rows, {tokens_per_second(counts):,} tokens/s"
            if counts.errors:
                description += f", {counts.errors:,} bad"
            progress.update(task, completed=counts.input_bytes, description=description)

        yield update


def print_summary(counts: JobCounts) -> None:
    """Print what a finished job did."""
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right")
    table.add_row("rows", f"{counts.rows:,}")
    table.add_row("tokens", f"{counts.tokens:,}")
    table.add_row("trained tokens", f"{counts.trained_tokens:,}")
    table.add_row("errors", f"{counts.errors:,}")
    table.add_row("seconds", f"{counts.seconds:.2f}")
    table.add_row("tokens per second", f"{tokens_per_second(counts):,}")
    Console(highlight=False).print(table)


def tokens_per_second(counts: JobCounts) -> int:
    """Return the speed of the whole job, reading and writing included."""
    return int(counts.tokens / counts.seconds) if counts.seconds else 0
