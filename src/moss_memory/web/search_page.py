"""The search page: one question over everything, by words or by meaning."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from markupsafe import Markup, escape
from starlette.responses import Response

from moss_memory.errors import MossError

from .page_context import PageContext, PageRequest

_KINDS = (
    ("capsule", "Capsules", "capsule"),
    ("artifact", "Artifacts", "artifact"),
    ("note", "Notes", "reasoning"),
    ("node", "Graph", "reasoning"),
    ("task", "Tasks", "task"),
    ("record", "Records", "record"),
)
_PARTS = re.compile(r"(\w+)")
_WORDS = re.compile(r"\w+")
_MIN_WORD_CHARS = 3
_TITLE_CHARS = 160
_BOLD = re.compile(r"(</?b>)")
_MARKS = re.compile(r"(?:\|[ \t:-]*-[ \t:-]*)+\||\*\*|`")
_HEADING = re.compile(r"(?m)^[ \t]*#{1,6}[ \t]+(.+)$")
_CUT_HEADING = re.compile(r"\s*#{1,6}\s*(?=(?:\.\.\.)?$)")
"""The marks of a heading whose text the snippet leaves out."""
_ITEMS = re.compile(r"(?m)(?:\s*(?:^[ \t]*(?:[-*+]|\d+\.)[ \t]|\|))+\s*")
_MARKDOWN_KINDS = ("capsule", "note")
"""Kinds whose texts are Markdown."""
_HITS = 20


def show_search(context: PageContext, request: PageRequest) -> Response:
    question = request.query.get("q", "").strip()
    kinds = [kind for kind in request.query.get("type", "").split(",") if kind in {name for name, _, _ in _KINDS}]
    answer: dict[str, Any] = {"items": [], "pagination": {"offset": 0, "has_more": False, "total": 0, "limit": _HITS}}
    error = None
    if question:
        try:
            answer = _search(context, request, question, kinds)
        except MossError as refusal:
            error = refusal
    for hit in answer["items"]:
        hit["family"] = next(family for name, _, family in _KINDS if name == hit["type"])
        is_markdown = hit["type"] in _MARKDOWN_KINDS
        hit["shown"] = mark_matches(strip_markdown(hit["snippet"]) if is_markdown else hit["snippet"])
        hit["is_title_only"] = hit["shown"].striptags() == " ".join(hit["title"].split())
        hit["title"] = mark_title(hit["title"], question)
        hit["path"], hit["query"], hit["anchor"] = hit_address(hit)
        hit["branch"] = hit["query"].get("branch")
    answer = _unique_pages(answer)
    return context.page(
        request,
        "search.html",
        status=error.status if error else 200,
        question=question,
        plain=" ".join(_WORDS.findall(question)) if error else "",
        kinds=_KINDS,
        chosen=kinds,
        error=error,
        answer=answer,
        pagination=answer["pagination"],
        toggled=lambda kind: ",".join(
            selected for selected in [*kinds, kind] if not (selected == kind and kind in kinds)
        ),
    )


def _search(context: PageContext, request: PageRequest, question: str, kinds: list[str]) -> dict[str, Any]:
    mode = "keyword" if request.query.get("mode") == "keyword" else "both"
    filters = {**request.query_values("workspace", "run_id"), **context.paging(request, _HITS)}
    return context.call("moss_search", query=question, types=kinds or None, search_mode=mode, **filters)


def _unique_pages(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer with each page once: a task is a node of several graphs."""
    best: dict[Any, dict[str, Any]] = {}
    for hit in answer["items"]:
        best.setdefault((hit["path"], *sorted(hit["query"].items()), hit["anchor"]), hit)
    pagination = answer["pagination"]
    if pagination["has_more"]:
        pagination = {**pagination, "next_offset": pagination["offset"] + len(answer["items"])}
    return {**answer, "items": list(best.values()), "pagination": pagination}


def strip_markdown(snippet: str) -> str:
    plain = _HEADING.sub(r"|\1|", _CUT_HEADING.sub("", _MARKS.sub("", snippet)))
    return _ITEMS.sub(" · ", plain).strip(" ·").replace("... · ", "... ", 1)


def mark_matches(snippet: str) -> Markup:
    """Return a snippet as HTML with the matches marked; everything else is escaped."""
    parts = _BOLD.split(snippet)
    marks = {"<b>": "<mark>", "</b>": "</mark>"}
    return Markup("").join(
        Markup(marks[part]) if part in marks else escape(unescape(part))  # noqa: S704 - two constants
        for part in parts
    )


def mark_title(title: str, question: str) -> Markup:
    """Return the beginning of a title with the words of the query marked, and the words that begin with them."""
    words = tuple(word for word in _WORDS.findall(question.casefold()) if len(word) >= _MIN_WORD_CHARS)
    shortened = title if len(title) <= _TITLE_CHARS else title[: _TITLE_CHARS - 1] + "…"
    return Markup("").join(
        Markup("<mark>{}</mark>").format(part) if words and part.casefold().startswith(words) else escape(part)
        for part in _PARTS.split(shortened)
    )


def hit_address(hit: dict[str, Any]) -> tuple[str, dict[str, Any], str]:
    """Return the page of a hit, its query and the id of its place there."""
    address, workspace = hit.get("fetch", {}).get("arguments", {}), hit["workspace"]
    if hit["type"] == "capsule":
        return f"/capsules/{hit['id']}", {}, ""
    if hit["type"] == "artifact":
        return f"/artifacts/{hit['id']}", {}, ""
    if hit["type"] == "record":
        return f"/records/{hit['id']}", {"workspace": workspace}, ""
    if hit["type"] == "task":
        return f"/tasks/{address.get('target', hit['id'])}", {"workspace": workspace}, address.get("step_id", "")
    branch = {"workspace": workspace, "branch": address.get("branch"), "doc": address.get("doc")}
    if hit["type"] == "note":
        return "/reasoning/log", {**branch, "entry": hit["id"]}, ""
    return "/reasoning/node", {**branch, "id": hit["id"]}, ""
