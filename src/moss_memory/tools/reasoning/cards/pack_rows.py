"""Rows of packs: cards with their links, and rows without the fields that a pack does not need."""

from __future__ import annotations

from moss_memory.registry.responses import ResponseSchema, list_of, map_of, object_of, text, texts
from moss_memory.tools.artifact.artifact_responses import ITEM
from moss_memory.tools.capsule.capsule_responses import CAPSULE
from moss_memory.tools.reasoning.graph.node_versions import stream_versions
from moss_memory.tools.reasoning.reasoning_responses import CANDIDATE, CURSOR_PAGE, ENTRY, NODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from moss_memory.registry.responses import Field
    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.tools.reasoning.branches.visible_ranges import View
    from moss_memory.tools.reasoning.cursor_pages import CursorPage, Rows


def _without_nulls(schema: ResponseSchema, name: str, always: dict[str, Field]) -> ResponseSchema:
    """Return the schema of a live row in which fields are absent instead of null; `always` are the ones it has."""
    live_schema = schema.without("deleted_at")
    fields = {key: field.or_absent() for key, field in live_schema.fields.items() if field.nullable}
    for field in fields.values():
        field.nullable = False
    return live_schema.with_fields({**fields, **always}, name)


_LINKS = map_of(texts("ids of cards"), "its links to other cards, by the name of the edge", optional=True)
_CARD = NODE.without("deleted", "last_ts_ms").with_fields(
    {
        "tags": NODE.fields["tags"].or_absent(),
        "links": _LINKS,
        "superseded_by": text("the card that replaced it", optional=True),
    },
    "PackedCard",
)
PACKED_CARDS = list_of(_CARD, "the cards with their links, last changed first", shown="answer")
PACKED_CANDIDATES = list_of(
    CANDIDATE.with_fields(
        {key: CANDIDATE.fields[key].or_absent() for key in ("type", "title", "status", "last_seq")}, "PackedCandidate"
    ),
    "the cards to continue with, best first; those in `cards` without the fields given there",
)
_ENTRY = ENTRY.without("ts_ms", "doc").with_fields(
    {"branch": text("branch on which it was written, if another", optional=True)}, "PackedEntry"
)
PACKED_LOG = object_of(
    ResponseSchema(
        "PackedEntries",
        {
            "entries": list_of(_ENTRY, "the entries, oldest first; those that wrote a card are left out"),
            "pagination": object_of(
                CURSOR_PAGE.without("cursor", name="PackedPage"), "the position of these entries", shown="page"
            ),
        },
    ),
    "the last entries, oldest first",
    shown="apart",
)
PACKED_CAPSULES = list_of(
    _without_nulls(CAPSULE, "PackedCapsule", {"capsule_text": text("the capsule itself", shown="whole")}),
    "the latest capsule of the workspace",
    optional=True,
)
PACKED_ARTIFACTS = list_of(
    _without_nulls(ITEM, "PackedArtifact", {"run_id": text("workflow run")}),
    "the last artifacts of the run",
    optional=True,
)


def pack_cards(tx: ReadTransaction, view: View, cards: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return cards with their links and the card that superseded them."""
    rows = list(cards)
    ids = [card["id"] for card in rows]
    links: dict[str, dict[str, list[str]]] = {}
    superseded: dict[str, str] = {}
    if ids:
        leaving = f"{tx.sql_in('v.from_id', 'ids')} and v.deleted = 0"
        for edge in sorted(stream_versions(tx, view, leaving, {"ids": ids}), key=lambda edge: edge.seq):
            links.setdefault(edge.from_id, {}).setdefault(edge.rel, []).append(edge.to_id)
        arriving = f"{tx.sql_in('v.to_id', 'ids')} and v.rel = 'supersedes' and v.deleted = 0"
        for edge in sorted(stream_versions(tx, view, arriving, {"ids": ids}), key=lambda edge: edge.seq):
            superseded[edge.to_id] = edge.from_id
    packed = []
    for card in rows:
        fields = {name: value for name, value in card.items() if name not in ("deleted", "last_ts_ms") and value != []}
        if card["id"] in links:
            fields["links"] = links[card["id"]]
        if card["id"] in superseded:
            fields["superseded_by"] = superseded[card["id"]]
        packed.append(fields)
    return packed


def pack_candidates(candidates: list[dict[str, Any]], cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return candidates; one that is also among the cards has only its own fields."""
    shown = {card["id"] for card in cards}
    own = ("id", "pinned", "blocked_by", "why")
    return [{name: row[name] for name in own} if row["id"] in shown else row for row in candidates]


def pack_log(page: CursorPage, rows: Rows, kept: list[Any], branch: str) -> dict[str, Any]:
    pagination = page.pagination_of(rows, kept)
    del pagination["cursor"]  # a pack takes none
    entries = []
    for entry in kept[::-1]:
        dropped = {"ts_ms", "doc"}
        if entry["branch"] == branch:
            dropped.add("branch")
        if entry.get("source_event_id", "").startswith("merge:"):
            dropped.add("source_event_id")  # no tool takes it
        entries.append({name: value for name, value in entry.items() if name not in dropped})
    return {"entries": entries, "pagination": pagination}


def without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}
