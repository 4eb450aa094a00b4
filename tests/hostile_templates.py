"""Templates that want more than anyone has: time, memory, depth. Each has to end with an error, and soon."""


def doubling(step: str, first: str = "'ab'") -> str:
    """Make a value twice as large, again and again."""
    loop = "{% for i in range(1000) %}" + step + "{% endfor %}"
    return "{% set ns = namespace(s=" + first + ") %}" + loop


SHARED_PARTS = (
    "{% set ns = namespace(a=[1], b=[1], t=(1,)) %}{% for i in range(60) %}"
    "{% set ns.a = [ns.a, ns.a] %}{% set ns.b = [ns.b, ns.b] %}{% set ns.t = (ns.t, ns.t) %}{% endfor %}"
)
"""Small in memory, and of 2**60 elements for code that visits all of them."""

LONG = "{% set s = 'a' * 5000000 %}"

LOOPS = {
    "range": "{% for i in range(10**9) %}{% endfor %}",
    "nested": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "condition": "{% for i in range(99999) %}{% for j in range(99999) if j < 0 %}{% endfor %}{% endfor %}",
    "recursive": "{% for i in range(99999) recursive %}{{ loop(range(99999)) }}{% endfor %}",
    "macro": "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
    "wide macro": (
        "{% macro f(n) %}{% for i in range(99 if n else 0) %}{{ f(n - 1) }}{% endfor %}{% endmacro %}"
        "{{ f(50) }}"
    ),
    "caller": (
        "{% macro f() %}{{ caller() }}{{ caller() }}{% endmacro %}"
        "{% macro g() %}{% call f() %}{{ g() }}{% endcall %}{% endmacro %}{{ g() }}"
    ),
    "block": "{% block b %}{{ self.b() }}{{ self.b() }}{% endblock %}",
    "cycler": (
        "{% set c = cycler(1, 2) %}{% for i in range(99999) %}{% for j in range(99999) %}{{ c.next() }}"
        "{% endfor %}{% endfor %}"
    ),
    "arguments": (
        "{% macro f() %}{{ varargs }}{% endmacro %}"
        "{% for i in range(99999) %}{{ f(*range(999)) }}{% endfor %}"
    ),
    "long body": "{% for i in range(99999) %}" + "{{ i.a }}" * 5000 + "{% endfor %}",
    "filters of ranges": "{% for i in range(99999) %}{{ range(99999)|select('eq', -1)|first }}{% endfor %}",
    "attributes of ranges": "{% for i in range(99999) %}{{ range(99999)|selectattr('x')|first }}{% endfor %}",
    "joined ranges": "{% for i in range(99999) %}{{ ''.join(range(99999)|map('string')) }}{% endfor %}",
    "sorted ranges": "{% for i in range(99999) %}{{ range(99999)|sort|length }}{% endfor %}",
    "in ranges": "{% for i in range(99999) %}{{ 'a' in range(99999) }}{% endfor %}",
    "sliced lists": (
        "{% set l = [1] * 1000000 %}{% for i in range(99999) %}{{ l|slice(1)|first|length }}{% endfor %}"
    ),
    "fields": "{{ ('{0[0]}' * 300000).format('a') }}",
    "lipsum": "{{ lipsum(n=10**9) }}",
    "slices": "{% for x in [1]|slice(10**9) %}{% endfor %}",
    "searches": LONG + "{% for i in range(99999) %}{{ 'b' in s }}{% endfor %}",
    "counts": LONG + "{% for i in range(99999) %}{{ s.count('b') }}{% endfor %}",
    "rfind": LONG + "{{ s.rfind('b' + s) }}",
    "strip": LONG + "{{ s.strip('b' * 1000000 + 'a') }}",
    "trim": LONG + "{{ s|trim('b' * 1000000 + 'a') }}",
    "striptags": "{{ ('<!--' * 500000)|striptags }}",
    "urlize": "{{ ('http://a.b ' * 500000)|urlize }}",
    "pprint": LONG + "{{ [s]|pprint }}",
    "sum": "{{ ([[1] * 1000] * 100000)|sum(start=[])|length }}",
}

