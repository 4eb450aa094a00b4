"""The one exception class that turnloom adds."""


class RenderError(ValueError):
    """A conversation that the chat format cannot express without losing something.

    The message is ``place: reason``, as ``messages[3].role: unknown role 'tol'``.
    """
