"""Vocabularies of the offline tests: the builtin one, and one whose added tokens have every flag there is."""

import json
from functools import cache
from importlib import resources
from typing import Any

import tokenizers

import turnloom

NAMES = ("builtin", "odd")


@cache
def tokenizer_json(name: str) -> dict[str, Any]:
    """Give the parsed tokenizer.json."""
    path = resources.files("turnloom").joinpath("builtin/tokenizer.json")
    document = json.loads(path.read_bytes())
    return document if name == "builtin" else document | {"added_tokens": _odd_added_tokens(document)}


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
