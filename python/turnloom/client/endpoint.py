"""Where an engine is: an httpx client and the root of its URLs."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An open client and the engine that it talks to."""

    client: httpx.AsyncClient
    root: str
    """The base URL without the `/v1` of the OpenAI interface, beside which `/inference` stands."""

    @property
    def generate_url(self) -> str:
        """Where prompts are posted."""
        return f"{self.root}/inference/v1/generate"

    @property
    def models_url(self) -> str:
        """Where the engine describes its models."""
        return f"{self.root}/v1/models"


@asynccontextmanager
async def open_endpoint(client: httpx.AsyncClient | str) -> AsyncIterator[Endpoint]:
    """Give the endpoint of a client, or of a base URL, whose client is closed at the end.

    Raises:
        ImportError: httpx is not installed.
        TypeError: `client` is neither.
        ValueError: it has no base URL, or none of an HTTP server.
    """
    try:
        import httpx
    except ImportError as error:
        raise ImportError(
            "turnloom.client needs httpx, which is not installed: pip install 'turnloom[client]'"
        ) from error
    if isinstance(client, httpx.AsyncClient):
        yield Endpoint(client, _root(client.base_url))
    elif isinstance(client, str):
        try:
            root = _root(httpx.URL(client))
        except httpx.InvalidURL as error:
            raise ValueError(f"client: {client!r} is no URL: {error}") from None
        async with httpx.AsyncClient(verify=_tls()) as opened:
            yield Endpoint(opened, root)
    else:
        raise TypeError(
            f"client: expected an httpx.AsyncClient or a base URL, got {type(client).__qualname__}"
        )


@cache
def _tls() -> ssl.SSLContext:
    # Making one reads all certificates, which takes longer than a short call.
    import httpx

    return httpx.create_ssl_context()


def _root(base: httpx.URL) -> str:
    if base.scheme not in ("http", "https") or not base.host:
        raise ValueError(f"client: expected a base URL such as 'http://localhost:8000/v1', got {str(base)!r}")
    if base.query or base.fragment:
        raise ValueError(f"client: expected a base URL without query and fragment, got {str(base)!r}")
    return str(base).rstrip("/").removesuffix("/v1").rstrip("/")
