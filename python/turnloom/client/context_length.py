"""How long a prompt may be, as the engine says it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

    from turnloom.client.endpoint import Endpoint

_log = logging.getLogger(__name__)

_LOOKUP_SECONDS = 5.0
_NOT_THERE = 404
_MAX_KNOWN = 4096

# By URL and model; None for a server that does not say. Only answers are kept, so a server that is down is
# asked again. Calls that begin together each ask: a lock would belong to one event loop.
_known: dict[tuple[str, str], int | None] = {}


async def context_length(
    endpoint: Endpoint, model: str, *, headers: Mapping[str, str], deadline: float
) -> int | None:
    """Return the `max_model_len` of a model, in tokens; None where the engine does not say.

    vLLM has this entry in what `GET /v1/models` lists. No fault of this request is an error.
    """
    import httpx

    key = (endpoint.root, model)
    if key in _known:
        return _known[key]
    until = min(deadline, asyncio.get_running_loop().time() + _LOOKUP_SECONDS)
    try:
        async with asyncio.timeout_at(until):
            response = await endpoint.client.get(endpoint.models_url, headers=headers, timeout=None)
        if response.status_code != _NOT_THERE:
            response.raise_for_status()
    except (TimeoutError, httpx.HTTPError) as error:
        _log.info("GET %s: %r; prompts are sent whatever their length", endpoint.models_url, error)
        return None
    if len(_known) >= _MAX_KNOWN:  # as when every step of a training run has a name of its own
        _known.clear()
    _known[key] = _read(response, model)
    return _known[key]


def _read(response: httpx.Response, model: str) -> int | None:
    try:
        payload = response.json() if response.is_success else None
    except (ValueError, RecursionError):
        return None
    cards = payload.get("data") if isinstance(payload, dict) else None
    for card in cards if isinstance(cards, list) else []:
        if isinstance(card, dict) and card.get("id") == model:
            length = card.get("max_model_len")
            return length if type(length) is int and length > 0 else None
    return None
