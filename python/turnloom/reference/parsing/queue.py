"""Symbols for a grammar that asks for one after the other, and may give some back.

Grammars are generators: where they wait for a symbol, they yield.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from turnloom.reference.parsing.call_reader import CallReader
from turnloom.reference.parsing.json_scanner import SPACE
from turnloom.reference.parsing.symbols import Kind, Symbol

Result = TypeVar("Result")
Parsing: TypeAlias = Generator[None, Symbol, Result]


@dataclass(slots=True)
class SymbolQueue:
    """Symbols to read: those given back, then those that are sent."""

    _given_back: list[Symbol] = field(default_factory=list)

    def take(self) -> Parsing[Symbol]:
        """Take the next symbol."""
        return self._given_back.pop() if self._given_back else (yield)

    def give_back(self, *symbols: Symbol) -> None:
        """Let symbols be the next ones. The end has to be given back by whoever takes it and goes on."""
        self._given_back += reversed(symbols)

    def take_after_space(self, taken: list[Symbol]) -> Parsing[Symbol]:
        """Take the next symbol that is no white space. All that is taken is added to `taken`."""
        while True:
            symbol = yield from self.take()
            taken.append(symbol)
            if not symbol.is_space:
                return symbol

    def take_string(self, call: CallReader, marker: Symbol) -> Parsing[list[Symbol] | None]:
        """Take the rest of a JSON string if markers in it, `marker` the first, are text of it.

        They are if the string goes on and closes, and no opener stands behind a close marker in it. If it
        holds an opener, what follows the string has to be in its place, too: an opener is rather the next
        call. None means that the marker does what it does elsewhere.
        """
        scanner = call.scanner()
        taken = [marker]
        kinds = {marker.kind}
        for character in marker.text:
            scanner.feed(character)
        while scanner.string_is_open:
            symbol = yield from self.take()
            taken.append(symbol)
            if symbol.kind is Kind.END or (symbol.kind is Kind.CALL_OPEN and Kind.CALL_CLOSE in kinds):
                self.give_back(*taken[1:])
                return None
            kinds.add(symbol.kind)
            for character in symbol.text:
                scanner.feed(character)
        if not scanner.failed and Kind.CALL_OPEN in kinds:
            following: list[Symbol] = []
            while not following or following[-1].text in SPACE:
                following.append((yield from self.take()))
                if following[-1].kind is Kind.END:
                    break
                for character in following[-1].text:
                    scanner.feed(character)
            if scanner.failed:
                taken += following
            else:
                self.give_back(*following)
        if scanner.failed:
            self.give_back(*taken[1:])
            return None
        return taken
