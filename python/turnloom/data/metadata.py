"""What an output says about itself, in its schema."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from turnloom.configs import RendererConfig

_PREFIX = "turnloom."


@dataclass(frozen=True, slots=True)
class OutputMetadata:
    """The entries `turnloom.version`, `turnloom.family` and so on; empty where a file has none."""

    version: str = ""
    family: str = ""
    config: str = ""
    """Every field of the family's config, as JSON."""
    tokenizer: str = ""
    """As it was given to the job."""
    add_generation_prompt: str = ""
    """"true" or "false"."""

    @classmethod
    def of_job(cls, config: "RendererConfig", tokenizer: str, add_generation_prompt: bool) -> Self:
        """Describe the output of a job."""
        from turnloom import __version__

        return cls(
            __version__, config.name, config.model_dump_json(), tokenizer, json.dumps(add_generation_prompt)
        )

    @classmethod
    def of_schema(cls, schema: Any) -> Self:
        """Read what a Parquet file says."""
        metadata = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
        return cls(*(metadata.get(_PREFIX + field.name, "") for field in fields(cls)))

    def to_schema(self) -> Mapping[str, str]:
        """Return the entries of an Arrow schema."""
        return {_PREFIX + name: value for name, value in asdict(self).items()}
