"""`moss_recent`: which workspaces there are, the last changed first, found without counting what is in them."""

from __future__ import annotations

from moss_memory.registry.arguments import Limit
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import Column, Shape, integer, list_of, moment_ms, text, texts
from moss_memory.rows.values import Page

from .workspace_tools import spelled, sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

_CHANGES = 1000
"""So many of the last changes tell which workspace changed last; those before are told apart by their day."""

_TABLES = {
    "capsule": "capsules where deleted_at is null",
    "artifact": "artifacts where deleted_at is null",
    "reasoning": "branches where true",
    "task": "tasks where true",
    "record": "records where true",
}
"""Where the workspaces of a family are found, each from an index that begins with them."""

_REALLY = {"artifact": sql["has_artifacts"], "reasoning": sql["has_reasoning"]}
"""What tells whether a workspace really holds something: artifacts expire, and branches may be empty."""

_MOST = 500
"""So many workspaces of a family are looked up, beside those that changed last."""

RECENT = Shape(
    "RecentWorkspace",
    {
        "workspace": text("its name, as it was written"),
        "holds": texts("the families that it holds something of"),
        "day": text("the day in UTC on which it last changed, empty where that is not known"),
        "ts_ms": moment_ms("when, where it is among the last changes", optional=True),
    },
    table=(Column("workspace", least=12), Column("holds"), Column("day"), Column("ts_ms", "when")),
)


@operation(
    idempotent=True,
    listed=False,
    answers={
        "workspaces": list_of(RECENT, "the workspaces, most recently changed first", shown="answer"),
        "total": integer("how many were found"),
    },
    example="moss recent --limit 5",
)
def moss_recent(tx: ReadTransaction, *, limit: Limit = 50) -> dict[str, Any]:
    """List the workspaces that changed last and what they hold, without counting it; at most 500."""
    page = Page(limit, 0, maximum=_MOST)
    held = _held(tx)
    changed = {workspace: (seq, ts_ms) for workspace, seq, ts_ms in tx.stream(sql["recent"], {"limit": _CHANGES})}
    days = {workspace: _day(tx, workspace) for workspace in held if workspace not in changed}
    ordered = sorted(held, key=lambda one: (-changed.get(one, (0, 0))[0], -(days.get(one) or 0), one))
    return {
        "workspaces": [
            {"workspace": spelled(tx, one), "holds": held[one], **_when(changed.get(one), days.get(one))}
            for one in ordered[: page.limit]
        ],
        "total": len(held),
    }


def _held(tx: ReadTransaction) -> dict[str, list[str]]:
    """What each workspace holds, by its normal form; none that holds nothing."""
    found: dict[str, list[str]] = {}
    for family in _TABLES.keys() - set(tx.config.disabled_types):
        names = [row[0] for row in tx.stream(sql["names"].filled(table=_TABLES[family]), {"limit": _MOST})]
        for workspace in names:
            really = _REALLY.get(family)
            if really is None or tx.value(really, {"workspace": workspace, "now": tx.now}):
                found.setdefault(workspace, []).append(family)
    return {workspace: sorted(families) for workspace, families in found.items()}


def _day(tx: ReadTransaction, workspace: str) -> int | None:
    """The day on which a workspace last changed; what came from elsewhere may have left no change behind."""
    day = tx.value(sql["last_day"], {"workspace": workspace})
    return None if day is None else int(day)


def _when(changed: tuple[int, int] | None, day: int | None) -> dict[str, Any]:
    import time

    if changed is not None:
        return {"day": time.strftime("%Y-%m-%d", time.gmtime(changed[1] // 1000)), "ts_ms": changed[1]}
    return {"day": "" if day is None else time.strftime("%Y-%m-%d", time.gmtime(day * 86_400))}
