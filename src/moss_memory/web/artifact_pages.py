"""Artifacts: the list by kind and run, one with its data as a tree, its versions and its time left."""

from __future__ import annotations

from collections import Counter
from typing import Any

from starlette.responses import Response

from moss_memory.tools.artifact.artifact_rows import kind_counts, run_counts

from .long_texts import Part, requested_part, value_view
from .markdown import MarkdownDocument
from .page_context import PageContext, PageRequest, parse_number
from .templating import pretty

_FILTERS = ("kind", "run_id", "phase", "role", "tag")
_SUMMARY_CHARS = 160
_STATE_CHARS = 40
_SENTENCES = ("summary", "title", "goal", "description", "message", "question", "answer")
_NAMES = ("summary", "title", "description", "message", "path", "name")
_STATES = ("verdict", "status", "result", "outcome")
_BAD = frozenset({"blocked", "failed", "fail", "error", "concerns", "rejected", "reject", "needs_work", "broken"})
"""States of results that need attention."""
_COPIED_CHARS = 100_000
_VERSIONS = 8
_RUNS = 8


def list_artifacts(context: PageContext, request: PageRequest) -> Response:
    """List artifacts, newest first, by the filters of the query, grouped by run."""
    options = {name: True for name in ("include_expired", "include_deleted") if name in request.query}
    answer = context.call(
        "artifact_list", **request.query_values("workspace", *_FILTERS), **context.paging(request), **options
    )
    items, workspace = answer["items"], request.query.get("workspace")
    runs = [run for run, _ in Counter(item["run_id"] for item in items if item.get("run_id")).most_common(_RUNS)]
    for item in items:
        item |= {"summary": summary_of(item), "state": _state(item["data"])}
    return context.page(
        request,
        "artifacts.html",
        family="artifact",
        items=items,
        pagination=answer["pagination"],
        filters=request.query_values(*_FILTERS),
        kinds=context.cached_read(request, kind_counts, what="artifact kinds", workspace=workspace),
        runs=context.cached_read(request, run_counts, what="artifacts of runs", runs=sorted(runs), workspace=workspace),
    )


def summary_of(item: dict[str, Any]) -> str:
    """Return the beginning of an artifact's content: sentences first, then its other values, without ids."""
    data = item["data"]
    parts = [str(data[name]) for name in _SENTENCES if isinstance(data.get(name), str) and data[name]]
    parts += [part for name, value in data.items() if name not in _SENTENCES and (part := _value(name, value))]
    text = " · ".join(parts) or (item.get("text") or "").strip().partition("\n")[0]
    return text if len(text) <= _SUMMARY_CHARS else text[: _SUMMARY_CHARS - 1] + "…"


def _value(name: str, value: Any) -> str:
    title = name.replace("_", " ")
    if name in _STATES or name.endswith(("_id", "_ids")) or value in (None, "", [], {}):
        return ""
    if not isinstance(value, (dict, list)):
        return f"{title} {value}"
    if isinstance(value, dict):
        return f"{len(value)} {title}"
    first = value[0]
    if isinstance(first, dict):
        first = next((first[key] for key in _NAMES if isinstance(first.get(key), str)), None)
    if not isinstance(first, str):
        return f"{len(value)} {title}"
    return f"{title}: {first}" + (f" and {len(value) - 1} more" if len(value) > 1 else "")


def _state(data: dict[str, Any]) -> dict[str, Any] | None:
    """Return the state that an artifact reports, and whether a person should look at it."""
    state = next((data[name] for name in _STATES if isinstance(data.get(name), str) and data[name]), None)
    if state is None:
        return None
    return {"text": state[:_STATE_CHARS].replace("_", " ").lower(), "is_bad": state.casefold() in _BAD}


def show_artifact(context: PageContext, request: PageRequest) -> Response:
    key = request.path_parameters["id"]
    version = parse_number(request.query.get("version")) or None
    artifact = context.call("artifact_fetch", id=key, include_deleted=True, include_expired=True, version=version)
    part = Part(artifact.get("text") or "", requested_part(request))
    return context.page(
        request,
        "artifact.html",
        family="artifact",
        artifact=artifact,
        state=_state(artifact["data"]),
        summary=next((text for name in _SENTENCES if isinstance(text := artifact["data"].get(name), str) and text), ""),
        copied=data_text if len(data_text := pretty(artifact["data"])) <= _COPIED_CHARS else "",
        **value_view(request, artifact["data"]),
        part=part,
        document=MarkdownDocument(part.text),
        versions=context.call("moss_history", type="artifact", id=key, limit=_VERSIONS),
    )


def delete_artifact(context: PageContext, request: PageRequest) -> Response:
    context.call("artifact_delete", id=request.path_parameters["id"])
    return context.redirect(f"/artifacts/{request.path_parameters['id']}", notice="deleted")
