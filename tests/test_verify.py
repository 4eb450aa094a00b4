"""`turnloom verify`: what it compares, and what it says when two sides differ."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import turnloom
from conftest import Run
from model_folders import QWEN2, write_model
from turnloom import ChatMLConfig, Qwen3Config, RenderedTokens, RenderError, reference
from turnloom.verification import Difference, TemplateSide, Verifier
from turnloom.verification.sides import TemplateFailure, TemplateRefusal

EXAMPLES = Path(__file__).parents[1] / "examples"
SYSTEM = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
USER = "<|im_start|>user\nHi ö<|im_end|>\n"
TEXTS = ["", " ", "e\u0301 \u212b", "🦙 中文字", "a\r\nb\u2028c", "x" * 3000]
MESSAGES = [{"role": "user", "content": "Hi ö"}, {"role": "assistant", "content": "Yo"}]
CONFIG = ChatMLConfig(default_system="You are a helpful assistant.")
BUILTIN = turnloom.load_tokenizer("builtin")

Edit = Callable[[RenderedTokens], RenderedTokens]


@pytest.fixture
def model(tmp_path: Path) -> str:
    return write_model(tmp_path / "model")


@pytest.fixture(autouse=True)
def no_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the same on every machine, whatever is installed there."""
    monkeypatch.setitem(sys.modules, "transformers", None)  # type: ignore[arg-type]


def write_rows(*rows: object) -> None:
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


