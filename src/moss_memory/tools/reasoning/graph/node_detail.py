"""One node in full: its present version, its links and its earlier versions, each with its author."""

from __future__ import annotations

from moss_memory.errors import MossError, next_call
from moss_memory.storage.origin import actors_of
from moss_memory.tools.reasoning.branches.document_refs import GRAPH, find_document

from .node_versions import VERSION_COLUMNS, Version, current_versions, nearest_first, stream_versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Row
    from moss_memory.tools.reasoning.branches.visible_ranges import View

_VERSIONS = 50
_LINKS = 200


def node_detail(tx: ReadTransaction, *, workspace: str, branch: str, doc: str, id: str) -> dict[str, Any]:
    """Return a node of a branch as fields, its links and its versions, newest first; raise `NOT_FOUND` without it."""
    document = find_document(tx, workspace, branch=branch, doc=doc, kind=GRAPH)
    view = document.graph(tx)
    present = current_versions(tx, view, [id]).get(id)
    if present is None or present.type is None:
        raise MossError(
            "NOT_FOUND",
            f"there is no node {id[:100]!r} on {branch}",
            recovery=next_call("branchmind_graph_query", {"workspace": workspace, "branch": branch}, "lists its nodes"),
        )
    return {
        "node": present.to_dict(),
        "links": _find_links(tx, view, id),
        "versions": _list_versions(tx, view, id),
    }


def entry_authors(tx: ReadTransaction, *, entries: list[int]) -> dict[int, str]:
    """Return who wrote entries of documents, by seq, as far as that is known."""
    rows = tx.rows(
        f"select seq, origin from doc_entries where {tx.sql_in('seq', 'entries')} and origin is not null",
        {"entries": entries},
    )
    origins: dict[int, str] = dict(rows)
    actors = actors_of(tx, set(origins.values()))
    return {seq: actors[origin] for seq, origin in origins.items() if actors.get(origin)}


def _find_links(tx: ReadTransaction, view: View, id: str) -> list[dict[str, Any]]:
    """Return the links of a node with the node at the other end, outgoing links first."""
    edges: dict[str, Version] = {}
    for end in ("from_id", "to_id"):
        for edge in stream_versions(tx, view, f"v.{end} = :id and v.deleted = 0", {"id": id}):
            if len(edges) < _LINKS:
                edges.setdefault(edge.key, edge)
    other_ids = {edge.to_id if edge.from_id == id else edge.from_id for edge in edges.values()}
    nodes = current_versions(tx, view, sorted(other_ids))
    links = []
    for edge in edges.values():
        outgoing = edge.from_id == id
        other_id = edge.to_id if outgoing else edge.from_id
        node = nodes.get(other_id)
        fields = {} if node is None or node.deleted else {"type": node.type, "title": node.title or other_id}
        links.append({"rel": edge.rel, "outgoing": outgoing, "id": other_id, "type": "", "title": other_id, **fields})
    return links


def _list_versions(tx: ReadTransaction, view: View, id: str) -> list[dict[str, Any]]:
    """Return the versions of a node that a branch has or had, newest first, each with its author."""
    rows: list[Row] = []
    for branch_id, _, upto in nearest_first(view):
        rows += tx.rows(
            f"select {VERSION_COLUMNS}, v.origin from graph_versions v where v.branch_id = :branch_id and v.doc = :doc"
            " and v.key = :id and v.seq <= :upto order by v.seq desc limit :most",
            {"branch_id": branch_id, "doc": view.doc, "id": id, "upto": upto, "most": _VERSIONS},
        )
    rows.sort(key=lambda row: -int(row[0]))
    actors = actors_of(tx, {row[-1] for row in rows[:_VERSIONS] if row[-1] is not None})
    return [{**Version(row[:-1]).to_dict(), "by": actors.get(row[-1], "")} for row in rows[:_VERSIONS]]
