"""Changes of a card's status, each with its entry in the trace."""

from __future__ import annotations

from moss_memory.tools.reasoning.branches.document_refs import GRAPH, TRACE, DocumentRef
from moss_memory.tools.reasoning.branches.visible_ranges import chain
from moss_memory.tools.reasoning.notes.note_tools import append, check_note
from moss_memory.tools.reasoning.reasoning_sql import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction, Transaction
    from moss_memory.tools.reasoning.graph.graph_batch import GraphBatch
    from moss_memory.tools.reasoning.graph.node_versions import Version

STATUS_FORMAT = "status_change"


def change_status(
    tx: Transaction,
    trace: DocumentRef,
    changes: GraphBatch,
    card: Version,
    status: str,
    *,
    reason: str | None,
    graph_doc: str,
) -> None:
    """Add a version with another status to the batch and append the change with its reason to the trace."""
    changes.upsert(card.with_status(status))
    old = card.status or "open"
    meta = {"card_id": card.key, "old_status": old, "new_status": status}
    if reason is not None:
        meta["reason"] = reason
    if partner_trace(graph_doc) != trace.doc:
        meta["graph_doc"] = graph_doc  # erasing the card finds the entry by it
    content = f"{card.key}: {old} → {status}" + (f": {reason}" if reason else "")
    note = check_note(content, format=STATUS_FORMAT, meta=meta)
    append(tx, trace, note, written_as="card", card_id=card.key)


def partner_trace(graph_doc: str) -> str | None:
    """Return the trace document that belongs to a graph document by its name; None if the name has no partner."""
    if graph_doc == GRAPH:
        return TRACE
    return graph_doc.removesuffix(f"-{GRAPH}") + f"-{TRACE}" if graph_doc.endswith(f"-{GRAPH}") else None


def trace_of_card(tx: ReadTransaction, graph: DocumentRef, card_id: str) -> DocumentRef:
    """Return the trace document of a card: the partner of its graph, else the document that the card was written to."""
    doc = partner_trace(graph.doc)
    if doc is None:
        branches = [branch_id for branch_id, *_ in chain(tx, graph.branch.branch_id, "graph", graph.doc)]
        statement = sql["trace_docs_of_card"].filled(branches=tx.sql_in("branch_id", "branches"))
        found = [one for (one,) in tx.stream(statement, {"branches": branches, "key": card_id})]
        doc = found[-1] if found else TRACE
    return DocumentRef(graph.workspace, graph.branch, doc, graph.own_docs)
