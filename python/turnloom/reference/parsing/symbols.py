"""Token ids -> symbols: the characters of the text, and the markers of the format between them.

A marker that the vocabulary has as a token is that id and nothing else: its spelling in other ids is text. A
marker that the vocabulary lacks is its spelling.
"""

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a symbol is. Everything but a character is a marker, or the end."""

    CHARACTER = "a character"
    HEADER = "begins the header of a turn"
    THINK_OPEN = "opens reasoning"
    THINK_CLOSE = "closes reasoning"
    CALL_OPEN = "opens a call"
    CALL_CLOSE = "closes a call"
    END = "a stop token, or nothing more"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol and the tokens `[first_token, end_token)` that spell it."""

    kind: Kind
    text: str
    first_token: int
    end_token: int

    @property
    def is_space(self) -> bool:
        """Whether it is white space, as `str.strip` has it."""
        return self.kind is Kind.CHARACTER and self.text.isspace()


class SymbolReader:
    """Turns ids into symbols, as far as they are complete."""

    def __init__(
        self,
        token_bytes: Mapping[int, bytes],
        markers: Mapping[int, tuple[Kind, str]],
        spelled_markers: Mapping[str, Kind],
        stop_ids: Iterable[int],
    ) -> None:
        self._token_bytes = token_bytes
        self._markers = markers
        self._spelled_markers = spelled_markers
        self._stop_ids = frozenset(stop_ids)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._beginning: list[Symbol] = []  # characters that may begin a spelled marker
        self._n_tokens = 0
        self.ended = False

    def read(self, ids: Iterable[int]) -> list[Symbol]:
        """Give the symbols that further ids complete; none after a stop token."""
        symbols: list[Symbol] = []
        for id_ in ids:
            if self.ended:
                break
            token = self._n_tokens
            if id_ in self._stop_ids:
                symbols += self.end()
            elif id_ in self._markers:
                symbols += self._flush()
                symbols.append(Symbol(*self._markers[id_], token, token + 1))
            else:
                for character in self._decoder.decode(self._token_bytes[id_]):
                    symbols += self._characters(Symbol(Kind.CHARACTER, character, token, token + 1))
            self._n_tokens += not self.ended
        return symbols

    def end(self) -> list[Symbol]:
        """End the ids. An incomplete character is one U+FFFD."""
        if self.ended:
            return []
        self.ended = True
        return [*self._flush(), Symbol(Kind.END, "", self._n_tokens, self._n_tokens)]

    def _flush(self) -> list[Symbol]:
        token = self._n_tokens
        symbols = []
        for character in self._decoder.decode(b"", final=True):
            symbols += self._characters(Symbol(Kind.CHARACTER, character, token, token))
        symbols += self._beginning
        self._beginning = []
        return symbols

    def _characters(self, character: Symbol) -> list[Symbol]:
        """Give what a further character decides: nothing while it may be part of a spelled marker."""
        spelled = "".join(symbol.text for symbol in self._beginning) + character.text
        if spelled in self._spelled_markers:
            first_token = [*self._beginning, character][0].first_token
            self._beginning = []
            return [Symbol(self._spelled_markers[spelled], spelled, first_token, character.end_token)]
        if any(marker.startswith(spelled) for marker in self._spelled_markers):
            self._beginning.append(character)
            return []
        # No marker has its first character twice: only this one can begin another.
        before, self._beginning = self._beginning, []
        return [*before, *self._characters(character)] if before else [character]
