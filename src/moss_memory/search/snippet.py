"""Snippets: the part of a stored text around its densest matches, safe to show as HTML."""

from __future__ import annotations

from .words import places_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .operators import Operand

SNIPPET_CHARS = 300
_LEAD_CHARS = 40
_SNAP_CHARS = 30
_JOINER = "\u200d"
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


class Matcher:
    """Knows which words of a text a query truly matches: exact words, prefixes, whole phrases."""

    __slots__ = ("_by_first", "_open", "_words")

    def __init__(self, words: frozenset[str] = frozenset(), operands: tuple[Operand, ...] = ()) -> None:
        single = {operand.words[0] for operand in operands if len(operand.words) == 1 and not operand.prefix}
        self._words = words | single
        self._by_first: dict[str, list[Operand]] = {}
        for operand in operands:
            if len(operand.words) > 1:
                self._by_first.setdefault(operand.words[0], []).append(operand)
        self._open = tuple(operand.words[0] for operand in operands if len(operand.words) == 1 and operand.prefix)

    def matches(self, text: str) -> list[tuple[int, int, str]]:
        """Every matched word with the characters it spans: `(start, end, word)`, in order."""
        data = text.encode()
        places = places_in(data)
        if self._by_first:
            marked = self._phrase_words(places)
            found = [place for at, place in enumerate(places) if at in marked or self._is_word(place[2])]
        elif self._open:
            found = [place for place in places if self._is_word(place[2])]
        else:
            words = self._words
            found = [place for place in places if place[2] in words]
        return found if len(data) == len(text) else _in_characters(data, found)

    def _is_word(self, word: str) -> bool:
        return word in self._words or word.startswith(self._open)

    def _phrase_words(self, places: list[tuple[int, int, str]]) -> set[int]:
        marked: set[int] = set()
        for at, place in enumerate(places):
            for operand in self._by_first.get(place[2], ()):
                size = len(operand.words)
                if _continues(operand, [word for _, _, word in places[at : at + size]]):
                    marked.update(range(at, at + size))
        return marked


def _continues(operand: Operand, words: list[str]) -> bool:
    *exact, last = operand.words
    if len(words) != len(operand.words) or words[:-1] != exact:
        return False
    return words[-1].startswith(last) if operand.prefix else words[-1] == last


def _in_characters(data: bytes, found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """The same places counted in characters instead of bytes."""
    result = []
    byte = char = 0
    for start, end, word in found:
        char += len(data[byte:start].decode())
        size = len(data[start:end].decode())
        result.append((char, char + size, word))
        char += size
        byte = end
    return result


def snippet(text: str, matcher: Matcher, *, size_chars: int = SNIPPET_CHARS) -> str:
    """About `size_chars` characters of the text as HTML, matched words in `<b>`, `...` where text was left out.

    The text is escaped, so that no `<b>` but those of matches can appear; cuts fall between characters.
    """
    found = matcher.matches(text)
    first, last = _densest(found, size_chars)
    start, end = _window(text, first, last, size_chars)
    parts = ["..."] if start else []
    at = start
    for match_start, match_end, _ in found:
        shown_from, shown_to = max(match_start, start), min(match_end, end)
        if shown_from < shown_to:
            parts.append(text[at:shown_from].translate(_ESCAPES))
            parts.append(f"<b>{text[shown_from:shown_to].translate(_ESCAPES)}</b>")
            at = shown_to
    parts.append(text[at:end].translate(_ESCAPES))
    if end < len(text):
        parts.append("...")
    return "".join(parts)


def _densest(found: list[tuple[int, int, str]], size_chars: int) -> tuple[int, int]:
    """The span of the matches that fit together and hold the most different words, then the most words."""
    best = (0, 0)
    span = (0, 0)
    counts: dict[str, int] = {}
    left = 0
    for right, (_, end, word) in enumerate(found):
        counts[word] = counts.get(word, 0) + 1
        while left < right and end - found[left][0] > size_chars - 2 * _LEAD_CHARS:
            gone = found[left][2]
            left += 1
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
        weight = (len(counts), right - left + 1)
        if weight > best:
            best = weight
            span = (found[left][0], end)
    return span


def _window(text: str, first: int, last: int, size_chars: int) -> tuple[int, int]:
    """The characters to show: the span with an even share of what surrounds it, ends moved to gaps between words."""
    if len(text) <= size_chars:
        return 0, len(text)
    last = min(last, first + size_chars)
    start = max(0, first - (size_chars - (last - first)) // 2)
    end = min(len(text), start + size_chars)
    start = max(0, end - size_chars)
    if start:
        start = _gap_after(text, start, first)
    if end < len(text):
        end = _gap_before(text, end, last)
    return start, end


def _gap_after(text: str, at: int, bound: int) -> int:
    """The first word start from here on, if one is near, else the next whole character."""
    for here in range(at, min(at + _SNAP_CHARS, bound) + 1):
        if text[here - 1].isspace() and not text[here].isspace():
            return here
    while at < bound and not _between_characters(text, at):
        at += 1
    return at


def _gap_before(text: str, at: int, bound: int) -> int:
    """The last word end up to here, if one is near, else the end of the last whole character."""
    for here in range(at, max(at - _SNAP_CHARS, bound) - 1, -1):
        if text[here].isspace() and not text[here - 1].isspace():
            return here
    while at > bound and not _between_characters(text, at):
        at -= 1
    return at


def _between_characters(text: str, at: int) -> bool:
    """Whether a cut here leaves accents and joined emoji with the character they belong to."""
    import unicodedata  # only a cut without a gap near it needs it

    after, before = text[at], text[at - 1]
    if before == _JOINER or after == _JOINER or before == "\r":
        return False
    return unicodedata.category(after)[0] != "M" and unicodedata.category(after) != "Sk"
