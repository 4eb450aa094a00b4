"""The parts of a turn that the tokens of a completion are.

They are what a rendered turn has: of a token the first byte counts, and the line ends beside a think marker
are part of the markup. Where the bytes are no text, all of a call is call markup.
"""

from collections.abc import Sequence
from itertools import accumulate

from turnloom.parsing import ParsedToolCall
from turnloom.reference.parsing.completion import CompletionStream
from turnloom.reference.parsing.formats import Calls, CompletionFormat
from turnloom.reference.parsing.json_scanner import JsonScanner, Member
from turnloom.reference.parsing.symbols import Kind
from turnloom.rendered import Field

ARGUMENTS_KEYS = {Calls.TAGGED: ("arguments",), Calls.LLAMA: ("parameters", "arguments")}
LINE_ENDS = b"\n"
SEPARATORS = {Calls.TAGGED: LINE_ENDS, Calls.LLAMA: b"\n ,;"}


def completion_fields(
    format: CompletionFormat, ids: Sequence[int], *, starts_in_reasoning: bool, known_tools: Sequence[str]
) -> list[Field]:
    """Tell the field of each token of a completion."""
    stream = CompletionStream(format, starts_in_reasoning=starts_in_reasoning, known_tools=known_tools)
    stream.feed(ids)
    calls = stream.finish().tool_calls
    n_before_stop = next((i for i, id_ in enumerate(ids) if id_ in format.stop_ids), len(ids))
    tokens = [format.token_bytes[id_] for id_ in ids[:n_before_stop]]

    fields = [Field.CONTENT] * n_before_stop
    _find_reasoning(format, ids, tokens, stream.n_reasoning_tokens, fields)
    for i, call in enumerate(calls):
        begin, end = _span(call)
        fields[begin:end] = [Field.CALL_MARKUP] * (end - begin)
        _find_separators(format, tokens, fields, calls, i)
        _find_members(format, tokens, call, fields)
    rest = (Field.TURN_CLOSE if id_ in format.stop_ids else Field.CONTENT for id_ in ids[n_before_stop:])
    return [*fields, *rest]


def _span(call: ParsedToolCall) -> tuple[int, int]:
    assert call.token_span is not None
    return call.token_span


def _find_reasoning(
    format: CompletionFormat, ids: Sequence[int], tokens: Sequence[bytes], end: int, fields: list[Field]
) -> None:
    kinds = [format.markers[id_][0] if id_ in format.markers else None for id_ in ids]
    markers = [i for i in range(end) if kinds[i] in (Kind.THINK_OPEN, Kind.THINK_CLOSE)]
    fields[:end] = [Field.REASONING] * end
    for i in markers:
        fields[i] = Field.REASONING_MARKUP
        for beside in (i - 1, i + 1):
            if 0 <= beside < len(tokens) and _consists_of(tokens[beside], LINE_ENDS):
                fields[beside] = Field.REASONING_MARKUP


def _find_separators(
    format: CompletionFormat,
    tokens: Sequence[bytes],
    fields: list[Field],
    calls: Sequence[ParsedToolCall],
    index: int,
) -> None:
    """Take what stands between two calls, or the line end that leads to the first one, for markup."""
    at = _span(calls[index])[0] - 1
    if index == 0:
        if at >= 0 and fields[at] is Field.CONTENT and tokens[at] == LINE_ENDS:
            fields[at] = Field.CALL_MARKUP
        return
    begin = _span(calls[index - 1])[1]
    while at >= begin and fields[at] is Field.CONTENT and _consists_of(tokens[at], SEPARATORS[format.calls]):
        fields[at] = Field.CALL_MARKUP
        at -= 1


def _find_members(
    format: CompletionFormat, tokens: Sequence[bytes], call: ParsedToolCall, fields: list[Field]
) -> None:
    whole = b"".join(tokens)
    if len(whole.decode(errors="replace").encode()) != len(whole):
        return
    begins = [0, *accumulate(map(len, tokens))]
    first, end = _span(call)
    block = whole[begins[first] : begins[end]]
    json_begin = block.find(b"{")
    if json_begin < 0:
        return
    text = block[json_begin:].decode(errors="replace")
    scanner = JsonScanner()
    for character in text:
        if scanner.failed or scanner.complete:
            break
        scanner.feed(character)

    def mark(member: Member, field: Field, n_quotes: int) -> None:
        begin, last = (
            begins[first] + json_begin + len(text[:at].encode())
            for at in (member.begin + n_quotes, member.end - n_quotes)
        )
        for i in range(first, end):
            if begin <= begins[i] < last:
                fields[i] = field

    def first_of(keys: Sequence[str]) -> Member:
        return next(member for member in scanner.members if member.key in keys)

    if call.name is not None:
        mark(first_of(("name",)), Field.TOOL_NAME, 1)
    if call.arguments_text is not None:
        mark(first_of(ARGUMENTS_KEYS[format.calls]), Field.TOOL_ARGUMENTS, 0)


def _consists_of(token: bytes, characters: bytes) -> bool:
    return bool(token) and not token.strip(characters)
