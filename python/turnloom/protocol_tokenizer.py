"""Tokenizers known by their methods alone: `encode`, `decode`, `convert_tokens_to_ids`, perhaps offsets."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Protocol, TypeAlias, TypeGuard, runtime_checkable

import numpy as np

from turnloom._core_types import EncodedRegions, EncodedWithoutOffsets
from turnloom._ids import TokenIds, token_id_array
from turnloom.tokenizer_decoder import StreamDecoder, TextDifference
from turnloom.tokenizer_file import AddedToken, Vocabulary

Span: TypeAlias = tuple[int, int]


@runtime_checkable
class ProtocolTokenizer(Protocol):
    """What a tokenizer must have at least.

    One that can be called as a transformers tokenizer, with `return_offsets_mapping=True`, also tells where
    its tokens stand; without that, attribution that needs it is not available.
    """

    def encode(self, text: str, *, add_special_tokens: bool = False) -> list[int]: ...
    def decode(self, ids: list[int], *, skip_special_tokens: bool = False) -> str: ...
    def convert_tokens_to_ids(self, tokens: str) -> int | None: ...


@runtime_checkable
class OffsetTokenizer(ProtocolTokenizer, Protocol):
    """One that also tells where its tokens stand: it gives `input_ids`, `offset_mapping` in characters."""

    def __call__(
        self, text: str, *, add_special_tokens: bool = False, return_offsets_mapping: bool = True
    ) -> Mapping[str, Any]: ...


def is_known_by_methods(source: object) -> TypeGuard[ProtocolTokenizer]:
    """Whether nothing but the methods of a source tells about it: it has them, and no `backend_tokenizer`."""
    return isinstance(source, ProtocolTokenizer) and not hasattr(source, "backend_tokenizer")


def read_protocol_vocabulary(tokenizer: ProtocolTokenizer, spellings: Iterable[str]) -> Vocabulary:
    """Find out which control tokens it has: those of `spellings` that it encodes as the one id it names."""
    added = []
    for content in sorted({*spellings, *getattr(tokenizer, "all_special_tokens", ())}):
        id_ = tokenizer.convert_tokens_to_ids(content)
        if isinstance(id_, int) and list(tokenizer.encode(content, add_special_tokens=False)) == [id_]:
            added.append(AddedToken(content, id_, special=True, marker=True))
    return Vocabulary(added=tuple(added), byte_level=False, identity_normalizer=True)


class ProtocolEncoder:
    """Encodes text in which no added token is to be matched, with the methods of the tokenizer."""

    __slots__ = ("_has_offsets", "_markers", "_tokenizer")

    def __init__(self, tokenizer: ProtocolTokenizer, vocabulary: Vocabulary) -> None:
        self._tokenizer = tokenizer
        self._markers = {token.id: token.content for token in vocabulary.added}
        self._has_offsets = _gives_offsets(tokenizer)

    @property
    def has_offsets(self) -> bool:
        """Whether the tokenizer tells where its tokens stand."""
        return self._has_offsets

    def encode_regions(self, regions: list[str]) -> EncodedRegions | EncodedWithoutOffsets:
        """Encode every region by itself.

        Returns:
            ids int32[n], begins and ends int64[n] in UTF-8 bytes of the token's own region, or None where the
            tokenizer tells no offsets, and counts int64[len(regions)].

        Raises:
            ValueError: a region spells a control token, and this tokenizer cannot take it for text.
        """
        rows = [self._encode(region) for region in regions]
        ids = np.array([id_ for row, _ in rows for id_ in row], np.int32)
        counts = np.array([len(row) for row, _ in rows], np.int64)
        if not self._has_offsets:
            return ids, None, None, counts
        spans = np.array([span for _, row in rows for span in row], np.int64).reshape(-1, 2)
        return ids, np.ascontiguousarray(spans[:, 0]), np.ascontiguousarray(spans[:, 1]), counts

    def _encode(self, region: str) -> tuple[Sequence[int], Sequence[Span]]:
        if self._has_offsets:
            encoding = _call(self._tokenizer)(region, add_special_tokens=False, return_offsets_mapping=True)
            ids, offsets = encoding["input_ids"], encoding["offset_mapping"]
        else:
            ids, offsets = self._tokenizer.encode(region, add_special_tokens=False), ()
        for id_ in ids:
            if id_ in self._markers:
                raise ValueError(
                    f"tokenizer: it cannot keep the text {self._markers[id_]!r} from becoming a control "
                    "token; use a tokenizer.json, or marker_policy='all'"
                )
        byte_at = [0, *accumulate(len(character.encode()) for character in region)]
        return ids, _own_bytes([(byte_at[begin], byte_at[end]) for begin, end in offsets])


def _own_bytes(spans: list[Span]) -> list[Span]:
    """Give tokens that share a character, one for each of its bytes, a byte each."""
    own = list(spans)
    first = 0
    for last, (span, following) in enumerate(pairwise([*spans, None])):
        if span == following:
            continue
        begin, end = span or (0, 0)
        if last - first + 1 == end - begin > 1:
            own[first : last + 1] = [(byte, byte + 1) for byte in range(begin, end)]
        first = last + 1
    return own


def _gives_offsets(tokenizer: ProtocolTokenizer) -> bool:
    if not callable(tokenizer):
        return False
    try:
        encoding = _call(tokenizer)("a", add_special_tokens=False, return_offsets_mapping=True)
        return len(encoding["offset_mapping"]) == len(encoding["input_ids"])
    except Exception:  # whatever it raises, it gives none
        return False


def _call(tokenizer: ProtocolTokenizer) -> Callable[..., Any]:
    call: Callable[..., Any] = tokenizer  # type: ignore[assignment]  # perhaps a transformers tokenizer
    return call


class ProtocolTokenTable:
    """Decodes with the tokenizer's own method."""

    __slots__ = ("_ids", "_tokenizer", "_tokens")

    def __init__(self, tokenizer: ProtocolTokenizer, vocabulary: Vocabulary) -> None:
        self._tokenizer = tokenizer
        self._ids = {token.content: token.id for token in vocabulary.added}
        self._tokens = {token.id: token.content for token in vocabulary.added}

    def __len__(self) -> int:
        size = getattr(self._tokenizer, "vocab_size", None)
        return max(size if isinstance(size, int) else 0, 1 + max(self._tokens, default=-1))

    def token_to_id(self, token: str) -> int | None:
        if token in self._ids:
            return self._ids[token]
        id_ = self._tokenizer.convert_tokens_to_ids(token)
        return None if id_ == getattr(self._tokenizer, "unk_token_id", None) else id_

    def id_to_token(self, id: int) -> str | None:
        convert = getattr(self._tokenizer, "convert_ids_to_tokens", None)
        if id in self._tokens or convert is None:
            return self._tokens.get(id)
        token = convert(id)
        return token if isinstance(token, str) else None

    def decode(self, ids: TokenIds, *, skip_special_tokens: bool) -> str:
        return self._decode(token_id_array(ids, "ids").tolist(), skip_special_tokens)

    def decode_bytes(self, ids: TokenIds) -> bytes:
        return self.decode(ids, skip_special_tokens=False).encode()

    def decode_batch(self, batch: list[TokenIds], *, skip_special_tokens: bool) -> list[str]:
        rows = [token_id_array(ids, f"batch[{row}]").tolist() for row, ids in enumerate(batch)]
        return [self._decode(ids, skip_special_tokens) for ids in rows]

    def stream_decoder(self, *, skip_special_tokens: bool) -> StreamDecoder:
        return TextDifference(lambda ids: self._decode(ids, skip_special_tokens))

    def _decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
