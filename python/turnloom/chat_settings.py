"""What comes with a tokenizer for its chats: the chat template, and the special tokens by their roles."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from turnloom._json_files import JsonObject, read_json

ChatTemplate: TypeAlias = str | dict[str, str]
"""The text of a template, or several by name, of which "default" is the one that plain chats use."""


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What is known of a model's chats besides its vocabulary."""

    chat_template: ChatTemplate | None = None
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    """By their roles, as `{"bos_token": "<s>"}`."""


def read_chat_settings(folder: str, config: JsonObject) -> ChatSettings:
    """Read the chat settings of the model whose tokenizer is in a folder.

    Args:
        config: what its tokenizer_config.json says, empty if there is none.

    Raises:
        ValueError: a file holds something else than it should; the message names file and place.
    """
    tokens_path = Path(folder, "special_tokens_map.json")
    tokens_map = read_json(str(tokens_path)) if tokens_path.is_file() else {}
    extra = config.get("extra_special_tokens")
    # A role that the config has a say about, be it null, is not for the map to fill.
    entries = tokens_map | config | (extra if isinstance(extra, dict) else {})
    return ChatSettings(_read_template(Path(folder), config), _tokens_of(entries))


def chat_settings_of(tokenizer: object) -> ChatSettings:
    """Return the chat settings of a tokenizer object: the attributes that a transformers tokenizer has.

    Raises:
        TypeError: its chat template is of a wrong type.
    """
    template = getattr(tokenizer, "chat_template", None)
    tokens = getattr(tokenizer, "special_tokens_map", None)
    try:
        checked = _checked_template(template, "source.chat_template")
    except ValueError as error:
        raise TypeError(str(error)) from None
    return ChatSettings(checked, _tokens_of(tokens if isinstance(tokens, Mapping) else {}))


def _read_template(folder: Path, config: JsonObject) -> ChatTemplate | None:
    """Read the template from where transformers takes it: template files before the tokenizer's config.

    `chat_template.json` belongs to a processor of images; its template counts where the tokenizer has none.
    """
    templates = {path.stem: path for path in sorted(folder.glob("additional_chat_templates/*.jinja"))}
    if (folder / "chat_template.jinja").is_file():
        templates["default"] = folder / "chat_template.jinja"
    if templates:
        texts = {name: _read_text(path) for name, path in templates.items()}
        return texts["default"] if list(texts) == ["default"] else texts
    shown = str(folder / "tokenizer_config.json")
    if config.get("chat_template") is not None:
        return _checked_template(config["chat_template"], f"source: {shown!r}: chat_template")
    processor = folder / "chat_template.json"
    if not processor.is_file():
        return None
    template = read_json(str(processor)).get("chat_template")
    return _checked_template(template, f"source: {str(processor)!r}: chat_template")


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"source: {str(path)!r} is not UTF-8 at byte {error.start}") from None


def _checked_template(template: object, place: str) -> ChatTemplate | None:
    """Check what says to be a template: text, texts by name, or a list of {"name", "template"}."""
    if template is None or isinstance(template, str):
        return template
    if isinstance(template, Mapping):
        named = list(template.items())
    elif isinstance(template, list | tuple):
        named = []
        for position, entry in enumerate(template):
            if not isinstance(entry, Mapping):
                raise ValueError(f"{place}[{position}]: expected an object, got {type(entry).__name__}")
            named.append((entry.get("name"), entry.get("template")))
    else:
        raise ValueError(f"{place}: expected text or a list of templates, got {type(template).__name__}")
    for name, text in named:
        if not isinstance(name, str) or not isinstance(text, str):
            raise ValueError(
                f"{place}: expected names and texts, got {type(name).__name__} and {type(text).__name__}"
            )
    return dict(named)


def _tokens_of(entries: Mapping[str, object]) -> Mapping[str, str]:
    """Return the entries that are special tokens: they are called `*_token` and hold text."""
    tokens = {}
    for role, token in entries.items():
        # An AddedToken of the tokenizers package has its text as `content`, and so has one written as JSON.
        text = token.get("content") if isinstance(token, Mapping) else getattr(token, "content", token)
        if isinstance(text, str) and isinstance(role, str) and role.endswith("_token"):
            tokens[role] = text
    return tokens
