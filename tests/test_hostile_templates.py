"""Hostile templates end with a clear error, in bounded time and memory, while other threads go on."""

import sys
import threading
import time
import tracemalloc

import pytest

from hostile_templates import CREDITS, INTEGERS, LOOPS, SHARED_VALUES, SIZES, SOURCES, WIDE_INTEGERS
from turnloom import ChatTemplate, RenderError, TemplateLimitError, TemplateLimits

SMALL = TemplateLimits(steps=200_000, made_bytes=20_000_000, output_chars=1_000_000)
HI = {"role": "user", "content": "Hi"}


def end_of(source: str, limits: TemplateLimits = SMALL) -> str:
    """Give the words of the limit that ends a template, and check that it took little time."""
    start = time.thread_time()
    with pytest.raises(TemplateLimitError) as raised:
        ChatTemplate(source, limits=limits).render([HI])
    assert time.thread_time() - start < 5
    return str(raised.value)


@pytest.mark.parametrize("name", LOOPS)
def test_loops_calls_and_slow_work(name: str) -> None:
    assert end_of(LOOPS[name]).startswith("chat_template")


@pytest.mark.parametrize("name", SIZES)
def test_large_values(name: str) -> None:
    tracemalloc.start()
    try:
        assert "more than" in end_of(SIZES[name])
        assert tracemalloc.get_traced_memory()[1] < 5 * SMALL.made_bytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", SHARED_VALUES)
def test_values_that_share_parts(name: str) -> None:
    assert "steps (limits.steps)" in end_of(SHARED_VALUES[name])


@pytest.mark.parametrize("name", CREDITS)
def test_sizes_below_zero_pay_for_nothing(name: str) -> None:
    assert "steps (limits.steps)" in end_of(CREDITS[name] + LOOPS["nested"])
    assert "(limits.made_bytes)" in end_of(CREDITS[name] + "{% set x = 'x' * 1000 * 60000 %}")


@pytest.mark.parametrize("name", WIDE_INTEGERS)
def test_integers_that_are_too_wide(name: str) -> None:
    assert "more than 100,000 bits in an integer" in end_of(WIDE_INTEGERS[name])


@pytest.mark.parametrize("name", INTEGERS)
def test_calculating_without_end(name: str) -> None:
    assert "more than" in end_of(INTEGERS[name])


@pytest.mark.parametrize("name", SOURCES)
def test_sources(name: str) -> None:
    assert end_of(SOURCES[name], TemplateLimits()).startswith("chat_template")


@pytest.mark.parametrize(
    "source",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% set s = 'a' * 10**10 %}",
        SHARED_VALUES["output"],
    ],
)
def test_the_default_limits(source: str) -> None:
    start = time.thread_time()
    with pytest.raises(TemplateLimitError):
        ChatTemplate(source).render([HI])
    assert time.thread_time() - start < 20


def test_a_message_that_contains_itself() -> None:
    message: dict[str, object] = {"role": "user"}
    message["content"] = [message]
    for use in ("{{ messages }}", "{{ messages|tojson }}", "{{ messages == [1] }}"):
        with pytest.raises(RenderError):
            ChatTemplate(use, limits=SMALL).render([message])


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{{ 1.5|round(10**8, 'ceil') }}", "round: expected at most 400 digits, got 100000000"),
        ("{{ ('é' * 99999).encode('punycode') }}", "encode: expected one of ascii, .*, got 'punycode'"),
        ("{{ 'é'.encode(errors='strict', encoding='idna') }}", "encode: expected one of .*, got 'idna'"),
    ],
)
def test_values_that_are_too_slow(source: str, reason: str) -> None:
    with pytest.raises(RenderError, match=reason):
        ChatTemplate(source).render([HI])


NO_TEXT = {
    "a\n{% call(x) dict() %}{% endcall %}": "expected text to write, got dict",
    "a\n{% filter length %}b{% endfilter %}": "expected text to write, got int",
    "a\n{% macro f() %}{% call dict() %}{% endcall %}{% endmacro %}{{ f() }}": "TypeError: ",
    "{% block b %}\n{% call dict() %}{% endcall %}{% endblock %}": "expected text to write, got dict",
}


@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize("source", NO_TEXT)
def test_what_is_no_text_is_not_written(source: str, isolate: bool) -> None:
    with pytest.raises(RenderError, match=f"^chat_template, line 2: .*{NO_TEXT[source]}") as raised:
        ChatTemplate(source, isolate=isolate).render([HI])
    assert not isinstance(raised.value, TemplateLimitError)


NO_PYTHON = {
    "a\n{{ dict(a=1, a=2) }}": "keyword argument repeated: a",
    "a\n{% break %}": "'break' outside loop",
    "a\n{% for m in messages %}{% endfor %}{% continue %}": "'continue' not properly in loop",
    "a\n{% macro m(a, a) %}{% endmacro %}": "duplicate argument '.*a' in function definition",
    "a\n{{ f(__debug__=1) }}": "cannot assign to __debug__",
}


