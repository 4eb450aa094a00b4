"""The added tokens of a vocabulary, found by spelling."""

import re
from collections.abc import Iterable, Iterator

from turnloom.tokenizer_file import AddedToken


class AddedTokens:
    """The added tokens of a vocabulary, to be found by spelling."""

    def __init__(self, tokens: Iterable[AddedToken]) -> None:
        tokens = list(tokens)
        self.by_id = {token.id: token for token in tokens}
        self.by_content = {token.content: token for token in tokens}
        # The package looks for the second kind in normalized text, after the first kind was cut out.
        self.verbatim = Spellings(token for token in tokens if not token.normalized)
        self.normalized = Spellings(token for token in tokens if token.normalized)


class Spellings:
    """Tokens by their spelling in UTF-8."""

    def __init__(self, tokens: Iterable[AddedToken]) -> None:
        self._tokens = {token.content.encode(): token for token in tokens}
        self._lengths = sorted({len(spelling) for spelling in self._tokens})
        self._first_byte = re.compile(b"|".join({re.escape(text[:1]) for text in self._tokens}) or b"(?!)")

    def __bool__(self) -> bool:
        return bool(self._tokens)

    def candidate(self, text: bytes, begin: int, end: int) -> int:
        """Give the next position where a token may start, or `end`."""
        match = self._first_byte.search(text, begin, end)
        return end if match is None else match.start()

    def at(self, text: bytes, begin: int, end: int) -> Iterator[AddedToken]:
        """Give the tokens that start at `begin` and end by `end`, the shortest first."""
        for length in self._lengths:
            if begin + length <= end and (token := self._tokens.get(text[begin : begin + length])):
                yield token
