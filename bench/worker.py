"""A process that loads one package and runs it once: a job comes as JSON on stdin, results go to stdout.

Each measurement has a process of its own, so that no package finds the caches of an earlier run.
"""

import json
import os
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main() -> None:
    """Run a job: `cores`, `part`, `family`, `peer`, `tokenizer`, `workload`, and either
    `slices` to time or `n_items`, how many to run over."""
    job = json.load(sys.stdin)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, job["cores"])  # before any package counts the cores for its threads
    from parts import PARTS

    part = PARTS[job["part"]]
    clock = time.process_time if part.n_cores == 1 else time.perf_counter
    items = part.items(job["workload"])
    peer = next(peer for peer in part.peers(job["family"]) if peer.name == job["peer"])
    resident = _resident_megabytes()
    begin = time.process_time()
    loaded = peer.load(Path(job["tokenizer"]))
    result: dict[str, Any] = {"load_seconds": time.process_time() - begin, "version": peer.version()}
    result["load_megabytes"] = _resident_megabytes() - resident

    def one_by_one(items: list[Any]) -> list[Any]:
        return [loaded.one(item) for item in items]

    def sums_of_singles(results: list[Any]) -> list[int]:
        return [_checksum(loaded.ids(it)) for it in results]

    def sums_of_batch(results: Any) -> list[int]:
        assert loaded.rows is not None
        return [_checksum(row) for row in loaded.rows(results)]

    calls = {"one": (one_by_one, sums_of_singles)}
    calls["batch"] = calls["one"] if loaded.batch is None else (loaded.batch, sums_of_batch)
    if "slices" not in job:
        run, sums = calls["batch"]
        result["checksums"] = sums(run(loaded.prepare(items[: job["n_items"]])))
    else:
        taken = [loaded.prepare([items[i] for i in indices]) for indices in job["slices"]]
        result["seconds"], result["checksums"] = {}, []
        # The first slice finds the process cold and warms it for the others, which nothing has seen before.
        plan = [("cold", 0), ("fresh", 1), ("hot", 1)]
        for name, slice_ in plan:
            _measure(f"{job['call']} {name}", *calls[job["call"]], taken[slice_], result, clock)
        if job["call"] == "batch" and part.n_cores == 1:
            _measure("one fresh", *calls["one"], taken[2], result, clock)
    json.dump(result, sys.stdout)


def _measure(
    name: str,
    run: Callable[[list[Any]], Any],
    sums: Callable[[Any], list[int]],
    items: list[Any],
    result: dict[str, Any],
    clock: Callable[[], float],
) -> None:
    begin = clock()
    found = run(items)
    result["seconds"][name] = clock() - begin
    result["checksums"].append(sums(found))


def _checksum(ids: Any) -> int:
    import numpy as np

    return zlib.crc32(np.asarray(ids).astype(np.int32).tobytes())


def _resident_megabytes() -> float:
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return float("nan")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
