"""`turnloom families`: the chat formats that are known."""

from typing import Annotated

import typer

from turnloom.cli.chat_format import tokenizer_from
from turnloom.cli.failure import ExitCode


def families(
    tokenizer: Annotated[
        str | None,
        typer.Option("--tokenizer", "-t", metavar="T", help="Say which of them the model of T has, and why."),
    ] = None,
) -> None:
    """List the chat formats, the models that have them, and what can be done with each.

    With --tokenizer: exit code 0 if the format of its model is known, else 1.
    """
    from turnloom.families import describe

    if tokenizer is None:
        _print_families()
        return
    description = describe(tokenizer_from(tokenizer))
    typer.echo(str(description))
    if description.found_by == "nothing":
        raise typer.Exit(int(ExitCode.FAILED))


def _print_families() -> None:
    from turnloom.families import ABILITIES, known_families

    typer.echo(f"Every family can: {', '.join(ABILITIES)}.")
    typer.echo("Models whose chat template is one of these are known whatever their names are.")
    for known in known_families():
        variant = "".join(f", {name}={value!r}" for name, value in known.fields.items())
        typer.echo(f"\n{known.name}{variant}")
        for model in known.models:
            typer.echo(f"    {model}")
