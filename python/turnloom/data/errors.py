"""Places of errors, and the exceptions that end a job."""

import re
from dataclasses import dataclass

# `messages[3].content[1].text`, `tools[0]['a: b'][2]`: names, then numbers or quoted keys in brackets.
_PLACE = re.compile(
    r"""(?P<place>\w+(?:\.\w+|\[(?:-?\w+|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\])*):\ (?P<reason>.*)""",
    re.DOTALL | re.VERBOSE,
)


class InputError(ValueError):
    """An input, an output or an option that cannot be used; nothing was written."""


class ReadError(RuntimeError):
    """An input that breaks off or is damaged after its start."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """One row that is left out of the output, as it stands in the errors file."""

    input: str
    line: int
    place: str
    reason: str
    error: str

    @classmethod
    def from_exception(cls, input: str, line: int, exception: Exception) -> "BadRow":
        """Split an exception's `place: reason`; the place is empty where the text has none."""
        # str() of a KeyError is the repr of its message.
        text = (
            str(exception.args[0]) if isinstance(exception, KeyError) and exception.args else str(exception)
        )
        match = _PLACE.fullmatch(text)
        place, reason = match.group("place", "reason") if match else ("", text)
        return cls(input, line, place, reason, type(exception).__name__)


class BadRowError(ValueError):
    """The first bad row of a strict job."""

    def __init__(self, row: BadRow) -> None:
        place = f"{row.place}: " if row.place else ""
        super().__init__(f"{row.input}:{row.line}: {place}{row.reason}")
        self.row = row
