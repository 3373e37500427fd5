"""Reasoning: the graph of a branch, two branches compared, conflicts side by side, notes and traces as a log."""

from __future__ import annotations

from moss_memory.errors import MossError

from .graph_data import compared, graph_of
from .long_texts import Part, wanted_part
from .markdown import Document
from .page_frame import workspace_in_view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest

_BRANCHES = 200
_ENTRIES = 40
_WHOLE = 400_000
_CONFLICTS = 20
_RENDERED_CHARS = 30_000
"""A page of the log renders about this many characters; of entries beyond that it shows the beginning."""
_BEGINNING_CHARS = 300
_OF_WORK = ("task/", "plan/")
"""What the branches begin with that belong to tasks and plans."""


def graph(site: PageContext, visit: PageRequest) -> Response:
    """The graph of a branch; beside another one it shows what differs."""
    workspace = workspace_in_view(site, visit, "reasoning")
    branches = _branches(site, workspace)
    if not branches:
        return site.page(visit, "reasoning_empty.html", family="reasoning", place=workspace)
    branch = visit.query.get("branch") or _checkout(site, workspace)
    doc = visit.query.get("doc", "graph")
    other = visit.query.get("compare", "")
    shown = graph_of(site, workspace, branch, doc)
    difference = compared(site, workspace, branch, other, doc, shown) if other and other != branch else None
    return site.page(
        visit,
        "reasoning.html",
        family="reasoning",
        place=workspace,
        branches=branches,
        branch=branch,
        other=other,
        doc=doc,
        graph=shown,
        difference=difference,
        counts=_counts(shown["nodes"]),
        conflicts=_conflicts(site, workspace, branch, doc, shown["nodes"]),
        base_of={one["name"]: one["base_branch"] for one in branches},
    )


def _checkout(site: PageContext, workspace: str) -> str:
    return str(site.call("branchmind_status", workspace=workspace)["checkout"] or "main")


def _branches(site: PageContext, workspace: str) -> list[dict[str, Any]]:
    """The branches that can be looked at, those of tasks and plans last."""
    try:
        found = site.call("branchmind_branch_list", workspace=workspace, limit=_BRANCHES, max_chars=_WHOLE)["branches"]
    except MossError as error:
        if error.code != "NOT_FOUND":
            raise
        return []
    return sorted(found, key=lambda one: one["name"].startswith(_OF_WORK))


