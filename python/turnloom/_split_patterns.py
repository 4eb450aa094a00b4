"""The split patterns that the core knows, by their exact text.

Every pattern but those of `deepseek_v3` matches all of any text, so what a `Split` does with the parts that
don't match is of no account: `Isolated` and `Removed` with `invert` split alike.
"""

_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACE = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
_LOWER = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"


def _cl100k(digits: str) -> str:
    return rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACE}"


def _o200k(upper: str, lower: str, contraction: str, rest: str) -> str:
    prefix = r"[^\r\n\p{L}\p{N}]?"
    words = rf"{prefix}[{upper}]*[{lower}]+{contraction}|{prefix}[{upper}]+[{lower}]*{contraction}"
    return f"{words}|{rest}|{_SPACE}"


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

# Texts of the `Split` parts of a pre-tokenizer, in order, to the name in the core.
SPLIT_PATTERNS: dict[tuple[str, ...], str] = {
    (GPT2,): "gpt2",
    (_cl100k(r"\p{N}{1,3}"),): "cl100k",
    (_cl100k(r"\p{N}"),): "qwen2",
    (
        _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + _SPACE,
    ): "qwen3_5",
    (_o200k(_UPPER, _LOWER, _CONTRACTIONS + "?", r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*"),): "o200k",
    (_o200k(_UPPER, _LOWER, "", r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*"),): "tekken",
    (
        r"[\p{Han}]+|"
        + _o200k(
            _UPPER + r"&&[^\p{Han}]",
            _LOWER + r"&&[^\p{Han}]",
            _CONTRACTIONS + "?",
            r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*",
        ),
    ): "kimi",
    (
        r"\p{N}{1,3}",
        "[一-龥぀-ゟ゠-ヿ]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
        "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
        "| ?[\\p{P}\\p{S}]+[\r\n]*"
        r"|\s*[" + "\r\n" + r"]+|\s+(?!\S)|\s+",
    ): "deepseek_v3",
}
