"""Completions from an engine that takes token ids and gives token ids, over HTTP.

>>> async with httpx.AsyncClient(base_url="http://localhost:8000/v1") as client:
...     result = await generate(client=client, renderer=renderer, model="m", messages=messages)

It needs httpx, which is loaded by the first call: `pip install 'turnloom[client]'`.
"""

from turnloom.client.generate import GenerateRenderer, generate
from turnloom.client.result import GenerateResult
from turnloom.client.retries import RetryPolicy
from turnloom.errors import MalformedGenerateResponseError, OverlongPromptError

__all__ = [
    "GenerateRenderer",
    "GenerateResult",
    "MalformedGenerateResponseError",
    "OverlongPromptError",
    "RetryPolicy",
    "generate",
]
