"""The parsing calls of a renderer."""

from collections.abc import Sequence
from functools import cached_property

from turnloom._arguments import thread_count
from turnloom._ids import TokenIds, token_id_array
from turnloom.parsing import Delta, ParsedResponse, tool_names
from turnloom.reference.families.family import RendererConfig
from turnloom.reference.parsing.completion import CompletionStream, leaves_reasoning_open
from turnloom.reference.parsing.formats import CompletionFormat, completion_format
from turnloom.tokenizer import Tokenizer


class StreamParser:
    """Parses a completion while it is sampled."""

    def __init__(self, stream: CompletionStream) -> None:
        self._stream = stream
        self._is_finished = False

    def feed(self, ids: TokenIds) -> list[Delta]:
        """Take more ids and return what they decide. Ids after a stop token are ignored."""
        checked = token_id_array(ids, "ids").tolist()
        if self._is_finished:
            raise ValueError("ids: the completion was ended")
        return self._stream.feed(checked)

    def end(self) -> list[Delta]:
        """End the completion and return what was held back; nothing the second time."""
        self._is_finished = True
        return self._stream.end()

    def finish(self) -> ParsedResponse:
        """End the completion, if `end` did not, and return all of it."""
        self._is_finished = True
        return self._stream.finish()


class ParsingCalls:
    """What a renderer does with completions."""

    def __init__(self, tokenizer: Tokenizer, config: RendererConfig) -> None:
        self._tokenizer = tokenizer
        self._config = config

    def get_stop_token_ids(self) -> list[int]:
        """Return the ids at which generation stops, the close of a turn first."""
        raise NotImplementedError

    def parse_response(
        self, token_ids: TokenIds, *, tools: object = None, prompt_ids: TokenIds | None = None
    ) -> ParsedResponse:
        """Return the message that a completion is."""
        return self._parse(token_ids, "token_ids", tools, prompt_ids, "prompt_ids")

    def parse_batch(
        self,
        completions: Sequence[TokenIds],
        *,
        tools: object = None,
        prompts: Sequence[TokenIds | None] | None = None,
        threads: int | None = None,
    ) -> list[ParsedResponse]:
        """Return the messages that completions are; `threads` is checked and has no effect."""
        if not isinstance(completions, list | tuple):
            raise TypeError(f"completions: expected list or tuple, got {type(completions).__name__}")
        if prompts is not None and not isinstance(prompts, list | tuple):
            raise TypeError(f"prompts: expected list or tuple, got {type(prompts).__name__}")
        if prompts is not None and len(prompts) != len(completions):
            raise ValueError(f"prompts: {len(prompts)} entries for {len(completions)} completions")
        thread_count(threads)
        return [
            self._parse(
                token_ids,
                f"completions[{row}]",
                tools,
                None if prompts is None else prompts[row],
                f"prompts[{row}]",
            )
            for row, token_ids in enumerate(completions)
        ]

    def stream_parser(self, *, tools: object = None, prompt_ids: TokenIds | None = None) -> StreamParser:
        """Return a parser that takes the ids of one completion in parts."""
        return StreamParser(self._stream(tools, prompt_ids, "prompt_ids"))

    @cached_property
    def _format(self) -> CompletionFormat:
        revision = getattr(self._config, "revision", "")
        return completion_format(self._tokenizer, self._config.name, revision, self.get_stop_token_ids())

    def _stream(self, tools: object, prompt_ids: TokenIds | None, prompt_place: str) -> CompletionStream:
        known_tools = tool_names(tools)
        prompt = [] if prompt_ids is None else token_id_array(prompt_ids, prompt_place).tolist()
        return CompletionStream(
            self._format,
            starts_in_reasoning=leaves_reasoning_open(self._format, prompt),
            known_tools=known_tools,
        )

    def _parse(
        self,
        token_ids: TokenIds,
        place: str,
        tools: object,
        prompt_ids: TokenIds | None,
        prompt_place: str,
    ) -> ParsedResponse:
        checked = token_id_array(token_ids, place).tolist()
        stream = self._stream(tools, prompt_ids, prompt_place)
        stream.feed(checked)
        return stream.finish()
