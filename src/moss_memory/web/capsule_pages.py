"""Capsules: the list, one to read, its history, and the forms that change it."""

from __future__ import annotations

from moss_memory.errors import MossError
from moss_memory.tools.capsule.sections import REQUIRED, missing_sections

from .filter_options import most_used
from .line_diff import difference
from .long_texts import PART_CHARS, PLAIN_CHARS, Part, wanted_part
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


def listing(site: PageContext, visit: PageRequest) -> Response:
    """The capsules, last changed first, by the filters of the query."""
    deleted = "deleted" in visit.query
    answer = site.call(
        "capsule_inventory", **visit.asked(*_FILTERS), **site.rows(visit), include_deleted=deleted or None
    )
    return site.page(
        visit,
        "capsules.html",
        family="capsule",
        items=answer["items"],
        pagination=answer["pagination"],
        filters=visit.asked("tag", "phase", "role", "run_id", "name_prefix"),
        tags=most_used((tag for item in answer["items"] for tag in item.get("tags") or []), _TAGS),
        deleted=deleted,
    )


def reading(site: PageContext, visit: PageRequest) -> Response:
    """One capsule as rendered Markdown, or an old version of it."""
    capsule = _fetched(site, visit)
    text = capsule["capsule_text"]
    is_json = text.lstrip().startswith("{")
    part = Part(text, wanted_part(visit), PLAIN_CHARS if is_json else PART_CHARS)
    document = None if is_json else Document(part.text)
    limit = site.store.config.capsule_max_chars
    return site.page(
        visit,
        "capsule.html",
        family="capsule",
        capsule=capsule,
        part=part,
        document=document,
        sections=_sections(text, [] if document is None else document.headings),
        limit=limit,
        filled=min(100, round(100 * capsule["capsule_chars"] / limit)),
        versions=versions_of(site, "capsule", visit.path["id"], 5),
    )


def _fetched(site: PageContext, visit: PageRequest) -> dict[str, Any]:
    version = number_of(visit.query.get("version"))
    more = {"version": version} if version else {}
    return site.call("capsule_fetch", id=visit.path["id"], include_deleted=True, **more)


def _sections(text: str, headings: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """The table of contents: the headings of the part that is shown, then the sections that the text lacks."""
    found = [{"id": anchor, "title": title, "there": True} for anchor, title in headings[:_HEADINGS]]
    missing = missing_sections(text)
    by_label = not found and len(missing) < len(REQUIRED)  # sections written as labels or JSON keys have no anchor
    kept = [{"id": "", "title": name, "there": True} for name in REQUIRED if name not in missing] if by_label else found
    return [*kept, *({"id": "", "title": name, "there": False} for name in missing)]


def history(site: PageContext, visit: PageRequest) -> Response:
    """Every version of a capsule, and two of them compared line by line."""
    key = visit.path["id"]
    capsule = site.call("capsule_fetch", id=key, include_deleted=True)
    versions = versions_of(site, "capsule", key, _VERSIONS, visit.offset)
    current = versions["current"]
    newer = number_of(visit.query.get("to")) or current
    older = number_of(visit.query.get("from")) or max(newer - 1, 1)
    return site.page(
        visit,
        "capsule_history.html",
        family="capsule",
        capsule=capsule,
        versions=versions,
        older=older,
        newer=newer,
        current=current,
        lines=difference(_text_of(site, key, older), _text_of(site, key, newer)) if older != newer else [],
    )


def _text_of(site: PageContext, key: str, version: int) -> str:
    """The text of a version; one that is not kept any more reads as empty."""
    try:
        return str(site.call("capsule_fetch", id=key, include_deleted=True, version=version)["capsule_text"])
    except MossError as error:
        if error.code != "NOT_FOUND":
            raise
        return ""


def editing(site: PageContext, visit: PageRequest) -> Response:
    """The form that changes a capsule."""
    capsule = site.call("capsule_fetch", id=visit.path["id"])
    return _edit_form(site, visit, capsule, None)


def _edit_form(site: PageContext, visit: PageRequest, capsule: dict[str, Any], error: MossError | None) -> Response:
    return site.page(
        visit,
        "capsule_edit.html",
        family="capsule",
        status=error.status if error else 200,
        capsule=capsule,
        error=error,
        limit=site.store.config.capsule_max_chars,
    )


def edit(site: PageContext, visit: PageRequest) -> Response:
    """Takes a changed capsule; what is refused stands in the form again with the reason."""
    key, form = visit.path["id"], visit.form
    text = form.get("capsule_text", "").replace("\r\n", "\n")
    changes: dict[str, Any] = {name: form.get(name, "") for name in ("title", "source", "phase", "role", "run_id")}
    before = site.call("capsule_fetch", id=key, include_deleted=True)  # deleted meanwhile: the form says so
    if text != before["capsule_text"].replace("\r\n", "\n"):
        changes["capsule_text"] = text
    tags = _tags(form.get("tags", ""), before.get("tags") or [])
    known = {"expected_version": number_of(form.get("over") or form.get("version"))}
    allowed = {name: True for name in ("allow_thin", "allow_secrets") if form.get(name)}
    try:
        # Directly: an empty value clears a field here.
        site.store.call("capsule_update", {"id": key, **changes, "tags": tags, **known, **allowed})
    except MossError as error:
        kept = {**before, **changes, "capsule_text": text, "tags": tags, "version": form.get("version", "")}
        return _edit_form(site, visit, kept, error)
    return site.to(f"/capsules/{key}", said="changed")


def _tags(written: str, before: list[str]) -> list[str]:
    """The tags that a form names; where it was not touched those that there are, which may have commas in them."""
    if written == ", ".join(before):
        return before
    return [tag for part in written.split(",") if (tag := part.strip())]


def rename(site: PageContext, visit: PageRequest) -> Response:
    """Gives a capsule another name or workspace."""
    key, form = visit.path["id"], visit.form
    before = site.call("capsule_fetch", id=key)
    new = {
        f"new_{part}": form[part].strip()
        for part in ("name", "workspace")
        if form.get(part, "").strip() and form[part].strip() != before.get(part)
    }
    if new:
        site.call("moss_rename", type="capsule", id=key, **new)
    return site.to(f"/capsules/{key}", said="renamed" if new else "")


def delete(site: PageContext, visit: PageRequest) -> Response:
    """Deletes a capsule, so that it can be brought back."""
    site.call("capsule_delete", id=visit.path["id"])
    return site.to("/capsules", said="deleted", id=visit.path["id"])


def restore(site: PageContext, visit: PageRequest) -> Response:
    """Brings a deleted capsule back."""
    site.call("capsule_restore", id=visit.path["id"])
    return site.to(f"/capsules/{visit.path['id']}", said="restored")


def revert(site: PageContext, visit: PageRequest) -> Response:
    """Makes an old version the present one."""
    key = visit.path["id"]
    site.call("moss_revert", type="capsule", id=key, version=number_of(visit.form.get("version")))
    return site.to(f"/capsules/{key}", said="reverted")


PAGES = {
    "/capsules": listing,
    "/capsules/{id}": reading,
    "/capsules/{id}/history": history,
    "/capsules/{id}/edit": editing,
}
FORMS = {
    "/capsules/{id}/edit": edit,
    "/capsules/{id}/rename": rename,
    "/capsules/{id}/delete": delete,
    "/capsules/{id}/restore": restore,
    "/capsules/{id}/revert": revert,
}
