"""The turn frame of the Llama 3 families."""

from turnloom.reference.families.family import TokenLookup
from turnloom.reference.prompt import PromptWriter
from turnloom.rendered import Field

MARKERS = (
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|python_tag|>",
)


class LlamaFrame:
    """The frame `<|start_header_id|>role<|end_header_id|>\\n\\n` ... `<|eot_id|>` of a turn."""

    def __init__(self, tokens: TokenLookup) -> None:
        self.begin_of_text = tokens("<|begin_of_text|>")
        self.end_of_text = tokens("<|end_of_text|>")
        self.start_header = tokens("<|start_header_id|>")
        self.end_header = tokens("<|end_header_id|>")
        self.eot = tokens("<|eot_id|>")

    def open(self, role: str, out: PromptWriter) -> None:
        """Open a turn of a role that the template itself names."""
        out.control(self.start_header)
        out.literal(role)
        out.control(self.end_header)
        out.literal("\n\n")

    def open_as_given(self, role: str, out: PromptWriter) -> None:
        """Open a turn of whatever role the caller wrote."""
        out.control(self.start_header)
        out.caller_text(role, Field.SCAFFOLD)
        out.control(self.end_header)
        out.literal("\n\n")

    def close(self, out: PromptWriter) -> None:
        """Close the turn."""
        out.control(self.eot, Field.TURN_CLOSE)
