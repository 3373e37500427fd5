"""Editor for JSON with comments and trailing commas: one value is changed, every other byte is preserved."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from .parse_error import ConfigParseError, line_of, newline_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Path = tuple[str | int, ...]
    """The keys of a value; in a list its index, or the length of the list to append."""

_BETWEEN = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_ON_THE_LINE = re.compile(r"(?:[ \t]+|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_INDENT = re.compile(r"\n([ \t]+)[^ \t\r\n]")
_MAX_DEPTH = 100


class SyntaxNode:
    """A value with its position; a list or an object has members."""

    __slots__ = ("comma", "end", "items", "key", "key_start", "kind", "start", "value")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        """`{`, `[` or `"` for everything else."""
        self.start = start
        self.end = start
        self.items: list[SyntaxNode] = []
        self.value: Any = None
        self.key: str | int = ""
        self.key_start = start
        """The offset of the member: of its key, or of the value in a list."""
        self.comma = -1
        """The offset of the following comma."""

    def plain(self) -> Any:
        """Return the value as a Python object; of duplicate keys the last one counts."""
        if self.kind == "{":
            return {item.key: item.plain() for item in self.items}
        return [item.plain() for item in self.items] if self.kind == "[" else self.value

    def member(self, key: str | int) -> SyntaxNode | None:
        return next((item for item in reversed(self.items) if item.key == key), None)


def parse(text: str) -> Any:
    """Return the value of a text, an empty object if it has none; raise `ConfigParseError` with the line."""
    root = _root(text)
    return {} if root is None else root.plain()


def find_value(text: str, path: Path) -> Any:
    """Return the value at the path, None if there is none."""
    value = parse(text)
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def find_span(text: str, path: Path) -> tuple[int, int] | None:
    node = _root(text)
    for key in path:
        node = node and node.member(key)
    return (node.start, node.end) if node else None


def set_value(text: str, path: Path, value: Any) -> str:
    """Return the text with the value at the path; missing objects are created, an equal value changes nothing."""
    root = _root(text)
    if root is None:
        return _create_root(text, path, value)
    node = root
    for depth, key in enumerate(path):
        _require_container(text, node, key, path[:depth])
        inner = node.member(key)
        if inner is None:
            return _insert(text, node, key, _nest(path[depth + 1 :], value))
        node = inner
    if json.dumps(node.plain(), sort_keys=True) == json.dumps(value, sort_keys=True):
        return text
    indent = _indent_at(text, node.key_start)
    return text[: node.start] + _render(value, text, indent) + text[node.end :]


def remove_value(text: str, path: Path) -> str:
    """Return the text without the value at the path; unchanged if there is none."""
    node = _root(text)
    for key in path[:-1]:
        node = node and node.member(key)
    if node is None or node.member(path[-1]) is None:
        return text
    offset = [item.key for item in node.items].index(path[-1])
    shorter = _remove_member(text, node, offset)
    return remove_value(shorter, path) if node.kind == "{" else shorter  # a key may be duplicate


def _remove_member(text: str, node: SyntaxNode, offset: int) -> str:
    """Return the text without one member, the white space before it, its comma, and a comma that becomes trailing."""
    item = node.items[offset]
    start = item.key_start
    end = item.comma + 1 if item.comma >= 0 else item.end
    while text[start - 1] in " \t\r\n":
        start -= 1
    if start == node.start + 1 and len(node.items) == 1 and not text[end : node.end - 1].strip():
        end = node.end - 1
    elif "\n" in text[start : item.key_start] and _rest_of_line(text, end):
        start = item.key_start  # the line before may end in a comment, which would include the following text
    if offset and item.comma < 0:
        comma = node.items[offset - 1].comma
        return text[:comma] + text[comma + 1 : start] + text[end:]
    return text[:start] + text[end:]


def _rest_of_line(text: str, offset: int) -> str:
    end = text.find("\n", offset)
    return text[offset : len(text) if end < 0 else end].strip()


def _require_container(text: str, node: SyntaxNode, key: str | int, above: Path) -> None:
    kind, name = ("{", "object") if isinstance(key, str) else ("[", "list")
    if node.kind != kind:
        label = ".".join(map(str, above)) or "the whole file"
        raise ConfigParseError(f"{label} is not a JSON {name}", line_of(text, node.start))


def _create_root(text: str, path: Path, value: Any) -> str:
    """Return a text with its first object, if it was empty or had comments only."""
    newline = newline_of(text)
    between = "" if not text or text.endswith("\n") else newline
    return text + between + _render(_nest(path, value), text, "") + newline


def _nest(path: Path, value: Any) -> Any:
    for key in reversed(path):
        value = {key: value} if isinstance(key, str) else [value]
    return value


def _insert(text: str, node: SyntaxNode, key: str | int, value: Any) -> str:
    """Return the text with one more member at the end of an object or a list."""
    label = f"{_dump(key)}: " if isinstance(key, str) else ""
    if not node.items:
        return _first_member(text, node, label, value)
    last_item = node.items[-1]
    if _own_line(text, last_item.key_start) is None:
        member = label + _dump(value)
        if last_item.comma >= 0:
            return text[: last_item.comma + 1] + " " + member + "," + text[last_item.comma + 1 :]
        return text[: last_item.end] + ", " + member + text[last_item.end :]
    indent = _indent_at(text, last_item.key_start)
    member = newline_of(text) + indent + label + _render(value, text, indent)
    if last_item.comma >= 0:
        offset = _line_end(text, last_item.comma + 1, node.end - 1)
        return text[:offset] + member + "," + text[offset:]
    offset = _line_end(text, last_item.end, node.end - 1)
    return text[: last_item.end] + "," + text[last_item.end : offset] + member + text[offset:]


def _first_member(text: str, node: SyntaxNode, label: str, value: Any) -> str:
    outer = _indent_at(text, node.key_start)
    indent = outer + _unit(text)
    newline = newline_of(text)
    offset = _line_end(text, node.start + 1, node.end - 1)
    member = newline + indent + label + _render(value, text, indent)
    ending = "" if "\n" in text[offset : node.end - 1] else newline + outer
    return text[:offset] + member + ending + text[offset:]


def _line_end(text: str, offset: int, most: int) -> int:
    match = _ON_THE_LINE.match(text, offset, most)
    end = match.end() if match else offset
    while end > offset and text[end - 1] in " \t":
        end -= 1
    return end


def _own_line(text: str, offset: int) -> str | None:
    start = text.rfind("\n", 0, offset) + 1
    prefix = text[start:offset]
    return prefix if start and not prefix.strip(" \t") else None


def _indent_at(text: str, offset: int) -> str:
    start = text.rfind("\n", 0, offset) + 1
    end = start
    while end < offset and text[end] in " \t":
        end += 1
    return text[start:end]


def _unit(text: str) -> str:
    match = _INDENT.search(text)
    return match[1] if match else "  "


def _render(value: Any, text: str, indent: str) -> str:
    """Return the value as JSON in the style of this text."""
    encoded = _dump(value, indent=_unit(text))
    return re.sub(r"\[\n\s*([^\[\]{}]*?)\n\s*\]", _one_line, encoded).replace("\n", newline_of(text) + indent)


def _dump(value: Any, indent: str | None = None) -> str:
    """Return the value as JSON; escape lone surrogates, which UTF-8 cannot encode."""
    encoded = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        encoded.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return encoded


def _one_line(match: re.Match[str]) -> str:
    """Return a short list of scalars on one line."""
    parts = [part.strip() for part in match[1].split("\n")]
    joined = "[" + " ".join(parts) + "]"
    return joined if len(joined) <= 100 else match[0]


@lru_cache(maxsize=2)
def _root(text: str) -> SyntaxNode | None:
    """Return the parsed value of a text, None if it has only white space and comments; cached."""
    parser = _JsoncParser(text)
    parser.skip()
    if parser.offset == len(text):
        return None
    node = parser.value(0)
    parser.skip()
    if parser.offset < len(text):
        raise parser.problem("unexpected text after the end of the JSON")
    return node


class _JsoncParser:
    """A parser for one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0

    def problem(self, message: str, offset: int | None = None) -> ConfigParseError:
        return ConfigParseError(message, line_of(self.text, self.offset if offset is None else offset))

    def skip(self) -> None:
        match = _BETWEEN.match(self.text, self.offset)
        self.offset = match.end() if match else self.offset
        if self.text.startswith("/*", self.offset):
            raise self.problem("a comment has no end")

    def value(self, depth: int) -> SyntaxNode:
        if depth > _MAX_DEPTH:
            raise self.problem(f"it is nested more than {_MAX_DEPTH} levels deep")
        sign = self.text[self.offset : self.offset + 1]
        if sign in ("{", "["):
            return self._members(sign, depth)
        node = SyntaxNode('"', self.offset)
        node.value = self._string() if sign == '"' else self._scalar()
        node.end = self.offset
        return node

    def _members(self, sign: str, depth: int) -> SyntaxNode:
        node = SyntaxNode(sign, self.offset)
        closing = "}" if sign == "{" else "]"
        self.offset += 1
        while True:
            self.skip()
            if self.text.startswith(closing, self.offset):
                break
            if node.items and node.items[-1].comma < 0:
                raise self.problem(f"a comma or {closing} is missing")
            node.items.append(self._member(node, depth))
            self.skip()
            if self.text.startswith(",", self.offset):
                node.items[-1].comma = self.offset
                self.offset += 1
        self.offset += 1
        node.end = self.offset
        return node

    def _member(self, parent: SyntaxNode, depth: int) -> SyntaxNode:
        start = self.offset
        key: str | int = len(parent.items)
        if parent.kind == "{":
            if not self.text.startswith('"', self.offset):
                raise self.problem("a key in quotes or } is missing")
            key = self._string()
            self.skip()
            if not self.text.startswith(":", self.offset):
                raise self.problem("a colon is missing")
            self.offset += 1
            self.skip()
        node = self.value(depth + 1)
        node.key, node.key_start = key, start
        return node

    def _string(self) -> str:
        match = _STRING.match(self.text, self.offset)
        if match is None:
            raise self.problem("a string does not end on its line")
        try:
            value: str = json.loads(match[0])
        except ValueError:
            raise self.problem("a string contains an escape that JSON does not define") from None
        self.offset = match.end()
        return value

    def _scalar(self) -> Any:
        match = _SCALAR.match(self.text, self.offset)
        if match is None:
            raise self.problem("a value is missing" if self.offset == len(self.text) else "this is no JSON value")
        try:
            value = json.loads(match[0])
        except ValueError:
            raise self.problem("a number is too long") from None
        self.offset = match.end()
        return value
