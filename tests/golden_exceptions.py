"""What we give where a golden template crashes (TypeError, UndefinedError), which is no rule to copy.

Texts are without what a template's config puts in front of the first turn: bos and default system.
"""

from dataclasses import dataclass

GENERATION_PROMPT = "<|im_start|>assistant\n"

JOINED = "the template fails on a content list; its texts are joined"
EMPTY = "the template fails without a content; no content is empty text"
FOREIGN = "the template fails on a content list; a part that is not text would be lost"


@dataclass(frozen=True)
class Instead:
    """Our text, or the message of our RenderError, and why."""

    why: str
    text: str | None = None
    error: str | None = None


_CHATML = {
    "parts-one-text+gen": Instead(
        JOINED, "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nHello parts<|im_end|>\n"
    ),
    "parts-many-texts+gen": Instead(
        JOINED,
        "<|im_start|>system\nSys A. Sys B.<|im_end|>\n<|im_start|>user\nOne two\nthree<|im_end|>\n"
        "<|im_start|>assistant\nReply<|im_end|>\n<|im_start|>user\nok<|im_end|>\n",
    ),
    "result-parts+gen": Instead(
        JOINED,
        "<|im_start|>user\ngo<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n"
        "<|im_start|>tool\ntwelve o'clock<|im_end|>\n",
    ),
    "none-user+gen": Instead(EMPTY, "<|im_start|>user\n<|im_end|>\n"),
    "none-assistant+gen": Instead(
        EMPTY,
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n"
        "<|im_start|>user\nStill there?<|im_end|>\n",
    ),
    "call-none-content+gen": Instead(
        EMPTY,
        "<|im_start|>user\nWeather in Oslo?<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n"
        "<|im_start|>tool\n3C<|im_end|>\n",
    ),
    "parts-image+gen": Instead(
        FOREIGN, error="messages[0].content[0]: chatml does not render a part of type 'image'"
    ),
    "thinking-parts+gen": Instead(
        FOREIGN, error="messages[1].content[0]: chatml does not render a part of type 'thinking'"
    ),
}

# By the name of the config, then by the golden case.
INSTEAD = {
    "chatml": _CHATML,
    "qwen3": {
        "parts-many-texts+gen": Instead(
            "the template fails on a content list of the first system message; its texts are joined",
            "<|im_start|>system\nSys A. Sys B.<|im_end|>\n<|im_start|>user\n<|im_end|>\n"
            "<|im_start|>assistant\n<|im_end|>\n<|im_start|>user\nok<|im_end|>\n",
        ),
    },
    "llama-3": {},
}
