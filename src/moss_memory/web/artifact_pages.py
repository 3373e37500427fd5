"""Artifacts: the list by kind and run, one with its data as a tree, its versions and its time left."""

from __future__ import annotations

from .filter_options import most_used
from .long_texts import Part, requested_part, value_view
from .markdown import MarkdownDocument
from .version_rows import number_of, versions_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest

_FILTERS = ("kind", "run_id", "phase", "role", "tag")
_GLANCE_CHARS = 120
_VERSIONS = 8


def list_page(context: PageContext, request: PageRequest) -> Response:
    """List artifacts, newest first, by the filters of the query, grouped by run."""
    more = {name: True for name in ("include_expired", "include_deleted") if name in request.query}
    answer = context.call(
        "artifact_list", **request.query_values("workspace", *_FILTERS), **context.paging(request), **more
    )
    items = answer["items"]
    for item in items:
        item["glance"] = _glance(item["data"])
    return context.page(
        request,
        "artifacts.html",
        family="artifact",
        items=items,
        pagination=answer["pagination"],
        filters=request.query_values(*_FILTERS),
        kinds=most_used(item["kind"] for item in items),
        runs=most_used(item.get("run_id") for item in items),
    )


def _glance(data: dict[str, Any]) -> str:
    """Return the scalar values of an artifact on one line."""
    plain = [
        f"{name}: {value}" if not isinstance(value, (dict, list)) else f"{name}: {len(value)}"
        for name, value in data.items()
    ]
    text = ", ".join(plain)
    return text if len(text) <= _GLANCE_CHARS else text[: _GLANCE_CHARS - 1] + "…"


def show(context: PageContext, request: PageRequest) -> Response:
    """Show one artifact or an old version of it."""
    key = request.path["id"]
    version = number_of(request.query.get("version"))
    old = {"version": version} if version else {}
    artifact = context.call("artifact_fetch", id=key, include_deleted=True, include_expired=True, **old)
    return context.page(
        request,
        "artifact.html",
        family="artifact",
        artifact=artifact,
        **_content(request, artifact),
        versions=versions_of(context, "artifact", key, _VERSIONS),
    )


def _content(request: PageRequest, artifact: dict[str, Any]) -> dict[str, Any]:
    """Return data and text of an artifact, or a part of each."""
    part = Part(artifact.get("text") or "", requested_part(request))
    return {**value_view(request, artifact["data"]), "part": part, "document": MarkdownDocument(part.text)}


def delete(context: PageContext, request: PageRequest) -> Response:
    """Delete an artifact; its name becomes available."""
    context.call("artifact_delete", id=request.path["id"])
    return context.to(f"/artifacts/{request.path['id']}", said="deleted")


def restore(context: PageContext, request: PageRequest) -> Response:
    """Restore a deleted artifact."""
    context.call("artifact_restore", id=request.path["id"])
    return context.to(f"/artifacts/{request.path['id']}", said="restored")


def revert(context: PageContext, request: PageRequest) -> Response:
    """Revert an artifact to an old version."""
    key = request.path["id"]
    expected = number_of(request.form.get("expected")) or None
    version = number_of(request.form.get("version"))
    context.call("moss_revert", type="artifact", id=key, version=version, expected_version=expected)
    return context.to(f"/artifacts/{key}", said="reverted")


PAGES = {"/artifacts": list_page, "/artifacts/{id}": show}
FORMS = {"/artifacts/{id}/delete": delete, "/artifacts/{id}/restore": restore, "/artifacts/{id}/revert": revert}
