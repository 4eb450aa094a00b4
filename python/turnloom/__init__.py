"""Chat messages to the exact token ids a model was trained on, and back."""

from importlib import import_module
from typing import TYPE_CHECKING

try:
    from turnloom import _core as _core
except ImportError as error:
    raise ImportError(
        "turnloom's native module is missing or does not fit this Python; install turnloom again"
    ) from error

from turnloom.batch import TokenBatch
from turnloom.bridge import BridgeRefusal, BridgeRefusalReason
from turnloom.errors import (
    MalformedGenerateResponseError,
    OverlongPromptError,
    RenderError,
    TemplateLimitError,
)
from turnloom.loss import LossRule
from turnloom.packing import PackedBatch
from turnloom.parsing import (
    ChatCompletionChunks,
    Delta,
    ParsedResponse,
    ParsedToolCall,
    StreamParser,
    ToolCallParseStatus,
)
from turnloom.rendered import ContentMarker, Field, RenderedTokens, TokenColumns
from turnloom.renderer import Renderer, create_renderer
from turnloom.scan import TokenHits, count_tokens, find_first, find_last, scan, split_at
from turnloom.tokenizer import RaggedIds, Tokenizer, load_tokenizer

if TYPE_CHECKING:
    from turnloom import client as client
    from turnloom.chat_template import ChatTemplate
    from turnloom.configs import (
        AutoRendererConfig,
        ChatMLConfig,
        DefaultRendererConfig,
        Llama3Config,
        Llama31Config,
        Llama32Config,
        Qwen3Config,
        Qwen25Config,
        RendererConfig,
        config_from_name,
        merge_chat_template_kwargs,
        template_field_names,
    )
    from turnloom.default_renderer import DefaultRenderer
    from turnloom.drift import Drift, DriftKind, Observation
    from turnloom.families import FamilyDescription, KnownFamily, describe, known_families
    from turnloom.hashing import fnv1a_64, fnv1a_64_batch, prefix_hashes
    from turnloom.model_family import MODEL_RENDERER_MAP
    from turnloom.session import BridgeResult, Session, TrainingSample
    from turnloom.template_limits import TemplateLimits
    from turnloom.text_format import apply_text_format
    from turnloom.tool_call_ids import ConformedMessages, ToolCallIdFormat
    from turnloom.training import (
        RenderedTrainingSample,
        TrajectoryStep,
        build_training_sample,
        build_trajectory_step,
    )

    __version__: str

__all__ = [
    "MODEL_RENDERER_MAP",
    "AutoRendererConfig",
    "BridgeRefusal",
    "BridgeRefusalReason",
    "BridgeResult",
    "ChatCompletionChunks",
    "ChatMLConfig",
    "ChatTemplate",
    "ConformedMessages",
    "ContentMarker",
    "DefaultRenderer",
    "DefaultRendererConfig",
    "Delta",
    "Drift",
    "DriftKind",
    "FamilyDescription",
    "Field",
    "KnownFamily",
    "Llama3Config",
    "Llama31Config",
    "Llama32Config",
    "LossRule",
    "MalformedGenerateResponseError",
    "Observation",
    "OverlongPromptError",
    "PackedBatch",
    "ParsedResponse",
    "ParsedToolCall",
    "Qwen3Config",
    "Qwen25Config",
    "RaggedIds",
    "RenderError",
    "RenderedTokens",
    "RenderedTrainingSample",
    "Renderer",
    "RendererConfig",
    "Session",
    "StreamParser",
    "TemplateLimitError",
    "TemplateLimits",
    "TokenBatch",
    "TokenColumns",
    "TokenHits",
    "Tokenizer",
    "ToolCallIdFormat",
    "ToolCallParseStatus",
    "TrainingSample",
    "TrajectoryStep",
    "apply_text_format",
    "build_training_sample",
    "build_trajectory_step",
    "config_from_name",
    "count_tokens",
    "create_renderer",
    "describe",
    "find_first",
    "find_last",
    "fnv1a_64",
    "fnv1a_64_batch",
    "known_families",
    "load_tokenizer",
    "merge_chat_template_kwargs",
    "prefix_hashes",
    "scan",
    "split_at",
    "template_field_names",
]

# What is imported when it is first used: some of it needs pydantic or jinja2, and all of it takes time.
_LAZY = {
    name: f"turnloom.{module}"
    for module, names in {
        "chat_template": ("ChatTemplate",),
        "configs": (
            "AutoRendererConfig",
            "ChatMLConfig",
            "DefaultRendererConfig",
            "Llama3Config",
            "Llama31Config",
            "Llama32Config",
            "Qwen3Config",
            "Qwen25Config",
            "RendererConfig",
            "config_from_name",
            "merge_chat_template_kwargs",
            "template_field_names",
        ),
        "default_renderer": ("DefaultRenderer",),
        "drift": ("Drift", "DriftKind", "Observation"),
        "families": ("FamilyDescription", "KnownFamily", "describe", "known_families"),
        "hashing": ("fnv1a_64", "fnv1a_64_batch", "prefix_hashes"),
        "model_family": ("MODEL_RENDERER_MAP",),
        "session": ("BridgeResult", "Session", "TrainingSample"),
        "template_limits": ("TemplateLimits",),
        "text_format": ("apply_text_format",),
        "tool_call_ids": ("ConformedMessages", "ToolCallIdFormat"),
        "training": (
            "RenderedTrainingSample",
            "TrajectoryStep",
            "build_training_sample",
            "build_trajectory_step",
        ),
    }.items()
    for name in names
}


def __getattr__(name: str) -> object:
    if name in _LAZY:
        value: object = getattr(import_module(_LAZY[name]), name)
    elif name == "client":
        value = import_module("turnloom.client")
    elif name == "__version__":
        from importlib.metadata import version

        value = version("turnloom")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
