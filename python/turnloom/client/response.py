"""An engine's answer, read completely or not at all."""

from __future__ import annotations

import json
import math
import reprlib
from dataclasses import dataclass
from typing import TypeAlias

from turnloom.errors import MalformedGenerateResponseError

JsonObject: TypeAlias = dict[str, object]

_INT32_MAX = 2**31 - 1

# vLLM puts this in place of a log-probability that it does not have, and of one that is lower.
_NO_LOGPROB = -9999.0


@dataclass(frozen=True, slots=True)
class Completion:
    """What an engine sampled."""

    request_id: str
    usage: JsonObject | None
    token_ids: list[int]
    logprobs: list[float]
    finish_reason: str | None
    routed_experts: object
    sampling_mask: list[object] | None


def read_completion(body: bytes, prompt_ids: list[int]) -> Completion:
    """Read the answer to `prompt_ids`.

    Raises:
        MalformedGenerateResponseError: it does not have what was sampled, with one log-probability for each
            id. The message names the place.
    """
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _malformed("response", f"{len(body)} bytes are no JSON ({error})") from None
    response = _object(payload, "response")
    choices = _list(response.get("choices"), "response.choices")
    if len(choices) != 1:
        raise _malformed("response.choices", f"{len(choices)} entries, expected 1")
    place = "response.choices[0]"
    choice = _object(choices[0], place)
    token_ids = _token_ids(choice.get("token_ids"), f"{place}.token_ids")
    _check_prompt(response.get("prompt_token_ids"), prompt_ids)
    usage = response.get("usage")
    return Completion(
        request_id=_text(response.get("request_id"), "response.request_id") or "",
        usage=None if usage is None else _object(usage, "response.usage"),
        token_ids=token_ids,
        logprobs=_logprobs(choice.get("logprobs"), token_ids, f"{place}.logprobs"),
        finish_reason=_text(choice.get("finish_reason"), f"{place}.finish_reason"),
        routed_experts=_routed_experts(choice.get("routed_experts")),
        sampling_mask=_sampling_mask(choice.get("sampling_mask"), token_ids, f"{place}.sampling_mask"),
    )


def _logprobs(value: object, token_ids: list[int], place: str) -> list[float]:
    place = f"{place}.content"
    entries = _list(_object(value, place.removesuffix(".content")).get("content"), place)
    _check_count(entries, token_ids, place)
    logprobs = []
    for index, (entry, id_) in enumerate(zip(entries, token_ids, strict=True)):
        if not isinstance(entry, dict):
            raise _unexpected(f"{place}[{index}]", "an object", entry)
        if entry.get("token") != (token := f"token_id:{id_}"):
            raise _unexpected(f"{place}[{index}].token", repr(token), entry.get("token"))
        logprob = _number(entry.get("logprob"))
        if logprob is None or not math.isfinite(logprob):
            raise _unexpected(f"{place}[{index}].logprob", "a finite number", entry.get("logprob"))
        if logprob == _NO_LOGPROB:
            raise _malformed(
                f"{place}[{index}].logprob", f"{logprob:g} stands for a log-probability that is not known"
            )
        logprobs.append(logprob)
    return logprobs


def _number(value: object) -> float | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:  # an integer past every float
        return math.inf


def _token_ids(value: object, place: str) -> list[int]:
    token_ids = []
    for index, id_ in enumerate(_list(value, place)):
        if type(id_) is not int or not 0 <= id_ <= _INT32_MAX:
            raise _unexpected(f"{place}[{index}]", "a token id", id_)
        token_ids.append(id_)
    return token_ids


def _check_prompt(value: object, prompt_ids: list[int]) -> None:
    """Check that an engine that says which prompt it ran did run the one that was sent."""
    if value is None or value == prompt_ids:
        return
    place = "response.prompt_token_ids"
    ran = _token_ids(value, place)
    if len(ran) != len(prompt_ids):
        raise _malformed(place, f"{len(ran)} entries, {len(prompt_ids)} were sent")
    index = next(i for i, (ours, theirs) in enumerate(zip(prompt_ids, ran, strict=True)) if ours != theirs)
    raise _malformed(f"{place}[{index}]", f"{ran[index]}, {prompt_ids[index]} was sent")


def _routed_experts(value: object) -> object:
    if isinstance(value, dict) and isinstance(data := value.get("data"), str):
        # Megabytes of base64, which are decoded from bytes: a str would be encoded once more for that.
        return {**value, "data": memoryview(data.encode())}
    return value


def _sampling_mask(value: object, token_ids: list[int], place: str) -> list[object] | None:
    if value is None:
        return None
    mask = _list(value, place)
    _check_count(mask, token_ids, place)
    return mask


def _check_count(entries: list[object], token_ids: list[int], place: str) -> None:
    if len(entries) != len(token_ids):
        raise _malformed(place, f"{len(entries)} entries for {len(token_ids)} token ids")


def _object(value: object, place: str) -> JsonObject:
    if not isinstance(value, dict):
        raise _unexpected(place, "an object", value)
    return value


def _list(value: object, place: str) -> list[object]:
    if not isinstance(value, list):
        raise _unexpected(place, "a list", value)
    return value


def _text(value: object, place: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise _unexpected(place, "text", value)
    return value


def _unexpected(place: str, expected: str, value: object) -> MalformedGenerateResponseError:
    return _malformed(place, f"expected {expected}, got {reprlib.repr(value)}")


def _malformed(place: str, reason: str) -> MalformedGenerateResponseError:
    return MalformedGenerateResponseError(f"{place}: {reason}")
