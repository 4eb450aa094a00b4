"""Token ids -> text, as the `tokenizers` package decodes them."""

from typing import Protocol

from turnloom.tokenizer_file import Vocabulary, byte_level_bytes


class Decoder(Protocol):
    """Decodes ids; one that the vocabulary does not have stands for nothing."""

    def decode(self, ids: list[int]) -> str: ...
    def decode_bytes(self, ids: list[int]) -> bytes: ...


class ByteLevelDecoder:
    """The decoder of vocabularies whose tokens are byte strings."""

    __slots__ = ("_decoded_bytes", "_token_bytes")

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._token_bytes = vocabulary.token_bytes
        # An added token written in the byte alphabet is taken for bytes too, as `é` for 0xE9.
        mistaken = {
            token.id: spelled
            for token in vocabulary.added
            if (spelled := byte_level_bytes(token.content)) != self._token_bytes[token.id]
        }
        self._decoded_bytes = self._token_bytes | mistaken if mistaken else self._token_bytes

    def decode(self, ids: list[int]) -> str:
        return self._join(self._decoded_bytes, ids).decode(errors="replace")

    def decode_bytes(self, ids: list[int]) -> bytes:
        return self._join(self._token_bytes, ids)

    @staticmethod
    def _join(table: dict[int, bytes], ids: list[int]) -> bytes:
        return b"".join([table.get(id_, b"") for id_ in ids])


class TokenListDecoder(Protocol):
    """A decoder object of the `tokenizers` package."""

    def decode(self, tokens: list[str]) -> str: ...


class PackageDecoder:
    """Any other decoder: the package's own, over the spellings of the tokens."""

    __slots__ = ("_decoder", "_tokens")

    def __init__(self, vocabulary: Vocabulary, decoder: TokenListDecoder | None) -> None:
        self._tokens = vocabulary.tokens
        self._decoder = decoder

    def decode(self, ids: list[int]) -> str:
        tokens = [self._tokens[id_] for id_ in ids if id_ in self._tokens]
        return " ".join(tokens) if self._decoder is None else self._decoder.decode(tokens)

    def decode_bytes(self, ids: list[int]) -> bytes:
        return self.decode(ids).encode()
