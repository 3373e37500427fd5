"""Tools for the graph of a branch: apply a batch, query, validate, diff."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import ResponseSchema, flag, integer, list_of, moment_ms, object_of, text
from moss_memory.tools.reasoning.branches.document_refs import GRAPH, find_document
from moss_memory.tools.reasoning.branches.visible_ranges import View, graph_view, subtract_ranges
from moss_memory.tools.reasoning.notes.note_tools import Rows, both_sides, next_cursor
from moss_memory.tools.reasoning.reasoning_arguments import (
    REF,
    Branch,
    Cursor,
    CursorPage,
    Doc,
    FromBranch,
    OneOrMore,
    PageLimit,
    RequiredWorkspace,
    Target,
    ToBranch,
    as_list,
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

from .graph_batch import NODE_FIELDS, GraphBatch, graph_tags
from .node_versions import (
    Version,
    columns,
    current_versions,
    nearest_first,
    range_parameters,
    render_key,
    select,
    versions,
    visibility_condition,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Annotated, Any, Literal

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction, Transaction
else:
    from moss_memory.registry.argument_types import Annotated, Any, Literal

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
IDS_MAX = 1000


@operation(
    mutates=True,
    scan_secrets=True,
    aliases=REF,
    answers={
        **DOCUMENT_REF,
        "applied": object_of(APPLIED, "how much was written"),
        "last_seq": LAST_SEQ,
        "last_ts_ms": moment_ms("when", shown="never"),
    },
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
    nodes = nodes_of(tx, view, document.doc, filters, page)
    most = min(edges_limit, EDGES_MAX)
    edges = _edges_between(tx, view, document.doc, nodes, include_deleted) if include_edges else []
    rows = sorted([*nodes, *edges[:most]], key=lambda one: -int(one["last_seq"]))

    def build(kept: list[Any]) -> dict[str, Any]:
        shown = [one for one in kept if "id" in one]
        ids = {one["id"] for one in shown}
        return {
            "branch": document.branch.name,
            "doc": document.doc,
            "nodes": shown,
            "edges": [one for one in kept if "rel" in one and one["from"] in ids and one["to"] in ids],
            "pagination": page.answer(len(shown), next_cursor(nodes, shown, key="last_seq")),
            "truncated": len(edges) > most,
        }

    least = next((at + 1 for at, one in enumerate(rows) if "id" in one), 0)
    return budget.fit(rows, build, least=least)


@operation(
    idempotent=True,
    aliases=REF,
    has_budget=True,
    answers={
        **DOCUMENT_REF,
        "ok": flag("whether every edge ends in nodes that are there"),
        "stats": object_of(
            ResponseSchema("GraphStats", {"nodes": integer("live nodes"), "edges": integer("live edges")}),
            "how much was checked",
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
    """Check that every edge of a branch's graph ends in nodes that are there."""
    document = find_document(tx, workspace, target=target, branch=branch, doc=doc, kind=GRAPH)
    view = document.graph(tx)
    live = "v.deleted = 0 and v.type is"
    ids = {key for (key,) in select(tx, view, document.doc, "v.key", f"{live} not null", {})}
    edges = list(versions(tx, view, document.doc, f"{live} null"))
    errors = [
        _dangling_edge_error(one, ids)
        for one in sorted(edges, key=lambda edge: (edge.from_id, edge.rel, edge.to_id))
        if not {one.from_id, one.to_id} <= ids
    ]
    most = min(max_errors, ERRORS_MAX)

    def build(kept: list[Any]) -> dict[str, Any]:
        return {
            "branch": document.branch.name,
            "doc": document.doc,
            "ok": not errors,
            "stats": {"nodes": len(ids), "edges": len(edges)},
            "errors": kept,
            "truncated": len(errors) > most,
        }

    return budget.fit(errors[:most], build, least=0)


