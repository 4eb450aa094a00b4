"""turnloom against the `renderers` package on random completions: every difference explained.

    python bench/differential_parse.py --completions 20000

The differences are those that docs/parsing.md lists. Anything else is shown, and the program fails.
"""

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import renderers
from renderers.configs import Llama3RendererConfig, Qwen3RendererConfig
from transformers import PreTrainedTokenizerFast

import turnloom
from workloads import SHARED

CALLS = [
    '{"name": "f", "arguments": {}}',
    '{"name": "f", "arguments": {"a": 1, "b": [true, null, 1.5e3]}}',
    '{"arguments": {"t": "x\\n\\u00e9 \\ud83c\\udf78"}, "name": "g"}',
    '{"name": "f", "parameters": {"a": {"b": {}}}}',
    '{"name": "g"}',
    '{"name": "f", "arguments": "str"}',
    '{"name": "", "arguments": {"a": 1}}',
    '{"name": 5, "arguments": {}}',
    '{"name": null, "parameters": {}}',
    '{"name": "f", "name": "g", "arguments": {}}',
    '{"name": "f", "arguments": {"a": 1, "a": 2}}',
    '{"name": "f", "arguments": {"a": NaN}}',
    '{"name": "f", "arguments": {"s": "\\ud83c"}}',
    '{"name": "f", "arguments": {"a": True}}',
    '{"name": "f", "arguments": {"t": "a</tool_call>b"}}',
    '{"name": "f", "arguments": {"t": "a<tool_call>b"}}',
    '{"name": "f", "arguments": {"t": "x',
    '{"arguments": {}}',
    '{"age": 36}',
    "[1, 2]",
    "{",
    "12345678901234567890123",
    "",
]
TEXTS = ["Hi", " ", "\n", "\n\n", "\u00e9\U0001f999", "{}", '"', "; ", ", ", "[", "]", "a <b> c", "\u00a0"]
MARKERS = [
    "<think>",
    "</think>",
    "<think>\n",
    "\n</think>\n\n",
    "<tool_call>",
    "</tool_call>",
    "<|python_tag|>",
]
STOPS = ["<|im_end|>", "<|endoftext|>", "<|eot_id|>"]


class Completions:
    """Random completions of one vocabulary."""

    def __init__(self, tokenizer: turnloom.Tokenizer, seed: int) -> None:
        self._tokenizer = tokenizer
        self._random = random.Random(seed)

    def __iter__(self) -> Iterator[list[int]]:
        while True:
            yield self._next()

    def _next(self) -> list[int]:
        parts = []
        if self._random.random() < 0.3:  # where the format of Llama looks for calls
            parts.append(self._random.choice(["", "", "<|python_tag|>", "["]) + self._random.choice(CALLS))
        for _ in range(self._random.choice([0, 0, 1, 2, 4, 6])):
            call = self._random.choice(CALLS)
            parts.append(
                self._random.choice(
                    [
                        self._random.choice(TEXTS),
                        self._random.choice(MARKERS),
                        call,
                        f"<tool_call>\n{call}\n</tool_call>",
                        f"<tool_call>\n{call}\n</tool_call>",
                        f"<think>\nr\n</think>\n\n{call}",
                    ]
                )
            )
        if self._random.random() < 0.2:
            parts.append(self._random.choice(STOPS))
        ids = self._tokenizer.encode("".join(parts))
        for _ in range(self._random.choice([0, 0, 0, 1, 2])):
            position = self._random.randint(0, len(ids))
            match self._random.randint(0, 3):
                case 0:
                    ids.insert(position, self._random.randrange(self._tokenizer.vocab_size))
                case 1:
                    del ids[position : position + self._random.randint(1, 3)]
                case 2:
                    del ids[position:]
                case 3:
                    ids[position:position] = ids[position : position + self._random.randint(1, 3)]
        return ids


class Unexplained(Exception):
    """A difference that no rule covers."""


