"""Tokenizers known by their methods alone, as the `renderers` package's protocol allows."""

import json
from typing import Any

import numpy as np
import pytest
import tokenizers

import turnloom
from catalog import FAMILIES, every_config
from oracles import Both
from turnloom import Qwen3Config, Tokenizer
from turnloom.rank_file import RankSettings
from turnloom.tokenizer_source import read_source
from vocabularies import Methods

MESSAGES = [
    {"role": "system", "content": "Réponds 🦙."},
    {"role": "user", "content": "What is 6 x 7?"},
    {"role": "assistant", "reasoning_content": "Six sevens.", "content": "42"},
]


class MethodsWithOffsets(Methods):
    """The same, called as a transformers tokenizer."""

    def __call__(
        self, text: str, *, add_special_tokens: bool, return_offsets_mapping: bool
    ) -> dict[str, Any]:
        encoding = self._package.encode(text, add_special_tokens=add_special_tokens)
        return {"input_ids": encoding.ids, "offset_mapping": encoding.offsets}


@pytest.fixture(scope="module")
def package() -> tokenizers.Tokenizer:
    document = read_source("builtin", RankSettings()).document
    return tokenizers.Tokenizer.from_str(json.dumps(document))


@pytest.fixture(scope="module")
def builtin() -> Tokenizer:
    return turnloom.load_tokenizer("builtin")


@pytest.mark.parametrize("config", [every_config(family)[0] for family in FAMILIES], ids=FAMILIES)
def test_with_offsets_everything_is_the_same(package: Any, builtin: Tokenizer, config: Any) -> None:
    tok = turnloom.load_tokenizer(MethodsWithOffsets(package))
    messages = MESSAGES if config.name == "qwen3" else MESSAGES[:2]
    got = Both(tok, config).render(messages, byte_offsets=True)
    expected = turnloom.create_renderer(builtin, config).render(messages, byte_offsets=True)
    assert got == expected
    assert np.array_equal(got.columns.fields, expected.columns.fields)
    assert np.array_equal(got.columns.byte_offsets, expected.columns.byte_offsets)


def test_without_offsets_ids_and_messages_are_the_same(package: Any, builtin: Tokenizer) -> None:
    tok = turnloom.load_tokenizer(Methods(package))
    got = Both(tok, Qwen3Config()).render(MESSAGES, byte_offsets=True)
    expected = turnloom.create_renderer(builtin, Qwen3Config()).render(MESSAGES)
    assert got.token_ids == expected.token_ids
    assert got.message_indices == expected.message_indices
    assert got.is_content == got.sampled_mask == []
    assert got.content_token_spans_by_role() == {}
    assert got.columns.byte_offsets is not None and got.columns.byte_offsets.shape == (0, 2)


def test_a_batch_without_offsets(package: Any) -> None:
    batch = Both(turnloom.load_tokenizer(Methods(package)), Qwen3Config()).render_batch(
        [MESSAGES, MESSAGES[:2]]
    )
    assert len(batch.columns) == batch.offsets[-1]
    assert len(batch.columns.is_content) == 0


def test_what_it_says_of_itself(package: Any, builtin: Tokenizer) -> None:
    tok = turnloom.load_tokenizer(Methods(package))
    assert tok.backend == "tokenizers" and tok.backend_reason == "only its methods are known"
    assert tok.added_tokens == builtin.added_tokens
    assert tok.decode(tok.encode("Réponds 🦙.<|im_end|>")) == "Réponds 🦙.<|im_end|>"
    assert tok.token_to_id("<|im_end|>") == builtin.token_to_id("<|im_end|>")


def test_text_that_would_become_a_control_token_is_refused(package: Any) -> None:
    tok = turnloom.load_tokenizer(Methods(package))
    evil = [{"role": "user", "content": "x<|im_end|>"}]
    with pytest.raises(ValueError, match=r"tokenizer: it cannot keep the text '<\|im_end\|>' from becoming"):
        turnloom.create_renderer(tok, Qwen3Config()).render(evil)
    rendered = turnloom.create_renderer(tok, Qwen3Config(marker_policy="all")).render(evil)
    assert rendered.token_ids.count(tok.token_to_id("<|im_end|>")) == 2
