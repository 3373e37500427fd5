"""Queries with operators: phrases, prefixes, AND, OR, NOT and parentheses, bound as FTS5 binds them.

From the tightest: words side by side (all must match), NOT, AND, OR. `a AND NOT b` means `a NOT b`. Anything that is
no operator is text: a word such as `foo.go` or `C++` stands for the phrase of the words in it, and a parenthesis that
follows a word, as in `call(x)`, is part of that text.
"""

from __future__ import annotations

from moss_memory.errors import invalid_request

from .cjk import is_single, runs_in
from .tokens import words_in, words_of_question

OPERATORS = ("AND", "OR", "NOT")
ENOUGH_WORDS = 3
"""In a query of so many words a quote without its partner is text, and what finds nothing is asked as a question."""

MAX_NESTING = 64
MAX_DEPTH = 16
MAX_PREFIXES = 16
MAX_SHORT_PREFIXES = 4
SHORT_PREFIX_CHARS = 3


class Operand:
    """Words that must stand side by side; with `prefix`, the last one may go on."""

    __slots__ = ("prefix", "words")

    def __init__(self, words: tuple[str, ...], *, prefix: bool) -> None:
        self.words = words
        self.prefix = prefix


class Expression:
    """AND or OR of its parts, or NOT: the first part without all the others."""

    __slots__ = ("operator", "parts")

    def __init__(self, operator: str, parts: list[Operand | Expression]) -> None:
        self.operator = operator
        self.parts = parts


class Token:
    """One piece of a query: an operator, a parenthesis, a phrase, a prefix or a word."""

    __slots__ = ("kind", "text")

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        self.text = text

    @property
    def is_text(self) -> bool:
        """Whether the piece asks for nothing but its words; parentheses alone do not make operators."""
        return self.kind in ("word", "(", ")")


def find_tokens(text: str) -> list[Token]:
    """Cuts a query into pieces; an unbalanced parenthesis, or quote in a few words, is `INVALID_REQUEST`."""
    pieces: list[Token] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char.isspace():
            at += 1
        elif char == '"':
            phrase, at = _read_phrase(text, at)
            if phrase is not None:
                pieces.append(phrase)
        elif char in "()":
            pieces.append(Token(char, char))
            at += 1
        else:
            end = _end_of_word(text, at)
            pieces.append(_word(text[at:end]))
            at = end
    _pair_parentheses(pieces)
    return pieces


def _read_phrase(text: str, start: int) -> tuple[Token | None, int]:
    """The phrase that begins here, or none where its quote has no partner, and where to read on."""
    at = start + 1
    while True:
        end = text.find('"', at)
        if end < 0:
            if is_long(text):
                return None, start + 1
            raise invalid_request(
                f"`query` has a quote without its partner at character {start + 1}; close or remove it"
            )
        if text[end + 1 : end + 2] != '"':
            break
        at = end + 2
    starred = text[end + 1 : end + 2] == "*"
    inside = text[start + 1 : end].replace('""', " ")
    return Token("prefix" if starred else "phrase", inside), end + 1 + starred


def is_long(text: str) -> bool:
    """Whether a query holds at least three words that are no operators, in quotes or not."""
    parts = text.replace("(", " ").replace(")", " ").split()
    words = words_of_question(" ".join(part for part in parts if part not in OPERATORS))
    return len(words) >= ENOUGH_WORDS


def _end_of_word(text: str, start: int) -> int:
    """Where a run of text ends: at a space, a quote, or a parenthesis that does not belong to the text."""
    depth = 0
    for at in range(start, len(text)):
        char = text[at]
        if char.isspace() or char == '"':
            return at
        if char == "(":
            if text[start:at] in OPERATORS:
                return at
            depth += 1
        elif char == ")":
            if depth == 0:
                return at
            depth -= 1
    return len(text)


def _word(text: str) -> Token:
    if text in OPERATORS:
        return Token(text, text)
    body = text.rstrip("*")
    if body != text and words_in(body[-1:]):
        return Token("prefix", body)
    return Token("word", text)


def _pair_parentheses(pieces: list[Token]) -> None:
    """Makes sure that parentheses pair up; one that closes a `call(` opened inside text is text too."""
    opened: list[str] = []
    for piece in pieces:
        if piece.kind == "word":
            opened.extend("t" * (piece.text.count("(") - piece.text.count(")")))
        elif piece.kind == "(":
            opened.append("(")
        elif piece.kind == ")":
            if not opened:
                raise invalid_request('`query` has a ")" without its "("; add or remove one, or put the text in quotes')
            if opened.pop() == "t":
                piece.kind = "word"
    if opened:
        raise invalid_request('`query` has a "(" without its ")"; add or remove one, or put the text in quotes')


def parse_tokens(pieces: list[Token]) -> tuple[Operand | Expression | None, bool]:
    """The expression that the pieces mean, and whether it is what must *not* match."""
    reader = _Reader(pieces)
    found = reader.parse_or(0)
    if found is None:
        return None, False
    _check_cost(found.node)
    return found.node, found.excludes


class _Parsed:
    """A part of the query; `excludes` when it means everything but its node."""

    __slots__ = ("excludes", "node")

    def __init__(self, node: Operand | Expression, *, excludes: bool = False) -> None:
        self.node = node
        self.excludes = excludes


