"""What a version changed, in one line: sections and fields, never a word of the text itself but its headers."""

from __future__ import annotations

import json
from collections import Counter

from moss_memory.tools.capsule import sections as markdown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.rows.versions import Versioned

_TOLD = 6
_NAME_CHARS = 40


def described(versioned: Versioned, version: dict[str, Any], before: dict[str, Any] | None) -> dict[str, Any]:
    """A version as `moss_history` lists it, compared with the one before it."""
    shown: dict[str, Any] = {"version": version["version"], "at": version["at"], "tool": version["tool"]}
    if version.get("source") is not None:
        shown["source"] = version["source"]
    shown["chars"] = version["chars"]
    if version["erased"]:
        return {**shown, "change": "erased", "erased": True}
    return {**shown, "change": _change(versioned, version, before)}


def _change(versioned: Versioned, version: dict[str, Any], before: dict[str, Any] | None) -> str:
    if before is None or before["erased"]:
        if version["tool"] == "capsule_import":
            return "imported"
        return "stored" if version["version"] == 1 else "changed; the version before is not kept"
    said = list(_differences(versioned, before, version))
    if not said:
        return "same content"
    more = f" and {len(said) - _TOLD} more" if len(said) > _TOLD else ""
    return ", ".join(said[:_TOLD]) + more


def _differences(versioned: Versioned, old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    for column in ("name_raw", "workspace_raw", *versioned.columns):
        if old[column] == new[column] or column in versioned.unversioned:
            continue
        if column == "name_raw":
            yield "named" if old[column] is None else f"renamed from {_short(old[column])}"
        elif column == "workspace_raw":
            yield f"moved from {_short(old[column])}"
        elif column == "capsule_text":
            yield from _sections(old[column], new[column])
        elif column == "data_json":
            yield from _fields(json.loads(old[column]), json.loads(new[column]))
        elif column == "text":
            yield _lines("text", (old[column] or "").splitlines(), (new[column] or "").splitlines())
        else:
            yield column.removesuffix("_json")


def _sections(old: str, new: str) -> Iterator[str]:
    """How each section differs, in the order of the new text."""
    before, after = _by_title(old), _by_title(new)
    for title in dict.fromkeys([*after, *before]):
        if title not in before:
            yield f"{title or 'text'} added"
        elif title not in after:
            yield f"{title or 'text'} removed"
        elif before[title] != after[title]:
            yield _lines(title or "text", before[title], after[title])
    if list(before) == list(after) and before == after:
        yield "blanks"
    elif list(before) != list(after) and sorted(before) == sorted(after):
        yield "order of sections"


def _by_title(text: str) -> dict[str, list[str]]:
    """The lines of each section below its title, those before the first header under an empty one."""
    found = markdown.parse(text)
    start = found[0].start if found else len(text)
    parts = {"": _said(text[:start])} if text[:start].strip() else {}
    for section in found:
        title = _short(section.title) or "(no title)"
        parts.setdefault(title, []).extend(_said(text[section.body_start : section.end]))
    return parts


def _said(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _lines(name: str, old: list[str], new: list[str]) -> str:
    added = sum((Counter(new) - Counter(old)).values())
    removed = sum((Counter(old) - Counter(new)).values())
    if not added and not removed:
        return f"{name} order"
    counts = " ".join([*([f"+{added}"] if added else []), *([f"-{removed}"] if removed else [])])
    return f"{name} {counts} {'line' if max(added, removed) == 1 else 'lines'}"


def _fields(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """Which of an artifact's fields differ; their values are not told."""
    before, after = _as_json(old), _as_json(new)
    for name in dict.fromkeys([*after, *before]):
        if name not in before:
            yield f"data.{_short(name)} added"
        elif name not in after:
            yield f"data.{_short(name)} removed"
        elif before[name] != after[name]:
            yield f"data.{_short(name)}"
    if before == after:
        yield "order of data"


def _as_json(data: dict[str, Any]) -> dict[str, str]:
    """Each field as text, in which 1, 1.0 and true differ."""
    return {name: json.dumps(value) for name, value in data.items()}


def _short(name: str) -> str:
    """A header or a field's name on one line, nothing in it that steers."""
    plain = " ".join("".join(character if character.isprintable() else " " for character in name).split())
    return plain if len(plain) <= _NAME_CHARS else plain[: _NAME_CHARS - 1] + "…"
