"""Records, entities, events and capabilities for people: the title first, then the fields."""

from __future__ import annotations

import json

from moss_memory.registry.responses import TableColumn

from .cell import Cell, line_of, printable, wrap_text
from .columns import align_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.store import Store

_FIELDS = [
    TableColumn("field", min_width=8),
    TableColumn("type"),
    TableColumn("needed"),
    TableColumn("more", min_width=16, max_width=0),
]
_SOURCES = [
    TableColumn("field", min_width=8),
    TableColumn("value", min_width=16),
    TableColumn("observed", drop_rank=4),
    TableColumn("agent", min_width=6, drop_rank=3),
    TableColumn("sources", min_width=10, drop_rank=5),
]


def with_titles(store: Store, _: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """Return a timeline in which each event has the title of its record."""
    ids = list(dict.fromkeys(event["source_record_id"] for event in result["events"]))
    if not ids:
        return result
    titles: dict[str, Any] = {}
    offset: int | None = 0
    while offset is not None:
        page = store.call("retrieve_records", {"ids": ids, "limit": len(ids), "offset": offset})
        titles.update((record["id"], record["properties"]) for record in page["records"])
        offset = page["pagination"].get("next_offset")
    from moss_memory.tools.record.record_summary import title_of

    events = [{**event, "title": title_of(titles.get(event["source_record_id"], {}))} for event in result["events"]]
    return {**result, "events": events}


def capabilities_table(capabilities: list[dict[str, Any]], width: int) -> str:
    """Return each capability with its fields: required, allowed values."""
    blocks = []
    for capability in capabilities:
        head = (
            f"{capability['capability_id']} ({capability['entity_type']}), known by {', '.join(capability['identity'])}"
        )
        rows = [
            [Cell(printable(name)), Cell(field["type"]), Cell("yes" if field.get("required") else "-"),
             Cell(printable(_details(field)))]
            for name, field in capability["fields"].items()
        ]  # fmt: skip
        blocks.append("\n".join([*wrap_text(printable(head), width, indent=2), align_rows(_FIELDS, rows, width=width)]))
    return "\n\n".join(blocks)


def _details(field: dict[str, Any]) -> str:
    parts = [", ".join(field["enum"])] if "enum" in field else []
    return "; ".join([*parts, *(["a set"] if field.get("set") else [])]) or "-"


def sources_table(entity: dict[str, Any], width: int) -> str:
    """Return the source of each field of an entity."""
    rows = []
    for name, source in entity["provenance"].items():
        value = entity.get("snapshot", {}).get(name)
        value_text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        refs = ", ".join(source["source_refs"])
        texts = (name, value_text, source["observed_at"], source["agent_id"] or "-", refs or "-")
        rows.append([Cell(line_of(part)) for part in texts])
    heading = printable(f"{entity['entity_type']} {entity['entity_id']}:")
    return f"{heading}\n{align_rows(_SOURCES, rows, width=width)}"
