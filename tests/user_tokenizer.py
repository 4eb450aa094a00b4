"""A tokenizer of a user's own: the methods that `renderers` asks for, over a tokenizer.json."""

from pathlib import Path
from typing import Any

import tokenizers

BUILTIN = Path(__file__).parents[1] / "python" / "turnloom" / "builtin" / "tokenizer.json"


class UserTokenizer:
    """What a transformers tokenizer has, as far as renderers use it."""

    unk_token_id = None

    def __init__(self, path: Path, name_or_path: str, eos_token: str) -> None:
        self._package = tokenizers.Tokenizer.from_file(str(path))
        self.name_or_path = name_or_path
        self.eos_token_id = self._package.token_to_id(eos_token)

    def encode(self, text: str, *, add_special_tokens: bool = False) -> list[int]:
        return self._package.encode(text, add_special_tokens=add_special_tokens).ids

    def decode(self, ids: Any, *, skip_special_tokens: bool = False, **_: Any) -> str:
        return self._package.decode(list(ids), skip_special_tokens=skip_special_tokens)

    def convert_tokens_to_ids(self, tokens: str) -> int | None:
        return self._package.token_to_id(tokens)

    def __call__(
        self, text: str, *, add_special_tokens: bool = False, return_offsets_mapping: bool = True
    ) -> dict[str, list[Any]]:
        encoding = self._package.encode(text, add_special_tokens=add_special_tokens)
        return {"input_ids": encoding.ids, "offset_mapping": encoding.offsets}
