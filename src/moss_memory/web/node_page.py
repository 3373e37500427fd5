"""One node of a graph: its text in full, its author, its links and its history."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from starlette.responses import Response

from moss_memory.tools.reasoning.graph.node_detail import node_detail

from .long_texts import Part, requested_part
from .markdown import MarkdownDocument
from .page_context import PageContext, PageRequest
from .page_frame import workspace_in_view

_SHOWN_CHARS = 200


def show_node(context: PageContext, request: PageRequest) -> Response:
    workspace = workspace_in_view(context, request, "reasoning")
    branch = request.query.get("branch") or "main"
    doc = request.query.get("doc") or "graph"
    detail = context.store.read(
        node_detail, what="node", workspace=workspace, branch=branch, doc=doc, id=request.query.get("id", "")
    )
    node = detail["node"]
    part = Part(node.get("text") or "", requested_part(request))
    return context.page(
        request,
        "node.html",
        family="reasoning",
        place=workspace,
        branch=branch,
        doc=doc,
        node=node,
        part=part,
        document=MarkdownDocument(part.text),
        links=detail["links"],
        versions=[{**new, "change": _change(old, new)} for new, old in pairwise([*detail["versions"], None])],
    )


def _change(old: dict[str, Any] | None, new: dict[str, Any]) -> str:
    if new["deleted"]:
        return "deleted"
    if old is None or old["deleted"]:
        return "written"
    changes = [
        f"{name} changed" for name in ("type", "title", "text", "tags", "meta") if old.get(name) != new.get(name)
    ]
    if old.get("status") != new.get("status"):
        changes.insert(0, f"{old.get('status') or 'no status'} → {new.get('status') or 'no status'}")
    return ", ".join(changes)[:_SHOWN_CHARS] or "written again"
