"""Advice for a call without a workspace, or in one that does not exist."""

from __future__ import annotations

from moss_memory.code_state.work_tree import repository_name
from moss_memory.errors import MossError, next_call
from moss_memory.registry import catalog
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.workspace_names import all_workspaces, latest_spelling, similar_workspaces, workspace_exists

from .workspace_tools import moss_recent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.operation import Operation
    from moss_memory.storage.engine import ReadTransaction

_MOST_WORKSPACES = 10


def suggest_for_missing(tx: ReadTransaction, *, tool: str, arguments: dict[str, Any], error: MossError) -> None:
    """Add to the error of a call without a workspace the existing ones, and the call with the only possible one."""
    names = [item["workspace"] for item in moss_recent.body(tx, limit=_MOST_WORKSPACES)["workspaces"]]
    repo = repository_name()
    error.details = {**(error.details or {}), "workspaces": names, **({"here": repo} if repo else {})}
    certain = next((name for name in names if _is_same(name, repo)), names[0] if len(names) == 1 else None)
    if certain is None:
        hint = f"; there are {', '.join(names)}" if names else ""
        error.recovery = _list_call()
    else:
        hint = f"; {certain!r} is this repository's" if _is_same(certain, repo) else f"; {certain!r} is the only one"
        error.recovery = next_call(tool, {**arguments, "workspace": certain}, "is the same call in that workspace")
    error.message += hint


def suggest_for_unknown(
    tx: ReadTransaction, *, operation: Operation, arguments: dict[str, Any], values: dict[str, Any], error: MossError
) -> None:
    """Replace the advice of an error if the call names a workspace that does not exist: read the nearest, or list.

    An error about something else keeps its advice, and so does one in an empty store, where no name can be mistaken.
    """
    workspace = values["workspace"]
    norm = normalize_workspace(workspace)
    if (
        not _is_about_content(error, operation.name)
        or "renamed_to" in (error.details or {})
        or _is_same(workspace, tx.config.workspace)
        or workspace_exists(tx, norm)
    ):
        return
    workspaces = all_workspaces(tx)
    if not workspaces:
        return
    near = [latest_spelling(tx, candidate) for candidate in similar_workspaces(norm, workspaces)]
    details = error.details or {}
    error.message += f"; there is no workspace {workspace[:100]!r}" + (f", the nearest is {near[0]!r}" if near else "")
    rows = [row for row in details.get("elsewhere", ()) if row["workspace"] in near]
    if rows:
        error.details = {**details, "nearest": [f"{row['workspace']}/{row['name']}" for row in rows]}
        if len(details["elsewhere"]) > 1:
            family = operation.name.partition("_")[0]
            error.recovery = next_call(f"{family}_fetch", rows[0], "loads the one in the nearest workspace")
    elif not details.get("elsewhere") and not details.get("nearest"):
        error.details = {**details, "nearest": near}
        error.recovery = _read_call(operation, arguments, values, error, near[0]) if near else _list_call()


def suggest_for_empty(tx: ReadTransaction, *, values: dict[str, Any], result: dict[str, Any]) -> None:
    """Add the nearest workspaces to an empty list as a `hint` if its workspace does not exist and the budget allows."""
    workspace = values["workspace"]
    norm = normalize_workspace(workspace)
    if _is_same(workspace, tx.config.workspace) or workspace_exists(tx, norm):
        return
    near = [repr(latest_spelling(tx, candidate)) for candidate in similar_workspaces(norm, all_workspaces(tx))]
    verb = "is" if len(near) == 1 else "are"
    hint = f"there is no workspace {workspace[:100]!r}; the nearest {verb} {', '.join(near)}"
    if near and ("budget" not in values or values["budget"].fits({**result, "hint": hint})):
        result["hint"] = hint


def _read_call(
    operation: Operation, arguments: dict[str, Any], values: dict[str, Any], error: MossError, workspace: str
) -> dict[str, Any]:
    """Return the call that reads in another workspace: the same one, or for a write the proposed read."""
    if not operation.writes(values):
        return next_call(operation.name, {**arguments, "workspace": workspace}, "reads the workspace of that name")
    proposed = error.recovery
    if proposed is not None and "workspace" in proposed["arguments"] and not _writes(proposed["tool"]):
        return {**proposed, "arguments": {**proposed["arguments"], "workspace": workspace}}
    return _list_call()


def _is_about_content(error: MossError, tool: str) -> bool:
    """Return True if an error is `NOT_FOUND`, or proposes a write by another tool."""
    if error.code == "NOT_FOUND" or error.recovery is None:
        return error.code == "NOT_FOUND"
    proposed: str = error.recovery["tool"]
    return proposed != tool and _writes(proposed)


def _writes(tool: str) -> bool:
    operation = catalog.find(tool)
    return operation is not None and operation.mutates


def _list_call() -> dict[str, Any]:
    return next_call("moss_workspaces", {}, "lists the workspaces there are")


def _is_same(first: str, second: str) -> bool:
    """Return True if two texts name the same workspace; a text that no workspace can have names none."""
    try:
        return bool(second) and normalize_workspace(first) == normalize_workspace(second)
    except MossError:
        return False
