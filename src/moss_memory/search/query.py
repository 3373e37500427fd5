"""What a caller typed, understood: a natural question, or an expression with operators.

A query with a quoted phrase, a `word*` or an upper-case AND, OR or NOT has operators; everything else, whatever
punctuation it carries, is a natural question.
"""

from __future__ import annotations

from ..errors import invalid
from .operators import find_pieces, parse_pieces, wanted_words
from .words import STOP_WORDS, stems_of, words_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .operators import Operand, Operation

MAX_CHARS = 1000


class Query:
    """A parsed query: `words` of a natural question, or the `expression` of one with operators.

    Neither means that nothing can match, as with punctuation alone. `excludes` turns the expression around:
    everything that does not match it.
    """

    __slots__ = ("excludes", "expression", "meaning", "words")

    def __init__(
        self,
        *,
        words: tuple[str, ...] = (),
        expression: Operand | Operation | None = None,
        excludes: bool = False,
        meaning: str = "",
    ) -> None:
        self.words = words
        self.expression = expression
        self.excludes = excludes
        self.meaning = meaning
        """The text whose meaning is asked for; empty where there is none, as when something is only excluded."""


def question(text: str) -> Query:
    """A caller's words as a natural question, whatever operators or quotes are among them."""
    _check(text)
    return _natural(text)


def parse(text: str) -> Query:
    """Understands a caller's query, or says in an `INVALID_REQUEST` what to change about it."""
    _check(text)
    pieces = find_pieces(text)
    if all(piece.is_text for piece in pieces):
        return _natural(text)
    expression, excludes = parse_pieces(pieces)
    meaning = "" if expression is None or excludes else " ".join(wanted_words(expression))
    return Query(expression=expression, excludes=excludes, meaning=meaning)


def _natural(text: str) -> Query:
    words = _question(text)
    return Query(words=words, meaning=text if words else "")


def _check(text: str) -> None:
    if not text.strip():
        raise invalid('query is blank; give a word, a "phrase" or a prefix* to look for')
    if len(text) > MAX_CHARS:
        raise invalid(
            f"query has {len(text)} characters; shorten it to {MAX_CHARS}", max_chars=MAX_CHARS, actual_chars=len(text)
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise invalid("query holds half of a surrogate pair; send whole Unicode characters") from None


def _question(text: str) -> tuple[str, ...]:
    """The words that carry a question, one for each stem, in the order they were asked."""
    words = list(dict.fromkeys(words_in(text)))
    telling = [word for word in words if word not in STOP_WORDS] or words
    by_stem: dict[str, str] = {}
    for word, stem in zip(telling, stems_of(telling), strict=True):
        by_stem.setdefault(stem, word)
    return tuple(by_stem.values())
