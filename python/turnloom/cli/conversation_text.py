"""A conversation's tokens as text for people: colours, marks, counts."""

import codecs
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from turnloom.data.stored_row import StoredRow
from turnloom.rendered import Field
from turnloom.tokenizer import Tokenizer

_MESSAGE_COLOURS = ("cyan", "yellow", "green", "magenta", "bright_blue", "bright_red")
_NO_MESSAGE = "bright_black"
_WIDE = 1000  # a pipe has no width, so nothing is folded
_TRAINED = "bold underline"
_REORDERING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


def print_conversation(row: StoredRow, tokenizer: Tokenizer, name: str, limit: int | None) -> None:
    """Print a heading, the legend, the text, and a table of the messages."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE
    console.print(_heading(row, name), soft_wrap=True, style="bold" if console.is_terminal else None)
    console.print(_legend(row, console.is_terminal), soft_wrap=True)
    console.print()
    shown = row.token_ids[:limit]
    texts = token_texts(tokenizer.decode_bytes([token_id]) for token_id in shown)
    text = _coloured(row, texts, console.is_terminal)
    end = "" if text.plain.endswith("\n") else "\n"
    if console.is_terminal:
        console.print(text, soft_wrap=True, end=end)
    else:
        console.file.write(text.plain + end)  # rich would make spaces of tabs
    if len(shown) < len(row.token_ids):
        console.print(f"... and {len(row.token_ids) - len(shown):,} more tokens", style="dim")
    console.print()
    console.print(_message_table(row))


def token_texts(tokens: Iterable[bytes]) -> list[str]:
    """Return the text of each token; a character that several tokens share is in the first of them."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    texts: list[str] = []
    owner: int | None = None  # the token that holds the first byte of an unfinished character
    for i, token in enumerate(tokens):
        text = decoder.decode(token)
        texts.append(text)
        if owner is not None and text:
            texts[owner] += text[0]
            texts[i] = text[1:]
            owner = None
        if decoder.getstate()[0] and owner is None:
            owner = i
    if texts:
        texts[-1] += decoder.decode(b"", final=True)
    return texts


def _coloured(row: StoredRow, texts: Sequence[str], is_terminal: bool) -> Text:
    result = Text()
    messages = row.message_indices or [-1] * len(texts)
    trained = row.trained or [False] * len(texts)
    # texts may be shorter than the row
    for (message, is_trained), run in groupby(
        zip(messages, trained, texts, strict=False), key=lambda token: token[:2]
    ):
        text = _visible("".join(text for _, _, text in run))
        if not is_terminal:
            result.append(f"{{+{text}+}}" if is_trained else text)
        elif is_trained:
            # An underlined line break looks like any other, so it gets a sign.
            result.append(text.replace("\n", "↵\n"), f"{_message_colour(message)} {_TRAINED}")
        else:
            result.append(text, _message_colour(message))
    return result


def _visible(text: str) -> str:
    """Spell control characters and those that reorder text, so that content cannot steer the terminal."""

    def spelled(character: str) -> str:
        if character in "\n\t":
            return character
        is_control = unicodedata.category(character) == "Cc"
        reorders = unicodedata.bidirectional(character) in _REORDERING
        return ascii(character)[1:-1] if is_control or reorders else character

    return text if text.isprintable() else "".join(map(spelled, text))


def _message_colour(message: int) -> str:
    return _NO_MESSAGE if message < 0 else _MESSAGE_COLOURS[message % len(_MESSAGE_COLOURS)]


def _heading(row: StoredRow, name: str) -> str:
    parts = [f"row {row.index} of {name}"]
    if row.line is not None:
        parts.append(f"from {row.input or 'its input'}:{row.line}")
    if row.metadata.family:
        parts.append(f"{row.metadata.family}, {row.metadata.tokenizer}")
    return " · ".join(parts)


def _legend(row: StoredRow, is_terminal: bool) -> Text:
    if row.trained is None:
        return Text("(the file has neither loss_mask nor sampled_mask: trained tokens are not marked)")
    if not is_terminal:
        return Text("{+trained+}, the rest is not")
    legend = Text("a colour a message, ")
    legend.append("no message", _NO_MESSAGE)
    legend.append(", ")
    legend.append("trained", _TRAINED)
    return legend


def _message_table(row: StoredRow) -> Table:
    n_tokens = len(row.token_ids)
    messages = row.message_indices or [-1] * n_tokens
    trained = row.trained or [False] * n_tokens
    tokens_of = Counter(messages)
    trained_of = Counter(message for message, is_trained in zip(messages, trained, strict=True) if is_trained)
    fields_of: dict[int, Counter[int]] = {message: Counter() for message in tokens_of}
    for message, field in zip(messages, row.fields or [], strict=False):
        fields_of[message][field] += 1
    table = Table("message", box=None, pad_edge=False)
    table.add_column("tokens", justify="right")
    table.add_column("trained", justify="right")
    table.add_column("fields", overflow="fold")
    for message in sorted(tokens_of):
        fields = ", ".join(
            f"{_field_name(field)} {count}" for field, count in fields_of[message].most_common()
        )
        name = Text("none" if message < 0 else str(message), _message_colour(message))
        table.add_row(name, f"{tokens_of[message]:,}", f"{trained_of[message]:,}", fields)
    table.add_row("all", f"{n_tokens:,}", f"{trained_of.total():,}", "")
    return table


def _field_name(field: int) -> str:
    return Field(field).name.lower().replace("_", " ")
