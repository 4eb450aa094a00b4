"""turnloom's bridge against that of the `renderers` package: the same next prompt, or None on both sides.

    python bench/differential_bridge.py --conversations 4000

Prompts, completions (whole, cut off, closed in their reasoning, with ids behind the close) and new messages
are random. Differences are explained as in `differential_renderers.py`.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from renderers.configs import Llama3RendererConfig, Qwen3RendererConfig

import turnloom
from differential_renderers import UNEXPLAINED, Sides, count_reasons
from known_differences import KNOWN_DIFFERENCES, Attempt, KnownDifference
from random_chats import Case, ChatGenerator
from workloads import SHARED

RENDERED_BY_THEIRS = ("user", "system", "tool", "ipython", "assistant")

FORMS = (
    "{}",
    "<think>\n{}\n</think>\n\nYo",
    "<think>\n{}",
    "\n<think>{}</think>",
    "<think>a<tool_call>{}",
    "",
)


@dataclass(frozen=True)
class Refusal:
    """None, in the shape of what is compared."""

    token_ids: tuple[int, ...] = ()
    message_indices: tuple[int, ...] = ()
    sampled_mask: tuple[bool, ...] = ()
    is_content: tuple[bool, ...] = ()
    message_roles: str = "refused"
    message_tool_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Extension:
    """What stands behind the ids that stay."""

    token_ids: list[int]
    message_indices: list[int]
    sampled_mask: list[bool]
    is_content: list[bool]
    message_roles: list[str]
    message_tool_names: list[str | None]


def _drop_other_roles(attempt: Attempt) -> Attempt:
    def kept(case: Case) -> Case:
        messages = [message for message in case.messages if message.get("role") in RENDERED_BY_THEIRS]
        return replace(case, messages=messages)

    return replace(attempt, ours=kept(attempt.ours), theirs=kept(attempt.theirs))


NO_ROLE = KnownDifference(
    "no role",
    ("qwen3",),
    "None in renderers, as for an unknown role; turnloom refuses the message with an error",
    lambda attempt: attempt.change_both(lambda message: message.setdefault("role", "")),
)
OTHER_ROLES = KnownDifference(
    "other roles",
    ("llama-3",),
    "the template writes any role; renderers bridges four of them",
    _drop_other_roles,
)


class BridgeSides(Sides):
    """Both bridges of a family."""

    prompt: list[int]
    completion: list[int]
    _their_refusal: bool

    def draw(self, random: Random, generator: ChatGenerator) -> None:
        """Draw the prompt and the completion that the next cases go on from."""
        renderer = self._ours("trusted", "template")
        chat = [{"role": "user", "content": generator.text()}]
        self.prompt = renderer.render_ids(chat, add_generation_prompt=True)
        if random.random() < 0.1:
            self.prompt += self.tokenizer.encode(random.choice(["<think>\n", "<think>\nr", "Yo"]))
        text = generator.text()
        form = random.choice(
            [
                "{}",
                "<think>\n{}\n</think>\n\nYo",
                "<think>\n{}",
                "\n<think>{}</think>",
                "<think>a<tool_call>{}",
                "",
            ]
        )
        ids = self.tokenizer.encode(form.replace("{}", text))
        if random.random() < 0.2:
            ids = ids[: random.randrange(len(ids) + 1)]
        stops = renderer.get_stop_token_ids()
        for _ in range(random.choice([0, 1, 1, 1, 1, 2])):
            ids.append(random.choice(stops))
            if random.random() < 0.1:
                ids += self.tokenizer.encode(random.choice(["\n", "more", "<think>"]))
        self.completion = ids

    @property
    def _n_kept(self) -> int:
        stops = self._ours("trusted", "template").get_stop_token_ids()
        closes = [i + 1 for i, id_ in enumerate(self.completion) if id_ in stops]
        return len(self.prompt) + (closes[-1] if closes else len(self.completion))

    def ask_ours(self, renderer: turnloom.Renderer, case: Case) -> Any:
        """Bridge, with what the peer always does to ids behind the close."""
        return self._behind(
            renderer.bridge_to_next_turn(
                self.prompt, self.completion, case.messages, tools=case.tools, allow_trim=True
            )
        )

    def ask_theirs(self, renderer: Any, case: Case) -> Any:
        """Bridge."""
        bridged = renderer.bridge_to_next_turn(self.prompt, self.completion, case.messages, tools=case.tools)
        self._their_refusal = bridged is None
        return self._behind(bridged)

    def chunks(self) -> list[list[int]]:
        """Give what the peer encoded for its result, without the header that it looks for in a completion."""
        if self._their_refusal:
            return []
        header = self.tokenizer.encode("<|im_start|>assistant\n")
        return [chunk for chunk in super().chunks() if chunk != header]

    def known_differences(self) -> list[KnownDifference]:
        """Give those of rendering, and two more."""
        return [*KNOWN_DIFFERENCES, NO_ROLE, OTHER_ROLES]

    def _behind(self, bridged: Any) -> Any:
        if bridged is None:
            return Refusal()
        n_kept = self._n_kept
        if bridged.token_ids[:n_kept] != (self.prompt + self.completion)[:n_kept]:
            raise AssertionError("ids of the history changed")
        names = ("token_ids", "message_indices", "sampled_mask", "is_content")
        return Extension(
            *(getattr(bridged, name)[n_kept:] for name in names),
            bridged.message_roles,
            bridged.message_tool_names,
        )


class BridgeCases:
    """Draws new messages, and with them what they go on from."""

    def __init__(self, sides: BridgeSides, seed: int) -> None:
        self._sides = sides
        self._random = Random(seed)
        self._generator = ChatGenerator(seed)

    def case(self) -> Case:
        """Draw the arguments of one call."""
        case = self._generator.case()
        messages = case.messages
        if self._random.random() < 0.9:
            messages = [message for message in messages if message.get("role") != "assistant"]
        if self._random.random() < 0.6:
            messages = [message for message in messages if message.get("role") != "user"]
        self._sides.draw(self._random, self._generator)
        return replace(case, messages=messages[-3:])


def all_sides(folder: Path) -> Iterator[tuple[str, BridgeSides]]:
    """Give each pair of renderers under the name of what it renders."""
    for retention in (None, "all", "tool_cycle"):
        for thinking in (True, False):
            theirs = Qwen3RendererConfig(enable_thinking=thinking, thinking_retention=retention)
            ours = {"name": "qwen3", "enable_thinking": thinking, "thinking_retention": retention}
            path = folder / "qwen3" / "tokenizer.json"
            name = f"qwen3, enable_thinking={thinking}, thinking_retention={retention}"
            yield name, BridgeSides("qwen3", path, "Qwen/Qwen3-8B", theirs, ours)
    path, model = folder / "llama3_1" / "tokenizer.json", "meta-llama/Llama-3.2-1B-Instruct"
    sides = BridgeSides("llama-3", path, model, Llama3RendererConfig(), {"name": "llama-3.2"})
    yield "llama-3", sides


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--conversations", type=int, default=1000, help="for each config (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tokenizers", type=Path, default=SHARED / "tokenizers", help="folder (%(default)s)")
    parser.add_argument("--show", type=int, default=5, help="unexplained ones to show")
    options = parser.parse_args()
    n_unexplained = 0
    for name, sides in all_sides(options.tokenizers):
        counts = count_reasons(sides, options, BridgeCases(sides, options.seed))
        n_unexplained += counts[UNEXPLAINED]
        print(f"{name}: {options.conversations} bridges")
        for reason, count in sorted(counts.items()):
            print(f"  {count:6}  {reason}")
        sys.stdout.flush()
    return 1 if n_unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
