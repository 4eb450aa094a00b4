"""What every config has. Loading this module loads pydantic."""

from typing import ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

ThinkingRetention: TypeAlias = Literal["tool_cycle", "all"]


class BaseRendererConfig(BaseModel):
    """The options of one format: frozen, and closed to unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    template_fields: ClassVar[frozenset[str]] = frozenset()
    """The fields that are variables of the model's chat template; the others are ours."""

    name: str
    thinking_retention: ThinkingRetention | None = None
    """What a bridge may keep of the reasoning of earlier turns: "all" of it, or that of one "tool_cycle", so
    that a new user message makes it refuse. None follows what the template does with the options given."""

    @classmethod
    def template_field_names(cls) -> frozenset[str]:
        """Return the fields that are variables of the model's chat template."""
        return cls.template_fields
