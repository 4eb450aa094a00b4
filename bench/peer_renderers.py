"""Packages that render conversations, all with a generation prompt, each with all the columns that it has."""

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from peers import Loaded, Peer, split
from workloads import SHARED

MODELS = {"qwen3": "Qwen/Qwen3-8B", "llama-3.2": "meta-llama/Llama-3.2-1B-Instruct"}
TEMPLATES = {"qwen3": "qwen3/qwen3.jinja", "llama-3.2": "llama3/llama-3.2-3b-instruct.jinja"}


def _turnloom_renderer(family: str, path: Path) -> Any:
    import turnloom

    return turnloom.create_renderer(turnloom.load_tokenizer(path), turnloom.config_from_name(family))


def _transformers_tokenizer(family: str, path: Path) -> Any:
    from transformers import PreTrainedTokenizerFast

    # Llama's template begins with it; Qwen's has none.
    bos = "<|begin_of_text|>" if family == "llama-3.2" else None
    return PreTrainedTokenizerFast(tokenizer_file=str(path), name_or_path=MODELS[family], bos_token=bos)


def _turnloom(family: str, path: Path, *, byte_offsets: bool = False, threads: int | None = None) -> Loaded:
    renderer = _turnloom_renderer(family, path)
    options: dict[str, Any] = {"add_generation_prompt": True, "byte_offsets": byte_offsets}
    return Loaded(
        lambda chat: renderer.render(chat, **options),
        attrgetter("token_ids"),
        lambda chats: renderer.render_batch(chats, threads=threads, **options),
        lambda batch: split(batch.columns.token_ids, batch.offsets),
    )


def _encode_only(family: str, path: Path) -> Loaded:
    """Encode the rendered text: what no renderer can do without."""
    renderer = _turnloom_renderer(family, path)
    return Loaded(
        renderer.tokenizer.encode_array,
        np.asarray,
        renderer.tokenizer.encode_batch,
        lambda found: split(found.ids, found.offsets),
        lambda chats: [renderer.render_text(chat, add_generation_prompt=True) for chat in chats],
    )


def _renderers(family: str, path: Path) -> Loaded:
    import renderers

    renderer = renderers.create_renderer(_transformers_tokenizer(family, path))
    return Loaded(lambda chat: renderer.render(chat, add_generation_prompt=True), attrgetter("token_ids"))


def _transformers(family: str, path: Path) -> Loaded:
    tokenizer = _transformers_tokenizer(family, path)
    tokenizer.chat_template = (SHARED / "templates" / TEMPLATES[family]).read_text(encoding="utf-8")

    def apply(given: Any) -> Any:
        return tokenizer.apply_chat_template(
            given, add_generation_prompt=True, date_string="26 Jul 2024", return_dict=False
        )

    return Loaded(apply, np.asarray, apply, list)


def _tml_renderers(family: str, path: Path) -> Loaded:
    """Its vocabulary is its own, so that nothing is read from `path`."""
    from tml_renderers import chat as chats
    from tml_renderers import renderers

    if family != "qwen3":
        raise ModuleNotFoundError(f"tml-renderers has no {family}")
    renderer = renderers.Qwen3()

    def render(chat: list[dict[str, Any]]) -> Any:
        return renderer.render_for_completion(chats.OpenAIMessage.from_oss_messages(chat))

    return Loaded(render, lambda result: [id_ for part in result[0] for id_ in part.span.tokens])


def _of(family: str, load: Callable[..., Loaded], **options: Any) -> Callable[[Path], Loaded]:
    return lambda path: load(family, path, **options)


RENDERERS = {
    family: [
        Peer("turnloom", "turnloom", _of(family, _turnloom)),
        Peer("turnloom, byte offsets too", "turnloom", _of(family, _turnloom, byte_offsets=True)),
        Peer("turnloom, encode only", "turnloom", _of(family, _encode_only)),
        Peer("renderers", "renderers", _of(family, _renderers)),
        Peer("transformers", "transformers", _of(family, _transformers)),
        Peer("tml-renderers", "tml-renderers", _of(family, _tml_renderers)),
    ]
    for family in MODELS
}
THREADED_RENDERERS = {
    family: [
        Peer("turnloom", "turnloom", _of(family, _turnloom, threads=2)),
        Peer("turnloom, one thread", "turnloom", _of(family, _turnloom)),
    ]
    for family in MODELS
}
