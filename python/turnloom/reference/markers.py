"""Finding added tokens in a prompt, as the `tokenizers` package does, where the marker policy allows.

The result tiles the prompt with segments: tokens that are known by spelling or id, and regions of text for
the encoder.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from turnloom.errors import RenderError
from turnloom.reference.added_tokens import AddedTokens, Spellings
from turnloom.reference.families.family import MarkerPolicy
from turnloom.reference.prompt import Piece, Prompt, Source
from turnloom.reference.unicode_classes import (
    ends_with_word_character,
    leading_space,
    starts_with_word_character,
    trailing_space,
)
from turnloom.rendered import ContentMarker, Field
from turnloom.tokenizer_file import AddedToken


@dataclass(frozen=True, slots=True)
class Segment:
    """Bytes `[begin, end)` of the prompt: one token, or a region of text (token None)."""

    begin: int
    end: int
    token: int | None


@dataclass(frozen=True, slots=True)
class Segmentation:
    """A prompt cut into segments that tile it, and the markers that text of the caller spells, in order."""

    segments: list[Segment]
    content_markers: list[ContentMarker]


def segment(prompt: Prompt, added_tokens: AddedTokens, policy: MarkerPolicy) -> Segmentation:
    """Cut a prompt at control tokens and at the added tokens that its text may hold.

    Leftmost first, then the longest that is allowed there. A marker is allowed where all its bytes lie in
    pieces that may hold markers; other added tokens always are.

    Raises:
        RenderError: under the policy "reject", a marker stands where it is not allowed.
    """
    return _Scan(prompt, added_tokens, policy).run()


class _Scan:
    """The scan of one prompt."""

    def __init__(self, prompt: Prompt, added_tokens: AddedTokens, policy: MarkerPolicy) -> None:
        self._text = prompt.text
        self._pieces = prompt.pieces
        self._messages_name = prompt.messages_name
        self._added_tokens = added_tokens
        self._policy = policy
        self._piece_begins = [piece.begin for piece in self._pieces]
        self._allowed_until = self._reaches()
        self._segments: list[Segment] = []
        self._content_markers: list[ContentMarker] = []

    def run(self) -> Segmentation:
        begin = 0
        for cut in self._verbatim_cuts():
            self._add_gap(begin, cut.begin)
            self._segments.append(cut)
            begin = cut.end
        self._add_gap(begin, len(self._text))
        self._content_markers.sort(key=lambda marker: marker.byte_begin)
        return Segmentation(self._segments, self._content_markers)

    def _reaches(self) -> list[int]:
        """Give for each piece how far a marker that starts in it may reach; its begin for not at all."""
        reaches: list[int] = []
        next_begin, next_reach = len(self._text), len(self._text)
        for piece in reversed(self._pieces):
            if not _may_hold_markers(piece, self._policy):
                reach = piece.begin
            elif next_reach > next_begin:
                reach = next_reach
            else:
                reach = piece.end
            reaches.append(reach)
            next_begin, next_reach = piece.begin, reach
        return reaches[::-1]

    def _verbatim_cuts(self) -> list[Segment]:
        """Cut out control tokens, and the tokens matched between two of them."""
        cuts: list[Segment] = []
        whole = (0, len(self._text))
        begin = 0
        for piece in self._pieces:
            if piece.token is not None:
                self._match(self._added_tokens.verbatim, (begin, piece.begin), whole, cuts)
                token = self._added_tokens.by_id[piece.token]
                cuts.append(self._widened(token, piece.begin, piece.end, whole, cuts))
                begin = piece.end
        self._match(self._added_tokens.verbatim, (begin, whole[1]), whole, cuts)
        return cuts

    def _add_gap(self, begin: int, end: int) -> None:
        """Cut a gap between verbatim tokens into normalized tokens and regions of text."""
        cuts: list[Segment] = []
        self._match(self._added_tokens.normalized, (begin, end), (begin, end), cuts)
        for cut in cuts:
            self._add_region(begin, cut.begin)
            self._segments.append(cut)
            begin = cut.end
        self._add_region(begin, end)

    def _add_region(self, begin: int, end: int) -> None:
        if begin < end:
            self._segments.append(Segment(begin, end, None))

    def _match(
        self, spellings: Spellings, bounds: tuple[int, int], sentence: tuple[int, int], cuts: list[Segment]
    ) -> None:
        """Append the tokens within `bounds` to `cuts`: leftmost first, then the longest that is allowed.

        Args:
            spellings: the tokens to look for.
            bounds: begin and end of the bytes to search.
            sentence: begin and end of the text in which a token may have to be a word of its own.
            cuts: the tokens found before; the last one may have taken white space from `bounds`.
        """
        begin, end = bounds
        at = max([begin, *(cut.end for cut in cuts[-1:])])
        reported_until = begin
        while spellings and (at := spellings.candidate(self._text, at, end)) < end:
            allowed: AddedToken | None = None
            blocked: AddedToken | None = None
            for token in spellings.at(self._text, at, end):
                if not token.marker or at + _length(token) <= self._allowed_until[self._piece_at(at)]:
                    allowed, blocked = token, None
                elif not token.single_word or self._stands_alone(at, at + _length(token), sentence):
                    blocked = token
            if blocked is not None and at >= reported_until:
                self._report(blocked, at, became_token=False)
                reported_until = at + _length(blocked)
            if allowed is None:
                at += 1
                continue
            token_end = at + _length(allowed)
            if allowed.single_word and not self._stands_alone(at, token_end, sentence):
                at = token_end  # the package looks for no other token in there
                continue
            if allowed.marker:
                self._report(allowed, at, became_token=True)
            cuts.append(self._widened(allowed, at, token_end, bounds, cuts))
            at = cuts[-1].end

    def _widened(
        self, token: AddedToken, begin: int, end: int, bounds: tuple[int, int], cuts: Sequence[Segment]
    ) -> Segment:
        """Let a token that strips take the white space beside it, up to the token before."""
        if token.lstrip:
            floor = max([bounds[0], *(cut.end for cut in cuts[-1:])])
            begin -= trailing_space(self._text[floor:begin])
        if token.rstrip:
            end += leading_space(self._text[end : bounds[1]])
        return Segment(begin, end, token.id)

    def _stands_alone(self, begin: int, end: int, sentence: tuple[int, int]) -> bool:
        # No character is longer than four bytes.
        before = self._text[max(sentence[0], begin - 4) : begin]
        after = self._text[end : min(sentence[1], end + 4)]
        return not ends_with_word_character(before) and not starts_with_word_character(after)

    def _piece_at(self, byte: int) -> int:
        return bisect_right(self._piece_begins, byte) - 1

    def _report(self, token: AddedToken, begin: int, *, became_token: bool) -> None:
        """Note a marker, if text of the caller has a part in it: the first such piece answers for it."""
        end = begin + _length(token)
        touched = self._pieces[self._piece_at(begin) : self._piece_at(end - 1) + 1]
        piece = next((piece for piece in touched if piece.source is not Source.TEMPLATE), None)
        if piece is None:
            return
        if self._policy == "reject" and not became_token:
            span = f"bytes {begin}-{end} of the rendered text"
            raise RenderError(
                f"{_place(piece, self._messages_name)}: {span} spell the marker {token.content!r}"
            )
        self._content_markers.append(
            ContentMarker(piece.message, piece.field, begin, end, token.content, became_token)
        )


def _may_hold_markers(piece: Piece, policy: MarkerPolicy) -> bool:
    match piece.source:
        case Source.TEMPLATE:
            return True
        case Source.AUTHOR:
            return policy != "none"
        case Source.GUEST:
            return policy == "all"


def _place(piece: Piece, messages_name: str) -> str:
    match piece.field:
        case Field.TOOL_SPEC:
            return "tools"
        case Field.CONTENT:
            key = "content"
        case Field.REASONING:
            key = "reasoning_content"
        case Field.TOOL_NAME | Field.TOOL_ARGUMENTS:
            key = "tool_calls"
        case _:
            key = "role"
    return f"{messages_name}[{piece.message}].{key}"


def _length(token: AddedToken) -> int:
    return len(token.content.encode())
