"""The times at which entities were last observed, and the types of events, for lists on pages."""

from __future__ import annotations

from moss_memory.rows.names import normalize_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction

_MAX_TYPES = 12


def observed_times(tx: ReadTransaction, *, entities: list[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Return the time in seconds of the last observation of entities, by workspace and id."""
    found = {}
    for workspace, entity_id in entities:
        at = tx.value(
            "select last_observed_us from entities where workspace_norm = :workspace and entity_id = :entity_id",
            {"workspace": normalize_workspace(workspace), "entity_id": entity_id},
        )
        if at is not None:
            found[workspace, entity_id] = at / 1_000_000
    return found


def event_types(tx: ReadTransaction, *, workspace: str | None) -> list[tuple[str, int]]:
    """Return the most frequent types of timeline events with their counts, in the store or in a workspace."""
    condition = "where workspace_norm = :workspace" if workspace else ""
    values = {"workspace": normalize_workspace(workspace) if workspace else "", "most": _MAX_TYPES}
    rows = tx.rows(
        f"select event_type, count(*) from timeline_events {condition} group by event_type order by 2 desc, 1"
        " limit :most",
        values,
    )
    return [(name, count) for name, count in rows]
