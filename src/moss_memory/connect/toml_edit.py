"""Editor for TOML: one table is changed, every other byte is preserved.

Not tomlkit (tried: 0.15.2), which does not preserve a text that it only parses and writes: `[a.x]`, `[[b]]`, `[a.y]`
becomes `[a.x]`, `[a.y]`, `[[b]]`. It also adds LF lines to a file with CRLF, and deletes a comment above the next table
together with a table.
"""

from __future__ import annotations

import json
import math
import re

from .parse_error import ConfigParseError, newline_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Path = tuple[str, ...]

_LINE_IN_MESSAGE = re.compile(r"at line (\d+)")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_KEYS = re.compile(rf"[ \t]*({_KEY}(?:[ \t]*\.[ \t]*{_KEY})*)[ \t]*")
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|$)")
_PIECE = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|'
    r"'''.*?'{3,5}|"
    r'"(?:[^"\\\n]|\\.)*"|'
    r"'[^'\n]*'|"
    r"#[^\n]*|[\[\]{}\n]|[^\"'#\[\]{}\n]+",
    re.DOTALL,
)


class TomlStatement:
    """A table header or a key with its value: its path and its position."""

    __slots__ = ("end", "is_table", "path", "start")

    def __init__(self, path: Path, start: int, end: int, *, is_table: bool) -> None:
        self.path = path
        self.start = start
        self.end = end
        """The offset after its last line."""
        self.is_table = is_table


def parse(text: str) -> dict[str, Any]:
    """Return the values of a text; raise `ConfigParseError` with the line."""
    import tomllib

    try:
        return tomllib.loads(text, parse_float=_float)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = _LINE_IN_MESSAGE.search(str(error))
        problem = re.sub(r" \(at .*", "", str(error)) if line else str(error)
        raise ConfigParseError(problem, int(line[1]) if line else text.count("\n") + 1) from None


def _float(text: str) -> float:
    """Return a float; every `nan` is the same object, so that equal texts have equal values."""
    value = float(text)
    return math.nan if math.isnan(value) else value


def find_value(text: str, path: Path) -> Any:
    """Return the value at the path, None if there is none."""
    value: Any = parse(text)
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def find_span(text: str, path: Path) -> tuple[int, int] | None:
    """Return the start and end of the table at the path, None if there is none or it is not contiguous."""
    statements = _statements(text)
    indexes = [index for index, statement in enumerate(statements) if _is_below(statement, path)]
    if not indexes or not statements[indexes[0]].is_table or indexes[-1] - indexes[0] >= len(indexes):
        return None
    return statements[indexes[0]].start, statements[indexes[-1]].end


def set_value(text: str, path: Path, value: dict[str, Any]) -> str:
    """Return the text with this table at the path; unchanged if it is there already."""
    if find_value(text, path) == value:
        return text
    parent = find_value(text, path[:-1])
    if parent is not None and not isinstance(parent, dict):
        raise ConfigParseError(f"{'.'.join(path[:-1])} is not a table", _line_of_key(text, path))
    new_text = _put(text, path, value)
    _require_alone(text, new_text, path, value)
    return new_text


def remove_value(text: str, path: Path) -> str:
    """Return the text without the table at the path; unchanged if there is none."""
    if find_value(text, path) is None:
        return text
    new_text = _cut(text, _below(text, path), "")
    _require_alone(text, new_text, path, None)
    return new_text


def _put(text: str, path: Path, value: dict[str, Any]) -> str:
    newline = newline_of(text)
    block = _render(path, value, newline)
    statements = _below(text, path)
    if statements and statements[0].is_table:
        ends_in_newline = text[statements[0].start : statements[-1].end].endswith("\n")
        return _cut(text, statements, block + (newline if ends_in_newline else ""))
    text = _cut(text, statements, "")
    if not text:
        return block + newline
    if text.endswith("\n"):
        return text + newline + block + newline
    return text + newline + newline + block


def _cut(text: str, statements: list[TomlStatement], instead: str) -> str:
    """Return the text without these statements, with `instead` in the position of the first."""
    groups = _groups(statements)
    for index in range(len(groups) - 1, -1, -1):
        first, last = groups[index]
        if index == 0 and instead:
            text = text[: first.start] + instead + text[last.end :]
        else:
            start = _with_blank_line(text, first, last)
            text = text[:start] + text[last.end :]
    return text


