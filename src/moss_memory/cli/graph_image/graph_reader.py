"""Reads the graph to draw through the public tools."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.store import Store

QUERY, VALIDATE = "branchmind_graph_query", "branchmind_graph_validate"
CONTAINS, DEPENDS_ON = "contains", "depends_on"
"""Relations: from a plan to its tasks and a task to its steps, in order; from a task to its dependencies."""
WHOLE = {"max_chars": 0}
NODES_MAX = 1000
PAGE_ROWS = 200
EDGES_MAX = 1000
ERRORS_MAX = 500
MIN_NODES_TO_SPLIT = 4
"""Minimal number of nodes of a query that is split."""

_DOCUMENT = ("workspace", "target", "branch", "doc")
_WORK = ("task:", "step:")
"""Prefixes of node ids that are the same in every graph."""
_FILTERS = ("ids", "types", "status", "tags_any", "tags_all", "text")


class Graph:
    """Nodes by id, the edges between them, and ids that only edges have."""

    def __init__(self, branch: str, doc: str) -> None:
        self.branch = branch
        self.doc = doc
        self.nodes: dict[str, dict[str, Any]] = {}
        self.edges: list[tuple[str, str, str]] = []
        self.missing: list[str] = []
        self.more = False
        """True if the limit left out nodes."""
        self.tasks = 0
        """Number of plans and tasks whose own graphs are included."""


def read_graph(store: Store, arguments: dict[str, Any], *, limit: int) -> Graph:
    """Return the last changed nodes that match the filters, at most `limit`, with all edges between them."""
    document = {name: arguments[name] for name in _DOCUMENT if name in arguments}
    filters = {name: arguments[name] for name in _FILTERS if name in arguments}
    graph = _read_nodes(store, {**document, **filters}, limit)
    graph.edges = list(dict.fromkeys(_read_edges(store, document, list(graph.nodes))))
    _add_dangling(store, document, graph, everywhere=not filters and not graph.more)
    return graph


def read_workspace(store: Store, arguments: dict[str, Any], *, limit: int) -> Graph:
    """Return the graph of the current branch, and the graphs of every plan and task in their order."""
    graph = read_graph(store, arguments, limit=limit)
    disabled = "task" in store.config.disabled_types
    for target in [] if disabled else _list_targets(store, arguments["workspace"]):
        remaining = limit - len(graph.nodes)
        if remaining <= 0:
            graph.more = True
            break
        task_graph = read_graph(store, {**arguments, "target": target}, limit=remaining)
        _add_graph(graph, task_graph, target)
    graph.edges = _sort_edges(graph)
    return graph


def _list_targets(store: Store, workspace: str) -> list[str]:
    """Return the plans and tasks of a workspace in order of creation."""
    targets: list[str] = []
    while True:
        page = store.call("tasks_list", {"workspace": workspace, "limit": PAGE_ROWS, "offset": len(targets), **WHOLE})
        targets += [item["id"] for item in page["items"]]
        if not page["pagination"]["has_more"] or not page["items"]:
            return targets


def _add_graph(graph: Graph, task_graph: Graph, target: str) -> None:
    """Add the graph of a plan or task; rename nodes whose id another graph has."""
    if not task_graph.nodes:
        return
    names = {
        node_id: node_id if node_id.startswith(_WORK) or node_id not in graph.nodes else f"{target}/{node_id}"
        for node_id in task_graph.nodes
    }
    for node_id in sorted(task_graph.nodes, key=lambda node_id: _node_sort_key(task_graph.nodes[node_id])):
        graph.nodes.setdefault(names[node_id], {**task_graph.nodes[node_id], "id": names[node_id]})
    moved = [(names.get(tail, tail), rel, names.get(head, head)) for tail, rel, head in task_graph.edges]
    graph.edges = list(dict.fromkeys([*graph.edges, *moved]))
    graph.missing += [node_id for node_id in task_graph.missing if node_id not in graph.missing]
    graph.missing = [node_id for node_id in graph.missing if node_id not in graph.nodes]
    graph.more = graph.more or task_graph.more
    graph.tasks += 1


def _node_sort_key(node: dict[str, Any]) -> tuple[int, list[int]]:
    """Return the sort key of a node of a task: tasks, then steps by number, then cards."""
    name = str(node["id"])
    path = (node.get("meta") or {}).get("path")
    if isinstance(path, str) and name.startswith("step:"):
        return 1, [int(part.removeprefix("s:")) for part in path.split(".")]
    number = name.rpartition("-")[2]
    return (0, [int(number)]) if name.startswith("task:") and number.isdecimal() else (2, [])


def _sort_edges(graph: Graph) -> list[tuple[str, str, str]]:
    """Return the edges; those of containment in the order of their targets."""
    order = {node_id: position for position, node_id in enumerate(graph.nodes)}
    contained = [edge for edge in graph.edges if edge[1] == CONTAINS]
    others = [edge for edge in graph.edges if edge[1] != CONTAINS]
    return [*sorted(contained, key=lambda edge: order.get(edge[2], 0)), *others]


def _read_nodes(store: Store, arguments: dict[str, Any], limit: int) -> Graph:
    cursor: dict[str, int] = {}
    while True:
        page = store.call(
            QUERY, {**arguments, **cursor, **WHOLE, "include_edges": False, "limit": min(limit, PAGE_ROWS)}
        )
        if not cursor:
            graph = Graph(page["branch"], page["doc"])
        for node in page["nodes"]:
            graph.nodes.setdefault(node["id"], node)
        has_more = page["pagination"]["has_more"]
        if not has_more or len(graph.nodes) >= limit:
            graph.more = has_more or len(graph.nodes) > limit
            graph.nodes = dict(list(graph.nodes.items())[:limit])
            return graph
        cursor = {"cursor": page["pagination"]["next_cursor"]}


def _read_edges(store: Store, document: dict[str, Any], ids: list[str]) -> list[tuple[str, str, str]]:
    """Return the edges among these nodes; a page has the edges between its own nodes, so query every pair of blocks."""
    if len(ids) <= PAGE_ROWS:
        return _edges_of_page(store, document, ids) if ids else []
    half = PAGE_ROWS // 2
    return _edges_of_pairs(store, document, [ids[start : start + half] for start in range(0, len(ids), half)])


def _edges_of_page(store: Store, document: dict[str, Any], ids: list[str]) -> list[tuple[str, str, str]]:
    page = store.call(QUERY, {**document, **WHOLE, "ids": ids, "limit": PAGE_ROWS, "edges_limit": EDGES_MAX})
    if page["truncated"] and len(ids) >= MIN_NODES_TO_SPLIT:
        return _edges_of_pairs(store, document, [ids[offset::4] for offset in range(4)])
    return [(edge["from"], edge["rel"], edge["to"]) for edge in page["edges"]]


def _edges_of_pairs(store: Store, document: dict[str, Any], blocks: list[list[str]]) -> list[tuple[str, str, str]]:
    pairs = [[*first, *second] for index, first in enumerate(blocks) for second in blocks[index + 1 :]]
    return [edge for ids in pairs for edge in _edges_of_page(store, document, ids)]


def _add_dangling(store: Store, document: dict[str, Any], graph: Graph, *, everywhere: bool) -> None:
    """Add dangling edges: those of the nodes shown, or all if nothing was filtered out."""
    errors = store.call(VALIDATE, {**document, **WHOLE, "max_errors": ERRORS_MAX})["errors"]
    for error in errors:
        edge = error["edge"]
        ends = {edge["from"], edge["to"]}
        missing_ids = set(error["missing"])
        if (ends - missing_ids) <= set(graph.nodes) and (ends - missing_ids or everywhere):
            graph.edges.append((edge["from"], edge["rel"], edge["to"]))
            graph.missing += [node_id for node_id in error["missing"] if node_id not in graph.missing]
