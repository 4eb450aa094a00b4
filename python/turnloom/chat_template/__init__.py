"""Jinja chat templates as transformers 5 renders them, within limits. Loading this package loads jinja2."""

from turnloom.chat_template.template import ChatTemplate
from turnloom.template_limits import TemplateLimits

__all__ = ["ChatTemplate", "TemplateLimits"]
