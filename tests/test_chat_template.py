"""`ChatTemplate`: what it gives a template, on small templates whose output is worked out by hand."""

from datetime import datetime

import pytest

from turnloom import ChatTemplate, RenderError, TemplateLimitError, TemplateLimits

HI = {"role": "user", "content": "Hi"}
YO = {"role": "assistant", "content": "Yo"}


def rendered(source: str, messages: list[dict[str, object]] | None = None, **options: object) -> str:
    return ChatTemplate(source).render([HI, YO] if messages is None else messages, **options)


def test_blocks_leave_no_lines_behind() -> None:
    source = (
        "{% for m in messages %}\n  {% if loop.first %}\nU: {{ m.content }}\n  {% endif %}\n{% endfor %}\n."
    )
    assert rendered(source) == "U: Hi\n."


def test_loop_controls() -> None:
    skip = "{% if i == 1 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}{% endif %}"
    source = "{% for i in range(9) %}" + skip + "{{ i }}{% endfor %}"
    assert rendered(source) == "023"


def test_special_tokens_and_variables() -> None:
    template = ChatTemplate(
        "{{ bos_token }}|{{ thinking }}|{{ nothing }}", special_tokens={"bos_token": "<s>"}
    )
    assert template.render([HI], variables={"thinking": False}) == "<s>|False|"


def test_the_arguments_of_the_call() -> None:
    source = "{{ tools is none }} {{ documents }} {{ add_generation_prompt }}"
    assert rendered(source) == "True None False"
    assert rendered(source, tools=[], documents=[{"text": "d"}], add_generation_prompt=True) == (
        "False [{'text': 'd'}] True"
    )


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("{'b': 'é<', 'a': [1, none, 1e-7]}|tojson", '{"b": "é<", "a": [1, null, 1e-07]}'),
        ("{'b': 1, 'a': 2}|tojson(sort_keys=true)", '{"a": 2, "b": 1}'),
        ("'é'|tojson(ensure_ascii=true)", '"\\u00e9"'),
        ("{'a': [1]}|tojson(indent=2)", '{\n  "a": [\n    1\n  ]\n}'),
        ("{'a': [1, 2]}|tojson(separators=(',', ':'))", '{"a":[1,2]}'),
        ("{'a': 1}|tojson(false, '-')", '{\n-"a": 1\n}'),
    ],
)
def test_tojson(expression: str, text: str) -> None:
    assert rendered("{{ " + expression + " }}") == text


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("'a' ~ 1 ~ none ~ [1]", "a1None[1]"),
        ("'ab' * 2 + 'c'", "ababc"),
        ("[1] + [2] * 2", "[1, 2, 2]"),
        ("7 // 2 ** 2 - 1", "0"),
        ("'%s-%05.1f' % ('a', 2.25)", "a-002.2"),
        ("'%(a)s' % {'a': 'x'}", "x"),
        ("'{:>4}|{a!r}'.format(1, a='x')", "   1|'x'"),
        ("'{a}'.format_map({'a': 1})", "1"),
        ("'%s %s'|format('a', 'b')", "a b"),
        ("'%(text)s'|format(text=1)", "1"),
        ("'ab'|center(width=6)", "  ab  "),
        ("'a\nb'|indent(width=2, first=true)", "  a\n  b"),
        ("[1, 2, 3]|batch(2, fill_with='x')|list", "[[1, 2], [3, 'x']]"),
        ("[3, 1, 2]|sort(reverse=true)|join(d='-')", "3-2-1"),
        ("('a', 'b')|join", "ab"),
        ("messages|map(attribute='content')|join(',')", "Hi,Yo"),
        ("messages|selectattr('role', 'equalto', 'user')|list|length", "1"),
        ("[{'k': 1, 'v': 2}]|groupby('k')|list", "[(1, [{'k': 1, 'v': 2}])]"),
        ("'x-y'.split('-')|list", "['x', 'y']"),
        ("','.join(['a', 'b'])", "a,b"),
        ("','.join(c for c in 'ab')", None),
        ("'aXa'.replace('a', 'bb')", "bbXbb"),
        ("'aaa'|replace('a', 'b', count=2)", "bba"),
        ("'\t'.expandtabs(4)|length", "4"),
        ("'é'.encode('utf-8')|length", "2"),
        ("[1, 2] == [1, 2] and 'a' in ['a'] and 1 < 2 <= 2", "True"),
        ("{('a', 1): 'v'}[('a', 1)]", "v"),
        ("dict(a=1)|items|list", "[('a', 1)]"),
        ("dict.fromkeys(['a'], 0)", "{'a': 0}"),
        ("dict.mro is defined", "False"),
        ("' x '|trim ~ 'xx'|trim('x')", "x"),
        ("2.567|round(precision=2)", "2.57"),
        ("'a b'|wordcount", "2"),
        ("[1, [2]]|string|length", "8"),
        ("messages[1:][0].content ~ messages[-1].content ~ messages[::-1][1].content", "YoYoHi"),
    ],
)
def test_expressions(expression: str, text: str | None) -> None:
    source = "{{ " + expression + " }}"
    if text is None:
        with pytest.raises(ValueError, match="chat_template, line 1: "):
            ChatTemplate(source)
    else:
        assert rendered(source) == text


