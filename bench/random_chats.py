"""Random conversations, made to hit what renderers disagree about; the same for the same seed."""

from dataclasses import dataclass
from random import Random
from typing import Any

Message = dict[str, Any]

WORDS = ["the", "The answer", "is", "42", "1234567", "3.14", "don't", "I'LL", "naïve", "def f(x):"]
WORDS += ["x = {}", "a/b.py", "http://a.b/?c=d", "日本語", "привет", "مرحبا", "🦙", "👨\u200d👩\u200d👧"]
WORDS += ["e\u0301", "\u0301", "¿qué?", "ß", "ﬁ", "K", "ſ"]
PUNCTUATION = [".", ",", "!", "?!", "...", ":", ";", '"', "'", "`", "```", "(", ")]", "{", "}}"]
PUNCTUATION += ["\\", "/", "--", "<", "|>"]
SPACES = [" ", " ", " ", "  ", "\n", "\n\n", "\n  ", "\t", " \n", "\r\n", "\u00a0", "\u3000", "\u2028"]
EDGES = ["", "", "", "", "", "", " ", "\n", "\n\n", "  \n", "\t", "."]
CONTROL = ["<|im_end|>", "<|im_start|>", "<|endoftext|>"]
CONTROL += ["<|eot_id|>", "<|begin_of_text|>", "<|start_header_id|>"]
TAGS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>"]
TAGS += ["<tools>", "<|im_end", "|im_end|>"]
NAMES = ["f", "get_weather", "search.web", "naïve", 'q"uote', "日本", "a b"]
KEYS = ["a", "place", "日", "a b", "0"]


@dataclass(frozen=True)
class Case:
    """A call of `render`."""

    messages: list[Message]
    tools: list[Message] | None
    add_generation_prompt: bool


class ChatGenerator:
    """Draws conversations. Each has a few of the odd features only, so that most of it is plain."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._odd: set[str] = set()

    def case(self) -> Case:
        """Draw the arguments of one call."""
        draw = self._random
        odd = {
            "reasoning": 0.6,
            "markers": 0.12,
            "lists": 0.12,
            "losses": 0.1,
            "think_in_text": 0.1,
            "other_keys": 0.05,
        }
        self._odd = {feature for feature, share in odd.items() if draw.random() < share}
        if "losses" in self._odd:
            self._odd.discard("lists")
        roles = self._roles()
        messages = [self._message(role) for role in roles]
        tools = None
        if self._chance(0.3):
            tools = [self._tool() for _ in range(draw.choice([0, 1, 1, 1, 2, 3]))]
        return Case(messages, tools, self._chance(0.5))

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _roles(self) -> list[str]:
        draw = self._random
        if self._chance(0.1):
            roles = ["system", "user", "assistant", "tool"]
            return [draw.choice(roles) for _ in range(draw.randint(1, 6))]
        roles = ["system"] if self._chance(0.5) else []
        for _ in range(draw.randint(1, 4)):
            roles.append("user")
            while self._chance(0.3):
                roles += ["assistant"] + ["tool"] * draw.randint(1, 2)
            roles.append("assistant")
        if self._chance(0.3):
            roles.pop()
        return roles

    def _message(self, role: str) -> Message:
        draw = self._random
        message: Message = {"role": role, "content": self._content(role)}
        if role == "assistant":
            if "reasoning" in self._odd and self._chance(0.5):
                keys = ["thinking", "reasoning"] if "other_keys" in self._odd else ["reasoning_content"]
                message[draw.choice(keys)] = self.text()
            if self._chance(0.35):
                message["tool_calls"] = [self._call() for _ in range(draw.choice([1, 1, 1, 1, 2]))]
                if self._chance(0.8):
                    message["content"] = draw.choice(["", None])
                if self._chance(0.1):
                    del message["content"]
        if role == "tool":
            if self._chance(0.6):
                message["tool_call_id"] = draw.choice(["c1", "c2", "c3"])
            if self._chance(0.2):
                message["name"] = draw.choice(NAMES)
        if "losses" in self._odd and self._chance(0.5):
            self._add_loss(message)
        return message

    def _add_loss(self, message: Message) -> None:
        match self._random.randint(0, 6):
            case 0:
                message["role"] = self._random.choice(["developer", "ipython", "critic"])
            case 1:
                message["tool_calls"] = [self._call()]
            case 2:
                message["reasoning_content"] = self.text()
            case 3:
                message["content"] = "before <think>\nr\n</think>\n\nafter"
            case 4:
                message["content"] = "<think>\na</think> b </think>\nc"
            case 5:
                message["content"] = [self.text(), {"type": "image", "image": "a"}, self.text()]
            case 6:
                del message["role"]

    def _content(self, role: str) -> Any:
        if self._chance(0.04):
            return self._random.choice(["", None])
        if role == "user" and self._chance(0.03):
            return self._pad("<tool_response>\n" + self.text() + "\n</tool_response>")
        if "think_in_text" in self._odd and role == "assistant":
            opening = self._random.choice(["<think>", "<think>\n", "\n<think>\n\n", ""])
            return opening + self.text() + self._random.choice(["</think>", "\n</think>\n\n"]) + self.text()
        if "lists" in self._odd and self._chance(0.5):
            return [self._part() for _ in range(self._random.randint(0, 3))]
        return self.text()

    def _part(self) -> Any:
        text = self.text()
        return self._random.choice([text, {"type": "text", "text": text}, {"text": text}])

    def text(self) -> str:
        """Draw a text."""
        draw = self._random
        pieces = []
        for _ in range(draw.choice([1, 2, 4, 8, 16, 40])):
            kinds = [WORDS, WORDS, WORDS, PUNCTUATION, SPACES]
            if "markers" in self._odd and self._chance(0.15):
                kinds = [CONTROL, TAGS]
            pieces.append(draw.choice(draw.choice(kinds)))
            if self._chance(0.6):
                pieces.append(" ")
        return self._pad("".join(pieces).strip())

    def _pad(self, text: str) -> str:
        return self._random.choice(EDGES) + text + self._random.choice(EDGES)

    def _json(self, depth: int = 0) -> Any:
        draw = self._random
        if depth < 3 and self._chance(0.4):
            if self._chance(0.5):
                return [self._json(depth + 1) for _ in range(draw.randint(0, 3))]
            return {draw.choice(KEYS): self._json(depth + 1) for _ in range(draw.randint(0, 3))}
        return draw.choice([self.text(), 1, -7, 1.5, 1e22, 10**20, True, False, None, "", float("nan")])

    def _call(self) -> Message:
        draw = self._random
        arguments: Any = {draw.choice(KEYS): self._json(1) for _ in range(draw.randint(0, 3))}
        match draw.randint(0, 9):
            case 0:
                arguments = '{"a":1, "b":  "x"}'
            case 1:
                arguments = draw.choice(["", "no json", "[1]"])
            case 2:
                arguments = self._json(1)
        call: Message = {"name": draw.choice(NAMES), "arguments": arguments}
        if self._chance(0.1):
            del call["arguments"]
        if self._chance(0.8):
            call = {"type": "function", "function": call}
        if self._chance(0.7):
            call["id"] = draw.choice(["c1", "c2", "c3"])
        return call

    def _tool(self) -> Message:
        properties = {key: {"type": "string", "description": self.text()} for key in KEYS[:2]}
        function = {
            "name": self._random.choice(NAMES),
            "description": self.text(),
            "parameters": {"type": "object", "properties": properties, "more": self._json(1)},
        }
        return {"type": "function", "function": function} if self._chance(0.8) else function
