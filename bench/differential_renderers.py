"""turnloom against the `renderers` package on random conversations: every column, every difference explained.

    python bench/differential_renderers.py --conversations 4000

A difference is explained by a rewrite of the call after which the two agree (`known_differences.py` lists
them), or by the places where `renderers` ends one encode and begins the next, across which nothing merges
there. Anything else is unexplained: it is shown, made as small as it gets, and the program fails.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import renderers
from renderers.configs import Llama3RendererConfig, Qwen3RendererConfig
from transformers import PreTrainedTokenizerFast

import turnloom
from known_differences import KNOWN_DIFFERENCES, Attempt, KnownDifference
from random_chats import Case, ChatGenerator
from token_columns import chunk_borders, compare
from workloads import SHARED

BORDERS = "chunk borders"
UNEXPLAINED = "unexplained"


class Recorder:
    """A tokenizer for `renderers` that remembers the result of each encode."""

    def __init__(self, path: Path, name: str) -> None:
        self._tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(path), name_or_path=name)
        self.name_or_path = name
        self.unk_token_id = self._tokenizer.unk_token_id
        self.eos_token_id = self._tokenizer.eos_token_id
        self.convert_tokens_to_ids = self._tokenizer.convert_tokens_to_ids
        self.decode = self._tokenizer.decode
        self.chunks: list[list[int]] = []

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=add_special_tokens)
        self.chunks.append(ids)
        return ids

    def __call__(self, text: str, **options: Any) -> Any:
        encoding = self._tokenizer(text, **options)
        if text != "a":  # what renderers asks to see whether there are offsets
            self.chunks.append(encoding["input_ids"])
        return encoding


@dataclass(frozen=True)
class Outcome:
    """How one call compares."""

    unexplained: str | None = None
    """What differs; None if nothing does, or reasons account for it."""
    reasons: frozenset[str] = frozenset()
    refused: bool = False
    """By both."""


class Sides:
    """Both renderers of a family."""

    def __init__(self, family: str, path: Path, model: str, theirs: Any, ours: dict[str, Any]) -> None:
        self.family = family
        self._recorder = Recorder(path, model)
        self._theirs = renderers.create_renderer(self._recorder, theirs)
        self.tokenizer = turnloom.load_tokenizer(path)
        self._config = turnloom.config_from_name(**ours)
        self._ours = lru_cache(self._make_ours)
        self._bytes_of = lru_cache(maxsize=None)(lambda id_: self.tokenizer.decode_bytes([id_]))

    def _make_ours(self, marker_policy: str, on_loss: str) -> turnloom.Renderer:
        options = {"marker_policy": marker_policy, "on_loss": on_loss}
        return turnloom.create_renderer(self.tokenizer, self._config.model_copy(update=options))

    def ask_ours(self, renderer: turnloom.Renderer, case: Case) -> Any:
        """Make the call that is compared."""
        return renderer.render(
            case.messages, tools=case.tools, add_generation_prompt=case.add_generation_prompt
        )

    def ask_theirs(self, renderer: Any, case: Case) -> Any:
        """Make it on the other side."""
        return renderer.render(
            case.messages, tools=case.tools, add_generation_prompt=case.add_generation_prompt
        )

    def chunks(self) -> list[list[int]]:
        """Give what the peer encoded for its last result."""
        return self._recorder.chunks

    def known_differences(self) -> list[KnownDifference]:
        """Give the differences that may explain what is found."""
        return KNOWN_DIFFERENCES

    def examine(self, case: Case) -> Outcome:
        """Render a conversation on both sides, and rewrite it until they agree."""
        attempt = Attempt(case, case)
        outcome = self._try(attempt)
        applied: list[KnownDifference] = []
        for known in self.known_differences():
            if _agree(outcome, applied):
                break
            if self.family not in known.families:
                continue
            rewritten = known.rewrite(attempt)
            if rewritten != attempt:
                attempt = rewritten
                applied.append(known)
                outcome = self._try(attempt)
        if not _agree(outcome, applied):
            return replace(outcome, unexplained=outcome.unexplained or "both refuse what was rewritten")
        for known in list(applied):
            fewer = [other for other in applied if other is not known]
            without = self._try(_apply(fewer, case))
            if _agree(without, fewer):
                applied, outcome = fewer, without
        return replace(outcome, reasons=outcome.reasons | {known.name for known in applied})

    def _try(self, attempt: Attempt) -> Outcome:
        ours, our_error = _attempt(
            self.ask_ours, self._ours(attempt.marker_policy, attempt.on_loss), attempt.ours
        )
        self._recorder.chunks = []
        theirs, their_error = _attempt(self.ask_theirs, self._theirs, attempt.theirs)
        if our_error and their_error:
            return Outcome(refused=True)
        if our_error or their_error:
            return Outcome(
                unexplained=f"turnloom: {our_error or 'renders'}\nrenderers: {their_error or 'renders'}"
            )
        borders = chunk_borders(theirs.token_ids, self.chunks(), self._bytes_of)
        difference = compare(ours, theirs, borders, self._bytes_of)
        if difference is None:
            return Outcome()
        return (
            Outcome(reasons=frozenset({BORDERS}))
            if difference.only_borders
            else Outcome(unexplained=difference.text)
        )


def _agree(outcome: Outcome, applied: list[KnownDifference]) -> bool:
    """Tell whether nothing is left to explain. A rewrite that both refuse explains nothing."""
    return outcome.unexplained is None and not (outcome.refused and applied)


def _apply(known_differences: list[KnownDifference], case: Case) -> Attempt:
    attempt = Attempt(case, case)
    for known in known_differences:
        attempt = known.rewrite(attempt)
    return attempt


def _attempt(ask: Callable[[Any, Case], Any], renderer: Any, case: Case) -> tuple[Any, str | None]:
    try:
        return ask(renderer, case), None
    except Exception as error:  # renderers raises whatever its code runs into
        return None, f"{type(error).__name__}: {error}"


def shrink(case: Case, still_fails: Callable[[Case], bool]) -> Case:
    """Take away from a case whatever it does not need to fail."""
    while (smaller := next(filter(still_fails, _smaller(case)), None)) is not None:
        case = smaller
    return case


def _smaller(case: Case) -> Iterator[Case]:
    if case.tools:
        for i in range(len(case.tools)):
            yield replace(case, tools=case.tools[:i] + case.tools[i + 1 :])
    if case.tools is not None:
        yield replace(case, tools=None)
    if case.add_generation_prompt:
        yield replace(case, add_generation_prompt=False)
    for i, message in enumerate(case.messages):
        rest = case.messages[:i], case.messages[i + 1 :]
        if len(case.messages) > 1:
            yield replace(case, messages=[*rest[0], *rest[1]])
        for key, value in message.items():
            if key != "role":
                less = {other: message[other] for other in message if other != key}
                yield replace(case, messages=[*rest[0], less, *rest[1]])
            for shorter in _shorter(value) if key not in ("role", "tool_call_id") else ():
                yield replace(case, messages=[*rest[0], message | {key: shorter}, *rest[1]])


def _shorter(value: Any) -> Iterator[Any]:
    if not isinstance(value, (str, list)) or not value:
        return
    step = max(1, len(value) // 2)
    while True:
        for begin in range(0, len(value), step):
            yield value[:begin] + value[begin + step :]
        if step == 1:
            return
        step //= 2


def all_sides(folder: Path) -> Iterator[tuple[str, Sides]]:
    """Give each pair of renderers under the name of what it renders."""
    qwen3 = folder / "qwen3" / "tokenizer.json"
    for thinking in (True, False):
        theirs = Qwen3RendererConfig(enable_thinking=thinking)
        ours = {"name": "qwen3", "enable_thinking": thinking, "reemit_empty_thinking": True}
        yield f"qwen3, enable_thinking={thinking}", Sides("qwen3", qwen3, "Qwen/Qwen3-8B", theirs, ours)
    llama3 = folder / "llama3_1" / "tokenizer.json"
    for in_user in (True, False):
        theirs = Llama3RendererConfig(tools_in_user_message=in_user)
        ours = {"name": "llama-3.2", "tools_in_user_message": in_user}
        model = "meta-llama/Llama-3.2-1B-Instruct"
        yield f"llama-3, tools_in_user_message={in_user}", Sides("llama-3", llama3, model, theirs, ours)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--conversations", type=int, default=2000, help="for each config (default %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tokenizers", type=Path, default=SHARED / "tokenizers", help="folder (%(default)s)")
    parser.add_argument("--show", type=int, default=5, help="unexplained ones to show")
    options = parser.parse_args()
    n_unexplained = 0
    for name, sides in all_sides(options.tokenizers):
        counts = count_reasons(sides, options, ChatGenerator(options.seed))
        n_unexplained += counts[UNEXPLAINED]
        print(f"{name}: {options.conversations} conversations")
        for reason, count in sorted(counts.items()):
            print(f"  {count:6}  {reason}")
        sys.stdout.flush()
    return 1 if n_unexplained else 0


class Cases(Protocol):
    """Draws cases."""

    def case(self) -> Case: ...


def count_reasons(sides: Sides, options: argparse.Namespace, cases: Cases) -> Counter[str]:
    """Examine random cases; show those that nothing explains."""
    counts: Counter[str] = Counter()
    for _ in range(options.conversations):
        case = cases.case()
        outcome = sides.examine(case)
        if outcome.unexplained is not None:
            counts[UNEXPLAINED] += 1
            if counts[UNEXPLAINED] <= options.show:
                small = shrink(case, lambda it: sides.examine(it).unexplained is not None)
                print(f"{UNEXPLAINED}: {small}\n{sides.examine(small).unexplained}\n")
        elif not outcome.reasons:
            counts["refused by both" if outcome.refused else "equal in every column"] += 1
        counts.update(f"differs: {reason}" for reason in outcome.reasons)
    return counts


if __name__ == "__main__":
    sys.exit(main())
