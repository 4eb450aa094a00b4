"""A completion from its first symbol to its last: header, reasoning, answer.

ids --symbols--> Symbol --grammar--> ResponseWriter --> Delta, ParsedResponse
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from turnloom.parsing import Delta, ParsedResponse
from turnloom.reference.parsing.formats import Calls, CompletionFormat
from turnloom.reference.parsing.llama_calls import LlamaAnswer
from turnloom.reference.parsing.queue import Parsing, SymbolQueue
from turnloom.reference.parsing.response import ResponseWriter
from turnloom.reference.parsing.symbols import Kind, Symbol
from turnloom.reference.parsing.tagged_calls import read_tagged_answer


@dataclass(frozen=True, slots=True)
class Completion:
    """The grammar of a completion."""

    format: CompletionFormat
    starts_in_reasoning: bool
    known_tools: Collection[str]
    queue: SymbolQueue
    out: ResponseWriter

    def read(self) -> Parsing[None]:
        """Read all of it."""
        yield from self._skip_header()
        if self.format.has_reasoning and (
            self.starts_in_reasoning or (yield from self._skip_reasoning_opener())
        ):
            yield from self._read_reasoning()
        match self.format.calls:
            case Calls.TAGGED:
                yield from read_tagged_answer(self.queue, self.out)
            case Calls.LLAMA:
                yield from LlamaAnswer(self.queue, self.out, self.known_tools).read()
            case Calls.NONE:
                while (symbol := (yield from self.queue.take())).kind is not Kind.END:
                    self.out.content(symbol.text)

    def _skip_header(self) -> Parsing[None]:
        taken = [(yield from self.queue.take())]
        if taken[0].kind is Kind.HEADER:
            for character in self.format.header:
                taken.append((yield from self.queue.take()))
                if taken[-1].text != character:
                    break
            else:
                return
        self.queue.give_back(*taken)

    def _skip_reasoning_opener(self) -> Parsing[bool]:
        taken: list[Symbol] = []
        symbol = yield from self.queue.take_after_space(taken)
        if symbol.kind is Kind.THINK_OPEN:
            return True
        self.queue.give_back(*taken)
        return False

    def _read_reasoning(self) -> Parsing[None]:
        while True:
            symbol = yield from self.queue.take()
            match symbol.kind:
                case Kind.THINK_CLOSE:
                    self.out.n_reasoning_tokens = symbol.end_token
                    return
                case Kind.THINK_OPEN:
                    pass
                case Kind.END:
                    self.out.n_reasoning_tokens = symbol.first_token
                    self.out.leave_reasoning_open()
                    self.queue.give_back(symbol)
                    return
                case Kind.CALL_OPEN:
                    return (yield from self._read_draft_or_call(symbol))
                case _:
                    self.out.reasoning(symbol.text)

    def _read_draft_or_call(self, opener: Symbol) -> Parsing[None]:
        """Without a close marker anywhere behind it, a call ends the reasoning; else it is a draft."""
        taken = [opener]
        while (symbol := (yield from self.queue.take())).kind not in (Kind.THINK_CLOSE, Kind.END):
            taken.append(symbol)
        if symbol.kind is Kind.END:
            self.out.n_reasoning_tokens = opener.first_token
            self.queue.give_back(*taken, symbol)
            return
        self.out.n_reasoning_tokens = symbol.end_token
        for drafted in taken:
            if drafted.kind is not Kind.THINK_OPEN:
                self.out.reasoning(drafted.text)


class CompletionStream:
    """Parses one completion, which comes in parts."""

    def __init__(
        self, format: CompletionFormat, *, starts_in_reasoning: bool, known_tools: Collection[str]
    ) -> None:
        self._symbols = format.symbol_reader()
        self._out = ResponseWriter()
        self._parsing = Completion(format, starts_in_reasoning, known_tools, SymbolQueue(), self._out).read()
        next(self._parsing)

    @property
    def n_reasoning_tokens(self) -> int:
        """How many tokens there are up to the end of the reasoning, its close marker included."""
        return self._out.n_reasoning_tokens

    def feed(self, ids: Iterable[int]) -> list[Delta]:
        """Take more ids and give what they decide."""
        self._send(self._symbols.read(ids))
        return self._out.take_deltas()

    def end(self) -> list[Delta]:
        """End the completion and give what was held back."""
        self._send(self._symbols.end())
        return self._out.take_deltas()

    def finish(self) -> ParsedResponse:
        """End the completion and give all of it."""
        self._send(self._symbols.end())
        return self._out.response()

    def _send(self, symbols: Iterable[Symbol]) -> None:
        for symbol in symbols:
            try:
                self._parsing.send(symbol)
            except StopIteration:
                assert symbol.kind is Kind.END


def ends_in_reasoning(
    format: CompletionFormat, prompt_ids: Sequence[int], completion_ids: Sequence[int]
) -> bool:
    """Tell whether a prompt and what was sampled from it end inside reasoning."""
    stream = CompletionStream(
        format, starts_in_reasoning=leaves_reasoning_open(format, prompt_ids), known_tools=()
    )
    stream.feed(completion_ids)
    return stream.finish().reasoning_complete is False


def leaves_reasoning_open(format: CompletionFormat, prompt_ids: Sequence[int]) -> bool:
    """Tell whether a prompt ends inside reasoning of the assistant's last turn."""
    if not format.has_reasoning:
        return False
    stops = [position for position, id_ in enumerate(prompt_ids) if id_ in format.stop_ids]
    symbols = format.symbol_reader().read(prompt_ids[stops[-1] + 1 if stops else 0 :])
    for position in reversed(range(len(symbols))):
        text = "".join(symbol.text for symbol in symbols[position + 1 :][: len(format.header)])
        if symbols[position].kind is Kind.HEADER and text == format.header:
            symbols = symbols[position + 1 + len(format.header) :]
            break
    while symbols and symbols[0].is_space:
        symbols.pop(0)
    kinds = [symbol.kind for symbol in symbols]
    return kinds[:1] == [Kind.THINK_OPEN] and Kind.THINK_CLOSE not in kinds
