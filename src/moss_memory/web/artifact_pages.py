"""Artifacts: the list by kind and run, one with its data as a tree, its versions and its time left."""

from __future__ import annotations

from moss_memory.tools.artifact.artifact_options import artifact_kinds, run_counts

from .filter_options import most_used
from .long_texts import Part, requested_part, value_view
from .markdown import MarkdownDocument
from .templating import pretty
from .version_rows import number_of, versions_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest

_FILTERS = ("kind", "run_id", "phase", "role", "tag")
_GLANCE_CHARS = 160
_STATE_CHARS = 40
_SENTENCES = ("summary", "title", "goal", "description", "message", "question", "answer")
_NAMES = ("summary", "title", "description", "message", "path", "name")
_STATES = ("verdict", "status", "result", "outcome")
_BAD = frozenset({"blocked", "failed", "fail", "error", "concerns", "rejected", "reject", "needs_work", "broken"})
"""States of results that need attention."""
_COPIED_CHARS = 100_000
_VERSIONS = 8


def list_page(context: PageContext, request: PageRequest) -> Response:
    """List artifacts, newest first, by the filters of the query, grouped by run."""
    more = {name: True for name in ("include_expired", "include_deleted") if name in request.query}
    answer = context.call(
        "artifact_list", **request.query_values("workspace", *_FILTERS), **context.paging(request), **more
    )
    items, workspace = answer["items"], request.query.get("workspace")
    runs = [run for run, _ in most_used(item.get("run_id") for item in items)]
    for item in items:
        item |= {"glance": glance_of(item), "state": _state(item["data"])}
    return context.page(
        request,
        "artifacts.html",
        family="artifact",
        items=items,
        pagination=answer["pagination"],
        filters=request.query_values(*_FILTERS),
        kinds=context.cached_read(request, artifact_kinds, what="artifact kinds", workspace=workspace),
        runs=context.cached_read(request, run_counts, what="artifacts of runs", runs=sorted(runs), workspace=workspace),
    )


def glance_of(item: dict[str, Any]) -> str:
    """Return the beginning of an artifact's content: sentences first, then its other values, without ids."""
    data = item["data"]
    said = [str(data[name]) for name in _SENTENCES if isinstance(data.get(name), str) and data[name]]
    said += [part for name, value in data.items() if name not in _SENTENCES and (part := _value(name, value))]
    text = " · ".join(said) or (item.get("text") or "").strip().partition("\n")[0]
    return text if len(text) <= _GLANCE_CHARS else text[: _GLANCE_CHARS - 1] + "…"


def _value(name: str, value: Any) -> str:
    """Return one value on a line: of a list its first text and the number of the others."""
    title = name.replace("_", " ")
    if name in _STATES or name.endswith(("_id", "_ids")) or value in (None, "", [], {}):
        return ""
    if not isinstance(value, (dict, list)):
        return f"{title} {value}"
    if isinstance(value, dict):
        return f"{len(value)} {title}"
    first = value[0]
    if isinstance(first, dict):
        first = next((first[one] for one in _NAMES if isinstance(first.get(one), str)), None)
    if not isinstance(first, str):
        return f"{len(value)} {title}"
    return f"{title}: {first}" + (f" and {len(value) - 1} more" if len(value) > 1 else "")


def _state(data: dict[str, Any]) -> dict[str, Any] | None:
    """Return the state that an artifact reports, and whether a person should look at it."""
    state = next((data[name] for name in _STATES if isinstance(data.get(name), str) and data[name]), None)
    if state is None:
        return None
    return {"text": state[:_STATE_CHARS].replace("_", " ").lower(), "is_bad": state.casefold() in _BAD}


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
        state=_state(artifact["data"]),
        summary=next((text for name in _SENTENCES if isinstance(text := artifact["data"].get(name), str) and text), ""),
        copied=written if len(written := pretty(artifact["data"])) <= _COPIED_CHARS else "",
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
