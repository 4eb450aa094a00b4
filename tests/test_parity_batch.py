"""A batch is its rows rendered one by one, on any number of threads, and the same as in the reference."""

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hostile
import strategies
import vocabularies
from catalog import FAMILIES, SCENARIOS, every_config
from chats import HI
from oracles import Both, assert_same_array, attempt, describe
from turnloom import TokenBatch, TokenColumns
from turnloom.configs import FamilyConfig, config_from_name

THREADS = (None, 1, 2, 5)


@pytest.mark.parametrize("family", FAMILIES)
def test_catalog(family: str) -> None:
    rows = [scenario.messages for scenario in SCENARIOS] * 2  # more than one chunk of the core
    tools = [scenario.tools for scenario in SCENARIOS] * 2
    for config in every_config(family):
        both = Both(vocabularies.tokenizer("builtin"), config)
        for threads in THREADS:
            options = {"add_generation_prompt": threads == 2, "byte_offsets": True}
            batch = both.render_batch(
                rows, tools_per_row=tools, threads=threads, on_error="collect", **options
            )
            if config.marker_policy == "all":
                check_rows(both, batch, rows, tools, **options)


@given(
    st.lists(st.one_of(strategies.calls(), hostile.hostile_calls()), max_size=6),
    strategies.configs(),
    st.sampled_from(THREADS),
    st.booleans(),
)
def test_generated(
    calls: list[strategies.Call], config: FamilyConfig, threads: int | None, add_generation_prompt: bool
) -> None:
    both = Both(vocabularies.tokenizer("odd"), config)
    rows, tools = [call.messages for call in calls], [call.tools for call in calls]
    options = {"add_generation_prompt": add_generation_prompt, "byte_offsets": True}
    batch = both.render_batch(rows, tools_per_row=tools, threads=threads, on_error="collect", **options)
    check_rows(both, batch, rows, tools, **options)

    _, error = attempt(lambda: both.render_batch(rows, tools_per_row=tools, threads=threads))
    assert describe(error) == (describe(batch.errors[0][1]) if batch.errors else None)


def check_rows(both: Both, batch: TokenBatch, rows: list[Any], tools: list[Any], **options: bool) -> None:
    """Compare a batch that collected its errors with single renders."""
    assert len(batch) == len(rows)
    errors = dict(batch.errors)
    assert len(errors) == len(batch.errors) and list(errors) == sorted(errors)
    markers = []
    for row, (messages, row_tools) in enumerate(zip(rows, tools, strict=True)):
        rendered, error = attempt(
            lambda messages=messages, row_tools=row_tools: both.native.render(
                messages, tools=row_tools, **options
            )
        )
        if error is not None:
            raised = errors.pop(row)
            assert (type(raised), str(raised)) == (type(error), str(error))
            assert raised.__notes__ == [f"row {row} of the batch"]
            assert len(batch[row]) == 0
            continue
        for column in fields(TokenColumns):
            assert_same_array(getattr(batch[row], column.name), getattr(rendered.columns, column.name))
        markers += ((row, marker) for marker in rendered.content_markers)
    assert not errors
    assert batch.content_markers == markers


def qwen3(**fields: Any) -> Both:
    return Both(vocabularies.tokenizer("builtin"), config_from_name("qwen3", **fields))


def test_no_rows() -> None:
    batch = qwen3().render_batch([])
    assert len(batch) == 0
    assert batch.offsets.tolist() == [0]
    assert batch.columns.token_ids.tolist() == []
    assert qwen3().render_batch((), tools_per_row=(), byte_offsets=True).columns.byte_offsets.shape == (0, 2)


def test_tools_of_all_rows() -> None:
    both = qwen3()
    tools = [{"name": "f"}]
    batch = both.render_batch([[HI], [HI]], tools=tools)
    expected = both.render_ids([HI], tools=tools)
    assert [row.token_ids.tolist() for row in batch] == [expected, expected]


def test_tools_of_each_row() -> None:
    both = qwen3()
    batch = both.render_batch([[HI], [HI], [HI]], tools_per_row=[None, [{"name": "f"}], ()])
    expected = [both.render_ids([HI], tools=tools) for tools in (None, [{"name": "f"}], None)]
    assert [row.token_ids.tolist() for row in batch] == expected


def test_the_first_error_is_raised() -> None:
    # Row 1 fails when it is rendered, rows 2 and 3 when they are read.
    rows = [[HI], [{"role": "tol"}], 5, [{"role": 5}]]
    both = qwen3()
    with pytest.raises(
        ValueError, match=r"^messages\[0\]\.role: qwen3 does not render the role 'tol'"
    ) as raised:
        both.render_batch(rows)
    assert raised.value.__notes__ == ["row 1 of the batch"]
    batch = both.render_batch(rows, on_error="collect")
    assert [row for row, _ in batch.errors] == [1, 2, 3]
    assert [len(row) > 0 for row in batch] == [True, False, False, False]


def test_every_row_fails() -> None:
    batch = qwen3().render_batch([[], 1], on_error="collect", byte_offsets=True)
    assert [str(error) for _, error in batch.errors] == [
        "messages: no messages",
        "messages: expected a list of messages, got int",
    ]
    assert batch.offsets.tolist() == [0, 0, 0]
