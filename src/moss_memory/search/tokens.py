"""Split text into the words of the index, in lower case and without diacritics, and reduce words to English stems."""

from __future__ import annotations

from moss_memory.storage.tokenizer import porter_stems, word_spans, words_of

from .cjk import find_runs, to_bigrams, to_question_bigrams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

STOP_WORDS = frozenset(
    """
    a about all also am an and any are as at be been being but by can could did do does doing for from had has have
    having he her here his how i if in into is it its just ll may me might my no nor not of on or our re s shall she
    should so some such t than that the their them then there these they this those to too us ve very was we were
    what when where which while who whom whose why will with would you your
    """.split()  # noqa: SIM905
)
"""Words too common to be searched for, and the endings that an apostrophe splits off."""


def words_in(text: str) -> list[str]:
    """Return the words of a text in order, as the index stores them."""
    return words_of(to_bigrams(text) or "")


def question_words(text: str) -> list[str]:
    """Return the words of a question, in order."""
    return words_of(to_question_bigrams(text))


def word_offsets(text: str) -> list[tuple[int, int, str]]:
    """Return every word of a text with its character offsets, as `(start, end, word)`; bigrams overlap."""
    found: list[tuple[int, int, str]] = []
    at = 0
    for run in find_runs(text):
        start, end = run.span()
        found += _offsets_in(text, at, start)
        found += [(here, min(here + 2, end), text[here : min(here + 2, end)]) for here in range(start, end)]
        at = end
    return found + _offsets_in(text, at, len(text))


def _offsets_in(text: str, start: int, end: int) -> list[tuple[int, int, str]]:
    """Return the words of a part of a text that contains no bigrams, with their character offsets."""
    data = text[start:end].encode()
    found = word_spans(data)
    if len(data) > end - start:
        found = _to_character_offsets(data, found)
    return [(start + first, start + last, word) for first, last, word in found] if start else found


def _to_character_offsets(data: bytes, found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Convert byte offsets to character offsets."""
    result = []
    byte = char = 0
    for start, end, word in found:
        char += len(data[byte:start].decode())
        size = len(data[start:end].decode())
        result.append((char, char + size, word))
        char += size
        byte = end
    return result


def stems_of(words: Iterable[str]) -> list[str]:
    """Return the stem of each word, in order; a final i becomes y, so that deploy and deployment have one stem."""
    return [stem[:-1] + "y" if stem[-1] == "i" else stem for stem in porter_stems(words)]
