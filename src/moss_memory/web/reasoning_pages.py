"""Reasoning: the graph of a branch, two branches compared, conflicts side by side, notes and traces as a log."""

from __future__ import annotations

from collections import Counter
from typing import Any

from starlette.responses import Response

from moss_memory.errors import MossError
from moss_memory.tools.reasoning.graph.node_detail import entry_authors, node_detail

from .graph_data import load_graph, mark_differences
from .long_texts import Part, requested_part
from .markdown import MarkdownDocument
from .page_context import PageContext, PageRequest, parse_number
from .page_frame import workspace_in_view

_BRANCHES_MAX = 200
_ENTRIES_MAX = 40
_MAX_CHARS = 400_000
_CONFLICTS_MAX = 20
_RENDERED_CHARS = 30_000
"""Approximate size of rendered text on a page of the log; further entries show only their beginning."""
_BEGINNING_CHARS = 300
_WORK_PREFIXES = ("task/", "plan/")
"""Prefixes of the branches of tasks and plans."""


def show_graph(context: PageContext, request: PageRequest) -> Response:
    """Show the graph of a branch, or its difference from another one."""
    workspace = workspace_in_view(context, request, "reasoning")
    branches = _branches(context, workspace)
    if not branches:
        return _empty_page(context, request, workspace)
    branch = _branch_in_view(context, request, workspace)
    doc = request.query.get("doc", "graph")
    other = request.query.get("compare", "")
    graph = load_graph(context, workspace, branch, doc)
    difference = mark_differences(context, workspace, branch, other, doc, graph) if other and other != branch else None
    return context.page(
        request,
        "reasoning.html",
        family="reasoning",
        place=workspace,
        branches=branches,
        branch=branch,
        other=other,
        doc=doc,
        graph=graph,
        difference=difference,
        counts=_counts(graph["nodes"]),
        conflicts=_conflicts(context, workspace, branch, doc, graph["nodes"]),
        base_of={row["name"]: row["base_branch"] for row in branches},
    )


def _empty_page(context: PageContext, request: PageRequest, workspace: str) -> Response:
    return context.page(request, "reasoning_empty.html", family="reasoning", place=workspace)


def _branch_in_view(context: PageContext, request: PageRequest, workspace: str) -> str:
    """Return the requested branch, else the one that is checked out."""
    branch = request.query.get("branch") or context.call("branchmind_status", workspace=workspace)["checkout"]
    return str(branch or "main")


def _branches(context: PageContext, workspace: str) -> list[dict[str, Any]]:
    """Return the branches; branches of tasks and plans are last."""
    try:
        answer = context.call("branchmind_branch_list", workspace=workspace, limit=_BRANCHES_MAX, max_chars=_MAX_CHARS)
    except MossError as error:
        if error.code != "NOT_FOUND":
            raise
        return []
    return sorted(answer["branches"], key=lambda row: row["name"].startswith(_WORK_PREFIXES))


