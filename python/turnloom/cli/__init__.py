"""The command line. Needs the `cli` extra."""

import sys
from importlib.util import find_spec

_NEEDED = ("typer", "rich", "pyarrow")


def main() -> None:
    """Run the `turnloom` command."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        print(
            f"turnloom: the command line needs {', '.join(missing)}; run: pip install 'turnloom[cli]'",
            file=sys.stderr,
        )
        sys.exit(1)
    from turnloom.cli.app import app

    app(prog_name="turnloom")
