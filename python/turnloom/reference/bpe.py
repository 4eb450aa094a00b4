"""Byte-pair encoding of one word, written to be read: what the core's merging must agree with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True)
class Bpe:
    """A model: its tokens and the order in which pairs of them merge."""

    ids: Mapping[bytes, int]
    """Tokens by their bytes."""
    merges: Sequence[tuple[bytes, bytes]]
    """The pair that merges first is the first; the last of equal pairs counts."""
    ignore_merges: bool = False
    """A word that is a token is that token, whatever its merges say."""
    byte_tokens: Mapping[int, int] | None = None
    """Ids of bytes, for characters that are no token; without them a word begins as single bytes."""
    _ranks: dict[tuple[int, int], int] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        for rank, (left, right) in enumerate(self.merges):
            self._ranks[self.ids[left], self.ids[right]] = rank

    def encode_word(self, word: str) -> list[int]:
        """Return the token ids of a word."""
        whole = self.ids.get(word.encode()) if self.ignore_merges else None
        if whole is not None:
            return [whole]
        symbols = self._first_symbols(word)
        while True:
            pairs = list(pairwise(symbols))
            ranks = [self._ranks.get(pair, len(self.merges)) for pair in pairs]
            lowest = min(ranks, default=len(self.merges))
            if lowest == len(self.merges):
                return symbols
            at = ranks.index(lowest)
            left, right = self.merges[lowest]
            symbols[at : at + 2] = [self.ids[left + right]]

    def _first_symbols(self, word: str) -> list[int]:
        if self.byte_tokens is None:
            return [self.ids[bytes([byte])] for byte in word.encode()]
        symbols = []
        for character in map(str.encode, word):
            whole = self.ids.get(character)
            symbols += [self.byte_tokens[byte] for byte in character] if whole is None else [whole]
        return symbols
