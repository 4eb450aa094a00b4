"""The client against an engine that is a process of its own; faults are in test_client_faults.py."""

import asyncio
import copy
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest

import turnloom
from chats import system, tool, user
from faulty_engine import EXAMPLES, Engine
from turnloom import OverlongPromptError, RenderedTokens, ToolCallParseStatus, reference
from turnloom.client import GenerateResult, RetryPolicy, generate

TOKENIZER = turnloom.load_tokenizer("builtin")
RENDERER = turnloom.create_renderer(TOKENIZER, turnloom.Qwen3Config())
MULTIPLY = [{"type": "function", "function": {"name": "multiply", "parameters": {"type": "object"}}}]
QUESTION = [user("What is 6 x 7?")]
PROMPT = RENDERER.render_ids(QUESTION, tools=MULTIPLY, add_generation_prompt=True)
CALLED = (
    "<think>\nI have a tool.\n</think>\n\n"
    '<tool_call>\n{"name": "multiply", "arguments": {"a": 6, "b": 7}}\n</tool_call><|im_end|>'
)


@pytest.fixture(scope="module")
def process() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


@pytest.fixture
def engine(process: Engine) -> Engine:
    process.put()
    return process


def sample(engine: Engine, **arguments: Any) -> GenerateResult:
    """Make one call, with a client of its own."""

    async def call() -> GenerateResult:
        async with httpx.AsyncClient(base_url=engine.url, verify=False) as client:
            given = {"client": client, "renderer": RENDERER, "model": "fake", "messages": QUESTION}
            return await generate(**{**given, "tools": MULTIPLY, **arguments})

    return asyncio.run(call())


def test_messages_to_a_message(engine: Engine) -> None:
    result = sample(engine)
    ids = TOKENIZER.encode(CALLED)
    (call,) = result["tool_calls"]
    assert (call.name, call.arguments, call.status) == ("multiply", {"a": 6, "b": 7}, ToolCallParseStatus.OK)
    assert result == {
        "request_id": f"fake-{len(PROMPT)}",
        "usage": {"prompt_tokens": len(PROMPT), "completion_tokens": len(ids)},
        "prompt_ids": PROMPT,
        "renderer_prompt_ids": None,
        "mm_placeholders": None,
        "completion_ids": ids,
        "completion_logprobs": [float(np.log(0.9))] * len(ids),
        "content": "",
        "reasoning_content": "I have a tool.",
        "tool_calls": [call],
        "finish_reason": "tool_calls",
        "reasoning_complete": True,
        "routed_experts": None,
        "sampling_mask": None,
        "multi_modal_data": None,
        "prompt_attribution": RENDERER.render(QUESTION, tools=MULTIPLY, add_generation_prompt=True),
    }


def test_what_is_sent(engine: Engine) -> None:
    sample(engine, sampling_params={"temperature": 0.5, "stop_token_ids": [1], "logprobs": 9})
    (request,) = engine.requests()
    assert request["body"] == {
        "model": "fake",
        "token_ids": PROMPT,
        "sampling_params": {
            "temperature": 0.5,
            "stop_token_ids": RENDERER.get_stop_token_ids(),
            "logprobs": 1,
            "skip_special_tokens": False,
        },
    }
    assert request["headers"]["content-type"] == "application/json"
    engine.put()
    sample(
        engine,
        prompt_ids=np.array(PROMPT),
        sampling_params={"skip_special_tokens": True},
        cache_salt="é",
        priority=-3,
        extra_headers={"X-Session": "s 1", "X-Empty": "", "Content-Type": "application/json; v=2"},
    )
    (request,) = engine.requests()
    body = request["body"]
    assert (body["token_ids"], body["cache_salt"], body["priority"]) == (PROMPT, "é", -3)
    assert body["sampling_params"]["skip_special_tokens"] is True
    headers = request["headers"]
    assert (headers["x-session"], headers["x-empty"]) == ("s 1", "")
    assert headers["content-type"] == "application/json; v=2"


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
def test_a_base_url_is_enough(engine: Engine, path: str) -> None:
    """With `/v1` and without it, as a text and as a client's."""
    url = engine.root + path
    assert sample(engine, client=url)["completion_ids"] == TOKENIZER.encode(CALLED)

    async def call() -> None:
        async with httpx.AsyncClient(base_url=url) as client:
            await generate(client=client, renderer=RENDERER, model="fake", prompt_ids=PROMPT)
            assert not client.is_closed

    asyncio.run(call())
    assert len(engine.requests()) == 2


