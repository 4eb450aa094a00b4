"""What the helpers of `renderer_helpers` refuse."""

from collections.abc import Callable
from typing import Any

import pytest

import turnloom

loose: Any = turnloom  # for arguments of wrong types
TOKENIZER = turnloom.load_tokenizer("builtin")


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (
            TypeError,
            r"^segments\[1\]: expected a text and a bool, got \('x', 1\)$",
            lambda: loose.attribute_text_segments(TOKENIZER, [("a", True), ("x", 1)]),
        ),
        (
            TypeError,
            r"^tokenizer: expected a tokenizer, got str$",
            lambda: loose.attribute_text_segments("builtin", []),
        ),
        (
            TypeError,
            r"^new_messages\[0\]: expected a dict, got str$",
            lambda: loose.introduces_user_query(["Hi"]),
        ),
        (
            TypeError,
            r"^new_messages: expected a list of messages, got dict$",
            lambda: loose.reject_assistant_in_extension({}),
        ),
        (
            TypeError,
            r"^messages: expected a list of messages, got NoneType$",
            lambda: loose.extract_message_tool_names(None),
        ),
        (
            ValueError,
            r"^thinking_retention: expected one of template, tool_cycle, all, got 'none'$",
            lambda: loose.should_rerender_for_thinking_retention("none", []),
        ),
        (ValueError, r"^previous_prompt_ids\[0\]: ", lambda: loose.trim_to_turn_close([-1], [2], {3})),
        (
            TypeError,
            r"^synthesize_close\[0\]: ",
            lambda: loose.trim_to_turn_close([1], [2], {3}, synthesize_close="x"),
        ),
        (TypeError, r"^tokenizer: expected a tokenizer, got int$", lambda: loose.Qwen3Renderer(5)),
    ],
)
def test_wrong_arguments(error: type[Exception], match: str, call: Callable[[], object]) -> None:
    with pytest.raises(error, match=match):
        call()
