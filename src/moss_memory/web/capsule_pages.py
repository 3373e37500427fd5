"""Capsules: the list, one to read, its history, and the forms that change it."""

from __future__ import annotations

from moss_memory.errors import MossError
from moss_memory.tools.capsule.sections import REQUIRED, missing_sections

from .filter_options import most_used
from .line_diff import difference
from .long_texts import PART_CHARS, PLAIN_CHARS, Part, requested_part
from .markdown import Document
from .version_rows import number_of, versions_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest

_FILTERS = ("workspace", "tag", "phase", "role", "run_id", "name_prefix")
_VERSIONS = 20
_TAGS = 12
_HEADINGS = 200


def list_page(context: PageContext, request: PageRequest) -> Response:
    """List capsules, last changed first, by the filters of the query."""
    deleted = "deleted" in request.query
    answer = context.call(
        "capsule_inventory",
        **request.query_values(*_FILTERS),
        **context.paging(request),
        include_deleted=deleted or None,
    )
    return context.page(
        request,
        "capsules.html",
        family="capsule",
        items=answer["items"],
        pagination=answer["pagination"],
        filters=request.query_values("tag", "phase", "role", "run_id", "name_prefix"),
        tags=most_used((tag for item in answer["items"] for tag in item.get("tags") or []), _TAGS),
        deleted=deleted,
        states=_states(context, request),
    )


def _states(context: PageContext, request: PageRequest) -> dict[str, str]:
    """Return the capsules whose files have changed, if the server runs in their repository."""
    if context.store.work_tree() is None:
        return {}
    found = context.cached_call(request, "moss_freshness", **request.query_values("workspace"), limit=100)["items"]
    states = {item["id"]: str(item["freshness"]["state"]) for item in found}
    return {key: state for key, state in states.items() if state in ("orphaned", "drifted")}


def show(context: PageContext, request: PageRequest) -> Response:
    """Show one capsule as rendered Markdown, or an old version of it."""
    capsule = _fetch(context, request)
    text = capsule["capsule_text"]
    is_json = text.lstrip().startswith("{")
    part = Part(text, requested_part(request), PLAIN_CHARS if is_json else PART_CHARS)
    document = None if is_json else Document(part.text)
    limit = context.store.config.capsule_max_chars
    return context.page(
        request,
        "capsule.html",
        family="capsule",
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
        lines=difference(_text_of(context, key, older), _text_of(context, key, newer)) if older != newer else [],
    )


def _text_of(context: PageContext, key: str, version: int) -> str:
    """Return the text of a version; empty if it is no longer stored."""
    try:
        return str(context.call("capsule_fetch", id=key, include_deleted=True, version=version)["capsule_text"])
    except MossError as error:
        if error.code != "NOT_FOUND":
            raise
        return ""


def show_form(context: PageContext, request: PageRequest) -> Response:
    """Show the form that changes a capsule."""
    capsule = context.call("capsule_fetch", id=request.path["id"])
    return _edit_form(context, request, capsule, None)


def _edit_form(
    context: PageContext, request: PageRequest, capsule: dict[str, Any], error: MossError | None
) -> Response:
    return context.page(
        request,
        "capsule_edit.html",
        family="capsule",
        status=error.status if error else 200,
        capsule=capsule,
        error=error,
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
    if new:
        context.call("moss_rename", type="capsule", id=key, **new)
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
    context.call("moss_revert", type="capsule", id=key, version=number_of(request.form.get("version")))
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
