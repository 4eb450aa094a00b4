"""The main job: files of conversations in, one Parquet file of tokens out."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, Self

import pyarrow as pa

from turnloom.data.atomic import AtomicFile
from turnloom.data.carried import CarriedColumns
from turnloom.data.checks import check_job, errors_path
from turnloom.data.columns import (
    COLUMN_TYPES,
    DEFAULT_COLUMNS,
    SOURCE_COLUMNS,
    TOKEN_COLUMNS,
    is_available,
    kept_offsets,
    token_arrays,
)
from turnloom.data.conversations import conversation
from turnloom.data.errors import BadRow, BadRowError, InputError
from turnloom.data.readers import Row, read_rows
from turnloom.data.writer import TableWriter
from turnloom.renderer import Renderer

# A batch ends at this much input or at `batch_rows` rows, whichever comes first.
_BATCH_BYTES = 2 << 20


@dataclass(slots=True)
class JobCounts:
    """What a job has done so far."""

    rows: int = 0
    """Rows in the output."""
    errors: int = 0
    """Bad rows, which are not in the output."""
    tokens: int = 0
    trained_tokens: int = 0
    """Tokens whose loss mask is set."""
    untrained_rows: int = 0
    """Rows in the output without a trained token."""
    input_bytes: int = 0
    """Bytes of the inputs, as they are on disk, that were read."""
    seconds: float = 0.0


class _Source(NamedTuple):
    """A row and the input it is from."""

    input: str
    row: Row


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    tools: Sequence[Any] | None
    add_generation_prompt: bool
    threads: int | None
    strict: bool


def render_files(
    renderer: Renderer,
    inputs: Sequence[Path],
    output: Path,
    *,
    columns: Sequence[str] = DEFAULT_COLUMNS,
    carry: Sequence[str] = (),
    tools: Sequence[Any] | None = None,
    add_generation_prompt: bool = False,
    threads: int | None = None,
    batch_rows: int = 1024,
    strict: bool = False,
    metadata: Mapping[str, str] | None = None,
    on_progress: Callable[[JobCounts], None] | None = None,
) -> JobCounts:
    """Render every row of some JSONL or Parquet files into one Parquet file.

    Memory does not grow with the inputs. The output appears when it is complete; after any failure an output
    that was there before is as it was. Bad rows are left out of it and listed in `<output>.errors.jsonl`,
    which exists only if there are any.

    Args:
        columns: names out of `turnloom.data.COLUMNS`.
        carry: columns of the inputs to copy.
        tools: the tools of rows that have none of their own (absent or null).
        metadata: added to the output's schema.
        on_progress: called after every batch; the counts are not to be kept.

    Raises:
        InputError: a path or a column that cannot be used, or one that the tokenizer cannot give.
        BadRowError: the first bad row, if `strict`.
        ReadError: an input that breaks off.
    """
    carried = check_job(inputs, output, columns, carry)
    settings = _Settings(
        tools=tools, add_generation_prompt=add_generation_prompt, threads=threads, strict=strict
    )
    bad_rows = errors_path(output)
    with (
        AtomicFile(output) as tokens_file,
        AtomicFile(bad_rows) as errors_file,
        _Job(renderer, columns, carried, settings, metadata or {}, tokens_file, errors_file) as job,
    ):
        for batch in _batches(inputs, carry, batch_rows, job.counts):
            job.add(batch)
            if on_progress:
                on_progress(job.counts)
        job.finish()
        tokens_file.commit()
        if job.counts.errors:
            errors_file.commit()
        else:
            bad_rows.unlink(missing_ok=True)  # of an earlier run
    return job.counts


def _batches(
    inputs: Sequence[Path], carry: Sequence[str], batch_rows: int, counts: JobCounts
) -> Iterator[list[_Source]]:
    batch: list[_Source] = []
    n_bytes = finished_bytes = 0
    for path in inputs:
        name = os.fsencode(path).decode("utf-8", "replace")  # a file's name need not be text
        for row in read_rows(path, carry):
            batch.append(_Source(name, row))
            n_bytes += row.n_bytes
            counts.input_bytes = finished_bytes + row.position
            if len(batch) >= batch_rows or n_bytes >= _BATCH_BYTES:
                yield batch
                batch, n_bytes = [], 0
        finished_bytes += path.stat().st_size
    if batch:
        yield batch


class _Job:
    """The state between batches."""

    def __init__(
        self,
        renderer: Renderer,
        columns: Sequence[str],
        carried: CarriedColumns,
        settings: _Settings,
        metadata: Mapping[str, str],
        tokens_file: AtomicFile,
        errors_file: AtomicFile,
    ) -> None:
        self.counts = JobCounts()
        self._renderer = renderer
        self._columns = columns
        self._token_columns = [name for name in columns if name in TOKEN_COLUMNS]
        self._carried = carried
        self._settings = settings
        self._metadata = metadata
        self._tokens_file = tokens_file
        self._errors_file = errors_file
        self._writer: TableWriter | None = None
        self._started = perf_counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._writer:
            self._writer.abandon()

    def add(self, batch: Sequence[_Source]) -> None:
        """Render a batch, write its rows, note its bad ones."""
        writer = self._opened(batch)
        bad: dict[int, Exception] = {}
        sound: list[int] = []
        conversations, tools, carried = [], [], []
        for i, (_, row) in enumerate(batch):
            try:
                messages, row_tools = conversation(row)
                carried.append(self._carried.values(row))
            except (TypeError, ValueError) as error:
                bad[i] = error
                continue
            sound.append(i)
            conversations.append(messages)
            tools.append(self._settings.tools if row_tools is None else row_tools)
        own_tools = any(row_tools is not self._settings.tools for row_tools in tools)
        tokens = self._renderer.render_batch(
            conversations,
            tools=None if own_tools else self._settings.tools,
            tools_per_row=tools if own_tools else None,
            add_generation_prompt=self._settings.add_generation_prompt,
            threads=self._settings.threads,
            on_error="collect",
            byte_offsets="byte_offsets" in self._columns,
        )
        for name in self._token_columns:
            if not is_available(tokens.columns, name):
                raise InputError(f"columns: {name!r} is not available, as the tokenizer gives no offsets")
        bad.update((sound[row], error) for row, error in tokens.errors)
        self._note(batch, bad)
        kept, offsets = kept_offsets(tokens)
        for rows, arrays in token_arrays(tokens.columns, offsets, self._token_columns):
            named = dict(zip(self._token_columns, arrays, strict=True))
            sources = [batch[sound[row]] for row in kept[rows]]
            named["input"] = pa.array([source.input for source in sources], SOURCE_COLUMNS["input"])
            named["line"] = pa.array([source.row.line for source in sources], SOURCE_COLUMNS["line"])
            writer.write(
                [named[name] for name in self._columns]
                + self._carried.arrays([carried[row] for row in kept[rows]])
            )
        self.counts.rows += len(kept)
        self.counts.tokens += len(tokens.columns.token_ids)
        self.counts.trained_tokens += int(tokens.columns.loss_mask.sum())
        if is_available(tokens.columns, "loss_mask"):
            self.counts.untrained_rows += len(tokens.untrained_rows)
        self.counts.seconds = perf_counter() - self._started

    def finish(self) -> None:
        """Write what is waiting; an empty job still gives a file with every column."""
        self._opened([]).close()
        self.counts.seconds = perf_counter() - self._started

    def _opened(self, batch: Sequence[_Source]) -> TableWriter:
        if self._writer is None:  # the types of carried JSON columns wait for the first rows
            self._carried.decide_types([row for _, row in batch])
            fields = [pa.field(name, COLUMN_TYPES[name]) for name in self._columns]
            schema = pa.schema([*fields, *self._carried.schema_fields()], dict(self._metadata))
            self._writer = TableWriter(self._tokens_file.file, schema)
        return self._writer

    def _note(self, batch: Sequence[_Source], bad: Mapping[int, Exception]) -> None:
        for i in sorted(bad):
            record = BadRow.from_exception(batch[i].input, batch[i].row.line, bad[i])
            if self._settings.strict:
                raise BadRowError(record) from bad[i]
            # Left to ASCII: a reason may quote a lone surrogate.
            self._errors_file.file.write(json.dumps(asdict(record)).encode() + b"\n")
        self.counts.errors += len(bad)
