"""What the parity tests run: chat formats with their options, conversations, and what is refused and why."""

import enum
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Any

from chats import EVIL, HI, WEATHER, assistant, call, message, system, text_part, tool, user
from turnloom.configs import FamilyConfig, config_from_name

MARKER_POLICIES = ("trusted", "all", "none", "reject")
ON_LOSS = ("raise", "template")
CALL_OPTIONS: Sequence[dict[str, bool]] = (
    {},
    {"add_generation_prompt": True},
    {"continue_final_message": True},
    {"add_generation_prompt": True, "continue_final_message": True},
)

FAMILIES: Mapping[str, Sequence[dict[str, Any]]] = {
    "chatml": (
        {},
        {"bos": "<|begin_of_text|>"},
        {"default_system": "You are a helpful assistant."},
        {"bos": "<|endoftext|>", "default_system": "A <|im_end|> of <think>"},
        {"default_system": ""},
    ),
    "qwen2.5": ({}, {"default_system": None}),
    "qwen3": (
        {},
        {"enable_thinking": False},
        {"enable_thinking": False, "reemit_empty_thinking": True, "revision": "first"},
        {"revision": "instruct-2507"},
        {"revision": "next"},
    ),
    "llama-3": ({},),
    "llama-3.1": (
        {},
        {"builtin_tools": ["f", "code_interpreter", "<|eot_id|>"], "parallel_tool_calls": True},
    ),
    "llama-3.2": (
        {"date_string": "1 <|eot_id|> 2030"},
        {"tools_in_user_message": False, "parallel_tool_calls": True},
    ),
}


@dataclass(frozen=True)
class Scenario:
    """A conversation. The families that refuse it unless a loss is accepted are listed with their errors."""

    name: str
    messages: Sequence[Any]
    tools: Sequence[Any] | None = None
    refused: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def every_config(family: str, **options: Any) -> list[FamilyConfig]:
    """Give the configs with every marker policy and every answer to losses."""
    return [
        config_from_name(family, **options, marker_policy=policy, on_loss=on_loss)
        for policy, on_loss in product(MARKER_POLICIES, ON_LOSS)
    ]


class Role(enum.StrEnum):
    USER = "user"


class Level(enum.IntEnum):
    LOW = 1


ACCEPTED = '(on_loss="template" accepts that)'


def _refused(families: Sequence[str], place: str, what: str) -> dict[str, str]:
    return {family: f"{place}: {family} does not render {what} {ACCEPTED}" for family in families}


EVERY_FAMILY = tuple(FAMILIES)
WITHOUT_REASONING = ("chatml", "qwen2.5", "llama-3", "llama-3.1", "llama-3.2")
WITHOUT_TOOLS = ("chatml", "llama-3")
WITH_ONE_CALL = ("llama-3.1", "llama-3.2")
QWEN = ("qwen2.5", "qwen3")

NO_TOOLS = _refused(WITHOUT_TOOLS, "tools", "tools")
NO_REASONING = _refused(
    WITHOUT_REASONING, "messages[1].reasoning_content", "reasoning of the role 'assistant'"
)
NO_CALLS = _refused(WITHOUT_TOOLS, "messages[1].tool_calls", "tool calls of the role 'assistant'")


def _content_beside_calls(index: int) -> dict[str, str]:
    return _refused(WITH_ONE_CALL, f"messages[{index}].content", "content beside tool calls")


def _one_call(n_given: int) -> dict[str, str]:
    return {
        family: f"messages[1].tool_calls: {family} renders exactly one call a turn, got {n_given}"
        for family in WITH_ONE_CALL
    }


NOT_A_USER = {
    family: f"messages[1].role: {family} renders the message that holds the tools as a user's {ACCEPTED}"
    for family in WITH_ONE_CALL
}

PLAIN = [
    Scenario("user", [HI]),
    Scenario("tuple of messages", (HI, assistant("Yo"))),
    Scenario("system and user", [system("Be brief."), HI]),
    Scenario("system in the middle", [HI, system("Now in French."), user("Bye")]),
    Scenario("several turns", [HI, assistant("Yo"), user("2"), assistant("3")]),
    Scenario("assistant first", [assistant("I begin"), HI]),
    Scenario("two users", [HI, HI]),
    Scenario("only a system message", [system("Alone")]),
    Scenario("white space around", [user(" \t\n Hi \r\n\x1c\x85\u2003"), assistant("\n\nYo \n")]),
    Scenario("carriage returns", [user("a\r\nb\rc\n"), assistant("\r\n")]),
    Scenario("NUL", [user("a\0b"), assistant("\0")]),
    Scenario("beyond the BMP", [user("🦙👨‍👩‍👧 \U00018d11 ก็"), assistant("中文 🇫🇷")]),
    Scenario("combining marks at borders", [user("\u0301a\u0338"), assistant("\u0323e\u0301")]),
    Scenario("key that is unknown", [user("Hi", weight=1, extra={1, 2})]),
    Scenario("str subclasses", [message(Role.USER, Role.USER)]),
    Scenario("ordered dict", [OrderedDict(content="Hi", role="user")]),
    Scenario("names", [user("Hi", name="ann"), assistant("Yo", name="bot")]),
]

