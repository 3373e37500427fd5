"""Tools for the graph of a branch: apply a batch, query, validate, diff."""

from __future__ import annotations

from moss_memory.registry.argument_types import Annotated, Any, Literal
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import ResponseSchema, flag, integer, list_of, moment_ms, object_of, text
from moss_memory.tools.reasoning.branches.document_refs import GRAPH, find_document, find_two_views
from moss_memory.tools.reasoning.branches.visible_ranges import View, graph_view, subtract_ranges
from moss_memory.tools.reasoning.cursor_pages import CursorPage, fit_page
from moss_memory.tools.reasoning.reasoning_arguments import (
    REF,
    Branch,
    Cursor,
    Doc,
    FromBranch,
    OneOrMore,
    PageLimit,
    RequiredWorkspace,
    Target,
    ToBranch,
)
from moss_memory.tools.reasoning.reasoning_responses import (
    APPLIED,
    CHANGE,
    DANGLING,
    DOCUMENT_REF,
    EDGE,
    LAST_SEQ,
    NODE,
    PAGINATION,
)

from .graph_batch import NODE_FIELDS, GraphBatch
from .graph_keys import render_key
from .node_queries import NodeFilters, find_nodes
from .node_versions import Version, current_versions, select_columns, stream_versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction, Transaction

OpName = Annotated[Literal["node_upsert", "node_delete", "edge_upsert", "edge_delete"], {}]
Ops = Annotated[
    list[dict[str, Any]],
    {
        "items": {
            "type": "object",
            "properties": {
                "op": OpName,
                "id": {"type": "string"},
                **NODE_FIELDS,
                "from": {"type": "string"},
                "rel": {"type": "string"},
                "to": {"type": "string"},
            },
            "required": ["op"],
            "additionalProperties": False,
        }
    },
    "nodes have id and type, edges from, rel and to",
]
Status = Annotated[str, "exact status"]
TextPart = Annotated[str, "part of title or text, in any case"]
IncludeEdges = Annotated[bool, "with the edges between the nodes"]
IncludeDeletedNodes = Annotated[bool, "also deleted ones"]

EDGES_MAX = 1000
ERRORS_MAX = 500


@operation(
    mutates=True,
    scan_secrets=True,
    aliases=REF,
    answers={
        **DOCUMENT_REF,
        "applied": object_of(APPLIED, "the numbers of written nodes and edges"),
        "last_seq": LAST_SEQ,
        "last_ts_ms": moment_ms("when", shown="never"),
    },
    cli=Cli(sentence="{doc} on {branch}: {graph_changes}."),
    example="""moss graph apply --workspace shop --ops '[{"op":"node_upsert","id":"q1","type":"question"}]'""",
    words=(
        "add a node, add an edge, knowledge graph, create entities, relations, delete a node, observations, "
        "relation between entities, connect entities, upsert, add entities, add nodes and edges, change the "
        "graph, write to the knowledge graph, delete an edge, remove a node from the graph, create a relation, "
        "model the architecture, update a node, add dependencies between components"
    ),
)
def branchmind_graph_apply(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    ops: Ops,
    target: Target | None = None,
    branch: Branch | None = None,
    doc: Doc | None = None,
) -> dict[str, Any]:
    """Upsert or delete nodes and edges of a graph, all or none; an upsert replaces the whole node."""
    document = find_document(tx, workspace, target=target, branch=branch, doc=doc, kind=GRAPH, writer=tx)
    changes = GraphBatch(tx, document)
    changes.apply(ops)
    last_seq = changes.write()
    document.set_event_subject(tx)
    return {**document.to_dict(), "applied": changes.applied, "last_seq": last_seq, "last_ts_ms": tx.now_ms}


@operation(
    idempotent=True,
    aliases=REF,
    has_budget=True,
    answers={
        **DOCUMENT_REF,
        "nodes": list_of(NODE, "the nodes, last changed first", shown="answer"),
        "edges": list_of(EDGE, "the edges between them"),
        **PAGINATION,
    },
    example="moss graph query --workspace shop --types hypothesis,test --status open",
    words=(
        "read the graph, find nodes, knowledge graph, edges, neighbours, entities and relations, query the graph,"
        " show the graph, which nodes are connected, neighbours of a node, find entities, search the knowledge "
        "graph, nodes of a type, edges of a node"
    ),
)
def branchmind_graph_query(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    branch: Branch | None = None,
    doc: Doc | None = None,
    ids: OneOrMore | None = None,
    types: OneOrMore | None = None,
    status: Status | None = None,
    tags_any: OneOrMore | None = None,
    tags_all: OneOrMore | None = None,
    text: TextPart | None = None,
    cursor: Cursor | None = None,
    limit: PageLimit = 50,
    include_edges: IncludeEdges = True,
    edges_limit: PageLimit = 200,
    include_deleted: IncludeDeletedNodes = False,
    budget: Budget,
) -> dict[str, Any]:
    """Find nodes of any type with the edges between them, last changed first; filters combine with and."""
    page = CursorPage(cursor, limit)
    filters = NodeFilters(
        ids=ids, types=types, status=status, tags_any=tags_any, tags_all=tags_all, text=text, deleted=include_deleted
    )
    document = find_document(tx, workspace, target=target, branch=branch, doc=doc, kind=GRAPH)
    view = document.graph(tx)
    nodes = find_nodes(tx, view, filters, page)
    most = min(edges_limit, EDGES_MAX)
    edges = _edges_between(tx, view, nodes, include_deleted) if include_edges else []
    rows = sorted([*nodes, *edges[:most]], key=lambda row: -int(row["last_seq"]))

    def build(kept_rows: list[Any]) -> dict[str, Any]:
        shown = [row for row in kept_rows if "id" in row]
        ids = {node["id"] for node in shown}
        return {
            "branch": document.branch.name,
            "doc": document.doc,
            "nodes": shown,
            "edges": [edge for edge in kept_rows if "rel" in edge and edge["from"] in ids and edge["to"] in ids],
            "pagination": page.pagination_of(nodes, shown, number="last_seq"),
            "truncated": len(edges) > most,
        }

    least = next((index + 1 for index, row in enumerate(rows) if "id" in row), 0)
    return budget.fit(rows, build, least=least)


