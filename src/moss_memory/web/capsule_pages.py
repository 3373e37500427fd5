"""Capsules: the list, one to read, its history, and the forms that change it."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from moss_memory.errors import MossError
from moss_memory.tools.capsule.capsule_browse import LAST_CHANGED, ORDERS, browse_capsules, capsule_options
from moss_memory.tools.capsule.sections import REQUIRED, missing_sections
from moss_memory.tools.everything.freshness_tools import stale_capsules

from .long_texts import PART_CHARS, PLAIN_CHARS, Part, requested_part
from .markdown import MarkdownDocument
from .page_context import PAGE_ROWS, PageContext, PageRequest, parse_number
from .word_diff import changed_fields, word_difference

_FILTERS = ("workspace", "tag", "phase", "role", "run_id", "name_prefix")
_VERSIONS = 20
_LATEST_VERSIONS = 5
_AGES = {
    "day": ("last day", 1, None),
    "week": ("last week", 7, None),
    "month": ("last month", 30, None),
    "old": ("not for 60 days", None, 60),
}
"""Ages of capsules: the title, and the newest and oldest change in days."""
_HEADINGS = 200
_READER = "you"
"""The default author of an edit."""


def list_capsules(context: PageContext, request: PageRequest) -> Response:
    """List capsules, last changed first, by the filters of the query."""
    deleted = "deleted" in request.query
    order = request.query.get("sort", "")
    order = order if order in ORDERS else "changed"
    if deleted:
        filters = {**request.query_values(*_FILTERS), **context.paging(request)}
        answer = context.call("capsule_inventory", include_deleted=True, **filters)
    else:
        answer = _browse(context, request, order)
    workspace = request.query.get("workspace")
    return context.page(
        request,
        "capsules.html",
        family="capsule",
        items=answer["items"],
        pagination=answer["pagination"],
        filters=request.query_values("tag", "agent", "phase", "role", "run_id", "name_prefix"),
        options=context.cached_read(request, capsule_options, what="capsule options", workspace=workspace),
        orders=ORDERS,
        order=order,
        ages=_AGES,
        looked_at=LAST_CHANGED,
        deleted=deleted,
        gone=load_deleted_capsule(context, request, "deleted"),
        states=_stale_states(context, request, [item["id"] for item in answer["items"]]),
    )


def _browse(context: PageContext, request: PageRequest, order: str) -> dict[str, Any]:
    _, newer, older = _AGES.get(request.query.get("age", ""), ("", None, None))
    return context.cached_read(
        request,
        browse_capsules,
        what="capsules",
        filters=request.query_values(*_FILTERS),
        agent=request.query.get("agent"),
        newer_days=newer,
        older_days=older,
        order=order,
        limit=PAGE_ROWS,
        offset=request.offset,
    )


def load_deleted_capsule(context: PageContext, request: PageRequest, notice: str) -> dict[str, Any] | None:
    """Return the capsule that the last form deleted, if the page was opened by it with this word."""
    if request.query.get("notice") != notice or "id" not in request.query:
        return None
    try:
        capsule = context.call("capsule_fetch", id=request.query["id"], include_deleted=True)
    except MossError:
        return None
    return capsule if "deleted_at" in capsule else None


def _stale_states(context: PageContext, request: PageRequest, ids: list[str]) -> dict[str, str]:
    """Return the state of each capsule whose files have changed, if the server runs in their repository."""
    if not ids or context.store.work_tree() is None:
        return {}
    return context.cached_read(request, stale_capsules, what="files of capsules", ids=ids)


def show_capsule(context: PageContext, request: PageRequest) -> Response:
    version = parse_number(request.query.get("version")) or None
    capsule = context.call("capsule_fetch", id=request.path_parameters["id"], include_deleted=True, version=version)
    return _show_page(context, request, capsule)


def _show_page(
    context: PageContext, request: PageRequest, capsule: dict[str, Any], refused: dict[str, Any] | None = None
) -> Response:
    text = capsule["capsule_text"]
    is_json = text.lstrip().startswith("{")
    part = Part(text, requested_part(request), PLAIN_CHARS if is_json else PART_CHARS)
    document = None if is_json else MarkdownDocument(part.text)
    limit = context.store.config.capsule_max_chars
    return context.page(
        request,
        "capsule.html",
        family="capsule",
        status=refused["error"].status if refused else 200,
        refused=refused,
        capsule=capsule,
        part=part,
        document=document,
        sections=_sections(text, [] if document is None else document.headings),
        limit=limit,
        filled=min(100, round(100 * capsule["capsule_chars"] / limit)),
        versions=context.call("moss_history", type="capsule", id=request.path_parameters["id"], limit=_LATEST_VERSIONS),
        places=context.call("moss_places", id=capsule["id"])["places"] if "freshness" in capsule else [],
    )


def _sections(text: str, headings: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the table of contents: headings of the visible part, then missing sections."""
    anchored = [{"id": anchor, "title": title, "there": True} for anchor, title in headings[:_HEADINGS]]
    missing = missing_sections(text)
    by_label = not anchored and len(missing) < len(REQUIRED)  # sections written as labels or JSON keys have no anchor
    present = (
        [{"id": "", "title": name, "there": True} for name in REQUIRED if name not in missing] if by_label else anchored
    )
    return [*present, *({"id": "", "title": name, "there": False} for name in missing)]


