"""Text as the embedding model reads it: numbers of word pieces, cut as BERT's uncased tokenizer cuts them.

Written here because the tokenizers package brings a client for model hubs and fifteen other packages along; over
the test set and random Unicode both give the same numbers.
"""

from __future__ import annotations

import functools
import os
import re

UNKNOWN, BEGIN, END = 100, 101, 102
MAX_WORD_CHARS = 100
_FILE = os.path.join(os.path.dirname(__file__), "model", "wordpieces.txt")
_PLAIN = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")
_CONTROL = dict.fromkeys((*range(9), *range(11, 13), *range(14, 32), 127))
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def pieces_of(text: str, most: int) -> list[int]:
    """The numbers of the first `most` pieces of a text, without those that mark its beginning and end."""
    found: list[int] = []
    # A piece takes at least one character, but blanks and marks take none, so a little more is looked at.
    for word in words_of(text[: most * 32]):
        found += _pieces_of_word(word)
        if len(found) >= most:
            return found[:most]
    return found


def words_of(text: str) -> list[str]:
    """Words and single marks in lower case, without accents and control characters."""
    if text.isascii():
        return _PLAIN.findall(text.translate(_CONTROL).lower())
    return _words_of_unicode(text)


def _words_of_unicode(text: str) -> list[str]:
    from unicodedata import category, normalize

    spaced = []
    for character in text:
        if character in "\0\ufffd" or (character not in "\t\n\r" and category(character) in ("Cc", "Cf", "Co", "Cs")):
            continue
        if character.isspace():
            spaced.append(" ")
        else:
            spaced.append(f" {character} " if _is_ideograph(character) else character)
    plain = "".join(character for character in normalize("NFD", "".join(spaced)) if category(character) != "Mn")
    parts = []
    for character in plain.lower():
        mark = not character.isalnum() and (character.isascii() or category(character)[0] == "P")
        parts.append(f" {character} " if mark else character)
    return "".join(parts).split()


def _is_ideograph(character: str) -> bool:
    code = ord(character)
    return code >= 0x3400 and any(first <= code <= last for first, last in _IDEOGRAPHS)


@functools.lru_cache(maxsize=20_000)
def _pieces_of_word(word: str) -> tuple[int, ...]:
    """The longest pieces that a word is made of, from its front; one unknown piece when it cannot be made."""
    if len(word) > MAX_WORD_CHARS:
        return (UNKNOWN,)
    known = _vocabulary()
    found = []
    start = 0
    while start < len(word):
        end = len(word)
        while end > start:
            piece = known.get(word[start:end] if start == 0 else f"##{word[start:end]}")
            if piece is not None:
                break
            end -= 1
        else:
            return (UNKNOWN,)
        found.append(piece)
        start = end
    return tuple(found)


@functools.cache
def _vocabulary() -> dict[str, int]:
    with open(_FILE, encoding="utf-8") as file:
        return {line.rstrip("\n"): number for number, line in enumerate(file)}
