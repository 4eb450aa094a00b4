"""Typed options of each chat format. Loading this module loads pydantic."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self, TypeAlias, TypeVar, get_args

from pydantic import Field, TypeAdapter, model_validator

from turnloom.base_config import BaseRendererConfig as BaseRendererConfig
from turnloom.base_config import ThinkingRetention as ThinkingRetention
from turnloom.default_config import DefaultRendererConfig as DefaultRendererConfig

MarkerPolicy: TypeAlias = Literal["trusted", "all", "none", "reject"]
OnLoss: TypeAlias = Literal["raise", "template"]
ResolvedThinkingRetention: TypeAlias = Literal["template", "tool_cycle", "all"]
"""The policy of a renderer; "template" is that of `DefaultRenderer`."""

SHARED_FIELDS = frozenset({"name", "marker_policy", "on_loss", "thinking_retention"})


class FamilyConfig(BaseRendererConfig):
    """What every family has."""

    marker_policy: MarkerPolicy = "trusted"
    """Where text that merely spells a control token becomes that token: "trusted" in text of the assistant
    and of system messages, "all" anywhere (the ids of `apply_chat_template`), "none" nowhere, "reject" as
    "trusted" with a RenderError elsewhere. Template text always does."""
    on_loss: OnLoss = "raise"
    """What happens where the format has no place for something that was passed: "raise" a RenderError that
    names it, or render what the chat "template" renders."""

    def options(self) -> dict[str, bool | str | list[str] | None]:
        """Return the fields that are the family's own."""
        return self.model_dump(exclude=set(SHARED_FIELDS))


class AutoRendererConfig(FamilyConfig):
    """The format of the model that the tokenizer belongs to; `create_renderer` finds it."""

    name: Literal["auto"] = "auto"


class ChatMLConfig(FamilyConfig):
    """ChatML with any roles; with its options also Qwen1.5, Qwen2, Nous-Hermes-2 and Hermes 3."""

    name: Literal["chatml"] = "chatml"
    bos: str | None = None
    """A control token that begins the prompt, such as "<s>"."""
    default_system: str | None = None
    """A system message for conversations that do not begin with one."""


class Qwen25Config(FamilyConfig):
    """Qwen2.5 and Qwen2.5-Coder, the instruct models."""

    name: Literal["qwen2.5"] = "qwen2.5"
    default_system: str | None = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."
    """The system message of conversations that do not begin with one."""


class Qwen3Config(FamilyConfig):
    """Qwen3, with the revisions of its template."""

    template_fields = frozenset({"enable_thinking"})

    name: Literal["qwen3"] = "qwen3"
    revision: Literal["current", "first", "instruct-2507", "next"] = "current"
    """Which of the published templates: that of the hybrid models today or at first, of the Instruct-2507
    models (no reasoning), of Qwen3-Next-Thinking (its generation prompt opens a think block)."""
    enable_thinking: bool = True
    """False ends the generation prompt with an empty think block; "current" and "first" only."""
    reemit_empty_thinking: bool = False
    """With `enable_thinking=False`, write the empty think block that generation began with into every
    assistant message of the history that has no reasoning, where the template leaves it out."""

    @model_validator(mode="after")
    def _check_thinking(self) -> Self:
        if not self.enable_thinking and self.revision in ("instruct-2507", "next"):
            raise ValueError(f"enable_thinking: the revision {self.revision!r} cannot switch thinking off")
        return self


class Llama3Config(FamilyConfig):
    """Llama 3.0: text only, no tools."""

    name: Literal["llama-3"] = "llama-3"


class Llama32Config(FamilyConfig):
    """Llama 3.2."""

    template_fields = frozenset({"date_string", "tools_in_user_message"})

    name: Literal["llama-3.2"] = "llama-3.2"
    date_string: str = "26 Jul 2024"
    """The day that the system block calls today; it never comes from the clock."""
    tools_in_user_message: bool = True
    """Tools stand in the first user message; False puts them into the system block."""
    parallel_tool_calls: bool = False
    """Write several calls of one message, separated by "; ", where the template refuses them."""


