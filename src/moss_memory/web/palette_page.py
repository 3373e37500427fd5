"""The palette: pages, workspaces, capsules, tasks and cards by the beginnings of words in their names."""

from __future__ import annotations

import re

from starlette.responses import JSONResponse

from moss_memory.errors import MossError

from .page_frame import FAMILIES, recent
from .search_page import address_of
from .templating import query_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest

_PAGES = (
    ("Changes", "/"),
    ("Overview", "/overview"),
    *((title, path) for _, title, path in FAMILIES),
    ("Notes and traces", "/reasoning/log"),
    ("Timeline", "/records/timeline"),
    ("Workspaces", "/workspaces"),
    ("Map", "/map"),
    ("What the agent sees", "/agent"),
    ("Connect", "/connect"),
    ("Health", "/health"),
)
_WORD = re.compile(r"\w+")
_TYPES = {"capsule": "capsule", "task": "task", "node": "reasoning"}
"""The types of hits, and the family whose colour each has."""
_MAX_WORDS = 8
_OF_EACH = 5
_HITS = 12
_TITLE_CHARS = 160


def palette(context: PageContext, request: PageRequest) -> Response:
    """Return the things whose names have all words of `q`, as JSON; without `q` the last changed ones."""
    words = _WORD.findall(request.query.get("q", "")[:200].casefold())[:_MAX_WORDS]
    names = [one["workspace"] for one in recent(context, request)["workspaces"]]
    found_names = [name for name in names if _matches(name, words)][:_OF_EACH]
    pages = [one for one in _PAGES if words and _matches(one[0], words)][:_OF_EACH]
    items = [_item("hollow", title, "page", path) for title, path in pages]
    items += [_item("hollow", name, "workspace", "/" + query_of(workspace=name)) for name in found_names]
    items += _found(context, words) if words else _latest(context)
    return JSONResponse({"items": items})


def _matches(name: str, words: list[str]) -> bool:
    parts = _WORD.findall(name.casefold())
    return all(any(part.startswith(word) for part in parts) for word in words)


def _found(context: PageContext, words: list[str]) -> list[dict[str, Any]]:
    """Return the hits of a search by words, those with the words in their titles first."""
    query = " ".join(f"{word}*" for word in words)
    try:
        answer = context.call("moss_search", query=query, types=list(_TYPES), search_mode="keyword", limit=_HITS * 2)
    except MossError:
        return []  # a word that the search cannot read, or a family that is turned off
    hits = [] if answer.get("relaxed") else answer["items"]
    hits.sort(key=lambda hit: not _matches(hit["title"], words))
    found: dict[str, dict[str, str]] = {}
    for hit in hits:
        path, query_parameters, anchor = address_of(hit)
        address = path + query_of(**query_parameters) + (f"#{anchor}" if anchor else "")
        kind = hit.get("kind") or hit["type"]
        found.setdefault(address, _item(_TYPES[hit["type"]], hit["title"], f"{kind} · {hit['workspace']}", address))
    return list(found.values())[:_HITS]


def _latest(context: PageContext) -> list[dict[str, Any]]:
    try:
        capsules = context.call("capsule_inventory", limit=_OF_EACH)["items"]
    except MossError:
        return []  # capsules are turned off
    return [
        _item(
            "capsule",
            one.get("title") or one.get("name") or "Untitled",
            f"capsule · {one['workspace']}",
            f"/capsules/{one['id']}",
        )
        for one in capsules
    ]


def _item(family: str, title: str, kind: str, path: str) -> dict[str, str]:
    return {"family": family, "title": title[:_TITLE_CHARS], "place": kind[:_TITLE_CHARS], "path": path}


PAGES = {"/palette": palette}
FORMS: dict[str, Any] = {}
