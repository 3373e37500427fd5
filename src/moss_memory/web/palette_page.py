"""The palette: pages, workspaces, capsules, tasks and cards by the beginnings of words in their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from starlette.responses import JSONResponse, Response

from moss_memory.errors import MossError
from moss_memory.tools.everything.map_rows import map_rows

from .map_page import dot_address
from .page_context import PageContext, PageRequest
from .page_frame import FAMILIES, load_workspaces
from .search_page import hit_address
from .templating import query_of

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
_NAMES = 1_000
"""The number of last changed rows that are found by their names alone."""
_SEARCHED_BYTES = 3
"""The size of the shortest word that is searched: three letters, or one character of a script without spaces."""


def find_palette_items(context: PageContext, request: PageRequest) -> Response:
    """Return the rows whose names have all words of `q`, as JSON; without `q` the last changed ones."""
    words = _WORD.findall(request.query.get("q", "")[:200].casefold())[:_MAX_WORDS]
    names = [row["workspace"] for row in load_workspaces(context, request)["workspaces"]]
    found_names = [name for name in names if _matches(_WORD.findall(name.casefold()), words)][:_OF_EACH]
    pages = [page for page in _PAGES if words and _matches(page[0].casefold().split(), words)][:_OF_EACH]
    items = [_item("hollow", title, "page", path) for title, path in pages]
    items += [_item("hollow", name, "workspace", "/" + query_of(workspace=name)) for name in found_names]
    items += _find_by_name(context, request, words) if words else _latest(context)
    return JSONResponse({"items": items})


def _matches(parts: list[str], words: list[str]) -> bool:
    return all(any(part.startswith(word) for part in parts) for word in words)


def _find_by_name(context: PageContext, request: PageRequest, words: list[str]) -> list[dict[str, Any]]:
    """Return the rows with these words: the last changed by their names, then older ones by a search.

    A search costs the more, the more texts have a word, so it is left out if names are enough or a word is short.
    """
    names = context.cached(request, "names", {}, lambda: _load_names(context))
    items_by_key = dict(islice(((key, item) for parts, key, item in names if _matches(parts, words)), _HITS))
    if len(items_by_key) < _HITS and all(len(word.encode()) >= _SEARCHED_BYTES for word in words):
        for key, item in _search(context, words):
            items_by_key.setdefault(key, item)
    return list(items_by_key.values())[:_HITS]


def _load_names(context: PageContext) -> list[tuple[list[str], str, dict[str, str]]]:
    """Return the last changed rows: the words of each name, its address, and its item."""
    dots = context.store.read(map_rows, what="names", most=_NAMES)
    names = []
    for dot in dots:
        if dot["family"] in _TYPES.values():
            address = dot_address(dot)
            item = _item(dot["family"], dot["title"], f"{dot['kind']} · {dot['workspace']}", address)
            names.append((_WORD.findall(dot["title"].casefold()), address, item))
    return names


def _search(context: PageContext, words: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield address and item of each hit of a search by words; hits with the words in their titles come first."""
    query = " ".join(f"{word}*" for word in words)
    try:
        answer = context.call("moss_search", query=query, types=list(_TYPES), search_mode="keyword", limit=_HITS * 2)
    except MossError:
        return  # a word that the search cannot read, or a family that is turned off
    hits = [] if answer.get("relaxed") else answer["items"]
    hits.sort(key=lambda hit: not _matches(_WORD.findall(hit["title"].casefold()), words))
    for hit in hits:
        path, parameters, anchor = hit_address(hit)
        end = f"#{anchor}" if anchor else ""
        kind = hit.get("kind") or hit["type"]
        address = path + query_of(**parameters) + end
        key = path + query_of(**{name: value for name, value in parameters.items() if name != "doc"}) + end
        yield key, _item(_TYPES[hit["type"]], hit["title"], f"{kind} · {hit['workspace']}", address)


def _latest(context: PageContext) -> list[dict[str, Any]]:
    try:
        capsules = context.call("capsule_inventory", limit=_OF_EACH)["items"]
    except MossError:
        return []  # capsules are turned off
    items = []
    for capsule in capsules:
        title = capsule.get("title") or capsule.get("name") or "Untitled"
        items.append(_item("capsule", title, f"capsule · {capsule['workspace']}", f"/capsules/{capsule['id']}"))
    return items


def _item(family: str, title: str, kind: str, path: str) -> dict[str, str]:
    return {"family": family, "title": title[:_TITLE_CHARS], "place": kind[:_TITLE_CHARS], "path": path}
