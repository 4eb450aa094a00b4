"""Text to token ids and back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turnloom import _core
from turnloom._arguments import thread_count
from turnloom._core_types import EncodedRegions, EncodedWithoutOffsets
from turnloom._ids import TokenIds
from turnloom._json_files import JsonObject
from turnloom.chat_settings import ChatSettings, ChatTemplate, chat_settings_of
from turnloom.protocol_tokenizer import (
    ProtocolEncoder,
    ProtocolTokenizer,
    ProtocolTokenTable,
    is_known_by_methods,
    read_protocol_vocabulary,
)
from turnloom.tokenizer_decoder import PackageTokenTable, StreamDecoder, TokenTable
from turnloom.tokenizer_file import Vocabulary, read_vocabulary

if TYPE_CHECKING:
    import tokenizers

    from turnloom.tokenizer_source import SourceContent, TransformersTokenizer
    from turnloom.tokenizers_encoder import TokenizersEncoder

SpecialText: TypeAlias = Literal["all", "none"]


TokenizerSource: TypeAlias = (
    "str | os.PathLike[str] | tokenizers.Tokenizer | TransformersTokenizer | ProtocolTokenizer | Tokenizer"
)


@dataclass(frozen=True, slots=True, eq=False)
class RaggedIds:
    """Token ids of many texts, flat: row `i` is `ids[offsets[i]:offsets[i + 1]]`. Both are read-only."""

    ids: NDArray[np.int32]
    """int32[n_tokens]"""
    offsets: NDArray[np.int64]
    """int64[n_rows + 1]"""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        """Return the ids of a row, a view."""
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        row %= len(self)
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        return (self[row] for row in range(len(self)))


class Tokenizer:
    """A vocabulary with its encoder and decoder; made by `load_tokenizer`.

    Immutable, and shared by any number of threads. No call adds a beginning-of-text token.
    """

    __slots__ = (
        "_backend_reason",
        "_chat",
        "_config",
        "_core",
        "_encoder",
        "_name_or_path",
        "_package",
        "_read_document",
        "_reduced",
        "_special_ids",
        "_token_bytes",
        "_tokens",
        "_vocabulary",
    )

    def __init__(
        self,
        encoder: _core.TextEncoder,
        vocabulary: Vocabulary,
        tokens: TokenTable,
        *,
        backend_reason: str | None,
        config: JsonObject,
        chat: ChatSettings,
        name_or_path: str,
        read_document: Callable[[], JsonObject] | None,
        reduced: Callable[[], tuple[object, ...]],
    ) -> None:
        self._core = _core_tokenizer(vocabulary, encoder)
        self._encoder = encoder
        self._vocabulary = vocabulary
        self._tokens = tokens
        self._token_bytes: _core.TokenBytes | None = None  # of `parsing`, made when it is first needed
        self._backend_reason = backend_reason
        self._config = config
        self._chat = chat
        self._name_or_path = name_or_path
        self._read_document = read_document
        self._reduced = reduced
        self._package: TokenizersEncoder | None = None  # made when it is first needed
        self._special_ids = frozenset(token.id for token in vocabulary.added if token.special)

    def __reduce__(self) -> tuple[object, ...]:
        return self._reduced()

    def __copy__(self) -> Tokenizer:
        return self

    def __deepcopy__(self, memo: object) -> Tokenizer:
        return self

    def encode(self, text: str, *, special: SpecialText = "all") -> list[int]:
        """Return the token ids of a text.

        Args:
            special: "all" matches every added token. With "none", markers (special tokens and those of the
                chat formats, as `<think>`) are ordinary text; other added tokens are still matched.

        Raises:
            ValueError: `text` holds a lone surrogate.
        """
        ids: list[int] = self.encode_array(text, special=special).tolist()
        return ids

    def encode_array(self, text: str, *, special: SpecialText = "all") -> NDArray[np.int32]:
        """Return the token ids of a text as a read-only int32[n_tokens]; see `encode`."""
        return self._core.encode(text, _match_markers(special))

    def encode_batch(
        self, texts: list[str] | tuple[str, ...], *, special: SpecialText = "all", threads: int | None = None
    ) -> RaggedIds:
        """Return the token ids of many texts; see `encode`.

        Args:
            threads: how many threads the core may use; None means one. The results do not depend on it. With
                the "tokenizers" backend it has no effect, that package runs threads of its own.
        """
        if not isinstance(texts, (list, tuple)):
            raise TypeError(f"texts: expected list or tuple, got {type(texts).__name__}")
        ids, offsets = self._core.encode_batch(
            list(texts), match_markers=_match_markers(special), threads=thread_count(threads)
        )
        return RaggedIds(ids, offsets)

    def decode(self, ids: TokenIds, *, skip_special_tokens: bool = False) -> str:
        """Return the text of token ids; bytes that are no UTF-8 become U+FFFD.

        An id past the vocabulary stands for nothing.
        """
        return self._tokens.decode(ids, skip_special_tokens=skip_special_tokens)

    def decode_bytes(self, ids: TokenIds) -> bytes:
        """Return the exact bytes of token ids.

        Where the core does not know the decoder of the vocabulary, they are the UTF-8 of `decode(ids)`.
        """
        return self._tokens.decode_bytes(ids)

    def decode_batch(
        self,
        batch: list[TokenIds] | tuple[TokenIds, ...] | RaggedIds,
        *,
        skip_special_tokens: bool = False,
    ) -> list[str]:
        """Return the text of every row of token ids; see `decode`.

        Raises:
            ValueError: the offsets of a `RaggedIds` are not in order, or out of range.
        """
        if isinstance(batch, RaggedIds):
            from turnloom._ragged import checked_offsets

            batch = RaggedIds(batch.ids, checked_offsets(batch, "batch"))
        elif not isinstance(batch, (list, tuple)):
            raise TypeError(f"batch: expected list, tuple or RaggedIds, got {type(batch).__name__}")
        return self._tokens.decode_batch(list(batch), skip_special_tokens=skip_special_tokens)

    def stream_decoder(self, *, skip_special_tokens: bool = False) -> StreamDecoder:
        """Return a decoder of ids that come in parts; for one stream, and so for one thread at a time.

        What its calls return, joined, is `decode` of all the ids. A character that is split over tokens is
        returned once it is complete:

            >>> stream = tok.stream_decoder()
            >>> [stream.feed([9468]), stream.feed([99]), stream.feed([247]), stream.finish()]
            ['', '', '🦙', '']
        """
        return self._tokens.stream_decoder(skip_special_tokens=skip_special_tokens)

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token as the vocabulary spells it (`Ġthe` for ` the`), or None."""
        if not isinstance(token, str):
            raise TypeError(f"token: expected str, got {type(token).__name__}")
        return self._tokens.token_to_id(token)

    def id_to_token(self, id: int) -> str | None:
        """Return a token as the vocabulary spells it, or None past the vocabulary."""
        if isinstance(id, bool) or not isinstance(id, int | np.integer):
            raise TypeError(f"id: expected int, got {type(id).__name__}")
        return self._tokens.id_to_token(int(id)) if 0 <= id < 2**31 else None

    @property
    def vocab_size(self) -> int:
        """How many tokens there are, added ones included."""
        return len(self._tokens)

    @property
    def added_tokens(self) -> dict[str, int]:
        """The added tokens and their ids; a new dict."""
        return {token.content: token.id for token in self._vocabulary.added}

    @property
    def special_ids(self) -> frozenset[int]:
        """Ids of the added tokens that `skip_special_tokens` leaves out."""
        return self._special_ids

    @property
    def backend(self) -> str:
        """What encodes text: "native" or, for the reason in `backend_reason`, the package "tokenizers"."""
        return "native" if self._backend_reason is None else "tokenizers"

    @property
    def backend_reason(self) -> str | None:
        """What of the tokenizer's pipeline the core does not know; None with the native backend."""
        return self._backend_reason

    @property
    def config(self) -> JsonObject:
        """What `tokenizer_config.json` beside the file says, empty if there is none; a new dict."""
        return dict(self._config)

    @property
    def chat_template(self) -> ChatTemplate | None:
        """The model's own chat template, or several by name (a new dict); None where it is not known."""
        template = self._chat.chat_template
        return dict(template) if isinstance(template, dict) else template

    @property
    def special_tokens(self) -> Mapping[str, str]:
        """The special tokens by their roles, as `{"eos_token": "<|im_end|>"}`; read-only."""
        return MappingProxyType(self._chat.special_tokens)

    @property
    def name_or_path(self) -> str:
        """Where it was loaded from; "" for an object without a name."""
        return self._name_or_path

    def _encode_regions_by_package(self, regions: list[str]) -> EncodedRegions | EncodedWithoutOffsets:
        """Encode with the `tokenizers` package whatever the backend is: what the reference does.

        A file of ranks, which the package cannot read, and a tokenizer known by its methods are encoded by
        the backend.
        """
        if self._read_document is None:
            return self._encoder.encode_regions(regions)
        if self._package is None:
            self._package = _package_encoder(self._read_document(), self._vocabulary)
        return self._package.encode_regions(regions)

    def __repr__(self) -> str:
        return f"<Tokenizer {self._name_or_path!r}, {self.vocab_size} tokens, backend {self.backend!r}>"