SIZES = {
    "string": "{{ 'a' * 10**10 }}",
    "string, unused": "{% set x = 10**10 * 'a' %}",
    "list": "{% set x = [1] * 10**10 %}",
    "tuple": "{% set x = (1,) * 10**10 %}",
    "~": doubling("{% set ns.s = ns.s ~ ns.s %}"),
    "+": doubling("{% set ns.s = ns.s + ns.s %}"),
    "lists": doubling("{% set ns.s = ns.s + ns.s %}", "[1]"),
    "join": doubling("{% set ns.s = [ns.s, ns.s]|join %}"),
    "join method": doubling("{% set ns.s = ''.join([ns.s, ns.s]) %}"),
    "format": doubling("{% set ns.s = '{0}{0}'.format(ns.s) %}"),
    "percent": doubling("{% set ns.s = '%s%s' % (ns.s, ns.s) %}"),
    "format filter": doubling("{% set ns.s = '%s%s'|format(ns.s, ns.s) %}"),
    "captured": doubling("{% set x %}{{ ns.s }}{{ ns.s }}{% endset %}{% set ns.s = x %}"),
    "macro": "{% macro f(s) %}{{ s }}{{ s }}{% endmacro %}" + doubling("{% set ns.s = f(ns.s) %}"),
    "replace": doubling("{% set ns.s = ns.s.replace('a', ns.s) %}"),
    "replace nothing": doubling("{% set ns.s = ns.s.replace('', ns.s) %}"),
    "replace filter": doubling("{% set ns.s = ns.s|replace('a', ns.s) %}"),
    "tojson": doubling("{% set ns.s = ns.s|tojson|tojson %}", "'\"'"),
    "slices kept": (
        "{% set ns = namespace(l=[]) %}{% set b = [1] * 100000 %}{% for i in range(99999) %}"
        "{% set ns.l = [ns.l, b[1:]] %}{% endfor %}"
    ),
    "integer": doubling("{% set ns.s = ns.s * ns.s %}", "3"),
    "power": "{{ 2**(10**8) }}",
    "%d": "{{ '%1000000000d' % 1 }}",
    "%*d": "{{ '%*d' % (10**9, 1) }}",
    "%.f": "{{ '%.1000000000f' % 1.0 }}",
    "%(key)d": "{{ '%(a(b)c)1000000000d' % {'a(b)c': 1} }}",
    "format width": "{{ '{:>9999999999}'.format(1) }}",
    "format nested width": "{{ '{:>{}}'.format(1, 10**10) }}",
    "format_map": "{{ '{a:>9999999999}'.format_map({'a': 1}) }}",
    "format, later": "{% set f = '{:>9999999999}'.format %}{{ f(1) }}",
    "format of Markup": "{{ ('{:>9999999999}'|safe).format(1) }}",
    "ljust": "{{ 'a'.ljust(10**10) }}",
    "zfill": "{{ 'a'.zfill(10**10) }}",
    "center": "{{ 'a'|center(10000000000) }}",
    "center by name": "{{ 'a'|center(width=10**10) }}",
    "center, mapped": "{{ range(99999)|map('string')|map('center', 99999)|list }}",
    "expandtabs": "{{ '\t'.expandtabs(tabsize=10**10) }}",
    "bytes": "{{ 'a'.encode().center(10**10) }}",
    "to_bytes, turned round": "{{ (1).to_bytes(byteorder='big', length=10**10) }}",
    "split, turned round": LONG + "{{ s.split(maxsplit=-1, sep='a')|length }}",
    "to_bytes": "{{ (1).to_bytes(length=10**10, byteorder='big') }}",
    "indent": "{{ 'a\nb'|indent(10**10) }}",
    "wordwrap": "{{ ('a ' * 10000)|wordwrap(1, wrapstring='x' * 1000000) }}",
    "translate": "{{ ('a' * 99999).translate({97: 'b' * 99999}) }}",
    "batch": "{{ [1]|batch(10**10, 'x')|list }}",
    "tojson indent": "{{ {'a': 1}|tojson(indent=10**9) }}",
    "tojson indented": "{{ ([[[1]]] * 100000)|tojson(indent='x' * 10000) }}",
    "tojson separators": "{{ ([1] * 100000)|tojson(separators=('x' * 100000, ':')) }}",
    "split": LONG + "{{ s.split('a')|length }}",
    "splitlines": "{{ ('\n' * 9999999).splitlines()|length }}",
    "list of characters": LONG + "{{ s|list|length }}",
    "output": LONG + "{% for i in range(99999) %}{{ s }}{% endfor %}",
    "output of a macro": LONG
    + "{% macro f() %}{% for i in range(99999) %}{{ s }}{% endfor %}{% endmacro %}{{ f() }}",
}

SHARED_VALUES = {
    name: SHARED_PARTS + use
    for name, use in {
        "output": "{{ ns.a }}",
        "~": "{{ ns.a ~ '' }}",
        "percent": "{{ '%s' % (ns.a,) }}",
        "format": "{{ '{!r}'.format(ns.a) }}",
        "string": "{{ ns.a|string }}",
        "join": "{{ [ns.a]|join }}",
        "tojson": "{{ ns.a|tojson }}",
        "tojson indented": "{{ ns.a|tojson(indent=1) }}",
        "pprint": "{{ ns.a|pprint }}",
        "equal": "{{ ns.a == ns.b }}",
        "in": "{{ ns.a in [ns.b] }}",
        "test": "{{ [ns.a]|select('eq', ns.b)|list|length }}",
        "index": "{{ [ns.a].index(ns.b) }}",
        "changed": "{% for x in [ns.a, ns.b] %}{{ loop.changed(x) }}{% endfor %}",
        "sort": "{{ [ns.a, ns.b]|sort }}",
        "min": "{{ [ns.a, ns.b]|min|length }}",
        "groupby": "{{ [{'k': ns.a}, {'k': ns.b}]|groupby('k')|length }}",
        "key": "{{ {ns.t: 1} }}",
        "get": "{{ {}.get(ns.t) }}",
        "item": "{{ {}[ns.t] }}",
        "unique": "{{ [ns.t]|unique|list|length }}",
        "items": "{{ {1: ns.a}.items() }}",
        "namespace": "{{ namespace(a=ns.a) }}",
        "from keys": "{{ dict.fromkeys([ns.t]) }}",
    }.items()
}

