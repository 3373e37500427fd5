"""Tools for workspaces and branches: init, status, create, checkout, rename, delete."""

from __future__ import annotations

import re

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import HINT, ResponseSchema, file_path, flag, integer, list_of, object_of, text
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.times import format_time
from moss_memory.storage.consistency import DEEPEST
from moss_memory.tools.reasoning.graph.open_conflicts import OPEN_CONFLICTS, count_only, open_conflicts
from moss_memory.tools.reasoning.reasoning_arguments import BRANCH, Branch, PageLimit, RequiredWorkspace, check_name
from moss_memory.tools.reasoning.reasoning_responses import BRANCH_ROW, DEFAULTS, ENTRY, WHEN, WORKSPACE
from moss_memory.tools.reasoning.reasoning_sql import sql

from .document_refs import (
    GRAPH,
    MAIN,
    NOTES,
    TRACE,
    BranchRow,
    add_branch,
    bootstrap,
    branch_for_writing,
    branch_named,
    checkout_of,
    find_branch,
)
from .visibility import update_visibility
from .visible_ranges import last_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction, Transaction

BranchName = Annotated[str, "branch name"]
ExistingBranch = Annotated[str, "existing branch"]

BRANCHES_MAX = 1000
_DEFAULTS = {"branch": MAIN, "docs": {"notes": NOTES, "graph": GRAPH, "trace": TRACE}}
_CANONICAL = re.compile(r"task/TASK-\d+|plan/PLAN-\d+")


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    answers={
        **WORKSPACE,
        "storage_dir": file_path("the home folder"),
        "schema_version": integer("of the store"),
        "checkout": text("the branch of calls that name none"),
        "defaults": DEFAULTS,
    },
    cli=Cli("branch init", sentence="Workspace {workspace} is ready, on branch {checkout}."),
    example="moss branch init --workspace shop",
    words=(
        "start, set up, initialize a workspace for reasoning, first use, set up reasoning, prepare a workspace, "
        "new reasoning workspace, create the main branch, begin a new workspace, start reasoning"
    ),
)
def branchmind_init(tx: Transaction, *, workspace: RequiredWorkspace) -> dict[str, Any]:
    """Begin reasoning in a workspace: makes branch `main` and checks it out, unless that was done before."""
    bootstrap(tx, workspace)
    tx.set_event_subject(workspace=normalize_workspace(workspace))
    return {
        "workspace": workspace,
        "storage_dir": tx.config.home,
        "schema_version": tx.schema_version,
        "checkout": _checkout(tx, workspace),
        "defaults": _DEFAULTS,
    }


@operation(
    idempotent=True,
    has_budget=True,
    answers={
        **WORKSPACE,
        "schema_version": integer("of the store"),
        "workspace_exists": flag("true if it has branches"),
        "checkout": text("the branch of calls that name none", nullable=True),
        "defaults": DEFAULTS,
        "last_event": object_of(
            ResponseSchema("LastEvent", {"event_id": text("its id"), **WHEN}), "the last task event", nullable=True
        ),
        "last_doc_entry": object_of(
            ENTRY.without("title", "format", "meta", "content", "source_event_id", "by", name="LastEntry"),
            "the last entry of any document",
            nullable=True,
        ),
        **OPEN_CONFLICTS,
    },
    cli=Cli("branch status"),
    example="moss branch status --workspace shop",
    words=(
        "health, current branch, which branch am I on, checkout, head, state of the reasoning, current state of a"
        " workspace, is anything there, which branch is checked out, what is the current branch, active branch, "
        "is the workspace set up, are there open conflicts, short status of the workspace"
    ),
)
def branchmind_status(tx: ReadTransaction, *, workspace: RequiredWorkspace, budget: Budget) -> dict[str, Any]:
    """Check a workspace without its contents: checkout, last task event, last entry, open conflicts."""
    _, has_branches = tx.row(sql["workspace"], {"workspace": normalize_workspace(workspace)}) or (None, False)
    status = {
        "workspace": workspace,
        "schema_version": tx.schema_version,
        "workspace_exists": bool(has_branches),
        "checkout": _checkout(tx, workspace),
        "defaults": _DEFAULTS,
        "last_event": _last_event(tx, workspace),
        "last_doc_entry": _last_doc_entry(tx, workspace),
    }
    conflicts = open_conflicts(tx, workspace)
    tight = count_only(conflicts)
    return budget.fit(
        [status, conflicts], lambda shown: {**shown[0], **(shown[1] if len(shown) > 1 else tight), "truncated": False}
    )


