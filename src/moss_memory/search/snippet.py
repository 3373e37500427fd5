"""The matched words of a text, and snippets: the part around the densest matches, safe to show as HTML."""

from __future__ import annotations

import re

from .tokens import is_single, word_offsets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .expression import Operand

SNIPPET_CHARS = 300
BRIEF_CHARS = 180
"""For a search over all families, whose hits are chosen by address and title: about 400 characters for each hit."""

_SCANNED_CHARS = 32_000
"""The part of a long text in which matches are looked for: a page of hits takes a bounded time."""
_LEAD_CHARS = 40
_SNAP_CHARS = 30
_MARKERS = "#*-+>|=_~`"
"""The characters of Markdown's markers."""
_HEADING_CHARS = 7
"""The maximum length of the marker of a heading with its space."""
_JOINER = "\u200d"
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")


class Matcher:
    """Finds the matches of a query in texts: exact words, prefixes, whole phrases."""

    __slots__ = ("_phrases_by_first_word", "_prefixes", "_rough", "_words")

    def __init__(self, words: Iterable[str] = (), operands: Iterable[Operand] = ()) -> None:
        self._words = set(words)
        prefixes = {word for word in self._words if is_single(word)}
        self._phrases_by_first_word: dict[str, list[Operand]] = {}
        for operand in operands:
            if len(operand.words) > 1:
                self._phrases_by_first_word.setdefault(operand.words[0], []).append(operand)
            else:
                (prefixes if operand.prefix else self._words).update(operand.words)
        self._prefixes = tuple(prefixes)
        self._rough: list[re.Pattern[str]] | None = None

    def find_rough(self, text: str) -> int | None:
        """Return the greatest of the first offsets of the words in a text; None if it has none of them as written."""
        if self._rough is None:
            words = [*self._words, *self._phrases_by_first_word]
            patterns = [_bounded(word, "(?![0-9a-z])") for word in words]
            patterns += [_bounded(prefix, "") for prefix in self._prefixes]
            self._rough = [re.compile(pattern, re.IGNORECASE) for pattern in patterns]
        first_offsets = [match.start() for pattern in self._rough if (match := pattern.search(text))]
        return max(first_offsets, default=None)

    def matches(self, text: str) -> list[tuple[int, int, str]]:
        """Return every matched word with its character offsets, as `(start, end, word)`, in order."""
        if self._phrases_by_first_word:
            words = word_offsets(text)
            in_phrases = self._phrase_words(words)
            return [word for index, word in enumerate(words) if index in in_phrases or self._is_word(word[2])]
        if text.isascii():
            return self._in_ascii(text, 0)
        return [word for part, start in _parts(text) for word in self._in_part(part, start)]

    def _in_part(self, part: str, start: int) -> list[tuple[int, int, str]]:
        if part.isascii():
            return self._in_ascii(part, start)
        return [(first + start, end + start, word) for first, end, word in word_offsets(part) if self._is_word(word)]

    def _in_ascii(self, text: str, start: int) -> list[tuple[int, int, str]]:
        """Return the matches in ASCII text, whose words are runs of letters and digits.

        Searching for a few words takes a third of the time of splitting the whole text into words.
        """
        text = text.lower()
        matches_by_offset: dict[int, tuple[int, int, str]] = {}
        for words, is_prefix in ((self._words, False), (self._prefixes, True)):
            for word in words:
                offset = text.find(word)
                while offset >= 0:
                    end = offset + len(word)
                    while is_prefix and text[end : end + 1].isalnum():
                        end += 1
                    if not (text[end : end + 1].isalnum() or text[offset - 1 : offset].isalnum()):
                        matches_by_offset[offset] = (offset + start, end + start, text[offset:end])
                    offset = text.find(word, end)
        return [matches_by_offset[offset] for offset in sorted(matches_by_offset)]

    def _is_word(self, word: str) -> bool:
        return word in self._words or word.startswith(self._prefixes)

    def _phrase_words(self, words: list[tuple[int, int, str]]) -> set[int]:
        """Return the positions of words that are part of a matched phrase."""
        positions: set[int] = set()
        for position, (_, _, first) in enumerate(words):
            for operand in self._phrases_by_first_word.get(first, ()):
                size = len(operand.words)
                if _is_phrase(operand, [word for _, _, word in words[position : position + size]]):
                    positions.update(range(position, position + size))
        return positions


def _bounded(word: str, end: str) -> str:
    """Return the pattern of a word; one that is not ASCII may be a bigram inside a run."""
    return f"(?<![0-9a-z]){re.escape(word)}{end}" if word.isascii() else re.escape(word)


def _parts(text: str) -> Iterator[tuple[str, int]]:
    """Yield the lines of a text that are not ASCII, and the text between them, each with its offset.

    No word crosses the end of a line.
    """
    part_start = 0
    for match in _NON_ASCII.finditer(text):
        if match.start() >= part_start:
            line = text.rfind("\n", part_start, match.start()) + 1 or part_start
            yield text[part_start:line], part_start
            part_start = text.find("\n", match.end()) + 1 or len(text)
            yield text[line:part_start], line
    yield text[part_start:], part_start


def _is_phrase(operand: Operand, words: list[str]) -> bool:
    *exact, last = operand.words
    if len(words) != len(operand.words) or words[:-1] != exact:
        return False
    return words[-1].startswith(last) if operand.prefix else words[-1] == last


