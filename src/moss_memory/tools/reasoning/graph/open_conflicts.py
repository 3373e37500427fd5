"""The open conflicts of a workspace as part of a response."""

from __future__ import annotations

from moss_memory.registry.responses import ResponseSchema, integer, object_of, text
from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.reasoning.reasoning_sql import sql

from .graph_keys import KEY, render_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

_FIRST = ResponseSchema("FirstConflict", {"conflict_id": text("id of the conflict to resolve"), "key": KEY})
OPEN_CONFLICTS = {
    "conflicts": object_of(
        ResponseSchema(
            "OpenConflicts",
            {
                "open": integer("number of open merge conflicts"),
                "first": object_of(_FIRST, "the oldest of them; absent if the budget is tight", optional=True),
            },
        ),
        "open merge conflicts of the workspace; absent if there are none",
        optional=True,
    )
}
"""The field of a response that shows open conflicts."""


def open_conflicts(tx: ReadTransaction, workspace: str) -> dict[str, Any]:
    """Return the number of open conflicts and the oldest one as a field of a response; empty if there are none."""
    if "reasoning" in tx.config.disabled_types:
        return {}
    row = tx.row(sql["open_conflicts"], {"workspace": normalize_workspace(workspace)})
    if row is None:
        return {}
    count, conflict_id, key = row
    return {"conflicts": {"open": count, "first": {"conflict_id": conflict_id, "key": render_key(key)}}}


def count_only(conflicts: dict[str, Any]) -> dict[str, Any]:
    """Return the field without the oldest conflict, for a tight budget."""
    return {name: {"open": summary["open"]} for name, summary in conflicts.items()}
