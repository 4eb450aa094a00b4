"""turnloom in pure Python, written for reading: what the native core is tested against.

The calls have the same names, arguments, results and exceptions as those of `turnloom`. No public call falls
back to it.
"""

from turnloom.reference.hashing import fnv1a_64, fnv1a_64_batch, prefix_hashes
from turnloom.reference.renderer import Renderer, create_renderer
from turnloom.reference.scan import count_tokens, find_first, find_last, scan, split_at
from turnloom.reference.text_format import apply_text_format
from turnloom.reference.tool_call_ids import ToolCallIdFormat

__all__ = [
    "Renderer",
    "ToolCallIdFormat",
    "apply_text_format",
    "count_tokens",
    "create_renderer",
    "find_first",
    "find_last",
    "fnv1a_64",
    "fnv1a_64_batch",
    "prefix_hashes",
    "scan",
    "split_at",
]
