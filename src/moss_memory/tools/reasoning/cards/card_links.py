"""Links of a card: edges to other cards that it names, and the statuses that these edges set."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.tools.reasoning.branches.document_refs import GRAPH
from moss_memory.tools.reasoning.branches.visible_ranges import graph_view
from moss_memory.tools.reasoning.graph.graph_batch import RESERVED, GraphBatch, check_id
from moss_memory.tools.reasoning.graph.graph_tools import NodeFilters, newest_first
from moss_memory.tools.reasoning.reasoning_arguments import as_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.tools.reasoning.branches.document_refs import DocumentRef
    from moss_memory.tools.reasoning.graph.node_versions import Version

    from .card_model import Card

    Links = dict[str, list[str]]
    """The ids of the linked cards by the name of the edge."""

LINKS = ("supports", "blocks", "answers", "rejects", "supersedes", "tests")
"""The fields of a card that become edges of the same name."""
LINKS_MAX = 200
_STATUS_OF_LINK = {"answers": "resolved", "rejects": "rejected", "supersedes": "superseded"}
"""The status that a link gives to the other card; a later one wins."""
_NEAREST_MAX = 3
_COMPARED_MAX = 300


def limit_links(values: str | list[str] | None, *, what: str) -> list[str]:
    """Return the ids of linked cards; refuse too many."""
    found = as_list(values)
    if len(found) > LINKS_MAX:
        raise invalid_request(f"`{what}` has {len(found)} entries; at most {LINKS_MAX} are allowed", path=what)
    return found


def check_links(*given: Links, card_id: str | None) -> Links:
    """Return the links of all inputs together, each with its ids sorted; refuse a link of a card to itself."""
    links: Links = {}
    for rel in LINKS:
        ids = limit_links([one for links in given for one in links.get(rel, ())], what=rel)
        if card_id is not None and card_id in ids:
            raise invalid_request(f"`{rel}` names the card itself; name another card", path=rel)
        if ids:
            links[rel] = sorted({check_id(one, what=rel) for one in ids})
    return links


def find_linked(tx: ReadTransaction, graph: DocumentRef, changes: GraphBatch, links: Links) -> dict[str, Version]:
    """Return the linked cards by id; raise `NOT_FOUND` if one is missing."""
    found: dict[str, Version] = {}
    for rel, ids in links.items():
        for one in ids:
            live = changes.live(one)
            if live is None:
                raise unknown_card(tx, graph, one, what=rel)
            found[one] = live
    return found


def implied_statuses(card: Card, linked: dict[str, Version]) -> Iterator[tuple[str, str, Version]]:
    """Yield the status that the links of a card give to each other card, with the reason."""
    wanted = {one: rel for rel in _STATUS_OF_LINK for one in card.links.get(rel, ())}
    for one, rel in wanted.items():
        if linked[one].status != _STATUS_OF_LINK[rel]:
            yield _STATUS_OF_LINK[rel], f"{card.id} {rel} it", linked[one]


def unknown_card(
    tx: ReadTransaction, graph: DocumentRef, card_id: str, *, kind: str = "card", what: str = ""
) -> MossError:
    """Return the error for a card that does not exist, with the ids nearest to it."""
    import difflib  # only this refusal needs it

    view = graph_view(tx, graph.branch.branch_id, graph.doc)
    known = []
    for node in newest_first(tx, view, graph.doc, NodeFilters(), before=2**63 - 1):
        if kind == "node" or not node.key.startswith(RESERVED):
            known.append(node.key)
        if len(known) == _COMPARED_MAX:
            break
    near = difflib.get_close_matches(card_id[:100], known, n=_NEAREST_MAX, cutoff=0.0)
    field = f"`{what}`: " if what else ""
    hint = f"; the nearest are {', '.join(map(repr, near))}" if near else "; it has no cards yet"
    details: dict[str, Any] = {"nearest": near, **({"path": what} if what else {})}
    return MossError(
        "NOT_FOUND",
        f"{field}there is no {kind} {card_id[:100]!r} on branch {graph.branch.name!r}{hint}",
        details=details,
        recovery=_list_cards(graph) if known else _show_template(graph),
    )


def _list_cards(graph: DocumentRef) -> dict[str, Any]:
    doc = {} if graph.doc == GRAPH else {"graph_doc": graph.doc}
    here = {"workspace": graph.workspace, "ref": graph.branch.name, **doc}
    return next_call("branchmind_think_query", here, "lists the cards there are")


def _show_template(graph: DocumentRef) -> dict[str, Any]:
    arguments = {"workspace": graph.workspace, "type": "question"}
    return next_call("branchmind_think_template", arguments, "shows a card to write first")