def load_tokenizer(
    source: TokenizerSource,
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | str | None = None,
    nfc: bool | None = None,
) -> Tokenizer:
    """Load a tokenizer.

    Args:
        source: a folder with a `tokenizer.json` or a `tiktoken.model`, the path of such a file or of another
            file of ranks (`*.tiktoken`), "builtin" for the small vocabulary that comes with turnloom, a
            `tokenizers.Tokenizer`, a transformers fast tokenizer, or any object with `encode`, `decode` and
            `convert_tokens_to_ids`. An object is not changed, and its truncation and padding do not apply.
            A turnloom tokenizer is returned as it is. What is none of these and looks like "Qwen/Qwen3-8B" is
            a model in the local cache of the hub; one that is not there is downloaded, if `huggingface_hub`
            can.
        pattern: for a file of ranks, the regular expression that splits the text. By default `pat_str` of the
            `tokenizer_config.json` beside it, or that of a file whose name is known, as `qwen.tiktoken`.
        special_tokens: for a file of ranks, the tokens that it lacks, or which of the sets of the
            `tokenizer_config.json` it is, by default the last.
        nfc: for a file of ranks, whether text is normalised before it is encoded; by default where the name
            of the file says so, as that of Qwen's.

    Raises:
        TypeError: `source` is none of these, or has no use for the other arguments.
        FileNotFoundError: there is no such file, or the folder has none; a model is neither in the cache nor
            can it be downloaded.
        ValueError: the file is not JSON, or not a tokenizer; nothing says how a file of ranks splits text.
    """
    from turnloom.rank_file import RankSettings
    from turnloom.tokenizer_source import read_source

    settings = RankSettings(pattern, special_tokens, nfc)
    if isinstance(source, Tokenizer):
        settings.refuse()
        return source
    if is_known_by_methods(source):
        settings.refuse()
        return _build_from_methods(source)
    read = read_source(source, settings)
    try:
        return _build(read)
    except (TypeError, ValueError, RecursionError) as error:  # a TypeError is about a value in the file
        raise ValueError(f"source: {read.shown} cannot be used as a tokenizer: {error}") from error


