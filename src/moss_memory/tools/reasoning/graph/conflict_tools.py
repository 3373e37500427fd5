"""Tools for merge conflicts of graphs: list, show and resolve."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry.argument_types import Annotated, Any, Literal
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.corrected_calls import corrected_call
from moss_memory.registry.decode import check_value
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import choice, flag, list_of, object_of, text
from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.named_rows import NamedRow
from moss_memory.tools.reasoning.branches.document_refs import GRAPH, DocumentRef, branch_by_id, find_branch
from moss_memory.tools.reasoning.cursor_pages import CursorPage, fit_page
from moss_memory.tools.reasoning.reasoning_arguments import (
    Cursor,
    Doc,
    IntoBranch,
    PageLimit,
    RequiredWorkspace,
    check_name,
    meta_json,
)
from moss_memory.tools.reasoning.reasoning_responses import CONFLICT, PAGINATION, WHOLE_CONFLICT
from moss_memory.tools.reasoning.reasoning_sql import sql

from .graph_batch import NODE_FIELDS, node_from_fields
from .graph_keys import render_key
from .node_versions import Version, new_edge, write_versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction, Transaction

ConflictId = Annotated[str, "from a merge, or the list of conflicts"]
ConflictStatus = Annotated[Literal["open", "resolved"], "all by default"]
Resolution = Annotated[
    Literal["use_from", "use_into", "use_content"],
    "take the merged branch's state, keep the destination's, or write `content`",
]
ResolvedContent = Annotated[
    dict[str, Any], "for use_content: the node's fields (type, title, text, status, tags, meta), or the edge's meta"
]

_SIDES = ("base", "from", "into")


@operation(
    idempotent=True,
    has_budget=True,
    answers={
        "into": text("the destination branch"),
        "doc": text("document"),
        "conflicts": list_of(CONFLICT, "the conflicts, newest first", shown="answer"),
        **PAGINATION,
    },
    cli=Cli(inferred={"into": "the checkout"}),
    example="moss graph conflicts main --workspace shop --status open",
    words=(
        "list conflicts, merge conflicts, contradictions between branches, which conflicts are there, open "
        "conflicts, unresolved conflicts, conflicts after a merge, did the merge conflict"
    ),
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
    rows = tx.rows(
        "select seq, conflict_id, key, resolution, created_at_ms from graph_conflicts"
        f" where into_id = :into_id and doc = :doc and seq < :before{only} order by seq desc limit :limit",
        {"into_id": branch.branch_id, "doc": doc, "before": page.before(), "limit": page.limit + 1},
    )
    conflicts = [
        {
            "seq": seq,
            "conflict_id": conflict_id,
            "kind": _kind_of_key(key),
            "key": render_key(key),
            "status": "open" if resolution is None else "resolved",
            "created_at_ms": created_at_ms,
        }
        for seq, conflict_id, key, resolution, created_at_ms in rows
    ]
    fields = {"into": into, "doc": doc}
    return fit_page(budget, page, page.rows(conflicts), fields, "conflicts", hide_number=True)


@operation(
    idempotent=True,
    has_budget=True,
    answers={"conflict": object_of(WHOLE_CONFLICT, "the conflict with both sides", shown="opened")},
    example="moss graph conflict-show CONFLICT-0f3a --workspace shop",
    words=(
        "look at a conflict, both sides of a conflict, show a conflict, details of a conflict, both versions of a"
        " conflict, what is the conflict about, compare ours and theirs"
    ),
)
def branchmind_graph_conflict_show(
    tx: ReadTransaction, *, workspace: RequiredWorkspace, conflict_id: ConflictId, budget: Budget
) -> dict[str, Any]:
    """Show one conflict: its `base` and the states of both sides, `from` and `into`."""
    conflict = _find_conflict(tx, workspace, conflict_id)
    frame = conflict.to_dict()
    # `base` comes last, so that the budget drops it first.
    sides = {"from": conflict.theirs_json, "into": conflict.ours_json, "base": conflict.base_json}
    states = [
        {"part": name, "state": None if state is None else Version(json.loads(state)).to_dict()}
        for name, state in sides.items()
    ]

    def build(kept_rows: list[Any]) -> dict[str, Any]:
        by_side: dict[str, Any] = {name: {} for name in _SIDES}
        by_side.update((side["part"], side["state"]) for side in kept_rows)
        return {"conflict": {**frame, **by_side}, "truncated": False}

    return budget.fit(states, build, least=0)


def _propose_sides(tx: ReadTransaction, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Return the call that shows both sides of the conflict that a refused call names."""
    address: dict[str, Any] = {name: arguments[name] for name in ("workspace", "conflict_id") if name in arguments}
    reason = "shows both sides: `use_from` takes the merged branch's, `use_into` keeps the other"
    return corrected_call(branchmind_graph_conflict_show, address, reason)


