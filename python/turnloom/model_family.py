"""Which models have which chat format, by their exact names on the hub."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """A chat format, as far as a model decides it."""

    name: str
    """That of the family's config."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """The fields of the config that are not as they are by default."""
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    """The special tokens that the model's template writes by their roles."""


_QWEN15_SYSTEM = "You are a helpful assistant"


def _models() -> Iterator[tuple[ModelFamily, str, str]]:
    """Give families, the names of models with a place for the size, and the sizes."""
    qwen3 = ModelFamily("qwen3")
    yield qwen3, "Qwen/Qwen3-{}", "0.6B 1.7B 4B 8B 14B 32B 30B-A3B 235B-A22B"
    yield qwen3, "Qwen/Qwen3-{}-FP8", "0.6B 1.7B 4B 8B 14B 32B 30B-A3B 235B-A22B"
    instruct = ModelFamily("qwen3", {"revision": "instruct-2507"})
    yield instruct, "Qwen/Qwen3-{}-Instruct-2507", "4B 30B-A3B 235B-A22B"
    yield instruct, "Qwen/Qwen3-{}-Instruct-2507-FP8", "4B 30B-A3B 235B-A22B"
    yield ModelFamily("qwen3", {"revision": "next"}), "Qwen/Qwen3-Next-{}-Thinking", "80B-A3B"
    qwen25 = ModelFamily("qwen2.5")
    yield qwen25, "Qwen/Qwen2.5-{}-Instruct", "0.5B 1.5B 3B 7B 14B 32B 72B"
    yield qwen25, "Qwen/Qwen2.5-Coder-{}-Instruct", "0.5B 1.5B 3B 7B 14B 32B"
    qwen2 = ModelFamily("chatml", {"default_system": f"{_QWEN15_SYSTEM}."})
    yield qwen2, "Qwen/Qwen2-{}-Instruct", "0.5B 1.5B 7B 72B"
    yield qwen2, "Qwen/Qwen1.5-{}-Chat", "4B"
    qwen15 = ModelFamily("chatml", {"default_system": _QWEN15_SYSTEM})
    yield qwen15, "Qwen/Qwen1.5-{}", "0.5B MoE-A2.7B"
    hermes3 = ModelFamily("chatml", {"bos": "<|begin_of_text|>", "default_system": f"{_QWEN15_SYSTEM}."})
    yield hermes3, "NousResearch/Hermes-3-Llama-3.1-{}", "8B 70B 405B"
    hermes2 = ModelFamily("chatml", {"bos": "<s>"})
    yield hermes2, "NousResearch/Nous-Hermes-2-{}-DPO", "Mixtral-8x7B"
    yield ModelFamily("llama-3"), "meta-llama/Meta-Llama-3-{}-Instruct", "8B 70B"
    llama31 = ModelFamily("llama-3.1")
    yield llama31, "meta-llama/Llama-3.1-{}-Instruct", "8B 70B 405B"
    yield llama31, "meta-llama/Meta-Llama-3.1-{}-Instruct", "8B 70B 405B"
    yield llama31, "meta-llama/Llama-3.3-{}-Instruct", "70B"
    yield ModelFamily("llama-3.2"), "meta-llama/Llama-3.2-{}-Instruct", "1B 3B"


FAMILY_OF_MODEL: Mapping[str, ModelFamily] = MappingProxyType(
    {pattern.format(size): family for family, pattern, sizes in _models() for size in sizes.split()}
)

MODEL_RENDERER_MAP: Mapping[str, str] = MappingProxyType(
    {model: family.name for model, family in FAMILY_OF_MODEL.items()}
)
"""The name of the config for each model that is known by its name."""
