"""Parse the text of a query: a natural question, or an expression with operators.

A query with a quoted phrase, a `word*` or an upper-case AND, OR or NOT is an expression; every other text, with any
punctuation, is a natural question. In an expression `foo.go` or `C++` is the phrase of the words in it, and a
parenthesis that follows a word, as in `call(x)`, is part of that text.
"""

from __future__ import annotations

from moss_memory.errors import invalid_request

from .expression import Expression, negated_nodes, parse_tokens, positive_operands
from .tokens import STOP_WORDS, question_words, stems_of, words_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .expression import Operand

MAX_CHARS = 1000
OPERATORS = ("AND", "OR", "NOT")
ENOUGH_WORDS = 3
"""In a query of at least this many words an unbalanced quote is text, and without hits it is searched as a question."""


class Query:
    """A parsed query: `words` of a natural question, or the `expression` of one with operators.

    If both are empty, as for punctuation alone, nothing matches. `excludes` inverts the expression: a document matches
    if the expression does not.
    """

    __slots__ = ("embedded_text", "excludes", "expression", "relaxed", "stems", "unwanted", "words")

    def __init__(
        self,
        *,
        words: tuple[str, ...] = (),
        stems: tuple[str, ...] = (),
        expression: Operand | Expression | None = None,
        excludes: bool = False,
        embedded_text: str = "",
        unwanted: Operand | Expression | None = None,
        relaxed: Query | None = None,
    ) -> None:
        self.words = words
        self.stems = stems
        """The stem of each word."""
        self.expression = expression
        self.excludes = excludes
        self.embedded_text = embedded_text
        """The text to embed; empty if there is none, as in a query that only excludes."""
        self.unwanted = unwanted
        """The operands of NOT, which no hit may match; for searches by `words` and `embedded_text`."""
        self.relaxed = relaxed
        """The same words as a natural question, to be searched if the expression has no hits."""


class Token:
    """One token of a query: an operator, a parenthesis, a phrase, a prefix or a word."""

    __slots__ = ("is_text", "kind", "text")

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        self.text = text
        self.is_text = kind in ("word", "(", ")")
        """True if the token is no operator; parentheses alone do not make an expression."""


def parse_query(text: str) -> Query:
    """Parse a query, or refuse it with `INVALID_REQUEST`."""
    _check(text)
    tokens = find_tokens(text)
    if all(token.is_text for token in tokens):
        return _parse_question(text)
    return _parse_expression(tokens, text)


def parse_any(terms: list[str]) -> Query:
    """Parse several queries, any of which may match; those without operators are one natural question."""
    text = " ".join(terms)
    _check(text)
    terms = [term for term in terms if term.strip()]
    if len(terms) == 1:
        return parse_query(terms[0])
    token_lists = [find_tokens(term) for term in terms]
    if all(token.is_text for tokens in token_lists for token in tokens):
        return _parse_question(text)
    joined: list[Token] = []
    for term, tokens in zip(terms, token_lists, strict=True):
        if all(token.is_text for token in tokens):
            words = [Token("word", word) for word in _parse_question(term).words]
            tokens = [token for word in words for token in (Token("OR", "OR"), word)][1:]
        if tokens:
            joined += [Token("OR", "OR"), Token("(", "("), *tokens, Token(")", ")")]
    return _parse_expression(joined[1:], text)


def _parse_expression(tokens: list[Token], text: str) -> Query:
    expression, excludes = parse_tokens(tokens)
    if expression is None or excludes:
        return Query(expression=expression, excludes=excludes)
    embedded_text = " ".join([word for operand in positive_operands(expression) for word in operand.words])
    negated = negated_nodes(expression)
    unwanted = Expression("OR", negated) if len(negated) > 1 else negated[0] if negated else None
    relaxed = None
    if is_long(text):
        relaxed = _parse_question(embedded_text)
        relaxed.unwanted = unwanted
    return Query(expression=expression, embedded_text=embedded_text, unwanted=unwanted, relaxed=relaxed)


def _parse_question(text: str) -> Query:
    """Return the query for the words of a text without stop words, one for each stem, in order."""
    words = list(dict.fromkeys(question_words(text)))
    words = [word for word in words if word not in STOP_WORDS] or words
    by_stem: dict[str, str] = {}
    for word, stem in zip(words, stems_of(words), strict=True):
        by_stem.setdefault(stem, word)
    return Query(words=tuple(by_stem.values()), stems=tuple(by_stem), embedded_text=text if words else "")


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


def find_tokens(text: str) -> list[Token]:
    """Split a query into tokens; refuse an unbalanced parenthesis, or an unbalanced quote in a short query."""
    tokens: list[Token] = []
    offset = 0
    while offset < len(text):
        char = text[offset]
        if char.isspace():
            offset += 1
        elif char == '"':
            phrase, offset = _read_phrase(text, offset)
            if phrase is not None:
                tokens.append(phrase)
        elif char in "()":
            tokens.append(Token(char, char))
            offset += 1
        else:
            end = _end_of_word(text, offset)
            tokens.append(_word_token(text[offset:end]))
            offset = end
    _pair_parentheses(tokens)
    return tokens


def _read_phrase(text: str, start: int) -> tuple[Token | None, int]:
    """Return the phrase that begins here, or None if its quote is unbalanced, and the offset of the next token."""
    offset = start + 1
    while True:
        end = text.find('"', offset)
        if end < 0:
            if is_long(text):
                return None, start + 1
            raise invalid_request(
                f"`query` has a quote without its partner at character {start + 1}; close or remove it"
            )
        if text[end + 1 : end + 2] != '"':
            break
        offset = end + 2
    starred = text[end + 1 : end + 2] == "*"
    inside = text[start + 1 : end].replace('""', " ")
    return Token("prefix" if starred else "phrase", inside), end + 1 + starred


def is_long(text: str) -> bool:
    """Return True if a query has at least three words that are no operators, quoted or not."""
    parts = text.replace("(", " ").replace(")", " ").split()
    words = question_words(" ".join(part for part in parts if part not in OPERATORS))
    return len(words) >= ENOUGH_WORDS


def _end_of_word(text: str, start: int) -> int:
    """Return the end of a run of text: a space, a quote, or a parenthesis that is not part of the text."""
    depth = 0
    for offset in range(start, len(text)):
        char = text[offset]
        if char.isspace() or char == '"':
            return offset
        if char == "(":
            if text[start:offset] in OPERATORS:
                return offset
            depth += 1
        elif char == ")":
            if depth == 0:
                return offset
            depth -= 1
    return len(text)


def _word_token(text: str) -> Token:
    if text in OPERATORS:
        return Token(text, text)
    body = text.rstrip("*")
    if body != text and words_in(body[-1:]):
        return Token("prefix", body)
    return Token("word", text)


def _pair_parentheses(tokens: list[Token]) -> None:
    """Refuse unbalanced parentheses, and turn one that closes a `call(` of a text into text."""
    opened: list[str] = []
    for token in tokens:
        if token.kind == "word":
            opened.extend("t" * (token.text.count("(") - token.text.count(")")))
        elif token.kind == "(":
            opened.append("(")
        elif token.kind == ")":
            if not opened:
                raise invalid_request('`query` has a ")" without its "("; add or remove one, or put the text in quotes')
            if opened.pop() == "t":
                token.kind = "word"
    if opened:
        raise invalid_request('`query` has a "(" without its ")"; add or remove one, or put the text in quotes')
