"""Rows of packs: cards with their links, and rows without the fields that a pack does not need."""

from __future__ import annotations

from moss_memory.registry.responses import ResponseSchema, list_of, map_of, object_of, text, texts
from moss_memory.tools.artifact.artifact_responses import ITEM
from moss_memory.tools.capsule.capsule_responses import CAPSULE
from moss_memory.tools.reasoning.graph.node_versions import versions
from moss_memory.tools.reasoning.notes.note_tools import next_cursor
from moss_memory.tools.reasoning.reasoning_responses import CANDIDATE, CURSOR_PAGE, ENTRY, NODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from moss_memory.registry.responses import Field
    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.tools.reasoning.branches.visible_ranges import View
    from moss_memory.tools.reasoning.notes.note_tools import Rows
    from moss_memory.tools.reasoning.reasoning_arguments import CursorPage


def _without_nulls(shape: ResponseSchema, name: str, always: dict[str, Field]) -> ResponseSchema:
    """Return the shape of a live row in which fields are absent instead of null; `always` are the ones it has."""
    kept = shape.without("deleted_at")
    fields = {key: field.or_absent() for key, field in kept.fields.items() if field.nullable}
    for field in fields.values():
        field.nullable = False
    return kept.with_fields({**fields, **always}, name)


_LINKS = map_of(texts("ids of cards"), "its links to other cards, by the name of the edge", optional=True)
_CARD = NODE.without("deleted", "last_ts_ms").with_fields(
    {
        "tags": NODE.fields["tags"].or_absent(),
        "links": _LINKS,
        "superseded_by": text("the card that took its place", optional=True),
    },
    "PackedCard",
)
PACKED_CARDS = list_of(_CARD, "the cards with their links, last changed first", shown="answer")
PACKED_CANDIDATES = list_of(
    CANDIDATE.with_fields(
        {key: CANDIDATE.fields[key].or_absent() for key in ("type", "title", "status", "last_seq")}, "PackedCandidate"
    ),
    "the cards to go on with, best first; those in `cards` without the fields that stand there",
)
_ENTRY = ENTRY.without("ts_ms", "doc").with_fields(
    {"branch": text("branch on which it was written, if that is another", optional=True)}, "PackedEntry"
)
PACKED_LOG = object_of(
    ResponseSchema(
        "PackedEntries",
        {
            "entries": list_of(_ENTRY, "the entries, oldest first; those that wrote a card are left out"),
            "pagination": object_of(CURSOR_PAGE.without("cursor", name="PackedPage"), "where they lie", shown="page"),
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


def packed_cards(tx: ReadTransaction, view: View, doc: str, cards: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return cards with their links and the card that superseded them."""
    rows = list(cards)
    ids = [card["id"] for card in rows]
    links: dict[str, dict[str, list[str]]] = {}
    superseded: dict[str, str] = {}
    if ids:
        leaving = f"{tx.sql_in('v.from_id', 'ids')} and v.deleted = 0"
        for edge in sorted(versions(tx, view, doc, leaving, {"ids": ids}), key=lambda edge: edge.seq):
            links.setdefault(edge.from_id, {}).setdefault(edge.rel, []).append(edge.to_id)
        arriving = f"{tx.sql_in('v.to_id', 'ids')} and v.rel = 'supersedes' and v.deleted = 0"
        for edge in sorted(versions(tx, view, doc, arriving, {"ids": ids}), key=lambda edge: edge.seq):
            superseded[edge.to_id] = edge.from_id
    return [_packed_card(card, links.get(card["id"]), superseded.get(card["id"])) for card in rows]


def _packed_card(card: dict[str, Any], links: dict[str, list[str]] | None, superseded_by: str | None) -> dict[str, Any]:
    kept = {name: value for name, value in card.items() if name not in ("deleted", "last_ts_ms") and value != []}
    more: dict[str, Any] = {} if links is None else {"links": links}
    return {**kept, **more, **({} if superseded_by is None else {"superseded_by": superseded_by})}


def packed_candidates(candidates: list[dict[str, Any]], cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return candidates, those that are also among the cards without the fields that the card has."""
    shown = {card["id"] for card in cards}
    own = ("id", "pinned", "blocked_by", "why")
    return [
        {name: one[name] for name in own} if one["id"] in shown else one for one in candidates
    ]  # fmt: skip


def packed_log(page: CursorPage, rows: Rows, kept: list[Any], branch: str) -> dict[str, Any]:
    """Return the kept entries, oldest first, with the pagination."""
    pagination = page.answer(len(kept), next_cursor(rows, kept))
    del pagination["cursor"]  # a pack takes none
    return {"entries": [_packed_entry(entry, branch) for entry in kept[::-1]], "pagination": pagination}


def _packed_entry(entry: dict[str, Any], branch: str) -> dict[str, Any]:
    dropped = {"ts_ms", "doc"}
    if entry["branch"] == branch:
        dropped.add("branch")
    if entry.get("source_event_id", "").startswith("merge:"):
        dropped.add("source_event_id")  # no tool takes it
    return {name: value for name, value in entry.items() if name not in dropped}


def without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a row that have a value."""
    return {name: value for name, value in row.items() if value is not None}
