"""Rows of encoding, for comparing one state of the code with another.

pytest bench --benchmark-save=before; pytest bench --benchmark-compare
"""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import turnloom
import workloads

VOCABULARIES = {"qwen3": "qwen3", "llama-3.1": "llama3_1"}
MEGABYTES = 0.5


@pytest.fixture(params=VOCABULARIES)
def source(request: pytest.FixtureRequest) -> str:
    folder = workloads.SHARED / "tokenizers" / VOCABULARIES[request.param]
    return str(folder) if folder.is_dir() else "builtin"


def some_texts(workload: str) -> list[list[str]]:
    """Cut a workload into slices of equal size."""
    texts = workloads.texts(workload)
    sizes = [len(text.encode()) for text in texts]
    n_slices = int(min(8, sum(sizes) // (MEGABYTES * 1e6)) or 1)
    found = workloads.slices(sizes, n_slices, int(MEGABYTES * 1e6))
    return [[texts[i] for i in slice_] for slice_ in found]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("workload", workloads.TEXTS)
@pytest.mark.benchmark(group="encode fresh text")
def test_fresh(benchmark: BenchmarkFixture, source: str, workload: str, threads: int) -> None:
    """Encode what a tokenizer has not seen, after a slice that warms it."""
    first, fresh = (some_texts(workload) * 2)[:2]

    def load() -> tuple[tuple[turnloom.Tokenizer, list[str]], dict[str, object]]:
        tokenizer = turnloom.load_tokenizer(source)
        tokenizer.encode_batch(first)
        return (tokenizer, fresh), {}

    rows = benchmark.pedantic(
        lambda tokenizer, texts: tokenizer.encode_batch(texts, threads=threads), setup=load, rounds=5
    )
    assert len(rows) == len(fresh)


@pytest.mark.parametrize("workload", workloads.TEXTS)
@pytest.mark.benchmark(group="encode known text")
def test_hot(benchmark: BenchmarkFixture, source: str, workload: str) -> None:
    """Encode the same texts again and again."""
    tokenizer = turnloom.load_tokenizer(source)
    texts = some_texts(workload)[0]
    rows = benchmark(tokenizer.encode_batch, texts)
    assert len(rows) == len(texts)


@pytest.mark.benchmark(group="encode one short text")
def test_one(benchmark: BenchmarkFixture, source: str) -> None:
    """Encode one text a call."""
    tokenizer = turnloom.load_tokenizer(source)
    texts = some_texts("segments")[0][:200]
    rows = benchmark(lambda: [tokenizer.encode_array(text) for text in texts])
    assert len(rows) == len(texts)


@pytest.mark.benchmark(group="load")
def test_load(benchmark: BenchmarkFixture, source: str) -> None:
    assert benchmark(turnloom.load_tokenizer, source).backend == "native"
