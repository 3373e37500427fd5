"""Snippets: the part of a stored text around its densest matches, safe to show as HTML."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .matcher import Matcher

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


def snippet(text: str, matcher: Matcher, *, offset: int = 0, size_chars: int = SNIPPET_CHARS) -> str:
    """Return about `size_chars` characters of the text as HTML, with matches in `<b>` and `...` for omitted text.

    The part with the most matches is chosen, or the part at `offset` if there are no matches. The text is escaped, so
    every `<b>` is a match; cuts fall between characters.
    """
    found = _find_matches(text, matcher, offset)
    first, last = _find_densest_span(found, size_chars) if found else (offset, offset)
    start, end = _choose_window(text, first, last, size_chars)
    parts = ["..."] if start else []
    at = start
    for match_start, match_end in _merge_overlaps(found):
        shown_from, shown_to = max(match_start, start), min(match_end, end)
        if shown_from < shown_to:
            parts.append(text[at:shown_from].translate(_ESCAPES))
            parts.append(f"<b>{text[shown_from:shown_to].translate(_ESCAPES)}</b>")
            at = shown_to
    parts.append(text[at:end].translate(_ESCAPES))
    if end < len(text):
        parts.append("...")
    return "".join(parts)


def _find_matches(text: str, matcher: Matcher, offset: int) -> list[tuple[int, int, str]]:
    """Return the matches in a text; in a long one, those around the first occurrence of its last found word."""
    if len(text) <= _SCANNED_CHARS:
        return matcher.matches(text)
    found = matcher.find_rough(text)
    start = max(0, (offset if found is None else found) - _SCANNED_CHARS // 2)
    part = text[start : start + _SCANNED_CHARS]
    return [(first + start, last + start, word) for first, last, word in matcher.matches(part)]


def _merge_overlaps(found: list[tuple[int, int, str]]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for start, end, _ in found:
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _find_densest_span(found: list[tuple[int, int, str]], size_chars: int) -> tuple[int, int]:
    """Return the span that fits and contains the most distinct matched words, then the most matches."""
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


def _gap_after(text: str, at: int, bound: int) -> int:
    """Return the first start of a word from here on if one is near, else the next whole character."""
    for here in range(at, min(at + _SNAP_CHARS, bound) + 1):
        if text[here - 1].isspace() and not text[here].isspace():
            return here
    while at < bound and not _between_characters(text, at):
        at += 1
    return at


def _gap_before(text: str, at: int, bound: int) -> int:
    """Return the last end of a word up to here if one is near, else the end of the last whole character."""
    for here in range(at, max(at - _SNAP_CHARS, bound) - 1, -1):
        if text[here].isspace() and not text[here - 1].isspace():
            return here
    while at > bound and not _between_characters(text, at):
        at -= 1
    return at


def _between_characters(text: str, at: int) -> bool:
    """Return True if a cut here separates no combining mark or joined emoji from its character."""
    import unicodedata  # needed only if no gap is near

    after, before = text[at], text[at - 1]
    if before == _JOINER or after == _JOINER or before == "\r":
        return False
    return unicodedata.category(after)[0] != "M" and unicodedata.category(after) != "Sk"
