"""What is measured of tool-call ids, hashes and searches: each call beside what it is measured against."""

import ctypes
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import turnloom
from turnloom import ToolCallIdFormat, reference

CONTROL_TOKENS = list(range(151_643, 151_669))
TEXT_TOKENS = 151_643


@dataclass(frozen=True)
class Row:
    """Two calls that do the same work."""

    name: str
    ours: Callable[[], Any]
    baseline: Callable[[], Any]
    at_least: float | None
    """How many times as fast ours must be; None is measured only."""
    check: Callable[[Any, Any], None]
    """Fails unless the results agree."""


def rows() -> list[Row]:
    """Make every row."""
    return [*_conform_rows(), *_hash_rows(), *_scan_rows()]


def _conform_rows() -> list[Row]:
    rng = random.Random(0)
    foreign = [f"functions.{rng.choice(['search', 'read_file', 'run'])}:{i}" for i in range(10_000)]
    long = [f"chatcmpl-tool-{rng.getrandbits(128):032x}" for _ in range(10_000)]
    mixed = [
        rng.choice([f"call_{rng.getrandbits(96):024x}", f"toolu:{rng.getrandbits(64):x}"])
        for _ in range(10_000)
    ]
    cases = [
        ("mistral, foreign ids", ToolCallIdFormat.preset("mistral"), foreign),
        ("anthropic, foreign ids", ToolCallIdFormat.preset("anthropic"), foreign),
        ("anthropic, half of them accepted", ToolCallIdFormat.preset("anthropic"), mixed),
        ("openai_40, ids of 46 characters", ToolCallIdFormat.preset("openai_40"), long),
    ]
    made = []
    for name, format, ids in cases:
        plain = reference.ToolCallIdFormat(format.kind, format.n)
        array = pa.array(ids)
        made += [
            Row(
                f"conform_batch of a list: {name}",
                lambda format=format, ids=ids: format.conform_batch(ids),
                lambda plain=plain, ids=ids: plain.conform_batch(ids),
                50,
                _equal,
            ),
            Row(
                f"conform_batch of an Arrow array: {name}",
                lambda format=format, array=array: format.conform_batch(array),
                lambda plain=plain, ids=ids: plain.conform_batch(ids),
                50,
                lambda ours, expected: _equal(ours.to_pylist(), expected),
            ),
        ]
    return made


def _hash_rows() -> list[Row]:
    rng = random.Random(1)
    made = []
    for name, shortest, longest in (("30 bytes", 30, 30), ("20 to 40 bytes", 20, 40)):
        texts = pa.array(
            ["".join(rng.choices("abc019_-", k=rng.randint(shortest, longest))) for _ in range(100_000)]
        )
        made.append(
            Row(
                f"fnv1a_64_batch of 100,000 ids of {name}, against a serial C++ loop",
                lambda texts=texts: turnloom.fnv1a_64_batch(texts),
                lambda texts=texts: serial_fnv1a_64(texts),
                3 if shortest == longest else None,
                _equal_arrays,
            )
        )
    return made


def _scan_rows() -> list[Row]:
    generator = np.random.default_rng(2)
    large = generator.integers(0, TEXT_TOKENS, 10_000_000, dtype=np.int32)
    large[::1000] = 151_645
    prompt = generator.integers(0, TEXT_TOKENS, 30_000, dtype=np.int32)
    prompt[generator.integers(0, len(prompt), 60)] = generator.choice(CONTROL_TOKENS, 60)

    def check_positions(ids: Any, tokens: list[int]) -> Callable[[Any, Any], None]:
        expected = np.flatnonzero(np.isin(ids, tokens))
        return lambda ours, _: _equal_arrays(ours.positions, expected)

    return [
        Row(
            "scan of 10,000,000 ids, a hit in 1,000, against numpy.sum",
            lambda: turnloom.scan(large, [151_645]),
            large.sum,
            1,
            check_positions(large, [151_645]),
        ),
        Row(
            "scan of 10,000,000 ids, a hit in 1,000, against numpy.isin",
            lambda: turnloom.scan(large, [151_645]),
            lambda: np.isin(large, [151_645]),
            3,
            check_positions(large, [151_645]),
        ),
        *(
            Row(
                f"scan of a prompt of 30,000 ids for {len(tokens)} tokens, against numpy.isin",
                lambda tokens=tokens: turnloom.scan(prompt, tokens),
                lambda tokens=tokens: np.isin(prompt, tokens),
                10,
                check_positions(prompt, tokens),
            )
            for tokens in ([151_645], [151_643, 151_645], CONTROL_TOKENS)
        ),
    ]


@lru_cache
def _serial_library() -> ctypes.CDLL:
    compiler = shutil.which("c++")
    if compiler is None:
        raise RuntimeError("the serial loop in C++ needs a compiler named c++")
    library = Path(tempfile.mkdtemp()) / "serial_fnv.so"
    source = Path(__file__).with_name("serial_fnv.cpp")
    subprocess.run([compiler, "-O3", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def serial_fnv1a_64(texts: pa.StringArray) -> Any:
    """Hash a string array with the serial loop, compiled as the core is."""
    _, offsets, text = texts.buffers()
    hashes = np.empty(len(texts), np.uint64)
    _serial_library().serial_fnv1a_64(
        ctypes.c_void_p(text.address),
        ctypes.c_void_p(offsets.address),
        ctypes.c_size_t(len(texts)),
        hashes.ctypes.data_as(ctypes.c_void_p),
    )
    return hashes


def _equal(ours: Any, expected: Any) -> None:
    assert ours == expected


def _equal_arrays(ours: Any, expected: Any) -> None:
    assert np.array_equal(ours, expected)
