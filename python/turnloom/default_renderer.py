"""Any model by its own Jinja chat template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from turnloom._arguments import check_completions, check_rows, thread_count, trained_messages
from turnloom._ids import TokenIds, token_id_array
from turnloom._tokenizer_argument import TokenizerObject, own_tokenizer
from turnloom.batch import TokenBatch
from turnloom.bridge import BridgeRefusal, BridgeRefusalReason
from turnloom.chat_template import ChatTemplate
from turnloom.chat_template.messages import prepare_messages, prepare_tools
from turnloom.default_batch import NO_TOKENS, joined
from turnloom.default_loss import loss_mask
from turnloom.default_parsing import DefaultParser
from turnloom.default_rendering import attributed_text, roles_of, to_columns
from turnloom.loss import LossRule, loss_rule, row_loss_rules
from turnloom.rendered import RenderedTokens, TokenColumns
from turnloom.renderer_helpers import extract_message_tool_names

if TYPE_CHECKING:
    from turnloom.default_config import DefaultRendererConfig
    from turnloom.parsing import ParsedResponse, StreamParser
    from turnloom.renderer import OnError
    from turnloom.tokenizer import Tokenizer
    from turnloom.types import Messages, Tools


class DefaultRenderer:
    """A model's own chat template bound to a tokenizer; made by `create_renderer`.

    Text and ids are those of `apply_chat_template` of transformers 5. Immutable, and shared by any number of
    threads. The template is Python code: for speed, and for what it does not tell of its tokens, use the
    config of a family where there is one.
    """

    __slots__ = ("_config", "_parser", "_templates", "_tokenizer")

    def __init__(self, tokenizer: TokenizerObject, config: DefaultRendererConfig | None = None) -> None:
        """Compile the template.

        Raises:
            TypeError: `tokenizer` is none.
            ValueError: there is no template, or it is none. The message has the line.
        """
        from turnloom.default_config import DefaultRendererConfig

        self._tokenizer = tokenizer = own_tokenizer(tokenizer)
        self._config = config = config or DefaultRendererConfig()
        self._templates = {
            name: ChatTemplate(
                source,
                special_tokens=tokenizer.special_tokens,
                now=config.now,
                limits=config.limits,
                isolate=config.isolate,
            )
            for name, source in _sources(tokenizer.chat_template, config.chat_template).items()
        }
        self._parser = DefaultParser(tokenizer, config)

    @property
    def config(self) -> DefaultRendererConfig:
        """The config it was made with."""
        return self._config

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer it was made with."""
        return self._tokenizer

    @property
    def effective_thinking_retention(self) -> Literal["template"]:
        """Which reasoning of earlier turns is kept: what the template decides."""
        return "template"

    @property
    def is_prefix_stable(self) -> bool:
        """Whether further messages never change the ids of earlier ones: no template promises that."""
        return False

    @property
    def supports_tools(self) -> bool:
        """Whether calls of tools are read in completions: the config has a `tool_parser`."""
        return self._config.tool_parser is not None

    def render_text(
        self,
        messages: Messages,
        *,
        tools: Tools | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
    ) -> str:
        """Return the prompt as text; see `render`."""
        return self._template(tools).render(
            _checked(messages),
            tools=tools,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            variables=self._config.template_variables(),
        )

    def render_ids(
        self,
        messages: Messages,
        *,
        tools: Tools | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
    ) -> list[int]:
        """Return the token ids of the prompt; see `render`."""
        text = self.render_text(
            messages,
            tools=tools,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
        )
        return self._tokenizer.encode(text)

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
        """Return the tokens of the prompt, and what the template tells of where they come from.

        `message_indices` is there where it is certain which message the template was at when it wrote a
        token, and `sampled_mask` where the template marks what the model generated. Otherwise they are empty,
        as `is_content` and `fields` always are. At most two renderings are needed.

        Args:
            byte_offsets: also give the bytes of each token in the rendered text, where the tokenizer tells.
            loss: what `loss_mask` selects of `sampled_mask`: only turns can be chosen.

        Raises:
            RenderError: the template refuses the conversation, fails on it, or goes past its limits.
            TypeError, ValueError: something that was passed is of a wrong type or value.
        """
        columns = self._columns(
            messages,
            tools,
            add_generation_prompt,
            continue_final_message,
            byte_offsets=byte_offsets,
            loss=loss_rule(loss),
        )
        return RenderedTokens.from_columns(
            columns, roles_of(messages), extract_message_tool_names(messages), []
        )

    def render_batch(
        self,
        conversations: Sequence[Messages],
        *,
        tools: Tools | None = None,
        tools_per_row: Sequence[Tools | None] | None = None,
        add_generation_prompt: bool = False,
        byte_offsets: bool = False,
        threads: int | None = None,
        on_error: OnError = "raise",
        loss: LossRule | Sequence[LossRule | None] | None = None,
    ) -> TokenBatch:
        """Render many conversations; see `Renderer.render_batch`.

        A column is there if every row has it. Templates run under the interpreter lock, so `threads` has no
        effect.
        """
        check_rows(conversations, tools, tools_per_row, on_error)
        rules = row_loss_rules(loss, len(conversations))
        thread_count(threads)
        rows: list[TokenColumns] = []
        errors: list[tuple[int, Exception]] = []
        for row, messages in enumerate(conversations):
            row_tools = tools if tools_per_row is None else tools_per_row[row]
            try:
                rows.append(
                    self._columns(
                        messages,
                        row_tools,
                        add_generation_prompt,
                        False,
                        byte_offsets=byte_offsets,
                        loss=rules[row],
                    )
                )
            except (TypeError, ValueError) as error:
                error.add_note(f"row {row} of the batch")
                if on_error == "raise":
                    raise
                errors.append((row, error))
                rows.append(NO_TOKENS)
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        offsets.setflags(write=False)
        return TokenBatch(columns=joined(rows, byte_offsets), offsets=offsets, errors=errors)

    def get_stop_token_ids(self) -> list[int]:
        """Return the id of the tokenizer's `eos_token`, or nothing where that is not known."""
        return list(self._parser.stop_token_ids)

    def parse_response(
        self, token_ids: TokenIds, *, tools: Tools | None = None, prompt_ids: TokenIds | None = None
    ) -> ParsedResponse:
        """Return the message that a completion is, as far as the config says how to read it.

        Without `reasoning_parser`, `reasoning_complete` is None. See `Renderer.parse_response`.
        """
        return self._parser.parse(token_ids, tools=tools, prompt_ids=prompt_ids)

    def parse_batch(
        self,
        completions: Sequence[TokenIds],
        *,
        tools: Tools | None = None,
        prompts: Sequence[TokenIds | None] | None = None,
        threads: int | None = None,
    ) -> list[ParsedResponse]:
        """Return the messages that completions are; see `Renderer.parse_batch`."""
        check_completions(completions, prompts)
        return self._parser.parse_batch(
            completions, tools=tools, prompts=prompts, threads=thread_count(threads)
        )

    def stream_parser(
        self, *, tools: Tools | None = None, prompt_ids: TokenIds | None = None
    ) -> StreamParser:
        """Return a parser that takes the ids of one completion in parts; see `Renderer.stream_parser`."""
        return self._parser.stream(tools=tools, prompt_ids=prompt_ids)

    def bridge_to_next_turn(
        self,
        previous_prompt_ids: TokenIds,
        previous_completion_ids: TokenIds,
        new_messages: Messages,
        *,
        tools: Tools | None = None,
        allow_trim: bool = False,
    ) -> None:
        """Return None: a template gives whole conversations only, so render the next one.

        Raises:
            TypeError, ValueError: something that was passed is of a wrong type or value.
        """
        self.explain_bridge(
            previous_prompt_ids, previous_completion_ids, new_messages, tools=tools, allow_trim=allow_trim
        )

    def explain_bridge(
        self,
        previous_prompt_ids: TokenIds,
        previous_completion_ids: TokenIds,
        new_messages: Messages,
        *,
        tools: Tools | None = None,
        allow_trim: bool = False,
    ) -> BridgeRefusal:
        """Return why `bridge_to_next_turn` gives None."""
        prepare_tools(tools)
        token_id_array(previous_prompt_ids, "previous_prompt_ids")
        token_id_array(previous_completion_ids, "previous_completion_ids")
        _check_messages(new_messages, "new_messages")
        return BridgeRefusal(
            BridgeRefusalReason.ONLY_A_TEMPLATE, "config: the renderer of a family can, where there is one"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return DefaultRenderer, (self._tokenizer, self._config)

    def _template(self, tools: Tools | None) -> ChatTemplate:
        # The choice that transformers makes.
        name = "tool_use" if tools is not None and "tool_use" in self._templates else "default"
        if name not in self._templates:
            raise ValueError("tools: the tokenizer has a template for conversations with tools only")
        return self._templates[name]

    def _columns(
        self,
        messages: Messages,
        tools: Tools | None,
        add_generation_prompt: bool,
        continue_final_message: bool,
        *,
        byte_offsets: bool,
        loss: LossRule | None,
    ) -> TokenColumns:
        template = self._template(tools)
        request = template.request(
            _checked(messages),
            tools=tools,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            variables=self._config.template_variables(),
        )
        columns = to_columns(self._tokenizer, attributed_text(template, request), byte_offsets=byte_offsets)
        trained = loss_mask(columns.sampled_mask, columns.message_indices, messages, loss)
        return columns if trained is columns.loss_mask else replace(columns, loss_mask=trained)


def _checked(messages: Messages) -> Messages:
    _check_messages(messages, "messages")
    if not messages:
        raise ValueError("messages: no messages")
    return messages


def _check_messages(messages: Messages, argument: str) -> None:
    prepare_messages(messages, argument)
    trained_messages(messages, argument)


def _sources(own: str | dict[str, str] | None, chosen: str | None) -> dict[str, str]:
    """Return the templates to use, "default" and "tool_use"."""
    if isinstance(own, dict):
        if chosen in own:
            return {"default": own[chosen]}
        used: dict[str, str] = {name: own[name] for name in ("default", "tool_use") if name in own}
        if chosen is None and not used:
            raise ValueError(f"config.chat_template: expected one of {', '.join(sorted(own))}, got None")
        if chosen is None:
            return used
    if chosen is not None:
        return {"default": chosen}
    if own is None:
        raise ValueError(
            "config.chat_template: the tokenizer has no chat template; pass the text of one, as "
            "DefaultRendererConfig(chat_template=...)"
        )
    assert isinstance(own, str)
    return {"default": own}