@operation(
    idempotent=True,
    has_budget=True,
    answers={
        "from": text("branch that is compared with"),
        "to": text("branch whose state is shown"),
        "doc": text("document"),
        "changes": list_of(CHANGE, "what differs, newest first", shown="answer"),
        **PAGINATION,
    },
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
    older, newer = both_sides(tx, workspace, from_, to, doc, graph_view, names=("from", "to"))
    differing = _differences(tx, older.view, newer.view, doc)
    found = [version for version in differing if version.seq < page.before()]
    rows = Rows([_change(version) for version in found[: page.limit]], more=len(found) > page.limit)

    def build(kept: list[Any]) -> dict[str, Any]:
        shown = [{name: value for name, value in one.items() if name != "seq"} for one in kept]
        answer = {"from": from_, "to": to, "doc": doc, "changes": shown}
        return {**answer, "pagination": page.answer(len(kept), next_cursor(rows, kept)), "truncated": False}

    return budget.fit(rows, build)


class NodeFilters:
    """Filters of nodes: exact values, normalized tags, a substring of title or text."""

    __slots__ = ("deleted", "ids", "open_only", "status", "tags_all", "tags_any", "text", "types")

    def __init__(
        self,
        *,
        ids: str | list[str] | None = None,
        types: str | list[str] | None = None,
        status: str | None = None,
        tags_any: str | list[str] | None = None,
        tags_all: str | list[str] | None = None,
        text: str | None = None,
        deleted: bool = False,
        open_only: bool = False,
        trusted: bool = False,
    ) -> None:
        self.ids = None if ids is None else as_list(ids)
        self.types = None if types is None else as_list(types)
        self.status = status
        self.tags_any = None if tags_any is None else graph_tags(as_list(tags_any), what="tags_any")
        self.tags_all = graph_tags(as_list(tags_all), what="tags_all")
        self.text = (text or "").casefold()
        self.deleted = deleted
        self.open_only = open_only
        """Accept only nodes whose status is open or absent."""
        for name, values in (("ids", self.ids), ("types", self.types), ("tags_any", self.tags_any)):
            if values is not None and not trusted and not 1 <= len(values) <= IDS_MAX:
                raise invalid_request(
                    f"`{name}` has {len(values)} entries; give 1 to {IDS_MAX} or leave it out", path=name
                )

    def streams(self, tx: ReadTransaction) -> list[tuple[str, str, dict[str, Any]]]:
        """Return tables, conditions and values that select the nodes, each by an index; `{at}` is the range."""
        condition, values = self._conditions(tx)
        if self.ids is not None:
            return [("graph_versions v", f"{tx.sql_in('v.key', 'ids')} and {condition}", values)]
        if self.open_only:
            kinds = tx.sql_in("v.type || ''", "types")
            return self._open_streams(f"v.status = 'open' and {kinds} and {condition}", condition, values)
        if self.tags_all or self.tags_any:
            tagged = "graph_tags o join graph_versions v on v.seq = o.seq"
            led = f"o.branch_id = :branch_{{at}} and o.doc = :doc and o.tag = :driver and {condition}"
            drivers = self.tags_all[:1] or self.tags_any or []
            return [(tagged, led, {**values, "driver": tag}) for tag in drivers]
        plain = "graph_versions v"
        if self.types is not None:
            return [(plain, f"v.type = :driver and {condition}", {**values, "driver": one}) for one in self.types]
        return [(plain, condition, values)]

    def _open_streams(
        self, led_by_status: str, condition: str, values: dict[str, Any]
    ) -> list[tuple[str, str, dict[str, Any]]]:
        """Return streams that use the index by status, because few nodes are open and many are closed."""
        plain = "graph_versions v"
        without = [f"v.status is null and v.type = :driver and {condition}" for _ in self.types or ()]
        led = [(plain, one, {**values, "driver": kind}) for one, kind in zip(without, self.types or (), strict=True)]
        return [(plain, led_by_status, values), *led]

    def _conditions(self, tx: ReadTransaction) -> tuple[str, dict[str, Any]]:
        conditions = ["v.type is not null"] if self.deleted else ["v.type is not null", "v.deleted = 0"]
        values: dict[str, Any] = {}
        if self.ids is not None:
            values["ids"] = self.ids
        if self.types is not None:
            values["types"] = self.types
            if self.ids is not None or self.tags_all or self.tags_any:
                conditions.append(tx.sql_in("v.type", "types"))
        if self.status is not None:
            conditions.append("v.status = :status")
            values["status"] = self.status
        for number, tag in enumerate(self.tags_all):
            conditions.append(_has_tag(f"g.tag = :tag_all{number}"))
            values[f"tag_all{number}"] = tag
        if self.tags_any is not None:
            conditions.append(_has_tag(tx.sql_in("g.tag", "tags_any")))
            values["tags_any"] = self.tags_any
        return " and ".join(conditions), values

    def accept(self, node: Version) -> bool:
        """Return true if the title or text contains the substring, compared with full Unicode case folding."""
        return not self.text or any(self.text in (part or "").casefold() for part in (node.title, node.text))


def _has_tag(condition: str) -> str:
    return (
        "exists (select 1 from graph_tags g where g.branch_id = v.branch_id and g.doc = v.doc and g.seq = v.seq"
        f" and {condition})"
    )


def nodes_of(tx: ReadTransaction, view: View, doc: str, filters: NodeFilters, page: CursorPage) -> Rows:
    """Return one page of the nodes that a view shows and the filters accept, last changed first."""
    found: list[Version] = []
    for version in newest_first(tx, view, doc, filters, before=page.before()):
        if filters.accept(version):
            found.append(version)
            if len(found) > page.limit:
                break
    return Rows([version.to_dict() for version in found[: page.limit]], more=len(found) > page.limit)


def newest_first(tx: ReadTransaction, view: View, doc: str, filters: NodeFilters, *, before: int) -> Iterator[Version]:
    """Return the versions of all ranges and streams, newest first, merged lazily."""
    ranges = nearest_first(view)
    sources = []
    for tables, condition, values in filters.streams(tx):
        parameters = {**range_parameters(ranges, doc), **values, "before": before}
        for at in range(len(ranges)):
            led = condition.replace("{at}", str(at))
            newest = "o.seq" if tables.startswith("graph_tags") else "v.seq"
            # The addition keeps the planner from the index by seq: the ids are more selective.
            order = "v.seq + 0" if filters.ids is not None else newest
            sources.append(
                tx.stream(
                    f"select {columns} from {tables} where {visibility_condition(ranges, at)} and {led}"
                    f" and {newest} < :before order by {order} desc",
                    parameters,
                )
            )
    if len(sources) == 1:
        return map(Version, sources[0])
    return _merge_unique([map(Version, source) for source in sources])


def _merge_unique(sources: list[Iterator[Version]]) -> Iterator[Version]:
    import heapq  # most graphs have one range and one stream

    last = 0
    for version in heapq.merge(*sources, key=lambda version: -version.seq):
        if version.seq != last:
            yield version
        last = version.seq


def _edges_between(
    tx: ReadTransaction, view: View, doc: str, nodes: Iterable[dict[str, Any]], deleted: bool
) -> list[dict[str, Any]]:
    """Return the edges between these nodes, newest first."""
    ids = [node["id"] for node in nodes]
    ends = " and ".join(tx.sql_in(f"v.{end}", "ids") for end in ("from_id", "to_id"))
    found = versions(tx, view, doc, ends if deleted else f"{ends} and v.deleted = 0", {"ids": ids})
    return [edge.to_dict() for edge in sorted(found, key=lambda edge: -edge.seq)]


def _dangling_edge_error(edge: Version, ids: set[str]) -> dict[str, Any]:
    missing = [end for end in dict.fromkeys((edge.from_id, edge.to_id)) if end not in ids]
    return {
        "code": "EDGE_ENDPOINT_MISSING",
        "edge": render_key(edge.key),
        "missing": missing,
        "message": f"no node {' and no node '.join(missing)}",
    }


def _differences(tx: ReadTransaction, older: View, newer: View, doc: str) -> list[Version]:
    """Return the versions of the newer view with another state than in the older one, newest first."""
    touched: set[str] = set()
    for ranges, known in ((newer.ranges, older.ranges), (older.ranges, newer.ranges)):
        for branch_id, after, upto in subtract_ranges(ranges, known):
            keys = tx.stream(
                "select distinct key from graph_versions where branch_id = :id and doc = :doc and seq > :after"
                " and seq <= :upto",
                {"id": branch_id, "doc": doc, "after": after, "upto": upto},
            )
            touched.update(key for (key,) in keys)
    before, now = current_versions(tx, older, doc, touched), current_versions(tx, newer, doc, touched)
    changed = [one for key, one in now.items() if one.state != (before[key].state if key in before else "")]
    return sorted(changed, key=lambda one: -one.seq)


def _change(version: Version) -> dict[str, Any]:
    key = {"kind": "node", "id": version.key} if version.type else {"kind": "edge", "key": render_key(version.key)}
    return {**key, "to": version.to_dict(), "seq": version.seq}
