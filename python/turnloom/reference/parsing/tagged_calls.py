r"""Calls as JSON between tags: those of Hermes, Qwen2.5 and Qwen3.

<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>
"""

from turnloom.reference.parsing.call_reader import CallReader, CallShape
from turnloom.reference.parsing.queue import Parsing, SymbolQueue
from turnloom.reference.parsing.response import ResponseWriter
from turnloom.reference.parsing.symbols import Kind, Symbol

SHAPE = CallShape(arguments_keys=("arguments",))


def read_tagged_answer(queue: SymbolQueue, out: ResponseWriter) -> Parsing[None]:
    """Read text and calls up to the end."""
    while True:
        symbol = yield from queue.take()
        if symbol.kind is Kind.END:
            return
        if symbol.kind is Kind.CALL_OPEN:
            yield from _read_block(queue, symbol, out)
        else:
            out.content(symbol.text)


def _read_block(queue: SymbolQueue, opener: Symbol, out: ResponseWriter) -> Parsing[None]:
    call = CallReader(SHAPE, opener.first_token, out)
    has_text = False
    while True:
        symbol = yield from queue.take()
        symbols = [symbol]
        if symbol.kind in (Kind.CALL_OPEN, Kind.CALL_CLOSE):
            data = (yield from queue.take_string(call, symbol)) if call.in_string else None
            if data is None and symbol.kind is Kind.CALL_CLOSE:
                return call.close(symbol.end_token)
            # Openers that follow one another are the text of one bad call.
            if data is None and has_text:
                queue.give_back(symbol)
                return call.break_off(symbol.first_token)
            symbols = data or symbols
        elif symbol.kind is Kind.END:
            queue.give_back(symbol)
            return call.break_off(symbol.first_token)
        for symbol in symbols:
            has_text = has_text or (symbol.kind is not Kind.CALL_OPEN and not symbol.is_space)
            call.add(symbol)
