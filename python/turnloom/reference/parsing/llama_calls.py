"""Calls as Llama 3.1 to 3.3 write them: JSON that is the whole answer, or stands behind `<|python_tag|>`.

    {"name": "f", "parameters": {}}
    {"name": "f", "parameters": {}}; {"name": "g", "parameters": {}}
    [{"name": "f", "parameters": {}}, {"name": "g", "parameters": {}}]
    <|python_tag|>{"name": "f", "parameters": {}}

An answer that begins with JSON is one of calls when its first object is a call and only white space or
another object follows; until then all of it is held back. What stands behind the tag is a call in any case,
if it begins like one.
"""

from collections.abc import Collection
from dataclasses import dataclass

from turnloom.reference.parsing.call_reader import CallReader, CallShape
from turnloom.reference.parsing.queue import Parsing, SymbolQueue
from turnloom.reference.parsing.response import ResponseWriter
from turnloom.reference.parsing.symbols import Kind, Symbol


@dataclass(frozen=True, slots=True)
class LlamaAnswer:
    """Reads one answer."""

    queue: SymbolQueue
    out: ResponseWriter
    known_tools: Collection[str]

    @property
    def shape(self) -> CallShape:
        """What a call is."""
        return CallShape(("parameters", "arguments"), needs_object=True, known_tools=self.known_tools)

    def read(self) -> Parsing[None]:
        """Read text and calls up to the end."""
        if (yield from self._begins_with_call()):
            yield from self._read_calls(None)
        while True:
            symbol = yield from self.queue.take()
            if symbol.kind is Kind.END:
                return
            if symbol.kind is Kind.CALL_OPEN and (yield from self._begins_call()):
                yield from self._read_calls(symbol)
            else:
                self.out.content(symbol.text)

    def _begins_call(self) -> Parsing[bool]:
        """Look whether `{`, or `[` and `{`, comes next."""
        taken: list[Symbol] = []
        symbol = yield from self.queue.take_after_space(taken)
        if symbol.text == "[":
            symbol = yield from self.queue.take_after_space(taken)
        self.queue.give_back(*taken)
        return symbol.text == "{"

    def _begins_with_call(self) -> Parsing[bool]:
        """Look whether the answer is one of calls."""
        taken: list[Symbol] = []
        found = yield from self._look_at_answer(taken)
        self.queue.give_back(*taken)
        return found

    def _look_at_answer(self, taken: list[Symbol]) -> Parsing[bool]:
        symbol = yield from self.queue.take_after_space(taken)
        in_list = symbol.text == "["
        if in_list:
            symbol = yield from self.queue.take_after_space(taken)
        if symbol.text != "{":
            return False
        call = CallReader(self.shape, 0)
        call.add(symbol)
        while not call.complete:
            symbol = yield from self.queue.take()
            symbols = yield from self._take_text(call, symbol)
            taken += symbols or [symbol]
            for symbol in symbols:
                call.add(symbol)
            if not symbols or call.failed:
                return False
        if not call.is_call():
            return False
        symbol = yield from self.queue.take_after_space(taken)
        if in_list and symbol.text == "]":
            in_list = False
            symbol = yield from self.queue.take_after_space(taken)
        if symbol.text == (separator := "," if in_list else ";"):
            symbol = yield from self.queue.take_after_space(taken)
            return symbol.text == "{" or (symbol.kind is Kind.END and separator == ";")
        return symbol.kind is Kind.END and not in_list

    def _read_calls(self, tag: Symbol | None) -> Parsing[None]:
        """Read objects, in a list or not, until something else comes."""
        symbol = yield from self.queue.take_after_space([])
        in_list = symbol.text == "["
        if in_list:
            symbol = yield from self.queue.take_after_space([])
        yield from self._read_object(symbol, tag or symbol)
        while True:
            taken: list[Symbol] = []
            symbol = yield from self.queue.take_after_space(taken)
            if in_list and symbol.text == "]":
                in_list = False
                symbol = yield from self.queue.take_after_space(taken)
            if symbol.text == ("," if in_list else ";"):
                symbol = yield from self.queue.take_after_space(taken)
                if symbol.text == "{":
                    yield from self._read_object(symbol, symbol)
                    continue
            # At the end, what separates calls goes with them.
            return self.queue.give_back(*(taken if symbol.kind is not Kind.END else [symbol]))

    def _read_object(self, brace: Symbol, opener: Symbol) -> Parsing[None]:
        call = CallReader(self.shape, opener.first_token, self.out)
        call.add(brace)
        while not call.complete:
            symbol = yield from self.queue.take()
            symbols = yield from self._take_text(call, symbol)
            if not symbols:
                self.queue.give_back(symbol)
                return call.close(symbol.first_token) if call.failed else call.break_off(symbol.first_token)
            for symbol in symbols:
                call.add(symbol)
        return call.close(symbol.end_token)

    def _take_text(self, call: CallReader, symbol: Symbol) -> Parsing[list[Symbol]]:
        """Take what is text of an object, from `symbol` on: nothing if that ends the object."""
        if symbol.kind is Kind.END:
            return []
        if symbol.kind is not Kind.CALL_OPEN:
            return [symbol]
        return ((yield from self.queue.take_string(call, symbol)) if call.in_string else None) or []
