"""The native core. Its callers in this package hold the documentation of what it does."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from turnloom._core_types import (
    ColumnTuple,
    EncodedRegions,
    EncodedWithoutOffsets,
    HistoryTuple,
    MarkerTuple,
    PackedTuple,
)
from turnloom._ids import TokenIds
from turnloom.parsing import Delta, ParsedResponse

class AddedToken:
    """An entry of `added_tokens` in a tokenizer.json."""

    def __init__(
        self,
        *,
        content: str,
        id: int,
        marker: bool,
        normalized: bool = False,
        lstrip: bool = False,
        rstrip: bool = False,
        single_word: bool = False,
    ) -> None: ...
    @property
    def content(self) -> str: ...
    @property
    def id(self) -> int: ...
    @property
    def marker(self) -> bool: ...
    @property
    def normalized(self) -> bool: ...
    @property
    def lstrip(self) -> bool: ...
    @property
    def rstrip(self) -> bool: ...
    @property
    def single_word(self) -> bool: ...

class TextEncoder:
    """Encodes text in which no added token is to be matched."""

    def encode_regions(self, regions: list[str]) -> EncodedRegions | EncodedWithoutOffsets:
        """Encode every region by itself; begins and ends are UTF-8 bytes of the token's own region."""

class PythonTextEncoder(TextEncoder):
    """The encoder that a Python function is."""

    def __init__(
        self,
        encode_regions: Callable[[list[str]], EncodedRegions | EncodedWithoutOffsets],
        *,
        has_offsets: bool = True,
    ) -> None: ...

def byte_level_encoder(
    vocab: dict[str, int],
    merges: list[str] | list[list[str]] | None,
    *,
    ignore_merges: bool,
    split: str,
    nfc: bool,
) -> TextEncoder:
    """Build the encoder of a byte-level BPE model; without merges, of a file of ranks."""

def character_encoder(
    vocab: dict[str, int], merges: list[str] | list[list[str]], *, ignore_merges: bool
) -> TextEncoder:
    """Build the encoder of a BPE model in the way of SentencePiece, with byte fallback."""

class StreamDecoder:
    """Decodes token ids that come in parts."""

    def feed(self, ids: TokenIds) -> str: ...
    def finish(self) -> str: ...

class TokenTable:
    """The tokens of a vocabulary by spelling and by id."""

    def __init__(
        self, vocab: dict[str, int], added: list[tuple[str, int, bool]], *, byte_level: bool
    ) -> None:
        """Take the model's tokens, and of each added one its text, id and whether it is special."""

    def __len__(self) -> int: ...
    def token_to_id(self, token: str) -> int | None: ...
    def id_to_token(self, id: int) -> str | None: ...
    def decode(self, ids: TokenIds, *, skip_special_tokens: bool) -> str: ...
    def decode_bytes(self, ids: TokenIds) -> bytes: ...
    def decode_batch(self, batch: list[TokenIds], *, skip_special_tokens: bool) -> list[str]: ...
    def stream_decoder(self, *, skip_special_tokens: bool) -> StreamDecoder: ...

def split_text(pattern: str, text: str) -> NDArray[np.uint32]:
    """Return where each pre-token ends, in bytes; the pattern is a name of `turnloom._split_patterns`."""

def is_nfc(text: str) -> bool:
    """Return whether normalising would change nothing."""

def normalise_nfc(text: str) -> tuple[str, NDArray[np.int64]]:
    """Return the text in NFC, and for each byte of it the source bytes, int64[n, 2]."""

