"""From options of the command line to a tokenizer and a renderer."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from turnloom.cli.failure import fail

if TYPE_CHECKING:
    from turnloom.configs import KnownConfig
    from turnloom.model_family import ModelFamily
    from turnloom.renderer import Renderer
    from turnloom.tokenizer import Tokenizer

# Fields of every family's config that have options of their own.
_OWN_OPTIONS = {"name": "--family", "marker_policy": "--marker-policy", "on_loss": "--on-loss"}


def tokenizer_from(source: str) -> "Tokenizer":
    """Load the tokenizer of `--tokenizer`, or end the command."""
    from turnloom.tokenizer import load_tokenizer

    try:
        return load_tokenizer(source)
    except (OSError, ValueError, LookupError, TypeError, ImportError) as error:
        fail(f"--tokenizer {source}: {_text(error).removeprefix('source: ')}")


def config_from(
    tokenizer: "Tokenizer",
    family: str | None,
    options: Sequence[str],
    marker_policy: str | None,
    on_loss: str | None,
) -> "KnownConfig":
    """Make the config of `--family` with the fields that other options give, or end the command."""
    import pydantic

    from turnloom.auto_config import family_config

    fields: dict[str, str] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or not name:
            fail(f"--option {option}: expected FIELD=VALUE")
        if name in _OWN_OPTIONS:
            fail(f"--option {name}: use {_OWN_OPTIONS[name]}")
        fields[name] = value
    if marker_policy is not None:
        fields["marker_policy"] = marker_policy
    if on_loss is not None:
        fields["on_loss"] = on_loss
    known = _found_family(tokenizer) if family is None or family == "auto" else _named_family(family)
    try:
        return family_config(known, **fields)
    except pydantic.ValidationError as error:
        problem = error.errors()[0]
        name = str(problem["loc"][-1]) if problem["loc"] else ""
        if problem["type"] == "extra_forbidden":
            fail(f"--option {name}: {known.name} has no such field; known are {_option_fields(known.name)}")
        fail(f"{_OWN_OPTIONS.get(name, f'--option {name}')}: {problem['msg']}, got {problem['input']!r}")


def _named_family(name: str) -> "ModelFamily":
    from turnloom.configs import family_names
    from turnloom.model_family import ModelFamily

    if name == "default":
        fail("--family default: a chat template alone has no loss mask; the command line needs a family")
    if name not in family_names():
        fail(f"--family: unknown family {name!r}, known: {', '.join(family_names())}")
    return ModelFamily(name)


def _found_family(tokenizer: "Tokenizer") -> "ModelFamily":
    from turnloom.detection import find_family

    found = find_family(tokenizer)
    if found.family is None:
        fail(f"--family: not given, and {found.looked_at}; `turnloom families` lists those there are")
    variant = "".join(f", {name}={value!r}" for name, value in found.family.fields.items())
    typer.echo(f"turnloom: --family {found.family.name}{variant}: {found.looked_at}", err=True)
    return found.family


def _option_fields(family: str) -> str:
    from turnloom.auto_config import family_config
    from turnloom.configs import SHARED_FIELDS
    from turnloom.model_family import ModelFamily

    fields = type(family_config(ModelFamily(family))).model_fields
    return ", ".join(name for name in fields if name not in SHARED_FIELDS) or "none"


def renderer_from(tokenizer: "Tokenizer", source: str, config: "KnownConfig") -> "Renderer":
    """Bind the format to the tokenizer, or end the command."""
    from turnloom.renderer import create_renderer

    try:
        return create_renderer(tokenizer, config)
    except (ValueError, LookupError) as error:
        fail(f"--tokenizer {source}: not for {config.name}: {_text(error).removeprefix('tokenizer: ')}")


def tools_from(path: Path) -> list[Any]:
    """Read the tools of `--tools`, or end the command."""
    try:
        tools = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        fail(f"--tools {path}: cannot be read: {error.strerror}")
    except (ValueError, RecursionError) as error:
        fail(f"--tools {path}: not JSON: {error}")
    if not isinstance(tools, list):
        fail(f"--tools {path}: expected a JSON list of tools, got {type(tools).__name__}")
    for k, tool in enumerate(tools):
        if not isinstance(tool, dict):
            fail(f"--tools {path}: tools[{k}]: expected a JSON object, got {type(tool).__name__}")
    return tools


def _text(error: Exception) -> str:
    # str() of a KeyError is the repr of its message.
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
