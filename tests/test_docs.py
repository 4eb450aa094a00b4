"""The Python examples of README and docs, each file from top to bottom."""

import doctest
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from faulty_engine import fake_engine
from model_folders import write_model

ROOT = Path(__file__).parents[1]
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WITHOUT_EXAMPLES = {"adding-a-family.md"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_examples(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_model(tmp_path / "models" / "my-finetune")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")
    snippets = re.findall("^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert bool(snippets) != (path.name in WITHOUT_EXAMPLES)
    names: dict[str, Any] = {"__name__": path.name}
    with fake_engine.running() as url:
        for snippet in snippets:
            if ">>> " in snippet:
                names = run_session(snippet, names, path.name)
            else:
                exec(snippet.replace("http://localhost:8000/v1", url), names)


def run_session(snippet: str, names: dict[str, Any], name: str) -> dict[str, Any]:
    """Run a snippet with prompts, and compare what it prints."""
    test = doctest.DocTestParser().get_doctest(snippet, names, name, None, None)
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    result = runner.run(test, out=report.append, clear_globs=False)
    assert result.attempted and not result.failed, "".join(report)
    return test.globs
