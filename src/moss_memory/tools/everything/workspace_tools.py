"""`moss_workspaces` and `moss_recent`: the workspaces by last change, with or without counts of their content."""

from __future__ import annotations

import time

from moss_memory.registry.arguments import Limit, Offset
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import (
    PAGINATION,
    ResponseSchema,
    TableColumn,
    integer,
    list_of,
    moment,
    moment_ms,
    text,
    texts,
)
from moss_memory.rows.paging import Page
from moss_memory.rows.workspace_names import MAX_WORKSPACES, latest_spelling, spelled_workspaces
from moss_memory.storage.queries import load_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

sql = load_queries(__file__)

COUNTED = {
    "capsules": ("capsule", "active capsules"),
    "artifacts": ("artifact", "active artifacts that have not expired"),
    "tasks": ("task", "plans and tasks, whatever their status"),
    "records": ("record", "records"),
    "notes": ("reasoning", "notes that a branch shows"),
}
"""The counts with their families."""

CHANGES_READ = 1000
"""The number of last changes that order workspaces exactly."""

WORKSPACE = ResponseSchema(
    "WorkspaceFigures",
    {
        "workspace": text("its name, as it was written"),
        **{name: integer(means) for name, (_, means) in COUNTED.items()},
        "updated_at": moment("when something in it last changed"),
    },
    table=(
        TableColumn("workspace", min_width=12),
        *(TableColumn(name) for name in COUNTED),
        TableColumn("updated_at", "updated", drop_rank=1),
    ),
)


@operation(
    idempotent=True,
    answers={
        "workspaces": list_of(WORKSPACE, "the workspaces, most recently changed first", shown="answer"),
        "pagination": PAGINATION,
    },
    cli=Cli(remark="commands.empty_list.name_graphs"),
    example="moss workspaces --limit 10",
    words=(
        "projects, which projects exist, list workspaces, namespaces, where is everything, overview of all "
        "projects, every project, all projects in the store, workspace names, how many projects, switch project, "
        "which workspaces, all workspaces, which projects are stored, list projects, what workspaces are there, "
        "all my projects, names of the projects, in which project, how big is each workspace, other projects"
    ),
)
def moss_workspaces(tx: ReadTransaction, *, limit: Limit = 50, offset: Offset = 0) -> dict[str, Any]:
    """List the workspaces (projects) with counts and last change, newest first; at most 500 a page."""
    page = Page(limit, offset, maximum=500)
    by_workspace = figures(tx)
    # Changes within one second have the same time: the sequence numbers of their events order them.
    last = {workspace: seq for workspace, seq, _ in tx.stream(sql["recent"], {"limit": CHANGES_READ})}
    ordered = sorted(by_workspace.items(), key=lambda pair: (-pair[1]["updated_at"], -last.get(pair[0], 0), pair[0]))
    shown = ordered[page.offset : page.end]
    return {
        "workspaces": [{"workspace": latest_spelling(tx, workspace), **figures} for workspace, figures in shown],
        "pagination": page.answer(returned=len(shown), total=len(by_workspace)),
    }


def figures(tx: ReadTransaction) -> dict[str, dict[str, int]]:
    """Return the counts of every workspace with content, by its normal form."""
    disabled = tx.config.disabled_types
    by_workspace: dict[str, dict[str, int]] = {}
    for name, (family, _) in COUNTED.items():
        if family not in disabled:
            for workspace, count, updated_at in tx.stream(sql[name], {"now": tx.now}):
                _add_workspace(by_workspace, workspace, updated_at)[name] = count
    if "reasoning" not in disabled:
        for workspace, updated_at in tx.stream(sql["graphs"]):
            _add_workspace(by_workspace, workspace, updated_at)
    return by_workspace


def _add_workspace(by_workspace: dict[str, dict[str, int]], workspace: str, updated_at: int) -> dict[str, int]:
    figures = by_workspace.setdefault(workspace, {**dict.fromkeys(COUNTED, 0), "updated_at": updated_at})
    figures["updated_at"] = max(figures["updated_at"], updated_at)
    return figures


_CONTENT_CHECKS = {"artifact": sql["has_artifacts"], "reasoning": sql["has_reasoning"]}
"""Queries that check a workspace for content: artifacts expire, and branches may be empty."""

RECENT = ResponseSchema(
    "RecentWorkspace",
    {
        "workspace": text("its name, as it was written"),
        "holds": texts("the families of its content"),
        "day": text("the day in UTC on which it last changed, empty if unknown"),
        "ts_ms": moment_ms("when, if it is among the last changes", optional=True),
    },
    table=(
        TableColumn("workspace", min_width=12),
        TableColumn("holds"),
        TableColumn("day"),
        TableColumn("ts_ms", "when"),
    ),
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
    """List the workspaces that changed last with the families of their content, without counts; at most 500."""
    page = Page(limit, 0, maximum=MAX_WORKSPACES)
    spelled = spelled_workspaces(tx)
    contents = {}
    for norm, (_, families) in spelled.items():
        values = {"workspace": norm, "now": tx.now}
        checks = {family: _CONTENT_CHECKS.get(family) for family in families}
        present = sorted([family for family, check in checks.items() if check is None or tx.value(check, values)])
        if present:
            contents[norm] = present
    changed = {workspace: (seq, ts_ms) for workspace, seq, ts_ms in tx.stream(sql["recent"], {"limit": CHANGES_READ})}
    # No day if the content of a workspace was imported without events.
    days = {norm: tx.value(sql["last_day"], {"workspace": norm}) for norm in contents if norm not in changed}
    ordered = sorted(contents, key=lambda norm: (-changed.get(norm, (0, 0))[0], -int(days.get(norm) or 0), norm))
    workspaces = []
    for norm in ordered[: page.limit]:
        item = {"workspace": spelled[norm][0], "holds": contents[norm], "day": ""}
        if norm in changed:
            ts_ms = changed[norm][1]
            item |= {"day": time.strftime("%Y-%m-%d", time.gmtime(ts_ms // 1000)), "ts_ms": ts_ms}
        elif days[norm] is not None:
            item["day"] = time.strftime("%Y-%m-%d", time.gmtime(int(days[norm]) * 86_400))
        workspaces.append(item)
    return {"workspaces": workspaces, "total": len(contents)}
