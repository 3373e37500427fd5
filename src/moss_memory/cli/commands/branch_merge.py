"""`moss branch merge`: merges notes, trace and graph of a branch with one command."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request
from moss_memory.store import Store

from .command_request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PARTS = (("notes", "branchmind_merge"), ("trace", "branchmind_merge"), ("graph", "branchmind_graph_merge"))


def merge_branch(
    home: str | None, *, into: str | None = None, dry_run: bool = False, **arguments: Any
) -> dict[str, Any]:
    """Merge everything of a branch into its base; a second run after an interruption adds nothing twice."""
    with Store(load_settings(home), actor="cli") as store:
        base = into or _base_of(store, arguments)
        place = {**arguments, "into": base, "dry_run": dry_run}
        merged = {doc: _merge_document(store, tool, {**place, "doc": doc}) for doc, tool in _PARTS}
    counts = {doc: found["merged"] for doc, found in merged.items()}
    conflicts = merged["graph"]["conflict_ids"]
    return {"from": arguments["from"], "into": base, **counts, "conflicts": conflicts, "dry_run": dry_run}


def _merge_document(store: Store, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Merge one document, page by page."""
    merged, conflicts = 0, list[str]()
    cursor: dict[str, int] = {}
    while True:
        found = store.call(tool, {**arguments, **cursor})
        merged += found["merged"]
        conflicts += found.get("conflict_ids", ())
        page = found["pagination"]
        if not page["has_more"]:
            return {"merged": merged, "conflict_ids": list(dict.fromkeys(conflicts))}
        cursor = {"cursor": page["next_cursor"]}


def _base_of(store: Store, arguments: dict[str, Any]) -> str:
    """Return the base of a branch."""
    where = {name: value for name, value in arguments.items() if name == "workspace"}
    branches = store.call("branchmind_branch_list", {**where, "max_chars": 0})["branches"]
    found = next((one for one in branches if one["name"] == arguments["from"]), None)
    if found is None:
        raise MossError("NOT_FOUND", f"there is no branch {arguments['from'][:100]!r}; `moss branch list` shows them")
    if found["base_branch"] is None:
        raise invalid_request(f"branch {arguments['from']!r} was made from no other; say `into` which it is to go")
    base: str = found["base_branch"]
    return base
