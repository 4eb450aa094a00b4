"""The texts and conversations that benchmarks run on; the same in every process."""

import gzip
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

Conversation = list[dict[str, Any]]

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("TURNLOOM_SHARED", ROOT.parent / "shared"))

TEXTS = ("documents", "rollouts", "multilingual", "segments")
CHATS = ("chats", "multilingual", "rollouts", "typical", "long")
SINGLE_ONLY = frozenset({"typical", "long"})
"""Workloads about the time of one call, not of many."""

TYPICAL_CHARACTERS = 4_500  # some 1,100 tokens
LONG_CHARACTERS = 120_000  # some 36,000 tokens


def texts(workload: str) -> list[str]:
    """Give the texts of a workload, in a fixed random order."""
    match workload:
        case "documents":
            found = [_joined(chat) for chat in _corpus("chat")]
        case "rollouts":
            found = [_joined(chat) for chat in _corpus("rollout")]
        case "multilingual":
            found = [_joined(chat) for chat in _corpus("chat-ml")]
        case "segments":
            found = list(_segments())
        case _:
            raise ValueError(f"no workload {workload!r} of texts, known: {', '.join(TEXTS)}")
    Random(0).shuffle(found)
    return found


def conversations(workload: str) -> list[Conversation]:
    """Give the conversations of a workload, in a fixed random order."""
    match workload:
        case "chats":
            found = list(_corpus("chat"))
        case "multilingual":
            found = list(_corpus("chat-ml"))
        case "rollouts":
            found = list(_corpus("rollout"))
        case "typical":
            found = _nearest(_corpus("chat"), TYPICAL_CHARACTERS)[:120]
        case "long":
            found = _nearest(_corpus("rollout"), LONG_CHARACTERS)[:24]
        case _:
            raise ValueError(f"no workload {workload!r} of conversations, known: {', '.join(CHATS)}")
    Random(0).shuffle(found)
    return found


def tool_conversations() -> list[tuple[Conversation, list[dict[str, Any]]]]:
    """Give the example conversations that come with tools, and these."""
    rows = _json_lines(ROOT / "examples" / "tool_use.jsonl")
    return [(row["messages"], row["tools"]) for row in rows if row.get("tools")]


def n_characters(conversation: Conversation) -> int:
    """Count the characters of all contents."""
    return sum(len(message.get("content") or "") for message in conversation)


def slices(sizes: Sequence[int], n_slices: int, size: int) -> list[range]:
    """Cut items into `n_slices` runs of about `size` each, or less where there is not enough."""
    size = min(size, sum(sizes) // n_slices)
    found: list[range] = []
    begin = 0
    for end, filled in enumerate(accumulate(sizes), 1):
        if filled >= size * (len(found) + 1):
            found.append(range(begin, end))
            begin = end
            if len(found) == n_slices:
                return found
    raise ValueError(f"the items do not fill {n_slices} slices")


def source() -> str:
    """Say where the data is from."""
    return "the corpus" if (SHARED / "corpus").is_dir() else "the examples: too few for stable figures"


@cache
def _corpus(kind: str) -> tuple[Conversation, ...]:
    folder = SHARED / "corpus"
    if not folder.is_dir():
        return tuple(_examples())
    path = folder / ("rollouts.jsonl.gz" if kind == "rollout" else "chats.jsonl.gz")
    return tuple(row["messages"] for row in _json_lines(path) if row["kind"] == kind)


def _nearest(chats: Sequence[Conversation], size: int) -> list[Conversation]:
    return sorted(chats, key=lambda chat: abs(n_characters(chat) - size))


def _examples() -> Iterator[Conversation]:
    """Give the conversations that come with turnloom, with little in them that renderers disagree about."""
    for name in ("chats", "reasoning", "shop", "tool_use"):
        for row in _json_lines(ROOT / "examples" / f"{name}.jsonl"):
            if not any(message.get("tool_calls") for message in row["messages"]):
                yield [{key: message[key] for key in ("role", "content")} for message in row["messages"]]


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return map(json.loads, text.splitlines())


def _joined(conversation: Conversation) -> str:
    return "\n".join(message.get("content") or "" for message in conversation)


def _segments() -> Iterator[str]:
    """Cut the chats into pieces of 20 to 400 characters."""
    draw = Random(1)
    for chat in (*_corpus("chat"), *_corpus("chat-ml")):
        text = _joined(chat)
        begin = 0
        while begin < len(text):
            end = begin + draw.randint(20, 400)
            yield text[begin:end]
            begin = end
