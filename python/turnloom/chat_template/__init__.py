"""Jinja chat templates as transformers 5 renders them, within limits. Loading this package loads jinja2."""

from turnloom.chat_template.limits import TemplateLimits
from turnloom.chat_template.template import ChatTemplate

__all__ = ["ChatTemplate", "TemplateLimits"]
