"""`turnloom show`: one conversation of an output, in the terminal."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from turnloom.cli.chat_format import tokenizer_from
from turnloom.cli.failure import fail


def show(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="What `turnloom render` wrote.", show_default=False)
    ],
    row: Annotated[int, typer.Option("--row", "-r", metavar="N", help="The row, counted from 0.")] = 0,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            "--tokenizer", "-t", metavar="T", help="By default the one that FILE says it was made with."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Print the first N tokens only.")
    ] = None,
) -> None:
    """Print one conversation, coloured by message, with the trained tokens underlined.

    Where the output is no terminal, trained text stands between {+ and +} instead.
    """
    from turnloom.cli.conversation_text import print_conversation
    from turnloom.data.errors import InputError
    from turnloom.data.stored_row import read_stored_row

    try:
        stored = read_stored_row(file, row)
    except InputError as error:
        fail(str(error))
    source = tokenizer or stored.metadata.tokenizer
    if not source:
        fail(f"{file}: does not say which tokenizer it was made with; give --tokenizer")
    if hasattr(sys.stdout, "reconfigure"):  # a code page may lack what models write
        sys.stdout.reconfigure(errors="backslashreplace")
    print_conversation(stored, tokenizer_from(source), file.name, limit)
