"""Values that look like credentials: of which kind each is and where it stands. The value itself is never told.

Nearly every text holds none, so that is found out first and quickly: the long runs of a text that begin as a known
kind does, and a few words that always stand beside one. Only then are the shapes of those kinds looked for.
"""

from __future__ import annotations

import functools
import re

from .credential_kinds import AROUND, BEGUN, CONNECTIONS, EDGE, INSIDE, MEASURED, PLACEHOLDERS
from .errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .config import Config

    Span = tuple[int, int, str]
    """Where a value begins and ends, and its kind."""

MOST_FINDINGS = 20
_SHORTEST = 16
_PATH_CHARS = 200
_LONGEST_PREFIX = 24
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./+~%"
_CLASSES = bytes(ord("a") if code in _LETTERS else ord(" ") for code in range(256))
_RUN = b"a" * _SHORTEST
_BEGINNINGS = tuple(beginning for beginnings, _ in BEGUN.values() for beginning in beginnings)
_MASK = re.compile(r"([xX*0.])\1*")
_SECRETIVE = re.compile(r"\d|[A-Z].*[a-z]|[a-z].*[A-Z]|[!#^&*+~]")


def refuse_credentials(config: Config, tool: str, arguments: dict[str, Any]) -> None:
    """Raises `SECRET_FOUND` where what is to be stored holds a credential, unless the configuration lets it pass."""
    if config.allow_secrets:
        return
    found = findings_in(arguments)
    if not found:
        return
    first = found[0]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    raise MossError(
        "SECRET_FOUND",
        f"{first['path']}, line {first['line']}, column {first['column']}, looks like a credential ({first['kind']})"
        f"{more}; nothing was stored. Take the value out and say where it is kept, or give `allow_secrets: true` if it "
        "is none",
        details={"findings": found[:MOST_FINDINGS]},
        recovery={
            "tool": tool,
            "arguments": redacted(arguments),
            "reason": "the same without the values; better say where each is kept. `allow_secrets: true` stores it as "
            "it was, if it is no credential",
        },
    )


def findings_in(value: Any, path: str = "") -> list[dict[str, Any]]:
    """What looks like a credential in texts at any depth: `{kind, path, line, column}`, counted from 1."""
    # All texts at once first, for nearly always that is the end of it: an artifact has many short ones, and looking
    # through each took as long as storing them.
    if not any(True for _ in _suspected("\n".join(_bare_texts(value)))):
        return []
    return [
        {"kind": kind, "path": where[:_PATH_CHARS], "line": line, "column": column}
        for where, text in _texts(value, path)
        for kind, line, column in _places(text)
    ]


def _places(text: str) -> Iterator[tuple[str, int, int]]:
    """The kind, line and column of each credential in a text."""
    line, counted_to = 1, 0
    for start, _, kind in spans_in(text):
        line += text.count("\n", counted_to, start)
        counted_to = start
        yield kind, line, start - text.rfind("\n", 0, start)


def told(found: list[dict[str, Any]]) -> dict[str, Any]:
    """What an answer says of findings, where there are any."""
    return {"findings": found[:MOST_FINDINGS]} if found else {}


def redacted(value: Any) -> Any:
    """The same value with `[removed: kind]` in the place of each credential."""
    if isinstance(value, str):
        for start, end, kind in reversed(spans_in(value)):
            value = f"{value[:start]}[removed: {kind}]{value[end:]}"
        return value
    if isinstance(value, list):
        return [redacted(part) for part in value]
    if isinstance(value, dict):
        return {redacted(key): redacted(part) for key, part in value.items()}
    return value


def _bare_texts(value: Any) -> list[str]:
    """The same texts as `_texts` gives, without their places."""
    found: list[str] = []
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, str):
            if len(part) >= _SHORTEST:
                found.append(part)
        elif isinstance(part, list):
            left += part
        elif isinstance(part, dict):
            left += part
            left += part.values()
    return found


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every text that is long enough to hold a credential, keys too, and where it stands."""
    if isinstance(value, str):
        if len(value) >= _SHORTEST:
            yield path, value
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _texts(part, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, part in value.items():
            if len(key) >= _SHORTEST:
                yield path, key
                key = redacted(key)
            yield from _texts(part, f"{path}.{key}" if path else key)


def spans_in(text: str) -> list[Span]:
    """Where the credentials of a text begin and end, in order, none inside another."""
    found = [span for pattern, kind in _suspected(text) for span in _spans(text, pattern, kind)]
    found.sort(key=lambda span: (span[0], -span[1]))
    kept: list[Span] = []
    for span in found:
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def _suspected(text: str) -> Iterator[tuple[re.Pattern[str], str]]:
    """The shapes that are worth looking for in a text."""
    runs = _long_runs(text)
    begun = {run[:_LONGEST_PREFIX] for run in runs if run.startswith(_BEGINNINGS)}
    for kind, (beginnings, rest) in BEGUN.items() if begun else ():
        if any(run.startswith(beginnings) for run in begun):
            yield _begun(beginnings, rest), kind
    for kind, (length, shape) in MEASURED.items():
        if any(len(run) == length for run in runs):
            yield _compiled(shape), kind
    for kinds, where in ((INSIDE, "\n".join(runs)), (AROUND if runs else {}, text), (CONNECTIONS, text)):
        for kind, (marks, shape) in kinds.items():
            if any(mark in where for mark in marks):
                yield _compiled(shape), kind


def _long_runs(text: str) -> list[str]:
    """The runs of a text, long enough to be a credential, that hold none of the signs that stand around one."""
    classes = text.encode("ascii", "replace").translate(_CLASSES)
    runs = []
    start = classes.find(_RUN)
    while start >= 0:
        end = classes.find(b" ", start)
        end = len(text) if end < 0 else end
        escaped = start > 0 and text[start - 1] == "\\"  # the letter of a line break in JSON stands before it
        runs.append(text[start + escaped : end])
        start = classes.find(_RUN, end)
    return runs


def _spans(text: str, pattern: re.Pattern[str], kind: str) -> Iterator[Span]:
    is_connection = kind in CONNECTIONS
    for match in pattern.finditer(text):
        group = match.lastindex or 0
        value = match[group]
        if _is_no_password(match, value) if is_connection else _MASK.fullmatch(value[-12:]):
            continue
        yield *match.span(group), kind


def _is_no_password(match: re.Match[str], value: str) -> bool:
    """Whether this is plainly the place of a password and not one: a word for it, a variable, the user's name."""
    if value.lower() in PLACEHOLDERS or value == match[1] or _MASK.fullmatch(value):
        return True
    return any(sign in value for sign in "{}$%<>[]|") or not _SECRETIVE.search(value)


@functools.cache
def _compiled(shape: str) -> re.Pattern[str]:
    return re.compile(shape)


@functools.cache
def _begun(beginnings: tuple[str, ...], rest: str) -> re.Pattern[str]:
    either = "|".join(map(re.escape, beginnings))
    return re.compile(rf"{EDGE}(?:{either}){rest}(?![A-Za-z0-9_])")
