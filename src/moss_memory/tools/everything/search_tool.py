"""`moss_search`: one search over every family."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.registry.argument_types import Annotated, Literal
from moss_memory.registry.arguments import Limit, Offset, Query, RunId, SearchMode, Workspace
from moss_memory.registry.operation import is_semantic, operation
from moss_memory.registry.responses import (
    HINT,
    HIT_FIELDS,
    PAGINATION,
    SEARCH_REMARKS,
    ResponseSchema,
    TableColumn,
    choice,
    highlighted,
    integer,
    list_of,
    needs_id_column,
    number,
    text,
)
from moss_memory.registry.tool_groups import GROUP_OF_TYPE, SEARCH_SOURCES, SEARCH_TYPES, import_module
from moss_memory.rows.names import normalize_label, normalize_workspace
from moss_memory.rows.paging import Page
from moss_memory.rows.times import SECOND_US, instant_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

SearchTypes = Annotated[
    list[Literal["capsule", "artifact", "note", "node", "task", "record"]],
    "all by default; cards are nodes, steps are tasks",
]
SearchAfter = Annotated[str, "first date or time of `at`, e.g. 2026-05-01"]
SearchBefore = Annotated[str, "last date or time, included"]

_LAST = 1 << 53
"""Later than any date."""
_IS_TASK = (
    "exists (select 1 from graph_versions v where v.seq = node_rows.row_id"
    " and (v.key >= 'task:' and v.key < 'task;' or v.key >= 'step:' and v.key < 'step;'))"
)

_HIT = ResponseSchema(
    "Hit",
    {
        "type": choice(SEARCH_TYPES, "its type"),
        "id": text("its id, or the number of a note"),
        "workspace": text("namespace"),
        "title": text("its title, or a substitute for one"),
        "kind": text("kind of an artifact, type of a node or record; plan, task or step", optional=True),
        "status": text("of a card, plan, task or step", optional=True),
        "superseded_by": text("the card that superseded this one", optional=True),
        "version": integer("of a capsule or artifact", optional=True),
        **HIT_FIELDS,
        "snippet": highlighted("the part with the words"),
        "score": number("how well it matches"),
    },
    table=(
        TableColumn("name", min_width=8),
        TableColumn("workspace", min_width=8, drop_rank=6),
        TableColumn("type", drop_rank=5),
        TableColumn("branch", min_width=6, drop_rank=8),
        TableColumn("title", min_width=8, drop_rank=9),
        TableColumn("snippet", min_width=30),
        TableColumn("id", when=needs_id_column),
    ),
    row=lambda hit: {**hit.get("fetch", {}).get("arguments", {}), **hit},
)


@operation(
    idempotent=True,
    slow_if=is_semantic("both"),
    slow_when_large=True,
    answers={
        "items": list_of(_HIT, "the hits, best match first", shown="answer"),
        "pagination": PAGINATION,
        "sort": choice(("relevance",), "their order", shown="never"),
        **SEARCH_REMARKS,
        **HINT,
    },
    example='moss search "how do we rotate tokens" --workspace shop',
    words=(
        "find, search, look for, look up, where did we, what did we decide, did we ever, remember, recall, find "
        "by meaning, semantic, in May, before June, last week, question, when did we, when was it, find out, "
        "discuss, talk about, mention, anything about, search everything, query, find something, similar, "
        "related, locate, about, keyword, why did we, what do we know about, what did we, how did we, decisions "
        "from, find notes about, have we ever, where is, who said, remind me, search the memory, search all, find"
        " everything about, do we know, did we talk about, have we seen this before, where did I write, what did "
        "I say about, search by meaning, when did I, which decision did we make, find a decision"
    ),
)
def moss_search(
    tx: ReadTransaction,
    *,
    query: Query,
    types: SearchTypes | None = None,
    workspace: Workspace | None = None,
    run_id: RunId | None = None,
    after: SearchAfter | None = None,
    before: SearchBefore | None = None,
    search_mode: SearchMode = "both",
    limit: Limit = 20,
    offset: Offset = 0,
) -> dict[str, Any]:
    """Find anything stored ("what did we decide in May") by words and meaning; send a hit's `fetch` to load it.

    A `superseded` card is no longer valid: see `superseded_by`.
    """
    from moss_memory.search.query import parse_query  # not needed by decoding and refusals
    from moss_memory.search.request import SearchRequest, search
    from moss_memory.search.snippet import BRIEF_CHARS, snippet

    page = Page(limit, offset, maximum=100)
    run = None if run_id is None else normalize_label(run_id, what="run_id")
    chosen = _types(types, tx.config.disabled_types, of_runs=run is not None)
    filters = _Filters(tx, chosen, workspace)
    filters.add_times(after, before)
    request = SearchRequest(
        parse_query(query),
        mode=search_mode,
        sources=filters.sources,
        workspace_norm=filters.workspace_norm,
        conditions=[] if run is None else ["run_id = :f_run_id"],
        source_conditions=filters.conditions,
        parameters={**filters.parameters, **({} if run is None else {"f_run_id": run})},
        limit=page.limit,
        offset=page.offset,
    )
    hits = search(tx, request)
    documents: dict[str, dict[int, dict[str, Any]]] = {}
    for source in filters.sources:
        if rows := hits.rows(source):
            load_documents = getattr(import_module(SEARCH_SOURCES[source].module), SEARCH_SOURCES[source].show)
            documents[source] = load_documents(tx, rows)
    items = []
    for hit in hits.items:
        shown = documents[hit.document.source][hit.document.row]
        text = shown.pop("text")
        part = snippet(text, hits.matcher, offset=hit.offset, size_chars=BRIEF_CHARS)
        items.append({"type": hit.document.source, **shown, "snippet": part, "score": hit.score})
    pagination = page.answer(returned=len(items), total=hits.total)
    return {"items": items, "pagination": pagination, "sort": "relevance", **hits.remarks()}


def _types(types: SearchTypes | None, disabled: list[str], *, of_runs: bool) -> list[str]:
    """Return the given types, or all, without disabled ones; with `of_runs` only types that have runs."""
    enabled = [name for name in SEARCH_TYPES if GROUP_OF_TYPE[name] not in disabled]
    if types is not None and not types:
        message = f"`types` is empty; name at least one of {', '.join(enabled)} or leave it out"
        raise invalid_request(message, path="types")
    chosen = [name for name in enabled if types is None or name in types]
    if not chosen:
        raise invalid_request("every type asked for is disabled by the configuration", path="types")
    with_runs = [name for name in chosen if name in SEARCH_SOURCES and SEARCH_SOURCES[name].has_runs]
    if of_runs and not with_runs:
        raise invalid_request(f"`run_id` cannot choose among {' and '.join(chosen)}s; leave it out", path="run_id")
    return with_runs if of_runs else chosen


class _Filters:
    """The sources of some types of hits, and the conditions on their rows."""

    def __init__(self, tx: ReadTransaction, types: list[str], workspace: str | None) -> None:
        self._tx = tx
        self.workspace_norm = None if workspace is None else normalize_workspace(workspace)
        self.sources = tuple(name for name in SEARCH_SOURCES if name in types or (name == "node" and "task" in types))
        self.conditions: dict[str, list[str]] = {name: [] for name in self.sources}
        self.parameters: dict[str, Any] = {}
        if "node" in self.sources and not {"node", "task"} <= set(types):
            self.conditions["node"].append(_IS_TASK if "task" in types else f"not {_IS_TASK}")

    def add_times(self, after: str | None, before: str | None) -> None:
        """Require that `at` is in a range, given as dates or times, ends included."""
        if after is None and before is None:
            return
        first = 0 if after is None else -(-instant_us(after, what="after") // SECOND_US)
        last = _LAST if before is None else instant_us(before, what="before", end_of_day=True) // SECOND_US
        if first > last:
            raise invalid_request("`after` is later than `before`; swap them", path="after")
        self.parameters.update(f_after=first, f_before=last)
        for name in self.sources:
            self.conditions[name].append("updated_at between :f_after and :f_before")
        if "record" in self.sources:
            from moss_memory.tools.record.record_hits import rows_between  # few searches have a range

            self.conditions["record"] = [self._tx.sql_in("row_id", "f_rows")]
            self.parameters["f_rows"] = rows_between(self._tx, self.workspace_norm, first, last)
