"""The examples of docs/choosing-a-renderer.md."""

import doctest
import re
from pathlib import Path

import pytest

from model_folders import write_model


def test_documentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_model(tmp_path / "models" / "my-finetune")
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[1] / "docs/choosing-a-renderer.md").read_text(encoding="utf-8")
    examples = "\n".join(re.findall("^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    test = doctest.DocTestParser().get_doctest(examples, {}, "choosing-a-renderer.md", None, None)
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    result = runner.run(test, out=report.append)
    assert result.attempted == 15 and not result.failed, "".join(report)
