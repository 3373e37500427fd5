"""Chinese, Japanese and Korean in the index of words: a run of their characters is kept as pieces of two.

Nothing stands between words there, so the index would know a whole sentence as one word. Cut into pairs, `会话` is
found wherever it stands, and a longer run by its pairs side by side. The last character of a run is a piece too: then
every character begins one, and a single character is found as the beginning of a piece.

What the index holds was cut by this module: when it cuts otherwise, the index has to be built again.
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
"""None of these begins such a character in UTF-8; taking them out tells in a tenth of the time if there is any."""


def to_bigrams(text: str | None) -> str | None:
    """The text as the index sees it: every such run as pieces with spaces between them."""
    if text is None or not _may_hold_any(text):
        return text
    return _runs().sub(lambda run: f" {' '.join(_pieces(run[0]))} ", text)


def asked(text: str) -> str:
    """The same for a question: without the single characters at the ends of runs, which say little."""
    if not _may_hold_any(text):
        return text
    return _runs().sub(lambda run: f" {' '.join(_pieces(run[0])[:-1] or [run[0]])} ", text)


def runs_in(text: str) -> Iterator[re.Match[str]]:
    """Every run of such characters."""
    return _runs().finditer(text) if _may_hold_any(text) else iter(())


def is_single(word: str) -> bool:
    """Whether a word is one such character alone; it is looked for as the beginning of a piece."""
    return len(word) == 1 and not word.isascii() and _runs().match(word) is not None


def _may_hold_any(text: str) -> bool:
    return not text.isascii() and bool(text.encode("utf-8", "surrogatepass").translate(None, _OTHER_BYTES))


def _pieces(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run))]


@functools.cache
def _runs() -> re.Pattern[str]:
    import re  # most texts need none

    return re.compile(f"[{_CHARACTERS}]+")
