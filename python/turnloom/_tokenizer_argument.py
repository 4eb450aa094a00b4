"""The one check of a tokenizer that a caller passes in."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, TypeAlias

from turnloom.protocol_tokenizer import ProtocolTokenizer
from turnloom.tokenizer import Tokenizer, load_tokenizer

if TYPE_CHECKING:
    import tokenizers

    from turnloom.tokenizer_source import TransformersTokenizer

TokenizerObject: TypeAlias = "Tokenizer | tokenizers.Tokenizer | TransformersTokenizer | ProtocolTokenizer"


def own_tokenizer(tokenizer: TokenizerObject) -> Tokenizer:
    """Return the tokenizer that an object stands for, one of turnloom as it is.

    Raises:
        TypeError: it is no tokenizer. A name or a path is none: loading is for `load_tokenizer`.
        ValueError: turnloom cannot use it.
    """
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    is_tokenizer = not isinstance(tokenizer, (str, bytes, PathLike)) and hasattr(tokenizer, "encode")
    if not is_tokenizer:
        raise TypeError(f"tokenizer: expected a tokenizer, got {type(tokenizer).__name__}")
    return load_tokenizer(tokenizer)
