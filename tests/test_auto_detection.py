"""Which chat format is found for a tokenizer, and what is made of it."""

import importlib.util
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pydantic
import pytest
import tokenizers

import turnloom
from golden_cases import TEMPLATES, Template, control_token_tokenizer
from turnloom import (
    MODEL_RENDERER_MAP,
    AutoRendererConfig,
    ChatMLConfig,
    DefaultRendererConfig,
    Llama3Config,
    Llama31Config,
    Qwen3Config,
    Qwen25Config,
    RendererConfig,
    Tokenizer,
    create_renderer,
    describe,
    reference,
)
from turnloom.configs import AnyConfig, FamilyConfig, config_from_name
from turnloom.detection import template_fingerprint

ROOT = Path(__file__).parents[1]
PACKAGE = control_token_tokenizer()
MESSAGES = [{"role": "user", "content": "Hi"}]
# ChatML as one of many wrote it; its text is short enough to stand here.
CHATML = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
CHATML_WITH_BOS = "{{bos_token}}" + CHATML


class ModelTokenizer:
    """Shaped as a transformers fast tokenizer, with the control tokens of every family."""

    def __init__(
        self,
        name: str = "",
        template: str | dict[str, str] | None = None,
        special_tokens: Mapping[str, str] | None = None,
        backend: tokenizers.Tokenizer = PACKAGE,
    ) -> None:
        self.name_or_path = name
        self.chat_template = template
        self.special_tokens_map = special_tokens or {}
        self.backend_tokenizer = backend


def load(*arguments: Any, **options: Any) -> Tokenizer:
    return turnloom.load_tokenizer(ModelTokenizer(*arguments, **options))


def found(*arguments: Any, **options: Any) -> AnyConfig:
    """Return the config of the renderer that both sides make without being told one."""
    tokenizer = load(*arguments, **options)
    config = create_renderer(tokenizer).config
    assert reference.create_renderer(tokenizer).config == config
    assert create_renderer(tokenizer, AutoRendererConfig()).config == config
    assert describe(tokenizer).config == config
    return config


@pytest.mark.shared
@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_each_template_that_a_family_renders_is_known(template: Template, shared: Path) -> None:
    index = {entry["template"]: entry for entry in json.loads((shared / "templates/INDEX.json").read_bytes())}
    text = (shared / "templates" / template.path).read_text(encoding="utf-8")
    fields = {name: value for name, value in template.config_fields.items() if name != "date_string"}
    expected = config_from_name(template.config_name, **fields)
    tokens = index[template.path]["special_tokens"]
    # A fine-tune has a name of its own.
    assert found("me/my-model", text, tokens) == expected
    assert found("", text.replace("\n", "\r\n"), tokens) == expected
    assert found("", {"default": text, "other": "x"}, tokens) == expected
    assert found("", text.removesuffix("\n"), tokens) == expected


@pytest.mark.shared
def test_other_templates_are_not_known(shared: Path) -> None:
    ours = {template.path for template in TEMPLATES}
    for path in sorted((shared / "templates").glob("*/*.jinja")):
        if str(path.relative_to(shared / "templates").as_posix()) not in ours:
            assert describe(load("", path.read_text(encoding="utf-8"))).found_by == "nothing", path


@pytest.mark.shared
def test_the_table_is_what_the_script_writes(shared: Path) -> None:
    written = ROOT / "python/turnloom/_template_families.py"
    assert script().template_families(shared) == written.read_text(encoding="utf-8")


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("script", ROOT / "scripts/make_template_families.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_template_wins_over_the_name() -> None:
    assert found("Qwen/Qwen3-8B", CHATML) == ChatMLConfig()


def test_bos_of_the_tokenizer_is_that_of_the_format() -> None:
    assert found("", CHATML_WITH_BOS + "\n") == ChatMLConfig()
    for bos in ("<s>", "<|begin_of_text|>"):
        config = found("", CHATML_WITH_BOS, {"bos_token": bos})
        assert config == ChatMLConfig(bos=bos)
        assert create_renderer(load(), config).render_text(MESSAGES).startswith(f"{bos}<|im_start|>user\n")


@pytest.mark.shared
def test_another_bos_than_the_family_writes_is_another_format(shared: Path) -> None:
    text = (shared / "templates/llama3/llama-3.1-8b-instruct.jinja").read_text(encoding="utf-8")
    description = describe(load("", text, {"bos_token": "<s>"}))
    assert description.config == DefaultRendererConfig()
    assert "is that of llama-3.1, but with bos_token '<s>' instead of '<|begin_of_text|>'" in str(description)


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("Qwen/Qwen3-8B", Qwen3Config()),
        ("Qwen/Qwen3-4B-Instruct-2507", Qwen3Config(revision="instruct-2507")),
        ("Qwen/Qwen2.5-7B-Instruct", Qwen25Config()),
        ("meta-llama/Meta-Llama-3-8B-Instruct", Llama3Config()),
        ("meta-llama/Llama-3.3-70B-Instruct", Llama31Config()),
        ("/hub/models--Qwen--Qwen2.5-7B-Instruct/snapshots/0123abc", Qwen25Config()),
        ("/hub/models--Qwen--Qwen2.5-7B-Instruct/snapshots/0123abc/", Qwen25Config()),
    ],
)
def test_names_of_models(name: str, config: AnyConfig) -> None:
    assert found(name) == config


