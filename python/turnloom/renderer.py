"""Conversations to text and token ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, overload

from turnloom import _core
from turnloom._arguments import check_completions, check_flags, check_rows, thread_count
from turnloom._core_types import MarkerTuple
from turnloom._tokenizer_argument import TokenizerObject, own_tokenizer
from turnloom.bridge import BridgeRefusal, BridgeRefusalReason
from turnloom.loss import LossRule, core_rule, core_rules, loss_rule, row_loss_rules
from turnloom.parsing import ParsedResponse, StreamParser, token_bytes, tool_names
from turnloom.rendered import ContentMarker, Field, RenderedTokens, TokenColumns
from turnloom.tokenizer import Tokenizer

if TYPE_CHECKING:
    from turnloom._ids import TokenIds
    from turnloom.batch import TokenBatch
    from turnloom.configs import AutoRendererConfig, DefaultRendererConfig, KnownConfig, RendererConfig
    from turnloom.default_renderer import DefaultRenderer
    from turnloom.session import Session
    from turnloom.types import Messages, Tools

OnError: TypeAlias = Literal["raise", "collect"]


class Renderer:
    """A chat format bound to a tokenizer; made by `create_renderer`.

    Immutable, and shared by any number of threads.
    """

    __slots__ = ("_config", "_core", "_parser", "_tokenizer")

    def __init__(self, tokenizer: TokenizerObject, config: KnownConfig) -> None:
        self._tokenizer = own_tokenizer(tokenizer)
        self._config = config
        self._core = _core.Renderer(
            self._tokenizer._core,
            config.name,
            options=config.options(),
            marker_policy=config.marker_policy,
            on_loss=config.on_loss,
            thinking_retention=config.thinking_retention,
        )
        self._parser: _core.CompletionParser | None = None

    @property
    def config(self) -> KnownConfig:
        """The config it was made with."""
        return self._config

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer it was made with."""
        return self._tokenizer

    @property
    def effective_thinking_retention(self) -> Literal["tool_cycle", "all"]:
        """What a bridge keeps of earlier reasoning: that of one tool cycle, or all of it."""
        return self._core.thinking_retention

    @property
    def is_prefix_stable(self) -> bool:
        """Whether appending turns always leaves the ids of a full render as they were."""
        return self._core.is_prefix_stable

    def render_text(
        self,
        messages: Messages,
        *,
        tools: Tools | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
    ) -> str:
        """Return the prompt as text, as the model's chat template writes it; see `render`."""
        check_flags(
            add_generation_prompt=add_generation_prompt, continue_final_message=continue_final_message
        )
        return self._core.render_text(messages, tools, add_generation_prompt, continue_final_message)

    def render_ids(
        self,
        messages: Messages,
        *,
        tools: Tools | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
    ) -> list[int]:
        """Return the token ids of the prompt; see `render`."""
        check_flags(
            add_generation_prompt=add_generation_prompt, continue_final_message=continue_final_message
        )
        return self._core.render_ids(messages, tools, add_generation_prompt, continue_final_message)

    def render(
        self,
        messages: Messages,
        *,
        tools: Tools | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
        byte_offsets: bool = False,
        loss: LossRule | None = None,
    ) -> RenderedTokens:
        """Return the tokens of the prompt and where each of them comes from.

        Args:
            add_generation_prompt: end with the header of an assistant's turn.
            continue_final_message: end right after the content of the final message, for the model to go on.
            byte_offsets: also give the bytes of each token in the rendered text.
            loss: what `loss_mask` selects; None is all that the model samples.

        Raises:
            RenderError: the format cannot express the conversation, or would lose a part of it.
            TypeError, ValueError: something that was passed is of a wrong type or value. The message names
                the place, such as `messages[2].content`.
        """
        check_flags(
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            byte_offsets=byte_offsets,
        )
        arrays, markers, roles, tool_names = self._core.render(
            messages,
            tools,
            add_generation_prompt,
            continue_final_message,
            byte_offsets,
            core_rule(loss_rule(loss)),
        )
        return RenderedTokens.from_columns(
            TokenColumns(*arrays), roles, tool_names, [self._marker(marker) for marker in markers]
        )

    def render_batch(
        self,
        conversations: Sequence[Messages],
        *,
        tools: Tools | None = None,
        tools_per_row: Sequence[Tools | None] | None = None,
        add_generation_prompt: bool = False,
        byte_offsets: bool = False,
        loss: LossRule | Sequence[LossRule | None] | None = None,
        threads: int | None = None,
        on_error: OnError = "raise",
    ) -> TokenBatch:
        """Render many conversations, on `threads` threads (None: one) with the interpreter lock released.

        Args:
            tools: for every row; `tools_per_row` gives each row its own instead.
            loss: what `loss_mask` selects; one rule for every row, or a list with one a row.
            on_error: "raise" raises the error of the first bad row, with a note that says which row it is.
                "collect" leaves bad rows empty and lists them in `.errors`.

        Raises:
            RenderError, TypeError, ValueError: as `render`, for a row or for an argument.
        """
        check_flags(add_generation_prompt=add_generation_prompt, byte_offsets=byte_offsets)
        check_rows(conversations, tools, tools_per_row, on_error)
        rules = row_loss_rules(loss, len(conversations))
        arrays, offsets, markers, errors = self._core.render_batch(
            list(conversations),
            tools,
            tools_per_row,
            add_generation_prompt,
            byte_offsets,
            thread_count(threads),
            core_rules(rules),
        )
        if errors and on_error == "raise":
            raise errors[0][1]
        from turnloom.batch import TokenBatch

        return TokenBatch(
            columns=TokenColumns(*arrays),
            offsets=offsets,
            errors=errors,
            content_markers=[(row, self._marker(marker)) for row, marker in markers],
        )

    def bridge_to_next_turn(
        self,
        previous_prompt_ids: TokenIds,
        previous_completion_ids: TokenIds,
        new_messages: Messages,
        *,
        tools: Tools | None = None,
        allow_trim: bool = False,
    ) -> RenderedTokens | None:
        """Return the next prompt: the last one and its completion, id by id, and then the new messages.

        A completion that was cut off gets the close of its turn, behind that of its think block if it was cut
        off there. Message indices are those of `new_messages`, and nothing is marked as sampled.

        Args:
            new_messages: messages of users and tools.
            tools: taken and not needed: they stand in the opening of the first prompt.
            allow_trim: drop what stands behind the last close of the completion, where there is something.

        Returns:
            None where this is not safe: `explain_bridge` says why.

        Raises:
            RenderError: something in the new messages would be lost.
            TypeError, ValueError: something that was passed is of a wrong type or value.
        """
        outcome = self._bridge(previous_prompt_ids, previous_completion_ids, new_messages, tools, allow_trim)
        return None if isinstance(outcome, BridgeRefusal) else outcome

    def explain_bridge(
        self,
        previous_prompt_ids: TokenIds,
        previous_completion_ids: TokenIds,
        new_messages: Messages,
        *,
        tools: Tools | None = None,
        allow_trim: bool = False,
    ) -> BridgeRefusal | None:
        """Return why `bridge_to_next_turn` gives None, or None where it does not."""
        outcome = self._bridge(previous_prompt_ids, previous_completion_ids, new_messages, tools, allow_trim)
        return outcome if isinstance(outcome, BridgeRefusal) else None

    def session(self, messages: Messages, *, tools: Tools | None = None) -> Session:
        """Start a rollout with a conversation, whose next turn is to be sampled.

        Raises:
            RenderError, TypeError, ValueError: as `render`.
        """
        from turnloom.session import Session

        return Session(self, messages, tools)

    def get_stop_token_ids(self) -> list[int]:
        """Return the ids at which generation stops, the close of a turn first."""
        return self._core.stop_token_ids()

    def parse_response(
        self, token_ids: TokenIds, *, tools: Tools | None = None, prompt_ids: TokenIds | None = None
    ) -> ParsedResponse:
        """Return the message that a completion is: what the model sampled, up to the first stop token.

        No completion is an error: what cannot be read as a call is one with a status that says why.

        Args:
            tools: the tools that were offered. Llama formats read `{"name": "f"}` as a call of `f` only if it
                is one of them.
            prompt_ids: the prompt. If it ends inside a think block, the completion begins with reasoning.

        Raises:
            TypeError, ValueError: something that was passed is of a wrong type, or no token id. An id past
                the vocabulary stands for nothing.
        """
        return self._completions().parse(token_ids, tool_names(tools), prompt_ids)

    def parse_batch(
        self,
        completions: Sequence[TokenIds],
        *,
        tools: Tools | None = None,
        prompts: Sequence[TokenIds | None] | None = None,
        threads: int | None = None,
    ) -> list[ParsedResponse]:
        """Return the messages that completions are; see `parse_response`.

        Args:
            prompts: one entry a completion.
            threads: how many to run on, with the interpreter lock released; None means one.
        """
        check_completions(completions, prompts)
        return self._completions().parse_batch(
            list(completions), tool_names(tools), prompts, thread_count(threads)
        )

    def stream_parser(
        self, *, tools: Tools | None = None, prompt_ids: TokenIds | None = None
    ) -> StreamParser:
        """Return a parser that takes the ids of one completion in parts; see `parse_response`."""
        return StreamParser(self._completions().stream(tool_names(tools), prompt_ids))

    def __copy__(self) -> Renderer:
        return self

    def __deepcopy__(self, memo: object) -> Renderer:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return Renderer, (self._tokenizer, self._config)

    def _bridge(
        self,
        prompt_ids: TokenIds,
        completion_ids: TokenIds,
        new_messages: Messages,
        tools: Tools | None,
        allow_trim: bool,
    ) -> BridgeRefusal | RenderedTokens:
        check_flags(allow_trim=allow_trim)
        if tools is not None and not isinstance(tools, (list, tuple)):
            raise TypeError(f"tools: expected a list of tools or None, got {type(tools).__name__}")
        refusal, extended = _core.bridge(
            self._core, self._completions(), prompt_ids, completion_ids, new_messages, allow_trim
        )
        if refusal is not None:
            reason, detail = refusal
            return BridgeRefusal(BridgeRefusalReason(reason), detail)
        assert extended is not None
        arrays, markers, roles, tool_names = extended
        return RenderedTokens.from_columns(
            TokenColumns(*arrays), roles, tool_names, [self._marker(marker) for marker in markers]
        )

    def _new_history(self) -> _core.TokenHistory:
        return _core.TokenHistory(self._core, self._completions())

    def _completions(self) -> _core.CompletionParser:
        if self._parser is None:
            self._parser = _core.CompletionParser(self._core, token_bytes(self._tokenizer))
        return self._parser

    def _marker(self, marker: MarkerTuple) -> ContentMarker:
        message_index, field, byte_begin, byte_end, token_id, became_token = marker
        text = self._tokenizer.id_to_token(token_id)
        assert text is not None
        return ContentMarker(message_index, Field(field), byte_begin, byte_end, text, became_token)