CREDITS = {
    name: "{% set _ = " + use + " %}"
    for name, use in {
        "lipsum": "lipsum(n=-100000000, max=10**8)",
        "lipsum, turned round": "lipsum(n=0, min=-1000000000000, max=-100000000000)",
        "tojson": "[1]|tojson(indent=-1000000000000)",
        "indent": "'a'|indent(-1000000000000)",
        "batch": "[]|batch(-1000000000000, 'x')|list",
        "batch by NaN": "[]|batch('nan'|float, 'x')|list",
        "batch by -Infinity": "[]|batch('-inf'|float, 'x')|list",
        "center": "'a'|center(-1000000000000)",
        "center method": "'a'.center(-1000000000000)",
        "ljust": "'a'.ljust(-1000000000000)",
        "zfill": "'a'.zfill(-1000000000000)",
        "expandtabs": "'\t'.expandtabs(-1000000000)",
        "times": "'a' * -1000000000000",
        "%*d": "'%*d' % (-10, 1)",
        "replace": "'aaa'.replace('aaa', '', -1000000000000)",
    }.items()
}
"""Sizes below zero: they must not pay for what comes after them."""

WIDE = "{% set a = (('f' * 1000) * 8000)|int(0, 16) %}"
BYTES = "(('x' * 1000) * 5000).encode()"
HEX = "('f' * 24990)|int(0, 16)"
MANY = "{% for i in range(99999) %}{% for j in range(99999) %}{% set _ = "

WIDE_INTEGERS = {
    "int": WIDE,
    "int, mapped": "{{ [('f' * 1000) * 8000]|map('int', 0, 16)|list|length }}",
    "from_bytes": "{% set a = (1).from_bytes(" + BYTES + ", 'big') %}",
    "from_bytes, mapped": "{% set f = (1).from_bytes %}{{ f(" + BYTES + ", byteorder='little') > 0 }}",
    "+": doubling("{% set ns.s = ns.s + ns.s %}", HEX),
    "-": doubling("{% set ns.s = ns.s - -ns.s %}", HEX),
    "abs": "{{ (-(1).from_bytes(" + BYTES + ", 'big'))|abs > 0 }}",
}
"""Integers of more bits than anyone has."""

INTEGERS = {
    name: "{% set a = " + HEX + " %}{% set b = a // 2**40000 %}" + MANY + use + " %}{% endfor %}{% endfor %}"
    for name, use in {
        "+": "a + i",
        "-": "a - b",
        "*": "b * b // a",
        "//": "a // b",
        "%": "a % b",
        "/": "b / a",
        "minus": "[" + "-a, " * 200 + "]",
        "equal": "a == b",
        "key": "{a: b}",
        "item": "messages[a]",
        "divisible": "a is divisibleby b",
        "odd": "a is odd",
        "power of one": "1**a",
        "ratio": "a.as_integer_ratio()",
        "hexadecimal": "'%x' % a",
        "formatted": "'{:b}'.format(a)",
    }.items()
} | {
    "formatted": "{% set a = " + HEX + " %}{{ ('{0:b}' * 100000).format(a)|length }}",
    "sum": "{% set a = " + HEX + " %}{{ ([a] * 100000)|sum > 0 }}",
    "names": (
        "{% set a = 1 %}{% for i in range(99999) %}"
        + ("{% if " + "a and " * 50 + "a %}{% endif %}") * 50
        + "{% endfor %}"
    ),
}
"""Calculating with the largest integers there may be, again and again."""

SOURCES = {
    "long": "x" * 100_000_000,
    "brackets": "{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}",
    "lists": "{{ " + "[" * 20_000 + "]" * 20_000 + " }}",
    "not": "{{ " + "not " * 20_000 + "1 }}",
    "minus": "{{ " + "-" * 50_000 + "1 }}",
    "sum": "{{ " + "+".join(["1"] * 40_000) + " }}",
    "powers": "{{ " + "**".join(["1"] * 30_000) + " }}",
    "conditions": "{{ " + "1 if x else " * 8_000 + "1 }}",
    "attributes": "{{ x" + ".a" * 40_000 + " }}",
    "filters": "{{ x" + "|list" * 19_000 + " }}",
    "if": "{% if 1 %}" * 4_000 + "{% endif %}" * 4_000,
    "for": "{% for x in y %}" * 100 + "{% endfor %}" * 100,
    "elif": "{% if 0 %}" + "{% elif 0 %}" * 8_000 + "{% endif %}",
    "names": "".join(f"{{% set a{i}=1 %}}" for i in range(2000)) + "{% if x %}{% endif %}" * 2000,
    "braces": "{{" * 49_000,
}
