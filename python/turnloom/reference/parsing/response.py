"""What a parser has decided so far: the texts, the calls, and the deltas that tell of them."""

from dataclasses import dataclass, field

from turnloom.parsing import Delta, DeltaKind, ParsedResponse, ParsedToolCall


@dataclass(slots=True)
class StrippedText:
    """A text that grows. The white space at its ends is held back, since it may not count."""

    space_before: str = ""
    text: str = ""
    n_solid: int = 0
    """Up to here white space is followed by something else."""
    n_told: int = 0

    def add(self, text: str) -> None:
        """Append to it."""
        for character in text:
            if not self.text and character.isspace():
                self.space_before += character
                continue
            self.text += character
            if not character.isspace():
                self.n_solid = len(self.text)

    @property
    def stripped(self) -> str:
        """The text without the white space around it."""
        return self.text[: self.n_solid]

    def news(self, end: int) -> str:
        """Give what stands before `end` and was not given yet."""
        begin, self.n_told = self.n_told, max(self.n_told, end)
        return self.text[begin:end]


@dataclass(slots=True)
class ResponseWriter:
    """Takes what the grammar decides, in order."""

    calls: list[ParsedToolCall] = field(default_factory=list)
    deltas: list[Delta] = field(default_factory=list)
    n_reasoning_tokens: int = 0
    """Up to the end of the reasoning, its close marker included."""
    _content: StrippedText = field(default_factory=StrippedText)
    _reasoning: StrippedText = field(default_factory=StrippedText)
    _unfinished: bool = False

    def content(self, text: str) -> None:
        """Add to the content."""
        self._content.add(text)

    def reasoning(self, text: str) -> None:
        """Add to the reasoning."""
        self._reasoning.add(text)

    def leave_reasoning_open(self) -> None:
        """End within the reasoning: all of it counts, white space too."""
        self._unfinished = True
        self._tell("reasoning", self._reasoning.news(len(self._reasoning.text)))
        self.deltas.append(Delta("reasoning_unfinished", self._reasoning.space_before))

    def open_call(self, name: str | None) -> None:
        """Begin a call: the one that `close_call` will add."""
        self.tell_texts()
        self.deltas.append(Delta("call_open", call_index=len(self.calls), name=name))

    def arguments(self, text: str) -> None:
        """Add to the arguments of the call that was opened."""
        if text:
            self.deltas.append(Delta("arguments", text, call_index=len(self.calls)))

    def close_call(self, call: ParsedToolCall) -> None:
        """End a call that was opened."""
        self.deltas.append(Delta("call_close", call_index=len(self.calls), status=call.status))
        self.calls.append(call)

    def tell_texts(self) -> None:
        """Make deltas of the texts that have grown."""
        self._tell("reasoning", self._reasoning.news(self._reasoning.n_solid))
        self._tell("content", self._content.news(self._content.n_solid))

    def take_deltas(self) -> list[Delta]:
        """Give the deltas since the last time, those of one call joined."""
        self.tell_texts()
        deltas, self.deltas = self.deltas, []
        joined: list[Delta] = []
        for delta in deltas:
            if joined and joined[-1].kind == delta.kind == "arguments":
                joined[-1] = joined[-1]._replace(text=joined[-1].text + delta.text)
            else:
                joined.append(delta)
        return joined

    def response(self) -> ParsedResponse:
        """Give the whole response; to be called at the end."""
        reasoning = self._reasoning
        whole = reasoning.space_before + reasoning.text if self._unfinished else reasoning.stripped or None
        return ParsedResponse(self._content.stripped, whole, list(self.calls), not self._unfinished)

    def _tell(self, kind: DeltaKind, text: str) -> None:
        if text:
            self.deltas.append(Delta(kind, text))
