"""Completions to messages: the calls of `turnloom.parsing`, in Python.

- `symbols`: token ids -> characters and markers
- `json_scanner`, `call_reader`: one attempt at a call
- `tagged_calls`, `llama_calls`: where calls stand in an answer
- `completion`: header, reasoning, answer
- `response`: what was decided so far
- `calls`: the calls of a renderer
"""

from turnloom.reference.parsing.calls import ParsingCalls, StreamParser

__all__ = ["ParsingCalls", "StreamParser"]
