"""Requests that are repeated where that can help, within limits."""

from __future__ import annotations

import asyncio
import logging
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from turnloom._arguments import int_from

if TYPE_CHECKING:
    import httpx

_log = logging.getLogger(__name__)

# A generator of its own, of the system: a caller's seed stays untouched, and forked workers differ.
_random = random.SystemRandom()

_TOO_BUSY = (429, 503)
_SHOWN_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often a call is repeated and how long it may take; all times in seconds.

    A call is repeated after a fault of the connection (refused, reset, cut off in the middle of an answer,
    not opened in time), and after 429 or 503. It then waits as long as `Retry-After` says, plus a random time
    that doubles with every attempt.
    """

    max_attempts: int = 5
    """1 means no repetition."""
    first_delay: float = 0.5
    """The most that is waited after the first attempt, without `Retry-After`."""
    max_delay: float = 30.0
    """Where the doubling ends."""
    connect_timeout: float = 10.0
    """For opening a connection."""
    read_timeout: float = 600.0
    """For an answer, or its next part. A timeout is not repeated: the engine would sample it all again."""
    total_timeout: float = 1800.0
    """For the call with all its attempts and waits."""

    def __post_init__(self) -> None:
        int_from(self.max_attempts, "max_attempts", lowest=1, highest=1000)
        for name in (field.name for field in fields(self) if field.name != "max_attempts"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                raise TypeError(f"{name}: expected a number of seconds, got {type(value).__name__}")
            if not 0 <= value < math.inf or (value == 0 and name.endswith("timeout")):
                raise ValueError(f"{name}: expected a positive number of seconds, got {value!r}")

    def delay(self, attempt: int) -> float:
        """Return how long to wait after an attempt, the first being 1; at random, so that callers spread."""
        longest = min(self.max_delay, self.first_delay * 2.0 ** min(attempt - 1, 64))
        return _random.uniform(longest / 2, longest)


async def post(
    client: httpx.AsyncClient,
    url: str,
    *,
    body: bytes,
    headers: Mapping[str, str],
    policy: RetryPolicy,
    deadline: float,
) -> httpx.Response:
    """Post `body` until there is a good answer, which is then complete.

    Args:
        deadline: when to give up, in the time of the running event loop.

    Raises:
        httpx.HTTPStatusError: another status than 2xx, with what the server said.
        httpx.TransportError: a fault of the connection, or a timeout of one request.
        TimeoutError: the deadline has come.
    """
    import httpx

    repeated = (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ConnectTimeout)
    shown = f"POST {httpx.URL(url).copy_with(userinfo=b'')}"
    # Waiting for a connection of the client's pool is the caller's own doing: only the deadline ends it.
    timeout = httpx.Timeout(policy.read_timeout, connect=policy.connect_timeout, pool=None)
    time = asyncio.get_running_loop().time
    fault: httpx.HTTPError | None = None
    attempt = 0
    while True:
        attempt += 1
        wait = policy.delay(attempt)
        try:
            async with asyncio.timeout_at(deadline):
                response = await client.post(url, content=body, headers=headers, timeout=timeout)
        except TimeoutError:
            raise TimeoutError(f"{shown}: total_timeout has passed in attempt {attempt}") from fault
        except repeated as error:
            fault = error
        else:
            if response.is_success:
                return response
            fault = _status_error(shown, response)
            if response.status_code not in _TOO_BUSY:
                raise fault
            wait += _retry_after(response.headers.get("retry-after", ""))
        if attempt == policy.max_attempts:
            fault.add_note(f"given up after attempt {attempt}")
            raise fault
        if time() + wait >= deadline:
            fault.add_note(
                f"given up after attempt {attempt}: total_timeout ends before the next, in {wait:.0f} s"
            )
            raise fault
        _log.info("%s: %r in attempt %d, the next in %.1f s", shown, fault, attempt, wait)
        await asyncio.sleep(wait)


def _status_error(shown: str, response: httpx.Response) -> httpx.HTTPStatusError:
    import httpx

    said = response.text
    if len(said) > _SHOWN_CHARACTERS:
        said = f"{said[:_SHOWN_CHARACTERS]}..."
    return httpx.HTTPStatusError(
        f"{shown}: {response.status_code} {response.reason_phrase}: {said}",
        request=response.request,
        response=response,
    )


def _retry_after(value: str) -> float:
    """Return the seconds of a `Retry-After` header, which has a number or a date; 0 for anything else."""
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return 0.0
        # "-0000" in place of GMT gives a time without a zone.
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return seconds if 0 < seconds < math.inf else 0.0
