"""The frontier: ranked open cards with reasons, and pins."""

from __future__ import annotations

from itertools import islice

from moss_memory.tools.reasoning.graph.node_queries import NodeFilters, newest_first
from moss_memory.tools.reasoning.graph.node_versions import Version, stream_versions
from moss_memory.tools.reasoning.reasoning_sql import sql
from moss_memory.tools.task.model.task_status import shorten_line

from .card_model import CARD_TYPES, OPEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.tools.reasoning.branches.visible_ranges import View

RANKED_TYPES = ("question", "hypothesis", "test")
_BATCH = 20
_TITLE_CHARS = 80

SETTLING_RELATIONS = ("supports", "settles", "answers", "resolves", "decides", "rejects")
"""The relations by which a decision settles a card."""

_INVALID_STATUSES = ("rejected", "withdrawn", "superseded")
"""The statuses of a decision that is no longer valid."""


def is_open_card(card: Version) -> bool:
    return card.status in (None, OPEN)


def find_cards(tx: ReadTransaction, view: View, ids: Iterable[str]) -> list[Version]:
    """Return the live cards with these ids, in no order."""
    kinds = ", ".join(f"'{kind}'" for kind in CARD_TYPES)
    # The concatenation keeps the planner from the index by type: the ids are more selective.
    chosen = f"v.deleted = 0 and v.type || '' in ({kinds}) and {tx.sql_in('v.key', 'ids')}"
    sorted_ids = sorted(set(ids))
    return list(stream_versions(tx, view, chosen, {"ids": sorted_ids})) if sorted_ids else []


def find_links_to(tx: ReadTransaction, view: View, ids: Iterable[str], condition: str) -> list[tuple[str, str]]:
    """Return the ids at both ends of the live edges to some cards that meet a condition."""
    sorted_ids = sorted(set(ids))
    if not sorted_ids:
        return []
    chosen = f"{tx.sql_in('v.to_id', 'ids')} and {condition} and v.deleted = 0"
    return [(str(edge.from_id), str(edge.to_id)) for edge in stream_versions(tx, view, chosen, {"ids": sorted_ids})]


def find_settled(tx: ReadTransaction, view: View, ids: Iterable[str]) -> set[str]:
    """Return the ids of the cards that a valid decision settles."""
    rels = ", ".join(f"'{rel}'" for rel in SETTLING_RELATIONS)
    links = find_links_to(tx, view, ids, f"v.rel in ({rels})")
    cards = find_cards(tx, view, (source for source, _ in links))
    decided = {card.key for card in cards if card.type == "decision" and card.status not in _INVALID_STATUSES}
    return {card for source, card in links if source in decided}


def find_pins(tx: ReadTransaction, view: View) -> set[str]:
    """Return the ids of the pinned cards of a branch, including pins from the snapshot of its base."""
    states: dict[str, bool] = {}
    for branch_id, upto in view.sources:
        for card_id, pinned in tx.rows(sql["pins"], {"branch_id": branch_id, "doc": view.doc, "upto": upto}):
            states.setdefault(card_id, bool(pinned))
    return {card_id for card_id, pinned in states.items() if pinned}


def find_blockers(tx: ReadTransaction, view: View, ids: Iterable[str]) -> dict[str, list[str]]:
    """Return the ids of the open cards that block each card."""
    links = find_links_to(tx, view, ids, "v.rel = 'blocks'")
    still_open = {card.key for card in find_cards(tx, view, (source for source, _ in links)) if is_open_card(card)}
    still_open -= find_settled(tx, view, still_open)
    blocked: dict[str, list[str]] = {}
    for blocker, card in sorted(links):
        if blocker in still_open:
            blocked.setdefault(card, []).append(blocker)
    return blocked


def find_candidates(tx: ReadTransaction, view: View, *, limit: int) -> list[dict[str, Any]]:
    """Return the best cards to continue with: pinned, then unblocked, then by type, then last changed."""
    pinned = find_pins(tx, view)
    cards = [card for card in find_cards(tx, view, pinned) if is_open_card(card) and card.type in RANKED_TYPES]
    cards.sort(key=lambda card: (RANKED_TYPES.index(card.type), -card.seq))
    free, blocked = _to_candidates(tx, view, cards, pinned=True)
    candidates = free + blocked
    if len(candidates) < limit:
        candidates += _find_unpinned(tx, view, pinned, limit - len(candidates))
    return candidates[:limit]


def _find_unpinned(tx: ReadTransaction, view: View, pinned: set[str], limit: int) -> list[dict[str, Any]]:
    """Return unpinned open cards by type, newest first; read only until enough unblocked ones are found."""
    free: list[dict[str, Any]] = []
    blocked: list[dict[str, Any]] = []
    for kind in RANKED_TYPES:
        cards = newest_first(tx, view, NodeFilters(types=kind, open_only=True))
        unpinned = (card for card in cards if card.key not in pinned)
        while batch := list(islice(unpinned, max(limit, _BATCH))):
            more_free, more_blocked = _to_candidates(tx, view, batch, pinned=False)
            free += more_free
            blocked += more_blocked
            if len(free) >= limit:
                return free
    return [*free, *blocked]


def _to_candidates(
    tx: ReadTransaction, view: View, cards: list[Version], *, pinned: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the unblocked and the blocked cards of some open ones as fields, without settled cards."""
    settled = find_settled(tx, view, [card.key for card in cards])
    cards = [card for card in cards if card.key not in settled]
    blockers = find_blockers(tx, view, [card.key for card in cards])
    candidates = [_candidate(card, pinned=pinned, blocked_by=blockers.get(card.key, [])) for card in cards]
    return [row for row in candidates if not row["blocked_by"]], [row for row in candidates if row["blocked_by"]]


def _candidate(card: Version, *, pinned: bool, blocked_by: list[str]) -> dict[str, Any]:
    state = f"blocked by {', '.join(blocked_by[:3])}" if blocked_by else f"open {card.type}"
    return {
        "id": card.key,
        "type": card.type,
        "title": card.title or shorten_line(str(card.text or card.key), _TITLE_CHARS),
        "status": card.status or OPEN,
        "last_seq": card.seq,
        "pinned": pinned,
        "blocked_by": blocked_by,
        "why": f"pinned, {state}" if pinned else state,
    }
