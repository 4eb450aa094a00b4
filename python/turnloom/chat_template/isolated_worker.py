"""The subprocess of `isolated`: renders what stands in its input, once, and ends."""

from __future__ import annotations

import json
import math
import pickle
import sys

from turnloom.chat_template.compiled import CompiledTemplate
from turnloom.chat_template.rendering import Rendering
from turnloom.errors import RenderError, TemplateLimitError
from turnloom.template_limits import TemplateLimits


def main() -> None:
    """Read a pickled request, and write what came of it as JSON."""
    try:
        source, now, limits, request = pickle.load(sys.stdin.buffer)
    except Exception as error:  # of a class of the caller that is not there, or of its own code
        message = f"messages or variables: cannot be read in the subprocess of isolate=True ({error})"
        json.dump({"error": "argument", "message": message}, sys.stdout)
        return
    _limit_process(limits)
    try:
        answer = _answer(CompiledTemplate(source, now=now, limits=limits).run(request))
    except MemoryError:
        answer = {"error": "memory"}
    except TemplateLimitError as error:
        is_memory = isinstance(error.__cause__, MemoryError)
        answer = {"error": "memory" if is_memory else "limit", "message": str(error)}
    except RenderError as error:
        answer = {"error": "render", "message": str(error)}
    except ValueError as error:
        answer = {"error": "template", "message": str(error)}
    json.dump(answer, sys.stdout)


def _answer(rendering: Rendering) -> dict[str, object]:
    return {
        "text": rendering.text,
        "n_steps": rendering.n_steps,
        "writers": rendering.writers,
        "spans": rendering.generation_spans,
    }


def _limit_process(limits: TemplateLimits) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    # The processor's time, for the case that the parent is gone and cannot end this process.
    n_seconds = math.ceil(limits.seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (n_seconds, n_seconds))
    n_bytes = limits.memory_bytes + _mapped_bytes(resource.getpagesize())
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))


def _mapped_bytes(page_size: int) -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[0]) * page_size
    except OSError:
        # Not Linux. What is mapped and never used counts there, too, so leave much room for it.
        return 2**36


if __name__ == "__main__":
    main()
