"""Measurements as tables, and the file that keeps them."""

import os
import platform
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import workloads

FIRST = "turnloom"
HEADER = """# Results

Written by `python bench/compare.py`, which says how it measures. Batch and one: megabytes of UTF-8 text (of
contents, for conversations) in a second of CPU time, on one core, in one call or a call for each; median of
the rounds, in brackets the least and the most. Cold: the first text a process sees. Fresh: text not seen
before, after that. Hot: the same text again. Ratio: how much faster turnloom is on fresh text, batch / one;
median over the rounds. Load: CPU time, and what the process grows by. On threads: wall-clock time, on two
cores. README.md says what is called.
"""


@dataclass
class Row:
    """One package on one workload; a list entry for each round."""

    name: str
    version: str
    speeds: dict[str, list[float]] = field(default_factory=dict)
    milliseconds: list[float] = field(default_factory=list)
    load_seconds: list[float] = field(default_factory=list)
    load_megabytes: list[float] = field(default_factory=list)

    def add(self, found: dict[str, Any], megabytes: list[float], n_items: list[int]) -> None:
        """Take in what the worker measured in one round; the other lists are for each slice."""
        slice_of = {"batch cold": 0, "batch fresh": 1, "batch hot": 1, "one fresh": 2}
        if "batch fresh" not in found["seconds"]:
            slice_of = {"one cold": 0, "one fresh": 1, "one hot": 1}
        for name, seconds in found["seconds"].items():
            self.speeds.setdefault(name, []).append(megabytes[slice_of[name]] / seconds)
        single = "one fresh" if "one fresh" in found["seconds"] else "batch fresh"
        self.milliseconds.append(found["seconds"][single] / n_items[slice_of[single]] * 1000)
        self.load_seconds.append(found["load_seconds"])
        self.load_megabytes.append(found["load_megabytes"])


@dataclass
class Group:
    """All packages on one workload."""

    part: str
    family: str
    workload: str
    rows: list[Row]
    notes: list[str]

    @property
    def name(self) -> str:
        """What its table goes by."""
        return f"{self.part}, {self.family}, {self.workload}"

    def table(self) -> str:
        """Return a Markdown table under a heading."""
        ours = next(row for row in self.rows if row.name == FIRST)
        kinds = list(ours.speeds)
        lines = [f"## {self.name}", ""]
        heads = ["", *kinds, "one, ms", "ratio", "load, s", "load, MB"]
        lines += ["| " + " | ".join(heads) + " |", "|---" + "|--:" * (len(heads) - 1) + "|"]
        for row in self.rows:
            cells = [f"{row.name} {row.version}", *(_spread(row.speeds[kind]) for kind in kinds)]
            cells += [f"{median(row.milliseconds):.3g}", _ratios(ours, row)]
            cells += [f"{median(row.load_seconds):.2f}", f"{median(row.load_megabytes):.0f}"]
            lines.append("| " + " | ".join(cells) + " |")
        notes = [*self.notes, f"{datetime.now(UTC):%Y-%m-%d}, {_machine()}. Data: {workloads.source()}."]
        return "\n".join([*lines, "", *(f"- {note}" for note in notes), ""])


def write_results(path: Path, groups: list[Group]) -> None:
    """Write tables into the file, in place of those of the same name; the rest of it stays."""
    text = path.read_text(encoding="utf-8") if path.exists() else HEADER
    for group in groups:
        begin, end = f"<!-- {group.name} -->", f"<!-- end of {group.name} -->"
        section = f"{begin}\n{group.table()}{end}"
        pattern = re.compile(re.escape(begin) + ".*" + re.escape(end), re.DOTALL)
        if pattern.search(text):
            text = pattern.sub(lambda _, section=section: section, text)
        else:
            text += f"\n{section}\n"
    path.write_text(text, encoding="utf-8")


def _spread(values: list[float]) -> str:
    return f"{median(values):.3g} ({min(values):.3g}–{max(values):.3g})"


def _ratios(ours: Row, theirs: Row) -> str:
    kinds = [kind for kind in ("batch fresh", "one fresh") if kind in ours.speeds]
    ratios = (
        median(a / b for a, b in zip(ours.speeds[kind], theirs.speeds[kind], strict=True)) for kind in kinds
    )
    return " / ".join(f"{ratio:.3g}" for ratio in ratios)


def _machine() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", cpuinfo.read_text()) if cpuinfo.exists() else None
    name = found.group(1) if found else platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