def _counts(nodes: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """How many nodes there are of each type and status."""
    found: dict[str, dict[str, int]] = {"types": {}, "statuses": {}}
    for node in nodes:
        for kind, value in (("types", node["type"]), ("statuses", node["status"])):
            if value:
                found[kind][value] = found[kind].get(value, 0) + 1
    return {kind: dict(sorted(counts.items())) for kind, counts in found.items()}


def _conflicts(
    site: PageContext, workspace: str, branch: str, doc: str, nodes: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """What merges into a branch have left to settle, each with a title."""
    found = site.call(
        "branchmind_graph_conflicts", workspace=workspace, into=branch, doc=doc, status="open", limit=_CONFLICTS
    )["conflicts"]
    titles = {node["id"]: node["title"] for node in nodes}
    return [{**one, "title": _title(one["key"], titles)} for one in found]


def _title(key: Any, titles: dict[str, str]) -> str:
    """A node by its title, a link by the titles of its ends."""
    if isinstance(key, dict):
        return f"{_title(key['from'], titles)} {key['rel']} {_title(key['to'], titles)}"
    return titles.get(str(key), str(key))


def conflict(site: PageContext, visit: PageRequest) -> Response:
    """A conflict: what both started from, and what each made of it."""
    workspace = workspace_in_view(site, visit, "reasoning")
    shown = site.call(
        "branchmind_graph_conflict_show", workspace=workspace, conflict_id=visit.path["id"], max_chars=_WHOLE
    )["conflict"]
    sides = [
        {"title": "Both began with", "state": shown["base"], "choice": ""},
        {"title": shown["into"], "state": shown["ours"], "choice": "use_into"},
        {"title": shown["from"], "state": shown["theirs"], "choice": "use_from"},
    ]
    named = next((side["state"]["title"] for side in sides if side["state"] and side["state"].get("title")), None)
    title = named or _title(shown["key"], {})
    return site.page(
        visit, "conflict.html", family="reasoning", place=workspace, conflict=shown, title=title, sides=sides
    )


def settle(site: PageContext, visit: PageRequest) -> Response:
    """Settles a conflict with one of its sides."""
    workspace, key = visit.form.get("workspace", ""), visit.path["id"]
    resolution = visit.form.get("resolution", "")
    site.call("branchmind_graph_conflict_resolve", workspace=workspace, conflict_id=key, resolution=resolution)
    return site.to(f"/reasoning/conflicts/{key}", workspace=workspace, said="settled")


def merge(site: PageContext, visit: PageRequest) -> Response:
    """Merges a branch into its base: its graph, and its notes."""
    form = visit.form
    workspace, source, into = form.get("workspace", ""), form.get("from", ""), form.get("into", "")
    place: dict[str, Any] = {"workspace": workspace, "from": source, "into": into}
    left = _merged(site, "branchmind_graph_merge", {**place, "doc": form.get("doc") or "graph"})
    _merged(site, "branchmind_merge", {**place, "doc": "notes"})
    said = "conflicts" if left else "merged"
    return site.to("/reasoning", workspace=workspace, branch=into, doc=form.get("doc"), said=said)


def _merged(site: PageContext, tool: str, place: dict[str, Any]) -> bool:
    """Merges page after page to the end; whether it left conflicts."""
    conflicts, cursor = False, None
    while True:
        answer = site.store.call(tool, place | ({"cursor": cursor} if cursor is not None else {}))
        conflicts = conflicts or bool(answer.get("conflict_ids"))
        page = answer.get("pagination", answer)
        if not page.get("has_more"):
            return conflicts
        cursor = page.get("next_cursor")


def log(site: PageContext, visit: PageRequest) -> Response:
    """The entries of a document, the newest first."""
    workspace = workspace_in_view(site, visit, "reasoning")
    branches = _branches(site, workspace)
    if not branches:
        return site.page(visit, "reasoning_empty.html", family="reasoning", place=workspace)
    branch = visit.query.get("branch") or _checkout(site, workspace)
    docs = [
        one
        for one in site.call("branchmind_docs_list", workspace=workspace, ref=branch, max_chars=_WHOLE)["docs"]
        if not one["doc"].endswith("graph")
    ]
    doc = visit.query.get("doc") or "notes"
    cursor, chosen = _number(visit, "cursor"), _number(visit, "entry")
    answer = site.call(
        "branchmind_show",
        workspace=workspace,
        branch=branch,
        doc=doc,
        limit=_ENTRIES if chosen is None else 1,
        cursor=cursor if chosen is None else chosen + 1,
        max_chars=_WHOLE if chosen is None else None,
    )
    return site.page(
        visit,
        "log.html",
        family="reasoning",
        place=workspace,
        branches=branches,
        branch=branch,
        docs=docs,
        doc=doc,
        entries=_rendered(answer["entries"][::-1], 1 if chosen is None else wanted_part(visit)),
        chosen=chosen,
        older=answer["pagination"].get("next_cursor") if answer["pagination"]["has_more"] else None,
    )


def _number(visit: PageRequest, name: str) -> int | None:
    """The number of an entry that a query names."""
    given = visit.query.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 19 else None


def _rendered(entries: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """Entries with a part of the content of each as HTML; those after too much text on a page with its beginning."""
    left = _RENDERED_CHARS
    for entry in entries:
        text = entry.get("content") or ""
        if len(text) > left and len(entries) > 1:
            text = text[:_BEGINNING_CHARS]
        part = Part(text, number)
        left -= len(part.text)
        more = len(entry.get("content") or "") - len(part.text)
        entry |= {"part": part, "html": Document(part.text).html, "more": more}
    return entries


PAGES = {"/reasoning": graph, "/reasoning/log": log, "/reasoning/conflicts/{id}": conflict}
FORMS = {"/reasoning/merge": merge, "/reasoning/conflicts/{id}/settle": settle}
