"""Arguments and options of `turnloom render`, with their help."""

from pathlib import Path
from typing import Annotated

import typer

_FORMAT, _OUTPUT, _RUNNING = "Chat format", "Output", "Running"

Inputs = Annotated[
    list[Path], typer.Argument(metavar="INPUT", help="Files of conversations.", show_default=False)
]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="OUT", help="The Parquet file to write.", show_default=False)
]
TokenizerSource = Annotated[
    str,
    typer.Option(
        "--tokenizer",
        "-t",
        metavar="T",
        help="A model's folder, a tokenizer.json, a model's name on the hub, or `builtin`, a small one to "
        "try things out.",
        show_default=False,
    ),
]

Family = Annotated[
    str | None,
    typer.Option(
        "--family",
        "-f",
        metavar="F",
        help="The model's chat format, as `qwen3`; by default what the tokenizer's own chat template or its "
        "name tells. `turnloom families` lists those there are.",
        show_default=False,
    ),
]
Fields = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="FIELD=VALUE",
        help="A field of the family's config, as `enable_thinking=false`; may be repeated.",
        rich_help_panel=_FORMAT,
    ),
]
Tools = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A JSON list of tools, for rows that have none of their own.",
        rich_help_panel=_FORMAT,
    ),
]
MarkerPolicy = Annotated[
    str | None,
    typer.Option(
        metavar="P",
        help="Whose text may spell control tokens: `trusted` (assistant and system; the default), `all`, "
        "`none`, or `reject`: a row where user or tool text does is bad.",
        rich_help_panel=_FORMAT,
    ),
]
OnLoss = Annotated[
    str | None,
    typer.Option(
        metavar="P",
        help="When the format cannot say all of a row: `raise` (a bad row; the default) or `template` (drop "
        "what the model's own template drops).",
        rich_help_panel=_FORMAT,
    ),
]
GenerationPrompt = Annotated[
    bool,
    typer.Option(
        "--add-generation-prompt",
        help="End every row where the assistant would begin.",
        rich_help_panel=_FORMAT,
    ),
]

Columns = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="Columns to write, or `all`. Token columns: `token_ids`, `message_indices`, `sampled_mask`, "
        "`is_content`, `loss_mask`, `fields`, `byte_offsets` (not written by default). Where a row is from: "
        "`input`, `line`.",
        rich_help_panel=_OUTPUT,
    ),
]
Carry = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL", help="A column of the inputs to copy; may be repeated.", rich_help_panel=_OUTPUT
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="End at the first bad row, without an output.", rich_help_panel=_OUTPUT),
]

Threads = Annotated[
    int, typer.Option(min=1, metavar="N", help="Threads to render on.", rich_help_panel=_RUNNING)
]
BatchRows = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="N",
        help="Rows rendered at once; fewer where rows are large.",
        rich_help_panel=_RUNNING,
    ),
]