def snippet(text: str, matcher: Matcher, *, offset: int = 0, size_chars: int = SNIPPET_CHARS) -> str:
    """Return about `size_chars` characters of the text as HTML, with matches in `<b>` and `...` for omitted text.

    The part with the most matches is chosen, or the part at `offset` if there are no matches. The text is escaped, so
    every `<b>` is a match; cuts fall between characters.
    """
    matches = _find_matches(text, matcher, offset)
    first, last = _find_densest_span(matches, size_chars) if matches else (offset, offset)
    start, end = _choose_window(text, first, last, size_chars)
    parts = ["..."] if start else []
    copied_end = start
    for match_start, match_end in _merge_overlaps(matches):
        shown_from, shown_to = max(match_start, start), min(match_end, end)
        if shown_from < shown_to:
            parts.append(text[copied_end:shown_from].translate(_ESCAPES))
            parts.append(f"<b>{text[shown_from:shown_to].translate(_ESCAPES)}</b>")
            copied_end = shown_to
    parts.append(text[copied_end:end].translate(_ESCAPES))
    if end < len(text):
        parts.append("...")
    return "".join(parts)


def _find_matches(text: str, matcher: Matcher, offset: int) -> list[tuple[int, int, str]]:
    """Return the matches in a text; in a long one, those around the first occurrence of its last matching word."""
    if len(text) <= _SCANNED_CHARS:
        return matcher.matches(text)
    rough_offset = matcher.find_rough(text)
    start = max(0, (offset if rough_offset is None else rough_offset) - _SCANNED_CHARS // 2)
    part = text[start : start + _SCANNED_CHARS]
    return [(first + start, last + start, word) for first, last, word in matcher.matches(part)]


def _merge_overlaps(matches: list[tuple[int, int, str]]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for start, end, _ in matches:
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _find_densest_span(matches: list[tuple[int, int, str]], size_chars: int) -> tuple[int, int]:
    """Return the span that fits and contains the most distinct matched words, then the most matches."""
    best = (0, 0)
    span = (0, 0)
    counts: dict[str, int] = {}
    left = 0
    for right, (_, end, word) in enumerate(matches):
        counts[word] = counts.get(word, 0) + 1
        while left < right and end - matches[left][0] > size_chars - 2 * _LEAD_CHARS:
            gone = matches[left][2]
            left += 1
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
        weight = (len(counts), right - left + 1)
        if weight > best:
            best = weight
            span = (matches[left][0], end)
    return span


def _choose_window(text: str, first: int, last: int, size_chars: int) -> tuple[int, int]:
    """Return the part to show: the span centred in its context, with both ends moved to gaps between words."""
    if len(text) <= size_chars:
        return 0, len(text)
    last = min(last, first + size_chars)
    start = max(0, first - (size_chars - (last - first)) // 2)
    end = min(len(text), start + size_chars)
    start = max(0, end - size_chars)
    if start:
        start = _with_heading_marker(text, _gap_after(text, start, first))
        end = max(min(end, start + size_chars), last)
    if end < len(text):
        end = _without_open_marker(text, _gap_before(text, end, last), max(start, last))
    return start, end


def _with_heading_marker(text: str, start: int) -> int:
    """Return the start of the line if only the marker of its heading is before this place; else the place."""
    line = text.rfind("\n", max(0, start - _HEADING_CHARS - 1), start) + 1
    return line if text[line:start].rstrip(" ").strip("#") == "" else start


def _without_open_marker(text: str, end: int, bound: int) -> int:
    """Return the end of the text before a marker of Markdown, or a heading, that has nothing after it."""
    while end > bound:
        line = text.rfind("\n", bound, end) + 1 or bound
        word = max(text.rfind(" ", line, end) + 1, line)
        if text[line:end].startswith("#") and line > bound:
            cut = line
        elif not text[word:end].strip(_MARKERS) or (word == line and text[word : end - 1].isdigit()):
            cut = word
        else:
            break
        if cut <= bound:
            break
        end = cut - 1
        while end > bound and text[end - 1].isspace():
            end -= 1
    return end


def _gap_after(text: str, cut: int, bound: int) -> int:
    """Return the first start of a word from `cut` on if one is near, else the next whole character."""
    for offset in range(cut, min(cut + _SNAP_CHARS, bound) + 1):
        if text[offset - 1].isspace() and not text[offset].isspace():
            return offset
    while cut < bound and not _between_characters(text, cut):
        cut += 1
    return cut


def _gap_before(text: str, cut: int, bound: int) -> int:
    """Return the last end of a word up to `cut` if one is near, else the end of the last whole character."""
    for offset in range(cut, max(cut - _SNAP_CHARS, bound) - 1, -1):
        if text[offset].isspace() and not text[offset - 1].isspace():
            return offset
    while cut > bound and not _between_characters(text, cut):
        cut -= 1
    return cut


def _between_characters(text: str, cut: int) -> bool:
    """Return True if a cut here separates no combining mark or joined emoji from its character."""
    import unicodedata  # needed only if no gap is near

    after, before = text[cut], text[cut - 1]
    if before == _JOINER or after == _JOINER or before == "\r":
        return False
    return unicodedata.category(after)[0] != "M" and unicodedata.category(after) != "Sk"