def test_macros_recursive_loops_and_captured_blocks() -> None:
    source = (
        "{% macro wrap(x) %}<{{ x }}{{ caller() if caller }}>{% endmacro %}"
        "{% call wrap('a') %}b{% endcall %}"
        "{% set captured | upper %}c{{ wrap('d') }}{% endset %}{{ captured }}"
        "{% for x in [[1, [2]], 3] recursive %}"
        "{{ loop(x) if x is iterable else x }}{{ loop.depth }}"
        "{% endfor %}"
        "{% filter upper %}e{% endfilter %}"
    )
    assert rendered(source) == "<ab>C<D>12232131E"


def test_keys_that_are_none_are_dropped() -> None:
    message = {"role": "user", "content": "Hi", "name": None}
    assert rendered("{{ messages[0] }}", [message]) == "{'role': 'user', 'content': 'Hi'}"
    assert message == {"role": "user", "content": "Hi", "name": None}


@pytest.mark.parametrize("key", ["reasoning_content", "thinking", "reasoning"])
def test_reasoning_is_found_under_any_of_its_names(key: str) -> None:
    source = "{{ messages[0].reasoning_content }} {{ messages[0].thinking }}"
    assert rendered(source, [{**YO, key: "r"}]) == "r r"


def test_reasoning_that_is_there_under_several_names() -> None:
    source = "{{ messages[0].reasoning_content }} {{ messages[0].thinking }} {{ messages[0].reasoning }}"
    assert rendered(source, [{**YO, "reasoning": "a", "thinking": "b"}]) == "b b a"


def test_generation_blocks_are_rendered_as_they_are() -> None:
    source = "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %};{% endfor %}"
    template = ChatTemplate(source)
    assert template.render([HI, YO]) == "Hi;Yo;"
    spans = template.runner.run(template.request([HI, YO])).generation_spans
    assert spans == [(0, "Hi"), (3, "Yo")]


def test_a_template_without_generation_blocks() -> None:
    template = ChatTemplate("{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}x{% endcall %}")
    assert template.runner.run(template.request([HI])).generation_spans is None


def test_the_clock_is_the_callers() -> None:
    source = "{{ strftime_now('%d %b %Y') }}"
    assert ChatTemplate(source, now=datetime(2026, 1, 15)).render([HI]) == "15 Jan 2026"
    with pytest.raises(RenderError, match="pass it as `now`"):
        ChatTemplate(source).render([HI])
    assert ChatTemplate("{{ strftime_now is defined }}").render([HI]) == "True"


CHATML = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content|trim }}</>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def test_the_final_message_is_continued() -> None:
    assert rendered(CHATML, continue_final_message=True) == "<user>Hi</><assistant>Yo"
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b "}]
    source = "{% for p in messages[0].content %}{{ p.text }},{% endfor %}"
    assert rendered(source, [{"role": "assistant", "content": parts}], continue_final_message=True) == "a,b "
    assert parts[1]["text"] == "b "


def test_white_space_that_the_template_strips_is_not_continued() -> None:
    message = {"role": "assistant", "content": "Yo  "}
    assert rendered(CHATML, [message], continue_final_message=True) == "<assistant>Yo"


@pytest.mark.parametrize("content", [None, [], [{"type": "image"}]])
def test_a_final_message_without_text_cannot_be_continued(content: object) -> None:
    with pytest.raises(RenderError, match=r"messages\[0\].content: continue_final_message"):
        rendered(CHATML, [{"role": "assistant", "content": content}], continue_final_message=True)


def test_a_final_message_that_is_not_written_cannot_be_continued() -> None:
    with pytest.raises(RenderError, match="continue_final_message: the template does not write"):
        rendered("x", continue_final_message=True)


def test_continuing_and_a_generation_prompt_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="continue_final_message: cannot be combined"):
        rendered(CHATML, continue_final_message=True, add_generation_prompt=True)


def test_a_refusal_has_the_words_of_the_template() -> None:
    with pytest.raises(RenderError) as raised:
        rendered("{{ raise_exception('No ' ~ messages[0].role) }}")
    assert str(raised.value) == "No user"


