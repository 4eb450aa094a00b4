"""One tokenizer and one renderer a format, shared by threads without locks: the results of one thread."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import tokenizers

import turnloom
import vocabularies
from catalog import CALL_OPTIONS, FAMILIES, SCENARIOS, every_config
from oracles import describe
from turnloom import Renderer

N_THREADS = 8
N_CALLS = 10_000

Job = Callable[[], object]


def shared_jobs(tokenizer: turnloom.Tokenizer) -> list[Job]:
    """Give calls of every kind on objects that all threads share."""
    renderers = [
        turnloom.create_renderer(tokenizer, config) for family in FAMILIES for config in every_config(family)
    ]
    jobs: list[Job] = []
    for renderer in renderers:
        for scenario in SCENARIOS:
            jobs += [
                lambda renderer=renderer, scenario=scenario, options=options: outcome(
                    renderer, scenario.messages, tools=scenario.tools, **options
                )
                for options in CALL_OPTIONS
            ]
        rows = [scenario.messages for scenario in SCENARIOS[:40]]
        jobs.append(lambda renderer=renderer, rows=rows: batch_outcome(renderer, rows, 1))
        jobs.append(lambda renderer=renderer, rows=rows: batch_outcome(renderer, rows, 2))
    text = "x<|im_end|> \u00e9e\u0301 🦙"
    jobs += [
        lambda: tokenizer.encode(text),
        lambda: tokenizer.encode(text, special="none"),
        lambda: tokenizer.decode(tokenizer.encode(text)),
    ] * 200
    return jobs


def outcome(renderer: Renderer, messages: object, **options: object) -> object:
    try:
        rendered = renderer.render(messages, byte_offsets=True, **options)
    except (TypeError, ValueError) as error:
        return describe(error)
    return rendered, rendered.columns.fields.tolist(), rendered.columns.byte_offsets.tolist()


def batch_outcome(renderer: Renderer, rows: list[object], threads: int) -> object:
    batch = renderer.render_batch(rows, threads=threads, on_error="collect")
    return batch.columns.token_ids.tolist(), batch.offsets.tolist(), [str(error) for error in batch.errors]


def test_many_threads_give_the_results_of_one() -> None:
    jobs = random.Random(8).choices(shared_jobs(vocabularies.tokenizer("builtin")), k=N_CALLS)
    expected = [job() for job in jobs]
    start = Barrier(N_THREADS)

    def run(first: int) -> list[object]:
        start.wait()
        return [job() for job in jobs[first::N_THREADS]]

    with ThreadPoolExecutor(N_THREADS) as pool:
        for first, results in enumerate(pool.map(run, range(N_THREADS))):
            assert results == expected[first::N_THREADS]


def test_an_object_that_is_changed_meanwhile() -> None:
    """Truncation and padding of the object that a tokenizer was made from do not reach it."""
    package = tokenizers.Tokenizer.from_str(vocabularies.package_tokenizer("builtin").to_str())
    jobs = random.Random(9).choices(shared_jobs(turnloom.load_tokenizer(package)), k=500)
    expected = [job() for job in jobs]
    stop = Event()

    def change() -> None:
        while not stop.is_set():
            package.enable_truncation(1)
            package.enable_padding()
            package.no_truncation()
            package.add_special_tokens(["x"])

    def run(first: int) -> list[object]:
        return [job() for job in jobs[first::N_THREADS]]

    with ThreadPoolExecutor(N_THREADS + 1) as pool:
        changing = pool.submit(change)
        try:
            for first, results in enumerate(pool.map(run, range(N_THREADS))):
                assert results == expected[first::N_THREADS]
        finally:
            stop.set()
        changing.result()
