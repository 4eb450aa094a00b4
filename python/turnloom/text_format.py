"""Formats that are text alone: ChatML, and those that LangChain's prompts go by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from turnloom import _core
from turnloom._arguments import check_text_format

if TYPE_CHECKING:
    from turnloom.types import Messages

TextFormatName: TypeAlias = Literal["chatml", "im_start", "inst", "llama_2", "llama_3", "zephyr"]


def apply_text_format(
    messages: Messages, format: TextFormatName, *, add_generation_prompt: bool | None = None
) -> str:
    """Return a conversation as text. No tokenizer is needed, and content is never changed.

    Args:
        format: "chatml" takes any roles in any order, and no messages, too. The others take a system message
            in front, and then a user and an assistant in turn, the user first.
        add_generation_prompt: end with the header of an assistant's turn. By default "chatml" always does,
            and the others where the last message is a user's. "inst" and "llama_2" have no such header.

    Raises:
        KeyError: there is no such format; the message lists those there are.
        RenderError: the format cannot express the conversation.
        TypeError, ValueError: something that was passed is of a wrong type or value.

    >>> apply_text_format([{"role": "user", "content": "Hi"}], "inst")
    '<s>[INST] Hi [/INST]'
    """
    check_text_format(format, add_generation_prompt)
    return _core.apply_text_format(messages, format, add_generation_prompt)
