"""What goes to the subprocess of `isolated`, as bytes."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from datetime import datetime
from typing import TypeAlias

from turnloom.chat_template.rendering import Request
from turnloom.template_limits import TemplateLimits

WorkerInput: TypeAlias = tuple[str, datetime | None, TemplateLimits, Request]
"""The template, what `strftime_now` tells, and what `Runner.run` takes."""


def pickled(worker_input: WorkerInput) -> bytes:
    """Return the pickle of it.

    Raises:
        TypeError: an argument of the rendering holds something that cannot be pickled.
        ValueError: one nests too deeply.
    """
    # Objects of the caller may raise anything.
    try:
        return pickle.dumps(worker_input)
    except Exception as error:
        *_, request = worker_input
        for place, value in _arguments(request):
            try:
                pickle.dumps(value)
            except RecursionError:
                raise ValueError(f"{place}: nests too deeply for a template with isolate=True") from None
            except Exception as cause:
                raise TypeError(
                    f"{place}: cannot be sent to the subprocess of isolate=True ({cause})"
                ) from cause
        raise ValueError(f"messages: cannot be sent to the subprocess of isolate=True ({error})") from error


def _arguments(request: Request) -> Iterator[tuple[str, object]]:
    """Give the parts of a request with their places."""
    for index, message in enumerate(request.messages):
        for key, value in message.items():
            yield f"messages[{index}].{key}", value
    for argument in ("tools", "documents"):
        for index, value in enumerate(getattr(request, argument) or ()):
            yield f"{argument}[{index}]", value
    for name, value in request.variables.items():
        yield f"variables[{name!r}]", value
