"""Queries with operators: phrases, prefixes, AND, OR, NOT and parentheses, with the precedence of FTS5.

From the tightest: adjacent words (all must match), NOT, AND, OR. `a AND NOT b` means `a NOT b`.
"""

from __future__ import annotations

from moss_memory.errors import invalid_request

from .tokens import find_runs, is_single, words_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .query import Token

MAX_NESTING = 64
MAX_DEPTH = 16
MAX_PREFIXES = 16
MAX_SHORT_PREFIXES = 4
SHORT_PREFIX_CHARS = 3


class Operand:
    """Words that must be adjacent; with `prefix`, the last one is a prefix."""

    __slots__ = ("prefix", "words")

    def __init__(self, words: tuple[str, ...], *, prefix: bool) -> None:
        self.words = words
        self.prefix = prefix


class Expression:
    """AND or OR of its parts, or NOT: the first part and none of the others."""

    __slots__ = ("operator", "parts")

    def __init__(self, operator: str, parts: list[Operand | Expression]) -> None:
        self.operator = operator
        self.parts = parts


def parse_tokens(tokens: list[Token]) -> tuple[Operand | Expression | None, bool]:
    """Return the syntax tree of the tokens, and True if it must *not* match."""
    parsed = _Parser(tokens).parse_or(0)
    if parsed is None:
        return None, False
    _check_cost(parsed.node)
    return parsed.node, parsed.excludes


class _Parsed:
    """A parsed part of the query; `excludes` if it means everything but its node."""

    __slots__ = ("excludes", "node")

    def __init__(self, node: Operand | Expression, *, excludes: bool = False) -> None:
        self.node = node
        self.excludes = excludes


class _Parser:
    """A recursive descent parser. Operands without any word are parsed as None and left out."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = 0

    def kind(self) -> str:
        return self.tokens[self.position].kind if self.position < len(self.tokens) else ""

    def parse_or(self, nesting: int) -> _Parsed | None:
        parts = [self.parse_and(nesting)]
        while self.kind() == "OR":
            self.position += 1
            parts.append(self.parse_and(nesting))
        operands = [part for part in parts if part is not None]
        if len(operands) > 1 and any(part.excludes for part in operands):
            raise invalid_request("`query` has OR with NOT, which would find nearly everything; use `a NOT b` instead")
        if len(operands) > 1:
            return _Parsed(_join("OR", [part.node for part in operands]))
        return operands[0] if operands else None

    def parse_and(self, nesting: int) -> _Parsed | None:
        """Parse a chain of AND and NOT."""
        parts = [self.parse_not(nesting)]
        while self.kind() in ("AND", "NOT"):
            if self.kind() == "AND":
                self.position += 1
            parts.append(self.parse_not(nesting))
        return _all_of(parts)

    def parse_not(self, nesting: int) -> _Parsed | None:
        negations = 0
        while self.kind() == "NOT":
            self.position += 1
            negations += 1
        operand = self.parse_adjacent(nesting)
        if operand is not None and negations % 2:
            return _Parsed(operand.node, excludes=not operand.excludes)
        return operand

    def parse_adjacent(self, nesting: int) -> _Parsed | None:
        """Parse adjacent operands, all of which must match."""
        if self.kind() in ("", "AND", "OR", ")"):
            raise invalid_request(_missing_operand(self.tokens, self.position))
        parts: list[_Parsed | None] = []
        while self.kind() in ("word", "phrase", "prefix", "("):
            parts.append(self.parse_group(nesting) if self.kind() == "(" else self.parse_operand())
        return _all_of(parts)

    def parse_group(self, nesting: int) -> _Parsed | None:
        if nesting >= MAX_NESTING:
            raise invalid_request(f"`query` nests parentheses more than {MAX_NESTING} deep; flatten it")
        self.position += 1
        group = self.parse_or(nesting + 1)
        self.position += 1
        return group

    def parse_operand(self) -> _Parsed | None:
        token = self.tokens[self.position]
        self.position += 1
        operand = _make_operand(token.text, prefix=token.kind == "prefix")
        return None if operand is None else _Parsed(operand)


def _make_operand(text: str, *, prefix: bool) -> Operand | None:
    """Return the words of a token as an operand; if it ends with a CJK run, the matched text may continue."""
    words = words_in(text)
    last = max(find_runs(text), key=lambda run: run.start(), default=None)
    if last is not None and not words_in(text[last.end() :]):
        if is_single(last[0]):
            prefix = True
        else:
            words.pop()
    return Operand(tuple(words), prefix=prefix) if words else None


def _all_of(parts: list[_Parsed | None]) -> _Parsed | None:
    """Combine parts that must all match with parts that must not; exclude the latter from everything if alone."""
    included = [part.node for part in parts if part is not None and not part.excludes]
    excluded = [part.node for part in parts if part is not None and part.excludes]
    if included:
        node = _join("AND", included)
        return _Parsed(Expression("NOT", [node, *excluded]) if excluded else node)
    return _Parsed(_join("OR", excluded), excludes=True) if excluded else None


def _join(operator: str, parts: list[Operand | Expression]) -> Operand | Expression:
    """Join nodes by AND or OR into one flat node without duplicate operands."""
    flat: list[Operand | Expression] = []
    seen_keys = set()
    for part in parts:
        inner = part.parts if isinstance(part, Expression) and part.operator == operator else [part]
        for node in inner:
            key = (node.words, node.prefix) if isinstance(node, Operand) else node
            if key not in seen_keys:
                seen_keys.add(key)
                flat.append(node)
    return flat[0] if len(flat) == 1 else Expression(operator, flat)


def positive_operands(node: Operand | Expression) -> list[Operand]:
    """Return the operands that are not negated, in order."""
    if isinstance(node, Operand):
        return [node]
    parts = node.parts[:1] if node.operator == "NOT" else node.parts
    return [operand for part in parts for operand in positive_operands(part)]


def negated_nodes(node: Operand | Expression) -> list[Operand | Expression]:
    """Return every operand of a NOT, at any depth."""
    if isinstance(node, Operand):
        return []
    negated = [part for inner in node.parts for part in negated_nodes(inner)]
    return [*negated, *node.parts[1:]] if node.operator == "NOT" else negated


def _missing_operand(tokens: list[Token], position: int) -> str:
    near = tokens[position - 1].text if position else tokens[position].text
    if near == "(":
        return "`query` has empty parentheses; put something to look for between them, or quote them"
    return f"`query` has {near} without something to look for on each side; add it, or write {near.lower()} as a word"


def _check_cost(node: Operand | Expression) -> None:
    """Refuse an expression that is nested too deep, or whose prefixes would read most of the index."""
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
