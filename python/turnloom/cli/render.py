"""`turnloom render`: files of conversations to a Parquet file of tokens."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import typer

from turnloom.cli import options
from turnloom.cli.chat_format import config_from, renderer_from, tokenizer_from, tools_from
from turnloom.cli.failure import ExitCode, fail

EPILOG = """Training data, with a column carried along:

```
turnloom render a.jsonl b.jsonl.gz -o out.parquet \\
    -t path/to/model -f qwen3 --carry id
```

Prompts to sample from, thinking off:

```
turnloom render a.jsonl -o out.parquet -t path/to/model -f qwen3 \\
    --add-generation-prompt --option enable_thinking=false
```

The very ids of transformers' apply_chat_template:

```
turnloom render a.jsonl -o out.parquet -t path/to/model -f qwen3 \\
    --marker-policy all --on-loss template
```
"""


def render(
    inputs: options.Inputs,
    output: options.Output,
    tokenizer: options.TokenizerSource,
    family: options.Family = None,
    option: options.Fields = None,
    tools: options.Tools = None,
    marker_policy: options.MarkerPolicy = None,
    on_loss: options.OnLoss = None,
    add_generation_prompt: options.GenerationPrompt = False,
    columns: options.Columns = None,
    carry: options.Carry = None,
    strict: options.Strict = False,
    threads: options.Threads = 1,
    batch_rows: options.BatchRows = 1024,
) -> None:
    """Render conversations to a Parquet file of tokens.

    Inputs are .jsonl, .jsonl.gz and .parquet files. A row has `messages` and may have `tools`, as lists or as
    JSON text.

    A bad row does not end the job: it is left out of OUT and listed in OUT.errors.jsonl with its line, its
    place and the reason. OUT appears when it is complete.

    Exit codes: 0 every row was rendered, 3 some rows were bad, 1 the job failed, 2 wrong path or option.
    """
    from turnloom.cli.progress import print_summary, progress_bar
    from turnloom.data import BadRowError, InputError, ReadError, check_job, errors_path, render_files
    from turnloom.data.metadata import OutputMetadata

    names = _column_names(columns)
    try:
        check_job(inputs, output, names, carry or [])
    except InputError as error:
        fail(str(error))
    row_tools = tools_from(tools) if tools else None
    loaded = tokenizer_from(tokenizer)
    config = config_from(loaded, family, option or [], marker_policy, on_loss)
    renderer = renderer_from(loaded, tokenizer, config)
    try:
        with _exit_on_terminate(), progress_bar(sum(path.stat().st_size for path in inputs)) as on_progress:
            counts = render_files(
                renderer,
                inputs,
                output,
                columns=names,
                carry=carry or [],
                tools=row_tools,
                add_generation_prompt=add_generation_prompt,
                threads=threads,
                batch_rows=batch_rows,
                strict=strict,
                metadata=OutputMetadata.of_job(config, tokenizer, add_generation_prompt).to_schema(),
                on_progress=on_progress,
            )
    except KeyboardInterrupt:
        fail("interrupted; nothing was written", ExitCode.INTERRUPTED)
    except BadRowError as error:
        fail(f"{error} (--strict: nothing was written)", ExitCode.FAILED)
    except (ReadError, OSError, OverflowError) as error:
        fail(f"{error}; nothing was written", ExitCode.FAILED)
    print_summary(counts)
    if counts.untrained_rows and not add_generation_prompt:
        typer.echo(f"turnloom: rows without a trained token: {counts.untrained_rows:,}", err=True)
    if counts.errors:
        typer.echo(f"turnloom: the bad rows are listed in {errors_path(output)}", err=True)
        raise typer.Exit(int(ExitCode.BAD_ROWS))


def _column_names(columns: str | None) -> list[str]:
    from turnloom.data import COLUMNS, DEFAULT_COLUMNS

    if columns is None:
        return list(DEFAULT_COLUMNS)
    return list(COLUMNS) if columns == "all" else [name.strip() for name in columns.split(",")]


@contextmanager
def _exit_on_terminate() -> Iterator[None]:
    """Clean up when the job is ended by its scheduler, as after Ctrl-C."""

    def exit_(number: int, frame: FrameType | None) -> NoReturn:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, exit_)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