@pytest.mark.parametrize("name", ["", "Qwen/Qwen3-8B-my-tune", "qwen/qwen3-8b", "me/Qwen3-8B", "Qwen3-8B"])
def test_other_names_are_not_guessed(name: str) -> None:
    assert describe(load(name)).found_by == "nothing"


def test_every_name_has_a_config() -> None:
    assert len(MODEL_RENDERER_MAP) > 50
    for name, family in MODEL_RENDERER_MAP.items():
        assert found(name).name == family
    with pytest.raises(TypeError):
        MODEL_RENDERER_MAP["a/b"] = "qwen3"  # type: ignore[index]


def test_what_is_not_known_says_what_was_looked_at() -> None:
    text = (
        r"^config: the model's chat format is not known: the tokenizer has no chat template; its name, "
        r"'me/model', is not known; pass the config of its family, out of chatml, .*3$"
    )
    for create in (create_renderer, reference.create_renderer):
        with pytest.raises(ValueError, match=text):
            create(load("me/model"))


def test_a_template_that_is_not_known_is_rendered_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    tokenizer = load("me/model", "x{{ a }}")
    with caplog.at_level(logging.INFO, "turnloom"):
        renderer = create_renderer(tokenizer, chat_template_kwargs={"a": "y"})
    assert isinstance(renderer, turnloom.DefaultRenderer)
    assert renderer.render_text([{"role": "user", "content": "Hi"}]) == "xy"
    assert "its chat template (sha256 " in caplog.text and "is not a known one" in caplog.text
    description = describe(tokenizer)
    assert (description.config, description.abilities) == (DefaultRendererConfig(), ("render", "parse"))
    with pytest.raises(ValueError, match=r"or no marker_policy, for its chat template alone$"):
        create_renderer(tokenizer, AutoRendererConfig(marker_policy="all"))
    with pytest.raises(ValueError, match="config: DefaultRenderer is Python as it is"):
        reference.create_renderer(tokenizer)


def test_what_was_found_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "turnloom"):
        create_renderer(load("me/model", CHATML))
        create_renderer(load("Qwen/Qwen3-8B"))
        create_renderer(load("Qwen/Qwen3-8B", "a new template"))
    levels = [record.levelname for record in caplog.records]
    by_template, by_name, by_name_only = caplog.messages
    assert levels == ["INFO", "INFO", "WARNING"]
    assert "ChatMLConfig(" in by_template and "is a known one" in by_template
    assert "the tokenizer has no chat template; its name, 'Qwen/Qwen3-8B', is that of a known" in by_name
    assert "is not a known one; its name, 'Qwen/Qwen3-8B', is that of a known model" in by_name_only


def test_a_config_of_another_format_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    known = load("meta-llama/Llama-3.2-1B-Instruct")
    with caplog.at_level(logging.WARNING, "turnloom"):
        for tokenizer in (known, load("me/model", CHATML), load("me/model")):
            create_renderer(tokenizer, Llama3Config())
        create_renderer(known, turnloom.Llama32Config())
        create_renderer(load("me/model", CHATML), DefaultRendererConfig())
    by_name, by_template = caplog.messages
    assert by_name.startswith(
        "chat format 'llama-3', as the config says; found was 'llama-3.2': the tokenizer"
    )
    assert "found was 'chatml': its chat template (sha256 " in by_template


def test_fingerprint_is_of_what_jinja_reads() -> None:
    same = ["a\nb", "a\r\nb", "a\rb", "a\nb\n", "a\r\nb\r\n"]
    assert len({template_fingerprint(text) for text in same}) == 1
    other = ["a\nb\n\n", "a \nb", "a\nb ", " a\nb", "a\n\nb", "a\udc80b"]
    assert len({template_fingerprint(text) for text in [*same, *other]}) == 1 + len(other)


def test_shared_fields_of_auto_are_kept() -> None:
    tokenizer = load("Qwen/Qwen3-8B")
    config = create_renderer(tokenizer, AutoRendererConfig(marker_policy="reject", on_loss="template")).config
    assert config == Qwen3Config(marker_policy="reject", on_loss="template")


