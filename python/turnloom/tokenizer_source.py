"""Everything that `load_tokenizer` takes -> a parsed tokenizer.json."""

from __future__ import annotations

import json
import os
import reprlib
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Protocol

from turnloom.tokenizer_file import JsonObject

if TYPE_CHECKING:
    import tokenizers


class TransformersTokenizer(Protocol):
    """The part of a transformers fast tokenizer that is read."""

    @property
    def backend_tokenizer(self) -> tokenizers.Tokenizer: ...


@dataclass(frozen=True, slots=True)
class SourceContent:
    """What a source holds."""

    document: JsonObject
    config: JsonObject  # tokenizer_config.json
    name: str  # "" for an object without one
    shown: str  # in errors


def read_source(
    source: str | os.PathLike[str] | tokenizers.Tokenizer | TransformersTokenizer,
) -> SourceContent:
    """Read the tokenizer.json of a source; the arguments and errors are those of `load_tokenizer`."""
    if not isinstance(source, (str, os.PathLike)):
        name = str(getattr(source, "name_or_path", ""))
        return SourceContent(_document_of(source), {}, name, f"a {type(source).__name__}")
    name = os.fspath(source)
    if name == "builtin":
        file = resources.files("turnloom").joinpath("builtin/tokenizer.json")
        return SourceContent(_parse_json(file.read_bytes(), repr(name)), {}, name, repr(name))
    path = _tokenizer_path(name)
    document = _read_json(path)
    config_path = os.path.join(os.path.dirname(path), "tokenizer_config.json")
    config = _read_json(config_path) if os.path.exists(config_path) else {}
    return SourceContent(document, config, name, repr(path))


def _tokenizer_path(name: str) -> str:
    if os.path.isdir(name):
        path = os.path.join(name, "tokenizer.json")
        if not os.path.exists(path):
            raise FileNotFoundError(f"source: the folder {name!r} has no tokenizer.json")
        return path
    if not os.path.exists(name):
        raise FileNotFoundError(
            f"source: {name!r} is neither a folder nor a file; names from a hub are not loaded"
        )
    return name


def _read_json(path: str) -> JsonObject:
    with open(path, "rb") as file:
        return _parse_json(file.read(), repr(path))


def _parse_json(content: bytes, shown: str) -> JsonObject:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"source: {shown} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ValueError(f"source: {shown} is not a JSON object")
    return document


def _document_of(source: object) -> JsonObject:
    """Return what a tokenizer object would write to its tokenizer.json."""
    import tokenizers

    backend = getattr(source, "backend_tokenizer", source)
    if not isinstance(backend, tokenizers.Tokenizer):
        raise TypeError(
            "source: expected a folder, the path of a tokenizer.json, 'builtin', a tokenizers.Tokenizer or a "
            f"transformers fast tokenizer, got {type(source).__name__} {reprlib.repr(source)}"
        )
    if not hasattr(backend, "to_str"):
        raise TypeError(
            f"source: the Tokenizer of tokenizers {tokenizers.__version__} cannot be copied; pass its file"
        )
    try:
        return _parse_json(backend.to_str().encode(), "what it writes")
    except Exception as error:  # the package raises the base class, for parts written in Python
        raise ValueError(
            f"source: a {type(source).__name__} that cannot be written as JSON: {error}"
        ) from error