class Llama31Config(Llama32Config):
    """Llama 3.1 and 3.3."""

    template_fields = Llama32Config.template_fields | {"builtin_tools"}

    name: Literal["llama-3.1"] = "llama-3.1"  # type: ignore[assignment]  # the discriminator
    builtin_tools: list[str] | None = None
    """Built-in tools, such as "brave_search", "wolfram_alpha" and "code_interpreter"."""


# The names that the `renderers` package has for them; its Llama 3 is Llama 3.2.
Qwen3RendererConfig = Qwen3Config
Llama3RendererConfig = Llama32Config

KnownConfig: TypeAlias = (
    ChatMLConfig | Qwen25Config | Qwen3Config | Llama3Config | Llama31Config | Llama32Config
)
AnyConfig: TypeAlias = AutoRendererConfig | KnownConfig
ResolvedConfig: TypeAlias = KnownConfig | DefaultRendererConfig
RendererConfig: TypeAlias = Annotated[AnyConfig | DefaultRendererConfig, Field(discriminator="name")]

ConfigT = TypeVar("ConfigT", bound=BaseRendererConfig)

_ADAPTER: TypeAdapter[AnyConfig | DefaultRendererConfig] = TypeAdapter(RendererConfig)


def family_names() -> list[str]:
    """Return the names that the configs of families go by, sorted."""
    return sorted(config.model_fields["name"].default for config in get_args(KnownConfig))


def config_from_name(name: str, **fields: object) -> AnyConfig | DefaultRendererConfig | None:
    """Return the config of a family; for "auto" without fields None, which `create_renderer` takes for it.

    >>> config_from_name("qwen3", enable_thinking=False).enable_thinking
    False

    Raises:
        KeyError: there is no such family; the message lists those there are.
        pydantic.ValidationError: a field is unknown or has a wrong value (it is a ValueError).
    """
    if name == "auto" and not fields:
        return None
    known = [*family_names(), "auto", "default"]
    if name not in known:
        raise KeyError(f"name: unknown family {name!r}, known: {', '.join(known)}")
    return _ADAPTER.validate_python({**fields, "name": name})


def template_field_names(config: BaseRendererConfig) -> frozenset[str]:
    """Return the variables of the model's chat template that a config has as fields."""
    if isinstance(config, DefaultRendererConfig):
        return frozenset(config.template_variables())
    return config.template_field_names()


def merge_chat_template_kwargs(config: ConfigT, chat_template_kwargs: Mapping[str, object] | None) -> ConfigT:
    """Return the config with other values for variables of the chat template.

    >>> merge_chat_template_kwargs(Qwen3Config(), {"enable_thinking": False}).enable_thinking
    False

    Raises:
        TypeError: `chat_template_kwargs` is no mapping.
        ValueError: a name is none of `template_field_names(config)`, or a value is wrong. `DefaultRenderer`
            takes any name that is not that of one of its own fields.
    """
    if chat_template_kwargs is None:
        return config
    if not isinstance(chat_template_kwargs, Mapping):
        raise TypeError(
            f"chat_template_kwargs: expected a mapping, got {type(chat_template_kwargs).__name__}"
        )
    for name in chat_template_kwargs:
        _check_variable(config, name)
    given = {field: getattr(config, field) for field in config.model_fields_set}
    return type(config).model_validate({**given, **chat_template_kwargs})


def _check_variable(config: BaseRendererConfig, name: str) -> None:
    if isinstance(config, DefaultRendererConfig):
        if name in DefaultRendererConfig.model_fields:
            raise ValueError(f"chat_template_kwargs: {name!r} is a field of the config, no variable")
    elif name not in config.template_fields:
        raise ValueError(
            f"chat_template_kwargs: {config.name} has no variable {name!r}, "
            f"known: {', '.join(sorted(config.template_fields)) or 'none'}"
        )
