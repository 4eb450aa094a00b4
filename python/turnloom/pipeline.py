"""What the core can do of a tokenizer.json: its encoder and decoder of that pipeline, or why not."""

from turnloom import _core
from turnloom._json_files import JsonObject
from turnloom._split_patterns import GPT2, SPLIT_PATTERNS
from turnloom.rank_file import RANKS
from turnloom.tokenizer_file import Vocabulary, model_ids, pipeline_parts

_SPACE_TO_SYMBOL = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
_SYMBOL_TO_SPACE = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
_BYTE_FALLBACK = [_SYMBOL_TO_SPACE, {"type": "ByteFallback"}, {"type": "Fuse"}]
# Splits at the spaces that the normalizer has replaced.
_SPLIT_AT_SPACES = {
    "type": "Split",
    "pattern": {"String": " "},
    "behavior": "MergedWithPrevious",
    "invert": False,
}


class UnknownPipelineError(ValueError):
    """The core does not know this pipeline; the text says what of it."""


def native_encoder(document: JsonObject, vocabulary: Vocabulary) -> _core.TextEncoder:
    """Build the core's encoder for a parsed tokenizer.json.

    Args:
        vocabulary: what `read_vocabulary` gave for the same file.

    Raises:
        UnknownPipelineError: the core does not know every step.
    """
    if vocabulary.matched_after_normalizing:
        raise UnknownPipelineError("added_tokens: some are matched in normalized text")
    model = document["model"]
    _check_model(model)
    normalizers = pipeline_parts(document, "normalizer", "normalizers")
    ignore_merges = bool(model.get("ignore_merges"))
    try:
        if normalizers == [_SPACE_TO_SYMBOL]:
            _check_characters(document, model)
            return _core.character_encoder(model["vocab"], model["merges"], ignore_merges=ignore_merges)
        return _core.byte_level_encoder(
            model["vocab"],
            model.get("merges"),
            ignore_merges=ignore_merges,
            split=_split_name(document),
            nfc=_is_nfc(normalizers),
        )
    except UnknownPipelineError:
        raise
    except ValueError as error:
        raise UnknownPipelineError(f"model: {error}") from error


def native_token_table(document: JsonObject, vocabulary: Vocabulary) -> _core.TokenTable:
    """Build the core's decoder for a parsed tokenizer.json.

    Raises:
        UnknownPipelineError: the core does not know every step.
    """
    decoders = pipeline_parts(document, "decoder", "decoders")
    byte_level = [part["type"] for part in decoders] == ["ByteLevel"]
    if not byte_level and decoders != _BYTE_FALLBACK:
        raise UnknownPipelineError(f"decoder: {_types(decoders)}")
    added = [(token.content, token.id, token.special) for token in vocabulary.added]
    try:
        return _core.TokenTable(model_ids(document), added, byte_level=byte_level)
    except ValueError as error:
        raise UnknownPipelineError(f"model: {error}") from error


def _check_model(model: JsonObject) -> None:
    if model.get("type") == RANKS:
        return
    if model.get("type") != "BPE":
        raise UnknownPipelineError(f"model.type: {model.get('type')!r}")
    for key in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key):
            raise UnknownPipelineError(f"model.{key}: {model[key]!r}")
    if not isinstance(model.get("vocab"), dict) or not isinstance(model.get("merges"), list):
        raise UnknownPipelineError("model: no vocab and merges")


def _check_characters(document: JsonObject, model: JsonObject) -> None:
    pretokenizers = pipeline_parts(document, "pre_tokenizer", "pretokenizers")
    if pretokenizers not in ([], [_SPLIT_AT_SPACES]):
        raise UnknownPipelineError(f"pre_tokenizer: {_types(pretokenizers)} after a Replace of spaces")
    decoders = pipeline_parts(document, "decoder", "decoders")
    if decoders != _BYTE_FALLBACK:
        raise UnknownPipelineError(f"decoder: {_types(decoders)}")
    if not model.get("byte_fallback"):
        raise UnknownPipelineError("model.byte_fallback: off")


def _is_nfc(normalizers: list[JsonObject]) -> bool:
    if any(part["type"] != "NFC" for part in normalizers):
        raise UnknownPipelineError(f"normalizer: {_types(normalizers)}")
    return bool(normalizers)


def _split_name(document: JsonObject) -> str:
    decoders = pipeline_parts(document, "decoder", "decoders")
    if [part["type"] for part in decoders] != ["ByteLevel"]:
        raise UnknownPipelineError(f"decoder: {_types(decoders)}")
    parts = pipeline_parts(document, "pre_tokenizer", "pretokenizers")
    if not parts or parts[-1]["type"] != "ByteLevel":
        raise UnknownPipelineError(f"pre_tokenizer: {_types(parts)}")
    *splits, byte_level = parts
    # The package takes true for either where the file says nothing.
    if byte_level.get("add_prefix_space", True):
        raise UnknownPipelineError("pre_tokenizer: ByteLevel with add_prefix_space")
    if byte_level.get("use_regex", True):
        if splits:
            raise UnknownPipelineError("pre_tokenizer: ByteLevel with use_regex after others")
        return SPLIT_PATTERNS[(GPT2,)]
    patterns = tuple(_split_pattern(part) for part in splits)
    if patterns not in SPLIT_PATTERNS:
        raise UnknownPipelineError(f"pre_tokenizer: unknown pattern {' then '.join(patterns)}")
    return SPLIT_PATTERNS[patterns]


def _split_pattern(part: JsonObject) -> str:
    if part["type"] != "Split":
        raise UnknownPipelineError(f"pre_tokenizer: {part['type']}")
    pattern = part.get("pattern")
    if not isinstance(pattern, dict) or not isinstance(pattern.get("Regex"), str):
        raise UnknownPipelineError("pre_tokenizer: Split without a regular expression")
    kept = (part.get("behavior"), part.get("invert"))
    if kept not in (("Isolated", False), ("Removed", True)):
        raise UnknownPipelineError(f"pre_tokenizer: Split with behavior {kept[0]!r} and invert {kept[1]!r}")
    return str(pattern["Regex"])


def _types(parts: list[JsonObject]) -> str:
    return " and ".join(str(part["type"]) for part in parts) or "none"
