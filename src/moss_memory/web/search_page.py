"""The search page: one question over everything, by words or by meaning."""

from __future__ import annotations

import re
from html import unescape

from markupsafe import Markup, escape

from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from .page_context import PageContext, PageRequest

_KINDS = (
    ("capsule", "Capsules", "capsule"),
    ("artifact", "Artifacts", "artifact"),
    ("note", "Notes", "reasoning"),
    ("node", "Graph", "reasoning"),
    ("record", "Records", "record"),
)
_PARTS = re.compile(r"(\w+)")
_WORDS = re.compile(r"\w+")
_LEAST_CHARS = 3
_TITLE_CHARS = 160
_FOUND = re.compile(r"(</?b>)")
_MARKS = re.compile(r"(?:\|[ \t:-]*-[ \t:-]*)+\||\*\*|`")
_HEADING = re.compile(r"(?m)^[ \t]*#{1,6}[ \t]+(.+)$")
_ITEMS = re.compile(r"(?m)(?:\s*(?:^[ \t]*(?:[-*+]|\d+\.)[ \t]|\|))+\s*")
_WRITTEN = ("capsule", "note")
"""The kinds whose texts are Markdown."""
_WORK = re.compile(r"task/(TASK-\d+)|plan/(PLAN-\d+)")
_OF_WORK = ("plan", "task", "step")
_HITS = 20


def found(site: PageContext, visit: PageRequest) -> Response:
    """What a question finds, best first."""
    question = visit.query.get("q", "").strip()
    kinds = [kind for kind in visit.query.get("type", "").split(",") if kind in {name for name, _, _ in _KINDS}]
    answer: dict[str, Any] = {"items": [], "pagination": {"offset": 0, "has_more": False, "total": 0, "limit": _HITS}}
    error = None
    if question:
        try:
            answer = _searched(site, visit, question, kinds)
        except MossError as refusal:
            error = refusal
    for hit in answer["items"]:
        hit["family"] = next(family for name, _, family in _KINDS if name == hit["type"])
        hit["shown"] = marked(read_aloud(hit["snippet"]) if hit["type"] in _WRITTEN else hit["snippet"])
        hit["once"] = hit["shown"].striptags() == " ".join(hit["title"].split())
        hit["title"] = marked_title(hit["title"], question)
        hit["path"], hit["query"] = _place(hit)
        if hit["path"].startswith("/tasks/"):
            hit["family"] = "task"
    return site.page(
        visit,
        "search.html",
        status=error.status if error else 200,
        question=question,
        kinds=_KINDS,
        chosen=kinds,
        error=error,
        answer=answer,
        pagination=answer["pagination"],
        toggled=lambda kind: ",".join(one for one in [*kinds, kind] if not (one == kind and kind in kinds)),
    )


def _searched(site: PageContext, visit: PageRequest, question: str, kinds: list[str]) -> dict[str, Any]:
    mode = "keyword" if visit.query.get("mode") == "keyword" else "both"
    place = visit.asked("workspace", "run_id")
    return site.call(
        "moss_search", query=question, types=kinds or None, search_mode=mode, **place, **site.rows(visit, _HITS)
    )


def read_aloud(snippet: str) -> str:
    """A piece of Markdown without its marks, which say nothing in the middle of a text."""
    plain = _HEADING.sub(r"|\1|", _MARKS.sub("", snippet))
    return _ITEMS.sub(" · ", plain).strip(" ·").replace("... · ", "... ", 1)


def marked(snippet: str) -> Markup:
    """A snippet with what was found marked; whatever else it holds is text."""
    parts = _FOUND.split(snippet)
    marks = {"<b>": "<mark>", "</b>": "</mark>"}
    return Markup("").join(
        Markup(marks[part]) if part in marks else escape(unescape(part))  # noqa: S704 - two constants
        for part in parts
    )


def marked_title(title: str, question: str) -> Markup:
    """The beginning of a title with the words of a question marked, in whatever form they stand there."""
    asked = tuple(word for word in _WORDS.findall(question.casefold()) if len(word) >= _LEAST_CHARS)
    shown = title if len(title) <= _TITLE_CHARS else title[: _TITLE_CHARS - 1] + "…"
    return Markup("").join(
        Markup("<mark>{}</mark>").format(part) if asked and part.casefold().startswith(asked) else escape(part)
        for part in _PARTS.split(shown)
    )


def _place(hit: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The page that shows a hit, and its query."""
    address, workspace = hit["address"], hit["workspace"]
    if hit["type"] == "capsule":
        return f"/capsules/{hit['id']}", {}
    if hit["type"] == "artifact":
        return f"/artifacts/{hit['id']}", {}
    if hit["type"] == "record":
        return f"/records/{hit['id']}", {"workspace": workspace}
    work = _WORK.fullmatch(address.get("branch") or "")
    if work and hit.get("kind") in _OF_WORK:
        return f"/tasks/{work[1] or work[2]}", {"workspace": workspace}
    branch = {"workspace": workspace, "branch": address.get("branch"), "doc": address.get("doc")}
    if hit["type"] == "note":
        return "/reasoning/log", {**branch, "cursor": address.get("cursor")}
    return "/reasoning", {**branch, "node": hit["id"]}


PAGES = {"/search": found}
FORMS: dict[str, Any] = {}