def test_the_reference_is_a_renderer_too(engine: Engine) -> None:
    renderer = reference.create_renderer(TOKENIZER, turnloom.Qwen3Config())
    assert sample(engine, renderer=renderer) == sample(engine)


def test_prompt_attribution_is_passed_on(engine: Engine) -> None:
    attribution = RENDERER.render(QUESTION, tools=MULTIPLY, add_generation_prompt=True)
    result = sample(engine, messages=[], prompt_ids=PROMPT, prompt_attribution=attribution)
    assert result["prompt_attribution"] is attribution
    assert sample(engine, prompt_ids=PROMPT)["prompt_attribution"] is None


def test_a_call_that_is_cut_off_is_none(engine: Engine) -> None:
    result = sample(engine, sampling_params={"max_tokens": 12})
    assert (result["finish_reason"], len(result["completion_ids"])) == ("length", 12)


@pytest.mark.parametrize(
    ("completion", "said", "expected"),
    [
        (CALLED, "stop", "tool_calls"),
        (CALLED, "length", "length"),
        (CALLED, None, None),
        ("<tool_call>\n{x\n</tool_call><|im_end|>", "stop", "stop"),
    ],
)
def test_only_a_good_call_that_ends_the_turn_goes_on(
    completion: str, said: str | None, expected: str | None
) -> None:
    choice = {**_choice(TOKENIZER.encode(completion)), "finish_reason": said}
    result = asyncio.run(_answered({"choices": [choice]}))
    assert result["finish_reason"] == expected
    assert len(result["tool_calls"]) == 1


def test_experts_and_masks_are_kept() -> None:
    mask = [[1, 2], None]
    choice = {**_choice([1, 2]), "routed_experts": {"data": "AAEC", "shape": [2, 1]}, "sampling_mask": mask}
    result = asyncio.run(_answered({"choices": [choice], "prompt_token_ids": PROMPT}))
    experts = result["routed_experts"]
    assert isinstance(experts, dict) and isinstance(experts["data"], memoryview)
    assert (bytes(experts["data"]), experts["shape"]) == (b"AAEC", [2, 1])
    assert result["sampling_mask"] == mask
    assert (result["request_id"], result["usage"]) == ("", None)


def test_a_prompt_that_is_too_long_is_not_sent(engine: Engine) -> None:
    for limit in (len(PROMPT) - 1, 0):
        with pytest.raises(OverlongPromptError) as caught:
            sample(engine, max_prompt_len=limit)
        assert (caught.value.prompt_len, caught.value.max_prompt_len) == (len(PROMPT), limit)
        assert str(caught.value) == f"the prompt has {len(PROMPT)} tokens, at most {limit} are allowed"
    assert engine.requests() == []
    assert sample(engine, max_prompt_len=len(PROMPT))["finish_reason"] == "tool_calls"
    for copied in (copy.copy(caught.value), pickle.loads(pickle.dumps(caught.value))):
        assert (str(copied), copied.prompt_len) == (str(caught.value), caught.value.prompt_len)


def test_the_engine_is_asked_once_for_its_limit(engine: Engine) -> None:
    engine.put(models={"body": '{"data": [null, {"id": "other"}, {"id": "short", "max_model_len": 9}]}'})
    for _ in range(2):
        with pytest.raises(OverlongPromptError, match=r"tokens, at most 9 are allowed$"):
            sample(engine, model="short", extra_headers={"authorization": "Bearer x"})
    (lookup,) = engine.requests("/v1/models")
    assert lookup["headers"]["authorization"] == "Bearer x"
    assert engine.requests() == []


@pytest.mark.parametrize(
    ("models", "n_asked"),
    [
        ({"status": 404, "body": "none"}, 1),
        ({"body": "{"}, 1),
        ({"body": "[" * 100_000}, 1),
        ({"body": "[]"}, 1),
        ({"body": '{"data": {"id": "m"}}'}, 1),
        ({"body": '{"data": [{"id": "m", "max_model_len": true}]}'}, 1),
        ({"body": '{"data": [{"id": "m", "max_model_len": -1}]}'}, 1),
        ({"status": 503, "body": "starting"}, 2),
        ({"status": 401, "body": "who?"}, 2),
        ({"hang_up": True}, 2),
    ],
)
def test_an_engine_that_does_not_say_its_limit(engine: Engine, models: dict[str, Any], n_asked: int) -> None:
    """What it says is kept; that it is down is not."""
    engine.put(models=models)
    model = f"m{models}"
    assert [sample(engine, model=model)["finish_reason"] for _ in range(2)] == ["tool_calls"] * 2
    assert len(engine.requests("/v1/models")) == n_asked