@pytest.mark.parametrize("source", NO_PYTHON)
def test_what_only_python_refuses_is_a_syntax_error(source: str) -> None:
    for isolate in (False, True):
        with pytest.raises(ValueError, match=f"^chat_template, line 2: {NO_PYTHON[source]}") as raised:
            ChatTemplate(source, isolate=isolate).render([HI])
        assert not isinstance(raised.value, RenderError)


@pytest.mark.parametrize("number", ["1" * 5000, "0x" + "f" * 20_000])
def test_numbers_of_too_many_digits(number: str) -> None:
    with pytest.raises(ValueError, match=r"^chat_template: Exceeds the limit") as raised:
        ChatTemplate("{{ " + number + " }}")
    assert not isinstance(raised.value, RenderError)


def test_other_threads_go_on() -> None:
    stop = threading.Event()
    n_rendered = [0]

    def render_others() -> None:
        template = ChatTemplate("{{ messages[0].content }}")
        while not stop.is_set():
            assert template.render([HI]) == "Hi"
            n_rendered[0] += 1

    other = threading.Thread(target=render_others)
    other.start()
    try:
        end_of(LOOPS["nested"], TemplateLimits(steps=2_000_000))
    finally:
        stop.set()
        other.join()
    assert n_rendered[0] > 10


def test_a_template_within_its_limits_is_not_held_up() -> None:
    messages = [{"role": "user", "content": f"{i} " + "x" * 1000} for i in range(5000)]
    template = ChatTemplate("{% for m in messages %}{{ loop.index }}{{ m.content|trim }}\n{% endfor %}")
    assert len(template.render(messages)) > 5_000_000


@pytest.mark.parametrize(
    ("source", "limits", "words"),
    [
        (LOOPS["nested"], TemplateLimits(steps=10**12, seconds=3), r"more than 3 seconds \(limits.seconds\)"),
        (
            "{% set s = 'a' * 10**9 %}",
            TemplateLimits(made_bytes=10**12, memory_bytes=10**8),
            r"more than 100,000,000 bytes of memory \(limits.memory_bytes\)",
        ),
        (SIZES["string"], TemplateLimits(), r"bytes of strings and lists \(limits.made_bytes\)"),
    ],
)
def test_limits_of_an_isolated_template(source: str, limits: TemplateLimits, words: str) -> None:
    with pytest.raises(TemplateLimitError, match=words):
        ChatTemplate(source, limits=limits, isolate=True).render([HI])


def nested(depth: int) -> list[object]:
    value: list[object] = []
    for _ in range(depth):
        value = [value]
    return value


class FailsToPickle:
    def __reduce__(self) -> tuple[object, ...]:
        raise KeyError("mine")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"variables": {"f": lambda: 1}}, TypeError, r"variables\['f'\]: cannot be sent to the subprocess"),
        ({"variables": {"lock": threading.Lock()}}, TypeError, r"variables\['lock'\]: cannot be sent"),
        ({"variables": {"own": FailsToPickle()}}, TypeError, r"variables\['own'\]: cannot be .* \('mine'\)"),
        ({"variables": {"deep": nested(5000)}}, ValueError, r"variables\['deep'\]: nests too deeply"),
        ({"messages": [HI, {"content": nested(5000)}]}, ValueError, r"messages\[1\].content: nests too deep"),
        ({"messages": [{"content": type("Local", (), {})()}]}, TypeError, r"messages\[0\].content: cannot"),
        ({"tools": [{}, {"f": lambda: 1}]}, TypeError, r"tools\[1\]: cannot be sent"),
        ({"documents": [{"f": nested(5000)}]}, ValueError, r"documents\[0\]: nests too deeply"),
    ],
)
def test_arguments_of_an_isolated_template(
    arguments: dict[str, object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=f"^{words}"):
        ChatTemplate("a", isolate=True).render(**{"messages": [HI], **arguments})


def test_an_argument_that_only_the_caller_has(monkeypatch: pytest.MonkeyPatch) -> None:
    main = sys.modules["__main__"]
    of_main = type("OfMain", (), {"__module__": "__main__"})
    monkeypatch.setattr(main, "OfMain", of_main, raising=False)
    with pytest.raises(TypeError, match=r"cannot be read in the subprocess of isolate=True .*OfMain"):
        ChatTemplate("a", isolate=True).render([HI], variables={"own": of_main()})


def test_an_isolated_template_gives_the_same() -> None:
    source = (
        "{% for m in messages %}{{ m.content }}{% if bad %}{{ raise_exception('No') }}{% endif %}{% endfor %}"
    )
    template = ChatTemplate(source, isolate=True)
    assert template.render([{"role": "user", "content": "é\ud83d\u2028"}]) == "é\ud83d\u2028"
    with pytest.raises(RenderError, match=r"^No$"):
        template.render([HI], variables={"bad": True})
    with pytest.raises(ValueError, match="chat_template, line 1: "):
        ChatTemplate("{% if", isolate=True).render([HI])
