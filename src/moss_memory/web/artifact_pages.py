"""Artifacts: the list by kind and run, one with its data as a tree, its versions and its time left."""

from __future__ import annotations

from .filter_options import most_used
from .long_texts import Part, shown_value, wanted_part
from .markdown import Document
from .version_rows import number_of, versions_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest

_FILTERS = ("kind", "run_id", "phase", "role", "tag")
_GLANCE_CHARS = 120
_VERSIONS = 8


def listing(site: PageContext, visit: PageRequest) -> Response:
    """The artifacts, newest first, by the filters of the query; those of one run stand together."""
    more = {name: True for name in ("include_expired", "include_deleted") if name in visit.query}
    answer = site.call("artifact_list", **visit.asked("workspace", *_FILTERS), **site.rows(visit), **more)
    items = answer["items"]
    for item in items:
        item["glance"] = _glance(item["data"])
    return site.page(
        visit,
        "artifacts.html",
        family="artifact",
        items=items,
        pagination=answer["pagination"],
        filters=visit.asked(*_FILTERS),
        kinds=most_used(item["kind"] for item in items),
        runs=most_used(item.get("run_id") for item in items),
    )


def _glance(data: dict[str, Any]) -> str:
    """The plain values of an artifact in a line."""
    plain = [
        f"{name}: {value}" if not isinstance(value, (dict, list)) else f"{name}: {len(value)}"
        for name, value in data.items()
    ]
    text = ", ".join(plain)
    return text if len(text) <= _GLANCE_CHARS else text[: _GLANCE_CHARS - 1] + "…"


def reading(site: PageContext, visit: PageRequest) -> Response:
    """One artifact, or an old version of it."""
    key = visit.path["id"]
    version = number_of(visit.query.get("version"))
    old = {"version": version} if version else {}
    artifact = site.call("artifact_fetch", id=key, include_deleted=True, include_expired=True, **old)
    return site.page(
        visit,
        "artifact.html",
        family="artifact",
        artifact=artifact,
        **_shown(visit, artifact),
        versions=versions_of(site, "artifact", key, _VERSIONS),
    )


def _shown(visit: PageRequest, artifact: dict[str, Any]) -> dict[str, Any]:
    """The data and the text of an artifact, or a part of each."""
    part = Part(artifact.get("text") or "", wanted_part(visit))
    return {**shown_value(visit, artifact["data"]), "part": part, "document": Document(part.text)}


def delete(site: PageContext, visit: PageRequest) -> Response:
    """Deletes an artifact; its name is free again."""
    site.call("artifact_delete", id=visit.path["id"])
    return site.to(f"/artifacts/{visit.path['id']}", said="deleted")


def restore(site: PageContext, visit: PageRequest) -> Response:
    """Brings a deleted artifact back."""
    site.call("artifact_restore", id=visit.path["id"])
    return site.to(f"/artifacts/{visit.path['id']}", said="restored")


def revert(site: PageContext, visit: PageRequest) -> Response:
    """Makes an old version the present one."""
    key = visit.path["id"]
    site.call("moss_revert", type="artifact", id=key, version=number_of(visit.form.get("version")))
    return site.to(f"/artifacts/{key}", said="reverted")


PAGES = {"/artifacts": listing, "/artifacts/{id}": reading}
FORMS = {"/artifacts/{id}/delete": delete, "/artifacts/{id}/restore": restore, "/artifacts/{id}/revert": revert}