@operation(
    mutates=True,
    scan_secrets=True,
    answers={**WORKSPACE, "branch": object_of(BRANCH_ROW, "the new branch", shown="opened")},
    cli=Cli(sentence="Created branch {name}."),
    example="moss branch create what-if --workspace shop",
    words=(
        "what-if, try an alternative, fork, experiment, new branch, explore another approach, second option, "
        "branch off, parallel idea, variant, hypothetical, sandbox, test an idea safely, create a branch, start "
        "an experiment, try something without touching main, try a different approach, explore in isolation, "
        "what-if copy, make a fork, branch from another branch"
    ),
)
def branchmind_branch_create(
    tx: Transaction, *, workspace: RequiredWorkspace, name: BranchName, from_: Branch | None = None
) -> dict[str, Any]:
    """Branch off a snapshot of another branch (`from`, default the checkout) without copying anything."""
    base = branch_for_writing(tx, workspace, from_, what="from")
    _refuse_existing(tx, workspace, _new_name(name, what="name"))
    if base.depth >= DEEPEST:
        raise invalid_request(f"{base.name!r} already has {DEEPEST} bases; branch off one of those", path="from")
    base_seq = last_number(tx)
    add_branch(tx, workspace, name, base=base, base_seq=base_seq)
    tx.set_event_subject(workspace=normalize_workspace(workspace), address=name)
    return {"workspace": workspace, "branch": {"name": name, "base_branch": base.name, "base_seq": base_seq}}


@operation(
    idempotent=True,
    has_budget=True,
    answers={**WORKSPACE, "branches": list_of(BRANCH_ROW, "the branches, by name", shown="answer"), **HINT},
    example="moss branch list --workspace shop",
    words=(
        "list branches, which alternatives exist, what-ifs, show all branches, what branches are there, which "
        "branches exist, which experiments are there, names of branches"
    ),
)
def branchmind_branch_list(
    tx: ReadTransaction, *, workspace: RequiredWorkspace, limit: PageLimit = 200, budget: Budget
) -> dict[str, Any]:
    """List the branches of a workspace with their bases, those of plans and tasks too, by name."""
    most = min(limit, BRANCHES_MAX)
    rows = [
        {"name": name, "base_branch": base, "base_seq": base_seq}
        for name, base, base_seq in tx.rows(
            sql["list_branches"], {"workspace": normalize_workspace(workspace), "limit": most + 1}
        )
    ]
    truncated = len(rows) > most
    return budget.fit(
        rows[:most], lambda branches: {"workspace": workspace, "branches": branches, "truncated": truncated}, least=0
    )


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    aliases=BRANCH,
    answers={**WORKSPACE, "previous": text("the checkout before"), "current": text("the checkout now")},
    cli=Cli("branch checkout", sentence="Switched from {previous} to {current}."),
    example="moss branch checkout what-if --workspace shop",
    words=(
        "switch branch, change branch, go to a branch, work on another branch, go to the branch, use a branch, "
        "change to another branch, switch to another branch, check out a branch, back to main, make it the "
        "current branch, move to a branch, select a branch"
    ),
)
def branchmind_checkout(tx: Transaction, *, workspace: RequiredWorkspace, ref: ExistingBranch) -> dict[str, Any]:
    """Make a branch the one that calls without a branch use; tasks are not affected."""
    branch = branch_for_writing(tx, workspace, ref, what="ref")
    previous = _checkout(tx, workspace)
    tx.run(sql["set_checkout"], {"workspace": normalize_workspace(workspace), "branch_id": branch.branch_id})
    tx.set_event_subject(workspace=normalize_workspace(workspace), address=branch.name)
    return {"workspace": workspace, "previous": previous, "current": branch.name}


@operation(
    mutates=True,
    scan_secrets=True,
    answers={**WORKSPACE, "previous": text("its name before"), "current": text("its name now")},
    cli=Cli(sentence="Renamed branch {previous} to {current}."),
    example="moss branch rename what-if cache-in-redis --workspace shop",
    words=(
        "rename a branch, different name for a branch, another name, give a branch another name, rename an "
        "experiment, new name of a branch, branch has the wrong name"
    ),
)
def branchmind_branch_rename(
    tx: Transaction, *, workspace: RequiredWorkspace, old: ExistingBranch, new: BranchName
) -> dict[str, Any]:
    """Rename a branch; documents, bases, tags and the checkout follow."""
    branch = find_branch(tx, workspace, old, what="old")
    if branch.canonical:
        raise MossError("CONFLICT", f"{old!r} belongs to a plan or task and keeps its name")
    _refuse_existing(tx, workspace, _new_name(new, what="new"))
    tx.run(sql["rename_branch"], {"branch_id": branch.branch_id, "name": new})
    tx.set_event_subject(workspace=normalize_workspace(workspace), address=new)
    return {"workspace": workspace, "previous": old, "current": new}


