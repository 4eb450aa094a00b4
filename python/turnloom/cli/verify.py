"""`turnloom verify`: the user's own conversations through every side."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turnloom.cli import options
from turnloom.cli.chat_format import config_from, renderer_from, tokenizer_from, tools_from
from turnloom.cli.failure import ExitCode, fail

if TYPE_CHECKING:
    from turnloom.configs import KnownConfig
    from turnloom.data import Row
    from turnloom.tokenizer import Tokenizer
    from turnloom.verification import Outcome
    from turnloom.verification.sides import Side

EPILOG = """The conversations of a data set, for the model that they are for:

```
turnloom verify a.jsonl b.parquet -t path/to/model
```
"""

_BAD_ROWS_SHOWN = 5


def verify(
    inputs: options.Inputs,
    tokenizer: options.TokenizerSource,
    family: options.Family = None,
    option: options.Fields = None,
    tools: options.Tools = None,
    marker_policy: options.MarkerPolicy = None,
    on_loss: options.OnLoss = None,
    add_generation_prompt: options.GenerationPrompt = False,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Compare the first N rows only.")
    ] = None,
    with_transformers: Annotated[
        bool,
        typer.Option(
            "--transformers/--no-transformers", help="Compare with transformers, too, where it is installed."
        ),
    ] = True,
) -> None:
    """Check that conversations are rendered as they should be.

    Each row is rendered by the core, by the reference in Python, by the model's own chat template (as Jinja
    runs it, encoded by the tokenizers package), and by transformers where that is installed. Texts, token ids
    and columns are compared. It ends at the first difference, and prints where it is.

    Templates know no marker policy: with them the core is compared as `marker_policy="all"` and
    `on_loss="template"` render.

    Exit codes: 0 all is equal, 1 something differs, 2 wrong path or option, bad rows, or nothing to compare.
    """
    from turnloom.data import ReadError
    from turnloom.data.conversations import conversation
    from turnloom.verification import Verifier

    if hasattr(sys.stdout, "reconfigure"):  # a code page may lack what conversations have
        sys.stdout.reconfigure(errors="backslashreplace")
    _check_inputs(inputs)
    row_tools = tools_from(tools) if tools else None
    loaded = tokenizer_from(tokenizer)
    config = config_from(loaded, family, option or [], marker_policy, on_loss)
    renderer_from(loaded, tokenizer, config)
    sides = _sides(loaded, tokenizer, config, with_transformers)
    verifier = Verifier(loaded, config, sides, add_generation_prompt=add_generation_prompt)
    summary = _Summary()
    try:
        for place, row in _rows(inputs, limit):
            try:
                messages, own_tools = conversation(row)
                outcome = verifier.check(messages, row_tools if own_tools is None else own_tools)
            except (TypeError, ValueError) as error:
                summary.add_bad_row(place, error)
                continue
            if outcome.difference is not None:
                typer.echo(f"{place}: {outcome.difference}")
                raise typer.Exit(int(ExitCode.FAILED))
            summary.add(place, outcome)
    except (ReadError, OSError) as error:
        fail(str(error))
    summary.print(["reference", *(side.name for side in sides)])
    if summary.n_bad or not summary.n_equal:
        raise typer.Exit(int(ExitCode.USAGE))


def _check_inputs(inputs: list[Path]) -> None:
    from turnloom.data import InputError
    from turnloom.data.readers import check_input

    try:
        for path in inputs:
            check_input(path)
    except InputError as error:
        fail(str(error))


def _rows(inputs: list[Path], limit: int | None) -> Iterator[tuple[str, Row]]:
    from turnloom.data import read_rows

    n_rows = 0
    for path in inputs:
        for row in read_rows(path):
            if n_rows == limit:
                return
            n_rows += 1
            yield f"{path}:{row.line}", row


def _sides(tokenizer: Tokenizer, source: str, config: KnownConfig, with_transformers: bool) -> list[Side]:
    from turnloom.hub import is_model_name, model_folder
    from turnloom.verification import TemplateSide, TransformersSide
    from turnloom.verification.sides import template_variables

    variables = template_variables(config)
    sides: list[Side] = []
    if tokenizer.chat_template is None:
        _note("the tokenizer has no chat template, so the reference is all there is to compare with")
        return sides
    try:
        sides.append(TemplateSide(tokenizer, variables))
    except ValueError as error:
        fail(f"--tokenizer {source}: {error}")
    folder = source if os.path.exists(source) or not is_model_name(source) else model_folder(source)
    if with_transformers and os.path.isdir(folder):
        try:
            sides.append(TransformersSide(folder, variables))
        except ImportError:
            pass
        except ValueError as error:
            _note(f"not compared with transformers: {error}")
    return sides


def _note(text: str) -> None:
    typer.echo(f"turnloom: {text}", err=True)


@dataclass(slots=True)
class _Summary:
    """What came of all rows, and the first row of each kind that is worth a line."""

    n_equal: int = 0
    n_bad: int = 0
    n_tokens: int = 0
    n_bytes: int = 0
    notes: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Kind -> how many rows, and the first of them."""

    def add(self, place: str, outcome: Outcome) -> None:
        self.n_equal += bool(outcome.equal_to)
        self.n_tokens += outcome.n_tokens
        self.n_bytes += outcome.n_bytes
        if outcome.refusal is not None:
            self._note("are refused with this config", f"{place}: {outcome.refusal}")
        if outcome.failure is not None:
            self._note(
                "make a chat template fail, and are not compared with it", f"{place}: {outcome.failure}"
            )
        if outcome.spells_markers:
            self._note("spell control tokens, which are text here and tokens for a template", place)

    def add_bad_row(self, place: str, error: Exception) -> None:
        self.n_bad += 1
        if self.n_bad <= _BAD_ROWS_SHOWN:
            _note(f"{place}: {error}")

    def _note(self, kind: str, example: str) -> None:
        count, first = self.notes.get(kind, (0, example))
        self.notes[kind] = (count + 1, first)

    def print(self, sides: list[str]) -> None:
        typer.echo(f"{self.n_equal:,} rows equal, {self.n_tokens:,} tokens, {self.n_bytes:,} bytes")
        typer.echo(f"compared with: {', '.join(sides)}")
        for kind, (count, first) in self.notes.items():
            typer.echo(f"rows that {kind}: {count:,}; first: {first}")
        if self.n_bad:
            _note(f"{self.n_bad:,} bad rows")
