"""The exception classes that turnloom adds."""


class RenderError(ValueError):
    """A conversation that the chat format cannot express without losing something.

    The message is ``place: reason``, as ``messages[3].role: unknown role 'tol'``. Where a chat template
    refuses a conversation, it is the template's own sentence.
    """


class TemplateLimitError(RenderError):
    """A chat template that wants more steps, memory, output or time than its limits allow."""


class OverlongPromptError(Exception):
    """A prompt with more tokens than the engine takes; it was not sent."""

    def __init__(self, *, prompt_len: int, max_prompt_len: int) -> None:
        super().__init__(f"the prompt has {prompt_len} tokens, at most {max_prompt_len} are allowed")
        self.prompt_len = prompt_len
        self.max_prompt_len = max_prompt_len

    def __reduce__(self) -> tuple[object, ...]:
        return _overlong_prompt_error, (self.prompt_len, self.max_prompt_len)


def _overlong_prompt_error(prompt_len: int, max_prompt_len: int) -> OverlongPromptError:
    return OverlongPromptError(prompt_len=prompt_len, max_prompt_len=max_prompt_len)


class MalformedGenerateResponseError(ValueError):
    """An answer of an engine that is not what was sampled, or not all of it.

    The message is ``place: reason``, as ``response.choices[0].logprobs.content: 3 entries for 4 token ids``.
    """
