"""Search hits of notes, graph nodes, and the tasks and steps that nodes represent."""

from __future__ import annotations

from moss_memory.tools.reasoning.branches.document_refs import NOTES, BranchRow
from moss_memory.tools.reasoning.branches.visibility import find_showing_branch
from moss_memory.tools.reasoning.reasoning_sql import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction


def note_hits(tx: ReadTransaction, row_ids: list[int]) -> dict[int, dict[str, Any]]:
    """Return search hits of notes by seq."""
    rows = list(
        tx.rows(
            "select e.seq, w.workspace_raw, e.branch_id, e.doc, e.title, e.content, e.ts_ms / 1000 from doc_entries e"
            " join workspaces w on w.workspace_norm = e.workspace_norm"
            f" where {tx.sql_in('e.seq', 'row_ids')} order by e.seq",
            {"row_ids": row_ids},
        )
    )
    hits = {}
    for seq, workspace, branch_id, doc, title, content, at in rows:
        # Its own branch may have been reset.
        showing = find_showing_branch(tx, branch_id, seq) if doc == NOTES else branch_id
        row = tx.row(sql["branch_by_id"], {"branch_id": showing})
        branch = "" if row is None else BranchRow(row).name
        arguments = {"workspace": workspace, "branch": branch, "doc": doc, "cursor": seq + 1, "limit": 1}
        hits[seq] = {
            "id": str(seq),
            "workspace": workspace,
            "fetch": {"tool": "branchmind_show", "arguments": arguments},
            "at": at,
            "title": title or content.strip().partition("\n")[0][:100],
            "text": content,
        }
    return hits


def node_hits(tx: ReadTransaction, row_ids: list[int]) -> dict[int, dict[str, Any]]:
    """Return search hits of nodes by seq; a task or step is a hit of its own type."""
    chosen = tx.sql_in("v.seq", "row_ids")
    rows = list(
        tx.rows(
            "select v.seq, w.workspace_raw, b.name, v.doc, v.key, v.type, v.status, v.title, v.text, v.ts_ms / 1000"
            " from graph_versions v"
            " join branches b on b.branch_id = v.branch_id join workspaces w on w.workspace_norm = v.workspace_norm"
            f" where {chosen} order by v.seq",
            {"row_ids": row_ids},
        )
    )
    superseded = [row[0] for row in rows if row[6] == "superseded"]
    successors = _find_successors(tx, superseded) if superseded else {}
    hits = {}
    for seq, workspace, branch, doc, key, kind, status, title, text, at in rows:
        document = {"workspace": workspace, "branch": branch, "doc": doc, "ids": [key]}
        hit = {
            **(
                _task_hit(workspace, doc, key)
                or {"id": key, "fetch": {"tool": "branchmind_graph_query", "arguments": document}}
            ),
            "workspace": workspace,
            "at": at,
            "title": title or key,
            "kind": kind,
            "text": text or "",
        }
        optional = {"status": status, "superseded_by": successors.get(seq)}
        hits[seq] = {**hit, **{name: value for name, value in optional.items() if value is not None}}
    return hits


def _task_hit(workspace: str, doc: str, key: str) -> dict[str, Any] | None:
    """Return type, id and call of a hit whose node represents a plan, task or step; None for other nodes."""
    kind, _, identity = key.partition(":")
    if kind not in ("task", "step"):
        return None
    target = {"workspace": workspace, "target": identity if kind == "task" else doc.removesuffix("-graph")}
    arguments = target if kind == "task" else {**target, "step_id": identity}
    return {"type": "task", "id": identity, "fetch": {"tool": "tasks_show", "arguments": arguments}}


def _find_successors(tx: ReadTransaction, row_ids: list[int]) -> dict[int, str]:
    """Return the id of the card that supersedes each of these versions, the newest if there are several."""
    rows = tx.rows(
        "select v.seq, e.from_id from graph_versions v join graph_versions e on e.branch_id = v.branch_id"
        " and e.doc = v.doc and e.to_id = v.key and e.rel = 'supersedes' and e.deleted = 0"
        f" and e.next_seq = 9223372036854775807 where {tx.sql_in('v.seq', 'row_ids')} order by e.seq",
        {"row_ids": row_ids},
    )
    return dict(rows)
