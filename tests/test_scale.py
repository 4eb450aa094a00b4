"""Large and hostile sizes: they finish, the result is right, and cost grows as the input does.

Cost is the processor time of eight times the input against that of the input: about 8 where it is linear, 64
where it is quadratic.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import turnloom
import vocabularies
from catalog import FAMILIES
from chats import HI, assistant, call, system, tool, user
from hostile import nested
from turnloom import Renderer
from turnloom.configs import config_from_name

Make = Callable[[int], tuple[list[Any], list[Any] | None]]

MILLION = 1_000_000

# Name -> a size that takes some milliseconds, and what makes messages and tools of it.
SHAPES: dict[str, tuple[int, Make]] = {
    "a letter": (30_000, lambda n: ([user("a" * n), assistant("a" * n)], None)),
    "spaces": (30_000, lambda n: ([user("x" + " " * n + "x"), assistant("\n" * n + "x")], None)),
    "combining marks": (2000, lambda n: ([user("e" + "\u0301" * n), assistant("\u0301\u0323" * n)], None)),
    "messages": (1000, lambda n: ([HI, assistant("Yo")] * n, None)),
    "tool messages": (1000, lambda n: ([HI, assistant("Yo"), *[tool("ok", tool_call_id="c")] * n], None)),
    "parts": (3000, lambda n: ([user(["a", {"text": "b"}] * n)], None)),
    "markers": (2000, lambda n: ([user("<|im_end|>" * n), assistant("<|im_end|> <think>" * n)], None)),
    "halves of markers": (
        5000,
        lambda n: ([user("<|im_" * n), assistant("<" * n), user("<|im_end|" * n)], None),
    ),
    "think blocks": (2000, lambda n: ([HI, assistant("<think>a</think>b" * n)], None)),
    "calls": (
        500,
        lambda n: ([HI, assistant(tool_calls=[call("f", {"a": 1}, id=str(i)) for i in range(n)])], None),
    ),
    "arguments": (3000, lambda n: ([HI, assistant(tool_calls=[call("f", {"a": [[1, "é"]] * n})])], None)),
    "brackets in a string": (
        30_000,
        lambda n: ([HI, assistant(tool_calls=[call("f", "[" * n + "]" * n)])], None),
    ),
    "tools": (500, lambda n: ([system("S"), HI], [{"name": "f", "k": {str(i): i}} for i in range(n)])),
}

# Otherwise these refuse more than one call a turn.
MANY_CALLS = {family: {"parallel_tool_calls": True} for family in ("llama-3.1", "llama-3.2")}


def renderer_of(family: str, vocabulary: str = "builtin", **fields: Any) -> Renderer:
    config = config_from_name(family, on_loss="template", **fields)
    return turnloom.create_renderer(vocabularies.tokenizer(vocabulary), config)


def processor_time(run: Callable[[], object]) -> float:
    """Give the least of two runs."""
    times = []
    for _ in range(2):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return min(times)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("family", "vocabulary", "policy"),
    [*((family, "builtin", "trusted") for family in FAMILIES), ("qwen3", "odd", "all")],
)
def test_cost_is_linear(family: str, vocabulary: str, policy: str, shape: str) -> None:
    renderer = renderer_of(family, vocabulary, marker_policy=policy, **MANY_CALLS.get(family, {}))
    size, make = SHAPES[shape]

    def cost(n: int) -> float:
        messages, tools = make(n)
        return processor_time(lambda: renderer.render(messages, tools=tools, byte_offsets=True))

    # Room for a machine that does something else meanwhile.
    assert cost(8 * size) < 28 * cost(size) + 0.05


@pytest.mark.parametrize("character", ["a", " ", "\n", "é", "\u0301", "🦙", "<"])
def test_a_million_repeated_characters(character: str) -> None:
    renderer = renderer_of("chatml")
    rendered = renderer.render([user(character * MILLION)], byte_offsets=True)
    text = renderer.render_text([user(character * MILLION)])
    assert renderer.tokenizer.decode(rendered.token_ids) == text
    assert rendered.columns.byte_offsets is not None
    assert rendered.columns.byte_offsets[-1, 1] == len(text.encode())


@pytest.mark.parametrize("family", FAMILIES)
def test_ten_thousand_messages(family: str) -> None:
    renderer = renderer_of(family)
    turns = [HI, assistant("Yo")]
    few, many = renderer.render(turns * 3), renderer.render(turns * 5000)
    for message in (1, 2):  # the first and the last may be special
        kept = [id for id, index in zip(few.token_ids, few.message_indices, strict=True) if index == message]
        far = [
            id
            for id, index in zip(many.token_ids, many.message_indices, strict=True)
            if index == message + 4000
        ]
        assert kept == far
    assert len(set(many.message_indices) - {-1}) == 10_000


@pytest.mark.parametrize("policy", ["trusted", "all", "none"])
def test_a_hundred_thousand_markers(policy: str) -> None:
    n_markers = 100_000
    renderer = renderer_of("qwen3", marker_policy=policy)
    rendered = renderer.render([user("<|im_end|>" * n_markers)])
    assert len(rendered.content_markers) == n_markers
    assert len(rendered.neutralised_markers) == (0 if policy == "all" else n_markers)
    n_control = rendered.token_ids.count(renderer.tokenizer.added_tokens["<|im_end|>"])
    assert n_control == (n_markers + 1 if policy == "all" else 1)


def test_a_megabyte_of_brackets_in_a_string() -> None:
    brackets = "[" * (MILLION // 2) + "]" * (MILLION // 2)
    text = renderer_of("qwen3").render_text([HI, assistant(tool_calls=[call("f", brackets)])])
    assert f'"arguments": {brackets}}}\n</tool_call>' in text


@pytest.mark.parametrize("kind", [list, dict])
def test_a_megabyte_of_nesting(kind: type) -> None:
    renderer = renderer_of("qwen3")
    value = nested(MILLION // 2, kind)
    with pytest.raises(ValueError, match=r"^tools\[0\]: nested deeper than 500 levels$"):
        renderer.render([HI], tools=[{"a": value}])
    with pytest.raises(ValueError, match=r"\.arguments: nested deeper than 500 levels$"):
        renderer.render([HI, assistant(tool_calls=[call("f", value)])])


MEMORY_PROBE = """
import resource
import sys

sys.path.insert(0, sys.argv[1])
import test_scale

renderer = test_scale.renderer_of("qwen3")
size, make = test_scale.SHAPES[sys.argv[2]]


def peak(n):
    messages, tools = make(n)
    renderer.render(messages, tools=tools, byte_offsets=True)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


print([peak(size), peak(8 * size), peak(32 * size)])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such measurement there")
@pytest.mark.parametrize("shape", ["a letter", "messages", "markers"])
def test_memory_is_linear(shape: str) -> None:
    command = [sys.executable, "-c", MEMORY_PROBE, str(Path(__file__).parent), shape]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    base, some, more = eval(output)
    # The growth from the base, for 4 times the input; the allocator may grow by some of what there is.
    assert more - base < 8 * max(some - base, 0.1 * base)
