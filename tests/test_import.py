"""What `import turnloom` costs: the core, numpy and the standard library, nothing else."""

import subprocess
import sys

LOADED = """
import sys
before = set(sys.modules)
import turnloom
print(*{name.partition(".")[0] for name in set(sys.modules) - before if name.partition(".")[0] not in %r})
"""


def loaded_by(statement: str) -> set[str]:
    """Give the packages outside the standard library that a statement loads, in a process of its own."""
    program = LOADED.replace("import turnloom", statement) % (sys.stdlib_module_names,)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name for name in done.stdout.split() if not name.startswith("__")}


def test_import_is_light() -> None:
    assert loaded_by("import turnloom") == {"turnloom", "numpy"}


def test_the_client_loads_httpx_when_it_is_called() -> None:
    assert loaded_by("import turnloom; turnloom.client.generate") == {"turnloom", "numpy"}


def test_a_known_pipeline_needs_no_other_package() -> None:
    assert loaded_by("import turnloom; turnloom.load_tokenizer('builtin').encode('Hi')") == {
        "turnloom",
        "numpy",
    }


def test_configs_load_pydantic_only() -> None:
    loaded = loaded_by("import turnloom; turnloom.Qwen3Config()")
    assert "pydantic" in loaded
    assert not loaded & {
        "jinja2",
        "tokenizers",
        "httpx",
        "huggingface_hub",
        "transformers",
        "typer",
        "pyarrow",
    }