@overload
def create_renderer(
    tokenizer: TokenizerObject,
    config: KnownConfig,
    *,
    chat_template_kwargs: Mapping[str, object] | None = None,
) -> Renderer: ...
@overload
def create_renderer(
    tokenizer: TokenizerObject,
    config: DefaultRendererConfig,
    *,
    chat_template_kwargs: Mapping[str, object] | None = None,
) -> DefaultRenderer: ...
@overload
def create_renderer(
    tokenizer: TokenizerObject,
    config: AutoRendererConfig | None = None,
    *,
    chat_template_kwargs: Mapping[str, object] | None = None,
) -> Renderer | DefaultRenderer: ...
def create_renderer(
    tokenizer: TokenizerObject,
    config: RendererConfig | None = None,
    *,
    chat_template_kwargs: Mapping[str, object] | None = None,
) -> Renderer | DefaultRenderer:
    """Bind a chat format to a tokenizer.

    >>> tokenizer = turnloom.load_tokenizer("builtin")
    >>> renderer = turnloom.create_renderer(tokenizer, turnloom.Qwen3Config())

    Args:
        tokenizer: one that `load_tokenizer` gave, or an object that it takes, as a transformers tokenizer. An
            object is read anew by every call.
        config: None or `AutoRendererConfig()` finds the format by the tokenizer's own chat template, else by
            the name of its model; `describe(tokenizer)` says what would be found. A template that is not
            known is rendered as it is, as with `DefaultRendererConfig()`.
        chat_template_kwargs: variables of the model's chat template, as `apply_chat_template` of transformers
            takes them; they overrule the config.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: the vocabulary lacks a control token of the format; the format cannot be found, or has no
            such variable; the chat template is none.
    """
    own = own_tokenizer(tokenizer)
    from turnloom.auto_config import resolve_config

    resolved = resolve_config(own, config, chat_template_kwargs)
    if resolved.name == "default":
        from turnloom.default_renderer import DefaultRenderer

        return DefaultRenderer(own, resolved)
    return Renderer(own, resolved)
