"""Chat messages to the exact token ids a model was trained on, and back."""

from importlib import import_module
from typing import TYPE_CHECKING

try:
    from turnloom import _core as _core
except ImportError as error:
    raise ImportError(
        "turnloom's native module is missing or does not fit this Python; install turnloom again"
    ) from error

from turnloom.bridge import BridgeRefusal, BridgeRefusalReason
from turnloom.errors import (
    MalformedGenerateResponseError,
    OverlongPromptError,
    RenderError,
    TemplateLimitError,
)
from turnloom.loss import LossRule
from turnloom.parsing import (
    ChatCompletionChunks,
    Delta,
    ParsedResponse,
    ParsedToolCall,
    StreamParser,
    ToolCallParseStatus,
)
from turnloom.protocol_tokenizer import OffsetTokenizer, ProtocolTokenizer
from turnloom.rendered import ContentMarker, Field, RenderedTokens, TokenColumns
from turnloom.renderer import Renderer, create_renderer
from turnloom.scan import TokenHits, count_tokens, find_first, find_last, scan, split_at
from turnloom.tokenizer import RaggedIds, Tokenizer, load_tokenizer
from turnloom.types import Content, ContentPart, Message, TextPart, ToolCall, ToolCallFunction, ToolSpec

if TYPE_CHECKING:
    from turnloom import client as client
    from turnloom.batch import TokenBatch
    from turnloom.chat_template import ChatTemplate
    from turnloom.configs import (
        AutoRendererConfig,
        BaseRendererConfig,
        ChatMLConfig,
        DefaultRendererConfig,
        Llama3Config,
        Llama3RendererConfig,
        Llama31Config,
        Llama32Config,
        Qwen3Config,
        Qwen3RendererConfig,
        Qwen25Config,
        RendererConfig,
        config_from_name,
        merge_chat_template_kwargs,
        template_field_names,
    )
    from turnloom.default_renderer import DefaultRenderer
    from turnloom.drift import Drift, DriftKind, Observation
    from turnloom.families import FamilyDescription, KnownFamily, describe, known_families
    from turnloom.family_renderers import Llama3Renderer, Qwen3Renderer
    from turnloom.hashing import fnv1a_64, fnv1a_64_batch, prefix_hashes
    from turnloom.model_family import MODEL_RENDERER_MAP
    from turnloom.packing import PackedBatch
    from turnloom.rendered_conversation import RenderedConversation
    from turnloom.renderer_helpers import (
        AttributedTextSegments,
        attribute_text_segments,
        extract_message_tool_names,
        introduces_user_query,
        is_multimodal,
        reject_assistant_in_extension,
        resolve_thinking_retention,
        should_rerender_for_thinking_retention,
        trim_to_turn_close,
    )
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
    "AttributedTextSegments",
    "AutoRendererConfig",
    "BaseRendererConfig",
    "BridgeRefusal",
    "BridgeRefusalReason",
    "BridgeResult",
    "ChatCompletionChunks",
    "ChatMLConfig",
    "ChatTemplate",
    "ConformedMessages",
    "Content",
    "ContentMarker",
    "ContentPart",
    "DefaultRenderer",
    "DefaultRendererConfig",
    "Delta",
    "Drift",
    "DriftKind",
    "FamilyDescription",
    "Field",
    "KnownFamily",
    "Llama3Config",
    "Llama3Renderer",
    "Llama3RendererConfig",
    "Llama31Config",
    "Llama32Config",
    "LossRule",
    "MalformedGenerateResponseError",
    "Message",
    "Observation",
    "OffsetTokenizer",
    "OverlongPromptError",
    "PackedBatch",
    "ParsedResponse",
    "ParsedToolCall",
    "ProtocolTokenizer",
    "Qwen3Config",
    "Qwen3Renderer",
    "Qwen3RendererConfig",
    "Qwen25Config",
    "RaggedIds",
    "RenderError",
    "RenderedConversation",
    "RenderedTokens",
    "RenderedTrainingSample",
    "Renderer",
    "RendererConfig",
    "Session",
    "StreamParser",
    "TemplateLimitError",
    "TemplateLimits",
    "TextPart",
    "TokenBatch",
    "TokenColumns",
    "TokenHits",
    "Tokenizer",
    "ToolCall",
    "ToolCallFunction",
    "ToolCallIdFormat",
    "ToolCallParseStatus",
    "ToolSpec",
    "TrainingSample",
    "TrajectoryStep",
    "__version__",
    "apply_text_format",
    "attribute_text_segments",
    "build_training_sample",
    "build_trajectory_step",
    "config_from_name",
    "count_tokens",
    "create_renderer",
    "describe",
    "extract_message_tool_names",
    "find_first",
    "find_last",
    "fnv1a_64",
    "fnv1a_64_batch",
    "introduces_user_query",
    "is_multimodal",
    "known_families",
    "load_tokenizer",
    "merge_chat_template_kwargs",
    "prefix_hashes",
    "reject_assistant_in_extension",
    "resolve_thinking_retention",
    "scan",
    "should_rerender_for_thinking_retention",
    "split_at",
    "template_field_names",
    "trim_to_turn_close",
]

# What is imported when it is first used: some of it needs pydantic or jinja2, and all of it takes time.
_LAZY = {
    name: f"turnloom.{module}"
    for module, names in {
        "batch": ("TokenBatch",),
        "chat_template": ("ChatTemplate",),
        "configs": (
            "AutoRendererConfig",
            "BaseRendererConfig",
            "ChatMLConfig",
            "DefaultRendererConfig",
            "Llama3Config",
            "Llama3RendererConfig",
            "Llama31Config",
            "Llama32Config",
            "Qwen3Config",
            "Qwen3RendererConfig",
            "Qwen25Config",
            "RendererConfig",
            "config_from_name",
            "merge_chat_template_kwargs",
            "template_field_names",
        ),
        "default_renderer": ("DefaultRenderer",),
        "drift": ("Drift", "DriftKind", "Observation"),
        "families": ("FamilyDescription", "KnownFamily", "describe", "known_families"),
        "family_renderers": ("Llama3Renderer", "Qwen3Renderer"),
        "hashing": ("fnv1a_64", "fnv1a_64_batch", "prefix_hashes"),
        "model_family": ("MODEL_RENDERER_MAP",),
        "packing": ("PackedBatch",),
        "rendered_conversation": ("RenderedConversation",),
        "renderer_helpers": (
            "AttributedTextSegments",
            "attribute_text_segments",
            "extract_message_tool_names",
            "introduces_user_query",
            "is_multimodal",
            "reject_assistant_in_extension",
            "resolve_thinking_retention",
            "should_rerender_for_thinking_retention",
            "trim_to_turn_close",
        ),
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