class Tokenizer:
    """Added tokens and the encoder of the text between them."""

    def __init__(self, added_tokens: Sequence[AddedToken], encoder: TextEncoder) -> None: ...
    @property
    def added_tokens(self) -> list[AddedToken]: ...
    def encode(self, text: str, match_markers: bool) -> NDArray[np.int32]: ...
    def encode_batch(
        self, texts: list[str], *, match_markers: bool, threads: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...

class LossRule:
    """What `loss_mask` selects."""

    def __init__(
        self, *, turns: str | list[int], content_roles: list[str], reasoning: bool, stop: bool
    ) -> None: ...

class Renderer:
    """A family bound to a tokenizer."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        family: str,
        *,
        options: dict[str, bool | str | list[str] | None],
        marker_policy: str,
        on_loss: str,
        thinking_retention: str | None,
    ) -> None: ...
    @property
    def thinking_retention(self) -> Literal["tool_cycle", "all"]: ...
    @property
    def is_prefix_stable(self) -> bool: ...
    def render_text(
        self, messages: object, tools: object, add_generation_prompt: bool, continue_final_message: bool
    ) -> str: ...
    def render_ids(
        self, messages: object, tools: object, add_generation_prompt: bool, continue_final_message: bool
    ) -> list[int]: ...
    def render(
        self,
        messages: object,
        tools: object,
        add_generation_prompt: bool,
        continue_final_message: bool,
        byte_offsets: bool,
        loss: LossRule | None,
    ) -> tuple[ColumnTuple, list[MarkerTuple], list[str], list[str | None]]:
        """Return columns, markers, and of each message its role and tool name."""

    def render_batch(
        self,
        conversations: list[object],
        tools: object,
        tools_per_row: Sequence[object] | None,
        add_generation_prompt: bool,
        byte_offsets: bool,
        threads: int,
        loss: Sequence[LossRule | None],
    ) -> tuple[ColumnTuple, NDArray[np.int64], list[tuple[int, MarkerTuple]], list[tuple[int, Exception]]]:
        """Return flat columns, offsets, markers and errors by row."""

    def stop_token_ids(self) -> list[int]: ...

def cut_rows(
    offsets: NDArray[np.int64], max_length: int, side: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Give where each part begins, the offsets of the parts, and the rows that were dropped."""

def take_rows(column: NDArray[Any], begins: NDArray[np.int64], offsets: NDArray[np.int64]) -> NDArray[Any]:
    """Give the column of the parts, which must lie in it."""

def pack(
    token_ids: NDArray[np.int32],
    message_indices: NDArray[np.int32],
    loss_mask: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    bin_length: int,
    pad: int,
) -> PackedTuple:
    """Put rows into bins; offsets and lengths must have been checked."""

class TokenBytes:
    """What every token adds to a text."""

    def __init__(self, tokens: list[bytes]) -> None: ...
    @staticmethod
    def of_table(tokens: TokenTable) -> TokenBytes: ...

class CompletionStream:
    """One completion that comes in parts."""

    def feed(self, ids: TokenIds) -> list[Delta]: ...
    def end(self) -> list[Delta]: ...
    def finish(self) -> ParsedResponse: ...

class CompletionParser:
    """Parses completions of one format and vocabulary."""

    def __init__(self, renderer: Renderer, token_bytes: TokenBytes) -> None: ...
    @staticmethod
    def of_parts(
        tokenizer: Tokenizer,
        token_bytes: TokenBytes,
        *,
        calls: Literal["none", "tagged_json", "llama_json"],
        has_reasoning: bool,
        stop_tokens: list[int],
    ) -> CompletionParser:
        """Make the parser of a format without a header of the assistant's turn."""

    def parse(
        self, token_ids: TokenIds, known_tools: list[str], prompt_ids: TokenIds | None
    ) -> ParsedResponse: ...
    def parse_batch(
        self,
        completions: list[TokenIds],
        known_tools: list[str],
        prompts: Sequence[TokenIds | None] | None,
        threads: int,
    ) -> list[ParsedResponse]: ...
    def stream(self, known_tools: list[str], prompt_ids: TokenIds | None) -> CompletionStream: ...

def bridge(
    renderer: Renderer,
    parser: CompletionParser,
    previous_prompt_ids: TokenIds,
    previous_completion_ids: TokenIds,
    new_messages: object,
    allow_trim: bool,
) -> (
    tuple[tuple[str, str], None]
    | tuple[None, tuple[ColumnTuple, list[MarkerTuple], list[str], list[str | None]]]
):
    """Return reason and detail of a refusal; or columns, markers, roles and tool names of the next prompt."""

def apply_text_format(messages: object, format: str, add_generation_prompt: bool | None) -> str: ...

class TokenHistory:
    """The tokens of a rollout, which only grow."""

    def __init__(self, renderer: Renderer, parser: CompletionParser) -> None: ...
    def append_prompt(self, messages: object, tools: object) -> None: ...
    def append_completion(
        self, token_ids: TokenIds, logprobs: NDArray[np.float32], known_tools: list[str], message: int
    ) -> None: ...
    def bridge(self, new_messages: object, first_message: int) -> tuple[str, str] | None:
        """Go on with messages, or return the reason and the detail of a refusal."""

    def columns(self) -> HistoryTuple:
        """Return views that later turns leave as they are."""

    def token_ids(self) -> NDArray[np.int32]: ...
    def restore(self, columns: HistoryTuple, prompt_begin: int, completion_begin: int) -> None:
        """Take the columns of another history, while this one is empty."""

    @property
    def prompt_begin(self) -> int: ...
    @property
    def completion_begin(self) -> int: ...
    def __copy__(self) -> TokenHistory: ...

def declared_markers() -> list[str]:
    """Return the spellings that some family uses as markers."""

def json_text(
    value: object,
    *,
    indent: int | None = None,
    item_separator: str | None = None,
    key_separator: str | None = None,
) -> str:
    """Write a value as `json.dumps(value, ensure_ascii=False)` does."""

def python_repr(value: object) -> str:
    """Write a value as `repr` does."""

class ArrowStringArray:
    """A string array that any Arrow package can take over."""

    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Give the capsules of Arrow's C data interface: schema and array."""

class ToolCallIdFormat:
    """Which tool-call ids are accepted, and what replaces one that is not."""

    def __init__(self, kind: str, n: int, hash_mask: int) -> None: ...
    def accepts(self, id: str) -> bool: ...
    def conform(self, id: str) -> str: ...
    def conform_list(self, ids: list[str]) -> list[str]: ...
    def conform_arrow(self, ids: object) -> ArrowStringArray: ...
    def conform_messages(
        self, messages: object
    ) -> tuple[list[str], list[str | None], list[tuple[list[int], int | None]]]:
        """Give ids, what they were, and for each message the numbers of its calls and of its result."""

def fnv1a_64(data: object, *, round: int | None) -> int: ...
def fnv1a_64_list(data: list[object], *, round: int | None) -> NDArray[np.uint64]: ...
def fnv1a_64_arrow(data: object, *, first_row: int, round: int | None) -> NDArray[np.uint64]:
    """Hash an Arrow string array; errors count rows from `first_row`."""

def fnv1a_64_ragged(
    ids: NDArray[np.int32], offsets: NDArray[np.int64], *, round: int | None
) -> NDArray[np.uint64]:
    """Hash rows of token ids; the offsets must have been checked."""

def prefix_hashes(ids: object, block_size: int) -> NDArray[np.uint64]: ...
def scan(ids: object, token_ids: object) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Give positions and tokens."""

def scan_ragged(
    ids: object, offsets: NDArray[np.int64], token_ids: object
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Give positions, tokens and rows; the offsets must have been checked."""

def count_tokens(ids: object, token_ids: object) -> int: ...
def find_first(ids: object, token_ids: object) -> int | None: ...
def find_last(ids: object, token_ids: object) -> int | None: ...