def show_history(context: PageContext, request: PageRequest) -> Response:
    """Show all versions of a capsule, and two of them compared by line."""
    key = request.path_parameters["id"]
    capsule = context.call("capsule_fetch", id=key, include_deleted=True)
    versions = context.call("moss_history", type="capsule", id=key, limit=_VERSIONS, offset=request.offset)
    current = versions["current"]
    newer = parse_number(request.query.get("to")) or current
    older = parse_number(request.query.get("from")) or max(newer - 1, 1)
    return context.page(
        request,
        "capsule_history.html",
        family="capsule",
        capsule=capsule,
        versions=versions,
        older=older,
        newer=newer,
        current=current,
        **_compare(_version(context, key, older), _version(context, key, newer)),
    )


def _version(context: PageContext, key: str, version: int) -> dict[str, Any]:
    try:
        return context.call("capsule_fetch", id=key, include_deleted=True, version=version)
    except MossError as error:
        if error.code != "NOT_FOUND":
            raise
        return {"capsule_text": ""}


def _compare(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    both_stored = "id" in old and "id" in new
    return {
        "lines": word_difference(old["capsule_text"], new["capsule_text"]),
        "fields": changed_fields(old, new) if both_stored else [],
    }


def show_edit_form(context: PageContext, request: PageRequest) -> Response:
    capsule = context.call("capsule_fetch", id=request.path_parameters["id"])
    return _edit_form(context, request, {**capsule, "source": _READER})


def _edit_form(
    context: PageContext,
    request: PageRequest,
    capsule: dict[str, Any],
    error: MossError | None = None,
    preview: MarkdownDocument | None = None,
) -> Response:
    theirs = mine = None
    if error is not None and error.code == "VERSION_MISMATCH":
        current = context.call("capsule_fetch", id=capsule["id"], include_deleted=True)
        theirs = _compare(_version(context, capsule["id"], parse_number(str(capsule["version"])) or 0), current)
        mine = _compare(current, {**current, **capsule})
    return context.page(
        request,
        "capsule_edit.html",
        family="capsule",
        status=error.status if error else 200,
        theirs=theirs,
        mine=mine,
        capsule=capsule,
        error=error,
        preview=preview,
        limit=context.store.config.capsule_max_chars,
    )


def edit_capsule(context: PageContext, request: PageRequest) -> Response:
    key, form = request.path_parameters["id"], request.form
    text = form.get("capsule_text", "").replace("\r\n", "\n")
    changes: dict[str, Any] = {name: form.get(name, "") for name in ("title", "source", "phase", "role", "run_id")}
    stored = context.call("capsule_fetch", id=key, include_deleted=True)  # deleted meanwhile: the form reports it
    if text != stored["capsule_text"].replace("\r\n", "\n"):
        changes["capsule_text"] = text
    tags = _tags(form.get("tags", ""), stored.get("tags") or [])
    expected = {"expected_version": parse_number(form.get("over") or form.get("version")) or 0}
    allowed = {name: True for name in ("allow_thin", "allow_secrets") if form.get(name)}
    typed = {**stored, **changes, "capsule_text": text, "tags": tags, "version": form.get("version", "")}
    if form.get("preview"):
        return _edit_form(context, request, typed, preview=MarkdownDocument(Part(text, 1).text))
    try:
        # Directly: an empty value clears a field here.
        context.call_as_reader("capsule_update", {"id": key, **changes, "tags": tags, **expected, **allowed})
    except MossError as error:
        return _edit_form(context, request, typed, error)
    return context.redirect(f"/capsules/{key}", notice="changed")


def _tags(typed: str, stored_tags: list[str]) -> list[str]:
    """Return the tags of a form; the stored ones if it is unchanged, since they may contain commas."""
    if typed == ", ".join(stored_tags):
        return stored_tags
    return [tag for part in typed.split(",") if (tag := part.strip())]


def rename_capsule(context: PageContext, request: PageRequest) -> Response:
    """Rename a capsule or move it to another workspace."""
    key, form = request.path_parameters["id"], request.form
    capsule = context.call("capsule_fetch", id=key)
    changes = {
        f"new_{part}": form[part].strip()
        for part in ("name", "workspace")
        if form.get(part, "").strip() and form[part].strip() != capsule.get(part)
    }
    try:
        if changes:
            context.call("moss_rename", type="capsule", id=key, **changes)
    except MossError as error:
        return _show_page(context, request, capsule, {**form, "error": error})
    return context.redirect(f"/capsules/{key}", notice="renamed" if changes else "")


def delete_capsule(context: PageContext, request: PageRequest) -> Response:
    context.call("capsule_delete", id=request.path_parameters["id"])
    return context.redirect("/capsules", notice="deleted", id=request.path_parameters["id"])
