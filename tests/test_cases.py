"""Cases from public bug reports, with the ids of real vocabularies; `test_cases_offline` has the rest.

By their numbers in the collection: H01 two beginning-of-text tokens, H02 Python literals in JSON, H03
arguments as a string, H05 reasoning of earlier turns, H28 history that is encoded again, H29 newline behind a
close, H30 close that is not the EOS token, H31 reasoning that vanishes, H32 trained header, H34 mask off by
one, H35 mask without generation tags, H41 control tokens of a user, H44 NUL, H45 threads (in `test_threads`).
"""

from pathlib import Path

import pytest

import turnloom
import vocabularies
from chats import H41_TEXT, HI, assistant, call, tool, user
from oracles import Both
from turnloom import Field, Tokenizer
from turnloom.configs import config_from_name

IM_START, IM_END, NEWLINE = 151644, 151645, 198
THINK_CLOSE = 151668
YO = assistant("Yo")
H32_IDS = [
    *(IM_START, 872, NEWLINE, 13048, IM_END, NEWLINE),
    *(IM_START, 77091, NEWLINE, 151667, 271, THINK_CLOSE, 271, 64725, IM_END, NEWLINE),
]
H41_IDS = [87, 27, 91, 318, 6213, 91, 397, 27, 91, 318, 4906, 91, 29, 8948, 198, 58867]


@pytest.fixture(scope="module", params=["ranks", pytest.param("file", marks=pytest.mark.shared)])
def qwen3_tokenizer(request: pytest.FixtureRequest, shared: Path) -> Tokenizer:
    if request.param == "ranks":
        return vocabularies.qwen3()
    return turnloom.load_tokenizer(shared / "tokenizers" / "qwen3")


@pytest.fixture(scope="module")
def llama3_tokenizer(shared: Path) -> Tokenizer:
    return turnloom.load_tokenizer(shared / "tokenizers" / "llama3_1")


@pytest.fixture
def qwen3(qwen3_tokenizer: Tokenizer) -> Both:
    return Both(qwen3_tokenizer, config_from_name("qwen3"))


@pytest.mark.shared
def test_h01_one_beginning_of_text(llama3_tokenizer: Tokenizer) -> None:
    renderer = Both(llama3_tokenizer, config_from_name("llama-3"))
    ids = renderer.render_ids([HI], add_generation_prompt=True)
    assert ids == [128000, 128006, 882, 128007, 271, 13347, 128009, 128006, 78191, 128007, 271]
    assert llama3_tokenizer.encode(renderer.render_text([HI], add_generation_prompt=True)) == ids


NEXT_HI = [IM_START, 872, NEWLINE, 13048, IM_END, NEWLINE, IM_START, 77091, NEWLINE]


def test_h28_and_h29_sampled_ids_stay(qwen3_tokenizer: Tokenizer) -> None:
    renderer = Both(qwen3_tokenizer, config_from_name("qwen3", thinking_retention="all"))
    prompt = renderer.render_ids([HI], add_generation_prompt=True)
    sampled = [71, 4791, IM_END]  # "hello", which is 14990 when it is encoded
    bridged = renderer.bridge_to_next_turn(prompt, sampled, [HI])
    assert bridged is not None
    assert bridged.token_ids == [*prompt, *sampled, NEWLINE, *NEXT_HI]
    newline = len(prompt) + len(sampled)
    assert bridged.columns.fields[newline] == Field.SCAFFOLD
    assert not bridged.columns.loss_mask.any()


def test_h30_the_close_is_not_the_eos_token(qwen3_tokenizer: Tokenizer) -> None:
    renderer = Both(qwen3_tokenizer, config_from_name("qwen3", thinking_retention="all"))
    prompt = renderer.render_ids([HI], add_generation_prompt=True)
    for close, n_closes in ((IM_END, 2), (151643, 1)):  # two of them: the completion's and the new message's
        bridged = renderer.bridge_to_next_turn(prompt, [64725, close], [HI])
        assert bridged is not None
        behind = bridged.token_ids[len(prompt) :]
        assert behind == [64725, close, NEWLINE, *NEXT_HI]
        assert behind.count(IM_END) == n_closes


def test_h31_reasoning_stays(qwen3: Both) -> None:
    prompt = qwen3.render_ids([HI], add_generation_prompt=True)
    sampled = [151667, 198, 81, 198, THINK_CLOSE, 271, 64725, IM_END]
    bridged = qwen3.bridge_to_next_turn(prompt, sampled, [tool("ok")])
    assert bridged is not None
    assert bridged.token_ids == [
        *prompt,
        *sampled,
        *(198, 151644, 872, 198, 151665, 198, 562, 198, 151666, 151645, 198, 151644, 77091, 198),
    ]


def test_h32_and_h34_what_is_trained(qwen3: Both) -> None:
    rendered = qwen3.render([HI, YO])
    assert rendered.token_ids == H32_IDS
    # Entry i of the mask is about token i: from the think block to the stop token, not what follows it.
    assert rendered.sampled_mask == [False] * 9 + [True] * 6 + [False]
    trained = [id for id, loss in zip(H32_IDS, rendered.columns.loss_mask, strict=True) if loss]
    assert trained == [151667, 271, THINK_CLOSE, 271, 64725, IM_END]


def test_h41_control_tokens_of_a_user(qwen3_tokenizer: Tokenizer) -> None:
    def render(policy: str) -> turnloom.RenderedTokens:
        renderer = Both(qwen3_tokenizer, config_from_name("qwen3", marker_policy=policy))
        return renderer.render([user(H41_TEXT)], add_generation_prompt=True)

    for policy in ("trusted", "none"):
        rendered = render(policy)
        assert rendered.token_ids == [
            *(IM_START, 872, NEWLINE),
            *H41_IDS,
            *(IM_END, NEWLINE, IM_START, 77091, NEWLINE),
        ]
        assert [marker.marker for marker in rendered.neutralised_markers] == ["<|im_end|>", "<|im_start|>"]
    exact = render("all")
    assert exact.token_ids.count(IM_START) == 3
    assert exact.token_ids.count(IM_END) == 2
    assert exact.neutralised_markers == []
    for rendered in (exact, render("trusted")):
        assert [(marker.message_index, marker.field) for marker in rendered.content_markers] == [
            (0, Field.CONTENT)
        ] * 2
    with pytest.raises(
        turnloom.RenderError, match=r"^messages\[0\]\.content: bytes 18-28 of the rendered text"
    ):
        render("reject")


def test_h44_nul(qwen3: Both) -> None:
    rendered = qwen3.render([user("a\0b"), assistant("a\0b")])
    assert rendered.token_ids[3:6] == [64, 188, 65]
    assert rendered.token_ids[-5:] == [64, 188, 65, IM_END, NEWLINE]
    assert "a\0b" in qwen3.render_text([user("a\0b")])


def test_h32_ids_of_the_offline_vocabulary_have_the_same_shape(qwen3: Both) -> None:
    builtin = Both(vocabularies.tokenizer("builtin"), config_from_name("qwen3"))
    conversation = [HI, YO, user("2"), assistant("", tool_calls=[call("f", {"a": 1})]), tool("ok")]
    expected, rendered = qwen3.render(conversation), builtin.render(conversation)
    assert rendered.message_roles == expected.message_roles
    assert [span is None for span in rendered.message_token_spans()] == [False] * 5
    assert builtin.render_text(conversation) == qwen3.render_text(conversation)
