"""The renderer classes that the `renderers` package has, one a family."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from turnloom.renderer import Renderer

if TYPE_CHECKING:
    from turnloom._tokenizer_argument import TokenizerObject
    from turnloom.configs import KnownConfig, Llama32Config, Qwen3Config


class _OfFamily(type):
    """Makes `isinstance` ask for the family: `create_renderer` gives a plain `Renderer` for each."""

    family: str

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Renderer) and instance.config.name == cls.family


class Qwen3Renderer(Renderer, metaclass=_OfFamily):
    """A renderer of Qwen3: what `create_renderer` gives for `Qwen3Config`."""

    __slots__ = ()
    family: ClassVar[str] = "qwen3"

    def __init__(self, tokenizer: TokenizerObject, config: Qwen3Config | None = None) -> None:
        super().__init__(tokenizer, config or _default_config(self.family))


class Llama3Renderer(Renderer, metaclass=_OfFamily):
    """A renderer of Llama 3.2: what `create_renderer` gives for `Llama32Config`."""

    __slots__ = ()
    family: ClassVar[str] = "llama-3.2"

    def __init__(self, tokenizer: TokenizerObject, config: Llama32Config | None = None) -> None:
        super().__init__(tokenizer, config or _default_config(self.family))


def _default_config(family: str) -> KnownConfig:
    from turnloom.auto_config import family_config
    from turnloom.model_family import ModelFamily

    return family_config(ModelFamily(family))
