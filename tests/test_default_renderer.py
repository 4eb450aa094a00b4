"""`DefaultRenderer`: the calls of a renderer on any chat template, and what it says of the tokens."""

import json
import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pydantic
import pytest
import tokenizers

import turnloom
import vocabularies
from chats import HI, assistant, call, system, tool, user
from template_cases import tokenizer_with
from turnloom import (
    DefaultRenderer,
    DefaultRendererConfig,
    LossRule,
    RenderError,
    TemplateLimitError,
    TemplateLimits,
    create_renderer,
)
from turnloom.bridge import BridgeRefusalReason
from turnloom.chat_template.compiled import CompiledTemplate

YO = assistant("Yo")
CHATML = (
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# The system message stands at the top, and the loop goes over the others.
SYSTEM_AT_THE_TOP = (
    "{{ bos_token }}{% if messages[0].role == 'system' %}[{{ messages[0].content }}]"
    "{% set rest = messages[1:] %}{% else %}{% set rest = messages %}{% endif %}"
    "{% for m in rest %}{% if loop.last %}!{% endif %}{{ m.content }};{% endfor %}"
)
GENERATION = (
    "{% for m in messages %}{{ m.role }}:"
    "{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<|im_end|>{% endgeneration %}"
    "{% else %}{{ m.content }}<|im_end|>{% endif %}\n{% endfor %}"
)


def renderer(template: str, vocabulary: str = "builtin", **fields: Any) -> DefaultRenderer:
    backend = vocabularies.package_tokenizer(vocabulary)
    tokenizer = tokenizer_with(backend, template, bos_token="<|endoftext|>", eos_token="<|im_end|>")
    return create_renderer(tokenizer, DefaultRendererConfig(**fields))


def parts(
    default: DefaultRenderer, messages: Sequence[dict[str, Any]], **options: Any
) -> list[tuple[int, str]]:
    """Give the text of each run of tokens with one message index."""
    rendered = default.render(messages, **options)
    runs: list[tuple[int, list[int]]] = []
    for id_, index in zip(rendered.token_ids, rendered.message_indices, strict=True):
        if not runs or runs[-1][0] != index:
            runs.append((index, []))
        runs[-1][1].append(id_)
    return [(index, default.tokenizer.decode(ids)) for index, ids in runs]


def test_text_and_ids() -> None:
    default = renderer(CHATML)
    text = "<|endoftext|><|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    assert default.render_text([HI], add_generation_prompt=True) == text
    ids = default.render_ids([HI], add_generation_prompt=True)
    assert ids == vocabularies.package_tokenizer("builtin").encode(text, add_special_tokens=False).ids
    assert default.render([HI], add_generation_prompt=True).token_ids == ids
    assert default.render_text([HI, YO], continue_final_message=True).endswith("<|im_start|>assistant\nYo")


@pytest.mark.parametrize("vocabulary", vocabularies.NAMES)
def test_indices_of_a_plain_loop(vocabulary: str) -> None:
    default = renderer(CHATML, vocabulary)
    rendered = default.render([HI, YO], add_generation_prompt=True)
    assert len(rendered.message_indices) == len(rendered.token_ids)
    if vocabulary == "builtin":
        assert parts(default, [HI, YO], add_generation_prompt=True) == [
            (-1, "<|endoftext|>"),
            (0, "<|im_start|>user\nHi<|im_end|>\n"),
            (1, "<|im_start|>assistant\nYo<|im_end|>\n"),
            (-1, "<|im_start|>assistant\n"),
        ]
    assert rendered.message_roles == ["user", "assistant"]
    assert rendered.is_content == []
    assert rendered.sampled_mask == []


def test_a_system_message_at_the_top() -> None:
    default = renderer(SYSTEM_AT_THE_TOP)
    assert parts(default, [system("S"), HI, YO]) == [(0, "<|endoftext|>[S]"), (1, "Hi;"), (2, "!Yo;")]
    assert parts(default, [HI, YO]) == [(-1, "<|endoftext|>"), (0, "Hi;"), (1, "!Yo;")]


def test_a_token_belongs_to_the_message_of_its_first_byte() -> None:
    default = renderer("{% for m in messages %}{{ m.content }}{% endfor %}")
    # "\n\n" is one token.
    assert default.tokenizer.encode("\n\n") == [default.tokenizer.token_to_id("ĊĊ")]
    assert parts(default, [user("a\n"), assistant("\nb")]) == [(0, "a\n\n"), (1, "b")]


def test_characters_of_several_bytes() -> None:
    default = renderer(CHATML)
    conversation = [user("é🦙\ud7ff"), assistant("e\u0301 日本")]
    assert parts(default, conversation)[1:] == [
        (0, "<|im_start|>user\né🦙\ud7ff<|im_end|>\n"),
        (1, "<|im_start|>assistant\n\u00e9 日本<|im_end|>\n"),  # the vocabulary normalises to NFC
    ]


@pytest.mark.parametrize(
    "template",
    [
        # The system message moves into the first user message.
        "{% for m in messages[1:] %}{{ messages[0].content if loop.first }}{{ m.content }}{% endfor %}",
        # All is written at once, at the end.
        "{% set t %}{% for m in messages %}{{ m.content }}{% endfor %}{% endset %}{{ t }}",
        "{% macro t() %}{% for m in messages %}{{ m.content }}{% endfor %}{% endmacro %}{{ t() }}",
        # The last message comes first.
        "{% for m in messages|reverse %}{{ m.content }}{% endfor %}",
        # A message is in two places.
        "{% for _ in 'ab' %}{% for m in messages %}{{ m.content }}{% endfor %}{% endfor %}",
        # The messages are not looped over.
        "{{ messages[0].content }}{{ messages[1].content }}{{ messages[2].content }}",
    ],
)
def test_indices_that_are_not_certain_are_left_out(template: str) -> None:
    rendered = renderer(template).render([system("Sys"), user("Use"), assistant("Ass")])
    assert rendered.token_ids
    assert rendered.message_indices == []


@pytest.mark.parametrize(
    "loop",
    [
        "for m in messages if m.role != 'x' or loop is defined",
        "for m in messages|list",
        "for m in messages + []",
        "for m in messages|selectattr('content')",
        "for m in messages[:1] + messages[1:]",
    ],
)
def test_ways_to_loop(loop: str) -> None:
    body = "{% for n in messages %}{% endfor %}<|im_start|>{{ m.content }}{{ loop.last }}<|im_end|>"
    default = renderer("{% for m in messages %}{% endfor %}.{% " + loop + " %}" + body + "{% endfor %}.")
    assert parts(default, [HI, YO]) == [
        (-1, "."),
        (0, "<|im_start|>HiFalse<|im_end|>"),
        (1, "<|im_start|>YoTrue<|im_end|>"),
        (-1, "."),
    ]


def test_a_generation_prompt_inside_the_loop() -> None:
    prompt = "{% if loop.last and add_generation_prompt %}>{% endif %}"
    source = "{% for m in messages %}{{ m.content }}" + prompt + "{% endfor %}"
    assert parts(renderer(source), [HI, YO], add_generation_prompt=True) == [(0, "Hi"), (1, "Yo"), (-1, ">")]


def test_what_the_template_marks_as_generated() -> None:
    default = renderer(GENERATION)
    rendered = default.render([HI, YO, user("é"), assistant("Ü")])
    sampled = [
        id_ for id_, is_sampled in zip(rendered.token_ids, rendered.sampled_mask, strict=True) if is_sampled
    ]
    assert default.tokenizer.decode(sampled) == "Yo<|im_end|>Ü<|im_end|>"
    assert rendered.columns.loss_mask.tolist() == rendered.sampled_mask
    assert default.render([HI]).sampled_mask == [False] * len(default.render_ids([HI]))


def test_a_token_is_sampled_if_a_byte_of_it_is() -> None:
    source = "{% for m in messages %}{{ '\n' }}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}"
    default = renderer(source)
    rendered = default.render([assistant("\nx")])
    newlines = default.tokenizer.token_to_id("ĊĊ")
    assert rendered.token_ids[0] == newlines
    assert rendered.sampled_mask == [True, True]


def test_generation_blocks_that_are_captured_say_nothing() -> None:
    macro = "{% macro t(m) %}x{% generation %}{{ m.content }}{% endgeneration %}{% endmacro %}"
    assert renderer(macro + "{{ t(messages[0]) }}").render([YO]).sampled_mask == []


def test_which_turns_are_trained() -> None:
    default = renderer(GENERATION)
    messages = [HI, YO, HI, assistant("Ye", train=False), HI, assistant("Ya")]

    def trained(**options: Any) -> str:
        columns = default.render(messages, **options).columns
        (row,) = default.render_batch([messages], **options)
        assert row.loss_mask.tolist() == columns.loss_mask.tolist()
        assert columns.sampled_mask.sum() > columns.loss_mask.sum()
        return default.tokenizer.decode(columns.token_ids[columns.loss_mask])

    assert trained() == "Yo<|im_end|>Ya<|im_end|>"
    assert trained(loss=LossRule(turns="last")) == "Ya<|im_end|>"
    assert trained(loss=LossRule(turns=[1, 3])) == "Yo<|im_end|>"
    with pytest.raises(ValueError, match=r"loss.turns\[0\]: messages\[2\] is not an assistant's"):
        trained(loss=LossRule(turns=[2]))
    with pytest.raises(ValueError, match="loss: a chat template does not tell content, reasoning"):
        trained(loss=LossRule(reasoning=False))
    with pytest.raises(ValueError, match="loss: not known which tokens were sampled"):
        renderer(CHATML).render(messages, loss=LossRule(turns="last"))
    assert len(renderer(CHATML).render(messages).columns.loss_mask) == 0


@pytest.mark.parametrize("train", [None, True, False, 0, 1])
def test_what_takes_a_message_out_is_read_as_by_other_renderers(train: object) -> None:
    default = renderer(GENERATION)
    native = create_renderer(default.tokenizer, turnloom.Qwen3Config())
    messages = [HI, YO, HI, assistant("Ya", train=train)]
    is_trained = train is None or bool(train)
    for one in (default, native):
        samples = (one.render(messages), turnloom.build_training_sample(one, messages))
        for columns in (sample.columns for sample in samples):
            of_last = columns.message_indices == 3
            assert columns.loss_mask[of_last].any() == is_trained
            assert columns.loss_mask[~of_last].any()


@pytest.mark.parametrize(
    ("train", "error", "reason"),
    [("x", TypeError, "got str"), (2, ValueError, "got another int"), (1.0, TypeError, "got float")],
)
def test_what_says_neither_trained_nor_not(train: object, error: type[Exception], reason: str) -> None:
    default = renderer(GENERATION)
    native = create_renderer(default.tokenizer, turnloom.Qwen3Config())
    messages = [HI, assistant("Yo", train=train)]
    for one in (default, native):
        for use in (
            one.render,
            one.render_text,
            one.render_ids,
            lambda given, one=one: one.render_batch([given]),
            lambda given, one=one: turnloom.build_training_sample(one, given),
        ):
            with pytest.raises(error, match=rf"^messages\[1\].train: expected bool, 0 or 1, {reason}"):
                use(messages)


def test_variables_of_the_template() -> None:
    template = "{{ enable_thinking }} {{ tags|join }}{{ bos_token }}"
    assert (
        renderer(template, enable_thinking=False, tags=["a", "b"]).render_text([HI])
        == "False ab<|endoftext|>"
    )
    tokenizer = renderer(template).tokenizer
    default = create_renderer(
        tokenizer, DefaultRendererConfig(enable_thinking=True), chat_template_kwargs={"tags": ["c"]}
    )
    assert default.render_text([HI]) == "True c<|endoftext|>"
    assert turnloom.template_field_names(default.config) == {"enable_thinking", "tags"}
    with pytest.raises(ValueError, match="chat_template_kwargs: 'isolate' is a field of the config"):
        create_renderer(tokenizer, DefaultRendererConfig(), chat_template_kwargs={"isolate": True})


def test_templates_by_name() -> None:
    backend = vocabularies.package_tokenizer("builtin")
    named = {"default": "plain", "tool_use": "tools", "rag": "documents"}
    tokenizer = tokenizer_with(backend, named)
    default = create_renderer(tokenizer, DefaultRendererConfig())
    assert default.render_text([HI]) == "plain"
    assert default.render_text([HI], tools=[]) == "tools"
    chosen = create_renderer(tokenizer, DefaultRendererConfig(chat_template="rag"))
    assert chosen.render_text([HI], tools=[]) == "documents"
    own = create_renderer(tokenizer, DefaultRendererConfig(chat_template="{{ 1 }}"))
    assert own.render_text([HI]) == "1"
    with pytest.raises(ValueError, match="expected one of other, rag, got None"):
        create_renderer(tokenizer_with(backend, {"rag": "a", "other": "b"}), DefaultRendererConfig())
    with pytest.raises(ValueError, match="for conversations with tools only"):
        create_renderer(tokenizer_with(backend, {"tool_use": "a"}), DefaultRendererConfig()).render_text([HI])


def test_what_cannot_be_made() -> None:
    with pytest.raises(ValueError, match=r"^config.chat_template: the tokenizer has no chat template; pass"):
        create_renderer(vocabularies.tokenizer("builtin"), DefaultRendererConfig())
    with pytest.raises(ValueError, match="chat_template, line 1: "):
        renderer("{% if")
    for field in ("tool_parser", "reasoning_parser"):
        with pytest.raises(pydantic.ValidationError, match=f"{field}\n  Input should be .*'(qwen3|think)'"):
            DefaultRendererConfig(**{field: "other"})


def test_errors_of_a_call() -> None:
    default = renderer("{% if messages|length > 1 %}{{ raise_exception('One only') }}{% endif %}")
    with pytest.raises(ValueError, match="messages: no messages"):
        default.render([])
    with pytest.raises(TypeError, match=r"messages\[0\]: expected a mapping, got str"):
        default.render_ids(["Hi"])
    with pytest.raises(RenderError, match=r"^One only$"):
        default.render([HI, YO])
    with pytest.raises(ValueError, match="continue_final_message: cannot be combined"):
        default.render([HI], add_generation_prompt=True, continue_final_message=True)


def test_a_batch() -> None:
    default = renderer(CHATML)
    rows = [[HI], [], [HI, YO]]
    batch = default.render_batch(rows, on_error="collect", byte_offsets=True, threads=2)
    assert [row.token_ids.tolist() for row in batch] == [
        default.render_ids([HI]),
        [],
        default.render_ids([HI, YO]),
    ]
    assert batch[2].message_indices.tolist() == default.render([HI, YO]).message_indices
    assert [(row, str(error)) for row, error in batch.errors] == [(1, "messages: no messages")]
    assert len(batch.columns.byte_offsets) == len(batch.columns)
    with pytest.raises(ValueError, match="messages: no messages") as raised:
        default.render_batch(rows)
    assert raised.value.__notes__ == ["row 1 of the batch"]
    with pytest.raises(ValueError, match="tools_per_row: 1 entries for 3 rows"):
        default.render_batch(rows, tools_per_row=[None])
    assert len(default.render_batch([])) == 0


def test_a_batch_has_a_column_if_every_row_has_it() -> None:
    template = (
        "{% for m in (messages if messages|length < 3 else messages|reverse) %}{{ m.content }}{% endfor %}"
    )
    default = renderer(template)
    assert len(default.render_batch([[HI], [HI, YO]]).columns.message_indices) > 0
    batch = default.render_batch([[HI], [system("a"), HI, YO]])
    assert len(batch.columns.message_indices) == 0
    assert batch[1].token_ids.tolist() == default.render_ids([system("a"), HI, YO])


def test_names_of_tools() -> None:
    calls = [call("f", "{}", id="1"), {"id": "2", "name": "g", "arguments": {}}]
    messages = [
        HI,
        assistant(tool_calls=calls),
        tool("a", tool_call_id="2"),
        tool("b", tool_call_id="1"),
        tool("c"),
    ]
    rendered = renderer(CHATML).render(messages)
    assert rendered.message_tool_names == [None, None, "g", "f", None]


def test_completions_without_parsers() -> None:
    default = renderer(CHATML)
    text = "<think>a</think> b <tool_call>{}</tool_call>"
    ids = default.tokenizer.encode(f"{text} <|im_end|>more")
    response = default.parse_response(ids)
    assert (response.content, response.reasoning_content, response.tool_calls) == (text, None, [])
    assert response.reasoning_complete is None
    assert default.get_stop_token_ids() == [default.tokenizer.token_to_id("<|im_end|>")]
    stream = default.stream_parser()
    stream.feed(ids)
    assert stream.finish() == response == default.parse_batch([ids])[0]


def test_completions_with_parsers() -> None:
    default = renderer(CHATML, tool_parser="qwen3", reasoning_parser="think")
    native = create_renderer(default.tokenizer, turnloom.Qwen3Config())
    for text in (
        '<think>\na\n</think>\n\nb<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call><|im_end|>',
        "b<|im_end|>c",
        "<think>open",
        '<think>a</think><tool_call>{"name": "f"',
    ):
        ids = default.tokenizer.encode(text)
        assert default.parse_response(ids) == native.parse_response(ids)
        stream = default.stream_parser()
        for id_ in ids:
            stream.feed([id_])
        assert stream.finish() == native.parse_response(ids)
    llama = renderer(CHATML, tool_parser="llama-3")
    parsed = llama.parse_response(llama.tokenizer.encode('{"name": "f", "parameters": {"x": 1}}<|im_end|>'))
    assert [(one.name, one.arguments) for one in parsed.tool_calls] == [("f", {"x": 1})]


@pytest.mark.parametrize(
    ("prompt", "is_open"),
    [
        ("<|im_start|>assistant\n<think>\n", True),
        ("<|im_start|>assistant\n<think>\nI think", True),
        ("<|im_start|>assistant\n<think>\n</think>\n", False),
        ("<|im_start|>user\n<think> what<|im_end|>\n<|im_start|>assistant\n", False),
        ("plain", False),
        ("", False),
    ],
)
def test_a_prompt_that_leaves_reasoning_open(prompt: str, is_open: bool) -> None:
    default = renderer(CHATML, reasoning_parser="think")
    encode = default.tokenizer.encode
    completion = encode("plan\n</think>\n\n42<|im_end|>")
    expected = ("plan", "42") if is_open else (None, "plan\n</think>\n\n42")
    alone = default.parse_response(completion, prompt_ids=encode(prompt))
    (batched,) = default.parse_batch([completion], prompts=[encode(prompt)])
    stream = default.stream_parser(prompt_ids=encode(prompt))
    stream.feed(completion)
    for response in (alone, batched, stream.finish()):
        assert (response.reasoning_content, response.content) == expected


def test_a_vocabulary_without_think_tokens() -> None:
    document = vocabularies.tokenizer_json("builtin")
    added = [token for token in document["added_tokens"] if "think" not in token["content"]]
    backend = tokenizers.Tokenizer.from_str(json.dumps({**document, "added_tokens": added}))
    tokenizer = tokenizer_with(backend, CHATML, eos_token="<|im_end|>")
    default = create_renderer(tokenizer, DefaultRendererConfig(reasoning_parser="think"))
    assert "<think>" not in default.tokenizer.added_tokens
    encode = default.tokenizer.encode
    response = default.parse_response(encode("a</think>b"), prompt_ids=encode("<|im_start|>x\n<think>\n"))
    assert (response.reasoning_content, response.content) == ("a", "b")


def test_no_bridge() -> None:
    default = renderer(CHATML)
    assert default.bridge_to_next_turn([1], [2], [HI]) is None
    assert default.explain_bridge([1], [2], [HI]).reason is BridgeRefusalReason.ONLY_A_TEMPLATE
    assert default.bridge_to_next_turn((), np.array([2], np.int32), [HI], tools=[{}], allow_trim=True) is None
    assert default.effective_thinking_retention == "template"
    assert not default.is_prefix_stable


@pytest.mark.parametrize(
    ("arguments", "error", "reason"),
    [
        (
            ("x", [2], [HI]),
            TypeError,
            "previous_prompt_ids: expected list, .*, got str",
        ),
        (
            ([1], 5, [HI]),
            TypeError,
            "previous_completion_ids: expected list, .*, got int",
        ),
        (([1, -1], [2], [HI]), ValueError, r"previous_prompt_ids\[1\]: expected a token id from 0 to"),
        (([1], [True], [HI]), TypeError, r"previous_completion_ids\[0\]: expected int, got bool"),
        (([1], [2], object()), TypeError, "new_messages: expected .*, got object"),
        (([1], [2], [5]), TypeError, r"new_messages\[0\]: expected .*, got int"),
        (([1], [2], [user("a", train=2)]), ValueError, r"new_messages\[0\].train: expected bool, 0 or 1"),
    ],
)
def test_arguments_of_a_bridge(arguments: Any, error: type[Exception], reason: str) -> None:
    default = renderer(CHATML)
    native = create_renderer(default.tokenizer, turnloom.Qwen3Config())
    for one in (default, native):
        for use in (one.bridge_to_next_turn, one.explain_bridge):
            with pytest.raises(error, match=f"^{reason}"):
                use(*arguments)
            with pytest.raises(TypeError, match=r"^tools: expected a list of tools or None, got int"):
                use(*arguments, tools=3)


def test_a_copy() -> None:
    default = renderer(CHATML, now=None, enable_thinking=False)
    other = pickle.loads(pickle.dumps(default))
    assert other.config == default.config
    assert other.render([HI, YO]) == default.render([HI, YO])


def test_threads_give_the_results_of_one() -> None:
    default = renderer(SYSTEM_AT_THE_TOP)
    conversations = [[system(str(n)), *[user(f"{n} {k}") for k in range(n % 7)]] for n in range(200)]
    expected = [default.render(messages) for messages in conversations]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(default.render, conversations)) == expected