BAD_ARGUMENTS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"client": None}, TypeError, "client: expected an httpx.AsyncClient or a base URL, got NoneType"),
    ({"client": "localhost:8000"}, ValueError, "client: expected a base URL such as 'http://localhost:80"),
    ({"client": "http://h/v1?x=1"}, ValueError, "client: expected a base URL without query and fragment"),
    ({"client": "http://h:x/"}, ValueError, "client: 'http://h:x/' is no URL: "),
    ({"client": httpx.AsyncClient()}, ValueError, "client: expected a base URL such as .*, got ''"),
    ({"renderer": TOKENIZER}, TypeError, "renderer: expected a Renderer, got Tokenizer"),
    ({"retry": 3}, TypeError, "retry: expected RetryPolicy or None, got int"),
    ({"messages": ()}, ValueError, "messages: no messages"),
    ({"messages": [{"role": 1}]}, TypeError, r"messages\[0\].role: "),
    ({"model": None}, TypeError, "model: expected str, got NoneType"),
    ({"prompt_ids": "ids"}, TypeError, "prompt_ids: expected list, tuple or 1-D integer array, got str"),
    ({"prompt_ids": [1, -1]}, ValueError, r"prompt_ids\[1\]: expected a token id"),
    ({"prompt_ids": []}, ValueError, "prompt_ids: no token ids"),
    ({"prompt_attribution": RenderedTokens([1])}, ValueError, "prompt_attribution: it belongs to prompt_ids"),
    (
        {"prompt_ids": [1, 2], "prompt_attribution": RenderedTokens([1])},
        ValueError,
        "prompt_attribution: its 1 token ids are not the 2 prompt_ids",
    ),
    (
        {"prompt_ids": [1], "prompt_attribution": [1]},
        TypeError,
        "prompt_attribution: expected RenderedTokens, got list",
    ),
    ({"tools": 5}, TypeError, "tools: expected a list of tools or None, got int"),
    ({"tools": [5], "prompt_ids": [1]}, TypeError, r"tools\[0\]: expected a dict, got int"),
    ({"sampling_params": [1]}, TypeError, "sampling_params: expected a mapping or None, got list"),
    (
        {"sampling_params": {"n": 2}},
        ValueError,
        r"sampling_params\['n'\]: a call gives one compl",
    ),
    ({"sampling_params": {"x": {1}}}, TypeError, "sampling_params: Object of type set is not JSON"),
    ({"sampling_params": {"x": float("nan")}}, ValueError, "sampling_params: Out of range float values"),
    ({"cache_salt": 1}, TypeError, "cache_salt: expected str, got int"),
    ({"priority": True}, TypeError, "priority: expected int or None, got bool"),
    ({"extra_headers": ["a"]}, TypeError, "extra_headers: expected a mapping or None, got list"),
    ({"extra_headers": {"a": 1}}, TypeError, r"extra_headers\['a'\]: expected str, got int"),
    ({"extra_headers": {"a b": "x"}}, ValueError, "extra_headers: 'a b' is no name of a header"),
    ({"extra_headers": {"": "x"}}, ValueError, "extra_headers: '' is no name of a header"),
    ({"extra_headers": {"a": "x\r\nb: y"}}, ValueError, r"extra_headers\['a'\]: expected printable ASCII"),
    ({"extra_headers": {"a": " é"}}, ValueError, r"extra_headers\['a'\]: expected printable ASCII"),
    ({"max_prompt_len": "9"}, TypeError, "max_prompt_len: expected int, got str"),
    ({"max_prompt_len": -1}, ValueError, "max_prompt_len: expected an int from 0 "),
    ({"multi_modal_data": {"image": 1}}, NotImplementedError, "multi_modal_data: Renderer has no images"),
    ({"process_multimodal": False}, NotImplementedError, "process_multimodal: Renderer has no images"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), BAD_ARGUMENTS)
