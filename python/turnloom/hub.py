"""Models by their names: from the local cache of `huggingface_hub`, or downloaded by it."""

import os
import re
from pathlib import Path

# As the hub allows them, with the organisation: a word alone is rather a misspelt file.
_MODEL_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]*[\w-]", re.ASCII)

TOKENIZER_FILES = ("tokenizer.json", "tiktoken.model")
"""What the tokenizer of a folder is in, the first that is there."""

_DOWNLOADED = (
    *TOKENIZER_FILES,
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
    "chat_template.json",
    "additional_chat_templates/*.jinja",
)


def is_model_name(source: str) -> bool:
    """Whether a text can be the name of a model on the hub, as `Qwen/Qwen3-8B`."""
    return _MODEL_NAME.fullmatch(source) is not None


def model_folder(name: str) -> str:
    """Return the folder that holds the tokenizer of a model: in the local cache, where it is put if need be.

    Raises:
        FileNotFoundError: it is not there and cannot be downloaded; the message says why.
    """
    cache = cache_folder()
    cached = _cached_folder(cache, name)
    if cached is not None and _has_tokenizer(cached):
        return str(cached)
    what = "is not in the local cache" if cached is None else "has no tokenizer in the local cache"
    failed = f"source: {name!r} is neither a folder nor a file; as a model it {what} ({cache}), and"
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise FileNotFoundError(
            f"{failed} huggingface_hub, which downloads, is not installed: pip install 'turnloom[hub]'"
        ) from None
    try:
        folder = snapshot_download(name, cache_dir=cache, allow_patterns=list(_DOWNLOADED))
    except Exception as error:  # of that package, of its HTTP client, or of the system
        reason = " ".join(str(error).split()) or "no reason given"
        raise FileNotFoundError(
            f"{failed} its download failed with {type(error).__name__}: {reason}"
        ) from error
    if not _has_tokenizer(Path(folder)):
        raise FileNotFoundError(f"{failed} on the hub it has none of {', '.join(TOKENIZER_FILES)}")
    return folder


def cache_folder() -> Path:
    """Return where `huggingface_hub` keeps models, by the same environment variables."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    hub = os.path.join(os.environ.get("HF_HOME") or os.path.join(home, "huggingface"), "hub")
    chosen = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE") or hub
    return Path(os.path.expandvars(os.path.expanduser(chosen)))


def _cached_folder(cache: Path, name: str) -> Path | None:
    model = cache / f"models--{name.replace('/', '--')}"
    try:
        commit = (model / "refs" / "main").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    folder = model / "snapshots" / commit
    return folder if commit.isalnum() and folder.is_dir() else None


def _has_tokenizer(folder: Path) -> bool:
    return any((folder / file).exists() for file in TOKENIZER_FILES)