@operation(
    mutates=True,
    scan_secrets=True,
    idempotent=True,
    proposed_call=_propose_sides,
    answers={
        "conflict_id": text("its id"),
        "status": choice(("resolved",), "always resolved"),
        "applied": flag("true if this call changed the destination branch", shown="never"),
        "outcome": text("the state of that branch now"),
    },
    example="moss graph conflict-resolve CONFLICT-0f3a --workspace shop --resolution use_from",
    words=(
        "resolve a conflict, settle, choose a side, ours or theirs, fix a conflict, decide a conflict, which side"
        " wins, keep our side, take their side, solve a conflict, accept one side, resolve a merge conflict, "
        "finish a merge conflict"
    ),
)
def branchmind_graph_conflict_resolve(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    conflict_id: ConflictId,
    resolution: Resolution,
    content: ResolvedContent | None = None,
) -> dict[str, Any]:
    """Settle one conflict; `applied: false` means that the destination stays as it is."""
    if (content is None) == (resolution == "use_content"):
        problem = "needs `content`" if content is None else "takes no `content`; leave it out or send `use_content`"
        raise invalid_request(f"`resolution: {json.dumps(resolution)}` {problem}", path="content")
    conflict = _find_conflict(tx, workspace, conflict_id)
    chosen = Version(json.loads(conflict.theirs_json))
    if content is not None:
        chosen = _resolved_version(conflict, content)
    # The state of the content distinguishes a repeated resolution from another one.
    resolved_with = resolution if content is None else f"{resolution}:{chosen.state}"
    tx.set_event_subject(workspace=normalize_workspace(workspace), address=conflict_id)
    if conflict.resolved_with not in (None, resolved_with):
        raise MossError(
            "CONFLICT",
            f"{conflict_id} was already resolved with {conflict.resolution}; change the graph itself, or merge again",
            recovery=next_call(
                "branchmind_graph_conflict_show",
                {"workspace": workspace, "conflict_id": conflict_id},
                "shows how it was resolved",
            ),
        )
    is_new = conflict.resolved_with is None
    applied = is_new and resolution != "use_into"
    if applied:
        into = branch_by_id(tx, conflict.into_id)
        write_versions(tx, DocumentRef(workspace, into, conflict.doc), [chosen])
    if is_new:
        tx.run(sql["reconcile"], dict(zip(Conflict.columns, conflict, strict=True)))
        tx.run(sql["resolve_conflict"], {"conflict_id": conflict_id, "resolution": resolved_with, "now_ms": tx.now_ms})
    holds = {"use_from": f"the state of {conflict.from_branch}", "use_into": "its own state"}
    outcome = f"{conflict.into_branch} has {holds.get(resolution, 'the given content')}"
    return {"conflict_id": conflict_id, "status": "resolved", "applied": applied, "outcome": outcome}


def _resolved_version(conflict: Conflict, content: dict[str, Any]) -> Version:
    """Return the version that the content of a resolution describes; a node without a type keeps its own."""
    key = render_key(conflict.key)
    if isinstance(key, dict):
        # `{"meta": {...}}` means the same as the meta itself, as a node's fields include it by that name.
        meta = content["meta"] if list(content) == ["meta"] and isinstance(content["meta"], dict) else content
        return new_edge(key["from"], key["rel"], key["to"], meta=meta_json(meta))
    raw = {name: value for name, value in content.items() if value is not None}
    fields = check_value(raw, {"type": "object", "properties": NODE_FIELDS, "additionalProperties": False}, "content")
    sides = [Version(json.loads(packed)) for packed in (conflict.ours_json, conflict.theirs_json) if packed]
    return node_from_fields({"id": key, "type": sides[0].type, **fields}, "content")


class Conflict(NamedRow):
    """A merge conflict: the states of one key on both sides, and their common ancestor."""

    __slots__ = ()
    conflict_id: str
    key: str
    from_branch: str
    into_branch: str
    doc: str
    resolved_with: str | None
    base_json: str | None
    theirs_json: str
    ours_json: str | None
    created_at_ms: int
    resolved_at_ms: int | None
    from_id: int
    into_id: int
    from_seq: int

    @property
    def resolution(self) -> str | None:
        """The resolution of the conflict; None while it is open."""
        return self.resolved_with and self.resolved_with.partition(":")[0]

    def to_dict(self) -> dict[str, Any]:
        return {
            "conflict_id": self.conflict_id,
            "kind": _kind_of_key(self.key),
            "key": render_key(self.key),
            "from_branch": self.from_branch,
            "into_branch": self.into_branch,
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


def _kind_of_key(key: str) -> str:
    return "node" if isinstance(render_key(key), str) else "edge"