@operation(
    idempotent=True,
    aliases=REF,
    has_budget=True,
    answers={
        **DOCUMENT_REF,
        "ok": flag("true if every edge ends in existing nodes"),
        "stats": object_of(
            ResponseSchema("GraphStats", {"nodes": integer("live nodes"), "edges": integer("live edges")}),
            "the numbers of checked nodes and edges",
        ),
        "errors": list_of(DANGLING, "edges that end in no node"),
    },
    example="moss graph validate --workspace shop",
    words=(
        "dangling edges, broken links, check the graph, validate the graph, is the graph consistent, edges "
        "without nodes, integrity of the graph, graph is broken, orphan edges"
    ),
)
def branchmind_graph_validate(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    branch: Branch | None = None,
    doc: Doc | None = None,
    max_errors: PageLimit = 50,
    budget: Budget,
) -> dict[str, Any]:
    """Check that every edge of a branch's graph ends in existing nodes."""
    document = find_document(tx, workspace, target=target, branch=branch, doc=doc, kind=GRAPH)
    view = document.graph(tx)
    live = "v.deleted = 0 and v.type is"
    ids = {key for (key,) in select_columns(tx, view, "v.key", f"{live} not null", {})}
    edges = list(stream_versions(tx, view, f"{live} null"))
    errors = []
    for edge in sorted(edges, key=lambda edge: (edge.from_id, edge.rel, edge.to_id)):
        missing = [end for end in dict.fromkeys((edge.from_id, edge.to_id)) if end not in ids]
        if missing:
            message = f"no node {' and no node '.join(missing)}"
            error = {"code": "EDGE_ENDPOINT_MISSING", "edge": render_key(edge.key), "missing": missing}
            errors.append({**error, "message": message})
    most = min(max_errors, ERRORS_MAX)

    def build(kept_rows: list[Any]) -> dict[str, Any]:
        return {
            "branch": document.branch.name,
            "doc": document.doc,
            "ok": not errors,
            "stats": {"nodes": len(ids), "edges": len(edges)},
            "errors": kept_rows,
            "truncated": len(errors) > most,
        }

    return budget.fit(errors[:most], build, least=0)


@operation(
    idempotent=True,
    has_budget=True,
    answers={
        "from": text("the branch to compare with"),
        "to": text("the branch whose state is shown"),
        "doc": text("document"),
        "changes": list_of(CHANGE, "the differences, newest first", shown="answer"),
        **PAGINATION,
    },
    cli=Cli(completes="render.graph_diff_view.with_added"),
    example="moss graph diff main what-if --workspace shop",
    words=(
        "compare graphs of branches, which cards changed on a branch, difference between graphs, compare the "
        "cards of two branches, which nodes changed, what changed in the graph, compare two graphs, nodes that "
        "differ"
    ),
)
def branchmind_graph_diff(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    from_: FromBranch,
    to: ToBranch,
    doc: Doc = GRAPH,
    cursor: Cursor | None = None,
    limit: PageLimit = 50,
    budget: Budget,
) -> dict[str, Any]:
    """Show the nodes and edges of branch `to` that differ from branch `from`, deleted ones too, newest first."""
    page = CursorPage(cursor, limit)
    (_, older), (_, newer) = find_two_views(tx, workspace, {"from": from_, "to": to}, doc, graph_view)
    versions = [version for version in _differences(tx, older, newer) if version.seq < page.before()]
    changes = []
    for version in versions[: page.limit + 1]:
        key = {"kind": "node", "id": version.key} if version.type else {"kind": "edge", "key": render_key(version.key)}
        changes.append({**key, "to": version.to_dict(), "seq": version.seq})
    fields = {"from": from_, "to": to, "doc": doc}
    return fit_page(budget, page, page.rows(changes), fields, "changes", hide_number=True)


def _edges_between(
    tx: ReadTransaction, view: View, nodes: Iterable[dict[str, Any]], deleted: bool
) -> list[dict[str, Any]]:
    """Return the edges between these nodes, newest first."""
    ids = [node["id"] for node in nodes]
    ends = " and ".join(tx.sql_in(f"v.{end}", "ids") for end in ("from_id", "to_id"))
    edges = stream_versions(tx, view, ends if deleted else f"{ends} and v.deleted = 0", {"ids": ids})
    return [edge.to_dict() for edge in sorted(edges, key=lambda edge: -edge.seq)]


def _differences(tx: ReadTransaction, older: View, newer: View) -> list[Version]:
    """Return the versions of the newer view with another state than in the older one, newest first."""
    touched: set[str] = set()
    for ranges, other_ranges in ((newer.ranges, older.ranges), (older.ranges, newer.ranges)):
        for branch_id, after, upto in subtract_ranges(ranges, other_ranges):
            keys = tx.stream(
                "select distinct key from graph_versions where branch_id = :id and doc = :doc and seq > :after"
                " and seq <= :upto",
                {"id": branch_id, "doc": newer.doc, "after": after, "upto": upto},
            )
            touched.update(key for (key,) in keys)
    old, new = current_versions(tx, older, touched), current_versions(tx, newer, touched)
    changed = [version for key, version in new.items() if version.state != (old[key].state if key in old else "")]
    return sorted(changed, key=lambda version: -version.seq)
