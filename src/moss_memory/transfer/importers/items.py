"""Items of a source in Moss's terms: capsules, nodes with their edges, notes, plans and tasks.

Items are plain dictionaries. `key` identifies an item in its source and never changes; prefixed with the source's
name it identifies an imported item.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Item = dict[str, Any]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_NO_ID = re.compile(r"[\x00-\x1f\x7f-\x9f|]+")
ID_MAX_CHARS = 256
NAME_MAX_CHARS = 240
TASK_TITLE_MAX_CHARS = 1_000
TAG_MAX_CHARS = 100


class SourceFile:
    """One file of a source, or a part that is imported as a unit: its items, and skipped items with reasons."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.items: list[Item] = []
        self.skipped: list[dict[str, str]] = []

    def skip(self, item: str, reason: str) -> None:
        self.skipped.append({"file": self.name, "item": item[:200], "reason": reason})


def capsule(key: str, text: str, *, name: str, title: str = "", tags: list[str] | None = None, **times: Any) -> Item:
    return {
        "kind": "capsule",
        "key": key,
        "text": text,
        "name": to_single_line(name)[:NAME_MAX_CHARS] or key,
        "title": to_single_line(title)[:NAME_MAX_CHARS],
        "tags": clean_item_tags(tags or []),
        "created_at": parse_time(times.get("created")),
        "updated_at": parse_time(times.get("updated")),
    }


def node(key: str, *, type: str, title: str, text: str = "", tags: list[str] | None = None, **meta: Any) -> Item:
    return {
        "kind": "node",
        "key": key,
        "id": node_id(key),
        "type": node_id(type)[:128] or "entity",
        "title": to_single_line(title),
        "text": text,
        "tags": [tag.lower() for tag in clean_item_tags(tags or [])],
        "meta": {name: value for name, value in meta.items() if value},
    }


def edge(source: str, relation: str, target: str) -> Item:
    key = f"{source} {relation} {target}"
    ends = {"from": node_id(source), "rel": node_id(relation)[:128] or "related", "to": node_id(target)}
    return {"kind": "edge", "key": key, **ends}


def note(key: str, text: str, *, title: str = "", **meta: Any) -> Item:
    filled = {name: value for name, value in meta.items() if value}
    return {"kind": "note", "key": key, "text": text, "title": to_single_line(title), "meta": filled}


def plan(key: str, *, title: str, **fields: Any) -> Item:
    """Return a plan; `fields` are those of a task, without its parent."""
    return {**task(key, title=title, parent="", **fields), "kind": "plan"}


def task(
    key: str,
    *,
    title: str,
    parent: str,
    description: str = "",
    priority: str = "normal",
    status: str = "TODO",
    depends_on: list[str] | None = None,
    tags: list[Any] | None = None,
    steps: list[Item] | None = None,
    notes: list[str] | None = None,
    times: str = "",
) -> Item:
    """Return a task of the plan with the key `parent`; `status` is TODO, ACTIVE or DONE."""
    return {
        "kind": "task",
        "key": key,
        "title": to_single_line(title)[:TASK_TITLE_MAX_CHARS],
        "description": description,
        "priority": priority,
        "parent": parent,
        "depends_on": depends_on or [],
        "tags": clean_item_tags(tags or []),
        "status": status,
        "steps": steps or [],
        "notes": notes or [],
        "times": times,
    }


def step(title: str, *, text: str = "", tests: list[str] | None = None, done: bool = False) -> Item:
    """Return a step of a task."""
    return {"title": to_single_line(title)[:TASK_TITLE_MAX_CHARS], "tests": tests or [], "text": text, "done": done}


def node_id(text: str) -> str:
    return _NO_ID.sub(" ", text).strip()[:ID_MAX_CHARS]


def to_single_line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


def clean_item_tags(tags: list[Any]) -> list[str]:
    """Return valid tags, at most 40, since the importer adds its own."""
    cleaned = [to_single_line(str(tag))[:TAG_MAX_CHARS].strip() for tag in tags]
    return list(dict.fromkeys(tag for tag in cleaned if tag))[:40]


def parse_time(written: Any) -> int | None:
    """Parse a source's time to seconds since 1970; None if it is invalid."""
    if isinstance(written, (int, float)) and not isinstance(written, bool) and 0 < written < 1e14:
        return int(written / 1000 if written > 1e11 else written)
    if not isinstance(written, str) or not written.strip():
        return None
    try:
        parsed = datetime.fromisoformat(written.strip().replace("Z", "+00:00"))
    except ValueError:
        return None
    moment = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    return int(moment) if 0 < moment < 32503680000 else None


def to_text(value: Any) -> str:
    """Return a value as text; empty if it is None or bytes."""
    return value if isinstance(value, str) else "" if value is None or isinstance(value, bytes) else str(value)