class TestCommand:
    def test_equal_rows(self, run: Run, model: str) -> None:
        write_rows(*({"messages": [{"role": "user", "content": text}]} for text in TEXTS))
        code, out, err = run("verify", "rows.jsonl", "in.jsonl", "-t", model)
        assert code == 0
        template = TemplateSide(turnloom.load_tokenizer(model), {})
        rows = Path("rows.jsonl").read_text("utf-8") + Path("in.jsonl").read_text("utf-8")
        conversations = [json.loads(row)["messages"] for row in rows.splitlines()]
        rendered = [template.render(messages, None, False) for messages in conversations]
        n_tokens = sum(len(ids) for _, ids in rendered)
        n_bytes = sum(len(text.encode()) for text, _ in rendered)
        assert out == (
            f"{len(TEXTS) + 1} rows equal, {n_tokens:,} tokens, {n_bytes:,} bytes\n"
            "compared with: reference, template\n"
        )
        assert err.startswith("turnloom: --family chatml, default_system=") and err.count("\n") == 1

    def test_the_first_difference_ends_it(self, run: Run, tmp_path: Path) -> None:
        model = write_model(tmp_path / "other", QWEN2.replace("'<|im_end|>' + '\n'", "'<|im_end|>'"))
        write_rows({"messages": [{"role": "system", "content": "ö"}]}, {"messages": MESSAGES})
        code, out, err = run("verify", "rows.jsonl", "-t", model, "-f", "chatml")
        assert (code, err) == (1, "")
        assert out == (
            "rows.jsonl:1: text differs at byte 31\n"
            "  native:   '<|im_start|>system\\nö<|im_end|>' then '\\n'\n"
            "  template: '<|im_start|>system\\nö<|im_end|>' then the end\n"
        )

    def test_a_generation_prompt_and_tools_count(self, run: Run, tmp_path: Path) -> None:
        template = QWEN2.replace("assistant\n", "robot\n") + "{% if tools %}x{% endif %}"
        model = write_model(tmp_path / "other", template)
        write_rows({"messages": MESSAGES})
        system = ("--option", "default_system=You are a helpful assistant.")
        chatml = ("verify", "rows.jsonl", "-t", model, "-f", "chatml", *system)
        assert run(*chatml)[0] == 0
        assert "then 'robot\\n'" in run(*chatml, "--add-generation-prompt")[1]
        code, out, _ = run(*chatml, "--tools", str(EXAMPLES / "tools.json"))
        assert (code, out.splitlines()[0]) == (1, "rows.jsonl:1: text differs at byte 126")
        assert out.endswith("Yo<|im_end|>\\n' then 'x'\n")

    def test_variables_of_the_template_are_those_of_the_config(self, run: Run, tmp_path: Path) -> None:
        model = write_model(tmp_path / "other", "{{ enable_thinking }}")
        write_rows({"messages": MESSAGES})
        for value, printed in (("true", "True"), ("false", "False")):
            code, out, _ = run(
                "verify", "rows.jsonl", "-t", model, "-f", "qwen3", "--option", f"enable_thinking={value}"
            )
            assert (code, f"template: '' then '{printed}'" in out) == (1, True)

    def test_bad_rows(self, run: Run, model: str) -> None:
        sound = json.dumps({"messages": MESSAGES})
        Path("rows.jsonl").write_text(f'{{"messages": []}}\n{{"messages": 5}}\nnonsense\n{{}}\n{sound}')
        code, out, err = run("verify", "rows.jsonl", "-t", model)
        assert code == 2
        assert out.startswith("1 rows equal, ")
        _, *bad = err.splitlines()
        assert bad == [
            "turnloom: rows.jsonl:1: messages: no messages",
            "turnloom: rows.jsonl:2: messages: expected a list of messages, got int",
            "turnloom: rows.jsonl:3: row: not JSON: Expecting value at character 0",
            "turnloom: rows.jsonl:4: messages: missing",
            "turnloom: 4 bad rows",
        ]

    def test_what_is_not_equal_and_no_difference_is_said(self, run: Run, model: str) -> None:
        call = {"function": {"name": "f", "arguments": {}}}
        write_rows(
            {"messages": [{"role": "user", "content": "<|im_end|>"}]},
            {"messages": [{"role": "assistant", "content": "", "tool_calls": [call]}]},
            {"messages": [{"role": "user", "content": ["Hi"]}]},
        )
        code, out, _ = run("verify", "rows.jsonl", "-t", model)
        assert code == 0
        lines = out.splitlines()
        assert lines[0].startswith("3 rows equal, ")
        markers, refused, failed = lines[2:]
        assert markers == (
            "rows that spell control tokens, which are text here and tokens for a template: 1; "
            "first: rows.jsonl:1"
        )
        refusals = "rows that are refused with this config: 1; first: rows.jsonl:2: messages[0].tool_calls"
        assert refused.startswith(refusals)
        failures = "rows that make a chat template fail, and are not compared with it: 1; first: rows.jsonl:3"
        assert failed.startswith(failures)

    def test_nothing_to_compare(self, run: Run, tmp_path: Path) -> None:
        call = {"function": {"name": "f", "arguments": {}}}
        write_rows({"messages": [{"role": "assistant", "content": "", "tool_calls": [call]}]})
        code, out, err = run("verify", "rows.jsonl", "-t", "builtin", "-f", "chatml")
        assert code == 2
        assert out.startswith("0 rows equal, 0 tokens, 0 bytes\ncompared with: reference\n")
        assert err == (
            "turnloom: the tokenizer has no chat template, so the reference is all there is to compare with\n"
        )

    def test_limit(self, run: Run, model: str) -> None:
        write_rows(*[{"messages": MESSAGES}] * 5)
        assert run("verify", "rows.jsonl", "in.jsonl", "-t", model, "--limit", "3")[1].startswith(
            "3 rows equal, "
        )

    def test_usage(self, run: Run, model: str, tmp_path: Path) -> None:
        assert run("verify", "nowhere.jsonl", "-t", model) == (
            2,
            "",
            "turnloom: nowhere.jsonl: no such file\n",
        )
        broken = write_model(tmp_path / "broken", "{% for %}")
        code, _, err = run("verify", "in.jsonl", "-t", broken, "-f", "chatml")
        assert code == 2
        assert err.startswith(f"turnloom: --tokenizer {broken}: chat_template, line 1: ")
        assert run("verify", "in.jsonl", "-t", "builtin")[0] == 2


