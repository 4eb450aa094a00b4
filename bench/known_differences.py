"""What turnloom and `renderers` 0.1.12 do differently, each as a rewrite of the call that removes it."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from random_chats import Case, Message


@dataclass(frozen=True)
class Attempt:
    """What each side is asked to render, and two options of ours."""

    ours: Case
    theirs: Case
    marker_policy: str = "trusted"
    on_loss: str = "raise"

    def change_both(self, change: Callable[[Message], None]) -> "Attempt":
        """Change every message on both sides."""
        return replace(self, ours=_changed(self.ours, change), theirs=_changed(self.theirs, change))

    def change_theirs(self, change: Callable[[Message], None]) -> "Attempt":
        """Change every message that `renderers` gets."""
        return replace(self, theirs=_changed(self.theirs, change))


@dataclass(frozen=True)
class KnownDifference:
    """A rewrite after which the two agree, as far as this difference goes."""

    name: str
    families: tuple[str, ...]
    why: str
    rewrite: Callable[[Attempt], Attempt]


def _changed(case: Case, change: Callable[[Message], None]) -> Case:
    messages = copy.deepcopy(case.messages)
    for message in messages:
        change(message)
    return replace(case, messages=messages)


def joined(content: Any) -> Any:
    """Join a content list of texts."""
    if not isinstance(content, list):
        return content
    return "".join(part if isinstance(part, str) else part.get("text", "") for part in content)


def _text_parts_only(message: Message) -> None:
    if isinstance(message.get("content"), list):
        message["content"] = [part for part in message["content"] if isinstance(part, str) or "text" in part]


def _name_reasoning(message: Message) -> None:
    for key in ("thinking", "reasoning"):
        if key in message:
            message.setdefault("reasoning_content", message.pop(key))


def _drop_reasoning(message: Message) -> None:
    for key in ("reasoning_content", "thinking", "reasoning"):
        message.pop(key, None)


def _strip_tool_response(message: Message) -> None:
    text = joined(message.get("content"))
    if message.get("role") != "user" or text is None:
        return
    if text.strip().startswith("<tool_response>") and text.strip().endswith("</tool_response>"):
        message["content"] = text.strip()


def _join_result(message: Message) -> None:
    if message.get("role") in ("tool", "ipython"):
        message["content"] = joined(message.get("content"))


def _last_think_block(message: Message) -> None:
    text = joined(message.get("content"))
    if message.get("role") != "assistant" or text is None or "reasoning_content" in message:
        return
    if text.count("</think>") > 1:
        message["content"] = text.partition("</think>")[0] + "</think>" + text.rpartition("</think>")[2]


def _drop_content_beside_calls(message: Message) -> None:
    if message.get("tool_calls"):
        message["content"] = ""


def _name_results(attempt: Attempt) -> Attempt:
    named: dict[str, str] = {}
    messages = copy.deepcopy(attempt.theirs.messages)
    for message in messages:
        if message.get("role") == "assistant":
            for call in message.get("tool_calls") or []:
                if "id" in call:
                    named[call["id"]] = call.get("function", call)["name"]
        elif message.get("role") == "tool" and not message.get("name"):
            message["name"] = named.get(message.pop("tool_call_id", ""))
    return replace(attempt, theirs=replace(attempt.theirs, messages=messages))


def _give_content(message: Message) -> None:
    if message.get("role") == "user" and message.get("content") is None:
        message["content"] = ""


def _join_lists(message: Message) -> None:
    message["content"] = joined(message.get("content"))


def _give_role(message: Message) -> None:
    message.setdefault("role", "")


def _drop_calls_of_others(message: Message) -> None:
    if message.get("role") != "assistant":
        message.pop("tool_calls", None)


BOTH = ("qwen3", "llama-3")
KNOWN_DIFFERENCES = [
    KnownDifference(
        "markers",
        BOTH,
        "caller text that spells a control token becomes one in renderers; here with marker_policy='all'",
        lambda attempt: replace(attempt, marker_policy="all"),
    ),
    KnownDifference(
        "reasoning under another key",
        ("qwen3",),
        "`thinking` and `reasoning` are read as `reasoning_content`; renderers ignores them",
        lambda attempt: attempt.change_theirs(_name_reasoning),
    ),
    KnownDifference(
        "reasoning without a place",
        ("llama-3",),
        "renderers drops reasoning, which is a loss that turnloom refuses",
        lambda attempt: attempt.change_both(_drop_reasoning),
    ),
    KnownDifference(
        "content beside a call",
        ("llama-3",),
        "renderers drops the content of a message with calls, a loss that turnloom refuses",
        lambda attempt: attempt.change_both(_drop_content_beside_calls),
    ),
    KnownDifference(
        "white space around a tool response",
        ("qwen3",),
        "a user message that is a tool response between white space is a query to the template, and to us",
        lambda attempt: attempt.change_both(_strip_tool_response),
    ),
    KnownDifference(
        "several ends of thinking",
        ("qwen3",),
        "the template keeps what follows the last `</think>` of a text; renderers what follows the first",
        lambda attempt: attempt.change_theirs(_last_think_block),
    ),
    KnownDifference(
        "list as a tool result",
        ("llama-3",),
        "renderers prints the list as JSON; turnloom joins the texts, as everywhere",
        lambda attempt: attempt.change_theirs(_join_result),
    ),
    KnownDifference(
        "user message without content",
        ("qwen3",),
        "None is no string, so to the template, and to us, the message is no query; in renderers it is one",
        lambda attempt: attempt.change_both(_give_content),
    ),
    KnownDifference(
        "parts that are no text",
        BOTH,
        "renderers drops them, or prints them as JSON in results of llama-3; turnloom refuses them",
        lambda attempt: attempt.change_both(_text_parts_only),
    ),
    KnownDifference(
        "no role",
        ("llama-3",),
        "renderers takes it for an empty one; turnloom refuses it",
        lambda attempt: attempt.change_both(_give_role),
    ),
    KnownDifference(
        "calls of other roles",
        ("llama-3",),
        "renderers writes them as the assistant's, or drops them; turnloom refuses them",
        lambda attempt: attempt.change_both(_drop_calls_of_others),
    ),
    KnownDifference(
        "name of a tool",
        BOTH,
        "a result takes its name from the call before it; in renderers from the last one of that id anywhere",
        _name_results,
    ),
    KnownDifference(
        "other losses",
        BOTH,
        "renderers drops unknown roles, calls and reasoning of others than the assistant, text beside a "
        "think block; turnloom refuses them, but for on_loss='template'",
        lambda attempt: replace(attempt.change_both(_join_lists), on_loss="template"),
    ),
]
