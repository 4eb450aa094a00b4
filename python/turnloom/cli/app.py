"""The commands and the help of `turnloom`."""

from typing import Annotated

import typer

from turnloom.cli.families import families
from turnloom.cli.render import EPILOG, render
from turnloom.cli.show import show
from turnloom.cli.verify import EPILOG as VERIFY_EPILOG
from turnloom.cli.verify import verify

_HELP = """Chat messages to the exact token ids a model was trained on.

Every token says which message and which part of it it is from, and whether to train on it.
"""

_EPILOG = """Try it with the tokenizer that comes along:

```
turnloom render examples/chats.jsonl -o chats.parquet -t builtin -f qwen3
turnloom show chats.parquet --row 0
```

`turnloom COMMAND --help` says more.
"""

app = typer.Typer(
    help=_HELP,
    epilog=_EPILOG,
    rich_markup_mode="markdown",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(epilog=EPILOG, no_args_is_help=True)(render)
app.command(no_args_is_help=True)(show)
app.command(epilog=VERIFY_EPILOG, no_args_is_help=True)(verify)
app.command()(families)


def _print_version(wanted: bool) -> None:
    if wanted:
        from turnloom import __version__

        typer.echo(f"turnloom {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