class _Reader:
    """Reads pieces by precedence. None stands for an operand without any word in it: it is left out."""

    def __init__(self, pieces: list[Token]) -> None:
        self.pieces = pieces
        self.at = 0

    def kind(self) -> str:
        return self.pieces[self.at].kind if self.at < len(self.pieces) else ""

    def parse_or(self, nesting: int) -> _Parsed | None:
        parts = [self.parse_and(nesting)]
        while self.kind() == "OR":
            self.at += 1
            parts.append(self.parse_and(nesting))
        found = [part for part in parts if part is not None]
        if len(found) > 1 and any(part.excludes for part in found):
            raise invalid_request(
                "`query` has OR beside NOT, which would find nearly everything; use `a NOT b` instead"
            )
        if len(found) > 1:
            return _Parsed(_join("OR", [part.node for part in found]))
        return found[0] if found else None

    def parse_and(self, nesting: int) -> _Parsed | None:
        """AND and NOT chains: what must match, without what must not."""
        parts = [self.parse_not(nesting)]
        while self.kind() in ("AND", "NOT"):
            if self.kind() == "AND":
                self.at += 1
            parts.append(self.parse_not(nesting))
        return _all_of(parts)

    def parse_not(self, nesting: int) -> _Parsed | None:
        negations = 0
        while self.kind() == "NOT":
            self.at += 1
            negations += 1
        found = self.parse_adjacent(nesting)
        if found is not None and negations % 2:
            return _Parsed(found.node, excludes=not found.excludes)
        return found

    def parse_adjacent(self, nesting: int) -> _Parsed | None:
        """Operands side by side: all of them must match."""
        if self.kind() in ("", "AND", "OR", ")"):
            raise invalid_request(_missing_operand(self.pieces, self.at))
        parts: list[_Parsed | None] = []
        while self.kind() in ("word", "phrase", "prefix", "("):
            parts.append(self.parse_group(nesting) if self.kind() == "(" else self.parse_operand())
        return _all_of(parts)

    def parse_group(self, nesting: int) -> _Parsed | None:
        if nesting >= MAX_NESTING:
            raise invalid_request(f"`query` nests parentheses more than {MAX_NESTING} deep; flatten it")
        self.at += 1
        found = self.parse_or(nesting + 1)
        self.at += 1
        return found

    def parse_operand(self) -> _Parsed | None:
        piece = self.pieces[self.at]
        self.at += 1
        operand = _operand(piece.text, prefix=piece.kind == "prefix")
        return None if operand is None else _Parsed(operand)


def _operand(text: str, *, prefix: bool) -> Operand | None:
    """The words of a piece; where it ends within a run of pairs, the text may go on."""
    words = words_in(text)
    last = max(runs_in(text), key=lambda run: run.start(), default=None)
    if last is not None and not words_in(text[last.end() :]):
        if is_single(last[0]):
            prefix = True
        else:
            words.pop()
    return Operand(tuple(words), prefix=prefix) if words else None


def _all_of(parts: list[_Parsed | None]) -> _Parsed | None:
    """What must match, without what must not; only the latter, when there is nothing else."""
    wanted = [part.node for part in parts if part is not None and not part.excludes]
    unwanted = [part.node for part in parts if part is not None and part.excludes]
    if wanted:
        node = _join("AND", wanted)
        return _Parsed(Expression("NOT", [node, *unwanted]) if unwanted else node)
    return _Parsed(_join("OR", unwanted), excludes=True) if unwanted else None


def _join(operator: str, parts: list[Operand | Expression]) -> Operand | Expression:
    """One node of an operator that can be chained; equal operands count once."""
    flat: list[Operand | Expression] = []
    seen = set()
    for part in parts:
        inner = part.parts if isinstance(part, Expression) and part.operator == operator else [part]
        for node in inner:
            key = (node.words, node.prefix) if isinstance(node, Operand) else node
            if key not in seen:
                seen.add(key)
                flat.append(node)
    return flat[0] if len(flat) == 1 else Expression(operator, flat)


def wanted_words(node: Operand | Expression) -> list[str]:
    """The words that a match may hold, in order; those after NOT are not wanted."""
    return [word for operand in wanted(node) for word in operand.words]


def wanted(node: Operand | Expression) -> list[Operand]:
    """The operands that a match can hold, in order; those after NOT never are."""
    if isinstance(node, Operand):
        return [node]
    return [operand for part in (node.parts[:1] if node.operator == "NOT" else node.parts) for operand in wanted(part)]


def unwanted(node: Operand | Expression) -> list[Operand | Expression]:
    """What stands after a NOT, wherever that is."""
    if isinstance(node, Operand):
        return []
    found = [part for inner in node.parts for part in unwanted(inner)]
    return [*found, *node.parts[1:]] if node.operator == "NOT" else found


def _missing_operand(pieces: list[Token], at: int) -> str:
    near = pieces[at - 1].text if at else pieces[at].text
    if near == "(":
        return "`query` has empty parentheses; put something to look for between them, or quote them"
    return f"`query` has {near} without something to look for on each side; add it, or write {near.lower()} as a word"


def _check_cost(node: Operand | Expression) -> None:
    """Refuses what the index could only answer by reading nearly all of itself, or could not parse."""
    prefixes: set[tuple[str, ...]] = set()
    level = [node]
    depth = 0
    while level:
        depth += 1
        prefixes.update(part.words for part in level if isinstance(part, Operand) and part.prefix)
        level = [inner for part in level if isinstance(part, Expression) for inner in part.parts]
    if depth > MAX_DEPTH:
        raise invalid_request(f"`query` nests its operators more than {MAX_DEPTH} deep; flatten it")
    short = [words for words in prefixes if len(words) == 1 and len(words[0]) < SHORT_PREFIX_CHARS]
    if len(prefixes) > MAX_PREFIXES or len(short) > MAX_SHORT_PREFIXES:
        raise invalid_request(
            f"`query` has too many prefixes; use at most {MAX_PREFIXES}, and at most {MAX_SHORT_PREFIXES} of them"
            f" shorter than {SHORT_PREFIX_CHARS} characters"
        )
