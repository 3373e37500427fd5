"""Rename or delete a workspace with its content: commands for people, not visible to agents."""

from __future__ import annotations

from moss_memory.errors import MossError, closest_match, invalid_request, next_call
from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.cli_traits import Cli, switch
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import ResponseSchema, flag, integer, object_of, text
from moss_memory.rows.bulk_changes import SCOPE, DryRun, change_all, is_not_dry_run
from moss_memory.rows.list_filters import filters_from
from moss_memory.rows.names import normalize_name, normalize_workspace
from moss_memory.rows.workspace_names import latest_spelling
from moss_memory.storage.queries import load_queries
from moss_memory.transfer.families import records as record
from moss_memory.transfer.families.artifacts import ARTIFACTS
from moss_memory.transfer.families.capsules import CAPSULES
from moss_memory.transfer.reasoning_task_import import TABLES_BY_NAME, delete_reasoning_and_tasks

from .workspace_tools import figures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

WorkspaceName = Annotated[str, "the workspace"]
NewWorkspaceName = Annotated[str, "its name from now on"]

sql = load_queries(__file__)

_NAMED = (CAPSULES, ARTIFACTS)
_TABLES = (*TABLES_BY_NAME.values(), *record.TABLES)
_HELD = {
    "capsules": "active capsules",
    "artifacts": "active artifacts",
    "tasks": "plans and tasks",
    "notes": "entries of notes and traces",
    "nodes": "nodes of graphs that are there",
    "records": "records",
    "deleted": "capsules and artifacts that were deleted or have expired",
}
_HOLDS = ResponseSchema("HeldByWorkspace", {name: integer(means) for name, means in _HELD.items()})
_NOUNS = {
    "tasks": ("plan or task", "plans and tasks"),
    "notes": ("entry of notes and traces", "entries of notes and traces"),
    "deleted": ("deleted one", "deleted ones"),
}
_RESTORABLE = ("capsules", "artifacts")
"""The rows that can be restored."""


@operation(
    mutates=True,
    scan_secrets=True,
    visible=False,
    writes_if=is_not_dry_run,
    answers={
        "workspace": text("its name from now on"),
        "was": text("its name until now"),
        "holds": object_of(_HOLDS, "the counts of its content", shown="opened"),
        "dry_run": flag("whether nothing was done"),
        "message": text("the same in a sentence"),
        "warning": text("if the settings still have the old name", optional=True),
    },
    cli=Cli("workspace rename", sentence="{message}."),
    example="moss workspace rename shop store --dry-run",
)
def moss_workspace_rename(
    tx: Transaction, *, name: WorkspaceName, new_name: NewWorkspaceName, dry_run: DryRun = False
) -> dict[str, Any]:
    """Give a workspace another name, with everything in it of every family: all of it or nothing.

    Ids stay, except those of records, which follow from content and workspace. A name that another workspace has, or
    that deleted capsules or artifacts still have, is `CONFLICT`.
    """
    was, to = normalize_name(name), normalize_name(new_name, what="new_name")
    counts = _require_workspace(tx, name, was)
    old = latest_spelling(tx, was)
    taken = None if to == was else _count_content(tx, to)
    if taken is not None:
        raise MossError(
            "CONFLICT",
            f"there is a workspace {new_name[:100]!r} already, with {_describe(taken) or 'its branches'}; take another "
            "name, or delete that one first (`capsule_purge` removes what was deleted for good)",
            details={"workspace": latest_spelling(tx, to), "holds": taken},
        )
    answer: dict[str, Any] = {"workspace": new_name, "was": old, "holds": counts, "dry_run": dry_run}
    verb = "Would rename" if dry_run else "Renamed"
    answer["message"] = f"{verb} workspace {old!r} to {new_name!r}, with {_describe(counts) or 'nothing in it'}"
    if tx.config.workspace and normalize_workspace(tx.config.workspace) == was != to:
        answer["warning"] = f"the settings still say that {tx.config.workspace!r} is the default workspace"
    if not dry_run:
        _rename(tx, was, to, new_name)
    return answer