class TestChatTemplateKwargs:
    def test_are_fields_of_the_config(self) -> None:
        for tokenizer, config in ((load("Qwen/Qwen3-8B"), None), (load(), Qwen3Config(marker_policy="all"))):
            renderer = create_renderer(tokenizer, config, chat_template_kwargs={"enable_thinking": False})
            expected = Qwen3Config(
                enable_thinking=False, marker_policy=config.marker_policy if config else "trusted"
            )
            assert renderer.config == expected
            assert renderer.render_text(MESSAGES, add_generation_prompt=True).endswith("</think>\n\n")

    def test_overrule_the_config(self) -> None:
        config = Qwen3Config(enable_thinking=False)
        merged = turnloom.merge_chat_template_kwargs(config, {"enable_thinking": True})
        assert merged == Qwen3Config(enable_thinking=True)
        assert turnloom.merge_chat_template_kwargs(config, {}) == config
        assert turnloom.merge_chat_template_kwargs(config, None) is config

    def test_have_the_names_of_the_template(self) -> None:
        names = {family: turnloom.template_field_names(FAMILY[family]) for family in FAMILY}
        assert names == {
            "auto": set(),
            "chatml": set(),
            "llama-3": set(),
            "llama-3.1": {"builtin_tools", "date_string", "tools_in_user_message"},
            "llama-3.2": {"date_string", "tools_in_user_message"},
            "qwen2.5": set(),
            "qwen3": {"enable_thinking"},
        }
        for config in FAMILY.values():
            assert config.template_fields <= set(type(config).model_fields)

    @pytest.mark.parametrize(
        ("kwargs", "text"),
        [
            ({"thinking": True}, "qwen3 has no variable 'thinking', known: enable_thinking"),
            ({"revision": "first"}, "qwen3 has no variable 'revision', known: enable_thinking"),
            ({"name": "chatml"}, "qwen3 has no variable 'name', known: enable_thinking"),
            ({5: True}, "qwen3 has no variable 5, known: enable_thinking"),
        ],
    )
    def test_unknown_names(self, kwargs: Any, text: str) -> None:
        with pytest.raises(ValueError, match=f"^chat_template_kwargs: {text}$"):
            create_renderer(load("Qwen/Qwen3-8B"), chat_template_kwargs=kwargs)

    def test_wrong_values_and_types(self) -> None:
        tokenizer = load("Qwen/Qwen3-8B")
        with pytest.raises(pydantic.ValidationError, match="enable_thinking"):
            create_renderer(tokenizer, chat_template_kwargs={"enable_thinking": "perhaps"})
        with pytest.raises(TypeError, match="chat_template_kwargs: expected a mapping, got list"):
            create_renderer(tokenizer, chat_template_kwargs=["enable_thinking"])  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="chatml has no variable 'x', known: none"):
            create_renderer(tokenizer, ChatMLConfig(), chat_template_kwargs={"x": 1})


FAMILY = {"auto": AutoRendererConfig()} | {
    name: config_from_name(name)
    for name in ("chatml", "llama-3", "llama-3.1", "llama-3.2", "qwen2.5", "qwen3")
}


class Training(pydantic.BaseModel):
    """A user's own config."""

    renderer: RendererConfig = AutoRendererConfig()


@pytest.mark.parametrize("config", FAMILY.values(), ids=FAMILY)
def test_configs_are_fields_of_other_models(config: FamilyConfig) -> None:
    training = Training.model_validate_json(json.dumps({"renderer": config.model_dump(mode="json")}))
    assert training.renderer == config
    assert Training.model_validate(training.model_dump()) == training


def test_wrong_configs_in_other_models() -> None:
    for renderer in ({"name": "qwen33"}, {"name": "qwen3", "bos": "x"}, {}):
        with pytest.raises(pydantic.ValidationError):
            Training.model_validate({"renderer": renderer})
    with pytest.raises(pydantic.ValidationError):
        AutoRendererConfig(enable_thinking=False)  # type: ignore[call-arg]


def test_auto_by_name() -> None:
    assert config_from_name("auto") is None
    assert config_from_name("auto", on_loss="template") == AutoRendererConfig(on_loss="template")


def test_describe() -> None:
    first = describe(load("me/model", CHATML))
    assert (first.family, first.revision, first.found_by) == ("chatml", None, "template")
    assert first.abilities == ("render", "parse", "bridge", "sessions")
    renderer = create_renderer(load("me/model", CHATML))
    for method in ("render", "parse_response", "bridge_to_next_turn", "session"):
        assert hasattr(renderer, method)
    assert str(first).startswith("chatml (render, parse")
    instruct = describe(load("Qwen/Qwen3-4B-Instruct-2507"))
    assert (instruct.family, instruct.revision, instruct.found_by) == ("qwen3", "instruct-2507", "name")
    unknown = describe(load("me/model", "x"))
    assert (unknown.family, unknown.found_by, unknown.abilities) == (
        "default",
        "nothing",
        ("render", "parse"),
    )
    assert str(unknown).startswith("default (render, parse): its chat template (sha256 2d711642b726)")
    nothing = describe(load("me/model"))
    assert (nothing.family, nothing.revision, nothing.abilities) == (None, None, ())
    assert str(nothing).startswith("no known family (nothing): the tokenizer has no chat template; its name")
    with pytest.raises(TypeError, match="tokenizer: expected a tokenizer, got str"):
        describe("builtin")  # type: ignore[arg-type]


def test_every_model_is_listed_once() -> None:
    families = turnloom.known_families()
    assert sorted(model for known in families for model in known.models) == sorted(MODEL_RENDERER_MAP)
    assert {known.name for known in families} == set(FAMILY) - {"auto"}
    assert any(known.fields == {"revision": "first"} for known in families)
