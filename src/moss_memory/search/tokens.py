"""Split text into the words of the index, in lower case and without diacritics, and reduce words to English stems.

The tokenizers are SQLite's own on every engine, so that queries and indexes always have the same words.

Chinese, Japanese and Korean put no spaces between words, so the index would store a whole sentence as one word. They
are split into bigrams: `会话` is found anywhere in a text, and a longer run as a phrase of its bigrams. The last
character of a run is indexed alone too: every character then begins a token, and a single character is found as a
prefix.

If this module changes how it splits, every index has to be rebuilt.
"""

from __future__ import annotations

import functools

import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

UNICODE = ("unicode61", "remove_diacritics", "2")
"""The tokenizer of the index; the migration that creates the index has the same settings."""
STOP_WORDS = frozenset(
    """
    a about all also am an and any are as at be been being but by can could did do does doing for from had has have
    having he her here his how i if in into is it its just ll may me might my no nor not of on or our re s shall she
    should so some such t than that the their them then there these they this those to too us ve very was we were
    what when where which while who whom whose why will with would you your
    """.split()  # noqa: SIM905
)
"""Words too common to be searched for, and the endings that an apostrophe splits off."""
_LAST = "\U0010ffff"
"""Appended to a prefix, the upper bound of all words with this prefix."""
_CHARACTERS = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana and repetition marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # ideographs
    "\uac00-\ud7a3"  # Korean syllables
)
_OTHER_BYTES = bytes({*range(256)} - {*range(0xE3, 0xEE), 0xEF})
"""Bytes that begin no CJK character in UTF-8: deleting them is ten times faster than searching by the pattern."""


def words_in(text: str) -> list[str]:
    """Return the words of a text in order, as the index stores them."""
    return _split_words(to_bigrams(text) or "")


def question_words(text: str) -> list[str]:
    """Return the words of a question, in order."""
    return _split_words(to_question_bigrams(text))


def word_offsets(text: str) -> list[tuple[int, int, str]]:
    """Return every word of a text with its character offsets, as `(start, end, word)`; bigrams overlap."""
    words: list[tuple[int, int, str]] = []
    run_end = 0
    for run in find_runs(text):
        start, end = run.span()
        words += _offsets_in(text, run_end, start)
        words += [(offset, min(offset + 2, end), text[offset : min(offset + 2, end)]) for offset in range(start, end)]
        run_end = end
    return words + _offsets_in(text, run_end, len(text))


def _offsets_in(text: str, start: int, end: int) -> list[tuple[int, int, str]]:
    """Return the words of a part of a text that contains no bigrams, with their character offsets."""
    data = text[start:end].encode()
    spans = _word_spans(data)
    if len(data) > end - start:
        spans = _to_character_offsets(data, spans)
    return [(start + first, start + last, word) for first, last, word in spans] if start else spans


def _to_character_offsets(data: bytes, byte_spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    result = []
    byte = char = 0
    for start, end, word in byte_spans:
        char += len(data[byte:start].decode())
        size = len(data[start:end].decode())
        result.append((char, char + size, word))
        char += size
        byte = end
    return result


def stems_of(words: Iterable[str]) -> list[str]:
    """Return the stem of each word, in order; a final i becomes y, so that deploy and deployment have one stem."""
    return [stem[:-1] + "y" if stem[-1] == "i" else stem for stem in _porter_stems(words)]


def to_bigrams(text: str | None) -> str | None:
    """Return the text as it is indexed: every CJK run as bigrams separated by spaces.

    SQLite passes any value that a column holds: other values than texts are returned unchanged.
    """
    if not isinstance(text, str) or not _may_contain_cjk(text):
        return text
    return _run_pattern().sub(lambda run: f" {' '.join(_bigrams(run[0]))} ", text)


def to_question_bigrams(text: str) -> str:
    """Return the text of a question as bigrams, without the single character at the end of each run."""
    if not _may_contain_cjk(text):
        return text
    return _run_pattern().sub(lambda run: f" {' '.join(_bigrams(run[0])[:-1] or [run[0]])} ", text)


def find_runs(text: str) -> Iterator[re.Match[str]]:
    return _run_pattern().finditer(text) if _may_contain_cjk(text) else iter(())


def is_single(word: str) -> bool:
    """Return True if a word is one CJK character, which is searched as a prefix."""
    return len(word) == 1 and not word.isascii() and _run_pattern().match(word) is not None


def _may_contain_cjk(text: str) -> bool:
    return not text.isascii() and bool(text.encode("utf-8", "surrogatepass").translate(None, _OTHER_BYTES))


def _bigrams(run: str) -> list[str]:
    return [run[offset : offset + 2] for offset in range(len(run))]


@functools.cache
def _run_pattern() -> re.Pattern[str]:
    import re  # most texts contain no CJK

    return re.compile(f"[{_CHARACTERS}]+")


def _split_words(text: str) -> list[str]:
    """Return the words of a text in order, folded and without diacritics."""
    words: list[str] = _tokenizers()[0](
        text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )
    return words


def _word_spans(data: bytes) -> list[tuple[int, int, str]]:
    """Return every word of a text with its byte range: `(start, end, word)`."""
    spans: list[tuple[int, int, str]] = _tokenizers()[0](
        data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False
    )
    return spans


def _porter_stems(words: Iterable[str]) -> list[str]:
    stems: list[str] = _tokenizers()[1](
        " ".join(words).encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )
    return stems


@functools.cache
def _tokenizers() -> tuple[Any, Any]:
    connection = apsw.Connection(":memory:")
    name, *options = UNICODE
    return connection.fts5_tokenizer(name, options), connection.fts5_tokenizer("porter", [*UNICODE])


class WordRange:
    """The range of the sorted dictionary that contains all forms of one word."""

    __slots__ = ("beginning", "end", "is_single", "stem", "word")

    def __init__(self, word: str, stem: str) -> None:
        self.word = word
        self.stem = stem
        self.is_single = is_single(word)
        self.beginning = _shared_beginning(word, stem)
        self.end = stem + "\0" if len(stem) == 1 and not is_single(stem) else self.beginning + _LAST


def forms_of(spans: Sequence[WordRange], rows: Sequence[list[Any]]) -> list[list[Any]]:
    """Return those of the rows of each range whose first column, a word of that range, has its stem."""
    words = [row[0] for span, range_rows in zip(spans, rows, strict=True) if not span.is_single for row in range_rows]
    stems = iter(stems_of(words))
    return [
        range_rows if span.is_single else [row for row in range_rows if next(stems) == span.stem]
        for span, range_rows in zip(spans, rows, strict=True)
    ]


def _shared_beginning(word: str, stem: str) -> str:
    """Return the common prefix of all words of this stem.

    The stemmer may change the last letter of a stem: happy, happi; store, storing; sensible, sensibility.
    """
    if not word.startswith(stem) or stem.endswith(("e", "i", "y", "bl")):
        return stem[:-1] or stem
    return stem
