"""Summary of a record's body for tables: title, status and the other fields."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TITLES = ("id", "name", "title", "session_id", "decision", "validation_type")
"""Fields that can be the title, in this order; else the first field with a text is."""


def row_of(item: dict[str, Any]) -> dict[str, Any]:
    """Return a record or an entity as a row of a table: title, status, and the other fields as one text."""
    body = item.get("properties", item.get("snapshot"))
    if not isinstance(body, dict):
        return item
    title_field = _title_field(body)
    rest = [
        _describe(name, value)
        for name, value in body.items()
        if name not in (title_field, "status") and not _is_time(name)
    ]
    row = {**item, "title": title_of(body), "says": "; ".join(filter(None, rest)) or None}
    if "status" in body:
        row["status"] = _text(body["status"])
    if isinstance(item.get("created_at"), str):
        row["submitted"] = _minutes(item["created_at"])
    return row


def title_of(body: dict[str, Any]) -> str | None:
    """Return the title of a body, or None."""
    field = _title_field(body)
    return None if field is None else _text(body[field])


def _title_field(body: dict[str, Any]) -> str | None:
    texts = [name for name, value in body.items() if isinstance(value, str) and value.strip() and not _is_time(name)]
    return next((name for name in (*_TITLES, *texts) if name in texts), None)


def _is_time(name: str) -> bool:
    return name.endswith("_at") or name == "timestamp"


def _describe(name: str, value: Any) -> str:
    """Return a field as text; a single word gets the name of its field."""
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
