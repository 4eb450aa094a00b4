"""Typed options of each chat format. Loading this module loads pydantic."""

from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

MarkerPolicy: TypeAlias = Literal["trusted", "all", "none", "reject"]
OnLoss: TypeAlias = Literal["raise", "template"]

SHARED_FIELDS = frozenset({"name", "marker_policy", "on_loss"})


class FamilyConfig(BaseModel):
    """What every format has: frozen, and closed to unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    marker_policy: MarkerPolicy = "trusted"
    """Where text that merely spells a control token becomes that token: "trusted" in text of the assistant and of
    system messages, "all" anywhere (the ids of `apply_chat_template`), "none" nowhere, "reject" as "trusted" with a
    RenderError elsewhere. Template text always does."""
    on_loss: OnLoss = "raise"
    """What happens where the format has no place for something that was passed: "raise" a RenderError that names it,
    or render what the chat "template" renders."""

    def options(self) -> dict[str, bool | str | None]:
        """Return the fields that are the family's own."""
        return self.model_dump(exclude=set(SHARED_FIELDS))


class ChatMLConfig(FamilyConfig):
    """ChatML with any roles; with its options also Qwen1.5, Qwen2, Nous-Hermes-2 and Hermes 3."""

    name: Literal["chatml"] = "chatml"
    bos: str | None = None
    """A control token that begins the prompt, such as "<s>"."""
    default_system: str | None = None
    """A system message for conversations that do not begin with one."""


class Qwen3Config(FamilyConfig):
    """Qwen3, the current revision of its template."""

    name: Literal["qwen3"] = "qwen3"
    enable_thinking: bool = True
    """False ends the generation prompt with an empty think block."""


class Llama3Config(FamilyConfig):
    """Llama 3.0: text only, no tools."""

    name: Literal["llama-3"] = "llama-3"


RendererConfig: TypeAlias = Annotated[ChatMLConfig | Qwen3Config | Llama3Config, Field(discriminator="name")]

_ADAPTER: TypeAdapter[ChatMLConfig | Qwen3Config | Llama3Config] = TypeAdapter(RendererConfig)


def family_names() -> list[str]:
    """Return the names that configs go by, sorted."""
    union = get_args(RendererConfig)[0]
    return sorted(member.model_fields["name"].default for member in get_args(union))


def config_from_name(name: str, **fields: object) -> ChatMLConfig | Qwen3Config | Llama3Config:
    """Return the config of a family.

    >>> config_from_name("qwen3", enable_thinking=False).enable_thinking
    False

    Raises:
        KeyError: there is no such family; the message lists those there are.
        pydantic.ValidationError: a field is unknown or has a wrong value (it is a ValueError).
    """
    known = family_names()
    if name not in known:
        raise KeyError(f"name: unknown family {name!r}, known: {', '.join(known)}")
    return _ADAPTER.validate_python({**fields, "name": name})
