"""What a chat template may use."""

from dataclasses import dataclass, fields

_HIGHEST = 2**62
_MOST_SECONDS = 1_000_000
"""Some systems cannot wait for more than weeks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateLimits:
    """Limits of one rendering, so that no template hangs its caller or exhausts memory.

    The defaults leave room for ten thousand messages with a template whose work grows as they do, and end the
    worst template within seconds. Some templates look at all messages for each of them: Gemma 4's needs more
    steps from some 1,500 messages on.
    """

    steps: int = 5_000_000
    """Turns of loops, values looked at in comparisons and conversions, kilobytes of text searched; a call is
    several."""
    made_bytes: int = 256 * 2**20
    """Bytes of all strings and lists that are made, those included that are dropped again."""
    output_chars: int = 50_000_000
    """Characters of the rendered text."""
    source_chars: int = 100_000
    """Characters of the template."""
    call_depth: int = 100
    """Calls inside calls."""
    seconds: float = 10.0
    """With `isolate=True`: time from the start of the subprocess."""
    memory_bytes: int = 2**30
    """With `isolate=True`: memory of the subprocess beyond that of an idle one; not on Windows."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            expected = (int, float) if field.name == "seconds" else (int,)
            if not isinstance(value, expected) or isinstance(value, bool):
                raise TypeError(f"limits.{field.name}: expected a number, got {type(value).__name__}")
            highest = _MOST_SECONDS if field.name == "seconds" else _HIGHEST
            if not value > 0:  # NaN is not
                raise ValueError(f"limits.{field.name}: expected more than 0, got {_shown(value)}")
            if value > highest:
                raise ValueError(f"limits.{field.name}: expected at most {highest:,}, got {_shown(value)}")


def _shown(value: int | float) -> str:
    # Python writes no int of thousands of digits.
    if isinstance(value, int) and value.bit_length() > 1000:
        return f"an int of {value.bit_length()} bits"
    return str(value)
