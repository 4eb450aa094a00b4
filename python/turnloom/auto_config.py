"""The config of a renderer where the caller does not name one."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from turnloom.detection import FoundFamily, find_family
from turnloom.model_family import ModelFamily
from turnloom.tokenizer import Tokenizer

if TYPE_CHECKING:
    from turnloom.configs import (
        AnyConfig,
        AutoRendererConfig,
        DefaultRendererConfig,
        KnownConfig,
        ResolvedConfig,
    )

_LOG = logging.getLogger("turnloom")


def resolve_config(
    tokenizer: Tokenizer,
    config: AnyConfig | DefaultRendererConfig | None,
    chat_template_kwargs: Mapping[str, object] | None,
) -> ResolvedConfig:
    """Return the config of the format that `create_renderer` was asked for; its arguments and errors."""
    from turnloom.configs import AutoRendererConfig, BaseRendererConfig, merge_chat_template_kwargs

    if config is None:
        config = AutoRendererConfig()
    if not isinstance(config, BaseRendererConfig):
        raise TypeError(f"config: expected a config such as Qwen3Config(), got {type(config).__name__}")
    if isinstance(config, AutoRendererConfig):
        config = _found_config(tokenizer, config)
    else:
        _warn_of_another_format(tokenizer, config)
    return merge_chat_template_kwargs(config, chat_template_kwargs)


def family_config(family: ModelFamily, **fields: object) -> KnownConfig:
    """Return the config of a format, with other values for some fields."""
    from turnloom.configs import AutoRendererConfig, FamilyConfig, config_from_name

    config = config_from_name(family.name, **{**family.fields, **fields})
    assert isinstance(config, FamilyConfig) and not isinstance(config, AutoRendererConfig)
    return config


def config_of(tokenizer: Tokenizer, found: FoundFamily) -> ResolvedConfig | None:
    """Return the config of what was found: of a family, else of the model's own template if there is one."""
    from turnloom.configs import DefaultRendererConfig

    if found.family is not None:
        return family_config(found.family)
    return None if tokenizer.chat_template is None else DefaultRendererConfig()


def _found_config(tokenizer: Tokenizer, auto: AutoRendererConfig) -> ResolvedConfig:
    from turnloom.configs import family_names

    found = find_family(tokenizer)
    fields = {field: getattr(auto, field) for field in auto.model_fields_set - {"name"}}
    config = config_of(tokenizer, found)
    if config is None or (found.family is None and fields):
        raise ValueError(
            f"config: the model's chat format is not known: {found.looked_at}; pass the config of its "
            f"family, out of {', '.join(family_names())}"
            + (f", or no {', '.join(sorted(fields))}, for its chat template alone" if config else "")
        )
    if found.family is not None:
        config = family_config(found.family, **fields)
    # A model by its name whose template is another than the known ones may have got a new format.
    level = logging.WARNING if found.found_by == "name" and tokenizer.chat_template else logging.INFO
    _LOG.log(level, "chat format %r: %s; pass another config to overrule it", config, found.looked_at)
    return config


def _warn_of_another_format(tokenizer: Tokenizer, config: ResolvedConfig) -> None:
    """Tell a caller whose config is that of another format than the tokenizer's model has."""
    found = find_family(tokenizer)
    if found.family is not None and config.name not in (found.family.name, "default"):
        _LOG.warning(
            "chat format %r, as the config says; found was %r: %s",
            config.name,
            found.family.name,
            found.looked_at,
        )
