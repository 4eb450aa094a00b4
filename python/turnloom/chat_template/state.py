"""What belongs to the rendering that runs in a thread, for code that templates call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from turnloom.chat_template.meter import Meter
from turnloom.chat_template.output import Output

_METER: ContextVar[Meter] = ContextVar("turnloom_template_meter")
_OUTPUT: ContextVar[Output] = ContextVar("turnloom_template_output")

current_meter = _METER.get
current_output = _OUTPUT.get


@contextmanager
def rendering_into(output: Output, meter: Meter) -> Iterator[None]:
    """Make these the ones of the template that runs in this thread."""
    meter_before, output_before = _METER.set(meter), _OUTPUT.set(output)
    try:
        yield
    finally:
        _METER.reset(meter_before)
        _OUTPUT.reset(output_before)
