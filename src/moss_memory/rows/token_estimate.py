"""Estimate the tokens of a text in any script, from the number of its characters in each script.

`tokens_estimate` of a capsule counts words, which Chinese, Japanese and Thai do not separate. Pages show the estimate
of this module instead. The factors lie between those of the tokenizers of common models, which differ by up to a half.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter

_ASCII_LETTER = 0.25
_ASCII_DIGIT = 0.4
_ASCII_MARK = 0.6
_LINE_BREAK = 0.5

_SCRIPTS = (
    (0x0080, 0.6),  # Latin beyond ASCII
    (0x0370, 0.5),  # Greek
    (0x0400, 0.35),  # Cyrillic
    (0x0530, 0.7),  # Armenian
    (0x0590, 0.5),  # Hebrew, Arabic and related scripts
    (0x0900, 0.6),  # scripts of India
    (0x0E00, 0.6),  # Thai, Lao
    (0x0F00, 1.0),  # Tibetan, Burmese, Georgian
    (0x1100, 0.8),  # Hangul letters
    (0x1200, 1.0),  # Ethiopic, Khmer and other scripts
    (0x1E00, 0.6),  # Latin beyond ASCII, Greek with accents
    (0x2000, 1.0),  # punctuation, arrows, box drawing, symbols
    (0x2E80, 1.0),  # Chinese characters, their parts and punctuation
    (0x3040, 0.8),  # Japanese syllables
    (0x3100, 1.0),  # Bopomofo, Chinese characters
    (0xA000, 1.0),  # Yi and other scripts
    (0xAC00, 0.8),  # Hangul syllables
    (0xD7B0, 1.0),  # everything else of the basic plane
    (0x10000, 2.0),  # emoji, rare Chinese characters, historic scripts
)
"""The first character of each range, and the tokens of one of its characters."""
_STARTS = [start for start, _ in _SCRIPTS]
_FACTORS = [factor for _, factor in _SCRIPTS]


def tokens_about(text: str) -> int:
    total = math.fsum(count * _tokens_of(character) for character, count in Counter(text).items())
    return math.ceil(round(total, 6))


def _tokens_of(character: str) -> float:
    """Return the average number of tokens that one character adds to a text."""
    if character >= "\x80":
        return _FACTORS[bisect_right(_STARTS, ord(character)) - 1]
    if character.isalpha():
        return _ASCII_LETTER
    if character.isdigit():
        return _ASCII_DIGIT
    if character == "\n":
        return _LINE_BREAK
    return _ASCII_MARK if character > " " else 0.0  # a space is part of the following word