def test_limits() -> None:
    default = renderer(CHATML, limits=TemplateLimits(steps=50))
    assert default.render([HI])
    with pytest.raises(TemplateLimitError, match=r"more than 50 steps \(limits.steps\)"):
        default.render([HI] * 100)
    assert DefaultRendererConfig.model_validate_json(default.config.model_dump_json()) == default.config


def test_an_isolated_template() -> None:
    default = renderer(GENERATION, isolate=True, greeting="a")
    rendered = default.render([HI, YO])
    assert rendered == renderer(GENERATION, greeting="a").render([HI, YO])
    assert rendered.message_indices
    assert any(rendered.sampled_mask)


@pytest.mark.parametrize("template", [CHATML, SYSTEM_AT_THE_TOP, GENERATION])
def test_the_work_of_a_rendering_grows_with_the_conversation(
    template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = []
    run = CompiledTemplate.run
    monkeypatch.setattr(CompiledTemplate, "run", lambda *args: steps.append(run(*args).n_steps) or run(*args))
    default = renderer(template)

    def n_steps(n_messages: int) -> int:
        steps.clear()
        rendered = default.render([HI, YO] * (n_messages // 2), add_generation_prompt=True)
        assert rendered.message_indices
        return sum(steps)

    short, long = n_steps(500), n_steps(1000)
    assert 1.9 * short < long < 2.1 * short
    assert long < 100 * 1000
