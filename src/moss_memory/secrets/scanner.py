"""Credentials in the values that callers store: the kind and the place of each, never the value itself."""

from __future__ import annotations

from moss_memory.errors import MossError

from .matching import SHORTEST, has_any, is_name_of_secret, spans_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.config import Config

    from .matching import Check

MOST_FINDINGS = 20
_PATH_CHARS = 200
_SHORTEST_NAMED = 8


def refuse_credentials(config: Config, arguments: dict[str, Any], check: Check | None = None) -> None:
    """Raise `SECRET_FOUND` if a value to be stored contains a credential, unless the configuration allows it.

    `check` is called from time to time on long texts and raises if the caller has cancelled.
    """
    if config.allow_secrets:
        return
    found = findings_in(arguments, check=check)
    if not found:
        return
    first = found[0]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    raise MossError(
        "SECRET_FOUND",
        f"{first['path']}, line {first['line']}, column {first['column']}, looks like a credential ({first['kind']})"
        f"{more}; nothing was stored. Replace each value in `details.findings` by the place where it is kept, and send "
        "the call again. If it is a false positive, add `allow_secrets: true`",
        details={"findings": found[:MOST_FINDINGS]},
    )


def findings_in(value: Any, path: str = "", check: Check | None = None) -> list[dict[str, Any]]:
    """Return the credentials in the texts of a value at any depth: `{kind, path, line, column}`, counted from 1."""
    # All texts at once first, for nearly always that is the end of it: an artifact has many short ones, and looking
    # through each took as long as storing them.
    if not has_any("\n".join(_bare_texts(value)), check):
        return []
    return [
        {"kind": kind, "path": where[:_PATH_CHARS], "line": line, "column": column}
        for where, text, name in _texts(value, path)
        for kind, line, column in _positions(text, name, check)
    ]


def _positions(text: str, name: str, check: Check | None) -> Iterator[tuple[str, int, int]]:
    """Yield the kind, line and column of each credential in a text, the value of the setting of that name, if any."""
    line, line_start, counted_to = 1, 0, 0
    before = f"{name}=" if name else ""
    for start, _, kind in spans_in(before + text, check):
        start = max(0, start - len(before))
        line += text.count("\n", counted_to, start)
        line_start = max(line_start, text.rfind("\n", counted_to, start) + 1)
        counted_to = start
        yield kind, line, start - line_start + 1


def findings_fields(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the findings as a field of a response; empty if there are none."""
    return {"findings": found[:MOST_FINDINGS]} if found else {}


def redacted(value: str) -> str:
    """Return the text with `[removed: kind]` in the place of each credential."""
    parts, copied_to = [], 0
    for start, end, kind in spans_in(value):
        parts += [value[copied_to:start], f"[removed: {kind}]"]
        copied_to = end
    return "".join([*parts, value[copied_to:]])


def _bare_texts(value: Any) -> list[str]:
    """Return the same texts as `_texts` yields, without their paths."""
    found: list[str] = []
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, str):
            if len(part) >= SHORTEST:
                found.append(part)
        elif isinstance(part, list):
            left += part
        elif isinstance(part, dict):
            left += part
            left += part.values()
            found += [f"{name}={text}" for name, text in part.items() if _is_named(name, text)]
    return found


def _is_named(name: Any, value: Any) -> bool:
    """Return whether a value has to be looked at together with its name."""
    return isinstance(value, str) and len(value) >= _SHORTEST_NAMED and is_name_of_secret(name)


def _texts(value: Any, path: str, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield every text that is long enough, keys too, with its path, and its name if that is one of a secret."""
    if isinstance(value, str):
        if len(value) >= SHORTEST or name:
            yield path, value, name
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _texts(part, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, part in value.items():
            shown = key
            if len(key) >= SHORTEST:
                yield path, key, ""
                shown = redacted(key)
            named = key if _is_named(key, part) else ""
            yield from _texts(part, f"{path}.{shown}" if path else shown, named)
