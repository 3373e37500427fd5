"""Links of a card to other cards, the changes of status that they imply, and the entries of these in the trace."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.tools.reasoning.branches.document_refs import GRAPH, TRACE, DocumentRef
from moss_memory.tools.reasoning.branches.visible_ranges import base_chain, graph_view
from moss_memory.tools.reasoning.graph.graph_batch import RESERVED, GraphBatch, check_id
from moss_memory.tools.reasoning.graph.node_queries import NodeFilters, newest_first
from moss_memory.tools.reasoning.notes.entries import append_entry, check_note
from moss_memory.tools.reasoning.reasoning_arguments import as_list
from moss_memory.tools.reasoning.reasoning_sql import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction
    from moss_memory.tools.reasoning.graph.node_versions import Version

    from .card_model import Card

    Links = dict[str, list[str]]
    """The ids of the linked cards by the name of the edge."""

LINKS = ("supports", "blocks", "answers", "rejects", "supersedes", "tests")
"""The fields of a card that become edges of the same name."""
LINKS_MAX = 200
_STATUS_OF_LINK = {"answers": "resolved", "rejects": "rejected", "supersedes": "superseded"}
"""The status that a link gives to the other card; a later one wins."""
_STATUS_FORMAT = "status_change"
_NEAREST_MAX = 3
_COMPARED_MAX = 300


def limit_links(values: str | list[str] | None, *, what: str) -> list[str]:
    """Return the ids of linked cards; refuse too many."""
    ids = as_list(values)
    if len(ids) > LINKS_MAX:
        raise invalid_request(f"`{what}` has {len(ids)} entries; at most {LINKS_MAX} are allowed", path=what)
    return ids


def check_links(*given: Links, card_id: str | None) -> Links:
    """Return the links of all inputs together, each with its ids sorted; refuse a link of a card to itself."""
    links: Links = {}
    for rel in LINKS:
        ids = limit_links([linked_id for links in given for linked_id in links.get(rel, ())], what=rel)
        if card_id is not None and card_id in ids:
            raise invalid_request(f"`{rel}` names the card itself; name another card", path=rel)
        if ids:
            links[rel] = sorted({check_id(linked_id, what=rel) for linked_id in ids})
    return links


def find_linked(tx: ReadTransaction, graph: DocumentRef, changes: GraphBatch, links: Links) -> dict[str, Version]:
    """Return the linked cards by id; raise `NOT_FOUND` if one is missing."""
    linked: dict[str, Version] = {}
    for rel, ids in links.items():
        for card_id in ids:
            live = changes.live(card_id)
            if live is None:
                raise unknown_card(tx, graph, card_id, what=rel)
            linked[card_id] = live
    return linked


def implied_statuses(card: Card, linked: dict[str, Version]) -> Iterator[tuple[str, str, Version]]:
    """Yield the status that the links of a card give to each other card, with the reason."""
    rel_by_id = {card_id: rel for rel in _STATUS_OF_LINK for card_id in card.links.get(rel, ())}
    for card_id, rel in rel_by_id.items():
        if linked[card_id].status != _STATUS_OF_LINK[rel]:
            yield _STATUS_OF_LINK[rel], f"{card.id} {rel} it", linked[card_id]


def unknown_card(
    tx: ReadTransaction, graph: DocumentRef, card_id: str, *, kind: str = "card", what: str = ""
) -> MossError:
    """Return the error for a card that does not exist, with the ids nearest to it."""
    import difflib  # only this refusal needs it

    view = graph_view(tx, graph.branch.branch_id, graph.doc)
    node_keys = []
    for node in newest_first(tx, view, NodeFilters()):
        if kind == "node" or not node.key.startswith(RESERVED):
            node_keys.append(node.key)
        if len(node_keys) == _COMPARED_MAX:
            break
    near = difflib.get_close_matches(card_id[:100], node_keys, n=_NEAREST_MAX, cutoff=0.0)
    field = f"`{what}`: " if what else ""
    hint = f"; the nearest are {', '.join(map(repr, near))}" if near else "; it has no cards yet"
    details: dict[str, Any] = {"nearest": near, **({"path": what} if what else {})}
    if node_keys:
        doc = {} if graph.doc == GRAPH else {"graph_doc": graph.doc}
        location = {"workspace": graph.workspace, "ref": graph.branch.name, **doc}
        recovery = next_call("branchmind_think_query", location, "lists the cards there are")
    else:
        arguments = {"workspace": graph.workspace, "type": "question"}
        recovery = next_call("branchmind_think_template", arguments, "shows a card to write first")
    return MossError(
        "NOT_FOUND",
        f"{field}there is no {kind} {card_id[:100]!r} on branch {graph.branch.name!r}{hint}",
        details=details,
        recovery=recovery,
    )


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
    changes.upsert(card.with_fields(status=status))
    old = card.status or "open"
    meta = {"card_id": card.key, "old_status": old, "new_status": status}
    if reason is not None:
        meta["reason"] = reason
    if partner_trace(graph_doc) != trace.doc:
        meta["graph_doc"] = graph_doc  # erasing the card finds the entry by it
    content = f"{card.key}: {old} → {status}" + (f": {reason}" if reason else "")
    note = check_note(content, format=_STATUS_FORMAT, meta=meta)
    append_entry(tx, trace, note, written_as="card", card_id=card.key)


def partner_trace(graph_doc: str) -> str | None:
    """Return the trace document that belongs to a graph document by its name; None if the name has no partner."""
    if graph_doc == GRAPH:
        return TRACE
    return graph_doc.removesuffix(f"-{GRAPH}") + f"-{TRACE}" if graph_doc.endswith(f"-{GRAPH}") else None


def trace_of_card(tx: ReadTransaction, graph: DocumentRef, card_id: str) -> DocumentRef:
    """Return the trace document of a card: the partner of its graph, else the document that the card was written to."""
    doc = partner_trace(graph.doc)
    if doc is None:
        branches = [branch_id for branch_id, *_ in base_chain(tx, graph.branch.branch_id, "graph", graph.doc)]
        statement = sql["trace_docs_of_card"].filled(branches=tx.sql_in("branch_id", "branches"))
        docs = [trace_doc for (trace_doc,) in tx.stream(statement, {"branches": branches, "key": card_id})]
        doc = docs[-1] if docs else TRACE
    return DocumentRef(graph.workspace, graph.branch, doc, graph.own_docs)
