"""Text in an image: escaped, measured without a font, wrapped and cut."""

from __future__ import annotations

import unicodedata
from html import escape

MORE = "\u2026"
_JOINERS = "\u200c\u200d"
_NARROW, _WIDE = set(" .,:;!|'`()[]{}ijlftrI/\\-\u2026\u00b7"), set("mwMW@%&")


def safe(text: str) -> str:
    """Return the text for SVG: markup escaped, control characters and those that XML forbids replaced."""
    return escape("".join([character if _is_visible(character) else "\ufffd" for character in text]))


def _is_visible(character: str) -> bool:
    """Return True for visible characters and the joiners of scripts and emoji, without those that XML forbids."""
    return (character.isprintable() or character in _JOINERS) and character not in "\ufffe\uffff"


def one_line(text: str) -> str:
    """Return the text with each run of white space as one blank."""
    return " ".join(text.split())


def measure(text: str, size: float) -> float:
    """Return an upper bound of a text's width in the usual sans-serif fonts."""
    return size * sum([_ems(character) for character in text])


def _ems(character: str) -> float:
    if character in _NARROW:
        return 0.4
    if character.isascii():
        return 0.95 if character in _WIDE else 0.73 if character.isupper() else 0.63
    if unicodedata.combining(character) or character in _JOINERS:
        return 0.0
    return 1.05 if unicodedata.east_asian_width(character) in "WF" else 0.75


def truncate(text: str, size: float, width: float) -> str:
    """Return the text, cut with an ellipsis if it does not fit."""
    if measure(text, size) <= width:
        return text
    return _beginning(text, size, width - measure(MORE, size)).rstrip() + MORE


def _beginning(text: str, size: float, width: float) -> str:
    """Return the longest beginning of a text that fits."""
    count = 0
    for character in text:
        width -= size * _ems(character)
        if width < 0:
            break
        count += 1
    return text[:count]


def wrap(text: str, size: float, width: float, lines: int) -> list[str]:
    """Return the text in at most `lines` lines, broken between words, or inside a word that is longer than a line."""
    words = one_line(text).split(" ")
    wrapped: list[str] = []
    line = ""
    while words:
        word = words.pop(0)
        longer = f"{line} {word}" if line else word
        if measure(longer, size) <= width:
            line = longer
        elif line:
            wrapped.append(line)
            line = ""
            words.insert(0, word)
        else:
            head = _beginning(word, size, width) or word[:1]
            wrapped.append(head)
            words.insert(0, word[len(head) :])
        if len(wrapped) == lines:
            rest = " ".join([line, *words]).strip()
            if rest:
                wrapped[-1] = truncate(f"{wrapped[-1]} {rest}", size, width)
            return wrapped
    return [*wrapped, line] if line else wrapped