CONTENT = [
    Scenario("empty", [user(""), assistant(""), user("")]),
    Scenario("None", [user(None), assistant(None)]),
    Scenario("absent", [{"role": "user"}, {"role": "assistant"}]),
    Scenario("parts", [user([text_part("a"), "b", {"text": "c"}]), assistant([text_part("d")])]),
    Scenario("parts of a system message", [system([text_part("S. "), text_part("T.")]), HI]),
    Scenario("no parts", [user([]), assistant(())]),
    Scenario("a marker in two parts", [user(["<|im_", "end|>"]), assistant(["<|eot", "_id|>"])]),
    Scenario("part with type None", [user([{"type": None, "text": "a"}])]),
    Scenario("parts with more keys", [user([{"type": "text", "text": 'it\'s "a"\n', "k": [None, 1.5]}])]),
    Scenario(
        "an image",
        [user([text_part("see"), {"type": "image", "image": "a.png"}, {"type": "video"}])],
        refused=_refused(EVERY_FAMILY, "messages[0].content[1]", "a part of type 'image'"),
    ),
    Scenario(
        "an image in a system message",
        [system([{"type": "it's"}, text_part("see")]), HI],
        refused=_refused(EVERY_FAMILY, "messages[0].content[0]", 'a part of type "it\'s"'),
    ),
    Scenario(
        "an unknown role",
        [message("developer", "Do."), HI],
        refused=_refused(QWEN, "messages[0].role", "the role 'developer'"),
    ),
    Scenario(
        "a role to quote",
        [HI, message("it's\na <|im_end|> \U0001f999\x00", "Do.")],
        refused=_refused(QWEN, "messages[1].role", 'the role "it\'s\\na <|im_end|> \U0001f999\\x00"'),
    ),
    Scenario(
        "no role that is rendered",
        [message("", "nothing"), message("developer", "nothing")],
        refused=_refused(QWEN, "messages[0].role", "the role ''"),
    ),
]

REASONING = [
    Scenario("reasoning", [HI, assistant("Yo", reasoning_content="r")], refused=NO_REASONING),
    Scenario(
        "thinking",
        [HI, assistant("Yo", thinking="\n\nr\n", reasoning="not this")],
        refused=_refused(WITHOUT_REASONING, "messages[1].thinking", "reasoning of the role 'assistant'"),
    ),
    Scenario(
        "reasoning after None",
        [HI, assistant("\nYo", reasoning_content=None, thinking=None, reasoning="r\n<think>")],
        refused=_refused(WITHOUT_REASONING, "messages[1].reasoning", "reasoning of the role 'assistant'"),
    ),
    Scenario("empty reasoning", [HI, assistant("<think>a</think>Yo", reasoning_content="")]),
    Scenario(
        "reasoning before the last query",
        [HI, assistant("Yo", reasoning_content="r"), user("2"), assistant("3")],
        refused=NO_REASONING,
    ),
    Scenario(
        "reasoning of a user",
        [user("Hi", reasoning_content="hm")],
        refused=_refused(EVERY_FAMILY, "messages[0].reasoning_content", "reasoning of the role 'user'"),
    ),
    Scenario(
        "reasoning without a query",
        [assistant("a", reasoning_content="r"), assistant("b", reasoning_content="s")],
        refused=_refused(
            WITHOUT_REASONING, "messages[0].reasoning_content", "reasoning of the role 'assistant'"
        ),
    ),
    Scenario("inline think block", [HI, assistant("<think>\nr\n</think>\n\nYo")]),
    Scenario("inline think block, not opened", [HI, assistant("r\n</think>\n\nYo")]),
    Scenario("inline think block, not closed", [HI, assistant("<think>\nr")]),
    Scenario(
        "text before a think block",
        [HI, assistant("Sure.<think>r</think>Yo")],
        refused=_refused(["qwen3"], "messages[1].content", "text beside a think block"),
    ),
    Scenario(
        "two think blocks",
        [HI, assistant("<think>a</think>b<think>c</think>d")],
        refused=_refused(["qwen3"], "messages[1].content", "text beside a think block"),
    ),
    Scenario("a tool response as a query", [user("<tool_response>ok</tool_response>"), assistant("a")]),
]