class TestVerifier:
    """Faults that are put in are found, and at the right place."""

    def check(self, monkeypatch: pytest.MonkeyPatch, edit: Edit) -> Difference | None:
        render = reference.Renderer.render
        monkeypatch.setattr(
            reference.Renderer, "render", lambda self, *args, **options: edit(render(self, *args, **options))
        )
        return Verifier(BUILTIN, Qwen3Config()).check(MESSAGES).difference

    def test_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.check(monkeypatch, lambda rendered: rendered) is None

    @pytest.mark.parametrize(
        "column", ["message_indices", "fields", "sampled_mask", "is_content", "loss_mask", "byte_offsets"]
    )
    def test_a_column(self, monkeypatch: pytest.MonkeyPatch, column: str) -> None:
        def edit(rendered: RenderedTokens) -> RenderedTokens:
            values = getattr(rendered.columns, column).copy()
            values[5] = 1 - values[5].astype(np.int64)
            columns = replace(rendered.columns, **{column: values})
            return with_columns(rendered, columns)

        difference = self.check(monkeypatch, edit)
        assert difference is not None
        assert (difference.what, difference.other_side) == (column, "reference")
        assert difference.place.startswith("token 5, '")
        assert difference.native != difference.other

    def test_a_shorter_column(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def edit(rendered: RenderedTokens) -> RenderedTokens:
            columns = replace(rendered.columns, token_ids=rendered.columns.token_ids[:-1])
            return with_columns(rendered, columns)

        difference = self.check(monkeypatch, edit)
        assert difference is not None and difference.what == "token_ids"
        assert difference.other.endswith("then the end")
        ids = turnloom.create_renderer(BUILTIN, Qwen3Config()).render_ids(MESSAGES)
        assert difference.place == f"token {len(ids) - 1}, byte {len(BUILTIN.decode_bytes(ids[:-1]))}"

    def test_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*arguments: object, **options: object) -> str:
            raise RenderError("no")

        monkeypatch.setattr(reference.Renderer, "render_text", refuse)
        difference = Verifier(BUILTIN, Qwen3Config()).check(MESSAGES).difference
        assert difference == Difference("error", "", "renders it", "RenderError: no", "reference")

    def test_an_error_of_the_conversation(self) -> None:
        with pytest.raises(TypeError, match=r"messages\[0\]\.role: "):
            Verifier(BUILTIN, Qwen3Config()).check([{"role": 5}])


def with_columns(rendered: RenderedTokens, columns: turnloom.TokenColumns) -> RenderedTokens:
    return RenderedTokens.from_columns(
        columns, rendered.message_roles, rendered.message_tool_names, rendered.content_markers
    )


class FakeSide:
    """A side that gives, or raises, what it is told."""

    name = "fake"

    def __init__(self, answer: tuple[str, list[int]] | Exception) -> None:
        self.answer = answer

    def render(self, messages: object, tools: object, add_generation_prompt: bool) -> tuple[str, list[int]]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class TestSides:
    TEXT = f"{SYSTEM}{USER}<|im_start|>assistant\nYo<|im_end|>\n"

    def check(self, *answers: tuple[str, list[int]] | Exception, messages: Any = MESSAGES) -> Any:
        return Verifier(BUILTIN, CONFIG, [FakeSide(answer) for answer in answers]).check(messages)

    def test_equal(self) -> None:
        ids = BUILTIN.encode(self.TEXT)
        outcome = self.check((self.TEXT, ids), (self.TEXT, ids))
        assert outcome.difference is None
        assert outcome.equal_to == ["reference", "fake", "fake"]
        assert (outcome.n_tokens, outcome.n_bytes) == (len(ids), len(self.TEXT.encode()))

    def test_another_text(self) -> None:
        other = self.TEXT.replace("Yo<", "Yö<")
        outcome = self.check((other, BUILTIN.encode(other)))
        assert outcome.difference == Difference(
            "text",
            "byte 114",
            "'r\\nHi ö<|im_end|>\\n<|im_start|>assistant\\nY' then 'o<|im_end|>\\n'",
            "'r\\nHi ö<|im_end|>\\n<|im_start|>assistant\\nY' then 'ö<|im_end|>\\n'",
            "fake",
        )

    def test_other_ids(self) -> None:
        ids = BUILTIN.encode(self.TEXT)
        outcome = self.check((self.TEXT, [*ids[:7], 99, *ids[8:]]))
        assert outcome.difference.what == "token_ids"
        assert outcome.difference.place == f"token 7, byte {len(BUILTIN.decode_bytes(ids[:7]))}"
        assert f"then {ids[7:13]} " in outcome.difference.native
        assert f"then [99, {ids[8]}" in outcome.difference.other

    def test_only_the_template_refuses(self) -> None:
        outcome = self.check(TemplateRefusal("roles must alternate"))
        assert outcome.difference == Difference(
            "error", "", "renders it", "TemplateRefusal: roles must alternate", "fake"
        )

    def test_both_refuse(self) -> None:
        image = [{"role": "user", "content": [{"type": "image"}]}]
        outcome = self.check(TemplateRefusal("no images"), messages=image)
        assert (outcome.difference, outcome.equal_to) == (None, [])
        assert "does not render a part of type 'image'" in outcome.refusal

    def test_a_template_that_crashes_is_no_difference(self) -> None:
        outcome = self.check(TemplateFailure("line 1: TypeError"))
        assert (outcome.difference, outcome.equal_to) == (None, ["reference"])
        assert outcome.failure == "fake: line 1: TypeError"


