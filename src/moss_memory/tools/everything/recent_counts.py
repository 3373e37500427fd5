"""The workspaces that changed last, with bounded counts, by one statement over indexes."""

from __future__ import annotations

from moss_memory.storage.queries import load_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction

_MOST = 5
_EVENTS = 1000
COUNTED = 99
"""The maximum that is counted of each kind."""
_FAMILIES = {"capsule": "capsule", "open task": "task", "record": "record"}
sql = load_queries(__file__)


def recent_counts(tx: ReadTransaction) -> list[tuple[str, dict[str, int]]]:
    """Return at most five workspaces by last change, each with its counts, without disabled families."""
    disabled = tx.config.disabled_types
    workspaces = []
    for workspace, *counts in tx.rows(sql["recent_counts"], {"events": _EVENTS, "most": _MOST, "counted": COUNTED + 1}):
        by_kind = zip(_FAMILIES.items(), counts, strict=True)
        shown = {kind: count for (kind, family), count in by_kind if family not in disabled}
        if any(shown.values()) or "reasoning" not in disabled:
            workspaces.append((str(workspace), shown))
    return workspaces
