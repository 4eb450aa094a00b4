"""The chat formats by name."""

from collections.abc import Sequence

from turnloom.reference.families.chatml import ChatML
from turnloom.reference.families.family import Family, RendererConfig, TokenLookup
from turnloom.reference.families.llama3 import Llama3
from turnloom.reference.families.llama3_1 import Llama31, Llama32
from turnloom.reference.families.qwen2_5 import Qwen25
from turnloom.reference.families.qwen3 import Qwen3

FAMILIES: dict[str, type[Family]] = {
    family.name: family for family in (ChatML, Llama3, Llama31, Llama32, Qwen25, Qwen3)
}


def make_family(config: RendererConfig, tokens: TokenLookup) -> Family:
    """Make the family that a config names.

    Raises:
        KeyError: there is no such family.
        ValueError: the vocabulary lacks a control token.
    """
    if config.name not in FAMILIES:
        raise KeyError(f"config.name: unknown family {config.name!r}, known: {', '.join(FAMILIES)}")
    return FAMILIES[config.name](config, tokens)


def declared_markers() -> Sequence[str]:
    """Give the spellings that are markers wherever a vocabulary has them as added tokens, special or not."""
    return sorted({marker for family in FAMILIES.values() for marker in family.markers})
