"""The tool that reads the older versions of a node."""

from __future__ import annotations

from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import ResponseSchema, TableColumn, flag, integer, list_of, moment_ms, text, texts
from moss_memory.tools.reasoning.branches.document_refs import GRAPH, find_document
from moss_memory.tools.reasoning.cards.card_links import unknown_card
from moss_memory.tools.reasoning.cursor_pages import CursorPage, fit_page
from moss_memory.tools.reasoning.reasoning_arguments import (
    REF,
    Branch,
    Cursor,
    Doc,
    PageLimit,
    RequiredWorkspace,
    Target,
)
from moss_memory.tools.reasoning.reasoning_responses import PAGINATION
from moss_memory.tools.reasoning.reasoning_sql import sql

from .node_versions import Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.tools.reasoning.branches.visible_ranges import View

NodeId = Annotated[str, "id of a card or node"]

_SHOWN = ("status", "title", "text")
_COMPARED = ("type", *_SHOWN, "tags", "meta", "deleted")

_NODE_VERSION = ResponseSchema(
    "NodeVersion",
    {
        "seq": integer("number of the version"),
        "ts_ms": moment_ms("when it was written", label="written"),
        "status": text("its status", optional=True),
        "title": text("its title", optional=True),
        "text": text("its text", optional=True),
        "deleted": flag("true if this version deletes it"),
        "changed": texts("fields that differ from the version before; of the first version all that it has"),
    },
    table=(
        TableColumn("seq"),
        TableColumn("ts_ms", "written", drop_rank=6),
        TableColumn("status", min_width=6, drop_rank=3),
        TableColumn("title", min_width=16),
        TableColumn("changed", min_width=8),
        TableColumn("deleted", unless=False),
    ),
)


@operation(
    idempotent=True,
    aliases=REF,
    has_budget=True,
    answers={
        "id": text("the node's id"),
        "versions": list_of(_NODE_VERSION, "its versions, newest first", shown="answer"),
        **PAGINATION,
    },
    example="moss graph history CARD-2 --workspace shop",
    words=(
        "how a card changed, older versions of a card, who changed the status of a card, previous text of a node,"
        " earlier states of a hypothesis, when was it rejected, card history, history of a card, how did a "
        "hypothesis change over time, earlier versions of a node, versions of a card, when did the status of a "
        "card change, past states of a card, evolution of a decision"
    ),
)
def branchmind_graph_history(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    id: NodeId,
    target: Target | None = None,
    branch: Branch | None = None,
    doc: Doc | None = None,
    cursor: Cursor | None = None,
    limit: PageLimit = 20,
    budget: Budget,
) -> dict[str, Any]:
    """Show the older versions of one card or node, newest first, as the branch sees it."""
    page = CursorPage(cursor, limit)
    document = find_document(tx, workspace, target=target, branch=branch, doc=doc, kind=GRAPH)
    versions = _find_versions(tx, document.graph(tx), id, page)
    if not versions and cursor is None:
        raise unknown_card(tx, document, id, kind="node")
    older = [*versions[1:], None]
    shown = [_render_version(version, before) for version, before in zip(versions, older, strict=False)]
    return fit_page(budget, page, page.rows(shown), {"id": id}, "versions")


def _find_versions(tx: ReadTransaction, view: View, id: str, page: CursorPage) -> list[Version]:
    """Return the versions of a node that the view shows, newest first, at most one more than the page holds."""
    versions: list[Version] = []
    for branch_id, upto in view.sources:
        remaining = page.limit + 1 - len(versions)
        top = min(upto, page.before() - 1)
        if remaining:
            key = {"branch_id": branch_id, "doc": view.doc, "key": id, "upto": top, "limit": remaining}
            versions.extend(map(Version, tx.rows(sql["node_versions"], key)))
    return versions


def _render_version(version: Version, before: Version | None) -> dict[str, Any]:
    old = {} if before is None else before.to_dict()
    new = version.to_dict()
    changed = [name for name in _COMPARED if (new.get(name) or None) != (old.get(name) or None)]
    texts = {} if version.deleted else {name: new[name] for name in _SHOWN if name in new}
    return {"seq": version.seq, "ts_ms": version.ts_ms, **texts, "deleted": bool(version.deleted), "changed": changed}
