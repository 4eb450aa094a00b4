"""An engine that fails: what is repeated, for how long, and that nothing comes back by half."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import turnloom
from faulty_engine import Engine, Fault
from turnloom import MalformedGenerateResponseError
from turnloom.client import GenerateResult, RetryPolicy, generate
from turnloom.client.response import read_completion
from turnloom.client.retries import _retry_after

RENDERER = turnloom.create_renderer(turnloom.load_tokenizer("builtin"), turnloom.Qwen3Config())
PROMPT = RENDERER.render_ids([{"role": "user", "content": "What is 6 x 7?"}], add_generation_prompt=True)
FAST = RetryPolicy(max_attempts=4, first_delay=0.01)
BUSY = {"status": 503, "body": "loading"}


@pytest.fixture(scope="module")
def process() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


@pytest.fixture
def engine(process: Engine) -> Engine:
    process.put()
    return process


async def sample(client: httpx.AsyncClient | str, retry: RetryPolicy = FAST) -> GenerateResult:
    return await generate(
        client=client, renderer=RENDERER, model="fake", prompt_ids=PROMPT, max_prompt_len=9999, retry=retry
    )


def sampled(engine: Engine, retry: RetryPolicy = FAST) -> GenerateResult:
    return asyncio.run(sample(engine.url, retry))


def test_what_is_repeated(engine: Engine) -> None:
    good = sampled(engine)
    repeated: list[Fault] = [
        {"hang_up": True},
        {"sent": 0.5},
        {"sent": 0},
        BUSY,
        {"status": 429, "body": ""},
    ]
    for fault in repeated:
        engine.put(fault, fault)
        assert sampled(engine) == good
        requests = engine.requests()
        assert len(requests) == 3
        assert requests[0]["body"] == requests[1]["body"] == requests[2]["body"]


@pytest.mark.parametrize("status", [400, 401, 404, 408, 422, 500, 502, 504, 301])
def test_what_is_not(engine: Engine, status: int) -> None:
    engine.put({"status": status, "body": "no: " + "x" * 600})
    shown = f"POST {engine.root}/inference/v1/generate: {status} [A-Z].*: no: x{{496}}[.]{{3}}$"
    with pytest.raises(httpx.HTTPStatusError, match=shown) as caught:
        sampled(engine)
    assert caught.value.response.text.endswith("x" * 600)
    assert len(engine.requests()) == 1


def test_attempts_end(engine: Engine) -> None:
    engine.put(*[BUSY] * 9)
    with pytest.raises(httpx.HTTPStatusError, match=r"503 Service Unavailable: loading") as busy:
        sampled(engine)
    assert busy.value.__notes__ == ["given up after attempt 4"]
    assert len(engine.requests()) == 4
    engine.put({"sent": 0.9}, {"sent": 0.9})
    with pytest.raises(httpx.RemoteProtocolError) as cut:
        sampled(engine, RetryPolicy(max_attempts=2, first_delay=0))
    assert cut.value.__notes__ == ["given up after attempt 2"]
    engine.put({"hang_up": True})
    with pytest.raises(httpx.TransportError):
        sampled(engine, RetryPolicy(max_attempts=1))
    assert len(engine.requests()) == 1


def test_retry_after_is_kept(engine: Engine) -> None:
    engine.put({"status": 429, "headers": {"Retry-After": "0.4"}})
    sampled(engine)
    first, second = (request["at"] for request in engine.requests())
    assert second - first >= 0.4


def test_retry_after_that_is_too_long_is_not_waited_for(engine: Engine) -> None:
    engine.put({"status": 503, "headers": {"Retry-After": "3600"}})
    begin = time.monotonic()
    with pytest.raises(httpx.HTTPStatusError, match="503") as caught:
        sampled(engine, RetryPolicy(total_timeout=60, first_delay=0))
    assert time.monotonic() - begin < 5
    (note,) = caught.value.__notes__
    assert note == "given up after attempt 1: total_timeout ends before the next, in 3600 s"


def test_forms_of_retry_after() -> None:
    later = datetime.now(UTC) + timedelta(seconds=100)
    for value in (format_datetime(later, usegmt=True), later.strftime("%a, %d %b %Y %H:%M:%S -0000")):
        assert 97 < _retry_after(value) <= 100
    assert _retry_after("2") == 2
    for value in (
        "",
        "soon",
        "-1",
        "nan",
        "inf",
        "Fri, 31 Dec 1999 23:59:59 GMT",
        "1 Jan 99999999999999999999",
    ):
        assert _retry_after(value) == 0


def test_delays_double_up_to_a_limit() -> None:
    policy = RetryPolicy(first_delay=0.5, max_delay=3)
    for attempt, longest in [(1, 0.5), (2, 1), (3, 2), (4, 3), (5, 3), (1000, 3)]:
        delays = {policy.delay(attempt) for _ in range(50)}
        assert longest / 2 <= min(delays) < max(delays) <= longest
    assert RetryPolicy(first_delay=0).delay(1000) == 0


def test_a_slow_engine(engine: Engine) -> None:
    """Slow is fine; slower than the limit is an error, and not asked again."""
    engine.put({"delay": 0.3})
    assert sampled(engine)["finish_reason"] == "tool_calls"
    engine.put({"delay": 5})
    with pytest.raises(httpx.ReadTimeout):
        sampled(engine, RetryPolicy(read_timeout=0.2))
    assert len(engine.requests()) == 1


def test_all_of_a_call_has_a_limit(engine: Engine) -> None:
    """Also where an answer never ends but always goes on, and where attempts are many."""
    message = f"POST {engine.root}/inference/v1/generate: total_timeout has passed in attempt"
    for fault in ({"drip": 1}, {"delay": 5}):
        engine.put(BUSY, fault)
        begin = time.monotonic()
        with pytest.raises(TimeoutError, match=f"^{message} 2$") as caught:
            sampled(engine, RetryPolicy(total_timeout=0.5, first_delay=0.01))
        assert 0.4 < time.monotonic() - begin < 4
        assert isinstance(caught.value.__cause__, httpx.HTTPStatusError)
    engine.put(*[BUSY] * 1000)
    begin = time.monotonic()
    with pytest.raises((TimeoutError, httpx.HTTPStatusError)):
        sampled(engine, RetryPolicy(max_attempts=1000, total_timeout=0.5, first_delay=0.01, max_delay=0.01))
    assert time.monotonic() - begin < 4


def test_a_restart() -> None:
    """Calls that meet an engine which goes down come back with answers of the next one."""

    async def calls(first: Engine) -> list[GenerateResult]:
        policy = RetryPolicy(max_attempts=100, first_delay=0.05, max_delay=0.1, total_timeout=30)
        async with httpx.AsyncClient(base_url=first.url) as client:
            good = await sample(client)
            first.put(*[{"delay": 20}] * 8)
            running = [asyncio.create_task(sample(client, policy)) for _ in range(8)]
            while len(await asyncio.to_thread(first.requests)) < 8:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(first.__exit__)
            with await asyncio.to_thread(Engine, first.port):
                return [good, *await asyncio.gather(*running)]

    good, *others = asyncio.run(calls(Engine()))
    assert others == [good] * 8


def test_nobody_listens() -> None:
    with socket.socket() as taken:  # bound and not listening: refused, and nobody else gets the port
        taken.bind(("127.0.0.1", 0))
        url = f"http://user:secret@127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(httpx.ConnectError) as caught:
            asyncio.run(sample(url))
    assert caught.value.__notes__ == ["given up after attempt 4"]


def test_a_password_of_the_url_is_not_shown(engine: Engine) -> None:
    engine.put({"status": 400, "body": "no"})
    url = engine.url.replace("://", "://user:secret@")
    with pytest.raises(httpx.HTTPStatusError) as caught:
        asyncio.run(sample(url))
    assert str(caught.value) == f"POST {engine.root}/inference/v1/generate: 400 Bad Request: no"
    (request,) = engine.requests()
    assert request["headers"]["authorization"].startswith("Basic ")


def test_cancelling_hangs_up() -> None:
    asked, hung_up = threading.Event(), threading.Event()

    def accept(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            while connection.recv(65536):
                asked.set()
            hung_up.set()

    async def cancelled(url: str) -> None:
        async with httpx.AsyncClient(base_url=url) as client:
            task = asyncio.create_task(sample(client))
            assert await asyncio.to_thread(asked.wait, 10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(hung_up.wait, 10)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=accept, args=(server,), daemon=True)
        thread.start()
        asyncio.run(cancelled(f"http://127.0.0.1:{server.getsockname()[1]}"))
        thread.join()


def test_many_calls_with_faults(engine: Engine) -> None:
    async def calls() -> list[GenerateResult]:
        async with httpx.AsyncClient(base_url=engine.url) as client:
            policy = RetryPolicy(max_attempts=20, first_delay=0.01, max_delay=0.1)
            return await asyncio.gather(*(sample(client, policy) for _ in range(60)))

    good = sampled(engine)
    faults: list[Fault] = [BUSY, {"sent": 0.5}, {"hang_up": True}, {"delay": 0.1}]
    engine.put(*faults * 15)
    assert asyncio.run(calls()) == [good] * 60
    assert len(engine.requests()) == 105


IDS = [5, 6]
ENTRIES = [{"token": "token_id:5", "logprob": -0.5}, {"token": "token_id:6", "logprob": 0}]
C = "response.choices[0]"
E = f"{C}.logprobs.content"


def answer(**choice: Any) -> dict[str, Any]:
    """Give a good answer with some keys of its choice in place of the good ones."""
    good = {"token_ids": IDS, "logprobs": {"content": ENTRIES}, "finish_reason": "stop"}
    return {"choices": [{**good, **choice}]}


def entry(**changes: Any) -> dict[str, Any]:
    return answer(logprobs={"content": [ENTRIES[0], {**ENTRIES[1], **changes}]})


MALFORMED: list[tuple[Any, str]] = [
    (None, "response: expected an object, got None"),
    ([], "response: expected an object, got []"),
    ({}, "response.choices: expected a list, got None"),
    ({"choices": []}, "response.choices: 0 entries, expected 1"),
    ({"choices": answer()["choices"] * 2}, "response.choices: 2 entries, expected 1"),
    ({"choices": [5]}, f"{C}: expected an object, got 5"),
    (answer(token_ids=None), f"{C}.token_ids: expected a list, got None"),
    (answer(token_ids=[5, True]), f"{C}.token_ids[1]: expected a token id, got True"),
    (answer(token_ids=[5, 6.0]), f"{C}.token_ids[1]: expected a token id, got 6.0"),
    (answer(token_ids=[5, -1]), f"{C}.token_ids[1]: expected a token id, got -1"),
    (answer(token_ids=[2**31, 6]), f"{C}.token_ids[0]: expected a token id, got 2147483648"),
    (answer(token_ids=[]), f"{E}: 2 entries for 0 token ids"),
    (answer(token_ids=[5, 6, 7]), f"{E}: 2 entries for 3 token ids"),
    (answer(logprobs=None), f"{C}.logprobs: expected an object, got None"),
    (answer(logprobs={"content": None}), f"{E}: expected a list, got None"),
    (answer(logprobs={"content": [ENTRIES[0], None]}), f"{E}[1]: expected an object, got None"),
    (entry(token="token_id:7"), f"{E}[1].token: expected 'token_id:6', got 'token_id:7'"),
    (entry(token=6), f"{E}[1].token: expected 'token_id:6', got 6"),
    (entry(logprob=None), f"{E}[1].logprob: expected a finite number, got None"),
    (entry(logprob="0"), f"{E}[1].logprob: expected a finite number, got '0'"),
    (entry(logprob=False), f"{E}[1].logprob: expected a finite number, got False"),
    (entry(logprob=float("nan")), f"{E}[1].logprob: expected a finite number, got nan"),
    (entry(logprob=float("-inf")), f"{E}[1].logprob: expected a finite number, got -inf"),
    (entry(logprob=-(10**400)), f"{E}[1].logprob: expected a finite number, got -1000"),
    (entry(logprob=-9999), f"{E}[1].logprob: -9999 stands for a log-probability that is not known"),
    (answer(finish_reason=1), f"{C}.finish_reason: expected text, got 1"),
    (answer(sampling_mask=[[1]]), f"{C}.sampling_mask: 1 entries for 2 token ids"),
    (answer(sampling_mask={}), f"{C}.sampling_mask: expected a list, got {{}}"),
    ({**answer(), "request_id": 1}, "response.request_id: expected text, got 1"),
    ({**answer(), "usage": 1}, "response.usage: expected an object, got 1"),
    ({**answer(), "prompt_token_ids": 1}, "response.prompt_token_ids: expected a list, got 1"),
    ({**answer(), "prompt_token_ids": [1, 2]}, "response.prompt_token_ids: 2 entries, 3 were sent"),
    ({**answer(), "prompt_token_ids": [1, 9, 3]}, "response.prompt_token_ids[1]: 9, 2 was sent"),
]


@pytest.mark.parametrize(("payload", "message"), MALFORMED)
def test_malformed_answers(payload: Any, message: str) -> None:
    with pytest.raises(MalformedGenerateResponseError) as caught:
        read_completion(json.dumps(payload).encode(), [1, 2, 3])
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("body", [b"", b"{", b'{"choices": [', b"\xff", b"[" * 100_000, b"1" * 5000, b"OK"])
def test_what_is_no_json(body: bytes) -> None:
    with pytest.raises(MalformedGenerateResponseError, match=rf"^response: {len(body)} bytes are no JSON \("):
        read_completion(body, [1])


def test_a_good_answer_is_read() -> None:
    completion = read_completion(json.dumps({**answer(), "prompt_token_ids": [1]}).encode(), [1])
    assert (completion.token_ids, completion.logprobs) == (IDS, [-0.5, 0.0])
    empty = read_completion(json.dumps(answer(token_ids=[], logprobs={"content": []})).encode(), [1])
    assert (empty.token_ids, empty.logprobs) == ([], [])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=3), values, max_size=3),
    max_leaves=6,
)


@st.composite
def answers(draw: st.DrawFn) -> Any:
    """Give a good answer in which one place, at any depth, has something else or nothing."""
    payload: Any = {"answer": {**json.loads(json.dumps(answer())), "prompt_token_ids": [1], "usage": {}}}
    inside, key = payload, "answer"
    while isinstance(inside[key], (dict, list)) and inside[key] and draw(st.integers(0, 4)):
        inside = inside[key]
        key = draw(st.sampled_from(sorted(inside) if isinstance(inside, dict) else range(len(inside))))
    if draw(st.booleans()) and key != "answer":
        del inside[key]
    else:
        inside[key] = draw(JSON)
    return payload["answer"]


@given(answers())
def test_an_answer_is_complete_or_an_error(payload: Any) -> None:
    try:
        completion = read_completion(json.dumps(payload).encode(), [1])
    except MalformedGenerateResponseError as error:
        assert str(error).startswith("response")
        return
    choice = payload["choices"][0]
    assert completion.token_ids == choice["token_ids"]
    assert completion.logprobs == [entry["logprob"] for entry in choice["logprobs"]["content"]]
    assert len(completion.logprobs) == len(completion.token_ids)


@pytest.mark.parametrize("body", ["", "{", "null", json.dumps(answer(token_ids=[5]))])
def test_malformed_answers_are_not_asked_again(engine: Engine, body: str) -> None:
    engine.put({"body": body})
    with pytest.raises(MalformedGenerateResponseError, match=r"^response"):
        sampled(engine)
    assert len(engine.requests()) == 1
