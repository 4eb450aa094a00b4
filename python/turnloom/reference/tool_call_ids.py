"""Tool-call ids that a provider accepts: the rules, one id after the other."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from turnloom._arguments import int_from
from turnloom.reference.hashing import MAX_UINT64, hash_bytes, round_bytes
from turnloom.reference.messages import Message, ToolCall, read_conversation
from turnloom.reference.place import Place, read_string
from turnloom.tool_call_ids import ConformedMessages

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
MAX_LENGTH = 2**31 - 1
MAX_ROUNDS = 2**16
KIMI_ID = re.compile(r"functions\.(.+):[0-9]+", re.DOTALL)


@dataclass(frozen=True)
class ToolCallIdFormat:
    """Which ids are accepted, and what replaces one that is not."""

    kind: str
    n: int | None = None
    _hash_mask: int = field(default=MAX_UINT64, repr=False)

    @staticmethod
    def any() -> "ToolCallIdFormat":
        """Accept every id."""
        return ToolCallIdFormat("any")

    @staticmethod
    def max_length(n: int) -> "ToolCallIdFormat":
        """Accept up to `n` characters."""
        return ToolCallIdFormat("max_length", int_from(n, "n", lowest=1, highest=MAX_LENGTH))

    @staticmethod
    def url_safe() -> "ToolCallIdFormat":
        """Accept one or more of `[A-Za-z0-9_-]`."""
        return ToolCallIdFormat("url_safe")

    @staticmethod
    def bedrock() -> "ToolCallIdFormat":
        """Accept 1 to 64 of `[a-zA-Z0-9_.:-]`."""
        return ToolCallIdFormat("bedrock")

    @staticmethod
    def alphanumeric(n: int) -> "ToolCallIdFormat":
        """Accept exactly `n` of `[A-Za-z0-9]`."""
        return ToolCallIdFormat("alphanumeric", int_from(n, "n", lowest=1, highest=MAX_LENGTH))

    @staticmethod
    def kimi() -> "ToolCallIdFormat":
        """Accept `functions.{name}:{index}`."""
        return ToolCallIdFormat("kimi")

    @staticmethod
    def preset(name: str) -> "ToolCallIdFormat":
        """Give the format of a provider."""
        presets: dict[str, Callable[[], ToolCallIdFormat]] = {
            "openai_40": lambda: ToolCallIdFormat.max_length(40),
            "openai_64": lambda: ToolCallIdFormat.max_length(64),
            "anthropic": ToolCallIdFormat.url_safe,
            "mistral": lambda: ToolCallIdFormat.alphanumeric(9),
            "bedrock": ToolCallIdFormat.bedrock,
            "gemini": ToolCallIdFormat.any,
            "kimi": ToolCallIdFormat.kimi,
        }
        if name not in presets:
            raise KeyError(f"name: unknown preset {name!r}, expected one of {', '.join(presets)}")
        return presets[name]()

    def accepts(self, id: str) -> bool:
        """Say whether an id fits as it is."""
        return self._accepts(read_string(id, Place("id")))

    def conform(self, id: str) -> str:
        """Give an id that is accepted or empty as it is, and the replacement of any other."""
        return self._conform(read_string(id, Place("id")))

    def conform_batch(self, ids: Sequence[str]) -> list[str]:
        """Conform many ids, each by itself."""
        if not isinstance(ids, list | tuple):
            raise TypeError(f"ids: expected list, tuple or an Arrow string array, got {type(ids).__name__}")
        place = Place("ids")
        return [self._conform(id) for id in [read_string(id, place.index(i)) for i, id in enumerate(ids)]]

    def conform_messages(self, messages: Sequence[Mapping[str, object]]) -> ConformedMessages:
        """Conform all ids of a conversation, so that every result has the id of the call it answers."""
        read = read_conversation(messages, None).messages
        if not read:
            raise ValueError("messages: no messages")
        conversation = _Conversation(self)
        conformed = [conversation.add(given, message) for given, message in zip(messages, read, strict=True)]
        return ConformedMessages(conformed, conversation.mapping)

    def replacement(self, id: str, round: int) -> str:
        """Give what stands for an id, accepted or not, in a round."""
        if self.kind == "kimi":
            raise ValueError(
                "id: a kimi id is counted over a conversation, there is none for an id alone; "
                "use conform_messages"
            )
        if self.kind == "alphanumeric" or (self.kind == "max_length" and self._length <= 17):
            return self._hash_digits(id, round)
        if self.kind == "max_length":
            kept = id[: self._length - 17]
        elif self.kind == "url_safe":
            kept = re.sub(r"[^A-Za-z0-9_-]", "_", id[:40])
        elif self.kind == "bedrock":
            kept = re.sub(r"[^A-Za-z0-9_.:-]", "_", id[:47])
        else:
            kept = id
        return f"{kept}_{self._hash(id, round):016x}"

    @property
    def _length(self) -> int:
        assert self.n is not None
        return self.n

    def _accepts(self, id: str) -> bool:
        if self.kind == "max_length":
            return len(id) <= self._length
        if self.kind == "kimi":
            return KIMI_ID.fullmatch(id) is not None
        patterns = {
            "any": r"(?s:.*)",
            "url_safe": "[A-Za-z0-9_-]+",
            "bedrock": "[A-Za-z0-9_.:-]{1,64}",
            "alphanumeric": f"[A-Za-z0-9]{{{self.n}}}",
        }
        return re.fullmatch(patterns[self.kind], id) is not None

    def _conform(self, id: str) -> str:
        if self.kind != "kimi" and (not id or self._accepts(id)):
            return id
        return self.replacement(id, 0)

    def _hash(self, id: str, round: int) -> int:
        return hash_bytes(round_bytes(round) + id.encode()) & self._hash_mask

    def _hash_digits(self, id: str, round: int) -> str:
        """Ten digits of each hash, the least significant first."""
        digits: list[str] = []
        while len(digits) < self._length:
            value = self._hash(id, round)
            for _ in range(10):
                value, digit = divmod(value, 62)
                digits.append(DIGITS[digit])
            round += 1
        return "".join(digits[: self._length])


@dataclass
class _OpenCall:
    number: int
    id: str
    turn: int


class _Conversation:
    """The ids of the messages so far. Calls and results without a call are numbered as they come."""

    def __init__(self, format: ToolCallIdFormat) -> None:
        self.mapping: dict[str, str | None] = {}
        self._format = format
        self._ids: list[str] = []
        self._turn = 0
        self._open: list[_OpenCall] = []
        self._last_with_id: dict[str, int] = {}
        self._next_round: dict[str, int] = {}
        self._n_messages = 0

    def add(self, given: Mapping[str, object], message: Message) -> Mapping[str, object]:
        """Give a message with its new ids."""
        place = f"messages[{self._n_messages}]"
        self._n_messages += 1
        conformed = dict(given)
        if message.role != "assistant":
            self._turn += 1
        if message.role == "tool" or message.tool_call_id is not None:
            number = self._answer(message.tool_call_id or "", message.name or "", f"{place}.tool_call_id")
            conformed["tool_call_id"] = self._ids[number]
        if message.tool_calls:
            calls: list[dict[str, object]] = given["tool_calls"]  # type: ignore[assignment]  # it has been read
            conformed["tool_calls"] = [
                {**call, "id": self._ids[self._add_call(read, f"{place}.tool_calls[{i}].id")]}
                for i, (call, read) in enumerate(zip(calls, message.tool_calls, strict=True))
            ]
        return conformed

    def _add_call(self, call: ToolCall, place: str) -> int:
        id = call.id or ""
        number = self._add_id(id, call.name, place)
        self._open.append(_OpenCall(number, id, self._turn))
        if id:
            self._last_with_id[id] = number
        return number

    def _answer(self, id: str, name: str, place: str) -> int:
        number = self._find_call(id)
        if number is None:
            kimi_id = KIMI_ID.fullmatch(id)
            number = self._add_id(id, name or (kimi_id[1] if kimi_id else "unknown"), place)
        if id:
            self._last_with_id.setdefault(id, number)
        return number

    def _find_call(self, id: str) -> int | None:
        if not id:
            return self._take_open(lambda call: True)
        number = self._take_open(lambda call: call.id == id)
        if number is None:
            number = self._last_with_id.get(id)
        if number is None:
            number = self._take_open(lambda call: not call.id)
        return number

    def _take_open(self, fits: Callable[[_OpenCall], bool]) -> int | None:
        """Take the first call without a result in the newest turn that has one that fits."""
        fitting = [call for call in self._open if fits(call)]
        if not fitting:
            return None
        call = next(call for call in fitting if call.turn == fitting[-1].turn)
        self._open.remove(call)
        return call.number

    def _add_id(self, id: str, name: str, place: str) -> int:
        number = len(self._ids)
        new = f"functions.{name}:{number}" if self._format.kind == "kimi" else self._choose(id, number, place)
        self._ids.append(new)
        self.mapping[new] = id or None
        return number

    def _choose(self, id: str, number: int, place: str) -> str:
        """Give the first free one of an id's replacements; what it conforms to comes before them."""
        if not id:
            id = ToolCallIdFormat("any", None, self._format._hash_mask).replacement("call", number)
        first_round = self._next_round.get(id, 0)
        for round in range(first_round, first_round + MAX_ROUNDS):
            candidate = self._format.replacement(id, round) if round else self._format.conform(id)
            if candidate not in self.mapping:
                self._next_round[id] = round + 1
                return candidate
        raise ValueError(f"{place}: the format has no free id left")
