"""Tools for merge conflicts of graphs: list, show and resolve."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, next_call
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import choice, flag, list_of, object_of, text
from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.named_rows import NamedRow
from moss_memory.tools.reasoning.branches.document_refs import GRAPH, DocumentRef, branch_by_id, find_branch
from moss_memory.tools.reasoning.notes.note_tools import Rows, next_cursor
from moss_memory.tools.reasoning.reasoning_arguments import (
    Cursor,
    CursorPage,
    Doc,
    IntoBranch,
    PageLimit,
    RequiredWorkspace,
    check_name,
)
from moss_memory.tools.reasoning.reasoning_responses import CONFLICT, PAGINATION, WHOLE_CONFLICT
from moss_memory.tools.reasoning.reasoning_sql import sql

from .node_versions import Version, render_key, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction, Row, Transaction

    ConflictId = str
    ConflictStatus = Literal["open", "resolved"]
    Resolution = Literal["use_from", "use_into"]
else:
    ConflictId = {"type": "string", "description": "from a merge, or the list of conflicts"}
    ConflictStatus = {"type": "string", "enum": ["open", "resolved"], "description": "all by default"}
    Resolution = {
        "type": "string",
        "enum": ["use_from", "use_into"],
        "description": "write the merged branch's state, or keep what is there",
    }

_SIDES = ("base", "theirs", "ours")


@operation(
    idempotent=True,
    has_budget=True,
    answers={
        "into": text("branch that received"),
        "doc": text("document"),
        "conflicts": list_of(CONFLICT, "the conflicts, newest first", shown="answer"),
        **PAGINATION,
    },
    example="moss graph conflicts main --workspace shop --status open",
    words="list conflicts, merge conflicts, contradictions between branches",
)
def branchmind_graph_conflicts(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    into: IntoBranch,
    doc: Doc = GRAPH,
    status: ConflictStatus | None = None,
    cursor: Cursor | None = None,
    limit: PageLimit = 50,
    budget: Budget,
) -> dict[str, Any]:
    """List the conflicts of merges into a branch, newest first."""
    page = CursorPage(cursor, limit)
    branch = find_branch(tx, workspace, into, what="into")
    DocumentRef(workspace, branch, check_name(doc, what="doc")).graph(tx)
    only = {"open": " and resolution is null", "resolved": " and resolution is not null"}.get(status or "", "")
    found = list(
        tx.rows(
            "select seq, conflict_id, key, resolution, created_at_ms from graph_conflicts"
            f" where into_id = :into_id and doc = :doc and seq < :before{only} order by seq desc limit :limit",
            {"into_id": branch.branch_id, "doc": doc, "before": page.before(), "limit": page.limit + 1},
        )
    )
    rows = Rows([_list_item(row) for row in found[: page.limit]], more=len(found) > page.limit)

    def build(kept: list[Any]) -> dict[str, Any]:
        shown = [{name: value for name, value in one.items() if name != "seq"} for one in kept]
        pagination = page.answer(len(kept), next_cursor(rows, kept))
        return {"into": into, "doc": doc, "conflicts": shown, "pagination": pagination, "truncated": False}

    return budget.fit(rows, build)


@operation(
    idempotent=True,
    has_budget=True,
    answers={"conflict": object_of(WHOLE_CONFLICT, "the conflict with both sides", shown="opened")},
    example="moss graph conflict-show CONFLICT-0f3a --workspace shop",
    words="look at a conflict, both sides of a conflict",
)
def branchmind_graph_conflict_show(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    conflict_id: ConflictId,
    budget: Budget,
) -> dict[str, Any]:
    """Show a conflict: what both started from (`base`), the merged branch's state (`theirs`), the destination's."""
    conflict = _find_conflict(tx, workspace, conflict_id)
    frame = conflict.to_dict()
    # `base` comes last, so that the budget drops it first.
    sides = {"theirs": conflict.theirs_json, "ours": conflict.ours_json, "base": conflict.base_json}
    states = [{"part": name, "state": _decode_state(state)} for name, state in sides.items()]

    def build(kept: list[Any]) -> dict[str, Any]:
        by_side: dict[str, Any] = {name: {} for name in _SIDES}
        by_side.update((one["part"], one["state"]) for one in kept)
        return {"conflict": {**frame, **by_side}, "truncated": False}

    return budget.fit(states, build, least=0)


@operation(
    mutates=True,
    idempotent=True,
    answers={
        "conflict_id": text("its id"),
        "status": choice(("resolved",), "that it is settled"),
        "applied": flag("whether the destination changed"),
    },
    example="moss graph conflict-resolve CONFLICT-0f3a --workspace shop --resolution use_from",
    words=(
        "resolve a conflict, settle, choose a side, ours or theirs, fix a conflict, decide a conflict, which side wins"
    ),
)
def branchmind_graph_conflict_resolve(
    tx: Transaction, *, workspace: RequiredWorkspace, conflict_id: ConflictId, resolution: Resolution
) -> dict[str, Any]:
    """Settle a conflict: `use_from` writes the merged branch's state into the destination, `use_into` keeps it."""
    conflict = _find_conflict(tx, workspace, conflict_id)
    settled = conflict.resolution
    tx.set_event_subject(workspace=normalize_workspace(workspace), address=conflict_id)
    if settled is not None and settled != resolution:
        raise MossError(
            "CONFLICT",
            f"{conflict_id} was already resolved with {settled}; change the graph itself, or merge again",
            recovery=next_call(
                "branchmind_graph_conflict_show",
                {"workspace": workspace, "conflict_id": conflict_id},
                "shows how it was resolved",
            ),
        )
    applied = settled is None and resolution == "use_from"
    if applied:
        into = branch_by_id(tx, conflict.into_id)
        write(tx, DocumentRef(workspace, into, conflict.doc), [Version(json.loads(conflict.theirs_json))])
    if settled is None:
        tx.run(sql["reconcile"], dict(zip(Conflict.columns, conflict, strict=True)))
        done = {"conflict_id": conflict_id, "resolution": resolution, "now_ms": tx.now_ms}
        tx.run(sql["resolve_conflict"], done)
    return {"conflict_id": conflict_id, "status": "resolved", "applied": applied}


