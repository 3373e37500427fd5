"""Capsules: the list, one to read, its history, and the forms that change it."""

from __future__ import annotations

from moss_memory.errors import MossError
from moss_memory.tools.capsule.capsule_browse import LAST_CHANGED, ORDERS, browse_capsules, capsule_options
from moss_memory.tools.capsule.sections import REQUIRED, missing_sections
from moss_memory.tools.everything.freshness_tools import stale_capsules

from .long_texts import PART_CHARS, PLAIN_CHARS, Part, requested_part
from .markdown import MarkdownDocument
from .page_context import PAGE_ROWS
from .version_rows import number_of, versions_of
from .word_diff import changed_fields, word_difference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest

_FILTERS = ("workspace", "tag", "phase", "role", "run_id", "name_prefix")
_VERSIONS = 20
_AGES = {
    "day": ("last day", 1, None),
    "week": ("last week", 7, None),
    "month": ("last month", 30, None),
    "old": ("not for 60 days", None, 60),
}
"""Ages of capsules: the title, and the newest and oldest change in days."""
_HEADINGS = 200
_READER = "you"
"""The author of an edit, unless its form says otherwise."""


def list_page(context: PageContext, request: PageRequest) -> Response:
    """List capsules, last changed first, by the filters of the query."""
    deleted = "deleted" in request.query
    answer = _with_deleted(context, request) if deleted else _browse(context, request)
    options = context.cached_read(
        request, capsule_options, what="capsule options", workspace=request.query.get("workspace")
    )
    return context.page(
        request,
        "capsules.html",
        family="capsule",
        items=answer["items"],
        pagination=answer["pagination"],
        filters=request.query_values("tag", "agent", "phase", "role", "run_id", "name_prefix"),
        options=options,
        orders=ORDERS,
        order=_order(request),
        ages=_AGES,
        looked_at=LAST_CHANGED,
        deleted=deleted,
        gone=just_deleted(context, request, "deleted"),
        states=_stale_states(context, request, [item["id"] for item in answer["items"]]),
    )


def _with_deleted(context: PageContext, request: PageRequest) -> dict[str, Any]:
    return context.call(
        "capsule_inventory", **request.query_values(*_FILTERS), **context.paging(request), include_deleted=True
    )


def _browse(context: PageContext, request: PageRequest) -> dict[str, Any]:
    _, newer, older = _AGES.get(request.query.get("age", ""), ("", None, None))
    return context.cached_read(
        request,
        browse_capsules,
        what="capsules",
        filters=request.query_values(*_FILTERS),
        agent=request.query.get("agent"),
        newer_days=newer,
        older_days=older,
        order=_order(request),
        limit=PAGE_ROWS,
        offset=request.offset,
    )


def _order(request: PageRequest) -> str:
    given = request.query.get("sort", "")
    return given if given in ORDERS else "changed"


def just_deleted(context: PageContext, request: PageRequest, said: str) -> dict[str, Any] | None:
    """Return the capsule that the last form deleted, if the page was opened by it with this word."""
    if request.query.get("said") != said or "id" not in request.query:
        return None
    try:
        capsule = context.call("capsule_fetch", id=request.query["id"], include_deleted=True)
    except MossError:
        return None
    return capsule if "deleted_at" in capsule else None


def _stale_states(context: PageContext, request: PageRequest, ids: list[str]) -> dict[str, str]:
    """Return those of these capsules whose files have changed, if the server runs in their repository."""
    if not ids or context.store.work_tree() is None:
        return {}
    return context.cached_read(request, stale_capsules, what="files of capsules", ids=ids)


def show(context: PageContext, request: PageRequest) -> Response:
    """Show one capsule as rendered Markdown, or an old version of it."""
    return _show(context, request, _fetch(context, request))


def _show(
    context: PageContext, request: PageRequest, capsule: dict[str, Any], refused: dict[str, Any] | None = None
) -> Response:
    """Show a capsule; `refused` has the values and the error of a new name that was refused."""
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
        versions=versions_of(context, "capsule", request.path["id"], 5),
        places=context.call("moss_places", id=capsule["id"])["places"] if "freshness" in capsule else [],
    )


def _fetch(context: PageContext, request: PageRequest) -> dict[str, Any]:
    version = number_of(request.query.get("version"))
    more = {"version": version} if version else {}
    return context.call("capsule_fetch", id=request.path["id"], include_deleted=True, **more)


