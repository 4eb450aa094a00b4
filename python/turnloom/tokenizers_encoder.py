"""The text encoder over the `tokenizers` package, with the byte span of every token."""

import json
import tempfile
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import tokenizers
from numpy.typing import NDArray

from turnloom._core import declared_markers
from turnloom._json_files import JsonObject
from turnloom.tokenizer_file import (
    Vocabulary,
    all_ids,
    pipeline_parts,
    read_vocabulary,
    token_bytes,
)

Encoded: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


class TokenizersEncoder:
    """Encodes text in which no added token is to be matched. Immutable.

    Added tokens that are looked for in normalised text are the exception: only this side sees that text.
    """

    __slots__ = ("_id_map", "_package", "_token_bytes", "_vocabulary")

    def __init__(self, tokenizer_json: JsonObject, vocabulary: Vocabulary | None = None) -> None:
        """Build the tokenizer of the package.

        Args:
            vocabulary: what `read_vocabulary` gave for the same file, to not read it twice.

        Raises:
            ValueError: the file is none that the package, or this class, can work with.
            NotImplementedError: the installed package has no offsets, and this file needs them.
        """
        self._vocabulary = vocabulary or read_vocabulary(tokenizer_json, declared_markers())
        self._token_bytes = token_bytes(tokenizer_json, self._vocabulary)
        _check_position_free(tokenizer_json)
        kept = self._vocabulary.matched_after_normalizing
        # The post-processor would add tokens, or trim offsets.
        stripped = tokenizer_json | {
            "added_tokens": [],
            "post_processor": None,
            "truncation": None,
            "padding": None,
        }
        self._id_map: NDArray[np.int32] | None = None
        if kept:
            stripped, self._id_map = _with_added_tokens(stripped, self._vocabulary)
        self._package = package_tokenizer(stripped)
        if not self._vocabulary.byte_level and not self._has_offsets:
            raise self._no_offsets("a tokenizer that is not byte-level")

    @property
    def decoder(self) -> Any:
        """The package's decoder object, or None."""
        return self._package.decoder

    @property
    def _has_offsets(self) -> bool:
        return hasattr(tokenizers.Encoding, "offsets")

    def encode_regions(self, regions: list[str]) -> Encoded:
        """Encode every region by itself.

        Returns:
            ids int32[n], begins int64[n] and ends int64[n] in UTF-8 bytes of the token's own region, and
            counts int64[len(regions)], the number of tokens of each region.

        Raises:
            NotImplementedError: normalisation changes a region, and the installed package has no offsets.
        """
        byte_level = self._vocabulary.byte_level
        encodings = self._encode_batch(regions, offsets=not byte_level)
        counts = np.fromiter(map(len, encodings), np.int64, len(encodings))
        ids = self._ids(encodings, int(counts.sum()))
        pieces = [self._token_bytes[id_] for id_ in ids.tolist()]
        region_ends = np.cumsum(counts)
        region_begins = region_ends - counts
        # As if the tokens of a region spelled it byte by byte; where they don't, the package knows.
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        sums = np.concatenate(([0], np.cumsum(lengths)))
        region_offsets = np.repeat(sums[region_begins], counts)
        begins = sums[:-1] - region_offsets
        ends = sums[1:] - region_offsets

        sources = [region.encode() for region in regions]
        spans = [slice(*span) for span in zip(region_begins.tolist(), region_ends.tolist(), strict=True)]
        changed = [
            k
            for k, (span, source) in enumerate(zip(spans, sources, strict=True))
            if b"".join(pieces[span]) != source
        ]
        if changed and byte_level:
            encodings = self._encode_batch([regions[k] for k in changed], offsets=True)
        else:
            encodings = [encodings[k] for k in changed]
        for k, encoding in zip(changed, encodings, strict=True):
            span = spans[k]
            begins[span], ends[span] = _source_spans(
                regions[k], sources[k], encoding.offsets, pieces[span], close_gaps=byte_level
            )
        return ids, begins, ends, counts

    def _encode_batch(self, regions: list[str], *, offsets: bool) -> list[Any]:
        if offsets and not self._has_offsets:
            raise self._no_offsets("text that normalisation changes")
        if offsets or not hasattr(self._package, "encode_batch_fast"):
            encode_batch = self._package.encode_batch
        else:
            encode_batch = self._package.encode_batch_fast
        encodings: list[Any] = encode_batch(regions, add_special_tokens=False)
        return encodings

    def _ids(self, encodings: list[Any], n_tokens: int) -> NDArray[np.int32]:
        ids = np.empty(n_tokens, np.int32)
        begin = 0
        for encoding in encodings:
            end = begin + len(encoding)
            ids[begin:end] = encoding.ids
            begin = end
        return ids if self._id_map is None else self._id_map[ids]

    def _no_offsets(self, what: str) -> NotImplementedError:
        return NotImplementedError(
            f"tokenizers {tokenizers.__version__} gives no offsets, which {what} needs"
        )


