"""What an engine is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from turnloom._ids import TokenIds, token_id_array
from turnloom.rendered import RenderedTokens

_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_HEADER_VALUE = re.compile(r"([!-~]([ -~\t]*[!-~])?)?")


def request_body(
    *,
    model: str,
    prompt_ids: list[int],
    stop_token_ids: list[int],
    sampling_params: Mapping[str, object] | None,
    cache_salt: str | None,
    priority: int | None,
) -> bytes:
    """Return the JSON of a request.

    Raises:
        TypeError, ValueError: an argument has no place in it.
    """
    sampling: dict[str, object] = {"skip_special_tokens": False, **_checked(sampling_params)}
    # Not the caller's to choose: the parser needs the stop token, the result the log-probabilities.
    sampling |= {"stop_token_ids": stop_token_ids, "logprobs": 1}
    request: dict[str, object] = {"model": _text(model, "model"), "token_ids": prompt_ids}
    if cache_salt is not None:
        request["cache_salt"] = _text(cache_salt, "cache_salt")
    if priority is not None:
        if not isinstance(priority, int) or isinstance(priority, bool):
            raise TypeError(f"priority: expected int or None, got {type(priority).__name__}")
        request["priority"] = priority
    try:
        params = json.dumps(sampling, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"sampling_params: {error}") from None
    return b'%s,"sampling_params":%s}' % (
        json.dumps(request, separators=(",", ":")).encode()[:-1],
        params.encode(),
    )


def request_headers(extra_headers: Mapping[str, str] | None) -> dict[str, str]:
    """Return the headers of a request.

    Raises:
        TypeError, ValueError: `extra_headers` are not names and texts that HTTP allows.
    """
    headers = {"content-type": "application/json"}
    if extra_headers is None:
        return headers
    if not isinstance(extra_headers, Mapping):
        raise TypeError(f"extra_headers: expected a mapping or None, got {type(extra_headers).__name__}")
    for name, value in extra_headers.items():
        if not _HEADER_NAME.fullmatch(_text(name, "extra_headers")):
            raise ValueError(f"extra_headers: {name!r} is no name of a header")
        place = f"extra_headers[{name!r}]"
        if not _HEADER_VALUE.fullmatch(_text(value, place)):
            # The value is not told: it may be a key.
            raise ValueError(f"{place}: expected printable ASCII, without white space at its ends")
        headers[name.lower()] = value
    return headers


def given_prompt(prompt_ids: TokenIds, attribution: RenderedTokens | None) -> list[int]:
    """Return the ids of a prompt that is there already.

    Raises:
        TypeError, ValueError: they are no token ids, none, or not those of the attribution.
    """
    ids: list[int] = token_id_array(prompt_ids, "prompt_ids").tolist()
    if not ids:
        raise ValueError("prompt_ids: no token ids")
    if attribution is None:
        return ids
    if not isinstance(attribution, RenderedTokens):
        raise TypeError(f"prompt_attribution: expected RenderedTokens, got {type(attribution).__name__}")
    if attribution.token_ids != ids:
        n_ids = len(attribution.token_ids)
        raise ValueError(f"prompt_attribution: its {n_ids} token ids are not the {len(ids)} prompt_ids")
    return ids


def _checked(sampling_params: Mapping[str, object] | None) -> Mapping[str, object]:
    if sampling_params is None:
        return {}
    if not isinstance(sampling_params, Mapping):
        raise TypeError(f"sampling_params: expected a mapping or None, got {type(sampling_params).__name__}")
    if sampling_params.get("n", 1) != 1:
        raise ValueError(f"sampling_params['n']: a call gives one completion, got {sampling_params['n']!r}")
    return sampling_params


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{place}: expected str, got {type(value).__name__}")
    return value
