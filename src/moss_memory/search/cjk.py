"""Split Chinese, Japanese and Korean text into bigrams for the index of words.

These scripts put no spaces between words, so the index would store a whole sentence as one word. As bigrams, `会话` is
found anywhere in a text, and a longer run as a phrase of its bigrams. The last character of a run is indexed alone too:
every character then begins a token, and a single character is found as a prefix.

If this module changes how it splits, every index has to be rebuilt.
"""

from __future__ import annotations

import functools

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_CHARACTERS = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana and repetition marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # ideographs
    "\uac00-\ud7a3"  # Korean syllables
)
_OTHER_BYTES = bytes({*range(256)} - {*range(0xE3, 0xEE), 0xEF})
"""Bytes that begin no CJK character in UTF-8: deleting them is ten times faster than searching by the pattern."""


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
    """Yield every run of CJK characters."""
    return _run_pattern().finditer(text) if _may_contain_cjk(text) else iter(())


def is_single(word: str) -> bool:
    """Return True if a word is one CJK character, which is searched as a prefix."""
    return len(word) == 1 and not word.isascii() and _run_pattern().match(word) is not None


def _may_contain_cjk(text: str) -> bool:
    return not text.isascii() and bool(text.encode("utf-8", "surrogatepass").translate(None, _OTHER_BYTES))


def _bigrams(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run))]


@functools.cache
def _run_pattern() -> re.Pattern[str]:
    import re  # most texts contain no CJK

    return re.compile(f"[{_CHARACTERS}]+")