@operation(
    mutates=True,
    destructive=True,
    answers={**WORKSPACE, "name": text("its name"), "deleted": flag("true")},
    cli=Cli(sentence="Deleted branch {name}."),
    example="moss branch delete what-if --workspace shop",
    words=(
        "delete a branch, drop an alternative, abandon an experiment, throw away a what-if, branch no longer "
        "needed, remove a branch, get rid of a branch, discard an experiment, delete a failed experiment, throw "
        "away a branch, clean up branches"
    ),
)
def branchmind_branch_delete(tx: Transaction, *, workspace: RequiredWorkspace, name: ExistingBranch) -> dict[str, Any]:
    """Delete a branch with its entries, graph and tags, for good; refused while anything depends on it."""
    branch = find_branch(tx, workspace, name, what="name")
    _refuse_needed(tx, workspace, branch)
    for table, column in (
        ("doc_entries", "branch_id"),
        ("graph_versions", "branch_id"),
        ("graph_tags", "branch_id"),
        ("documents", "branch_id"),
        ("resets", "branch_id"),
        ("tags", "branch_id"),
        ("card_pins", "branch_id"),
        ("graph_merges", "from_id"),
        ("graph_conflicts", "from_id"),
        ("graph_conflicts", "into_id"),
        ("branches", "branch_id"),
    ):
        tx.run(f"delete from {table} where {column} = :branch_id", {"branch_id": branch.branch_id})
    if branch.base_id is not None:
        update_visibility(tx, branch.base_id)
    tx.set_event_subject(workspace=normalize_workspace(workspace), address=name)
    return {"workspace": workspace, "name": name, "deleted": True}


def _checkout(tx: ReadTransaction, workspace: str) -> str | None:
    branch = checkout_of(tx, workspace)
    return None if branch is None else branch.name


def _last_event(tx: ReadTransaction, workspace: str) -> dict[str, Any] | None:
    disabled = "task" in tx.config.disabled_types
    row = None if disabled else tx.row(sql["last_task_event"], {"workspace": normalize_workspace(workspace)})
    if row is None:
        return None
    event_id, ts_ms = row
    return {"event_id": event_id, "ts": format_time(ts_ms), "ts_ms": ts_ms}


def _last_doc_entry(tx: ReadTransaction, workspace: str) -> dict[str, Any] | None:
    row = tx.row(sql["last_entry"], {"workspace": normalize_workspace(workspace)})
    if row is None:
        return None
    seq, ts_ms, branch, doc, written_as = row
    kind = "event" if written_as == "event" else "note"
    return {"seq": seq, "ts": format_time(ts_ms), "ts_ms": ts_ms, "branch": branch, "doc": doc, "kind": kind}


def _new_name(name: str, *, what: str) -> str:
    if _CANONICAL.fullmatch(check_name(name, what=what)):
        raise invalid_request(f"{name!r} is kept for the plan or task of that number; choose another name", path=what)
    return name


def _refuse_existing(tx: Transaction, workspace: str, name: str) -> None:
    if branch_named(tx, workspace, name) is not None:
        raise MossError(
            "CONFLICT",
            f"there is already a branch {name!r}; choose another name, or check that one out",
            recovery=next_call(
                "branchmind_checkout", {"workspace": workspace, "ref": name}, "continues with that branch"
            ),
        )


def _refuse_needed(tx: Transaction, workspace: str, branch: BranchRow) -> None:
    """Refuse to delete a branch that something else depends on."""
    name = branch.name
    if name == MAIN:
        raise MossError("CONFLICT", "'main' is the workspace's first branch and stays")
    if branch.canonical:
        raise MossError("CONFLICT", f"{name!r} belongs to a plan or task and cannot be deleted")
    if _checkout(tx, workspace) == name:
        recovery = next_call("branchmind_checkout", {"workspace": workspace, "ref": MAIN}, "checks out another branch")
        if branch_named(tx, workspace, MAIN) is None:
            recovery = next_call("branchmind_branch_list", {"workspace": workspace}, "lists the branches there are")
        raise MossError("CONFLICT", f"{name!r} is checked out; check out another branch first", recovery=recovery)
    derived = [derived_name for (derived_name,) in tx.rows(sql["derived_branches"], {"branch_id": branch.branch_id})]
    if derived:
        raise MossError("CONFLICT", f"{name!r} is the base of {', '.join(map(repr, derived))}; delete those first")
    conflict_id = tx.value(sql["open_conflict_of_branch"], {"branch_id": branch.branch_id})
    if conflict_id is not None:
        raise MossError(
            "CONFLICT",
            f"{name!r} has an open conflict, {conflict_id}; resolve it first",
            recovery=next_call(
                "branchmind_graph_conflict_show",
                {"workspace": workspace, "conflict_id": conflict_id},
                "shows both sides of the conflict",
            ),
        )
