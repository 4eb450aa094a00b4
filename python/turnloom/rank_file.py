"""Files of ranks, as the `tiktoken` package has them: a token in base64 and its rank on every line."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import dataclass

from turnloom._json_files import JsonObject
from turnloom._split_patterns import SPLIT_PATTERNS
from turnloom.tokenizer_file import AddedToken, Vocabulary, bytes_to_alphabet

RANKS = "ranks"
"""The type of a model whose merges follow from the ids of its tokens."""

_PATTERN_OF_NAME = {name: patterns[0] for patterns, name in SPLIT_PATTERNS.items() if len(patterns) == 1}


@dataclass(frozen=True, slots=True)
class RankSettings:
    """What a file of ranks does not say; see `load_tokenizer`. None where the caller says nothing either."""

    pattern: str | None = None
    special_tokens: Mapping[str, int] | str | None = None
    nfc: bool | None = None

    def refuse(self) -> None:
        """Raise a TypeError if anything is set: the source is none of ranks."""
        for name in ("pattern", "special_tokens", "nfc"):
            if getattr(self, name) is not None:
                raise TypeError(f"{name}: only for files of ranks, a tokenizer.json says it itself")


@dataclass(frozen=True, slots=True)
class _KnownFile:
    pattern: str
    special_tokens: Mapping[str, int]
    nfc: bool = False


def _numbered(first: int, *tokens: str) -> dict[str, int]:
    return {token: first + position for position, token in enumerate(tokens)}


_QWEN = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_O200K = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
# By the name of the file, without its ending.
_KNOWN_FILES = {
    "r50k_base": _KnownFile("gpt2", {"<|endoftext|>": 50256}),
    "p50k_base": _KnownFile("gpt2", {"<|endoftext|>": 50256}),
    "cl100k_base": _KnownFile(
        "cl100k",
        _numbered(100257, "<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
        | {"<|endofprompt|>": 100276},
    ),
    "o200k_base": _KnownFile("o200k", _O200K),
    "o200k_harmony": _KnownFile(
        "o200k",
        {f"<|reserved_{id_}|>": id_ for id_ in range(200000, 201088)}
        | {
            "<|startoftext|>": 199998,
            "<|return|>": 200002,
            "<|constrain|>": 200003,
            "<|channel|>": 200005,
            "<|start|>": 200006,
            "<|end|>": 200007,
            "<|message|>": 200008,
            "<|call|>": 200012,
        }
        | _O200K,
    ),
    "qwen": _KnownFile("qwen2", _numbered(151643, *_QWEN, *(f"<|extra_{n}|>" for n in range(205))), nfc=True),
}


def is_rank_file(path: str) -> bool:
    """Whether the name of a file says that it is one of ranks."""
    return path.endswith(".tiktoken") or os.path.basename(path) == "tiktoken.model"


def read_rank_file(
    content: bytes, name: str, config: JsonObject, settings: RankSettings
) -> tuple[JsonObject, Vocabulary]:
    """Return what a tokenizer.json with the same tokens would hold, but for its merges: they follow from ids.

    Args:
        name: of the file, without its folder.
        config: the `tokenizer_config.json` beside it, empty if there is none.

    Raises:
        TypeError: a setting has the wrong type.
        ValueError: the file is none of ranks, or nothing says how it splits text.
    """
    known = _KNOWN_FILES.get(name.removesuffix(".tiktoken"))
    pattern = settings.pattern or config.get("pat_str") or (known and known.pattern)
    if not isinstance(pattern, str):
        raise ValueError("pattern: neither an argument nor a tokenizer_config.json gives it")
    nfc = known is not None and known.nfc if settings.nfc is None else settings.nfc
    special = settings.special_tokens
    if special is None or isinstance(special, str):
        special = _special_tokens_of(config, special) or (known.special_tokens if known else {})
    document: JsonObject = {
        "model": {"type": RANKS, "vocab": _read_ranks(content), "ignore_merges": True},
        "normalizer": {"type": "NFC"} if nfc else None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {
                    "type": "Split",
                    "pattern": {"Regex": _PATTERN_OF_NAME.get(pattern, pattern)},
                    "behavior": "Isolated",
                    "invert": False,
                },
                {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
            ],
        },
        "decoder": {"type": "ByteLevel"},
    }
    added = _added_tokens(special, document["model"]["vocab"])
    return document, Vocabulary(added=added, byte_level=True, identity_normalizer=not nfc)


def _read_ranks(content: bytes) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            token, rank = line.split()
            ranks[bytes_to_alphabet(base64.b64decode(token, validate=True))] = int(rank)
        except (ValueError, binascii.Error):
            raise ValueError(f"line {number}: expected a token in base64 and its rank") from None
    return ranks


def _special_tokens_of(config: JsonObject, name: str | None) -> dict[str, int]:
    """Read the special tokens of a tokenizer_config.json: one set of them, or several by name."""
    decoder = config.get("added_tokens_decoder")
    if isinstance(decoder, dict):
        return {token["content"]: int(id_) for id_, token in decoder.items()}
    found = config.get("special_tokens")
    if isinstance(found, dict) and found and all(isinstance(entry, dict) for entry in found.values()):
        name = name or list(found)[-1]
        if name not in found:
            raise ValueError(
                f"special_tokens: no set {name!r} in the tokenizer_config.json, but {list(found)}"
            )
        found = found[name]
    elif name is not None:
        raise ValueError(f"special_tokens: the tokenizer_config.json has no sets, and so no {name!r}")
    return found if isinstance(found, dict) else {}


def _added_tokens(special_tokens: Mapping[str, int], vocab: Mapping[str, int]) -> tuple[AddedToken, ...]:
    ranks = set(vocab.values())
    for token, id_ in special_tokens.items():
        if not isinstance(token, str) or type(id_) is not int:
            raise TypeError(f"special_tokens: expected str and int, got {token!r} and {id_!r}")
        if not token or not 0 <= id_ < 2**31 or id_ in ranks:
            raise ValueError(f"special_tokens[{token!r}]: {id_} is no id for it")
    return tuple(
        AddedToken(content=token, id=id_, special=True, marker=True)
        for token, id_ in sorted(special_tokens.items(), key=lambda entry: entry[1])
    )
