"""Everything that `load_tokenizer` takes -> a parsed tokenizer.json."""

from __future__ import annotations

import json
import os
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Protocol

from turnloom._json_files import JsonObject, parse_json, read_json
from turnloom.chat_settings import ChatSettings, chat_settings_of, read_chat_settings
from turnloom.hub import TOKENIZER_FILES, is_model_name, model_folder
from turnloom.rank_file import RankSettings, is_rank_file, read_rank_file
from turnloom.tokenizer_file import Vocabulary

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
    read_document: Callable[[], JsonObject]  # reads it again
    vocabulary: Vocabulary | None  # of a file of ranks, whose document has no added tokens and no merges
    config: JsonObject  # tokenizer_config.json
    chat: ChatSettings
    name: str  # "" for an object without one
    shown: str  # in errors


def read_source(source: object, settings: RankSettings) -> SourceContent:
    """Read the tokenizer.json of a source; the arguments and errors are those of `load_tokenizer`."""
    if not isinstance(source, (str, os.PathLike)):
        document = _document_of(source)
        settings.refuse()
        name = str(getattr(source, "name_or_path", ""))
        text = json.dumps(document)
        shown = f"a {type(source).__name__}"
        return SourceContent(
            document, lambda: json.loads(text), None, {}, chat_settings_of(source), name, shown
        )
    name = os.fspath(source)
    if name == "builtin":
        settings.refuse()
        file = resources.files("turnloom").joinpath("builtin/tokenizer.json")
        return _content(
            lambda: parse_json(file.read_bytes(), repr(name)), {}, ChatSettings(), name, repr(name)
        )
    path = _tokenizer_path(name)
    folder, file_name = os.path.split(path)
    config_path = os.path.join(folder, "tokenizer_config.json")
    config = read_json(config_path) if os.path.exists(config_path) else {}
    chat = read_chat_settings(folder, config)
    if not is_rank_file(path):
        settings.refuse()
        return _content(lambda: read_json(path), config, chat, name, repr(path))
    with open(path, "rb") as rank_file:
        content = rank_file.read()
    try:
        document, vocabulary = read_rank_file(content, file_name, config, settings)
    except ValueError as error:
        raise ValueError(f"source: {path!r} cannot be used as a tokenizer: {error}") from error
    return SourceContent(document, lambda: document, vocabulary, config, chat, name, repr(path))


def _content(
    read: Callable[[], JsonObject], config: JsonObject, chat: ChatSettings, name: str, shown: str
) -> SourceContent:
    return SourceContent(read(), read, None, config, chat, name, shown)


def _tokenizer_path(name: str) -> str:
    folder = name
    if not os.path.isdir(name):
        if os.path.exists(name):
            return name
        if not is_model_name(name):
            raise FileNotFoundError(
                f"source: {name!r} is neither a folder nor a file, nor a name as models have on the hub"
            )
        folder = model_folder(name)
    for file_name in TOKENIZER_FILES:
        path = os.path.join(folder, file_name)
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"source: the folder {name!r} has no tokenizer.json")


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
        return parse_json(backend.to_str().encode(), "what it writes")
    except Exception as error:  # the package raises the base class, for parts written in Python
        raise ValueError(
            f"source: a {type(source).__name__} that cannot be written as JSON: {error}"
        ) from error