def _sections(text: str, headings: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the table of contents: headings of the visible part, then missing sections."""
    found = [{"id": anchor, "title": title, "there": True} for anchor, title in headings[:_HEADINGS]]
    missing = missing_sections(text)
    by_label = not found and len(missing) < len(REQUIRED)  # sections written as labels or JSON keys have no anchor
    kept = [{"id": "", "title": name, "there": True} for name in REQUIRED if name not in missing] if by_label else found
    return [*kept, *({"id": "", "title": name, "there": False} for name in missing)]


def history(context: PageContext, request: PageRequest) -> Response:
    """Show all versions of a capsule, and two of them compared by line."""
    key = request.path["id"]
    capsule = context.call("capsule_fetch", id=key, include_deleted=True)
    versions = versions_of(context, "capsule", key, _VERSIONS, request.offset)
    current = versions["current"]
    newer = number_of(request.query.get("to")) or current
    older = number_of(request.query.get("from")) or max(newer - 1, 1)
    return context.page(
        request,
        "capsule_history.html",
        family="capsule",
        capsule=capsule,
        versions=versions,
        older=older,
        newer=newer,
        current=current,
        **_compared(_version(context, key, older), _version(context, key, newer)),
    )


def _version(context: PageContext, key: str, version: int) -> dict[str, Any]:
    """Return a version of a capsule; without a text if it is no longer stored."""
    try:
        return context.call("capsule_fetch", id=key, include_deleted=True, version=version)
    except MossError as error:
        if error.code != "NOT_FOUND":
            raise
        return {"capsule_text": ""}


def _compared(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the lines and the other fields in which two versions differ."""
    known = "id" in old and "id" in new
    return {
        "lines": word_difference(old["capsule_text"], new["capsule_text"]),
        "fields": changed_fields(old, new) if known else [],
    }


def show_form(context: PageContext, request: PageRequest) -> Response:
    """Show the form that changes a capsule."""
    capsule = context.call("capsule_fetch", id=request.path["id"])
    return _edit_form(context, request, {**capsule, "source": _READER}, None)


def _edit_form(
    context: PageContext,
    request: PageRequest,
    capsule: dict[str, Any],
    error: MossError | None = None,
    preview: MarkdownDocument | None = None,
) -> Response:
    theirs = mine = None
    if error is not None and error.code == "VERSION_MISMATCH":
        now = context.call("capsule_fetch", id=capsule["id"], include_deleted=True)
        theirs = _compared(_version(context, capsule["id"], number_of(str(capsule["version"]))), now)
        mine = _compared(now, {**now, **capsule})
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


def edit(context: PageContext, request: PageRequest) -> Response:
    """Store a changed capsule; if it is refused, show the form again with the reason."""
    key, form = request.path["id"], request.form
    text = form.get("capsule_text", "").replace("\r\n", "\n")
    changes: dict[str, Any] = {name: form.get(name, "") for name in ("title", "source", "phase", "role", "run_id")}
    before = context.call("capsule_fetch", id=key, include_deleted=True)  # deleted meanwhile: the form reports it
    if text != before["capsule_text"].replace("\r\n", "\n"):
        changes["capsule_text"] = text
    tags = _tags(form.get("tags", ""), before.get("tags") or [])
    known = {"expected_version": number_of(form.get("over") or form.get("version"))}
    allowed = {name: True for name in ("allow_thin", "allow_secrets") if form.get(name)}
    if form.get("preview"):
        kept = {**before, **changes, "capsule_text": text, "tags": tags, "version": form.get("version", "")}
        return _edit_form(context, request, kept, preview=MarkdownDocument(Part(text, 1).text))
    try:
        # Directly: an empty value clears a field here.
        context.call_as_reader("capsule_update", {"id": key, **changes, "tags": tags, **known, **allowed})
    except MossError as error:
        kept = {**before, **changes, "capsule_text": text, "tags": tags, "version": form.get("version", "")}
        return _edit_form(context, request, kept, error)
    return context.to(f"/capsules/{key}", said="changed")


def _tags(written: str, before: list[str]) -> list[str]:
    """Return the tags of a form; the stored ones if it is unchanged, since they may contain commas."""
    if written == ", ".join(before):
        return before
    return [tag for part in written.split(",") if (tag := part.strip())]


def rename(context: PageContext, request: PageRequest) -> Response:
    """Rename a capsule or move it to another workspace."""
    key, form = request.path["id"], request.form
    before = context.call("capsule_fetch", id=key)
    new = {
        f"new_{part}": form[part].strip()
        for part in ("name", "workspace")
        if form.get(part, "").strip() and form[part].strip() != before.get(part)
    }
    try:
        if new:
            context.call("moss_rename", type="capsule", id=key, **new)
    except MossError as error:
        return _show(context, request, before, {**form, "error": error})
    return context.to(f"/capsules/{key}", said="renamed" if new else "")


def delete(context: PageContext, request: PageRequest) -> Response:
    """Delete a capsule; it can be restored."""
    context.call("capsule_delete", id=request.path["id"])
    return context.to("/capsules", said="deleted", id=request.path["id"])


def restore(context: PageContext, request: PageRequest) -> Response:
    """Restore a deleted capsule."""
    context.call("capsule_restore", id=request.path["id"])
    return context.to(f"/capsules/{request.path['id']}", said="restored")


def revert(context: PageContext, request: PageRequest) -> Response:
    """Revert a capsule to an old version."""
    key = request.path["id"]
    expected = number_of(request.form.get("expected")) or None
    version = number_of(request.form.get("version"))
    context.call("moss_revert", type="capsule", id=key, version=version, expected_version=expected)
    return context.to(f"/capsules/{key}", said="reverted")


PAGES = {
    "/capsules": list_page,
    "/capsules/{id}": show,
    "/capsules/{id}/history": history,
    "/capsules/{id}/edit": show_form,
}
FORMS = {
    "/capsules/{id}/edit": edit,
    "/capsules/{id}/rename": rename,
    "/capsules/{id}/delete": delete,
    "/capsules/{id}/restore": restore,
    "/capsules/{id}/revert": revert,
}
