"""Conversations to text and token ids: the calls of `turnloom.renderer`, in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from turnloom._arguments import check_flags, thread_count
from turnloom._ids import TokenIds, token_id_array
from turnloom._tokenizer_argument import TokenizerObject, own_tokenizer
from turnloom.auto_config import resolve_config
from turnloom.batch import TokenBatch
from turnloom.bridge import BridgeRefusal
from turnloom.loss import LossRule, loss_rule, row_loss_rules
from turnloom.reference.added_tokens import AddedTokens
from turnloom.reference.bridge import extend
from turnloom.reference.columns import concatenated, token_columns, with_history
from turnloom.reference.engine import MESSAGES, NEW_MESSAGES, render_prompt
from turnloom.reference.families import declared_markers, make_family
from turnloom.reference.families.family import RendererConfig, ThinkingRetention
from turnloom.reference.history import TokenHistory
from turnloom.reference.loss import mark_trained
from turnloom.reference.markers import segment
from turnloom.reference.messages import Conversation, read_conversation, tool_names
from turnloom.reference.parsing import ParsingCalls
from turnloom.reference.prompt import ControlToken, Prompt
from turnloom.rendered import ContentMarker, RenderedTokens, TokenColumns
from turnloom.session import Session
from turnloom.tokenizer import Tokenizer
from turnloom.types import Messages, Tools

if TYPE_CHECKING:
    from turnloom.configs import AnyConfig


class Renderer(ParsingCalls):
    """A chat format bound to a tokenizer; made by `create_renderer`."""

    def __init__(self, tokenizer: Tokenizer, config: RendererConfig) -> None:
        super().__init__(tokenizer, config)
        vocabulary = tokenizer._vocabulary
        markers = declared_markers()
        left_to_encoder = frozenset(vocabulary.matched_after_normalizing)
        self._added_tokens = AddedTokens(
            replace(token, marker=token.special or token.content in markers)
            for token in vocabulary.added
            if token not in left_to_encoder
        )
        self._encode_regions = tokenizer._encode_regions_by_package
        self._family = make_family(config, self._control_token)
        self._marker_policy = config.marker_policy
        self._on_loss = config.on_loss
        self._retention = config.thinking_retention or self._family.retention

    @property
    def config(self) -> RendererConfig:
        """The config it was made with."""
        return self._config

    @property
    def effective_thinking_retention(self) -> ThinkingRetention:
        """What a bridge keeps of earlier reasoning: that of one tool cycle, or all of it."""
        return self._retention

    @property
    def is_prefix_stable(self) -> bool:
        """Whether appending turns always leaves the ids of a full render as they were."""
        return self._family.is_prefix_stable

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer it was made with."""
        return self._tokenizer

    def render_text(
        self,
        messages: object,
        *,
        tools: object = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
    ) -> str:
        """Return the prompt as text, as the model's chat template writes it."""
        check_flags(
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
        )
        conversation = self._read(messages, tools)
        return self._prompt(conversation, add_generation_prompt, continue_final_message).text.decode()

    def render_ids(
        self,
        messages: object,
        *,
        tools: object = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
    ) -> list[int]:
        """Return the token ids of the prompt."""
        return self.render(
            messages,
            tools=tools,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
        ).token_ids

    def render(
        self,
        messages: object,
        *,
        tools: object = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
        byte_offsets: bool = False,
        loss: LossRule | None = None,
    ) -> RenderedTokens:
        """Return the tokens of the prompt and where each of them comes from.

        Raises:
            RenderError: the format cannot express the conversation, or would lose a part of it.
            TypeError, ValueError: something that was passed is of a wrong type or value. The message names
                the place, such as `messages[2].content`.
        """
        loss = loss_rule(loss)
        check_flags(
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            byte_offsets=byte_offsets,
        )
        conversation = self._read(messages, tools)
        prompt = self._prompt(conversation, add_generation_prompt, continue_final_message)
        prompt = mark_trained(prompt, conversation.messages, loss)
        columns, content_markers = self._encode(prompt, byte_offsets)
        roles = [message.role for message in conversation.messages]
        names = tool_names(conversation.messages)
        return RenderedTokens.from_columns(columns, roles, names, content_markers)

    def render_batch(
        self,
        conversations: Sequence[object],
        *,
        tools: object = None,
        tools_per_row: Sequence[object] | None = None,
        add_generation_prompt: bool = False,
        byte_offsets: bool = False,
        loss: LossRule | Sequence[LossRule | None] | None = None,
        threads: int | None = None,
        on_error: str = "raise",
    ) -> TokenBatch:
        """Render many conversations, one after the other: `threads` is checked and has no effect.

        Args:
            tools: for every row; `tools_per_row` gives each row its own instead.
            loss: what `loss_mask` selects; one rule for every row, or a list with one a row.
            on_error: "raise" raises the error of the first bad row, with a note that says which row it is.
                "collect" leaves bad rows empty and lists them in `.errors`.
        """
        check_flags(add_generation_prompt=add_generation_prompt, byte_offsets=byte_offsets)
        if not isinstance(conversations, list | tuple):
            raise TypeError(f"conversations: expected list or tuple, got {type(conversations).__name__}")
        if tools_per_row is not None:
            if tools is not None:
                raise ValueError("tools_per_row: cannot be combined with tools")
            if not isinstance(tools_per_row, list | tuple):
                raise TypeError(f"tools_per_row: expected list or tuple, got {type(tools_per_row).__name__}")
            if len(tools_per_row) != len(conversations):
                raise ValueError(f"tools_per_row: {len(tools_per_row)} entries for {len(conversations)} rows")
        if on_error not in ("raise", "collect"):
            raise ValueError(f"on_error: expected 'raise' or 'collect', got {on_error!r}")
        rules = row_loss_rules(loss, len(conversations))
        thread_count(threads)

        rows: list[TokenColumns | None] = []
        errors: list[tuple[int, Exception]] = []
        content_markers: list[tuple[int, ContentMarker]] = []
        for row, messages in enumerate(conversations):
            try:
                conversation = self._read(messages, tools if tools_per_row is None else tools_per_row[row])
                prompt = self._prompt(conversation, add_generation_prompt)
                prompt = mark_trained(prompt, conversation.messages, rules[row])
                columns, markers = self._encode(prompt, byte_offsets)
            except (TypeError, ValueError) as error:
                error.add_note(f"row {row} of the batch")
                if on_error == "raise":
                    raise
                errors.append((row, error))
                rows.append(None)
            else:
                rows.append(columns)
                content_markers += ((row, marker) for marker in markers)
        return TokenBatch(
            columns=concatenated([row for row in rows if row is not None], byte_offsets=byte_offsets),
            offsets=_offsets(rows),
            errors=errors,
            content_markers=content_markers,
        )

    def bridge_to_next_turn(
        self,
        previous_prompt_ids: TokenIds,
        previous_completion_ids: TokenIds,
        new_messages: object,
        *,
        tools: object = None,
        allow_trim: bool = False,
    ) -> RenderedTokens | None:
        """Return the next prompt: the last one and its completion, id by id, and then the new messages."""
        return self._bridge(
            previous_prompt_ids, previous_completion_ids, new_messages, tools, allow_trim=allow_trim
        )[1]

    def explain_bridge(
        self,
        previous_prompt_ids: TokenIds,
        previous_completion_ids: TokenIds,
        new_messages: object,
        *,
        tools: object = None,
        allow_trim: bool = False,
    ) -> BridgeRefusal | None:
        """Return why `bridge_to_next_turn` gives None, or None where it does not."""
        return self._bridge(
            previous_prompt_ids, previous_completion_ids, new_messages, tools, allow_trim=allow_trim
        )[0]

    def session(self, messages: Messages, *, tools: Tools | None = None) -> Session:
        """Start a rollout with a conversation, whose next turn is to be sampled."""
        return Session(self, messages, tools)

    def get_stop_token_ids(self) -> list[int]:
        """Return the ids at which generation stops, the close of a turn first."""
        return [token.id for token in self._family.stop_tokens()]

    def _bridge(
        self,
        prompt_ids: TokenIds,
        completion_ids: TokenIds,
        new_messages: object,
        tools: object,
        *,
        allow_trim: bool,
    ) -> tuple[BridgeRefusal, None] | tuple[None, RenderedTokens]:
        check_flags(allow_trim=allow_trim)
        if tools is not None and not isinstance(tools, list | tuple):
            raise TypeError(f"tools: expected a list of tools or None, got {type(tools).__name__}")
        prompt = token_id_array(prompt_ids, "previous_prompt_ids")
        completion = token_id_array(completion_ids, "previous_completion_ids")
        outcome = self._extend(prompt.tolist(), completion.tolist(), new_messages, allow_trim=allow_trim)
        if isinstance(outcome, BridgeRefusal):
            return outcome, None
        n_kept, extension = outcome
        columns = with_history(prompt, completion[:n_kept], extension.columns)
        return None, RenderedTokens.from_columns(
            columns, extension.message_roles, extension.message_tool_names, extension.content_markers
        )

    def _extend(
        self,
        prompt_ids: Sequence[int],
        completion_ids: Sequence[int],
        new_messages: object,
        *,
        allow_trim: bool,
    ) -> BridgeRefusal | tuple[int, RenderedTokens]:
        """Give how many ids of the completion stay, and what goes behind them; or a refusal."""
        messages = self._read(new_messages, None, NEW_MESSAGES).messages
        outcome = extend(
            self._family,
            self._on_loss,
            self._retention,
            self._format,
            prompt_ids,
            completion_ids,
            messages,
            allow_trim=allow_trim,
        )
        if isinstance(outcome, BridgeRefusal):
            return outcome
        n_kept, prompt = outcome
        columns, content_markers = self._encode(prompt, False)
        roles = [message.role for message in messages]
        return n_kept, RenderedTokens.from_columns(columns, roles, tool_names(messages), content_markers)

    def _new_history(self) -> TokenHistory:
        return TokenHistory(self)

    def _read(self, messages: object, tools: object, argument: str = MESSAGES) -> Conversation:
        prints_lists = self._on_loss == "template" and self._family.prints_content_lists
        return read_conversation(messages, tools, keep_lists=prints_lists, argument=argument)

    def _prompt(
        self, conversation: Conversation, add_generation_prompt: bool, continue_final_message: bool = False
    ) -> Prompt:
        return render_prompt(
            self._family,
            self._on_loss,
            conversation,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
        )

    def _encode(self, prompt: Prompt, byte_offsets: bool) -> tuple[TokenColumns, list[ContentMarker]]:
        segmentation = segment(prompt, self._added_tokens, self._marker_policy)
        columns = token_columns(
            prompt, segmentation.segments, self._encode_regions, byte_offsets=byte_offsets
        )
        return columns, segmentation.content_markers

    def _control_token(self, text: str) -> ControlToken:
        token = self._added_tokens.by_content.get(text)
        if token is None:
            raise ValueError(f"tokenizer: has no added token {text!r}, which this format writes")
        return ControlToken(text, token.id)


def create_renderer(
    tokenizer: TokenizerObject,
    config: AnyConfig | None = None,
    *,
    chat_template_kwargs: Mapping[str, object] | None = None,
) -> Renderer:
    """Bind a chat format to a tokenizer; see `turnloom.create_renderer`.

    Raises:
        KeyError: the config names no known format.
        ValueError: as there, and for `DefaultRendererConfig`.
    """
    own = own_tokenizer(tokenizer)
    resolved = resolve_config(own, config, chat_template_kwargs)
    if resolved.name == "default":
        raise ValueError("config: DefaultRenderer is Python as it is, there is no other one for reference")
    return Renderer(own, resolved)


def _offsets(rows: Sequence[TokenColumns | None]) -> npt.NDArray[np.int64]:
    counts = [0 if row is None else len(row) for row in rows]
    offsets = np.cumsum([0, *counts], dtype=np.int64)
    offsets.setflags(write=False)
    return offsets
