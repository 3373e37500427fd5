"""One-line summaries of changes between versions: names of sections and fields, never their content."""

from __future__ import annotations

import json
from collections import Counter

from moss_memory.tools.capsule.sections import parse_sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.rows.versions import Versioned

_MOST_CHANGES = 6
_NAME_CHARS = 40


def describe_version(
    versioned: Versioned, version: dict[str, Any], before: dict[str, Any] | None, by: str | None
) -> dict[str, Any]:
    """Return a version as an item of `moss_history`, compared with the previous one."""
    optional = {"by": by, "source": version.get("source")}
    item: dict[str, Any] = {"version": version["version"], "at": version["at"], "tool": version["tool"]}
    item |= {name: value for name, value in optional.items() if value is not None}
    item["chars"] = version["chars"]
    if version["erased"]:
        return {**item, "change": "erased", "erased": True}
    if before is None or before["erased"]:
        first = "stored" if version["version"] == 1 else "changed; the previous version was deleted"
        return {**item, "change": "imported" if version["tool"] == "capsule_import" else first}
    changes = list(_differences(versioned, before, version))
    suffix = f" and {len(changes) - _MOST_CHANGES} more" if len(changes) > _MOST_CHANGES else ""
    return {**item, "change": ", ".join(changes[:_MOST_CHANGES]) + suffix or "same content"}


def _differences(versioned: Versioned, old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    for column in ("name_raw", "workspace_raw", *versioned.columns):
        if old[column] == new[column] or column in versioned.unversioned:
            continue
        if column == "name_raw":
            yield "named" if old[column] is None else f"renamed from {_shorten(old[column])}"
        elif column == "workspace_raw":
            yield f"moved from {_shorten(old[column])}"
        elif column == "capsule_text":
            yield from _diff_sections(old[column], new[column])
        elif column == "data_json":
            yield from _diff_fields(json.loads(old[column]), json.loads(new[column]))
        elif column == "text":
            yield _diff_lines("text", (old[column] or "").splitlines(), (new[column] or "").splitlines())
        else:
            yield column.removesuffix("_json")


def _diff_sections(old: str, new: str) -> Iterator[str]:
    """Yield the difference of each section, in the order of the new text."""
    before, after = _lines_by_title(old), _lines_by_title(new)
    for title in dict.fromkeys([*after, *before]):
        if title not in before:
            yield f"{title or 'text'} added"
        elif title not in after:
            yield f"{title or 'text'} removed"
        elif before[title] != after[title]:
            yield _diff_lines(title or "text", before[title], after[title])
    # Dicts are equal in any order: the lists compare the order of the sections.
    if list(before) == list(after) and before == after:
        yield "whitespace only"
    elif list(before) != list(after) and sorted(before) == sorted(after):
        yield "order of sections"


def _lines_by_title(text: str) -> dict[str, list[str]]:
    """Return the lines of each section by its title; lines before the first header have an empty title."""
    sections = parse_sections(text)
    start = sections[0].start if sections else len(text)
    parts = {"": _lines_of(text[:start])} if text[:start].strip() else {}
    for section in sections:
        title = _shorten(section.title) or "(no title)"
        parts.setdefault(title, []).extend(_lines_of(text[section.body_start : section.end]))
    return parts


def _lines_of(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _diff_lines(name: str, old: list[str], new: list[str]) -> str:
    added = sum((Counter(new) - Counter(old)).values())
    removed = sum((Counter(old) - Counter(new)).values())
    if not added and not removed:
        return f"{name} order"
    counts = " ".join([f"+{added}"] * bool(added) + [f"-{removed}"] * bool(removed))
    return f"{name} {counts} {'line' if max(added, removed) == 1 else 'lines'}"


def _diff_fields(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """Yield the changed fields of an artifact, without their values."""
    # Compared as JSON, in which 1, 1.0 and true differ.
    before, after = [{name: json.dumps(value) for name, value in data.items()} for data in (old, new)]
    for name in dict.fromkeys([*after, *before]):
        if name not in before:
            yield f"data.{_shorten(name)} added"
        elif name not in after:
            yield f"data.{_shorten(name)} removed"
        elif before[name] != after[name]:
            yield f"data.{_shorten(name)}"
    if before == after:
        yield "order of data"


def _shorten(name: str) -> str:
    """Return a name on one line, shortened and without control characters."""
    plain = " ".join("".join(character if character.isprintable() else " " for character in name).split())
    return plain if len(plain) <= _NAME_CHARS else plain[: _NAME_CHARS - 1] + "…"
