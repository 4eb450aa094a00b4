"""What completions mean: reasoning, content, calls and their statuses."""

from typing import Any

import pytest

from completions import TOOLS, good_calls, parsers, statuses

OPEN, CLOSE = "<tool_call>\n", "\n</tool_call>"
F, G = '{"name": "f", "arguments": {"a": 1}}', '{"name": "g", "arguments": {}}'
PF, PG = '{"name": "f", "parameters": {"a": 1}}', '{"name": "g", "parameters": {}}'


@pytest.mark.parametrize(
    ("completion", "content", "reasoning", "complete"),
    [
        ("", "", None, True),
        (" \n", "", None, True),
        (" Hi\n", "Hi", None, True),
        ("<think>\nr", "", "\nr", False),
        ("<think>", "", "", False),
        ("<think>\nr \n", "", "\nr \n", False),
        ("<think>\nr\n</think>\n\nhi", "hi", "r", True),
        (" \n<think>r</think>hi", "hi", "r", True),
        ("<think>\n\n</think>\n\nhi", "hi", None, True),
        ("<think>a<think>b</think>c", "c", "ab", True),
        ("<think>a</think>b<think>c</think>d", "b<think>c</think>d", "a", True),
        ("r\n</think>\n\nhi", "r\n</think>\n\nhi", None, True),
        ("</think>hi", "</think>hi", None, True),
        ("pre <think>x</think> post", "pre <think>x</think> post", None, True),
        ("<|im_start|>assistant\nhi", "hi", None, True),
        ("<|im_start|>assistant\n\n<think>r</think>hi", "hi", "r", True),
        ("<|im_start|>user\nhi", "<|im_start|>user\nhi", None, True),
        ("<|im_start|>assi", "<|im_start|>assi", None, True),
        ("hi<|im_start|>assistant\n", "hi<|im_start|>assistant", None, True),
        ("a<|endoftext|>b", "a", None, True),
        ("a<|im_end|>\n", "a", None, True),
        ("a</tool_call>b", "a</tool_call>b", None, True),
    ],
)
def test_reasoning_and_content(completion: str, content: str, reasoning: str | None, complete: bool) -> None:
    response = parsers("qwen3").parse(completion)
    assert response.content == content
    assert response.reasoning_content == reasoning
    assert response.reasoning_complete is complete
    assert response.tool_calls == []


@pytest.mark.parametrize(
    ("prompt", "is_open"),
    [
        ("<think>\n", True),
        ("<|im_start|>assistant\n<think>\n", True),
        ("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\nso", True),
        ("<|im_start|>assistant\n<think>\n<tool_call>", True),
        ("<|im_start|>assistant\n<think>\n\n</think>\n\n", False),
        ("<|im_start|>assistant\nSo <think>", False),
        ("<|im_start|>assistant\n<think>\n<|im_end|>\n<|im_start|>assistant\n", False),
        ("<|im_start|>user\n<think>", False),
        ("", False),
    ],
)
def test_reasoning_that_the_prompt_opened(prompt: str, is_open: bool) -> None:
    both = parsers("qwen3")
    response = both.parse("r</think>c", prompt_ids=both.ids(prompt))
    assert response.content == ("c" if is_open else "r</think>c")
    assert response.reasoning_content == ("r" if is_open else None)
    assert both.parse("<think>r</think>c", prompt_ids=both.ids(prompt)).content == "c"
    assert both.parse("", prompt_ids=both.ids(prompt)).reasoning_complete is not is_open
    assert parsers("chatml").parse("r</think>c", prompt_ids=both.ids(prompt)).content == "r</think>c"


def test_text_around_calls_is_content() -> None:
    response = parsers("qwen3").parse(f"C\n{OPEN}{F}{CLOSE} tail\n{OPEN}{G}{CLOSE}\n")
    assert response.content == "C\n tail"
    assert good_calls(response) == [("f", {"a": 1}), ("g", {})]


def test_a_call_without_a_close_ends_reasoning() -> None:
    both = parsers("qwen3")
    response = both.parse(f"<think>\nr {OPEN}{F}{CLOSE} more")
    assert (response.reasoning_content, response.content) == ("r", "more")
    assert good_calls(response) == [("f", {"a": 1})]
    draft = both.parse(f"<think>\nr {OPEN}{F}{CLOSE} </think> hi")
    assert (draft.reasoning_content, draft.content) == (f"r {OPEN}{F}{CLOSE}", "hi")
    assert draft.tool_calls == []


def block(inner: str) -> str:
    return OPEN + inner + CLOSE