def package_tokenizer(document: JsonObject) -> Any:
    """Load a parsed tokenizer.json with the `tokenizers` package.

    Raises:
        ValueError: the package does not accept it.
    """
    text = json.dumps(document)
    try:
        if hasattr(tokenizers.Tokenizer, "from_str"):
            return tokenizers.Tokenizer.from_str(text)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tokenizer.json"
            path.write_text(text, encoding="ascii")
            return tokenizers.Tokenizer.from_file(str(path))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # the package raises the base class, and a panic in it is not even that
        raise ValueError(f"the tokenizers package refuses it: {error}") from error


def _with_added_tokens(stripped: JsonObject, vocabulary: Vocabulary) -> tuple[JsonObject, NDArray[np.int32]]:
    """Put the added tokens back that match normalised text.

    The package numbers them anew, so the second result maps its ids to those of the whole file.
    """
    kept = vocabulary.matched_after_normalizing
    entries = [
        {
            "id": 0,
            "content": token.content,
            "single_word": token.single_word,
            "lstrip": token.lstrip,
            "rstrip": token.rstrip,
            "normalized": True,
            "special": False,
        }
        for token in kept
    ]
    renumbered = _renumbered(stripped | {"added_tokens": entries})
    for entry in entries:
        entry["id"] = renumbered[str(entry["content"])]
    id_map = np.arange(max(renumbered.values()) + 1, dtype=np.int32)
    for token in kept:
        id_map[renumbered[token.content]] = token.id
    return stripped | {"added_tokens": entries}, id_map


def _renumbered(document: JsonObject) -> dict[str, int]:
    return all_ids(document, read_vocabulary(document, ()))


def _check_position_free(document: JsonObject) -> None:
    """Refuse a pipeline that encodes the beginning of a text unlike the same characters further on."""
    for part in pipeline_parts(document, "pre_tokenizer", "pretokenizers"):
        if part["type"] == "Metaspace" and part.get("prepend_scheme") == "first":
            raise ValueError("pre_tokenizer: Metaspace with prepend_scheme 'first' is not supported")


def _source_spans(
    region: str, source: bytes, char_offsets: list[tuple[int, int]], pieces: list[bytes], *, close_gaps: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Turn the package's character offsets into bytes of the region.

    Args:
        source: the region's UTF-8.
        pieces: what each token spells.
        close_gaps: the pipeline drops nothing, so a character between two tokens was composed into the first.
    """
    if not char_offsets:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    characters = np.frombuffer(region.encode("utf-32-le"), "<u4")
    widths = 1 + (characters >= 0x80).astype(np.int64) + (characters >= 0x800) + (characters >= 0x10000)
    character_bytes = np.concatenate(([0], np.cumsum(widths)))
    offsets = np.array(char_offsets, np.int64)
    begins, ends = character_bytes[offsets[:, 0]], character_bytes[offsets[:, 1]]
    if close_gaps:
        following = np.append(begins, len(source))
        ends = following[np.searchsorted(begins, ends)]

    # Tokens that share a character, and together spell the source as it is, get their own bytes of it.
    reach = np.maximum.accumulate(ends)
    group_begins = np.flatnonzero(np.append(True, begins[1:] >= reach[:-1]))
    group_ends = np.append(group_begins[1:], len(begins))
    shared = group_ends - group_begins > 1
    for first, last in zip(group_begins[shared].tolist(), group_ends[shared].tolist(), strict=True):
        spelled = pieces[first:last]
        begin = int(begins[first])
        if b"".join(spelled) == source[begin : int(reach[last - 1])]:
            bounds = begin + np.cumsum([0, *map(len, spelled)])
            begins[first:last], ends[first:last] = bounds[:-1], bounds[1:]
    return begins, ends