def _counts(nodes: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    types = Counter(node["type"] for node in nodes if node["type"])
    statuses = Counter(node["status"] for node in nodes if node["status"])
    return {"types": dict(sorted(types.items())), "statuses": dict(sorted(statuses.items()))}


def _conflicts(
    context: PageContext, workspace: str, branch: str, doc: str, nodes: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    conflicts = context.call(
        "branchmind_graph_conflicts", workspace=workspace, into=branch, doc=doc, status="open", limit=_CONFLICTS_MAX
    )["conflicts"]
    titles = {node["id"]: node["title"] for node in nodes}
    return [{**conflict, "title": _title(conflict["key"], titles)} for conflict in conflicts]


def _title(key: Any, titles: dict[str, str]) -> str:
    """Return a node's title, or for an edge the titles of its ends."""
    if isinstance(key, dict):
        return f"{_title(key['from'], titles)} {key['rel']} {_title(key['to'], titles)}"
    return titles.get(str(key), str(key))


def show_conflict(context: PageContext, request: PageRequest) -> Response:
    workspace = workspace_in_view(context, request, "reasoning")
    conflict = context.call(
        "branchmind_graph_conflict_show",
        workspace=workspace,
        conflict_id=request.path_parameters["id"],
        max_chars=_MAX_CHARS,
    )["conflict"]
    sides = [
        {"title": "Both began with", "state": conflict["base"], "choice": ""},
        {"title": conflict["into_branch"], "state": conflict["into"], "choice": "use_into"},
        {"title": conflict["from_branch"], "state": conflict["from"], "choice": "use_from"},
    ]
    for side, branch in ((sides[1], conflict["into_branch"]), (sides[2], conflict["from_branch"])):
        side["written"] = _last_written(context, workspace, branch, conflict)
    titles = [side["state"]["title"] for side in sides if side["state"] and side["state"].get("title")]
    title = titles[0] if titles else _title(conflict["key"], {})
    content = {"conflict": conflict, "title": title, "sides": sides}
    return context.page(request, "conflict.html", family="reasoning", place=workspace, **content)


def _last_written(context: PageContext, workspace: str, branch: str, conflict: dict[str, Any]) -> dict[str, Any] | None:
    """Return author and time of a node's last version on a branch; None for an edge."""
    if isinstance(conflict["key"], dict):
        return None
    node = {"workspace": workspace, "branch": branch, "doc": conflict["doc"], "id": conflict["key"]}
    try:
        versions = context.store.read(node_detail, what="node", **node)["versions"]
    except MossError:
        return None  # it was erased, or its branch is gone
    return versions[0] if versions else None


def resolve_conflict(context: PageContext, request: PageRequest) -> Response:
    workspace, key = request.form.get("workspace", ""), request.path_parameters["id"]
    resolution = request.form.get("resolution", "")
    content = None
    if resolution == "use_content":
        content = {name: value for name in ("type", "title", "text", "status") if (value := request.form.get(name))}
    arguments = {"conflict_id": key, "resolution": resolution, "content": content}
    context.call("branchmind_graph_conflict_resolve", workspace=workspace, **arguments)
    return context.redirect(f"/reasoning/conflicts/{key}", workspace=workspace, notice="settled")


def merge_branch(context: PageContext, request: PageRequest) -> Response:
    """Merge a branch into its base: notes, traces and graphs."""
    form = request.form
    workspace, into = form.get("workspace", ""), form.get("into", "")
    sides = {"from": form.get("from", ""), "into": into}
    merged = context.call("branchmind_merge_back", workspace=workspace, **sides)
    notice = "conflicts" if merged["conflicts"] else "merged"
    return context.redirect("/reasoning", workspace=workspace, branch=into, doc=form.get("doc"), notice=notice)


def show_log(context: PageContext, request: PageRequest) -> Response:
    """List the entries of a document, newest first."""
    workspace = workspace_in_view(context, request, "reasoning")
    branches = _branches(context, workspace)
    if not branches:
        return _empty_page(context, request, workspace)
    branch = _branch_in_view(context, request, workspace)
    listed = context.call("branchmind_docs_list", workspace=workspace, ref=branch, max_chars=_MAX_CHARS)["docs"]
    docs = [row for row in listed if not row["doc"].endswith("graph")]
    doc = request.query.get("doc") or "notes"
    cursor, chosen = parse_number(request.query.get("cursor")), parse_number(request.query.get("entry"))
    answer = context.call(
        "branchmind_show",
        workspace=workspace,
        branch=branch,
        doc=doc,
        limit=_ENTRIES_MAX if chosen is None else 1,
        cursor=cursor if chosen is None else chosen + 1,
        max_chars=_MAX_CHARS if chosen is None else None,
    )
    authors = context.store.read(entry_authors, what="authors", entries=[entry["seq"] for entry in answer["entries"]])
    return context.page(
        request,
        "log.html",
        authors=authors,
        family="reasoning",
        place=workspace,
        branches=branches,
        branch=branch,
        docs=docs,
        doc=doc,
        entries=_render_entries(answer["entries"][::-1], 1 if chosen is None else requested_part(request)),
        chosen=chosen,
        older=answer["pagination"].get("next_cursor") if answer["pagination"]["has_more"] else None,
    )


def _render_entries(entries: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """Return entries with part of their content as HTML; after too much text on a page, only with their beginning."""
    free_chars = _RENDERED_CHARS
    for entry in entries:
        text = entry.get("content") or ""
        if len(text) > free_chars and len(entries) > 1:
            text = text[:_BEGINNING_CHARS]
        part = Part(text, number)
        free_chars -= len(part.text)
        hidden_chars = len(entry.get("content") or "") - len(part.text)
        entry |= {"part": part, "html": MarkdownDocument(part.text).html, "more": hidden_chars}
    return entries