@pytest.mark.parametrize(
    ("inner", "status", "name", "arguments"),
    [
        ('{"name": "f"}', "ok", "f", {}),
        ('{"arguments": [1], "name": "f"}', "ok", "f", [1]),
        ('{"name": "f", "arguments": "str"}', "ok", "f", "str"),
        ('{"name": "f", "arguments": null, "x": 1}', "ok", "f", None),
        ('{"n\\u0061me": "\\u0066", "arguments": {}}', "ok", "f", {}),
        ('\u00a0{"name": "f"}\u2028', "ok", "f", {}),
        ('{"arguments": {}}', "missing_name", None, {}),
        ('{"name": "", "arguments": {"a": 1}}', "missing_name", None, {"a": 1}),
        ("[1]", "missing_name", None, {}),
        ("5", "missing_name", None, {}),
        ('"f"', "missing_name", None, {}),
        ('{"name": 5, "arguments": "str"}', "malformed_structure", None, "str"),
        ('{"name": null}', "malformed_structure", None, {}),
        ('{"name": "f", "name": "g"}', "malformed_structure", "f", {}),
        ('{"name": "f", "arguments": 1, "arguments": 2}', "malformed_structure", "f", 1),
        ("", "invalid_json", None, None),
        ("f(1)", "invalid_json", None, None),
        ('{"name": "f", "arguments": {}', "invalid_json", "f", None),
        ('{"name": "f", "arguments": {}} x', "invalid_json", "f", None),
        ('{"name": "f", "arguments": {"a": NaN}}', "invalid_json", "f", None),
        ('{"name": "f", "arguments": {"a": 01}}', "invalid_json", "f", None),
        ('{"name": "f", "arguments": {"a": "\n"}}', "invalid_json", "f", None),
        ('{"name": "f", "arguments": {"a": "\\x"}}', "invalid_json", "f", None),
        ('{"name": "f",}', "invalid_json", "f", None),
        ("<tool_call>\n" + F, "invalid_json", None, None),
    ],
)
def test_statuses(inner: str, status: str, name: str | None, arguments: Any) -> None:
    for family in ("qwen3", "qwen2.5"):
        response = parsers(family).parse(block(inner) + block(G))
        assert response.content == ""
        call, good = response.tool_calls
        assert (call.status, call.name, call.arguments, call.raw) == (status, name, arguments, inner.strip())
        assert (good.status, good.name) == ("ok", "g")


@pytest.mark.parametrize(
    ("completion", "name", "arguments"),
    [
        (OPEN, None, None),
        (OPEN + '{"name": "f', None, None),
        (OPEN + '{"name": "f", "arguments": {"a": "x', "f", None),
        (OPEN + F, "f", {"a": 1}),
        (OPEN + F + "<|im_end|>", "f", {"a": 1}),
        (OPEN + '{"name": "f", "arguments": {"a": True', "f", None),
    ],
)
def test_unclosed(completion: str, name: str | None, arguments: Any) -> None:
    (call,) = parsers("qwen3").parse(completion).tool_calls
    assert (call.status, call.name, call.arguments) == ("unclosed_block", name, arguments)


def test_spans_and_raw() -> None:
    both = parsers("qwen3")
    before, first, between, second = "Hi\n", block(F), "\n", OPEN + "{"
    response = both.parse(before + first + between + second)
    ends = [len(both.ids(text)) for text in (before, before + first, before + first + between)]
    spans = [call.token_span for call in response.tool_calls]
    assert spans == [(ends[0], ends[1]), (ends[2], len(both.ids(before + first + between + second)))]
    assert [call.raw for call in response.tool_calls] == [F, "{"]


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("a</tool_call>b", ["ok"]),
        ("a<tool_call>b", ["ok"]),
        ("<tool_call></tool_call>", ["ok"]),
        ("a</tool_call>b<tool_call>c", ["invalid_json", "invalid_json"]),
    ],
)
def test_markers_in_strings(inside: str, expected: list[str]) -> None:
    both = parsers("qwen3")
    text = f'{{"name": "f", "arguments": {{"t": "{inside}"}}}}'
    response = both.parse(block(text))
    assert statuses(response)[: len(expected)] == expected
    if expected == ["ok"]:
        assert good_calls(response) == [("f", {"t": inside})]
    # Spelled in ordinary ids, they are always text.
    ids = [*both.ids(OPEN), *both.tokenizer.encode(text, special="none"), *both.ids(CLOSE)]
    assert good_calls(both.parse(ids)) == [("f", {"t": inside})]


@pytest.mark.parametrize(
    ("broken", "status"),
    [
        (f'{OPEN}{{"name": "f", "arguments": {{"a": "x}}}}{CLOSE}\n', "invalid_json"),
        (f'{OPEN}{{"name": "f", "arguments": {{"a": "x</tool_call>', "invalid_json"),
        (f'{OPEN}{{"name": "f", "arguments": {{"a": "x\n', "unclosed_block"),
        (f'{OPEN}{{"name": "f", "arguments": {{"a": "x', "unclosed_block"),
        (f'{OPEN}{{"name": "f", "arguments": {{', "unclosed_block"),
        (f"{OPEN}{F}", "unclosed_block"),
    ],
)
def test_a_bad_call_does_not_hide_the_next(broken: str, status: str) -> None:
    response = parsers("qwen3").parse(broken + block(G) + " end")
    assert statuses(response) == [status, "ok"]
    assert response.content == "end"


