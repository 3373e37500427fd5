"""Below a list: the workspaces that have something, and those that have only a graph."""

from __future__ import annotations

from moss_memory.cli.render.output import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.cli.args.command import Command
    from moss_memory.store import Store

_SHOWN = 5


def suggest_workspaces(store: Store, command: Command, arguments: dict[str, Any], result: dict[str, Any]) -> None:
    """Name the workspaces that have something if a list without other filters is empty, the most similar one first."""
    if result.get("items") or result.get("item") or set(arguments) - {"workspace", "limit"}:
        return
    counted = f"{command.operation.name.partition('_')[0]}s"
    found = [one for one in store.call("moss_workspaces", {"limit": 100})["workspaces"] if one[counted]]
    if not found:
        return
    import difflib

    workspace = arguments.get("workspace") or store.config.workspace or "default"
    names = [str(one["workspace"]) for one in found]
    alike = difflib.get_close_matches(workspace, names, n=1)
    if alike:
        say(f"moss: did you mean the workspace {alike[0]}?")
        return
    some = ", ".join(f"{one['workspace']} ({one[counted]})" for one in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    say(f"moss: workspace {workspace} has no {counted}. Others have: {some}{more}; choose one with -w")


def name_graphs(_: Store, __: Command, ___: dict[str, Any], result: dict[str, Any]) -> None:
    """Name the listed workspaces whose counts are all zero: they have only a graph, which has no column."""
    counts = ("capsules", "artifacts", "tasks", "records", "notes")
    names = [str(one["workspace"]) for one in result["workspaces"] if not any(one[name] for name in counts)]
    if names:
        some = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
        say(f"moss: only a graph is in: {some}; show it with moss graph query -w NAME")