def test_bad_arguments(
    engine: Engine, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{message}"):
        sample(engine, **arguments)
    assert engine.requests() == []


def test_any_chat_template(engine: Engine) -> None:
    """A model's own template has no calls unless a parser for them is named."""
    template = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    config = turnloom.DefaultRendererConfig(chat_template=template)
    renderer = turnloom.create_renderer(TOKENIZER, config)
    with pytest.raises(
        ValueError, match=r"^tools: DefaultRenderer has no parser for calls; its config takes"
    ):
        sample(engine, renderer=renderer)
    assert engine.requests() == []
    assert sample(engine, renderer=renderer, tools=None)["finish_reason"] == "stop"
    config = turnloom.DefaultRendererConfig(chat_template=template, tool_parser="qwen3")
    renderer = turnloom.create_renderer(TOKENIZER, config)
    assert sample(engine, renderer=renderer)["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"max_attempts": 0}, ValueError, "max_attempts: expected an int from 1 to 1000, got 0"),
        ({"max_attempts": 1.0}, TypeError, "max_attempts: expected int, got float"),
        ({"read_timeout": None}, TypeError, "read_timeout: expected a number of seconds, got NoneType"),
        ({"total_timeout": 0}, ValueError, "total_timeout: expected a positive number of seconds, got 0"),
        (
            {"max_delay": float("inf")},
            ValueError,
            "max_delay: expected a positive number .*, got inf",
        ),
        ({"first_delay": -1}, ValueError, "first_delay: expected a positive number of seconds, got -1"),
    ],
)
def test_bad_policies(fields: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{message}$"):
        RetryPolicy(**fields)


def test_a_session_is_driven_by_it(engine: Engine) -> None:
    """The ids of each prompt are those of the last one, of the completion, and then new ones."""
    session = RENDERER.session([system("Be brief."), *QUESTION], tools=MULTIPLY)
    sent = []
    for result in ("42", None):
        prompt_ids = session.prompt_ids()
        completed = sample(engine, messages=(), prompt_ids=prompt_ids)
        session.add_completion(completed["completion_ids"], completed["completion_logprobs"])
        assert session.parse().content == completed["content"]
        sent.append(completed["prompt_ids"] + completed["completion_ids"])
        if result is not None:
            assert session.add_messages([tool(result)])
    assert sent[1][: len(sent[0])] == sent[0]
    assert completed["content"] == "It is 42."
    (trained,) = session.to_training_samples()
    assert trained.token_ids.tolist() == sent[1]
    assert np.allclose(trained.logprobs[trained.loss_mask], np.log(0.9))


def test_many_calls_at_once(engine: Engine) -> None:
    """More of them than the client has connections; each gets its own answer."""

    async def call(client: httpx.AsyncClient, a: int) -> GenerateResult:
        messages = [user(f"What is {a} x 2?")]
        return await generate(
            client=client, renderer=RENDERER, model="fake", messages=messages, tools=MULTIPLY
        )

    async def all_calls() -> list[GenerateResult]:
        limits = httpx.Limits(max_connections=20)
        async with httpx.AsyncClient(
            base_url=engine.url, verify=False, limits=limits, timeout=0.001
        ) as client:
            return await asyncio.gather(*(call(client, a) for a in range(60)))

    for a, result in enumerate(asyncio.run(all_calls())):
        assert [call.arguments for call in result["tool_calls"]] == [{"a": a, "b": 2}]
    assert len(engine.requests()) == 60


def test_it_is_there_without_another_import() -> None:
    assert turnloom.client.generate is generate


def test_without_httpx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)  # as if it were not installed
    with pytest.raises(ImportError, match=r"needs httpx, .*: pip install 'turnloom\[client\]'$"):
        asyncio.run(generate(client="http://h", renderer=RENDERER, model="m", prompt_ids=[1]))


def test_the_example_runs() -> None:
    command = [sys.executable, "-W", "error", str(EXAMPLES / "rollout.py")]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert printed.splitlines()[0] == "32 rollouts, 32 samples, reward 1.00"
    trained, tokens = map(int, re.findall(r"\d+", printed.splitlines()[1]))
    assert 0 < trained < tokens


def _choice(ids: list[int]) -> dict[str, Any]:
    content = [{"token": f"token_id:{id_}", "logprob": -1} for id_ in ids]
    return {"token_ids": ids, "logprobs": {"content": content}, "finish_reason": "stop"}


async def _answered(payload: dict[str, Any]) -> GenerateResult:
    """Make a call whose answer is `payload`, without a server."""
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=payload))
    async with httpx.AsyncClient(base_url="http://engine", transport=transport) as client:
        return await generate(client=client, renderer=RENDERER, model="m", prompt_ids=PROMPT)