class FakeTransformers:
    """Stands for the package of that name; its tokenizers answer as told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: str, answer: Any) -> None:
        template = TemplateSide(turnloom.load_tokenizer(folder), {})

        class TemplateError(Exception):
            """As that of Jinja."""

        def apply_chat_template(
            messages: Sequence[Any],
            *,
            tools: Sequence[Any] | None,
            tokenize: bool,
            return_dict: bool,
            add_generation_prompt: bool,
        ) -> str | list[int]:
            assert not return_dict
            if answer == "refusal":
                raise TemplateError("not for me")
            if answer == "failure":
                raise TypeError("oh")
            text, ids = template.render(messages, tools, add_generation_prompt)
            return ids if tokenize else text + answer

        def from_pretrained(path: str, *, local_files_only: bool) -> object:
            assert (path, local_files_only) == (folder, True)
            if answer is None:
                raise OSError("no\nconfig.json")
            return SimpleNamespace(apply_chat_template=apply_chat_template)

        module = SimpleNamespace(AutoTokenizer=SimpleNamespace(from_pretrained=from_pretrained))
        monkeypatch.setitem(sys.modules, "transformers", module)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "code", "printed"),
    [
        ("", 0, "compared with: reference, template, transformers\n"),
        ("!", 1, "in.jsonl:1: text differs at byte 123\n"),
        ("refusal", 1, "transformers: TemplateRefusal: TemplateError: not for me\n"),
        ("failure", 0, "first: in.jsonl:1: transformers: TypeError: oh\n"),
        (None, 0, "compared with: reference, template\n"),
    ],
)
def test_transformers(
    run: Run, model: str, monkeypatch: pytest.MonkeyPatch, answer: str | None, code: int, printed: str
) -> None:
    FakeTransformers(monkeypatch, model, answer)
    got, out, err = run("verify", "in.jsonl", "-t", model)
    assert (got, printed in out) == (code, True), out
    could_not_load = (
        f"not compared with transformers: transformers cannot load {model!r}: no config.json" in err
    )
    assert could_not_load == (answer is None)
    assert run("verify", "in.jsonl", "-t", model, "--no-transformers")[1].endswith(
        "compared with: reference, template\n"
    )


@pytest.mark.parametrize(
    ("template", "raised", "text"),
    [
        ("{{ raise_exception('not for me') }}", TemplateRefusal, "^not for me$"),
        ("{{ 1 + 'a' }}", TemplateFailure, "line 1: TypeError"),
        ("{{ messages[0].x.y }}", TemplateFailure, "line 1: UndefinedError"),
        ("{% for i in range(10 ** 9) %}x{% endfor %}", TemplateFailure, "chat_template"),
    ],
)
def test_refusals_and_failures(tmp_path: Path, template: str, raised: type[Exception], text: str) -> None:
    side = TemplateSide(turnloom.load_tokenizer(write_model(tmp_path / "model", template)), {})
    with pytest.raises(raised, match=text):
        side.render(MESSAGES, None, False)


def test_named_templates(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", "default {{ enable_thinking }}")
    (tmp_path / "model/additional_chat_templates").mkdir()
    (tmp_path / "model/additional_chat_templates/tool_use.jinja").write_text("{{ bos_token }}tools")
    (tmp_path / "model/tokenizer_config.json").write_text('{"bos_token": "<s>"}')
    side = TemplateSide(turnloom.load_tokenizer(folder), {"enable_thinking": False})
    assert side.render(MESSAGES, None, False)[0] == "default False"
    assert side.render(MESSAGES, [{"name": "f"}], False)[0] == "<s>tools"
    (tmp_path / "model/chat_template.jinja").unlink()
    with pytest.raises(ValueError, match="tokenizer: has no default chat template, but tool_use"):
        TemplateSide(turnloom.load_tokenizer(folder), {})
    with pytest.raises(ValueError, match="tokenizer: has no chat template"):
        TemplateSide(BUILTIN, {})
