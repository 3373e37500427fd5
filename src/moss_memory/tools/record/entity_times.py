"""The times at which entities were last observed, for lists on pages."""

from __future__ import annotations

from moss_memory.rows.names import normalize_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction


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
