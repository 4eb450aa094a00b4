"""A template run in a subprocess that is ended at its limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from typing import Any

from turnloom.chat_template.isolated_request import pickled
from turnloom.chat_template.meter import exceeded
from turnloom.chat_template.rendering import Rendering, Request
from turnloom.errors import RenderError, TemplateLimitError
from turnloom.template_limits import TemplateLimits


class IsolatedTemplate:
    """Runs a template in a subprocess, one for each rendering."""

    __slots__ = ("_limits", "_now", "_source")

    def __init__(self, source: str, *, now: datetime | None, limits: TemplateLimits) -> None:
        self._source = source
        self._now = now
        self._limits = limits

    def run(self, request: Request) -> Rendering:
        """Render; see `Runner`.

        Raises:
            TypeError: an argument cannot be pickled, or not be read in the subprocess.
            ValueError: it is no Jinja template, or an argument nests too deeply.
        """
        worker_input = pickled((self._source, self._now, self._limits, request))
        command = [sys.executable, "-P", "-m", "turnloom.chat_template.isolated_worker"]
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        ) as process:
            try:
                answer, _ = process.communicate(worker_input, timeout=self._limits.seconds)
            except subprocess.TimeoutExpired:
                raise exceeded("seconds", self._limits.seconds, "seconds") from None
            finally:
                process.kill()
        return self._read(answer, process.returncode)

    def _read(self, output: bytes, return_code: int) -> Rendering:
        try:
            answer = json.loads(output)  # no pickle: it is not to be trusted
        except ValueError:
            answer = None
        match answer:
            case {"text": str(text), "n_steps": int(n_steps), "writers": list(writers), "spans": spans}:
                return Rendering(text, n_steps, _pairs(writers), None if spans is None else _pairs(spans))
            case {"error": "memory"}:
                raise exceeded("memory_bytes", self._limits.memory_bytes, "bytes of memory")
            case {"error": "argument", "message": str(message)}:
                raise TypeError(message)
            case {"error": "limit", "message": str(message)}:
                raise TemplateLimitError(message)
            case {"error": "template", "message": str(message)}:
                raise ValueError(message)
            case {"error": "render", "message": str(message)}:
                raise RenderError(message)
        raise TemplateLimitError(
            f"chat_template: the subprocess ended with {return_code}, at a limit of the system"
        )


def _pairs(lists: list[list[Any]]) -> list[Any]:
    return [(first, second) for first, second in lists]