def whole_characters(value: Any) -> Any:
    """Replace halves of characters in a value of theirs."""
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, list):
        return [whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {whole_characters(key): whole_characters(item) for key, item in value.items()}
    return value


def compare_call(ours: turnloom.ParsedToolCall, theirs: Any) -> Iterator[str]:
    """Give the differences of two calls with the same text."""
    status = (ours.status.value, theirs.status.value)
    if status == ("malformed_structure", "ok"):
        yield ("a name, or arguments, twice" if isinstance(theirs.name, str) else "a name that is no string")
    elif status == ("malformed_structure", "missing_name"):
        yield "a name that is no string"
    elif status[0] == "invalid_json" and re.search("NaN|Infinity", ours.raw):
        yield "NaN"
    elif status[0] != status[1]:
        raise Unexplained("status")
    elif status[0] != "ok":
        if (ours.name, ours.arguments) != (theirs.name, theirs.arguments):
            yield "what could be read of a bad call"
    elif (ours.name, repr(ours.arguments)) != (theirs.name, repr(theirs.arguments)):
        if (ours.name, ours.arguments) != (theirs.name, whole_characters(theirs.arguments)):
            raise Unexplained("arguments")
        yield "half of a surrogate pair"


def compare_qwen(ids: list[int], ours: turnloom.ParsedResponse, theirs: Any, parse: Any) -> Iterator[str]:
    """Give the differences between two responses."""
    if ours.reasoning_content != theirs.reasoning_content:
        raise Unexplained("reasoning")
    if ours.reasoning_complete != theirs.reasoning_complete:
        raise Unexplained("reasoning_complete")
    before = ours
    if ours.tool_calls:
        before = parse(ids[: ours.tool_calls[0].token_span[0]])
        if before.content != ours.content:
            yield "text between and behind calls"
    # Cut there, reasoning that the call has ended has no end.
    if before.reasoning_complete and before.content != theirs.content:
        raise Unexplained("content")
    for call, other in zip(ours.tool_calls, theirs.tool_calls, strict=False):
        if call.token_span != other.token_span:
            return (yield from explain_spans(ids, call, other))
        if call.raw != other.raw:
            raise Unexplained("raw")
        yield from compare_call(call, other)
    if len(ours.tool_calls) != len(theirs.tool_calls):
        raise Unexplained("number of calls")


def explain_spans(ids: list[int], ours: turnloom.ParsedToolCall, theirs: Any) -> Iterator[str]:
    """Calls with other ends: there is a marker inside one of them."""
    begin = ours.token_span[0]
    if begin != theirs.token_span[0]:
        raise Unexplained("where a call begins")
    end = max(ours.token_span[1], theirs.token_span[1])
    if not MARKER_IDS & set(ids[begin + 1 : end]):
        raise Unexplained("where a call ends")
    yield "a marker inside a call"


MARKER_IDS: set[int] = set()


def compare_llama(ids: list[int], ours: turnloom.ParsedResponse, theirs: Any, parse: Any) -> Iterator[str]:
    """Give the differences between two responses."""
    our_calls, their_calls = ours.tool_calls, theirs.tool_calls
    if not our_calls and not their_calls:
        if ours.content != theirs.content:
            raise Unexplained("content")
    elif not our_calls:
        (call,) = their_calls
        if not {"parameters", "arguments"} & json.loads(call.raw).keys():
            yield "a bare name"
        elif isinstance(call.arguments, dict) and "NaN" not in call.raw and not call.raw.startswith('{"age'):
            raise Unexplained("no call")
        else:
            yield "NaN" if "NaN" in call.raw else "arguments that are no object"
    elif not their_calls:
        text = theirs.content
        if "<|python_tag|>" in text:
            yield "the python tag"
        elif text.startswith("[") or ";" in text:
            yield "several calls, or a list"
        elif our_calls[0].status.value == "malformed_structure":
            yield "a name that is no string"
        else:
            raise Unexplained("call")
    else:
        yield from compare_call(our_calls[0], their_calls[0])


def main() -> int:
    """Run it."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--completions", type=int, default=20_000)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    found: Counter[str] = Counter()
    n_unexplained = 0
    for family, folder, config, compare in (
        ("qwen3", "qwen3", Qwen3RendererConfig(), compare_qwen),
        ("llama-3.2", "llama3_1", Llama3RendererConfig(), compare_llama),
    ):
        path = SHARED / "tokenizers" / folder / "tokenizer.json"
        tokenizer = turnloom.load_tokenizer(path)
        MARKER_IDS.update(
            id_ for text, id_ in tokenizer.added_tokens.items() if text in ("<tool_call>", "</tool_call>")
        )
        parse = turnloom.create_renderer(tokenizer, turnloom.config_from_name(family)).parse_response
        peer = renderers.create_renderer(PreTrainedTokenizerFast(tokenizer_file=str(path)), config)
        for ids, _ in zip(Completions(tokenizer, options.seed), range(options.completions), strict=False):
            ours, theirs = parse(ids), peer.parse_response(ids)
            try:
                differences = list(compare(ids, ours, theirs, parse))
            except Unexplained as difference:
                n_unexplained += 1
                if n_unexplained <= 5:
                    print(f"{family}: {difference}\n  {tokenizer.decode(ids)!r}\n  {ours}\n  {theirs}")
                continue
            found.update(f"{family}: {name}" for name in differences or ["the same"])
    for name, count in sorted(found.items()):
        print(f"{count:8} {name}")
    print(f"{n_unexplained:8} unexplained")
    return int(n_unexplained > 0)


if __name__ == "__main__":
    sys.exit(main())
