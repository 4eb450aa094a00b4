"""turnloom beside other packages: the same inputs, taking turns, on one core; writes bench/RESULTS.md.

    python bench/compare.py                       # all of it
    python bench/compare.py --only render --rounds 5

First every package runs over what is measured once, and its ids are compared. Inputs where one of them has
other ids are left out, and counted; a package that is not there is listed as missing. Then each round gives
every package, in a process of its own, three slices of the workload: the first finds it cold, the second is
fresh text to warm caches, and hot when it is given again, the third is given call by call. Times are the CPU
time of the process, so that other work on the machine disturbs little, but for threads; ratios are taken
inside a round.
"""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import workloads
from parts import PARTS, Part
from peers import Peer
from results import Group, Row, write_results

BENCH = Path(__file__).parent
VOCABULARIES = {"qwen3": "qwen3", "llama-3.2": "llama3_1"}
US = "turnloom"
MOST_DIFFERENT = 0.05
"""The share of inputs with other ids from which on a package is left out instead of the inputs."""


@dataclass
class Bench:
    """One workload, by one vocabulary."""

    options: argparse.Namespace
    part_name: str
    family: str
    workload: str
    notes: list[str] = field(default_factory=list)

    @property
    def part(self) -> Part:
        """What is called."""
        return PARTS[self.part_name]

    def run(self) -> Group:
        """Check, measure, and return the rows."""
        peers = self._check(self.part.peers(self.family))
        rows = {peer.name: Row(peer.name, self._versions[peer.name]) for peer in peers}
        sizes = [self._sizes[i] for i in self._agreed]
        call = "one" if self.workload in workloads.SINGLE_ONLY else "batch"
        n_rounds = self.options.rounds
        slices = workloads.slices(sizes, 3 * n_rounds, int(self.options.megabytes * 1e6))
        for round_ in range(n_rounds):
            taken = [[self._agreed[i] for i in slice_] for slice_ in slices[3 * round_ : 3 * round_ + 3]]
            for peer in peers[round_ % len(peers) :] + peers[: round_ % len(peers)]:
                found = self._work(peer, slices=taken, call=call)
                self._assert_equal(peer, taken, found["checksums"])
                megabytes = [sum(self._sizes[i] for i in slice_) / 1e6 for slice_ in taken]
                rows[peer.name].add(found, megabytes, [len(slice_) for slice_ in taken])
        return Group(self.part_name, self.family, self.workload, list(rows.values()), self.notes)

    def _check(self, peers: list[Peer]) -> list[Peer]:
        """Find the packages that run, and the inputs on which they agree."""
        items = self.part.items(self.workload)
        self._sizes = [_n_bytes(item) for item in items]
        # All that is measured and some more, since some may be left out.
        enough = 3 * self.options.rounds * self.options.megabytes * 1e6 * (1 + 2 * MOST_DIFFERENT)
        n_items = sum(filled < enough for filled in accumulate(self._sizes)) + 1
        items = items[:n_items]
        self._checksums: dict[str, list[int]] = {}
        self._versions: dict[str, str] = {}
        for peer in peers:
            try:
                found = self._work(peer, n_items=n_items)
            except RuntimeError as error:
                self.notes.append(f"{peer.name} did not run: {error}")
                continue
            self._checksums[peer.name] = found["checksums"]
            self._versions[peer.name] = found["version"]
        if US not in self._checksums:
            raise RuntimeError(self.notes[0])
        ours = self._checksums[US]
        different = {
            name: {i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b}
            for name, theirs in self._checksums.items()
        }
        out = {name for name, indices in different.items() if len(indices) > MOST_DIFFERENT * len(items)}
        for name, indices in different.items():
            if indices:
                fate = "not measured" if name in out else "these are left out"
                self.notes.append(f"{name}: other ids for {len(indices)} of {len(items)}, {fate}")
        left_out = set().union(*(indices for name, indices in different.items() if name not in out))
        self._agreed = [i for i in range(len(items)) if i not in left_out]
        return [peer for peer in peers if peer.name in self._checksums and peer.name not in out]

    def _assert_equal(self, peer: Peer, slices: list[list[int]], checksums: list[list[int]]) -> None:
        order = [slices[0], slices[1], slices[1], slices[2]]
        for indices, found in zip(order, checksums, strict=False):
            if found != [self._checksums[US][i] for i in indices]:
                raise RuntimeError(f"{peer.name} gave other ids than in the check")

    def _work(self, peer: Peer, **job: Any) -> dict[str, Any]:
        python = self.options.python_1_0 if peer.name == "tokenizers 1.0" else sys.executable
        if not Path(python).exists():
            raise RuntimeError(f"no {python}")
        tokenizer = self.options.tokenizers / VOCABULARIES[self.family] / "tokenizer.json"
        job |= {"part": self.part_name, "family": self.family, "workload": self.workload}
        job |= {"peer": peer.name, "tokenizer": str(tokenizer)}
        job["cores"] = list(range(self.options.core, self.options.core + self.part.n_cores))
        done = subprocess.run(
            [python, BENCH / "worker.py"],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            env=os.environ | {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"},
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def _n_bytes(item: Any) -> int:
    if isinstance(item, str):
        return len(item.encode())
    return sum(len((message.get("content") or "").encode()) for message in item)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", choices=PARTS, help="one part of it")
    names = dict.fromkeys(workloads.TEXTS + workloads.CHATS)
    parser.add_argument("--workloads", nargs="+", choices=names)
    parser.add_argument("--vocabularies", nargs="+", choices=VOCABULARIES, default=list(VOCABULARIES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=float, default=0.5, help="a slice, at most (default %(default)s)")
    parser.add_argument("--core", type=int, default=0, help="the (first) core that all packages run on")
    parser.add_argument("--tokenizers", type=Path, default=workloads.SHARED / "tokenizers", help="folder")
    parser.add_argument(
        "--python-1-0",
        default=".venv-bench-1.0/bin/python",
        help="a Python that has tokenizers 1.0 (default %(default)s)",
    )
    options = parser.parse_args()
    for name in PARTS if options.only is None else [options.only]:
        for family in options.vocabularies:
            for workload in PARTS[name].workloads:
                if options.workloads is None or workload in options.workloads:
                    group = Bench(options, name, family, workload).run()
                    print(group.table(), flush=True)
                    write_results(BENCH / "RESULTS.md", [group])


if __name__ == "__main__":
    main()
