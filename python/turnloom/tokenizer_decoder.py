"""What token ids stand for, where the core does not know the decoder of the vocabulary."""

from collections.abc import Callable, Iterable
from typing import Protocol

from turnloom._ids import TokenIds, token_id_array
from turnloom._json_files import JsonObject
from turnloom.tokenizer_file import Vocabulary, all_ids


class StreamDecoder(Protocol):
    """Decodes token ids that come in parts; for one stream, and so for one thread at a time."""

    def feed(self, ids: TokenIds, /) -> str:
        """Take the next ids and return the text that is certain by now; see `Tokenizer.stream_decoder`."""

    def finish(self) -> str:
        """Return the text of what was held back; the decoder then starts anew."""


class TokenTable(Protocol):
    """The tokens of a vocabulary by spelling and by id; an id that it does not have decodes to nothing."""

    def __len__(self) -> int: ...
    def token_to_id(self, token: str, /) -> int | None: ...
    def id_to_token(self, id: int, /) -> str | None: ...
    def decode(self, ids: TokenIds, /, *, skip_special_tokens: bool) -> str: ...
    def decode_bytes(self, ids: TokenIds, /) -> bytes: ...
    def decode_batch(self, batch: list[TokenIds], /, *, skip_special_tokens: bool) -> list[str]: ...
    def stream_decoder(self, *, skip_special_tokens: bool) -> StreamDecoder: ...


class TokenListDecoder(Protocol):
    """A decoder object of the `tokenizers` package."""

    def decode(self, tokens: list[str]) -> str: ...


class PackageTokenTable:
    """Decodes with the package's own decoder."""

    __slots__ = ("_decoder", "_ids", "_special_ids", "_tokens")

    def __init__(
        self, document: JsonObject, vocabulary: Vocabulary, decoder: TokenListDecoder | None
    ) -> None:
        self._ids = all_ids(document, vocabulary)
        self._tokens = {id_: token for token, id_ in self._ids.items()}
        self._special_ids = frozenset(token.id for token in vocabulary.added if token.special)
        self._decoder = decoder

    def __len__(self) -> int:
        return len(self._ids)

    def token_to_id(self, token: str) -> int | None:
        return self._ids.get(token)

    def id_to_token(self, id: int) -> str | None:
        return self._tokens.get(id)

    def decode(self, ids: TokenIds, *, skip_special_tokens: bool) -> str:
        return self._decode(token_id_array(ids, "ids").tolist(), skip_special_tokens)

    def decode_bytes(self, ids: TokenIds) -> bytes:
        return self.decode(ids, skip_special_tokens=False).encode()

    def decode_batch(self, batch: list[TokenIds], *, skip_special_tokens: bool) -> list[str]:
        rows = [token_id_array(ids, f"batch[{row}]").tolist() for row, ids in enumerate(batch)]
        return [self._decode(ids, skip_special_tokens) for ids in rows]

    def stream_decoder(self, *, skip_special_tokens: bool) -> StreamDecoder:
        return TextDifference(lambda ids: self._decode(ids, skip_special_tokens))

    def _decode(self, ids: Iterable[int], skip_special_tokens: bool) -> str:
        skipped = self._special_ids if skip_special_tokens else ()
        tokens = [self._tokens[id_] for id_ in ids if id_ in self._tokens and id_ not in skipped]
        return " ".join(tokens) if self._decoder is None else self._decoder.decode(tokens)


class TextDifference:
    """Returns what the text of the ids has more than that of the ids before.

    The text of an id may depend on the one before it, so the last ids are decoded again.
    """

    __slots__ = ("_decode", "_held", "_returned")

    def __init__(self, decode: Callable[[list[int]], str]) -> None:
        self._decode = decode
        self._returned: list[int] = []  # the ids of the last text that was returned
        self._held: list[int] = []

    def feed(self, ids: TokenIds) -> str:
        self._held += token_id_array(ids, "ids").tolist()
        text = self._held_text()
        if not text or text.endswith("\ufffd"):  # maybe half a character
            return ""
        self._returned, self._held = self._held, []
        return text

    def finish(self) -> str:
        text = self._held_text()
        self._returned, self._held = [], []
        return text

    def _held_text(self) -> str:
        return self._decode(self._returned + self._held)[len(self._decode(self._returned)) :]
