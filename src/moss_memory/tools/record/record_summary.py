"""Summary of a record's body for tables: title, status and the other fields."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TITLES = ("id", "name", "title", "session_id", "decision", "validation_type")
"""Fields that can be the title, in this order; otherwise it is the first field with a text."""


def table_row(item: dict[str, Any]) -> dict[str, Any]:
    """Return a record or an entity as a row of a table: title, status, and the other fields as one text."""
    body = item.get("properties", item.get("snapshot"))
    if not isinstance(body, dict):
        return item
    title_field = _title_field(body)
    parts = []
    for name, value in body.items():
        text = _text(value)
        if text and name not in (title_field, "status") and not _is_time(name):
            parts.append(text if " " in text else f"{name} {text}")  # a single word gets the name of its field
    row = {**item, "title": title_of(body), "summary": "; ".join(parts) or None}
    if "status" in body:
        row["status"] = _text(body["status"])
    if isinstance(item.get("created_at"), str):
        from datetime import datetime

        row["submitted"] = datetime.fromisoformat(item["created_at"]).astimezone().strftime("%Y-%m-%d %H:%M")
    return row


def title_of(body: dict[str, Any]) -> str | None:
    field = _title_field(body)
    return None if field is None else _text(body[field])


def _title_field(body: dict[str, Any]) -> str | None:
    texts = [name for name, value in body.items() if isinstance(value, str) and value.strip() and not _is_time(name)]
    return next((name for name in (*_TITLES, *texts) if name in texts), None)


def _is_time(name: str) -> bool:
    return name.endswith("_at") or name == "timestamp"


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
