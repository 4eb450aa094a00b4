"""Native core and reference give the same text, tokens, columns and markers."""

from typing import Any

import pytest
from hypothesis import given

import strategies
import vocabularies
from catalog import CALL_OPTIONS, FAMILIES, SCENARIOS, Scenario, every_config
from oracles import Both, attempt
from turnloom import RenderError
from turnloom.configs import FamilyConfig

FAMILY_OPTIONS = [(family, options) for family, several in FAMILIES.items() for options in several]


@pytest.mark.parametrize("vocabulary", ["builtin", "odd"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
@pytest.mark.parametrize(("family", "options"), FAMILY_OPTIONS, ids=str)
def test_catalog(vocabulary: str, scenario: Scenario, family: str, options: dict[str, Any]) -> None:
    for config in every_config(family, **options):
        both = Both(vocabularies.tokenizer(vocabulary), config)
        for call_options in CALL_OPTIONS:
            run_every_call(both, scenario.messages, tools=scenario.tools, **call_options)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
@pytest.mark.parametrize("family", FAMILIES)
def test_refused(scenario: Scenario, family: str) -> None:
    for config in every_config(family):
        if config.on_loss == "template":
            continue
        both = Both(vocabularies.tokenizer("builtin"), config)
        _, error = attempt(lambda both=both: both.render_text(scenario.messages, tools=scenario.tools))
        if family in scenario.refused:
            assert type(error) is RenderError
            assert str(error) == scenario.refused[family]
        else:
            assert error is None


@given(strategies.calls(), strategies.configs(), strategies.vocabulary_names())
def test_generated(call: strategies.Call, config: FamilyConfig, vocabulary: str) -> None:
    both = Both(vocabularies.tokenizer(vocabulary), config)
    run_every_call(both, call.messages, tools=call.tools, **call.options)


def run_every_call(both: Both, messages: Any, **options: Any) -> None:
    """Run the calls on both sides, which compares them; compare what one side's calls give."""
    _, text_error = attempt(lambda: both.render_text(messages, **options))
    rendered, error = attempt(lambda: both.render(messages, byte_offsets=True, **options))
    ids, ids_error = attempt(lambda: both.render_ids(messages, **options))
    for raised in (text_error, error, ids_error):
        if isinstance(raised, AssertionError):
            raise raised
    assert str(ids_error) == str(error)
    if error is None:
        assert text_error is None
        assert ids == rendered.token_ids
        assert both.native.render(messages, **options).columns.byte_offsets is None
    elif text_error is None:
        # Only the tokens can be refused for a marker.
        assert both.config.marker_policy == "reject"
        assert "of the rendered text spell the marker" in str(error)
    else:
        assert str(text_error) == str(error)


def test_stop_token_ids() -> None:
    for family, options in FAMILY_OPTIONS:
        for config in every_config(family, **options):
            assert Both(vocabularies.tokenizer("builtin"), config).get_stop_token_ids()
