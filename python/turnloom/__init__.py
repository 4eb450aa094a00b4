"""Chat messages to the exact token ids a model was trained on, and back."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

try:
    from turnloom import _core as _core
except ImportError as error:
    raise ImportError(
        "turnloom's native module is missing or does not fit this Python; install turnloom again"
    ) from error

from turnloom.batch import TokenBatch
from turnloom.bridge import BridgeRefusal, BridgeRefusalReason
from turnloom.drift import Drift, DriftKind, Observation
from turnloom.errors import (
    MalformedGenerateResponseError,
    OverlongPromptError,
    RenderError,
    TemplateLimitError,
)
from turnloom.families import FamilyDescription, KnownFamily, describe, known_families
from turnloom.hashing import fnv1a_64, fnv1a_64_batch, prefix_hashes
from turnloom.loss import LossRule
from turnloom.model_family import MODEL_RENDERER_MAP
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
from turnloom.session import BridgeResult, Session, TrainingSample
from turnloom.text_format import apply_text_format
from turnloom.tokenizer import RaggedIds, Tokenizer, load_tokenizer
from turnloom.tool_call_ids import ConformedMessages, ToolCallIdFormat
from turnloom.training import (
    RenderedTrainingSample,
    TrajectoryStep,
    build_training_sample,
    build_trajectory_step,
)

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
    from turnloom.template_limits import TemplateLimits

__version__ = version("turnloom")

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

# They need pydantic or jinja2, which is loaded when one of them is first used.
_CONFIGS = frozenset(name for name in __all__ if name.endswith("Config")) | {
    "config_from_name",
    "merge_chat_template_kwargs",
    "template_field_names",
}
_TEMPLATES = {
    "ChatTemplate": "turnloom.chat_template",
    "DefaultRenderer": "turnloom.default_renderer",
    "TemplateLimits": "turnloom.template_limits",
}


def __getattr__(name: str) -> object:
    if name in _CONFIGS:
        return getattr(import_module("turnloom.configs"), name)
    if name in _TEMPLATES:
        return getattr(import_module(_TEMPLATES[name]), name)
    if name == "client":
        return import_module("turnloom.client")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
