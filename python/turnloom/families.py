"""The chat formats that turnloom knows, and which of them a tokenizer's model has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from turnloom._template_families import FAMILY_OF_TEMPLATE
from turnloom._tokenizer_argument import TokenizerObject, own_tokenizer
from turnloom.auto_config import config_of
from turnloom.detection import FoundBy, find_family
from turnloom.model_family import FAMILY_OF_MODEL, ModelFamily

if TYPE_CHECKING:
    from turnloom.configs import ResolvedConfig

ABILITIES: tuple[str, ...] = ("render", "parse", "bridge", "sessions")
"""What every family can do."""


@dataclass(frozen=True, slots=True)
class FamilyDescription:
    """What `create_renderer(tokenizer)` makes of a tokenizer, and why."""

    config: ResolvedConfig | None
    """What the renderer is made with; None where `create_renderer` needs to be told."""
    found_by: FoundBy
    looked_at: str
    """What was looked at, and what it said, in a sentence."""
    abilities: tuple[str, ...]
    """Out of "render", "parse", "bridge" and "sessions"."""

    @property
    def family(self) -> str | None:
        """The name of the config."""
        return None if self.config is None else self.config.name

    @property
    def revision(self) -> str | None:
        """Which of the published templates it is, where the family has several."""
        revision = getattr(self.config, "revision", None)
        return revision if isinstance(revision, str) else None

    def __str__(self) -> str:
        family = " ".join(filter(None, [self.family or "no known family", self.revision]))
        return f"{family} ({', '.join(self.abilities) or 'nothing'}): {self.looked_at}"


def describe(tokenizer: TokenizerObject) -> FamilyDescription:
    """Return which renderer `create_renderer(tokenizer)` gives, what it can do, and why it is that one.

    >>> print(describe(load_tokenizer("path/to/Qwen3-8B")))
    qwen3 current (render, parse, bridge, sessions): its chat template (sha256 a55ee1b16601) is a known one
    """
    own = own_tokenizer(tokenizer)
    found = find_family(own)
    config = config_of(own, found)
    if found.family is not None:
        abilities = ABILITIES
    elif config is not None:  # a chat template alone gives whole conversations only
        abilities = ABILITIES[:2]
    else:
        abilities = ()
    return FamilyDescription(config, found.found_by, found.looked_at, abilities)


@dataclass(frozen=True, slots=True)
class KnownFamily:
    """A format, or a variant of it that some models have."""

    name: str
    fields: Mapping[str, str]
    """The fields of the config that make the variant; empty for the format as it is by default."""
    models: tuple[str, ...]
    """The models that are known by their names to have it."""


def known_families() -> list[KnownFamily]:
    """Return every format with its variants, sorted."""
    from turnloom.configs import family_names

    tables = (FAMILY_OF_MODEL.values(), FAMILY_OF_TEMPLATE.values())
    variants = {_variant(ModelFamily(name)) for name in family_names()}
    variants |= {_variant(family) for table in tables for family in table}
    return [
        KnownFamily(
            name=name,
            fields=dict(fields),
            models=tuple(
                model for model, family in FAMILY_OF_MODEL.items() if _variant(family) == (name, fields)
            ),
        )
        for name, fields in sorted(variants)
    ]


def _variant(family: ModelFamily) -> tuple[str, tuple[tuple[str, str], ...]]:
    return family.name, tuple(sorted(family.fields.items()))
