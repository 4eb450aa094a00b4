"""turnloom in pure Python, written for reading: what the native core is tested against.

The calls have the same names, arguments, results and exceptions as those of `turnloom`. No public call falls
back to it.
"""

from turnloom.reference.renderer import Renderer, create_renderer

__all__ = ["Renderer", "create_renderer"]
