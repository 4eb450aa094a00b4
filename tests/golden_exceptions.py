"""What we give where a golden template crashes (TypeError, UndefinedError), which is no rule to copy."""

from dataclasses import dataclass, replace

from golden_cases import GoldenCase

JOINED = "the template fails on a content list; its texts are joined"
EMPTY = "the template fails without a content; no content is empty text"
FOREIGN = "the template fails on a content list; a part that is not text would be lost"


@dataclass(frozen=True)
class Instead:
    """Our text, or the message of our RenderError, and why."""

    why: str
    text: str | None = None
    """Without what the config puts in front of the first turn, and without the generation prompt."""
    error: str | None = None
    as_template: str | None = None
    """The text is what this template gives."""


_JOINED = {
    "parts-one-text+gen": Instead(
        JOINED, "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nHello parts<|im_end|>\n"
    ),
    "parts-many-texts+gen": Instead(
        JOINED,
        "<|im_start|>system\nSys A. Sys B.<|im_end|>\n<|im_start|>user\nOne two\nthree<|im_end|>\n"
        "<|im_start|>assistant\nReply<|im_end|>\n<|im_start|>user\nok<|im_end|>\n",
    ),
}

_EMPTY = {
    "none-user+gen": Instead(EMPTY, "<|im_start|>user\n<|im_end|>\n"),
    "none-assistant+gen": Instead(
        EMPTY,
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n"
        "<|im_start|>user\nStill there?<|im_end|>\n",
    ),
}

_SYSTEM_JOINED = {
    "parts-many-texts+gen": Instead(
        "the template fails on a content list of the first system message; its texts are joined",
        "<|im_start|>system\nSys A. Sys B.<|im_end|>\n<|im_start|>user\n<|im_end|>\n"
        "<|im_start|>assistant\n<|im_end|>\n<|im_start|>user\nok<|im_end|>\n",
    ),
}


def _foreign(family: str) -> dict[str, Instead]:
    return {
        "parts-image+gen": Instead(
            FOREIGN, error=f"messages[0].content[0]: {family} does not render a part of type 'image'"
        ),
        "thinking-parts+gen": Instead(
            FOREIGN, error=f"messages[1].content[0]: {family} does not render a part of type 'thinking'"
        ),
    }


# By the format of the template, then by the golden case.
INSTEAD = {
    "chatml": {
        **_JOINED,
        **_EMPTY,
        **_foreign("chatml"),
        "result-parts+gen": Instead(
            JOINED,
            "<|im_start|>user\ngo<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n"
            "<|im_start|>tool\ntwelve o'clock<|im_end|>\n",
        ),
        "call-none-content+gen": Instead(
            EMPTY,
            "<|im_start|>user\nWeather in Oslo?<|im_end|>\n<|im_start|>assistant\n<|im_end|>\n"
            "<|im_start|>tool\n3C<|im_end|>\n",
        ),
    },
    "qwen2.5": {**_JOINED, **_EMPTY, **_foreign("qwen2.5")},
    "qwen3": _SYSTEM_JOINED,
    "qwen3 first": {
        **_JOINED,
        **_EMPTY,
        **_foreign("qwen3"),
        "call-none-content+gen": Instead(EMPTY, as_template="qwen3/qwen3"),
    },
    "qwen3 instruct-2507": _SYSTEM_JOINED,
    "qwen3 next": _SYSTEM_JOINED,
}


def instead_of(case: GoldenCase) -> Instead:
    """Give what takes the place of a failure, its text in full."""
    instead = INSTEAD[case.template.format][case.case]
    if instead.text is None:
        return instead
    return replace(instead, text=_opening(case) + instead.text + _generation_prompt(case))


def _opening(case: GoldenCase) -> str:
    bos, system = (getattr(case.config, name, None) for name in ("bos", "default_system"))
    is_written = system is not None and case.messages[0]["role"] != "system"
    return (bos or "") + (f"<|im_start|>system\n{system}<|im_end|>\n" if is_written else "")


def _generation_prompt(case: GoldenCase) -> str:
    return "<|im_start|>assistant\n" + ("<think>\n" if case.template.format == "qwen3 next" else "")
