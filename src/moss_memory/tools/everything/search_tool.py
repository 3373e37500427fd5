"""`moss_search`: one search over every family."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.registry.arguments import Limit, Offset, Query, RunId, SearchMode, Workspace
from moss_memory.registry.operation import is_semantic, operation
from moss_memory.registry.responses import (
    PAGINATION,
    SEARCH_REMARKS,
    Column,
    Shape,
    choice,
    highlighted,
    integer,
    list_of,
    moment,
    needs_id_column,
    number,
    object_of,
    text,
    texts,
)
from moss_memory.registry.tool_groups import SEARCH_SOURCES, module
from moss_memory.rows.names import normalize_label, normalize_workspace
from moss_memory.rows.paging import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from moss_memory.storage.engine import ReadTransaction

    SearchTypes = list[Literal["capsule", "artifact", "note", "node", "record"]]
else:
    SearchTypes = {
        "type": "array",
        "items": {"type": "string", "enum": ["capsule", "artifact", "note", "node", "record"]},
        "description": "what to search; all by default",
    }

_ADDRESS = Shape(
    "Address",
    {
        "id": text("of a capsule or artifact without a name", optional=True),
        "workspace": text("namespace", optional=True),
        "name": text("handle of a capsule or artifact", optional=True),
        "branch": text("of a note or node", optional=True),
        "doc": text("document of a note or node", optional=True),
        "cursor": integer("of a note", optional=True),
        "limit": integer("of a note", optional=True),
        "ids": texts("of a node or record", optional=True),
    },
)
_HIT = Shape(
    "Hit",
    {
        "type": choice(tuple(SEARCH_SOURCES), "what it is"),
        "id": text("its id, or the number of a note"),
        "workspace": text("namespace"),
        "address": object_of(_ADDRESS, "what to send to the tool that fetches it"),
        "title": text("its title, or what stands for one"),
        "kind": text("kind of an artifact, type of a node or record", optional=True),
        "version": integer("of a capsule or artifact", optional=True),
        "updated_at": moment("when it last changed"),
        "snippet": highlighted("where the words are"),
        "score": number("how well it matches"),
    },
    table=(
        Column("name", least=8),
        Column("workspace", least=8, goes=6),
        Column("type", goes=5),
        Column("branch", least=6, goes=8),
        Column("title", least=8, goes=9),
        Column("snippet", least=30),
        Column("id", when=needs_id_column),
    ),
    row=lambda hit: {**hit["address"], **hit},
)


@operation(
    idempotent=True,
    slow_if=is_semantic("both"),
    slow_when_large=True,
    answers={
        "items": list_of(_HIT, "what was found, best match first", shown="answer"),
        "pagination": PAGINATION,
        "sort": choice(("relevance",), "their order", shown="never"),
        **SEARCH_REMARKS,
    },
    example='moss search "how do we rotate tokens" --workspace shop',
)
def moss_search(
    tx: ReadTransaction,
    *,
    query: Query,
    types: SearchTypes | None = None,
    workspace: Workspace | None = None,
    run_id: RunId | None = None,
    search_mode: SearchMode = "both",
    limit: Limit = 20,
    offset: Offset = 0,
) -> dict[str, Any]:
    """Search everything in Moss by words and meaning, best first: type, address, title, snippet and score of each hit.

    Send a hit's `address` to the fetch tool of its type. Query syntax as in `capsule_search`.
    """
    from moss_memory.search.query import parse  # not needed by decoding and refusals
    from moss_memory.search.request import SearchRequest
    from moss_memory.search.snippet import BRIEF_CHARS, snippet
    from moss_memory.search.strategy import search

    page = Page(limit, offset, maximum=100)
    run = normalize_label(run_id, what="run_id")
    sources = _sources(types, tx.config.disabled_types, of_runs=run is not None)
    request = SearchRequest(
        parse(query),
        mode=search_mode,
        sources=sources,
        workspace_norm=None if workspace is None else normalize_workspace(workspace),
        conditions=[] if run is None else ["run_id = :f_run_id"],
        parameters={} if run is None else {"f_run_id": run},
        limit=page.limit,
        offset=page.offset,
    )
    hits = search(tx, request)
    found = {source: _load_documents(tx, source, rows) for source in sources if (rows := hits.rows(source))}
    items = []
    for hit in hits.items:
        shown = found[hit.document.source][hit.document.row]
        text = shown.pop("text")
        part = snippet(text, hits.matcher, place=hit.place, size_chars=BRIEF_CHARS)
        items.append({"type": hit.document.source, **shown, "snippet": part, "score": hit.score})
    pagination = page.answer(returned=len(items), total=hits.total)
    return {"items": items, "pagination": pagination, "sort": "relevance", **hits.remarks()}


def _sources(types: SearchTypes | None, disabled: list[str], *, of_runs: bool) -> tuple[str, ...]:
    """Return the given sources, or all, without disabled ones, and with `of_runs` without those that have no runs."""
    known = [source.name for source in SEARCH_SOURCES.values() if source.family not in disabled]
    if types is not None and not types:
        raise invalid_request(
            f"`types` is empty; name at least one of {', '.join(known)} or leave it out", path="types"
        )
    chosen = [name for name in known if types is None or name in types]
    if not chosen:
        raise invalid_request("every type asked for is disabled by the configuration", path="types")
    if of_runs and not any(SEARCH_SOURCES[name].has_runs for name in chosen):
        raise invalid_request(f"`run_id` cannot choose among {' and '.join(chosen)}s; leave it out", path="run_id")
    return tuple(name for name in chosen if SEARCH_SOURCES[name].has_runs or not of_runs)


def _load_documents(tx: ReadTransaction, source: str, rows: list[int]) -> dict[int, dict[str, Any]]:
    show = getattr(module(SEARCH_SOURCES[source].module), SEARCH_SOURCES[source].show)
    found: dict[int, dict[str, Any]] = show(tx, rows)
    return found
