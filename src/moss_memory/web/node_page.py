"""One node of a graph: its text in full, its author, its links and its history."""

from __future__ import annotations

from moss_memory.tools.reasoning.graph.node_detail import node_detail

from .long_texts import Part, requested_part
from .markdown import MarkdownDocument
from .page_frame import workspace_in_view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest

_SHOWN_CHARS = 200


def show(context: PageContext, request: PageRequest) -> Response:
    """Show one node of a branch."""
    workspace = workspace_in_view(context, request, "reasoning")
    branch = request.query.get("branch") or "main"
    doc = request.query.get("doc") or "graph"
    found = context.store.read(
        node_detail, what="node", workspace=workspace, branch=branch, doc=doc, id=request.query.get("id", "")
    )
    node = found["node"]
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
        links=found["links"],
        versions=_with_changes(found["versions"]),
    )


def _with_changes(versions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the versions with a line that says what each changed."""
    earlier = [*versions[1:], None]
    return [{**new, "change": _change(old, new)} for new, old in zip(versions, earlier, strict=True)]


def _change(old: dict[str, Any] | None, new: dict[str, Any]) -> str:
    if new["deleted"]:
        return "deleted"
    if old is None or old["deleted"]:
        return "written"
    said = [f"{name} changed" for name in ("type", "title", "text", "tags", "meta") if old.get(name) != new.get(name)]
    if old.get("status") != new.get("status"):
        said.insert(0, f"{old.get('status') or 'no status'} → {new.get('status') or 'no status'}")
    return ", ".join(said)[:_SHOWN_CHARS] or "written again"


PAGES = {"/reasoning/node": show}
FORMS: dict[str, Any] = {}