def test_a_failure_names_line_and_kind() -> None:
    with pytest.raises(RenderError) as raised:
        rendered("a\n{{ messages[0].missing.key }}")
    assert str(raised.value) == (
        "chat_template, line 2: UndefinedError: 'dict object' has no attribute 'missing'"
    )


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{{ messages.append(1) }}", "SecurityError"),
        ("{{ messages[0].update(a=1) }}", "SecurityError"),
        ("{{ ''.__class__.__mro__ }}", "SecurityError"),
        ("{{ '{0.__class__.__mro__}'.format(1) }}", "SecurityError"),
        ("{{ namespace(_a=1) }}", "SecurityError"),
        ("{% set ns = namespace() %}{% set ns._a = 1 %}", "SecurityError"),
        ("{% include 'a' %}", "no loader"),
    ],
)
def test_the_sandbox(source: str, reason: str) -> None:
    with pytest.raises(RenderError, match=reason):
        rendered(source)


def test_what_is_no_template() -> None:
    with pytest.raises(ValueError, match=r"^chat_template, line 2: "):
        ChatTemplate("a\n{% if %}")
    with pytest.raises(TypeError, match=r"^chat_template: expected str, got None"):
        ChatTemplate(None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"messages": "Hi"}, "messages: expected list or tuple, got str"),
        ({"messages": [HI, "Hi"]}, r"messages\[1\]: expected a mapping, got str"),
        ({"messages": [HI], "tools": {}}, "tools: expected a list of tools or None, got dict"),
        ({"messages": [HI], "tools": [1]}, r"tools\[0\]: expected a mapping, got int"),
        ({"messages": [HI], "documents": 5}, "documents: expected a list of documents or None, got int"),
        ({"messages": [HI], "documents": ["a"]}, r"documents\[0\]: expected a mapping, got str"),
        ({"messages": [HI], "variables": 5}, "variables: expected a mapping, got int"),
        ({"messages": [HI], "variables": [1]}, "variables: expected a mapping, got list"),
        ({"messages": [HI], "variables": {1: 2}}, "variables: expected str as names, got int"),
    ],
)
def test_arguments_of_a_wrong_type(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        ChatTemplate("x").render(**arguments)


@pytest.mark.parametrize("name", ["messages", "tools", "add_generation_prompt"])
def test_variables_do_not_take_the_place_of_arguments(name: str) -> None:
    with pytest.raises(ValueError, match=f"variables: '{name}' is an argument of the call"):
        rendered("x", variables={name: 1})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limits": None}, "limits: expected TemplateLimits, got NoneType"),
        ({"limits": 5}, "limits: expected TemplateLimits, got int"),
        ({"special_tokens": 5}, "special_tokens: expected a mapping, got int"),
        ({"special_tokens": {1: "a"}}, "special_tokens: expected str as names, got int"),
        ({"special_tokens": {"bos_token": 2}}, r"special_tokens\['bos_token'\]: expected str, got int"),
        ({"isolate": "no"}, "isolate: expected bool, got str"),
    ],
)
def test_arguments_of_a_template(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        ChatTemplate("x", **arguments)


@pytest.mark.parametrize("name", ["messages", "tools", "documents", "add_generation_prompt"])
def test_special_tokens_do_not_take_the_place_of_arguments(name: str) -> None:
    with pytest.raises(ValueError, match=f"special_tokens: '{name}' is an argument of the call"):
        ChatTemplate("x", special_tokens={name: "a"})


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("seconds", float("nan"), "expected more than 0, got nan"),
        ("seconds", float("inf"), "expected at most 1,000,000, got inf"),
        ("seconds", 1e30, r"expected at most 1,000,000, got 1e\+30"),
        (
            "memory_bytes",
            10**30,
            "expected at most 4,611,686,018,427,387,904, got 10{30}$",
        ),
        ("steps", 2**63, "expected at most 4,611,686,018,427,387,904, got 9223372036854775808$"),
    ],
)
def test_limits_have_limits(name: str, value: float, reason: str) -> None:
    with pytest.raises(ValueError, match=f"limits.{name}: {reason}"):
        TemplateLimits(**{name: value})


def test_a_limit_of_more_digits_than_python_writes() -> None:
    for value in (10**5000, -(10**5000)):
        with pytest.raises(ValueError, match=r"limits.steps: expected .*, got an int of 16610 bits"):
            TemplateLimits(steps=value)


def test_limits_are_checked() -> None:
    assert issubclass(TemplateLimitError, RenderError)
    with pytest.raises(TypeError, match=r"limits.steps: expected a number, got str"):
        TemplateLimits(steps="many")
    with pytest.raises(ValueError, match=r"limits.seconds: expected more than 0, got 0"):
        TemplateLimits(seconds=0)
    with pytest.raises(TypeError, match="now: expected datetime or None, got str"):
        ChatTemplate("x", now="today")
