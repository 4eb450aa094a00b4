"""Write cpp/src/unicode_tables.inc from the Unicode data of the Python that runs this.

Usage: python scripts/make_unicode_tables.py
"""

import sys
import textwrap
import unicodedata
from collections.abc import Callable
from pathlib import Path

TARGET = Path(__file__).parent.parent / "cpp" / "src" / "unicode_tables.inc"


# Other_Alphabetic outside the mark categories: circled and squared Latin letters.
OTHER_ALPHABETIC = [
    range(0x24B6, 0x24EA),
    range(0x1F130, 0x1F14A),
    range(0x1F150, 0x1F16A),
    range(0x1F170, 0x1F18A),
]
JOIN_CONTROLS = (0x200C, 0x200D)


def is_word(code_point: int) -> bool:
    """Whether `\\w` of regular expressions (UTS 18) matches: letters, marks, digits, connectors, joiners."""
    category = unicodedata.category(chr(code_point))
    return (
        category[0] in "LM"
        or category in ("Nd", "Nl", "Pc")
        or code_point in JOIN_CONTROLS
        or any(code_point in block for block in OTHER_ALPHABETIC)
    )


def changes(holds: Callable[[int], bool]) -> list[int]:
    """Return each code point for which `holds` differs from the one before; it does not hold for U+0000."""
    found: list[int] = []
    before = False
    for code_point in range(sys.maxunicode + 1):
        if holds(code_point) != before:
            before = not before
            found.append(code_point)
    return found


def table(name: str, comment: str, numbers: list[int]) -> str:
    """Return a C++ array in which runs of code points that have a property and that lack it take turns."""
    listed = ", ".join(f"0x{number:X}" for number in numbers)
    rows = textwrap.fill(listed, width=108, initial_indent="    ", subsequent_indent="    ")
    return f"\n// {comment}\n[[maybe_unused]] constexpr char32_t {name}[] = {{\n{rows}}};\n"


def main() -> None:
    TARGET.write_text(
        f"// Written by scripts/make_unicode_tables.py. Unicode {unicodedata.unidata_version}.\n"
        "\n"
        "// In each table code points that have the property and those that lack it take turns: they have\n"
        "// it from the first number on, lack it from the second on, and so on.\n"
        + table("kPrintableChanges", "str.isprintable of Python", changes(lambda c: chr(c).isprintable()))
        + table("kWordChanges", "word characters of regular expressions", changes(is_word)),
        encoding="utf-8",
        newline="\n",
    )


if __name__ == "__main__":
    main()
