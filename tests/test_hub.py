"""Tokenizers by the names of models. Nothing here reaches a network: the downloader is replaced."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import turnloom
from turnloom import load_tokenizer
from turnloom.hub import cache_folder, is_model_name

BUILTIN = Path(turnloom.__file__).parent / "builtin" / "tokenizer.json"
NAME = "Org/Some-Model_1.5B"


class Hub:
    """Stands for `huggingface_hub.snapshot_download`."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.calls: list[tuple[str, Path]] = []
        self.answer: Path | Exception = ConnectionError("no route\n  to host")

    def snapshot_download(self, name: str, *, cache_dir: Path, allow_patterns: list[str]) -> str:
        assert {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"} <= set(allow_patterns)
        self.calls.append((name, cache_dir))
        if isinstance(self.answer, Exception):
            raise self.answer
        return str(self.answer)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Make an empty cache, and a hub that cannot be reached."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)
    hub = Hub(tmp_path / "hub")
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)  # type: ignore[arg-type]
    yield hub


def put_into_cache(hub: Hub, *, commit: str = "0123abc", with_tokenizer: bool = True) -> Path:
    """Write a model as the hub's cache has it."""
    model = hub.cache / "models--Org--Some-Model_1.5B"
    snapshot = model / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (model / "refs").mkdir(exist_ok=True)
    (model / "refs" / "main").write_text(commit)
    (snapshot / "chat_template.jinja").write_text("t")
    if with_tokenizer:
        shutil.copy(BUILTIN, snapshot / "tokenizer.json")
    return snapshot


def test_a_model_in_the_cache_is_not_downloaded(hub: Hub) -> None:
    put_into_cache(hub, commit="old")
    put_into_cache(hub, commit="new")
    (hub.cache / "models--Org--Some-Model_1.5B/snapshots/new/chat_template.jinja").write_text("new")
    tok = load_tokenizer(NAME)
    assert (tok.name_or_path, tok.chat_template, hub.calls) == (NAME, "new", [])
    assert tok.encode("Hi") == load_tokenizer("builtin").encode("Hi")


def test_a_folder_of_that_name_comes_first(hub: Hub, tmp_path: Path) -> None:
    put_into_cache(hub)
    (tmp_path / NAME).mkdir(parents=True)
    shutil.copy(BUILTIN, tmp_path / NAME / "tokenizer.json")
    assert load_tokenizer(NAME).chat_template is None


def test_another_model_is_downloaded(hub: Hub) -> None:
    hub.answer = put_into_cache(hub, commit="fetched")
    (hub.cache / "models--Org--Some-Model_1.5B/refs/main").unlink()
    assert load_tokenizer(NAME).chat_template == "t"
    assert hub.calls == [(NAME, hub.cache)]


def test_half_of_a_model_in_the_cache_is_downloaded(hub: Hub) -> None:
    put_into_cache(hub, with_tokenizer=False)
    with pytest.raises(FileNotFoundError, match="as a model it has no tokenizer in the local cache"):
        load_tokenizer(NAME)
    assert hub.calls == [(NAME, hub.cache)]


def test_errors_say_which_of_the_two_failed(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = (
        f"source: '{NAME}' is neither a folder nor a file; as a model it is not in the local cache "
        f"({hub.cache}), and "
    )
    with pytest.raises(FileNotFoundError) as failed:
        load_tokenizer(NAME)
    assert str(failed.value) == f"{looked}its download failed with ConnectionError: no route to host"

    hub.answer = put_into_cache(hub, with_tokenizer=False)
    (hub.cache / "models--Org--Some-Model_1.5B/refs/main").unlink()
    with pytest.raises(FileNotFoundError) as empty:
        load_tokenizer(NAME)
    assert str(empty.value) == f"{looked}on the hub it has none of tokenizer.json, tiktoken.model"

    monkeypatch.setitem(sys.modules, "huggingface_hub", None)  # type: ignore[arg-type]  as if not installed
    with pytest.raises(FileNotFoundError) as absent:
        load_tokenizer(NAME)
    assert str(absent.value) == (
        f"{looked}huggingface_hub, which downloads, is not installed: pip install 'turnloom[hub]'"
    )


@pytest.mark.parametrize("ref", [b"", b"\xff", b"../../..", b"gone"])
def test_a_broken_cache_is_one_without_the_model(hub: Hub, ref: bytes) -> None:
    put_into_cache(hub)
    (hub.cache / "models--Org--Some-Model_1.5B/refs/main").write_bytes(ref)
    with pytest.raises(FileNotFoundError, match="its download failed with ConnectionError"):
        load_tokenizer(NAME)


@pytest.mark.parametrize(
    "name", ["Qwen/Qwen3-0.6B", "meta-llama/Llama-3.2-1B-Instruct", "a/b", "01-ai/Yi-6B", NAME]
)
def test_names_of_models(name: str) -> None:
    assert is_model_name(name)


@pytest.mark.parametrize(
    "name",
    ["", "gpt2", "/a/b", "./a/b", "../b", "a/b/c", "a//b", "a/", "/b", "~/b", "a/b\n", "a\\b", "ä/b", "a/.."],
)
def test_what_cannot_be_a_name_is_not_looked_for(hub: Hub, name: str) -> None:
    assert not is_model_name(name)
    if name:
        with pytest.raises(FileNotFoundError, match="neither a folder nor a file, nor a name as models have"):
            load_tokenizer(name)
    assert hub.calls == []


# What huggingface_hub says under the same variables, in a process of its own: it reads them once.
SAYS = "import huggingface_hub.constants as c; print(c.HF_HUB_CACHE)"


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"XDG_CACHE_HOME": "/x"},
        {"HF_HOME": "/h", "XDG_CACHE_HOME": "/x"},
        {"HF_HOME": "~/h"},
        {"HF_HUB_CACHE": "$HF_HOME/c", "HF_HOME": "/h"},
        {"HUGGINGFACE_HUB_CACHE": "/old", "HF_HOME": "/h"},
    ],
)
def test_the_cache_is_where_huggingface_hub_has_it(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    done = subprocess.run([sys.executable, "-c", SAYS], capture_output=True, text=True, check=True)
    assert cache_folder() == Path(done.stdout.strip())
    assert os.path.isabs(cache_folder())
