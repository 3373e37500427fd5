"""`moss_recent`: the workspaces by last change, found without counting their content."""

from __future__ import annotations

from moss_memory.registry.arguments import Limit
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import ResponseSchema, TableColumn, integer, list_of, moment_ms, text, texts
from moss_memory.rows.paging import Page
from moss_memory.rows.workspace_names import MAX_WORKSPACES, spelled_workspaces

from .workspace_tools import CHANGES_READ, sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction


_CONTENT_CHECKS = {"artifact": sql["has_artifacts"], "reasoning": sql["has_reasoning"]}
"""Queries that check a workspace for content: artifacts expire, and branches may be empty."""

RECENT = ResponseSchema(
    "RecentWorkspace",
    {
        "workspace": text("its name, as it was written"),
        "holds": texts("the families that it holds something of"),
        "day": text("the day in UTC on which it last changed, empty where that is not known"),
        "ts_ms": moment_ms("when, where it is among the last changes", optional=True),
    },
    table=(TableColumn("workspace", least=12), TableColumn("holds"), TableColumn("day"), TableColumn("ts_ms", "when")),
)


@operation(
    idempotent=True,
    visible=False,
    answers={
        "workspaces": list_of(RECENT, "the workspaces, most recently changed first", shown="answer"),
        "total": integer("how many were found"),
    },
    example="moss recent --limit 5",
)
def moss_recent(tx: ReadTransaction, *, limit: Limit = 50) -> dict[str, Any]:
    """List the workspaces that changed last and what they hold, without counting it; at most 500."""
    page = Page(limit, 0, maximum=MAX_WORKSPACES)
    spelled = spelled_workspaces(tx)
    held = {one: families for one, (_, found) in spelled.items() if (families := _with_content(tx, one, found))}
    changed = {workspace: (seq, ts_ms) for workspace, seq, ts_ms in tx.stream(sql["recent"], {"limit": CHANGES_READ})}
    days = {workspace: _last_day(tx, workspace) for workspace in held if workspace not in changed}
    ordered = sorted(held, key=lambda one: (-changed.get(one, (0, 0))[0], -(days.get(one) or 0), one))
    return {
        "workspaces": [
            {"workspace": spelled[one][0], "holds": held[one], **_time_fields(changed.get(one), days.get(one))}
            for one in ordered[: page.limit]
        ],
        "total": len(held),
    }


def _with_content(tx: ReadTransaction, workspace: str, families: list[str]) -> list[str]:
    """Return the families of which a workspace has content."""
    checks = {family: _CONTENT_CHECKS.get(family) for family in families}
    values = {"workspace": workspace, "now": tx.now}
    return sorted([family for family, check in checks.items() if check is None or tx.value(check, values)])


def _last_day(tx: ReadTransaction, workspace: str) -> int | None:
    """Return the day of a workspace's last change; None if its content was imported without events."""
    day = tx.value(sql["last_day"], {"workspace": workspace})
    return None if day is None else int(day)


def _time_fields(changed: tuple[int, int] | None, day: int | None) -> dict[str, Any]:
    import time

    if changed is not None:
        return {"day": time.strftime("%Y-%m-%d", time.gmtime(changed[1] // 1000)), "ts_ms": changed[1]}
    return {"day": "" if day is None else time.strftime("%Y-%m-%d", time.gmtime(day * 86_400))}
