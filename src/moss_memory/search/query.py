"""What a caller typed, understood: a natural question, or an expression with operators.

A query with a quoted phrase, a `word*` or an upper-case AND, OR or NOT has operators; everything else, whatever
punctuation it carries, is a natural question.
"""

from __future__ import annotations

from moss_memory.errors import invalid_request

from .expression import Expression, Token, find_tokens, is_long, parse_tokens, unwanted, wanted_words
from .tokens import STOP_WORDS, stems_of, words_of_question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .expression import Operand

MAX_CHARS = 1000


class Query:
    """A parsed query: `words` of a natural question, or the `expression` of one with operators.

    Neither means that nothing can match, as with punctuation alone. `excludes` turns the expression around:
    everything that does not match it.
    """

    __slots__ = ("excludes", "expression", "meaning", "relaxed", "unwanted", "words")

    def __init__(
        self,
        *,
        words: tuple[str, ...] = (),
        expression: Operand | Expression | None = None,
        excludes: bool = False,
        meaning: str = "",
        unwanted: Operand | Expression | None = None,
        relaxed: Query | None = None,
    ) -> None:
        self.words = words
        self.expression = expression
        self.excludes = excludes
        self.meaning = meaning
        """The text whose meaning is asked for; empty where there is none, as when something is only excluded."""
        self.unwanted = unwanted
        """What no hit may hold: the operands of NOT. An expression says so itself, words and meaning do not."""
        self.relaxed = relaxed
        """The same as a natural question, to be asked where the expression finds nothing."""


def parse(text: str) -> Query:
    """Understands a caller's query, or says in an `INVALID_REQUEST` what to change about it."""
    _check(text)
    pieces = find_tokens(text)
    if all(piece.is_text for piece in pieces):
        return _natural(text)
    return _with_operators(pieces, text)


def parse_any(terms: list[str]) -> Query:
    """Understands several queries of which any may match; those without operators are one natural question."""
    text = " ".join(terms)
    _check(text)
    terms = [term for term in terms if term.strip()]
    if len(terms) == 1:
        return parse(terms[0])
    found = [find_tokens(term) for term in terms]
    if all(piece.is_text for pieces in found for piece in pieces):
        return _natural(text)
    joined: list[Token] = []
    for term, pieces in zip(terms, found, strict=True):
        if all(piece.is_text for piece in pieces):
            pieces = [Token("word", word) for word in _question(term)]
            pieces = [piece for word in pieces for piece in (Token("OR", "OR"), word)][1:]
        if pieces:
            joined += [Token("OR", "OR"), Token("(", "("), *pieces, Token(")", ")")]
    return _with_operators(joined[1:], text)


def _with_operators(pieces: list[Token], text: str) -> Query:
    expression, excludes = parse_tokens(pieces)
    if expression is None or excludes:
        return Query(expression=expression, excludes=excludes)
    meaning = " ".join(wanted_words(expression))
    without = unwanted(expression)
    never = Expression("OR", without) if len(without) > 1 else without[0] if without else None
    relaxed = Query(words=_question(meaning), meaning=meaning, unwanted=never) if is_long(text) else None
    return Query(expression=expression, meaning=meaning, unwanted=never, relaxed=relaxed)


def _natural(text: str) -> Query:
    words = _question(text)
    return Query(words=words, meaning=text if words else "")


def _check(text: str) -> None:
    if not text.strip():
        raise invalid_request('`query` is blank; give a word, a "phrase" or a prefix* to look for')
    if len(text) > MAX_CHARS:
        raise invalid_request(
            f"`query` has {len(text)} characters; shorten it to {MAX_CHARS}",
            max_chars=MAX_CHARS,
            actual_chars=len(text),
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise invalid_request("`query` holds half of a surrogate pair; send whole Unicode characters") from None


def _question(text: str) -> tuple[str, ...]:
    """The words that carry a question, one for each stem, in the order they were asked."""
    words = list(dict.fromkeys(words_of_question(text)))
    telling = [word for word in words if word not in STOP_WORDS] or words
    by_stem: dict[str, str] = {}
    for word, stem in zip(telling, stems_of(telling), strict=True):
        by_stem.setdefault(stem, word)
    return tuple(by_stem.values())
