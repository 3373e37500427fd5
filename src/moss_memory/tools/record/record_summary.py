"""A record's body in a few words: its title, its status, and what else it says."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TITLES = ("id", "name", "title", "session_id", "decision", "validation_type")
"""Fields that a record is called by, the first that it has; one of another shape is called by its first text."""


def row_of(item: dict[str, Any]) -> dict[str, Any]:
    """A record or an entity as a row: the fields of its body that people look for, and the rest as one text."""
    body = item.get("properties", item.get("snapshot"))
    if not isinstance(body, dict):
        return item
    called = _title_field(body)
    rest = [_part(name, value) for name, value in body.items() if name not in (called, "status") and not _is_time(name)]
    row = {**item, "title": title_of(body), "says": "; ".join(filter(None, rest)) or None}
    if "status" in body:
        row["status"] = _text(body["status"])
    if isinstance(item.get("created_at"), str):
        row["submitted"] = _minutes(item["created_at"])
    return row


def title_of(body: dict[str, Any]) -> str | None:
    """What a body is called."""
    field = _title_field(body)
    return None if field is None else _text(body[field])


def _title_field(body: dict[str, Any]) -> str | None:
    texts = [name for name, value in body.items() if isinstance(value, str) and value.strip() and not _is_time(name)]
    return next((name for name in (*_TITLES, *texts) if name in texts), None)


def _is_time(name: str) -> bool:
    return name.endswith("_at") or name == "timestamp"


def _part(name: str, value: Any) -> str:
    """Whole sentences speak for themselves; a word needs the name of its field."""
    text = _text(value)
    return text if " " in text or not text else f"{name} {text}"


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _minutes(moment: str) -> str:
    from datetime import datetime

    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")
