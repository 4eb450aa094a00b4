"""The reference behind the same calls as the native side: every call runs on both, and they must agree."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

import turnloom
from turnloom import BridgeRefusal, RenderedTokens, TokenBatch, TokenColumns, Tokenizer, reference
from turnloom.configs import FamilyConfig

Result = TypeVar("Result")


class Both:
    """A native renderer and its reference. A call gives the native result, or raises the native error."""

    def __init__(self, tokenizer: Tokenizer, config: FamilyConfig) -> None:
        self.config = config
        self.tokenizer = tokenizer
        self.reference, expected_error = attempt(lambda: reference.create_renderer(tokenizer, config))
        self.native, error = attempt(lambda: turnloom.create_renderer(tokenizer, config))
        assert_same_errors(error, expected_error)

    def render_text(self, messages: Any, **options: Any) -> str:
        return self._agreed("render_text", assert_equal, messages, **options)

    def render_ids(self, messages: Any, **options: Any) -> list[int]:
        return self._agreed("render_ids", assert_equal, messages, **options)

    def render(self, messages: Any, **options: Any) -> RenderedTokens:
        return self._agreed("render", assert_same_rendered, messages, **options)

    def render_batch(self, conversations: Any, **options: Any) -> TokenBatch:
        return self._agreed("render_batch", assert_same_batch, conversations, **options)

    def bridge_to_next_turn(self, *arguments: Any, **options: Any) -> RenderedTokens | None:
        return self._agreed("bridge_to_next_turn", assert_same_bridged, *arguments, **options)

    def explain_bridge(self, *arguments: Any, **options: Any) -> BridgeRefusal | None:
        return self._agreed("explain_bridge", assert_equal, *arguments, **options)

    def get_stop_token_ids(self) -> list[int]:
        return self._agreed("get_stop_token_ids", assert_equal)

    def _agreed(self, call: str, assert_same: Callable[..., None], *arguments: Any, **options: Any) -> Any:
        return agreed(
            lambda: getattr(self.native, call)(*arguments, **options),
            lambda: getattr(self.reference, call)(*arguments, **options),
            assert_same,
        )


def agreed(
    native: Callable[[], Result], reference: Callable[[], Result], assert_same: Callable[[Any, Any], None]
) -> Result:
    """Run both sides; give the result of the native one, or raise its error."""
    result, error = attempt(native)
    expected, expected_error = attempt(reference)
    assert_same_errors(error, expected_error)
    assert_same(result, expected)
    return result


def attempt(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """Give a call's result or its error."""
    try:
        return call(), None
    except Exception as error:
        return None, error


def assert_same_errors(error: Exception | None, expected: Exception | None) -> None:
    """Raise the native error, if both sides gave the same."""
    if error is not None and describe(error) == describe(expected):
        raise error
    assert describe(error) == describe(expected), f"native {describe(error)}, reference {describe(expected)}"


def describe(error: Exception | None) -> tuple[object, ...] | None:
    """Give what a caller sees of an error: class, text and notes."""
    return error and (type(error), str(error), tuple(getattr(error, "__notes__", ())))


def assert_equal(native: object, expected: object) -> None:
    assert type(native) is type(expected)
    assert native == expected, f"native {native!r}, reference {expected!r}"


def assert_same_rendered(native: RenderedTokens, expected: RenderedTokens) -> None:
    assert_same_columns(native.columns, expected.columns)
    assert_equal(native, expected)  # every list field
    assert_equal(native.content_markers, expected.content_markers)
    assert_equal(native.neutralised_markers, expected.neutralised_markers)


def assert_same_bridged(native: RenderedTokens | None, expected: RenderedTokens | None) -> None:
    if native is None or expected is None:
        assert native is expected
    else:
        assert_same_rendered(native, expected)


def assert_same_batch(native: TokenBatch, expected: TokenBatch) -> None:
    assert_same_columns(native.columns, expected.columns)
    assert_same_array(native.offsets, expected.offsets)
    assert_equal(native.content_markers, expected.content_markers)
    assert_equal(described_errors(native), described_errors(expected))


def described_errors(batch: TokenBatch) -> list[tuple[int, object]]:
    """Give the rows and errors of a batch in a form that compares."""
    return [(row, describe(error)) for row, error in batch.errors]


def assert_same_columns(native: TokenColumns, expected: TokenColumns) -> None:
    for field in fields(TokenColumns):
        values, expected_values = getattr(native, field.name), getattr(expected, field.name)
        if expected_values is None:
            assert values is None, field.name
        else:
            assert_same_array(values, expected_values, field.name)


def assert_same_array(native: np.ndarray, expected: np.ndarray, name: str = "") -> None:
    assert native.dtype == expected.dtype, name
    assert native.shape == expected.shape, name
    assert native.tolist() == expected.tolist(), f"{name}: native {native}, reference {expected}"
    assert native.flags.c_contiguous, name
    assert not native.flags.writeable and not expected.flags.writeable, name
