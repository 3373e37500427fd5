"""Hints below a list: the workspaces with rows of its type, and those with only a graph."""

from __future__ import annotations

from moss_memory.cli.render.output import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.cli.args.command import Command
    from moss_memory.store import Store

_SHOWN = 5


def suggest_workspaces(store: Store, command: Command, arguments: dict[str, Any], result: dict[str, Any]) -> None:
    """If a list without other filters is empty, name the similar workspace, else up to five with rows of its type."""
    if result.get("items") or result.get("item") or set(arguments) - {"workspace", "limit"}:
        return
    counted = f"{command.operation.name.partition('_')[0]}s"
    rows = [row for row in store.call("moss_workspaces", {"limit": 100})["workspaces"] if row[counted]]
    if not rows:
        return
    import difflib

    workspace = arguments.get("workspace") or store.config.workspace or "default"
    names = [str(row["workspace"]) for row in rows]
    alike = difflib.get_close_matches(workspace, names, n=1)
    if alike:
        say(f"moss: did you mean the workspace {alike[0]}?")
        return
    listed = ", ".join(f"{row['workspace']} ({row[counted]})" for row in rows[:_SHOWN])
    remainder = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    say(f"moss: workspace {workspace} has no {counted}. Others have: {listed}{remainder}; choose one with -w")


def name_graphs(_: Store, __: Command, ___: dict[str, Any], result: dict[str, Any]) -> None:
    """Name the listed workspaces whose counts are all zero: they have only a graph, which has no column."""
    counts = ("capsules", "artifacts", "tasks", "records", "notes")
    names = [str(row["workspace"]) for row in result["workspaces"] if not any(row[name] for name in counts)]
    if names:
        listed = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
        say(f"moss: only a graph is in: {listed}; show it with moss graph query -w NAME")
