"""The exception classes that turnloom adds."""


class RenderError(ValueError):
    """A conversation that the chat format cannot express without losing something.

    The message is ``place: reason``, as ``messages[3].role: unknown role 'tol'``. Where a chat template
    refuses a conversation, it is the template's own sentence.
    """


class TemplateLimitError(RenderError):
    """A chat template that wants more steps, memory, output or time than its limits allow."""