class Conflict(NamedRow):
    """A merge conflict: the states of one key on both sides, and their common ancestor."""

    __slots__ = ()
    conflict_id: str
    key: str
    from_branch: str
    into_branch: str
    doc: str
    resolution: str | None
    base_json: str | None
    theirs_json: str
    ours_json: str | None
    created_at_ms: int
    resolved_at_ms: int | None
    from_id: int
    into_id: int
    from_seq: int

    def to_dict(self) -> dict[str, Any]:
        """Return the conflict as fields of a response, without its states."""
        return {
            "conflict_id": self.conflict_id,
            "kind": _kind(self.key),
            "key": render_key(self.key),
            "from": self.from_branch,
            "into": self.into_branch,
            "doc": self.doc,
            "status": "open" if self.resolution is None else "resolved",
            **({} if self.resolution is None else {"resolution": self.resolution}),
            "created_at_ms": self.created_at_ms,
            **({} if self.resolved_at_ms is None else {"resolved_at_ms": self.resolved_at_ms}),
        }


def conflict_id(from_id: int, into_id: int, doc: str, key: str, states: list[str]) -> str:
    """Return the id of a conflict: a hash of its key and states, so that a repeated merge yields the same id."""
    import hashlib  # only conflicts need it

    content = json.dumps([from_id, into_id, doc, key, *states])
    return f"CONFLICT-{hashlib.blake2b(content.encode(), digest_size=8).hexdigest()}"


def _decode_state(state: str | None) -> dict[str, Any] | None:
    return None if state is None else Version(json.loads(state)).to_dict()


def _find_conflict(tx: ReadTransaction, workspace: str, conflict_id: str) -> Conflict:
    row = tx.row(sql["conflict"], {"workspace": normalize_workspace(workspace), "conflict_id": conflict_id})
    if row is None:
        checkout = find_branch(tx, workspace, None)
        base = branch_by_id(tx, checkout.base_id or checkout.branch_id)
        arguments = {"workspace": workspace, "into": base.name}
        raise MossError(
            "NOT_FOUND",
            f"there is no conflict {conflict_id[:100]!r} in workspace {workspace!r}",
            recovery=next_call("branchmind_graph_conflicts", arguments, "lists the conflicts there are"),
        )
    return Conflict(row)


def _kind(key: str) -> str:
    return "node" if isinstance(render_key(key), str) else "edge"


def _list_item(row: Row) -> dict[str, Any]:
    seq, conflict_id, key, resolution, created_at_ms = row
    return {
        "seq": seq,
        "conflict_id": conflict_id,
        "kind": _kind(key),
        "key": render_key(key),
        "status": "open" if resolution is None else "resolved",
        "created_at_ms": created_at_ms,
    }
