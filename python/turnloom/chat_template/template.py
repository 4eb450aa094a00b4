"""A Jinja chat template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from types import MappingProxyType

from turnloom.chat_template.compiled import CompiledTemplate
from turnloom.chat_template.isolated import IsolatedTemplate
from turnloom.chat_template.messages import (
    cut_at_mark,
    mark_final_message,
    prepare_documents,
    prepare_messages,
    prepare_tools,
)
from turnloom.chat_template.rendering import Request, Runner
from turnloom.template_limits import TemplateLimits

_NAMES_OF_ARGUMENTS = frozenset({"messages", "tools", "add_generation_prompt"})
"""`documents` is one, too, and may be given as a variable as well."""
_NO_VARIABLES: Mapping[str, object] = MappingProxyType({})


class ChatTemplate:
    """A chat template that renders as `apply_chat_template(tokenize=False)` of transformers 5 does.

    It needs no transformers, never reads the clock, and ends with an error at its limits. Immutable, and
    shared by any number of threads.

    >>> ChatTemplate("{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}").render(
    ...     [{"role": "user", "content": "Hi"}]
    ... )
    '[user] Hi'
    """

    __slots__ = ("_runner", "_source", "_special_tokens")

    def __init__(
        self,
        source: str,
        *,
        special_tokens: Mapping[str, str] = MappingProxyType({}),
        now: datetime | None = None,
        limits: TemplateLimits = TemplateLimits(),  # noqa: B008  it is immutable
        isolate: bool = False,
    ) -> None:
        """Compile a template.

        Args:
            special_tokens: variables of the template, such as `{"bos_token": "<s>"}`.
            now: what `strftime_now` tells. Without it, a template that calls that fails.
            isolate: for templates from people you do not trust. Each rendering is a subprocess that is ended
                at the limits on time and memory, and takes a fraction of a second longer. The template is
                compiled there, too, so an error in it shows when it renders.

        Raises:
            TypeError: an argument is of a wrong type.
            ValueError: it is no Jinja template, and then the message has the line; or a special token has the
                name of an argument of `render`.
            TemplateLimitError: it is too long, or nests too deeply.
        """
        if not isinstance(source, str):
            raise TypeError(f"chat_template: expected str, got {type(source).__name__}")
        if now is not None and not isinstance(now, datetime):
            raise TypeError(f"now: expected datetime or None, got {type(now).__name__}")
        if not isinstance(limits, TemplateLimits):
            raise TypeError(f"limits: expected TemplateLimits, got {type(limits).__name__}")
        if not isinstance(isolate, bool):
            raise TypeError(f"isolate: expected bool, got {type(isolate).__name__}")
        _check_names(special_tokens, "special_tokens", _NAMES_OF_ARGUMENTS | {"documents"})
        for name, token in special_tokens.items():
            if not isinstance(token, str):
                raise TypeError(f"special_tokens[{name!r}]: expected str, got {type(token).__name__}")
        self._source = source
        self._special_tokens = dict(special_tokens)
        runner = IsolatedTemplate if isolate else CompiledTemplate
        self._runner: Runner = runner(source, now=now, limits=limits)

    @property
    def source(self) -> str:
        """Its text."""
        return self._source

    def render(
        self,
        messages: Sequence[Mapping[str, object]],
        *,
        tools: Sequence[Mapping[str, object]] | None = None,
        documents: Sequence[Mapping[str, object]] | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
        variables: Mapping[str, object] = _NO_VARIABLES,
    ) -> str:
        """Return the text of a conversation.

        Args:
            variables: further variables of the template, such as `{"enable_thinking": False}`.

        Raises:
            RenderError: the template refuses the conversation, or fails on it.
            TemplateLimitError: the template wants more than its limits allow.
            TypeError: an argument is of a wrong type.
            ValueError: `add_generation_prompt` together with `continue_final_message`, or a variable that has
                the name of an argument.
        """
        request = self.request(
            messages,
            tools=tools,
            documents=documents,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            variables=variables,
        )
        return cut_at_mark(self._runner.run(request).text, request.final_text)

    def request(
        self,
        messages: Sequence[Mapping[str, object]],
        *,
        tools: Sequence[Mapping[str, object]] | None = None,
        documents: Sequence[Mapping[str, object]] | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
        variables: Mapping[str, object] = _NO_VARIABLES,
    ) -> Request:
        """Return what `runner` takes, for the arguments of `render`."""
        prepared = prepare_messages(messages)
        _check_names(variables, "variables", _NAMES_OF_ARGUMENTS)
        if add_generation_prompt and continue_final_message:
            raise ValueError("continue_final_message: cannot be combined with add_generation_prompt")
        return Request(
            final_text=mark_final_message(prepared) if continue_final_message else None,
            messages=prepared,
            tools=prepare_tools(tools),
            documents=prepare_documents(documents),
            add_generation_prompt=add_generation_prompt,
            variables={**self._special_tokens, **variables},
        )

    @property
    def runner(self) -> Runner:
        """What renders, and tells more of it than the text."""
        return self._runner

    def __repr__(self) -> str:
        return f"<ChatTemplate of {len(self._source):,} characters>"


def _check_names(values: Mapping[str, object], argument: str, taken: Set[str]) -> None:
    if not isinstance(values, Mapping):
        raise TypeError(f"{argument}: expected a mapping, got {type(values).__name__}")
    for name in values:
        if not isinstance(name, str):
            raise TypeError(f"{argument}: expected str as names, got {type(name).__name__}")
        if name in taken:
            raise ValueError(f"{argument}: {name!r} is an argument of the call")
