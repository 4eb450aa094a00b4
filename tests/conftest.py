"""Settings of the whole run: the folder of reference material, the command line, what was run at the end."""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

import turnloom._core  # noqa: F401  a build without the native module fails here, before any test

hypothesis.settings.register_profile("turnloom", derandomize=True, deadline=None)
hypothesis.settings.load_profile("turnloom")

LEFT_OUT = pytest.StashKey[int]()
Run = Callable[..., tuple[int, str, str]]
SHARED = Path(os.environ.get("TURNLOOM_SHARED", Path(__file__).parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference material; for tests marked `shared`."""
    return SHARED


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `turnloom` in an empty folder that has `in.jsonl`; give exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    row = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}], "id": "a"}
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n")

    def run(*arguments: str) -> tuple[int, str, str]:
        import turnloom.cli

        monkeypatch.setattr(sys, "argv", ["turnloom", *arguments])
        with pytest.raises(SystemExit) as exit_:
            turnloom.cli.main()
        printed = capsys.readouterr()
        code = exit_.value.code
        assert code is None or isinstance(code, int)
        return code or 0, printed.out, printed.err

    return run


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let tests of very many texts run over all of them."""
    parser.addoption("--exhaustive", action="store_true", help="all texts of test_exhaustive, not a sample")


def pytest_report_header() -> str:
    """Say where the reference material is read from."""
    return f"shared: {SHARED if SHARED.is_dir() else 'not found'}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that read the reference material where it is absent."""
    needs_shared = [item for item in items if item.get_closest_marker("shared")]
    if needs_shared and not SHARED.is_dir():
        config.stash[LEFT_OUT] = len(needs_shared)
        items[:] = [item for item in items if not item.get_closest_marker("shared")]
        config.hook.pytest_deselected(items=needs_shared)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests of each kind ran."""
    outcomes = ("passed", "failed", "xfailed", "xpassed")
    reports = [report for outcome in outcomes for report in terminalreporter.stats.get(outcome, [])]
    kinds = Counter("shared" if "shared" in report.keywords else "offline" for report in reports)
    line = f"tests run: {kinds['offline']} offline, {kinds['shared']} on the reference material"
    if left_out := terminalreporter.config.stash.get(LEFT_OUT, 0):
        line += f" ({left_out} left out: no folder {SHARED}; set TURNLOOM_SHARED to where it is)"
    terminalreporter.write_line(line)
