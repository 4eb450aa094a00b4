"""Write cpp/src/bpe/unicode_classes.inc: what the installed `tokenizers` takes each code point for.

The package's own regular expressions are asked, so the table agrees with that release whatever version of
Unicode it has.

Usage: python scripts/make_class_tables.py
"""

import sys
import textwrap
from pathlib import Path

import tokenizers
from tokenizers import Regex, pre_tokenizers

TARGET = Path(__file__).parent.parent / "cpp" / "src" / "bpe" / "unicode_classes.inc"

# Bits of a class, as `unicode_classes.hpp` names them.
CLASSES = [
    r"[\p{Lu}\p{Lt}]",
    r"\p{Ll}",
    r"[\p{Lm}\p{Lo}]",
    r"\p{M}",
    r"\p{N}",
    r"\s",
    r"[\p{P}\p{S}]",
    r"\p{Han}",
]
# A block is what the last byte of a character in UTF-8 chooses from.
BLOCK = 64


def code_points(pattern: str, text: str) -> list[int]:
    """Return the code points of the text that the package's regular expressions match."""
    split = pre_tokenizers.Split(Regex(f"{pattern}+"), "removed", invert=True)
    return [ord(character) for piece, _ in split.pre_tokenize_str(text) for character in piece]


def rows(numbers: list[int]) -> str:
    """Return numbers as the inside of a C++ array."""
    listed = ", ".join(map(str, numbers))
    return textwrap.fill(listed, width=108, initial_indent="    ", subsequent_indent="    ")


def main() -> None:
    surrogates = range(0xD800, 0xE000)
    text = "".join(chr(c) for c in range(sys.maxunicode + 1) if c not in surrogates)
    classes = bytearray(sys.maxunicode + 1)
    for bit, pattern in enumerate(CLASSES):
        for code_point in code_points(pattern, text):
            classes[code_point] |= 1 << bit

    numbers: dict[bytes, int] = {}
    block_numbers = [
        numbers.setdefault(bytes(classes[begin : begin + BLOCK]), len(numbers))
        for begin in range(0, len(classes), BLOCK)
    ]
    TARGET.write_text(
        f"// Written by scripts/make_class_tables.py. The classes of tokenizers {tokenizers.__version__}.\n"
        "\n"
        "// Which block of kClassBlocks holds the classes of the code points from 64 times the index on.\n"
        f"const std::uint16_t kClassBlockNumbers[0x110000 / {BLOCK}] = {{\n{rows(block_numbers)}}};\n"
        "\n"
        "// Bits of a class, from the lowest: " + ", ".join(CLASSES) + "\n"
        f"const std::uint8_t kClassBlocks[][{BLOCK}] = {{\n"
        + ",\n".join(f"    {{\n{rows(list(block))}}}" for block in numbers)
        + "};\n",
        encoding="utf-8",
        newline="\n",
    )


if __name__ == "__main__":
    main()
