"""Where the tokens of a text stand in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from turnloom import _core
    from turnloom.tokenizer import Tokenizer


def token_spans(tokenizer: Tokenizer, text: str, ids: NDArray[np.int32]) -> NDArray[np.int64] | None:
    """Return the bytes of each token in the UTF-8 of the text that was encoded, int64[n_tokens, 2].

    None where the tokenizer does not tell: what is between added tokens is encoded again, and has to give the
    same ids.
    """
    pieces = _split(tokenizer, text, ids)
    if pieces is None:
        return None
    regions = [piece.text for piece in pieces if piece.token is None]
    encoded, begins, ends, counts = tokenizer._encoder.encode_regions(regions)
    if begins is None or ends is None:
        return None
    spans = np.empty((len(ids), 2), np.int64)
    token = n_encoded = region = begin = 0
    for piece in pieces:
        if piece.token is not None:
            n_tokens = 1
            spans[token] = begin, begin + piece.n_bytes
        else:
            n_tokens = int(counts[region])
            rows, source = slice(token, token + n_tokens), slice(n_encoded, n_encoded + n_tokens)
            if not np.array_equal(ids[rows], encoded[source]):
                return None
            spans[rows, 0] = begins[source] + begin
            spans[rows, 1] = ends[source] + begin
            n_encoded += n_tokens
            region += 1
        token += n_tokens
        begin += piece.n_bytes
    return spans if token == len(ids) else None


@dataclass(slots=True)
class _Piece:
    """An added token, or the text between two."""

    text: str
    token: _core.AddedToken | None = None

    @property
    def n_bytes(self) -> int:
        return len(self.text.encode())


def _split(tokenizer: Tokenizer, text: str, ids: NDArray[np.int32]) -> list[_Piece] | None:
    added = {token.id: token for token in tokenizer._core.added_tokens}
    pieces = []
    end = 0
    for id_ in ids[np.isin(ids, list(added))].tolist():
        token = added[id_]
        begin = text.find(token.content, end)
        if begin < 0:
            return None
        behind = begin + len(token.content)
        # Some take the white space beside them.
        if token.lstrip:
            begin = end + len(text[end:begin].rstrip())
        if token.rstrip:
            behind = len(text) - len(text[behind:].lstrip())
        pieces += [_Piece(text[end:begin]), _Piece(text[begin:behind], token)]
        end = behind
    return [piece for piece in [*pieces, _Piece(text[end:])] if piece.text]