@operation(
    mutates=True,
    destructive=True,
    visible=False,
    writes_if=lambda values: values.get("dry_run") is False,  # a dry run is the default here
    answers={
        "workspace": text("its name"),
        "holds": object_of(_HOLDS, "the counts of its content; earlier deletions stay", shown="opened"),
        "dry_run": flag("whether nothing was done"),
        "message": text("the same in a sentence"),
        "erased": flag("false while a reader still holds the erased bytes; the next write removes them"),
        "scope": SCOPE,
    },
    cli=Cli("workspace delete", options={"yes": switch("delete, instead of only reporting")}, sentence="{message}."),
    example="moss workspace delete shop --yes",
)
def moss_workspace_delete(tx: Transaction, *, name: WorkspaceName, dry_run: DryRun = True) -> dict[str, Any]:
    """Delete a workspace with everything in it of every family; a dry run, the default, only counts its content.

    Capsules and artifacts are deleted as one by one, and `capsule_restore` and `artifact_restore` bring them back with
    their versions. Notes, traces, graphs, plans, tasks and records are gone for good.
    """
    workspace = normalize_name(name)
    counts = _require_workspace(tx, name, workspace)
    answer: dict[str, Any] = {"workspace": latest_spelling(tx, workspace), "holds": counts, "dry_run": dry_run}
    back = _describe({key: counts[key] for key in _RESTORABLE})
    lost = _describe({key: value for key, value in counts.items() if key not in (*_RESTORABLE, "deleted")})
    verb = "Would delete" if dry_run else "Deleted"
    parts = [f"{back}, which can be restored"] * bool(back) + [f"{lost}, for good"] * bool(lost)
    answer["message"] = f"{verb} workspace {answer['workspace']!r}: {'; '.join(parts) or 'nothing is left in it'}"
    answer |= {"erased": False, **tx.erasure_scope}
    if not dry_run:
        _delete(tx, workspace, answer)
    return answer


def _require_workspace(tx: ReadTransaction, name: str, workspace: str) -> dict[str, int]:
    """Return the counts of a workspace's content; raise `NOT_FOUND` if it does not exist."""
    if tx.config.disabled_types:
        disabled = " and ".join(sorted(tx.config.disabled_types))
        raise invalid_request(
            f"a workspace is renamed and deleted whole, and the settings have switched off {disabled}"
        )
    counts = _count_content(tx, workspace)
    if counts is None:
        like = closest_match(name, [latest_spelling(tx, norm) for norm in figures(tx)], cutoff=0.5)
        hint = f"; the nearest is {like!r}" if like else ""
        raise MossError(
            "NOT_FOUND",
            f"there is no workspace {name[:100]!r}{hint}",
            details={"nearest": like} if like else None,
            recovery=next_call("moss_workspaces", {}, "lists the workspaces there are"),
        )
    return counts


def _count_content(tx: ReadTransaction, workspace: str) -> dict[str, int] | None:
    """Return the counts of a workspace's content; None if it has nothing, not even a branch."""
    tx.begin()
    counts = {key: int(tx.value(sql[f"held_{key}"], {"workspace": workspace, "now": tx.now})) for key in _HELD}
    exists = any(counts.values()) or any(table.has_rows(tx, workspace) for table in _TABLES)
    return counts if exists else None


def _describe(counts: dict[str, int]) -> str:
    """Return the counts as text, without zeros."""
    parts = []
    for key, count in counts.items():
        singular, plural = _NOUNS.get(key, (key[:-1], key))
        if count:
            parts.append(f"{count} {singular if count == 1 else plural}")
    return ", ".join(parts)


def _rename(tx: Transaction, was: str, to: str, name: str) -> None:
    names = {"workspace_raw": name, "workspace_norm": to}
    inside = filters_from(tx, workspace=was)
    change_all(tx, CAPSULES.versioned, inside, names, dry_run=False, as_versions=True)
    change_all(tx, ARTIFACTS.versioned, inside, names, dry_run=False)
    for table in (*(family.table for family in _NAMED), *_TABLES):
        table.rename(tx, was, to=to, spelled=name)
    record.update_record_ids(tx, to)
    if to != was:
        statements = ("rename_events", "add_activity", "delete_activity", "rename_repositories", "delete_repositories")
        for statement in statements:
            tx.run(sql[statement], {"was": was, "to": to})
    tx.set_event_subject(workspace=to)


def _delete(tx: Transaction, workspace: str, answer: dict[str, Any]) -> None:
    inside = filters_from(tx, workspace=workspace)
    tx.begin()
    for family in _NAMED:
        change_all(tx, family.versioned, inside, {"deleted_at": tx.now}, dry_run=False)
    tx.advance_sequence(tx.next_change())  # the numbers of deleted events are not reused
    delete_reasoning_and_tasks(tx, workspace)
    record.delete_records(tx, workspace)
    tx.run(sql["delete_repositories"], {"was": workspace})
    tx.set_event_subject(workspace=workspace)
    tx.erase_after_commit(answer, field="erased", anything=True)
