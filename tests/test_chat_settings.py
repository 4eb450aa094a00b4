"""What a tokenizer knows of its model's chats: the chat template and the special tokens."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import turnloom
from turnloom import load_tokenizer

BUILTIN = Path(turnloom.__file__).parent / "builtin" / "tokenizer.json"
PACKAGE = tokenizers.Tokenizer.from_file(str(BUILTIN))

MakeFolder = Callable[..., Path]


@pytest.fixture
def make_folder(tmp_path: Path) -> MakeFolder:
    """Return a function that writes a model's folder: names of files, without their points, and contents."""

    def make(files: dict[str, Any]) -> Path:
        shutil.copy(BUILTIN, tmp_path / "tokenizer.json")
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                text = content if isinstance(content, str) else json.dumps(content)
                path.write_text(text, encoding="utf-8", newline="")
        return tmp_path

    return make


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"tokenizer_config.json": {"chat_template": None}}, None),
        ({"tokenizer_config.json": {"chat_template": "c"}}, "c"),
        ({"tokenizer_config.json": {"chat_template": ""}}, ""),
        (
            {
                "tokenizer_config.json": {
                    "chat_template": [
                        {"name": "default", "template": "c"},
                        {"name": "tool_use", "template": "t"},
                    ]
                }
            },
            {"default": "c", "tool_use": "t"},
        ),
        # transformers: files of templates win over the config, and a processor's is no tokenizer's.
        ({"tokenizer_config.json": {"chat_template": "c"}, "chat_template.jinja": "ö\n"}, "ö\n"),
        (
            {"chat_template.jinja": "j", "additional_chat_templates/tool_use.jinja": "t"},
            {"default": "j", "tool_use": "t"},
        ),
        (
            {
                "tokenizer_config.json": {"chat_template": "c"},
                "additional_chat_templates/rag.jinja": "r",
            },
            {"rag": "r"},
        ),
        (
            {
                "tokenizer_config.json": {"chat_template": "c"},
                "chat_template.json": {"chat_template": "p"},
            },
            "c",
        ),
        ({"chat_template.json": {"chat_template": "p"}}, "p"),
        ({"chat_template.json": {"chat_template": {"default": "p"}}}, {"default": "p"}),
        ({"chat_template.json": {}}, None),
    ],
)
def test_template_of_a_folder(make_folder: MakeFolder, files: dict[str, Any], expected: object) -> None:
    folder = make_folder(files)
    assert load_tokenizer(folder).chat_template == expected
    assert load_tokenizer(folder / "tokenizer.json").chat_template == expected


def test_templates_by_name_cannot_be_changed(make_folder: MakeFolder) -> None:
    tok = load_tokenizer(make_folder({"chat_template.json": {"chat_template": {"default": "p"}}}))
    assert isinstance(tok.chat_template, dict)
    tok.chat_template["default"] = "other"
    assert tok.chat_template == {"default": "p"}


def test_special_tokens_of_a_folder(make_folder: MakeFolder) -> None:
    config = {
        "add_bos_token": True,
        "bos_token": {"content": "<s>", "lstrip": False, "__type": "AddedToken"},
        "eos_token": "</s>",
        "image_token": "<image>",
        "pad_token": None,
        "extra_special_tokens": {"audio_token": "<audio>"},
        "additional_special_tokens": ["<a>"],
        "model_max_length": 5,
    }
    more = {"eos_token": "<old>", "pad_token": "<old>", "unk_token": "<unk>"}
    tok = load_tokenizer(make_folder({"tokenizer_config.json": config, "special_tokens_map.json": more}))
    assert tok.special_tokens == {
        "audio_token": "<audio>",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "image_token": "<image>",
        "unk_token": "<unk>",
    }
    with pytest.raises(TypeError):
        tok.special_tokens["bos_token"] = "x"  # type: ignore[index]


def test_settings_are_pickled_with_the_tokenizer(make_folder: MakeFolder) -> None:
    config = {"chat_template": [{"name": "default", "template": "c"}], "bos_token": "<s>"}
    tok = load_tokenizer(make_folder({"tokenizer_config.json": config}))
    restored = pickle.loads(pickle.dumps(tok))
    assert restored.chat_template == {"default": "c"}
    assert restored.special_tokens == {"bos_token": "<s>"}


class FastTokenizer:
    """Shaped as a transformers fast tokenizer."""

    name_or_path = "org/name"
    backend_tokenizer = PACKAGE

    def __init__(self, chat_template: object = None) -> None:
        self.chat_template = chat_template
        self.special_tokens_map = {
            "bos_token": tokenizers.AddedToken("<s>"),
            "eos_token": "</s>",
            "additional_special_tokens": ["<a>"],
        }


class MethodsTokenizer:
    """Shaped as a slow tokenizer of transformers."""

    name_or_path = "org/slow"
    chat_template = "m"
    special_tokens_map = {"eos_token": "</s>"}  # noqa: RUF012  as in transformers

    def encode(self, text: str, *, add_special_tokens: bool = False) -> list[int]:
        return list(text.encode())

    def decode(self, ids: list[int], *, skip_special_tokens: bool = False) -> str:
        return bytes(ids).decode()

    def convert_tokens_to_ids(self, tokens: str) -> int | None:
        return None


@pytest.mark.parametrize("template", [None, "t", {"default": "t", "tool_use": "u"}])
def test_objects_of_transformers(template: str | dict[str, str] | None) -> None:
    tok = load_tokenizer(FastTokenizer(template))
    assert tok.chat_template == template
    assert tok.special_tokens == {"bos_token": "<s>", "eos_token": "</s>"}
    assert tok.name_or_path == "org/name"


def test_other_objects() -> None:
    slow = load_tokenizer(MethodsTokenizer())
    assert (slow.chat_template, slow.special_tokens) == ("m", {"eos_token": "</s>"})
    for source in (PACKAGE, "builtin"):
        tok = load_tokenizer(source)
        assert tok.chat_template is None
        assert tok.special_tokens == {}


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("tokenizer_config.json", {"chat_template": 5}, "chat_template: expected text or a list"),
        (
            "tokenizer_config.json",
            {"chat_template": ["x"]},
            r"chat_template\[0\]: expected an object, got str",
        ),
        (
            "tokenizer_config.json",
            {"chat_template": [{"name": "default"}]},
            "chat_template: expected names and texts, got str and NoneType",
        ),
        ("chat_template.json", {"chat_template": {"default": 1}}, "got str and int"),
        ("chat_template.json", "{", "is not JSON"),
        ("chat_template.json", [], "is not a JSON object"),
        ("special_tokens_map.json", [], "is not a JSON object"),
        ("chat_template.jinja", b"a\xff", "is not UTF-8 at byte 1"),
    ],
)
def test_bad_files_are_named(make_folder: MakeFolder, name: str, content: object, problem: str) -> None:
    with pytest.raises(ValueError, match=f"source: .*{name}.*{problem}"):
        load_tokenizer(make_folder({name: content}))


def test_bad_attributes_are_named() -> None:
    with pytest.raises(TypeError, match=r"source\.chat_template: expected text or a list .* got int"):
        load_tokenizer(FastTokenizer(5))
