"""Which chat format a tokenizer's model has: by its own chat template, else by its name."""

import hashlib
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from turnloom._template_families import FAMILY_OF_TEMPLATE
from turnloom.model_family import FAMILY_OF_MODEL, ModelFamily
from turnloom.tokenizer import Tokenizer

FoundBy: TypeAlias = Literal["template", "name", "nothing"]

# The folder of a model in a hub's cache, as .../models--Qwen--Qwen3-8B/snapshots/<commit>.
_CACHED_MODEL = re.compile(r"[/\\]models--([^/\\]+?)--([^/\\]+)[/\\]snapshots[/\\][^/\\]+[/\\]?$")


@dataclass(frozen=True, slots=True)
class FoundFamily:
    """What was found, and how."""

    family: ModelFamily | None
    """None where nothing that was looked at tells."""
    found_by: FoundBy
    looked_at: str
    """What was looked at, and what it said, in a sentence."""


def template_fingerprint(template: str) -> str:
    """Return what the same template has everywhere: the SHA-256 of its text, as Jinja reads it.

    Jinja takes "\\r\\n" and "\\r" for "\\n" and drops one line end at the end of the file. Any other
    difference, white space at the end of a line too, can change what a template writes.
    """
    text = template.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def find_family(tokenizer: Tokenizer) -> FoundFamily:
    """Find the format of the model that a tokenizer belongs to."""
    by_template, template_says = _family_of_template(tokenizer)
    if by_template is not None:
        return FoundFamily(by_template, "template", template_says)
    name = model_name(tokenizer)
    by_name = FAMILY_OF_MODEL.get(name)
    name_says = (
        f"its name, {name!r}, is that of a known model" if by_name else f"its name, {name!r}, is not known"
    )
    looked_at = f"{template_says}; {name_says}"
    return FoundFamily(by_name, "name" if by_name else "nothing", looked_at)


def model_name(tokenizer: Tokenizer) -> str:
    """Return the name of the model: that it was loaded by, also when by its folder in the hub's cache."""
    cached = _CACHED_MODEL.search(tokenizer.name_or_path)
    return "/".join(cached.groups()) if cached else tokenizer.name_or_path


def _family_of_template(tokenizer: Tokenizer) -> tuple[ModelFamily | None, str]:
    template = tokenizer.chat_template
    which = "its chat template"
    if isinstance(template, dict):
        others = ", ".join(repr(name) for name in template if name != "default")
        which = f"its default chat template, beside {others or 'no other'},"
        template = template.get("default")
    if template is None:
        return None, "the tokenizer has no chat template"
    fingerprint = template_fingerprint(template)
    shown = f"{which} (sha256 {fingerprint[:12]})"
    family = FAMILY_OF_TEMPLATE.get(fingerprint)
    if family is None:
        return None, f"{shown} is not a known one"
    fields = dict(family.fields)
    for role, token in family.special_tokens.items():
        own = tokenizer.special_tokens.get(role, "")
        field = role.removesuffix("_token")
        if field in fields:  # the family writes whatever it is
            fields[field] = own
        elif own != token:
            return None, f"{shown} is that of {family.name}, but with {role} {own!r} instead of {token!r}"
    return ModelFamily(family.name, {k: v for k, v in fields.items() if v}), f"{shown} is a known one"
