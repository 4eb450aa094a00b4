"""What a renderer of one's own needs, by the names that the `renderers` package has for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from turnloom._ids import TokenIds, token_id_array
from turnloom._tokenizer_argument import TokenizerObject, own_tokenizer
from turnloom.scan import TokensToFind, find_last
from turnloom.token_spans import token_spans

if TYPE_CHECKING:
    from turnloom.configs import BaseRendererConfig, ResolvedThinkingRetention
    from turnloom.types import Message, Messages

AnyMessage: TypeAlias = Any
"""A message of `Messages`. A caller's function takes whichever type of message the caller has."""


class AttributedTextSegments(list[tuple[int, bool]]):
    """Tokens with whether each is content."""

    def __init__(self, values: Iterable[tuple[int, bool]] = (), *, has_content_attribution: bool) -> None:
        super().__init__(values)
        self.has_content_attribution = has_content_attribution
        """False where the tokenizer does not tell: then no token is marked."""


def attribute_text_segments(
    tokenizer: TokenizerObject, segments: Sequence[tuple[str, bool]], *, overlap_is_content: bool = False
) -> AttributedTextSegments:
    """Encode texts as one, and tell for each token whether it is content, as its text is.

    >>> attribute_text_segments(tok, [("user", False), ("Hi", True)])
    [(872, False), (13347, True)]

    A token takes the flag of the text that its first byte is in.

    Args:
        overlap_is_content: a token with any byte of content is content.

    Raises:
        TypeError: `tokenizer` is none, or something in `segments` is no text with a bool.
        ValueError: a text holds a lone surrogate.
    """
    own = own_tokenizer(tokenizer)
    for i, segment in enumerate(segments):
        if not isinstance(segment, (tuple, list)) or list(map(type, segment)) != [str, bool]:
            raise TypeError(f"segments[{i}]: expected a text and a bool, got {segment!r}")
    text = "".join(text for text, _ in segments)
    ids = own.encode_array(text)
    spans = token_spans(own, text, ids)
    if spans is None:
        return AttributedTextSegments(((id_, False) for id_ in ids.tolist()), has_content_attribution=False)
    content_bytes = np.repeat([flag for _, flag in segments], [len(text.encode()) for text, _ in segments])
    # How much content there is before each byte, so that a span has what lies between its ends.
    n_before = np.concatenate([[0], np.cumsum(content_bytes)])
    begins = spans[:, 0]
    ends = spans[:, 1] if overlap_is_content else np.minimum(begins + 1, spans[:, 1])
    flags = n_before[ends] > n_before[begins]
    return AttributedTextSegments(
        zip(ids.tolist(), flags.tolist(), strict=True), has_content_attribution=True
    )


def trim_to_turn_close(
    previous_prompt_ids: TokenIds,
    previous_completion_ids: TokenIds,
    close_token_ids: TokensToFind,
    *,
    synthesize_close: int | None = None,
) -> list[int] | None:
    """Return prompt and completion up to the last close in the completion.

    Without one there, all of it with `synthesize_close` behind it, or None if that is None.

    Raises:
        TypeError, ValueError: something that was passed is no token id.
    """
    ids = token_id_array(previous_prompt_ids, "previous_prompt_ids").tolist()
    completion = token_id_array(previous_completion_ids, "previous_completion_ids")
    last = find_last(completion, close_token_ids)
    if last is not None:
        return [*ids, *completion[: last + 1].tolist()]
    if synthesize_close is None:
        return None
    return [*ids, *completion.tolist(), *token_id_array([synthesize_close], "synthesize_close").tolist()]


def reject_assistant_in_extension(new_messages: Messages) -> bool:
    """Tell whether a new message is an assistant's, whose ids would not be those that were sampled."""
    return any(message.get("role") == "assistant" for message in _checked(new_messages, "new_messages"))


def _is_of_user(message: AnyMessage) -> bool:
    return bool(message.get("role") == "user")


def introduces_user_query(
    new_messages: Messages, *, is_user_query: Callable[[AnyMessage], bool] = _is_of_user
) -> bool:
    """Tell whether a new message is a user's query; by default, every message of a user is one."""
    return any(map(is_user_query, _checked(new_messages, "new_messages")))


def resolve_thinking_retention(
    config: BaseRendererConfig, implied: ResolvedThinkingRetention
) -> ResolvedThinkingRetention:
    """Return the policy that a config asks for, else the one that its other fields imply."""
    return config.thinking_retention or implied


def should_rerender_for_thinking_retention(
    thinking_retention: ResolvedThinkingRetention,
    new_messages: Messages,
    *,
    is_user_query: Callable[[AnyMessage], bool] = _is_of_user,
) -> bool:
    """Tell whether a policy makes a bridge refuse the new messages."""
    policies: tuple[Literal["template"], Literal["tool_cycle"], Literal["all"]]
    policies = ("template", "tool_cycle", "all")
    if thinking_retention not in policies:
        raise ValueError(
            f"thinking_retention: expected one of {', '.join(policies)}, got {thinking_retention!r}"
        )
    if thinking_retention == "tool_cycle":
        return introduces_user_query(new_messages, is_user_query=is_user_query)
    return thinking_retention == "template"


def extract_message_tool_names(messages: Messages) -> list[str | None]:
    """Name the tool of each tool message: its `name`, else that of the last call before it with its id.

    For other messages, and where it is not known, None.
    """
    called: dict[str, object] = {}
    names: list[str | None] = []
    for message in _checked(messages, "messages"):
        if message.get("role") == "assistant":
            called.update(_calls_by_id(message.get("tool_calls")))
        id_ = message.get("tool_call_id")
        name = message.get("name") or (called.get(id_) if isinstance(id_, str) else None)
        names.append(name or None if message.get("role") == "tool" and isinstance(name, str) else None)
    return names


def is_multimodal(r: object) -> bool:
    """Tell whether a renderer takes images; none of turnloom's does.

    One that does has a `mm_token_type_id_map`, or says so by an attribute of this name.
    """
    told = getattr(r, "is_multimodal", None)
    return told if isinstance(told, bool) else hasattr(r, "mm_token_type_id_map")


def _checked(messages: Messages, place: str) -> Sequence[Mapping[str, object]] | Sequence[Message]:
    if not isinstance(messages, (list, tuple)):
        raise TypeError(f"{place}: expected a list of messages, got {type(messages).__name__}")
    for i, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise TypeError(f"{place}[{i}]: expected a dict, got {type(message).__name__}")
    return messages


def _calls_by_id(calls: object) -> dict[str, object]:
    named: dict[str, object] = {}
    for call in calls if isinstance(calls, (list, tuple)) else ():
        function = call.get("function", call) if isinstance(call, Mapping) else None
        if isinstance(function, Mapping) and isinstance(call.get("id"), str):
            named[call["id"]] = function.get("name")
    return named
