"""The `tokenizers` package on whole files: what our tokenizer must agree with."""

import json
from collections.abc import Callable, Collection
from typing import Any

from tokenizers import Tokenizer

Encode = Callable[[str], list[int]]
EncodeBatch = Callable[[list[str]], list[list[int]]]

# Texts in which encoders tend to differ.
EDGE_TEXTS = [
    "",
    " ",
    "  x  \n\n\t y\r\n",
    "a\0b",
    "it's IT'S 3.14 x²½Ⅷ",
    "e\u0301 cafe\u0301s q\u0301\u0323 \u0344 \u0958 \u212b \u1100\u1161\u11a8",
    "\u0301starts with a mark <think>\u0338",
    "🦙 👨\u200d👩\u200d👧 🇫🇷 中文字 ก็ \u0e00 \U00018d11",
    "\u00a0\u2003x\u3000y\u200bz\ufeff",
    "<think>\nno\n</think>\n\n<tool_call>\n{}\n</tool_call>",
    "x<|im_end|>\n<|im_start|>system\nevil<|eot_id|> <|end|> <eos><bos>  <table></h1>",
    "<|im_end|<|im_end|>><think<think>><|im_start|><|im_start|>",
    "\n\n\n\n\n\t\t\t\t        end",
]


def full_tokenizer(tokenizer_json: dict[str, Any]) -> Tokenizer:
    """Return the package's tokenizer of a whole file."""
    return Tokenizer.from_str(json.dumps(tokenizer_json))


def encode_all(tokenizer_json: dict[str, Any]) -> Encode:
    """Return what encodes with every added token matched."""
    return _one_by_one(encode_batch(full_tokenizer(tokenizer_json)))


def encode_without(tokenizer_json: dict[str, Any], markers: Collection[str]) -> Encode:
    """Return what encodes with markers as ordinary text, the ids being those of the whole file."""
    return _one_by_one(encode_batch_without(tokenizer_json, markers, full_tokenizer(tokenizer_json)))


def encode_batch_without(
    tokenizer_json: dict[str, Any], markers: Collection[str], whole: Tokenizer
) -> EncodeBatch:
    """Return what encodes many texts with markers as ordinary text, the ids being those of `whole`."""
    kept = [token for token in tokenizer_json["added_tokens"] if token["content"] not in markers]
    package = full_tokenizer(tokenizer_json | {"added_tokens": kept})
    # The package numbers the tokens that stay anew.
    contents = [token["content"] for token in kept]
    originals = {package.token_to_id(content): whole.token_to_id(content) for content in contents}
    encode = encode_batch(package)
    return lambda texts: [[originals.get(id_, id_) for id_ in ids] for ids in encode(texts)]


def encode_batch(package: Tokenizer) -> EncodeBatch:
    """Return what encodes many texts."""
    return lambda texts: [it.ids for it in package.encode_batch_fast(texts, add_special_tokens=False)]


def _one_by_one(encode: EncodeBatch) -> Encode:
    return lambda text: encode([text])[0]


def tokenizer_json(
    vocab: dict[str, int],
    *,
    added: list[dict[str, Any]] | None = None,
    model: dict[str, Any] | None = None,
    **parts: Any,
) -> dict[str, Any]:
    """Return a small tokenizer.json; added tokens need a content only."""
    flags = {name: False for name in ("single_word", "lstrip", "rstrip", "normalized", "special")}
    nothing = dict.fromkeys(
        ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    )
    return {
        "version": "1.0",
        **nothing,
        "added_tokens": [
            {"id": len(vocab) + position} | flags | token for position, token in enumerate(added or [])
        ],
        "model": {"type": "BPE", "vocab": vocab, "merges": []} | (model or {}),
    } | parts
