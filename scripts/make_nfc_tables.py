"""Write cpp/src/bpe/nfc.inc: the normalisation data that the installed `tokenizers` has.

Its data is of an older Unicode than Python's and than its own regular expressions, so every number is got by
normalising characters with the package.

Usage: python scripts/make_nfc_tables.py
"""

import itertools
import sys
import textwrap
import unicodedata
from collections.abc import Iterable
from pathlib import Path

import tokenizers
from tokenizers.normalizers import NFC, NFD

TARGET = Path(__file__).parent.parent / "cpp" / "src" / "bpe" / "nfc.inc"

# A block is what the last byte of a character in UTF-8 chooses from.
BLOCK = 64
# Composed and decomposed by arithmetic.
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)
HANGUL_SECONDS = [*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)]
CHARACTERS = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]


def normalise_all(normalizer: NFC | NFD, texts: list[str]) -> list[str]:
    """Return every text normalised, one line each: a line break takes part in nothing."""
    normalised: list[str] = normalizer.normalize_str("\n".join(texts)).split("\n")
    assert len(normalised) == len(texts)
    return normalised


def decompositions() -> dict[str, str]:
    """Return the full canonical decompositions but those of Hangul."""
    characters = [c for c in CHARACTERS if c != "\n" and ord(c) not in HANGUL_SYLLABLES]
    decomposed = normalise_all(NFD(), characters)
    return {c: text for c, text in zip(characters, decomposed, strict=True) if text != c}


def combining_classes(decomposed: dict[str, str]) -> dict[str, int]:
    """Return the canonical combining class of each mark: the place it takes among marks of known classes."""
    last = "\u0345"  # no class is higher
    others = [c for c in CHARACTERS if c not in decomposed and c not in ("\n", last)]
    swapped = normalise_all(NFD(), [last + c for c in others])
    marks = [c for c, text in zip(others, swapped, strict=True) if text == c + last] + [last]
    # Where Python and the package both know a mark they agree, so a mark of each class names the class.
    known = {unicodedata.combining(c): c for c in reversed(marks)}
    ranks = sorted(known)
    pairs = [known[rank] + mark for mark in marks for rank in ranks]
    results = iter(zip(pairs, normalise_all(NFD(), pairs), strict=True))
    classes = {}
    for mark in marks:
        n_higher = sum(before != after for before, after in (next(results) for _ in ranks))
        classes[mark] = ranks[len(ranks) - 1 - n_higher]
    return classes


def compositions(decomposed: dict[str, str]) -> dict[tuple[str, str], str]:
    """Return what two characters compose to, but Hangul."""
    candidates = {c: text for c, text in decomposed.items() if len(text) > 1}
    firsts = normalise_all(NFC(), [text[:-1] for text in candidates.values()])
    pairs = [(first, text[-1]) for first, text in zip(firsts, candidates.values(), strict=True)]
    composed = normalise_all(NFC(), [first + second for first, second in pairs])
    return {
        pair: c
        for pair, c, text in zip(pairs, candidates, composed, strict=True)
        if text == c and len(pair[0]) == 1
    }


def array(declaration: str, items: Iterable[str]) -> str:
    """Return a C++ array."""
    rows = textwrap.fill(", ".join(items), width=108, initial_indent="    ", subsequent_indent="    ")
    return f"\nconstexpr {declaration} = {{\n{rows}}};\n"


def kinds(
    decomposed: dict[str, str], classes: dict[str, int], composed: dict[tuple[str, str], str]
) -> list[tuple[int, int, int, int]]:
    """Return what the quick check has to know of each code point, as the fields of a `Kind`."""
    seconds = {second for _, second in composed} | set(map(chr, HANGUL_SECONDS))
    recomposed = dict(zip(decomposed, normalise_all(NFC(), list(decomposed)), strict=True))
    found = [(0, 0, 0, 0)] * (sys.maxunicode + 1)
    for c in {*decomposed, *classes, *seconds}:
        text = decomposed.get(c, c)
        first, last = text[0], text[-1]
        decomposition = 0 if text == c else 1 if recomposed[c] == c else 2
        # Else such a character could be split when its first part composes with what is before it.
        assert decomposition != 1 or (first not in seconds and first not in classes)
        found[ord(c)] = (classes.get(first, 0), classes.get(last, 0), first in seconds, decomposition)
    return found


def main() -> None:
    decomposed = decompositions()
    classes = combining_classes(decomposed)
    composed = compositions(decomposed)
    by_code_point = kinds(decomposed, classes, composed)
    kind_numbers = {kind: number for number, kind in enumerate(sorted(set(by_code_point)))}
    numbers = bytes(kind_numbers[kind] for kind in by_code_point)
    block_numbers: dict[bytes, int] = {}
    blocks = [
        block_numbers.setdefault(numbers[begin : begin + BLOCK], len(block_numbers))
        for begin in range(0, len(numbers), BLOCK)
    ]
    assert len(block_numbers) <= 256
    pool = "".join(decomposed.values())
    ends = list(itertools.accumulate(map(len, decomposed.values())))
    begins = zip([*map(ord, decomposed), sys.maxunicode + 1], [0, *ends], strict=True)
    TARGET.write_text(
        f"// Written by scripts/make_nfc_tables.py. The NFC of tokenizers {tokenizers.__version__}.\n"
        + array("Kind kKinds[]", [f"{{{a}, {b}, {c:d}, {d}}}" for a, b, c, d in kind_numbers])
        + "\n// Which block of kKindBlocks holds the kinds of the code points from 64 times the index on."
        + array(f"std::uint8_t kKindBlockNumbers[0x110000 / {BLOCK}]", map(str, blocks))
        + array(
            f"std::uint8_t kKindBlocks[][{BLOCK}]",
            ["{" + ", ".join(map(str, b)) + "}" for b in block_numbers],
        )
        + "\n// Characters that decompose, and where their decompositions begin; each ends at the next."
        + array("Decomposition kDecompositions[]", [f"{{0x{c:X}, {begin}}}" for c, begin in begins])
        + array("char32_t kDecomposed[]", [f"0x{ord(c):X}" for c in pool])
        + array(
            "Composition kCompositions[]",
            [f"{{0x{ord(a):X}, 0x{ord(b):X}, 0x{ord(c):X}}}" for (a, b), c in sorted(composed.items())],
        ),
        encoding="utf-8",
        newline="\n",
    )


if __name__ == "__main__":
    main()
