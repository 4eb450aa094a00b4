"""Packages that encode text, all with added tokens matched and nothing added."""

import json
import unicodedata
from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np

from peers import Loaded, Peer, Rows, split


def _turnloom(path: Path, threads: int | None = None) -> Loaded:
    import turnloom

    tokenizer = turnloom.load_tokenizer(path)
    return Loaded(
        tokenizer.encode_array,
        np.asarray,
        lambda texts: tokenizer.encode_batch(texts, threads=threads),
        lambda found: split(found.ids, found.offsets),
    )


def _tokenizers(path: Path) -> Loaded:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    return Loaded(
        lambda text: tokenizer.encode(text, add_special_tokens=False),
        attrgetter("ids"),
        lambda texts: tokenizer.encode_batch_fast(texts, add_special_tokens=False),
        lambda encodings: [encoding.ids for encoding in encodings],
    )


def _tokenizers_1(path: Path) -> Loaded:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    return Loaded(
        lambda text: tokenizer.encode(text, add_special_tokens=False),
        attrgetter("ids_array"),
        lambda texts: tokenizer.encode_batch(texts, add_special_tokens=False),
        lambda encodings: [encoding.ids_array for encoding in encodings],
    )


def _fastokens(path: Path) -> Loaded:
    from fastokens import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))

    def rows(flat: tuple[bytes, bytes]) -> Rows:
        return split(np.frombuffer(flat[0], np.uint32), np.frombuffer(flat[1], np.uint64))

    return Loaded(tokenizer.encode, attrgetter("ids"), tokenizer.encode_batch_flat, rows)


def _gigatoken(path: Path) -> Loaded:
    from gigatoken import Tokenizer

    tokenizer = Tokenizer(path)
    return Loaded(
        tokenizer.encode, np.asarray, lambda texts: tokenizer.encode_batch(texts, parallel=False), list
    )


def _tiktoken(path: Path) -> Loaded:
    """Make tiktoken's tables from a tokenizer.json, where a token's rank is its id."""
    import tiktoken

    document = json.loads(path.read_bytes())
    byte_of = _byte_of_characters()
    encoding = tiktoken.Encoding(
        path.parent.name,
        pat_str=document["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"],
        mergeable_ranks={
            bytes(map(byte_of.__getitem__, token)): id_ for token, id_ in document["model"]["vocab"].items()
        },
        special_tokens={token["content"]: token["id"] for token in document["added_tokens"]},
    )

    def normalize(text: str) -> str:
        return text if document["normalizer"] is None else unicodedata.normalize("NFC", text)

    return Loaded(
        lambda text: encoding.encode(normalize(text), allowed_special="all"),
        np.asarray,
        lambda texts: encoding.encode_batch([*map(normalize, texts)], num_threads=1, allowed_special="all"),
        list,
    )


def _byte_of_characters() -> dict[str, int]:
    """Give the byte that each character of a byte-level vocabulary stands for."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(0x100) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(0x100 + i): byte for i, byte in enumerate(hidden)}


ENCODERS = [
    Peer("turnloom", "turnloom", _turnloom),
    Peer("tokenizers", "tokenizers", _tokenizers),
    Peer("tokenizers 1.0", "tokenizers", _tokenizers_1),
    Peer("fastokens", "fastokens", _fastokens),
    Peer("gigatoken", "gigatoken", _gigatoken),
    Peer("tiktoken", "tiktoken", _tiktoken),
]

THREADED_ENCODERS = [
    Peer("turnloom", "turnloom", partial(_turnloom, threads=2)),
    Peer("turnloom, one thread", "turnloom", _turnloom),
]
