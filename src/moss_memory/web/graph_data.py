"""The graph of a branch as the picture needs it, and how it differs from another's."""

from __future__ import annotations

from typing import Any

from .page_context import PageContext

Graph = dict[str, Any]

NODES = 200
"""Maximum number of nodes in a picture: the last changed ones."""
_EDGES = 1000
_TEXT_CHARS = 600
_TITLE_CHARS = 200
_MAX_CHARS = 2_000_000
_PAGE = 200
_PAGES = 5
_MARKS = ("added", "changed", "removed", "elsewhere")
"""The kinds of differences, in the order of the list."""


def load_graph(context: PageContext, workspace: str, branch: str, doc: str) -> Graph:
    """Return the last changed nodes of a graph and the edges between them."""
    limits = {"limit": NODES, "edges_limit": _EDGES, "max_chars": _MAX_CHARS}
    answer = context.call("branchmind_graph_query", workspace=workspace, branch=branch, doc=doc, **limits)
    return {
        "nodes": [_node(node) for node in answer["nodes"]],
        "edges": [{"from": edge["from"], "rel": edge["rel"], "to": edge["to"], "mark": ""} for edge in answer["edges"]],
        "has_more": answer["pagination"]["has_more"],
    }


def _node(node: dict[str, Any], mark: str = "") -> dict[str, Any]:
    """Return a node with its text shortened for lists; `mark` is its difference."""
    return {
        "id": node["id"],
        "type": node["type"],
        "status": node.get("status") or "",
        "title": _cut(node.get("title") or node["id"], _TITLE_CHARS),
        "text": _cut(node.get("text") or "", _TEXT_CHARS),
        "tags": node.get("tags") or [],
        "mark": mark,
    }


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def mark_differences(
    context: PageContext, workspace: str, branch: str, other: str, doc: str, graph: Graph
) -> dict[str, Any]:
    """Mark the nodes and edges of a branch's graph that differ from another branch, and add the missing ones.

    A difference contains only its second side, so it is read in both directions.
    """
    own_nodes, own_edges = _changes(context, workspace, other, branch, doc)
    other_nodes, other_edges = _changes(context, workspace, branch, other, doc)
    nodes = {node["id"]: node for node in graph["nodes"]}
    changes = []
    for key, node in {**own_nodes, **{key: node for key, node in other_nodes.items() if key not in own_nodes}}.items():
        mark = _mark(own_nodes.get(key), other_nodes.get(key))
        if not mark:
            continue
        marked_node = _node(node, mark)
        old_status = other_nodes[key].get("status") or "" if key in other_nodes else ""
        changes.append(
            {**marked_node, "was": old_status if mark == "changed" and old_status != marked_node["status"] else ""}
        )
        if mark in ("removed", "elsewhere") or key in nodes:
            nodes[key] = marked_node
    graph["nodes"] = list(nodes.values())
    _mark_edges(graph, own_edges, other_edges)
    counts = {mark: sum(change["mark"] == mark for change in changes) for mark in _MARKS}
    links = sum(not edge["deleted"] for edge in own_edges.values())
    return {
        "changes": sorted(changes, key=lambda change: _MARKS.index(change["mark"])),
        "counts": counts,
        "links": links,
    }


def _mark(own_node: dict[str, Any] | None, other_node: dict[str, Any] | None) -> str:
    """Return a node's difference from the other branch; empty if both have deleted it."""
    in_own = own_node is not None and not own_node["deleted"]
    in_other = other_node is not None and not other_node["deleted"]
    if in_own:
        return "changed" if in_other else "added"
    if in_other:
        return "removed" if own_node is not None else "elsewhere"
    return ""


def _mark_edges(graph: Graph, own_edges: dict[Any, dict[str, Any]], other_edges: dict[Any, dict[str, Any]]) -> None:
    node_ids = {node["id"] for node in graph["nodes"]}
    for edge in graph["edges"]:
        if (edge["from"], edge["rel"], edge["to"]) in own_edges:
            edge["mark"] = "added"
    for key, edge in other_edges.items():
        if key not in own_edges and not edge["deleted"] and edge["from"] in node_ids and edge["to"] in node_ids:
            graph["edges"].append({"from": key[0], "rel": key[1], "to": key[2], "mark": "removed"})


def _changes(
    context: PageContext, workspace: str, start: str, end: str, doc: str
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    nodes: dict[Any, Any] = {}
    edges: dict[Any, Any] = {}
    compared = {"workspace": workspace, "from": start, "to": end, "doc": doc}
    cursor = None
    for _ in range(_PAGES):
        answer = context.call("branchmind_graph_diff", **compared, limit=_PAGE, max_chars=_MAX_CHARS, cursor=cursor)
        for change in answer["changes"]:
            if change["kind"] == "node":
                nodes[change["id"]] = change["to"]
            else:
                key = change["key"]
                edges[key["from"], key["rel"], key["to"]] = change["to"]
        if not answer["pagination"]["has_more"]:
            break
        cursor = answer["pagination"]["next_cursor"]
    return nodes, edges
