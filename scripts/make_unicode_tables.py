"""Write cpp/src/unicode_tables.inc from the Unicode data of the Python that runs this.

Usage: python scripts/make_unicode_tables.py
"""

import sys
import textwrap
import unicodedata
from pathlib import Path

TARGET = Path(__file__).parent.parent / "cpp" / "src" / "unicode_tables.inc"


def printable_changes() -> list[int]:
    """Return each code point whose `str.isprintable` differs from the one before; U+0000 is not printable."""
    changes: list[int] = []
    printable = False
    for code_point in range(sys.maxunicode + 1):
        if chr(code_point).isprintable() != printable:
            printable = not printable
            changes.append(code_point)
    return changes


def main() -> None:
    numbers = ", ".join(f"0x{code_point:X}" for code_point in printable_changes())
    rows = textwrap.fill(numbers, width=108, initial_indent="    ", subsequent_indent="    ")
    TARGET.write_text(
        f"// Written by scripts/make_unicode_tables.py. Unicode {unicodedata.unidata_version}.\n"
        "\n"
        "// Printable and non-printable code points take turns: from the first number on they are printable,\n"
        "// from the second on they are not, and so on.\n"
        f"constexpr char32_t kPrintableChanges[] = {{\n{rows}}};\n",
        encoding="utf-8",
        newline="\n",
    )


if __name__ == "__main__":
    main()