@pytest.mark.parametrize(
    ("completion", "expected", "content"),
    [
        (PF, ["ok"], ""),
        (f" {PF}\n", ["ok"], ""),
        (f"{PF}; {PG}", ["ok", "ok"], ""),
        (f"{PF};", ["ok"], ""),
        (f"[{PF}]", ["ok"], ""),
        (f"[{PF}, {PG}]", ["ok", "ok"], ""),
        (f"<|python_tag|>{PF}", ["ok"], ""),
        (f"<|python_tag|>[{PF}, {PG}]", ["ok", "ok"], ""),
        (f"Look: <|python_tag|>{PF};{PG} so", ["ok", "ok"], "Look:  so"),
        (f"<|python_tag|>{PF}<|python_tag|>{PG}", ["ok", "ok"], ""),
        ('{"name": "f", "arguments": {}}', ["ok"], ""),
        ('{"name": "f"}', ["ok"], ""),
        ('{"name": "unknown"}', [], '{"name": "unknown"}'),
        ('{"name": "f", "parameters": "x"}', [], '{"name": "f", "parameters": "x"}'),
        ('{"name": 5, "parameters": {}}', ["malformed_structure"], ""),
        ('{"name": 5, "age": {}}', [], '{"name": 5, "age": {}}'),
        ('{"name": "f"', [], '{"name": "f"'),
        ('{"parameters":{}}', [], '{"parameters":{}}'),
        ('{"name": "f"} x', [], '{"name": "f"} x'),
        (f"x {PF}", [], f"x {PF}"),
        (f"[{PF}", [], f"[{PF}"),
        ("[]", [], "[]"),
        (f"{PF}\n{PG}", [], f"{PF}\n{PG}"),
        (f'{PF}; {{"name": "g", "parameters": {{"a": True}}}}', ["ok", "invalid_json"], ""),
        (f'{PF}; {{"name": "g", "para', ["ok", "unclosed_block"], ""),
        (f"{PF}; {PG} so", ["ok", "ok"], "so"),
        ('<|python_tag|>{"name": "unknown"}', ["malformed_structure"], ""),
        ('<|python_tag|>{"parameters": {}}', ["missing_name"], ""),
        ('<|python_tag|>{"name": "f", "parameters": {}', ["unclosed_block"], ""),
        ("<|python_tag|>print(1)", [], "<|python_tag|>print(1)"),
        ("<|python_tag|>", [], "<|python_tag|>"),
        ('{"name": "f", "parameters": {"a": "<|python_tag|>"}}', ["ok"], ""),
        (f'{{"a": "<|python_tag|>{PG}', ["ok"], '{"a": "'),
        (f"<|start_header_id|>assistant<|end_header_id|>\n\n{PF}", ["ok"], ""),
        (f"{PF}<|eot_id|>x", ["ok"], ""),
        (f"{PF}<|eom_id|>", ["ok"], ""),
    ],
)
def test_llama(completion: str, expected: list[str], content: str) -> None:
    response = parsers("llama-3.1").parse(completion, tools=TOOLS)
    assert statuses(response) == expected
    assert response.content == content
    assert response.reasoning_content is None


@pytest.mark.parametrize("family", ["chatml", "llama-3"])
def test_formats_without_calls(family: str) -> None:
    completion = f" <think>r</think>{block(F)}<|python_tag|>{PF} "
    response = parsers(family).parse(completion)
    assert response.content == completion.strip()
    assert response.tool_calls == []


def test_arguments() -> None:
    text = (
        '{"b": {"z": 1, "a": 2, "z": 3}, "n": -123456789012345678901234567890, "b": 1.50, '
        '"e": "\\ud83c\\udf78\\ud83c"}'
    )
    (call,) = parsers("qwen3").parse(block(f'{{"name": "f", "arguments": {text}}}')).tool_calls
    assert call.arguments == {
        "b": 1.5,
        "n": -(10**29 + 23456789012345678901234567890),
        "e": "\U0001f378\ufffd",
    }
    assert list(call.arguments) == ["b", "n", "e"]
    assert call.duplicate_keys == ("z", "b")
    assert call.arguments_text == text


@pytest.mark.parametrize(("n_digits", "status"), [(700, "ok"), (4300, "ok"), (4301, "invalid_json")])
def test_long_integers(n_digits: int, status: str) -> None:
    digits = "7" * n_digits
    (call,) = parsers("qwen3").parse(block(f'{{"name": "f", "arguments": [-{digits}]}}')).tool_calls
    assert call.status == status
    if status == "ok":
        assert call.arguments == [-7 * (10**n_digits - 1) // 9]


@pytest.mark.parametrize(("n_levels", "status"), [(500, "ok"), (501, "invalid_json")])
def test_levels(n_levels: int, status: str) -> None:
    nested = "[" * n_levels + "]" * n_levels
    (call,) = parsers("qwen3").parse(block(f'{{"name": "f", "arguments": {nested}}}')).tool_calls
    assert call.status == status


def test_message() -> None:
    response = parsers("qwen3").parse("<think>r</think>C" + block(F) + block("{") + block(G))
    calls = [
        {"type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
        {"type": "function", "function": {"name": "g", "arguments": "{}"}},
    ]
    assert response.to_message() == {
        "role": "assistant",
        "content": "C",
        "reasoning_content": "r",
        "tool_calls": calls,
    }
    assert parsers("qwen3").parse("C").to_message() == {"role": "assistant", "content": "C"}
