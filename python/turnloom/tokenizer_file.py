"""What a tokenizer.json says: its vocabulary and its added tokens, read with the standard library."""

from collections.abc import Collection
from dataclasses import dataclass

from turnloom._json_files import JsonObject


@dataclass(frozen=True, slots=True)
class AddedToken:
    """An entry of `added_tokens`."""

    content: str
    id: int
    special: bool = False
    marker: bool = False  # special, or declared by a family: subject to the marker policy
    normalized: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a tokenizer.json adds to its model, and how its tokens spell text."""

    added: tuple[AddedToken, ...]
    byte_level: bool  # the bytes of the tokens are those of the normalised text
    identity_normalizer: bool

    @property
    def matched_after_normalizing(self) -> tuple[AddedToken, ...]:
        """Added tokens that are looked for in normalised text, which only the text encoder sees."""
        if self.identity_normalizer:
            return ()
        return tuple(token for token in self.added if token.normalized and not token.marker)


def read_vocabulary(document: JsonObject, declared_markers: Collection[str]) -> Vocabulary:
    """Read the added tokens of a parsed tokenizer.json, and check its model's vocabulary.

    Raises:
        ValueError: `document` is no tokenizer.json; the message names the place in it.
    """
    decoders = pipeline_parts(document, "decoder", "decoders")
    pretokenizers = pipeline_parts(document, "pre_tokenizer", "pretokenizers")
    return Vocabulary(
        added=_added_tokens(document.get("added_tokens"), model_ids(document), declared_markers),
        byte_level=len(decoders) == 1
        and decoders[0]["type"] == "ByteLevel"
        and any(part["type"] == "ByteLevel" for part in pretokenizers),
        identity_normalizer=not pipeline_parts(document, "normalizer", "normalizers"),
    )


def model_ids(document: JsonObject) -> dict[str, int]:
    """Return the model's tokens and their ids; the dict of the document, if it has one.

    Raises:
        ValueError: there is no model, or no vocabulary in it.
    """
    model = document.get("model")
    if not isinstance(model, dict):
        raise ValueError("model: missing")
    vocab = model.get("vocab")
    if isinstance(vocab, list):  # Unigram: [token, score], the id is the position
        if not all(isinstance(entry, list) and entry and isinstance(entry[0], str) for entry in vocab):
            raise ValueError("model.vocab: expected pairs of token and score")
        return {entry[0]: id_ for id_, entry in enumerate(vocab)}
    if not isinstance(vocab, dict):
        raise ValueError("model.vocab: missing")
    for token, id_ in vocab.items():
        if not _is_token_id(id_):
            raise ValueError(f"model.vocab[{token!r}]: {id_!r} is no token id")
    for token in vocab if _has_lone_surrogate("".join(vocab)) else ():
        if _has_lone_surrogate(token):
            raise ValueError(f"model.vocab[{token!r}]: holds a lone surrogate")
    return vocab


def _has_lone_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _is_token_id(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**31


def all_ids(document: JsonObject, vocabulary: Vocabulary) -> dict[str, int]:
    """Return all tokens, added ones included, and their ids."""
    return model_ids(document) | {token.content: token.id for token in vocabulary.added}


def token_bytes(document: JsonObject, vocabulary: Vocabulary) -> dict[int, bytes]:
    """Return what each token stands for; in a SentencePiece vocabulary its spelling."""
    ids = model_ids(document)
    if vocabulary.byte_level:
        spelled = {id_: byte_level_bytes(token) for token, id_ in ids.items()}
    else:
        spelled = {id_: token.encode() for token, id_ in ids.items()}
        if document["model"].get("byte_fallback"):
            spellings = ((ids.get(f"<0x{byte:02X}>"), byte) for byte in range(256))
            spelled.update((id_, bytes([byte])) for id_, byte in spellings if id_ is not None)
    spelled.update((token.id, token.content.encode()) for token in vocabulary.added)
    return spelled


class _ByteAlphabet(dict[int, int]):
    """GPT-2's alphabet: the character that spells a byte -> the byte."""

    def __init__(self) -> None:
        printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
        others = [byte for byte in range(256) if byte not in printable]
        super().__init__({byte: byte for byte in printable})
        self.update({0x100 + n: byte for n, byte in enumerate(others)})

    def __missing__(self, character: int) -> int:
        return 0xFFFD  # outside Latin-1, so that encoding the translated text fails


_BYTE_ALPHABET = _ByteAlphabet()
_TO_ALPHABET = {byte: character for character, byte in _BYTE_ALPHABET.items()}


def bytes_to_alphabet(token: bytes) -> str:
    """Return how a byte-level vocabulary spells bytes."""
    return token.decode("latin-1").translate(_TO_ALPHABET)


def byte_level_bytes(spelling: str) -> bytes:
    """Return the bytes that a byte-level decoder gives for a token.

    A spelling with a character outside the byte alphabet stands for its own UTF-8.
    """
    try:
        return spelling.translate(_BYTE_ALPHABET).encode("latin-1")
    except UnicodeEncodeError:
        return spelling.encode()


def _added_tokens(
    entries: object, model_ids: dict[str, int], declared_markers: Collection[str]
) -> tuple[AddedToken, ...]:
    """Read the added tokens with the ids that the `tokenizers` package gives them.

    It does not use the ids in the file: a token of the model keeps the model's id, and the others are
    numbered from the model's size on, in the order of the file. In a sound file both are the same.
    """
    added: dict[str, AddedToken] = {}
    next_id = len(model_ids)
    if not isinstance(entries, list | None):
        raise ValueError(f"added_tokens: expected a list, got {type(entries).__name__}")
    for position, entry in enumerate(entries or []):
        content = entry.get("content") if isinstance(entry, dict) else None
        if not isinstance(content, str):
            raise ValueError(f"added_tokens[{position}].content: missing")
        _check_added_token(entry, f"added_tokens[{position}]")
        if not content or content in added:
            continue
        id_ = model_ids.get(content, next_id)
        next_id += content not in model_ids
        special = entry.get("special", False)
        added[content] = AddedToken(
            content=content,
            id=id_,
            special=special,
            marker=special or content in declared_markers,
            **{flag: entry.get(flag, False) for flag in ("normalized", "lstrip", "rstrip", "single_word")},
        )
    return tuple(added.values())


def _check_added_token(entry: JsonObject, place: str) -> None:
    """Refuse what the package refuses, though neither of us uses the id."""
    if _has_lone_surrogate(entry["content"]):
        raise ValueError(f"{place}.content: {entry['content']!r} holds a lone surrogate")
    if not _is_token_id(entry.get("id")):
        raise ValueError(f"{place}.id: {entry.get('id')!r} is no token id")
    for flag in ("special", "normalized", "lstrip", "rstrip", "single_word"):
        if not isinstance(entry.get(flag, False), bool):
            raise ValueError(f"{place}.{flag}: expected true or false, got {entry[flag]!r}")


def pipeline_parts(document: JsonObject, key: str, sequence_key: str) -> list[JsonObject]:
    """Return the steps of a pipeline part, nested sequences opened: none for null."""
    part = document.get(key)
    if part is None:
        return []
    if not isinstance(part, dict) or "type" not in part:
        raise ValueError(f"{key}: expected an object with a type")
    if part["type"] != "Sequence":
        return [part]
    steps = part.get(sequence_key)
    if not isinstance(steps, list):
        raise ValueError(f"{key}.{sequence_key}: expected a list")
    return [inner for step in steps for inner in pipeline_parts({key: step}, key, sequence_key)]
