"""One attempt at a call: `{"name": ..., "arguments": ...}`, read character by character."""

from collections.abc import Collection
from dataclasses import dataclass

from turnloom.parsing import ParsedToolCall, ToolCallParseStatus
from turnloom.reference.parsing.json_scanner import JsonScanner, Member, json_value, string_value
from turnloom.reference.parsing.response import ResponseWriter
from turnloom.reference.parsing.symbols import Symbol
from turnloom.types import JsonValue

Status = ToolCallParseStatus


@dataclass(frozen=True, slots=True)
class CallShape:
    """What an object has to be to be a call."""

    arguments_keys: Collection[str]
    """It has one of these."""
    needs_object: bool = False
    """Arguments have to be an object. There may be none for a known tool."""
    known_tools: Collection[str] = ()


class CallReader:
    """Reads one attempt. Tells the writer, if it has one, as soon as the name is known."""

    def __init__(self, shape: CallShape, first_token: int, out: ResponseWriter | None = None) -> None:
        self._shape = shape
        self._first_token = first_token
        self._out = out
        self._scanner = JsonScanner()
        self._text = ""
        self._is_open = False
        self._n_told = 0  # characters of the text

    @property
    def is_blank(self) -> bool:
        """Whether there is only white space so far."""
        return not self._text.strip()

    @property
    def in_string(self) -> bool:
        """Whether the next character is one of a JSON string, and not part of an escape."""
        return self._scanner.in_string

    @property
    def complete(self) -> bool:
        """Whether the JSON value has ended."""
        return self._scanner.complete

    @property
    def failed(self) -> bool:
        """Whether the text is no JSON."""
        return self._scanner.failed

    def add(self, symbol: Symbol) -> None:
        """Read a symbol as text, whatever it is elsewhere."""
        for character in symbol.text:
            self._text += character
            # Around the value, white space is what `str.strip` takes for it.
            is_around = self._scanner.at_top and character.isspace()
            self._scanner.feed(" " if is_around else character)
            if not self.failed:
                self._tell()

    def scanner(self) -> JsonScanner:
        """Give a scanner that can read on by itself from here."""
        return self._scanner.copy()

    def is_call(self) -> bool:
        """Tell whether a complete value is a call, or would be one if its name were a string."""
        status = self._status()
        return status is Status.OK or (
            status is Status.MALFORMED_STRUCTURE and self._name_member() is not None and self._has_object()
        )

    def close(self, end_token: int) -> None:
        """End it where its format ends it."""
        status = self._status() if self._scanner.finish() else Status.INVALID_JSON
        self._finish(status, end_token, has_arguments=status is not Status.INVALID_JSON)

    def break_off(self, end_token: int) -> None:
        """End it where nothing closes it."""
        self._finish(Status.UNCLOSED_BLOCK, end_token, has_arguments=not self.failed)

    def _tell(self) -> None:
        if self._out is None:
            return
        if not self._is_open and (name := self._name()):
            self._is_open = True
            self._out.open_call(name)
        if self._is_open and (member := self._arguments_member()) and member.begin >= 0:
            begin = max(member.begin, self._n_told)
            self._n_told = len(self._text) if member.end < 0 else member.end
            self._out.arguments(self._text[begin : self._n_told])

    def _finish(self, status: ToolCallParseStatus, end_token: int, *, has_arguments: bool) -> None:
        assert self._out is not None
        name = self._name()
        if not self._is_open:
            self._out.open_call(name)
        member = self._arguments_member()
        arguments: JsonValue = None
        duplicates: tuple[str, ...] = ()
        text = None
        if has_arguments and member is not None and member.end >= 0:
            text = self._text[member.begin : member.end]
            arguments, duplicates = json_value(text)
        elif status is not Status.UNCLOSED_BLOCK and has_arguments:
            arguments = {}
        self._out.close_call(
            ParsedToolCall(
                raw=self._text.strip(),
                name=name,
                arguments=arguments,
                token_span=(self._first_token, end_token),
                status=status,
                arguments_text=text,
                duplicate_keys=duplicates,
            )
        )

    def _status(self) -> ToolCallParseStatus:
        """Judge a text that is JSON."""
        names = [member for member in self._scanner.members if member.key == "name"]
        arguments = [member for member in self._scanner.members if member.key in self._shape.arguments_keys]
        if not names:
            return Status.MISSING_NAME
        if len(names) > 1 or len(arguments) > 1 or not self._is_string(names[0]):
            return Status.MALFORMED_STRUCTURE
        name = self._name()
        if name is None:
            return Status.MISSING_NAME
        if self._shape.needs_object and not self._has_object():
            is_known = not arguments and name in self._shape.known_tools
            return Status.OK if is_known else Status.MALFORMED_STRUCTURE
        return Status.OK

    def _name(self) -> str | None:
        """Give the name if it is a text, as far as it is known."""
        member = self._name_member()
        if member is None or member.end < 0 or not self._is_string(member):
            return None
        return string_value(self._text[member.begin : member.end]) or None

    def _has_object(self) -> bool:
        member = self._arguments_member()
        return member is not None and self._text[member.begin] == "{"

    def _is_string(self, member: Member) -> bool:
        return self._text[member.begin] == '"'

    def _name_member(self) -> Member | None:
        return next((member for member in self._scanner.members if member.key == "name"), None)

    def _arguments_member(self) -> Member | None:
        keys = self._shape.arguments_keys
        return next((member for member in self._scanner.members if member.key in keys), None)