def _build(read: SourceContent) -> Tokenizer:
    from turnloom.pipeline import UnknownPipelineError, native_encoder, native_token_table

    vocabulary = read.vocabulary or read_vocabulary(read.document, _core.declared_markers())
    package: TokenizersEncoder | None = None
    try:
        encoder = native_encoder(read.document, vocabulary)
        reason = None
    except UnknownPipelineError as error:
        if read.vocabulary is not None:  # the package reads no files of ranks
            raise
        package = _package_encoder(read.document, vocabulary)
        encoder = _core.PythonTextEncoder(package.encode_regions)
        reason = str(error)
    tokens: TokenTable
    try:
        tokens = native_token_table(read.document, vocabulary)
    except UnknownPipelineError:
        package = package or _package_encoder(read.document, vocabulary)
        tokens = PackageTokenTable(read.document, vocabulary, package.decoder)
    # Not the parsed document: it is many times larger than what is made of it.
    read_document, ranks = read.read_document, read.vocabulary
    config, chat, name = read.config, read.chat, read.name
    return Tokenizer(
        encoder,
        vocabulary,
        tokens,
        backend_reason=reason,
        config=config,
        chat=chat,
        name_or_path=name,
        read_document=None if ranks is not None else read_document,
        reduced=lambda: (_unpickled, (json.dumps(read_document()), ranks, config, chat, name)),
    )


def _unpickled(
    text: str, ranks: Vocabulary | None, config: JsonObject, chat: ChatSettings, name: str
) -> Tokenizer:
    def read_document() -> JsonObject:
        document: JsonObject = json.loads(text)
        return document

    from turnloom.tokenizer_source import SourceContent

    return _build(SourceContent(read_document(), read_document, ranks, config, chat, name, name))


def _build_from_methods(source: ProtocolTokenizer) -> Tokenizer:
    vocabulary = read_protocol_vocabulary(source, _core.declared_markers())
    encoder = ProtocolEncoder(source, vocabulary)
    return Tokenizer(
        _core.PythonTextEncoder(encoder.encode_regions, has_offsets=encoder.has_offsets),
        vocabulary,
        ProtocolTokenTable(source, vocabulary),
        backend_reason="only its methods are known",
        config={},
        chat=chat_settings_of(source),
        name_or_path=str(getattr(source, "name_or_path", "")),
        read_document=None,
        reduced=lambda: (load_tokenizer, (source,)),
    )


def _package_encoder(document: JsonObject, vocabulary: Vocabulary) -> TokenizersEncoder:
    from turnloom.tokenizers_encoder import TokenizersEncoder

    return TokenizersEncoder(document, vocabulary)


def _core_tokenizer(vocabulary: Vocabulary, encoder: _core.TextEncoder) -> _core.Tokenizer:
    left_to_encoder = frozenset(vocabulary.matched_after_normalizing)
    return _core.Tokenizer(
        [
            _core.AddedToken(
                content=token.content,
                id=token.id,
                marker=token.marker,
                normalized=token.normalized,
                lstrip=token.lstrip,
                rstrip=token.rstrip,
                single_word=token.single_word,
            )
            for token in vocabulary.added
            if token not in left_to_encoder
        ],
        encoder,
    )


def _match_markers(special: SpecialText) -> bool:
    if special not in ("all", "none"):
        raise ValueError(f"special: expected 'all' or 'none', got {special!r}")
    return special == "all"
