"""Search hits of notes and graph nodes."""

from __future__ import annotations

from moss_memory.tools.reasoning.branches.document_refs import NOTES, BranchRow
from moss_memory.tools.reasoning.branches.visibility import find_showing_branch
from moss_memory.tools.reasoning.reasoning_sql import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction


def notes(tx: ReadTransaction, row_ids: list[int]) -> dict[int, dict[str, Any]]:
    """Return search hits of notes by seq."""
    rows = list(
        tx.rows(
            "select e.seq, w.workspace_raw, e.branch_id, e.doc, e.title, e.content, e.ts_ms / 1000 from doc_entries e"
            " join workspaces w on w.workspace_norm = e.workspace_norm"
            f" where {tx.sql_in('e.seq', 'row_ids')} order by e.seq",
            {"row_ids": row_ids},
        )
    )
    return {
        seq: {
            "id": str(seq),
            "workspace": workspace,
            "address": {
                "workspace": workspace,
                "branch": _branch(tx, branch_id, doc, seq),
                "doc": doc,
                "cursor": seq + 1,
                "limit": 1,
            },
            "title": title or content.strip().partition("\n")[0][:100],
            "text": content,
            "updated_at": updated_at,
        }
        for seq, workspace, branch_id, doc, title, content, updated_at in rows
    }


def _branch(tx: ReadTransaction, branch_id: int, doc: str, seq: int) -> str:
    """Return the name of a branch that shows the note, because its own branch may have been reset."""
    showing = find_showing_branch(tx, branch_id, seq) if doc == NOTES else branch_id
    row = tx.row(sql["branch_by_id"], {"branch_id": showing})
    return "" if row is None else BranchRow(row).name


def nodes(tx: ReadTransaction, row_ids: list[int]) -> dict[int, dict[str, Any]]:
    """Return search hits of nodes by seq."""
    rows = tx.rows(
        "select v.seq, w.workspace_raw, b.name, v.doc, v.key, v.type, v.title, v.text, v.ts_ms / 1000"
        " from graph_versions v"
        " join branches b on b.branch_id = v.branch_id join workspaces w on w.workspace_norm = v.workspace_norm"
        f" where {tx.sql_in('v.seq', 'row_ids')} order by v.seq",
        {"row_ids": row_ids},
    )
    return {
        seq: {
            "id": key,
            "workspace": workspace,
            "address": {"workspace": workspace, "branch": branch, "doc": doc, "ids": [key]},
            "title": title or key,
            "kind": kind,
            "text": text or "",
            "updated_at": updated_at,
        }
        for seq, workspace, branch, doc, key, kind, title, text, updated_at in rows
    }
