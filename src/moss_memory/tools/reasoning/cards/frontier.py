"""The frontier: ranked open cards with reasons, and pins."""

from __future__ import annotations

from moss_memory.tools.reasoning.graph.graph_tools import NodeFilters, newest_first
from moss_memory.tools.reasoning.graph.node_versions import Version, versions
from moss_memory.tools.reasoning.reasoning_sql import sql
from moss_memory.tools.task.model.task_status import brief

from .card_model import CARD_TYPES, OPEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.tools.reasoning.branches.visible_ranges import View

RANKED_TYPES = ("question", "hypothesis", "test")
_LAST = 2**63 - 1
_BATCH = 20
_TITLE_CHARS = 80

SETTLING_RELATIONS = ("supports", "settles", "answers", "resolves", "decides", "rejects")
"""The relations by which a decision settles a card."""

_INVALID_STATUSES = ("rejected", "withdrawn", "superseded")
"""The statuses of a decision that is no longer valid."""


def is_open(card: Version) -> bool:
    """Return true if the status of the card is open or absent."""
    return card.status in (None, OPEN)


def find_settled(tx: ReadTransaction, view: View, doc: str, ids: Iterable[str]) -> set[str]:
    """Return the ids of the cards that a valid decision settles."""
    wanted = list(ids)
    if not wanted:
        return set()
    rels = ", ".join(f"'{rel}'" for rel in SETTLING_RELATIONS)
    chosen = f"{tx.sql_in('v.to_id', 'ids')} and v.rel in ({rels}) and v.deleted = 0"
    links = [(str(link.from_id), str(link.to_id)) for link in versions(tx, view, doc, chosen, {"ids": wanted})]
    cards = find_cards(tx, view, doc, ids=sorted({source for source, _ in links}))
    decided = {card.key for card in cards if card.type == "decision" and card.status not in _INVALID_STATUSES}
    return {card for source, card in links if source in decided}


def find_pins(tx: ReadTransaction, view: View, doc: str) -> set[str]:
    """Return the ids of the pinned cards of a branch, including pins from the snapshot of its base."""
    states: dict[str, bool] = {}
    for branch_id, upto in view.sources():
        for card_id, pinned in tx.rows(sql["pins"], {"branch_id": branch_id, "doc": doc, "upto": upto}):
            states.setdefault(card_id, bool(pinned))
    return {card_id for card_id, pinned in states.items() if pinned}


def find_blockers(tx: ReadTransaction, view: View, doc: str, ids: Iterable[str]) -> dict[str, list[str]]:
    """Return the open cards that block each card."""
    wanted_ids = list(ids)
    if not wanted_ids:
        return {}
    chosen = f"{tx.sql_in('v.to_id', 'ids')} and v.rel = 'blocks' and v.deleted = 0"
    edges = versions(tx, view, doc, chosen, {"ids": wanted_ids})
    blocked: dict[str, list[str]] = {}
    for link in edges:
        blocked.setdefault(str(link.to_id), []).append(str(link.from_id))
    if not blocked:
        return {}
    wanted = {one for blockers in blocked.values() for one in blockers}
    still_open = {
        card.key
        for card in versions(
            tx, view, doc, _live_cards(tx.sql_in("v.key", "ids")),
            {"ids": sorted(wanted)},
        )
        if is_open(card)
    }  # fmt: skip
    still_open -= find_settled(tx, view, doc, sorted(still_open))
    return {card: sorted(one for one in blockers if one in still_open) for card, blockers in blocked.items()}


def find_candidates(tx: ReadTransaction, view: View, doc: str, *, limit: int) -> list[dict[str, Any]]:
    """Return the best cards to continue with: pinned, then unblocked, then by type, then last changed."""
    pinned = find_pins(tx, view, doc)
    first = [
        card for card in find_cards(tx, view, doc, ids=sorted(pinned)) if is_open(card) and card.type in RANKED_TYPES
    ]
    done = find_settled(tx, view, doc, [card.key for card in first])
    first = [card for card in first if card.key not in done]
    blocked = find_blockers(tx, view, doc, [card.key for card in first])
    first.sort(key=lambda card: (bool(blocked.get(card.key)), RANKED_TYPES.index(card.type), -card.seq))
    found = [_candidate(card, pinned=True, blocked_by=blocked.get(card.key, [])) for card in first]
    if len(found) < limit:
        found += _find_unpinned(tx, view, doc, pinned, limit - len(found))
    return found[:limit]


def _find_unpinned(tx: ReadTransaction, view: View, doc: str, pinned: set[str], limit: int) -> list[dict[str, Any]]:
    """Return unpinned open cards by type, newest first; read only until enough unblocked ones are found."""
    found: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for kind in RANKED_TYPES:
        batch: list[Version] = []
        filters = NodeFilters(types=kind, open_only=True)
        for card in newest_first(tx, view, doc, filters, before=_LAST):
            if card.key not in pinned:
                batch.append(card)
            if len(batch) == max(limit, _BATCH):
                _partition(tx, view, doc, batch, found, waiting)
                batch = []
            if len(found) >= limit:
                return found
        _partition(tx, view, doc, batch, found, waiting)
    return [*found, *waiting][:limit]


def _partition(
    tx: ReadTransaction, view: View, doc: str, batch: list[Version], found: list[Any], waiting: list[Any]
) -> None:
    done = find_settled(tx, view, doc, [card.key for card in batch])
    batch = [card for card in batch if card.key not in done]
    blocked = find_blockers(tx, view, doc, [card.key for card in batch]) if batch else {}
    for card in batch:
        blocked_by = blocked.get(card.key, [])
        (waiting if blocked_by else found).append(_candidate(card, pinned=False, blocked_by=blocked_by))


def _candidate(card: Version, *, pinned: bool, blocked_by: list[str]) -> dict[str, Any]:
    state = f"blocked by {', '.join(blocked_by[:3])}" if blocked_by else f"open {card.type}"
    return {
        "id": card.key,
        "type": card.type,
        "title": card.title or brief(str(card.text or card.key), _TITLE_CHARS),
        "status": card.status or OPEN,
        "last_seq": card.seq,
        "pinned": pinned,
        "blocked_by": blocked_by,
        "why": f"pinned, {state}" if pinned else state,
    }


def find_cards(tx: ReadTransaction, view: View, doc: str, *, ids: list[str]) -> list[Version]:
    """Return the live cards with these ids, in no order."""
    if not ids:
        return []
    return list(versions(tx, view, doc, _live_cards(tx.sql_in("v.key", "ids")), {"ids": ids}))


def _live_cards(condition: str) -> str:
    kinds = ", ".join(f"'{kind}'" for kind in CARD_TYPES)
    # The concatenation keeps the planner from the index by type: the ids are more selective.
    return f"v.deleted = 0 and v.type || '' in ({kinds}) and {condition}"
