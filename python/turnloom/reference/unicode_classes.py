"""White space and word characters as the `tokenizers` package, or Rust's regex crate, knows them."""

import unicodedata

# White_Space. Python's str.isspace has U+001C to U+001F, too.
_SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

# Alphabetic, but neither letters nor marks: letters in circles and squares.
_OTHER_ALPHABETIC = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))


def leading_space(text: bytes) -> int:
    """Count the bytes of white space at the start."""
    decoded = text.decode()
    return len(text) - len(decoded.lstrip(_SPACES).encode())


def trailing_space(text: bytes) -> int:
    """Count the bytes of white space at the end."""
    decoded = text.decode()
    return len(text) - len(decoded.rstrip(_SPACES).encode())


def starts_with_word_character(text: bytes) -> bool:
    """Tell whether the first character, if there is one, may be part of a word; a cut one does not count."""
    return _is_word_character(text.decode(errors="ignore")[:1])


def ends_with_word_character(text: bytes) -> bool:
    """Tell the same of the last character."""
    return _is_word_character(text.decode(errors="ignore")[-1:])


def _is_word_character(character: str) -> bool:
    if not character:
        return False
    category = unicodedata.category(character)
    if category[0] in "LM" or category in ("Nd", "Nl", "Pc") or character in "\u200c\u200d":
        return True
    return any(first <= ord(character) <= last for first, last in _OTHER_ALPHABETIC)
