"""Below an empty list: the workspaces that have something."""

from __future__ import annotations

from moss_memory.cli.render.output import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.store import Store

_LISTS = {"capsule_list": "capsules", "artifact_list": "artifacts", "capsule_latest": "capsules"}
"""Tools that list one workspace, and the count of `moss_workspaces` for it."""
_SHOWN = 5


def tell_where_things_are(store: Store, tool: str, arguments: dict[str, Any], result: dict[str, Any]) -> None:
    """Name the workspaces that have something if a list without other filters is empty, the most similar one first."""
    counted = _LISTS.get(tool)
    if counted is None or result.get("items") or result.get("item") or set(arguments) - {"workspace", "limit"}:
        return
    found = [one for one in store.call("moss_workspaces", {"limit": 100})["workspaces"] if one[counted]]
    if not found:
        return
    import difflib

    asked = arguments.get("workspace") or store.config.workspace or "default"
    names = [str(one["workspace"]) for one in found]
    alike = difflib.get_close_matches(asked, names, n=1)
    if alike:
        say(f"moss: did you mean the workspace {alike[0]}?")
        return
    some = ", ".join(f"{one['workspace']} ({one[counted]})" for one in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    say(f"moss: workspace {asked} has no {counted}. Others have: {some}{more}; choose one with -w")
