"""One conversation through every side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from turnloom import reference
from turnloom.errors import RenderError
from turnloom.rendered import RenderedTokens
from turnloom.renderer import Renderer, create_renderer
from turnloom.tokenizer import Tokenizer
from turnloom.types import Messages, Tools
from turnloom.verification.differences import (
    Difference,
    ids_difference,
    rendered_difference,
    text_difference,
)
from turnloom.verification.sides import Side, TemplateFailure, TemplateRefusal

if TYPE_CHECKING:
    from turnloom.configs import KnownConfig

Result = TypeVar("Result")


@dataclass(slots=True)
class Outcome:
    """What came of one conversation."""

    difference: Difference | None = None
    """The first; nothing was compared after it."""
    equal_to: list[str] = field(default_factory=list)
    """The sides that give the same."""
    refusal: str | None = None
    """Why it cannot be rendered with the caller's config; the reference says the same."""
    failure: str | None = None
    """What made a chat template crash, which then had nothing to compare with."""
    spells_markers: bool = False
    """Text of it spells control tokens, and stays text with the caller's config."""
    n_tokens: int = 0
    n_bytes: int = 0


class Verifier:
    """Compares the native renderer with the reference, and with other sides.

    The reference has the caller's config. The other sides know neither marker policies nor losses: for them
    the native side renders with `marker_policy="all"` and `on_loss="template"`.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        config: KnownConfig,
        sides: Sequence[Side] = (),
        *,
        add_generation_prompt: bool = False,
    ) -> None:
        self._tokenizer = tokenizer
        self._native = create_renderer(tokenizer, config)
        self._reference = reference.create_renderer(tokenizer, config)
        as_template = config.model_copy(update={"marker_policy": "all", "on_loss": "template"})
        self._as_template = create_renderer(tokenizer, as_template)
        self._sides = sides
        self._add_generation_prompt = add_generation_prompt

    def check(self, messages: Messages, tools: Tools | None = None) -> Outcome:
        """Render a conversation on every side, up to the first difference.

        Raises:
            TypeError, ValueError: it is no conversation, say the native side and the reference.
        """
        outcome = Outcome()
        self._check_reference(outcome, messages, tools)
        for side in self._sides:
            if outcome.difference is None:
                self._check_side(outcome, side, messages, tools)
        return outcome

    def _check_reference(self, outcome: Outcome, messages: Messages, tools: Tools | None) -> None:
        def render(renderer: Renderer | reference.Renderer) -> tuple[str, RenderedTokens]:
            prompt = self._add_generation_prompt
            text = renderer.render_text(messages, tools=tools, add_generation_prompt=prompt)
            tokens = renderer.render(messages, tools=tools, add_generation_prompt=prompt, byte_offsets=True)
            return text, tokens

        native, error = _attempt(lambda: render(self._native))
        expected, expected_error = _attempt(lambda: render(self._reference))
        if _described(error) != _described(expected_error):
            outcome.difference = _error_difference(error, expected_error, "reference")
        elif native is None or expected is None:
            if not isinstance(error, RenderError):
                assert error is not None
                raise error
            outcome.refusal = str(error)
        else:
            outcome.difference = text_difference(native[0], expected[0], "reference") or rendered_difference(
                native[1], expected[1], "reference", self._tokenizer
            )
            outcome.equal_to.append("reference")
            outcome.spells_markers = bool(native[1].neutralised_markers)
            outcome.n_tokens, outcome.n_bytes = len(native[1].token_ids), len(native[0].encode())

    def _check_side(self, outcome: Outcome, side: Side, messages: Messages, tools: Tools | None) -> None:
        try:
            expected, error = _attempt(
                lambda: side.render(messages, tools, self._add_generation_prompt), TemplateRefusal
            )
        except TemplateFailure as failure:
            outcome.failure = f"{side.name}: {failure}"
            return
        native, native_error = _attempt(lambda: self._render_as_template(messages, tools), RenderError)
        if native is None:
            outcome.refusal = str(native_error)
        elif expected is None:
            outcome.difference = _error_difference(None, error, side.name)
        else:
            outcome.difference = text_difference(native[0], expected[0], side.name) or ids_difference(
                native[1], expected[1], side.name, self._tokenizer
            )
            outcome.equal_to.append(side.name)
            outcome.n_tokens, outcome.n_bytes = len(expected[1]), len(expected[0].encode())

    def _render_as_template(self, messages: Messages, tools: Tools | None) -> tuple[str, list[int]]:
        text = self._as_template.render_text(
            messages, tools=tools, add_generation_prompt=self._add_generation_prompt
        )
        ids = self._as_template.render_ids(
            messages, tools=tools, add_generation_prompt=self._add_generation_prompt
        )
        return text, ids


def _attempt(
    call: Callable[[], Result], caught: type[Exception] = Exception
) -> tuple[Result | None, Exception | None]:
    try:
        return call(), None
    except caught as error:
        return None, error


def _described(error: Exception | None) -> tuple[type[Exception], str] | None:
    return None if error is None else (type(error), str(error))


def _error_difference(native: Exception | None, other: Exception | None, side: str) -> Difference:
    def shown(error: Exception | None) -> str:
        return "renders it" if error is None else f"{type(error).__name__}: {error}"

    return Difference("error", "", shown(native), shown(other), side)
