"""The model's own chat template, in two implementations: ours of Jinja, and transformers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from turnloom.errors import RenderError, TemplateLimitError
from turnloom.tokenizer import Tokenizer
from turnloom.types import Messages, Tools

if TYPE_CHECKING:
    from turnloom.configs import KnownConfig


class TemplateRefusal(Exception):
    """A chat template raised an error of its own: the conversation is not for this model."""


class TemplateFailure(Exception):
    """A chat template crashed: it says nothing about the conversation."""


class Side(Protocol):
    """What gives the text of a conversation and its token ids as the model's own template has them."""

    @property
    def name(self) -> str:
        """What differences call it."""

    def render(
        self, messages: Messages, tools: Tools | None, add_generation_prompt: bool
    ) -> tuple[str, list[int]]:
        """Return text and token ids.

        Raises:
            TemplateRefusal, TemplateFailure: there is no text.
        """


def template_variables(config: KnownConfig) -> dict[str, object]:
    """Return what a config says of the variables of the template; None is the same as not given."""
    values = {name: getattr(config, name) for name in sorted(config.template_fields)}
    return {name: value for name, value in values.items() if value is not None}


class TemplateSide:
    """The template in our Jinja, encoded by the `tokenizers` package."""

    name = "template"

    def __init__(self, tokenizer: Tokenizer, variables: Mapping[str, object]) -> None:
        """Compile the templates of a tokenizer.

        Raises:
            ValueError: it has none, or one that is no Jinja template.
        """
        from turnloom.chat_template import ChatTemplate

        sources = tokenizer.chat_template
        if sources is None:
            raise ValueError("tokenizer: has no chat template")
        named = sources if isinstance(sources, dict) else {"default": sources}
        if "default" not in named:
            raise ValueError(f"tokenizer: has no default chat template, but {', '.join(named)}")
        self._templates = {
            name: ChatTemplate(source, special_tokens=tokenizer.special_tokens)
            for name, source in named.items()
            if name in ("default", "tool_use")
        }
        self._variables = variables
        self._encode = _package_encode(tokenizer)

    def render(
        self, messages: Messages, tools: Tools | None, add_generation_prompt: bool
    ) -> tuple[str, list[int]]:
        # As transformers chooses.
        name = "tool_use" if tools is not None and "tool_use" in self._templates else "default"
        try:
            text = self._templates[name].render(
                messages,
                tools=tools,
                add_generation_prompt=add_generation_prompt,
                variables=self._variables,
            )
        except TemplateLimitError as error:
            raise TemplateFailure(str(error)) from error
        except RenderError as error:
            # The error of a crash has that as its cause; raise_exception is the template's own word.
            refused = error.__cause__ is None or isinstance(error.__cause__, RenderError)
            raise (TemplateRefusal if refused else TemplateFailure)(str(error)) from error
        return text, self._encode(text)


def _package_encode(tokenizer: Tokenizer) -> Callable[[str], list[int]]:
    """Return what encodes a whole text with the package, if that can read the file, else with the backend."""
    if tokenizer._read_document is None:
        return tokenizer.encode
    from turnloom.tokenizers_encoder import package_tokenizer

    whole = tokenizer._read_document() | {"post_processor": None, "truncation": None, "padding": None}
    package = package_tokenizer(whole)
    return lambda text: list(package.encode(text, add_special_tokens=False).ids)


class TransformersSide:
    """The `transformers` package."""

    name = "transformers"

    def __init__(self, folder: str, variables: Mapping[str, object]) -> None:
        """Load the tokenizer of a model's folder.

        Raises:
            ImportError: the package is not installed.
            ValueError: it cannot load the folder.
        """
        transformers = import_module("transformers")
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        except Exception as error:  # of any part of it
            raise ValueError(
                f"transformers cannot load {folder!r}: {' '.join(str(error).split())}"
            ) from error
        self._variables = variables

    def render(
        self, messages: Messages, tools: Tools | None, add_generation_prompt: bool
    ) -> tuple[str, list[int]]:
        def apply(tokenize: bool) -> Any:
            return self._tokenizer.apply_chat_template(
                messages,
                tools=tools,
                tokenize=tokenize,
                return_dict=False,
                add_generation_prompt=add_generation_prompt,
                **self._variables,
            )

        try:
            return apply(tokenize=False), list(apply(tokenize=True))
        except Exception as error:
            # Its raise_exception gives the class itself; what Jinja finds wrong is of a class below.
            refused = type(error).__name__ == "TemplateError"
            raise (TemplateRefusal if refused else TemplateFailure)(
                f"{type(error).__name__}: {error}"
            ) from error