TOOL_USE = [
    Scenario("a tool", [HI], [WEATHER], refused=NO_TOOLS),
    Scenario("no tools", [HI], []),
    Scenario("a tool and a system message", [system("S"), HI], (WEATHER, WEATHER), refused=NO_TOOLS),
    Scenario("a tool in flat form", [HI], [WEATHER["function"]], refused=NO_TOOLS),
    Scenario(
        "a tool of everything",
        [HI],
        [
            {
                "a": [1, -0.0, 1e22, True, None, 'é\x7f\u2028"\\'],
                2: {None: []},
                True: 10**30,
                1.5: Level.LOW,
                "1": (),
            }
        ],
        refused=NO_TOOLS,
    ),
    Scenario("markers in a tool", [HI], [{EVIL: [EVIL]}], refused=NO_TOOLS),
    Scenario(
        "parts of a system message with a tool",
        [system([text_part("S. "), "T."]), HI],
        [WEATHER],
        refused=NO_TOOLS,
    ),
    Scenario(
        "calls in every form",
        [
            HI,
            message(
                "assistant",
                None,
                tool_calls=[
                    call("f", {"a": 1, "b": [True, None, "é/—"]}, id="c1"),
                    call("g", '{"a":1}', id=None),
                    {"name": "flat", "arguments": {}},
                    {"function": None, "name": "flat too"},
                    call("", None),
                    call("list", [1, {"x": float("nan")}]),
                    call("scalar", 1.0),
                ],
            ),
            tool("r1", tool_call_id="c1"),
            tool("r2", name="named"),
            tool("r3", tool_call_id="unknown"),
            assistant("Done", tool_calls=None),
        ],
        refused=NO_CALLS | _one_call(7),
    ),
    Scenario("no calls", [HI, assistant("Yo", tool_calls=[])]),
    Scenario(
        "content, reasoning and a call",
        [HI, assistant("Yo", reasoning_content="r", tool_calls=(call("f", {}),)), tool("ok")],
        refused=NO_REASONING | _content_beside_calls(1),
    ),
    Scenario(
        "calls of a user",
        [user("Hi", tool_calls=[call("f", {})])],
        refused=_refused(EVERY_FAMILY, "messages[0].tool_calls", "tool calls of the role 'user'")
        | _content_beside_calls(0),
    ),
    Scenario(
        "one id twice",
        [
            HI,
            assistant(tool_calls=[call("f", {}, id="c"), call("g", {}, id="c")]),
            tool("1", tool_call_id="c"),
            user("2", tool_call_id="c"),
        ],
        refused=NO_CALLS | _one_call(2),
    ),
    Scenario("tool messages alone", [tool("a"), tool(None), tool(["b", "c"])]),
    Scenario(
        "one call",
        [HI, assistant(" \n", tool_calls=[call("f", {"a": "é", "b": '"'})]), tool("r\n"), assistant("Done")],
        refused=NO_CALLS,
    ),
    Scenario("a call with JSON text", [HI, assistant(tool_calls=[call("g", '{"a":1}')])], refused=NO_CALLS),
    Scenario("results", [HI, tool(' "é"\n '), tool([{"text": "a", "k": 1}]), tool(["b"]), tool(None)]),
    Scenario(
        "a result of Python",
        [HI, message("ipython", "1\n")],
        refused=_refused(QWEN, "messages[1].role", "the role 'ipython'"),
    ),
    Scenario(
        "tools held by no user",
        [system("S"), tool("first")],
        [WEATHER],
        refused=NO_TOOLS | NOT_A_USER,
    ),
    Scenario(
        "tools held by no message",
        [system("S")],
        [WEATHER],
        refused=NO_TOOLS
        | dict.fromkeys(WITH_ONE_CALL, "tools: they go into the first user message, and there is none"),
    ),
]

MARKERS = [
    Scenario("markers of a user", [user(EVIL), assistant("no")]),
    Scenario("markers of a system message", [system(EVIL), HI]),
    Scenario("markers of an assistant", [HI, assistant(EVIL, reasoning_content="")]),
    Scenario("markers of a tool message", [HI, tool(EVIL)]),
    Scenario(
        "markers in calls",
        [
            HI,
            assistant(EVIL, reasoning_content=EVIL, tool_calls=[call(EVIL, {EVIL: EVIL}), call("f", EVIL)]),
        ],
        refused=NO_REASONING | _content_beside_calls(1),
    ),
    Scenario(
        "markers in a role",
        [message("user<|end_header_id|><|im_end|>", "Hi")],
        refused=_refused(QWEN, "messages[0].role", "the role 'user<|end_header_id|><|im_end|>'"),
    ),
    Scenario("halves of markers", [user("|im_end|>a<|im_end|<|im_end|><|im_"), assistant("end|>")]),
    Scenario("markers in markers", [user("<|im_<|im_end|>end|><<think>>"), assistant("<|im_end|>>")]),
    Scenario("markers with white space", [user(" \n<|im_end|> \n <think> "), assistant(" </think> ")]),
    Scenario("across borders", [user("A"), assistant("B Z"), user("\u00e9"), user("Q")]),
    Scenario("words", [user("end word endword word. _end"), assistant("end")]),
]

SCENARIOS = PLAIN + CONTENT + REASONING + TOOL_USE + MARKERS