def _groups(statements: list[TomlStatement]) -> list[tuple[TomlStatement, TomlStatement]]:
    groups: list[tuple[TomlStatement, TomlStatement]] = []
    for statement in statements:
        if groups and not statement.is_table and groups[-1][0].is_table:
            groups[-1] = (groups[-1][0], statement)
        else:
            groups.append((statement, statement))
    return groups


def _with_blank_line(text: str, first: TomlStatement, last: TomlStatement) -> int:
    """Return the offset to cut from, so that the blank line before a table is removed too."""
    start = first.start
    if not first.is_table:
        return start
    lines = (r"\r?\n[ \t]*\r?\n\Z", r"\r?\n\Z") if not text[: last.end].endswith("\n") else (r"(?<=\n)[ \t]*\r?\n\Z",)
    for line in lines:
        match = re.search(line, text[:start])
        if match:
            return match.start()
    return start


def _below(text: str, path: Path) -> list[TomlStatement]:
    return [statement for statement in _statements(text) if _is_below(statement, path)]


def _is_below(statement: TomlStatement, path: Path) -> bool:
    return statement.path[: len(path)] == path


def _statements(text: str) -> list[TomlStatement]:
    statements: list[TomlStatement] = []
    table: Path = ()
    offset = 0
    while offset < len(text):
        match = _REST.match(text, offset)
        if match and match.end() > offset:
            offset = match.end()
            continue
        start = offset
        while text[offset] in " \t\r":
            offset += 1
        if text[offset] == "\n":
            offset += 1
        elif text[offset] == "[":
            table, offset = _header(text, offset)
            statements.append(TomlStatement(table, start, offset, is_table=True))
        else:
            keys, offset = _pair(text, offset)
            statements.append(TomlStatement((*table, *keys), start, offset, is_table=False))
    return statements


def _header(text: str, offset: int) -> tuple[Path, int]:
    brackets = 2 if text.startswith("[[", offset) else 1
    match = _KEYS.match(text, offset + brackets)
    assert match is not None, "tomllib read it"
    end = text.find("\n", match.end())
    return _keys(match[1]), len(text) if end < 0 else end + 1


def _pair(text: str, offset: int) -> tuple[Path, int]:
    match = _KEYS.match(text, offset)
    assert match is not None, "tomllib read it"
    offset, depth = match.end(), 0
    while offset < len(text):
        piece = _PIECE.match(text, offset)
        assert piece is not None, "tomllib read it"
        offset = piece.end()
        depth += (piece[0] in ("[", "{")) - (piece[0] in ("]", "}"))
        if piece[0] == "\n" and depth == 0:
            break
    return _keys(match[1]), offset


def _keys(text: str) -> Path:
    import tomllib

    keys, value = [], tomllib.loads(f"{text} = 0")
    while isinstance(value, dict):
        keys.append(next(iter(value)))
        value = value[keys[-1]]
    return tuple(keys)


def _require_alone(old_text: str, new_text: str, path: Path, value: dict[str, Any] | None) -> None:
    """Refuse a text whose form does not allow the change without other effects."""
    expected = parse(old_text)
    inner = expected
    for key in path[:-1]:
        inner = inner.setdefault(key, {})
    if value is None:
        inner.pop(path[-1])
    else:
        inner[path[-1]] = value
    try:
        is_same = _prune(parse(new_text)) == _prune(expected)
    except ConfigParseError:
        is_same = False
    if not is_same:
        form = f"write it as tables, [{'.'.join(path[:-1])}.NAME]"
        raise ConfigParseError(f"{path[0]} is written in one line; {form}", _line_of_key(old_text, path))


def _line_of_key(text: str, path: Path) -> int:
    statement = next((item for item in _statements(text) if item.path[0] == path[0]), None)
    return text.count("\n", 0, statement.start) + 1 if statement else 1


def _prune(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    pruned = {key: _prune(part) for key, part in value.items()}
    return {key: part for key, part in pruned.items() if part != {}}


def _render(path: Path, value: dict[str, Any], newline: str) -> str:
    lines = [f"[{'.'.join(map(_format_key, path))}]"]
    lines += [f"{_format_key(key)} = {_format(part)}" for key, part in value.items()]
    return newline.join(lines)


def _format_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _format(key)


def _format(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(_format, value)) + "]"
    if isinstance(value, dict):
        inner = ", ".join([f"{_format_key(key)} = {_format(part)}" for key, part in value.items()])
        return f"{{ {inner} }}" if inner else "{}"
    return value.isoformat() if hasattr(value, "isoformat") else repr(value)
