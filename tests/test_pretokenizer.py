"""Pre-tokens and NFC of the core against the `tokenizers` package."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from turnloom._core import is_nfc, normalise_nfc, split_text
from turnloom._split_patterns import SPLIT_PATTERNS

SPACES = [*" \t\n\r\v", "\r\n", "  ", "\u0085", "\u00a0", "\u1680", "\u2028", "\u3000"]
CONTRACTIONS = ["'s", "'LL", "'re", "'Ve", "'m", "'", "''", "'\u017f", "\u2019s"]
NUMBERS = ["1", "23", "4567", "\u0663", "\u2167", "\u00bd", "\u3007"]
LETTERS = [*"abcXYZ", "word", "\u00e9", "\u00c9", "\u01c5", "\u02b0", "\u0436", "\u4e2d", "\u3005", "\u30ab"]
MARKS = ["\u0301", "\u0323", "\u093f", "\u0e31", "\u05b7", "\u0345", "\ufe0f", "\u093c", "\u3099"]
OTHERS = ["!", "/", "--", "(", "\u2014", "\u30fb", "\u200d", "\U0001f999", "\0", "\x7f", "\u180e", "\u0378"]
TEXTS = st.lists(st.sampled_from([*SPACES, *CONTRACTIONS, *NUMBERS, *LETTERS, *MARKS, *OTHERS])).map("".join)
ANY_TEXT = st.one_of(TEXTS, st.text(), st.tuples(TEXTS, st.text(), TEXTS).map("".join))

# Every character that is in use, and a sample of the ideographs, private and unassigned ones.
CHARACTERS = [
    chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000 and (c < 0x3400 or c % 211 == 0)
]


def package_split(patterns: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Return what splits as the package does."""
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    sequence = pre_tokenizers.Sequence(splits)
    return lambda text: [piece for piece, _ in sequence.pre_tokenize_str(text)]


def pieces(pattern: str, text: str) -> list[str]:
    ends = split_text(pattern, text).tolist()
    source = text.encode()
    return [source[begin:end].decode() for begin, end in zip([0, *ends], ends, strict=False)]


PACKAGE = {name: package_split(patterns) for patterns, name in SPLIT_PATTERNS.items()}


@pytest.mark.parametrize("name", PACKAGE)
@given(text=ANY_TEXT)
def test_split(name: str, text: str) -> None:
    assert pieces(name, text) == PACKAGE[name](text)


@pytest.mark.parametrize("context", ["{}", "a{}b", "B{}\n", " {}a", "1{}", "!{}'s"])
@pytest.mark.parametrize("name", PACKAGE)
def test_split_at_every_character(name: str, context: str) -> None:
    """The table of classes is that of the installed package."""
    texts = [context.format(character) for character in CHARACTERS]
    assert [pieces(name, text) for text in texts] == [PACKAGE[name](text) for text in texts]


def test_byte_level_splits_as_gpt2() -> None:
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    text = "I'll see  \n\n it's 1234 caf\u00e9!!\u00a0x"
    spans = [span for _, span in byte_level.pre_tokenize_str(text)]
    assert pieces("gpt2", text) == [text[begin:end] for begin, end in spans]


@pytest.mark.parametrize("name", PACKAGE)
@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", " \n", "1", "!", "\u0301", "\u4e2d", "\u4e2dA", "'s", "/\n"]
)
def test_long_runs(name: str, unit: str) -> None:
    text = unit * 20_000
    assert pieces(name, text) == PACKAGE[name](text)


def package_nfc(text: str) -> str:
    normalised: str = normalizers.NFC().normalize_str(text)
    return normalised


def check_nfc(text: str) -> None:
    normalised, _ = normalise_nfc(text)
    assert normalised == package_nfc(text)
    assert is_nfc(text) == (normalised == text)


@given(ANY_TEXT)
def test_nfc(text: str) -> None:
    check_nfc(text)


@given(st.text(st.characters(min_codepoint=0xC0, max_codepoint=0x36F)))
def test_nfc_of_latin(text: str) -> None:
    check_nfc(text)


@given(st.text(st.one_of(st.characters(min_codepoint=0x1100, max_codepoint=0x11FF), st.just("\uac00"))))
def test_nfc_of_hangul(text: str) -> None:
    check_nfc(text)


@pytest.mark.parametrize("context", ["{}", "a\u0301{}", "\u00e2{}\u0323", "\u0915{}\u093c"])
def test_nfc_of_every_character(context: str) -> None:
    for character in CHARACTERS:
        check_nfc(context.format(character))


BYTES = Tokenizer(
    models.BPE(vocab={c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, merges=[])
)
BYTES.normalizer = normalizers.NFC()
BYTES.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


@given(st.one_of(ANY_TEXT, st.text(st.characters(min_codepoint=0xC0, max_codepoint=0x36F))))
def test_nfc_sources(text: str) -> None:
    """The sources of bytes begin where the package says; they end where the next ones begin."""
    _, sources = normalise_nfc(text)
    source = text.encode()
    starts = [len(text[:begin].encode()) for begin, _ in BYTES.encode(text).offsets]
    assert len(sources) == len(starts)
    ordered = sorted({*starts})
    following = dict(zip(ordered, [*ordered[1:], len(source)], strict=False))
    for (begin, end), start in zip(sources.tolist(), starts, strict=True):
        whole = (begin, end) == (start, following[start])
        assert whole or (end == begin + 1 and start <= begin < following[start])
