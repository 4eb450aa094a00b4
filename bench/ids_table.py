"""Measure tool-call ids, hashes and searches beside their baselines: how many times as fast they are.

    python bench/ids_table.py

The two sides of a row take turns. The table has the medians of the turns, the median of their ratio, and its
quartiles. Time is what the processor spent on this process, so that a busy machine disturbs little.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from ids_rows import Row, rows

TURNS = 41
TURN_SECONDS = 0.02


def seconds_per_call(call: Callable[[], Any], n_calls: int) -> float:
    """Time some calls."""
    begin = time.process_time()
    for _ in range(n_calls):
        call()
    return (time.process_time() - begin) / n_calls


def measure(row: Row) -> tuple[list[float], list[float]]:
    """Give the seconds a call of each side takes, turn by turn."""
    calls = [max(1, int(TURN_SECONDS / seconds_per_call(side, 3))) for side in (row.ours, row.baseline)]
    turns = [
        (seconds_per_call(row.ours, calls[0]), seconds_per_call(row.baseline, calls[1])) for _ in range(TURNS)
    ]
    return [ours for ours, _ in turns], [baseline for _, baseline in turns]


def main() -> None:
    """Print the table; exit with 1 if a row is too slow."""
    missed = False
    print(f"{'':80} {'ours':>10} {'baseline':>10} {'ratio':>7} {'quartiles':>15} {'wanted':>7}")
    for row in rows():
        row.check(row.ours(), row.baseline())
        ours, baseline = measure(row)
        ratios = [b / a for a, b in zip(ours, baseline, strict=True)]
        low, ratio, high = statistics.quantiles(ratios, n=4)
        wanted = "" if row.at_least is None else f"{row.at_least:g}x"
        missed |= row.at_least is not None and ratio < row.at_least
        micros = [f"{statistics.median(side) * 1e6:8.1f}us" for side in (ours, baseline)]
        print(
            f"{row.name:80} {' '.join(micros)} {ratio:6.1f}x {low:6.1f}x-{high:6.1f}x {wanted:>7}", flush=True
        )
    sys.exit(missed)


if __name__ == "__main__":
    main()
