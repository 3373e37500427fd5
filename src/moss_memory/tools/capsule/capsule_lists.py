"""Lists of capsules: the latest one, a workspace, all workspaces, and search."""

from __future__ import annotations

from moss_memory.registry.arguments import (
    IncludeDeleted,
    IncludeText,
    Limit,
    NamePrefix,
    Offset,
    Phase,
    Query,
    Role,
    RunId,
    SearchMode,
    Tag,
    Workspace,
)
from moss_memory.registry.cli_traits import Cli
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
    list_of,
    number,
    object_of,
)
from moss_memory.rows.list_filters import ALIVE, DELETED, ListFilters, filters_from, select_with_deleted
from moss_memory.rows.lookup import Address
from moss_memory.rows.names import DEFAULT_WORKSPACE, normalize_workspace
from moss_memory.rows.paging import Page

from .capsule_code_state import FETCHED, code_fields
from .capsule_responses import DELETED_AT, ID, NAME, SUMMARY, WORKSPACE
from .capsule_rows import NEWEST_FIRST, capsule_response, capsules, summary, summary_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Row

_TAGGED = "capsule_tags join capsules on capsules.row_id = capsule"
_NEWEST_TAGGED = "order by tagged_at desc, tagged_seq desc"
_PAGE = "limit :limit offset :offset"
_COMMON_PREFIX_ROWS, _NEWEST_ROWS = 2_000, 10_000
"""If more names than the first number have a prefix, it is searched among the newest rows before all rows."""

HIT = SUMMARY.with_fields(
    {
        "snippet": highlighted("the part with the words"),
        "score": number("how well it matches", shown="never"),
        **HIT_FIELDS,
    },
    "CapsuleHit",
    table=(
        NAME,
        WORKSPACE,
        TableColumn("title", min_width=8, drop_rank=9),
        TableColumn("snippet", min_width=30),
        DELETED_AT,
        ID,
    ),
)

NEWEST_THERE = ResponseSchema(
    "CapsuleElsewhere",
    {name: SUMMARY.fields[name] for name in ("workspace", "id", "name", "updated_at")},
    table=(NAME, WORKSPACE, TableColumn("updated_at", "updated"), ID),
)

LISTING = {
    "items": list_of(SUMMARY, "the capsules, newest change first", shown="answer"),
    "pagination": PAGINATION,
    "sort": choice(("updated_at_desc",), "their order", shown="never"),
    **HINT,
}
HITS = {
    "items": list_of(HIT, "the capsules, best match first", shown="answer"),
    "pagination": PAGINATION,
    "sort": choice(("relevance",), "their order", shown="never"),
    **SEARCH_REMARKS,
    **HINT,
}


@operation(
    idempotent=True,
    answers={
        "item": object_of(FETCHED, "the capsule; null if there is none", nullable=True, shown="opened"),
        "elsewhere": list_of(NEWEST_THERE, "if there is none: the newest of up to 5 other workspaces", optional=True),
    },
    cli=Cli(prints_text=True, remark="commands.empty_list.suggest_workspaces"),
    example="moss latest --workspace shop --include-text",
    words=(
        "resume, continue, where was I, last session, most recent, what was I doing, pick up where we left off, "
        "previous hand-over, last time, yesterday, newest hand-over, latest, newest, reload context, start of a "
        "session, begin, carry on from the previous session, what happened last session, go on where I stopped, "
        "what was I working on, last capsule, most recent hand-over, start where the last session ended, latest "
        "state of the session"
    ),
)
def capsule_latest(
    tx: ReadTransaction,
    *,
    workspace: Workspace = DEFAULT_WORKSPACE,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    include_text: IncludeText = False,
    include_deleted: IncludeDeleted = False,
) -> dict[str, Any]:
    """Resume with the most recently changed capsule of a workspace; `include_text` adds its text.

    If there is none, `elsewhere` names the newest of other workspaces.
    """
    filters = filters_from(tx, workspace=workspace, run_id=run_id, phase=phase, role=role)
    sql = "select updated_at, change_seq, id from capsules {} " + NEWEST_FIRST + " limit 1"
    states = (ALIVE, DELETED) if include_deleted else (ALIVE,)
    newest = [tx.row(sql.format(filters.where(state)), filters.parameters) for state in states]
    latest: Any = max(filter(None, newest), default=None)
    if latest is None:
        from moss_memory.rows.suggestions import newest_elsewhere  # only needed for an empty workspace

        filters = filters_from(tx, run_id=run_id, phase=phase, role=role)
        return {"item": None, "elsewhere": newest_elsewhere(tx, filters, normalize_workspace(workspace))}
    capsule = capsules.find(tx, Address(latest[2], None, None), include_deleted=True)
    item = capsule_response(capsule, include_text=include_text)
    if include_text:
        if tx.call.loads is not None:
            tx.call.loads.add(tx, capsule)
        item |= code_fields(tx, capsule)
    return {"item": item}


@operation(
    idempotent=True,
    slow_when_large=True,
    answers=LISTING,
    cli=Cli(remark="commands.empty_list.suggest_workspaces"),
    example="moss list --workspace shop --limit 20",
    words=(
        "list, browse, show, hand-overs saved here, table of contents of this workspace, capsules of this "
        "workspace, capsules in one project, which capsules are here, show all hand-overs of a project, list "
        "deleted capsules"
    ),
)
def capsule_list(
    tx: ReadTransaction,
    *,
    workspace: Workspace = DEFAULT_WORKSPACE,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    include_deleted: IncludeDeleted = False,
    limit: Limit = 20,
    offset: Offset = 0,
) -> dict[str, Any]:
    """List one workspace's capsules without text, newest change first; at most 100 a page."""
    filters = filters_from(tx, workspace=workspace, run_id=run_id, phase=phase, role=role)
    return _list_page(tx, filters, Page(limit, offset, maximum=100), include_deleted=include_deleted)


@operation(
    idempotent=True,
    slow_when_large=True,
    answers=LISTING,
    example="moss inventory --tag auth",
    words=(
        "list all, inventory, everything saved anywhere, all hand-overs, names with a prefix, across workspaces, "
        "hand-overs in all workspaces, everywhere, capsules of all projects, every capsule in the store, capsules"
        " that start with a prefix, capsules with a tag, find capsules by tag, how many capsules, which capsules "
        "exist anywhere"
    ),
)
def capsule_inventory(
    tx: ReadTransaction,
    *,
    workspace: Workspace | None = None,
    tag: Tag | None = None,
    name_prefix: NamePrefix | None = None,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    include_deleted: IncludeDeleted = False,
    limit: Limit = 100,
    offset: Offset = 0,
) -> dict[str, Any]:
    """List the capsules of all workspaces without text, newest change first; at most 500 a page."""
    filters = filters_from(
        tx, workspace=workspace, tag=tag, name_prefix=name_prefix, run_id=run_id, phase=phase, role=role
    )
    return _list_page(tx, filters, Page(limit, offset, maximum=500), include_deleted=include_deleted)


@operation(
    idempotent=True,
    slow_if=is_semantic("keyword"),
    slow_when_large=True,
    answers=HITS,
    example='moss capsule search "where do refresh tokens live"',
    words=(
        "full text search of hand-overs, phrase, prefix, boolean operators, grep, search capsules, find a "
        "hand-over about, which capsule mentions, capsules that contain a word, exact phrase in capsules, search "
        "old sessions"
    ),
)
def capsule_search(
    tx: ReadTransaction,
    *,
    query: Query,
    workspace: Workspace | None = None,
    tag: Tag | None = None,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    include_deleted: IncludeDeleted = False,
    search_mode: SearchMode = "keyword",
    limit: Limit = 20,
    offset: Offset = 0,
) -> dict[str, Any]:
    """Find capsules by their words, best match first, each with a snippet.

    A plain question finds capsules with any of its words, rare ones counting most. Operators work exactly:
    "a phrase", prefix*, AND, OR, NOT, parentheses.
    """
    from .capsule_hits import search_capsules  # only this call searches

    filters = filters_from(tx, tag=tag, run_id=run_id, phase=phase, role=role)
    page = Page(limit, offset, maximum=100)
    workspace_norm = None if workspace is None else normalize_workspace(workspace)
    return search_capsules(
        tx, query, filters, page, mode=search_mode, workspace_norm=workspace_norm, include_deleted=include_deleted
    )


def _list_page(tx: ReadTransaction, filters: ListFilters, page: Page, *, include_deleted: bool) -> dict[str, Any]:
    """Return one page of the capsules that match the filters, last changed first."""
    total: int = tx.value(f"select count(*) from {_from_counted(filters)}", filters.parameters)
    parameters = {**filters.parameters, "limit": page.limit, "offset": page.offset}
    where, deleted = filters.where(DELETED), 0
    if include_deleted:
        deleted = tx.value(f"select count(*) from capsules {where}", filters.parameters)
    if deleted:
        gone = f"select row_id from capsules {where} {NEWEST_FIRST}"
        living = f"select row_id from {from_living(filters)}"
        sql = select_with_deleted("capsules", summary_columns, living, gone, NEWEST_FIRST)
        rows = list(tx.rows(sql, {**parameters, "most": page.end}))
    elif "name_prefix" in filters and "tag" not in filters:
        rows = _list_prefix(tx, filters, parameters, total)
    else:
        sql = f"select {summary_columns} from {from_living(filters)} {_PAGE}"
        rows = list(tx.rows(sql, parameters))
    items = [summary(row) for row in rows]
    pagination = page.answer(returned=len(items), total=total + deleted)
    return {"items": items, "pagination": pagination, "sort": "updated_at_desc"}


def from_living(filters: ListFilters) -> str:
    """Return the from clause of active capsules in their order, from the table of tags if there is a tag."""
    if "tag" in filters:
        return f"{_TAGGED} {filters.without('tag').where('tag = :f_tag', ALIVE)} {_NEWEST_TAGGED}"
    return f"capsules {filters.where(ALIVE)} {NEWEST_FIRST}"


def _from_counted(filters: ListFilters) -> str:
    """Return the from clause to count active capsules."""
    if "tag" not in filters:
        return f"capsules {filters.where(ALIVE)}"
    other_filters = filters.without("tag")
    if not other_filters.conditions:
        return "capsule_tags where tag = :f_tag"
    return f"{_TAGGED} {other_filters.where('tag = :f_tag', ALIVE)}"


def _list_prefix(tx: ReadTransaction, filters: ListFilters, parameters: dict[str, Any], total: int) -> list[Row]:
    """Return the rows of a page of names with a prefix, which no index has in the order of changes.

    If many names have the prefix, search the newest rows; otherwise, or if these have too few, sort all matches.
    """
    due = max(0, min(parameters["limit"], total - parameters["offset"]))
    rows: list[Row] = []
    if total > _COMMON_PREFIX_ROWS:
        last = f"select row_id, name_norm, updated_at, change_seq from {from_living(filters.without('name_prefix'))}"
        where = filters.only("name_prefix").where()
        page = f"select row_id from ({last} limit {_NEWEST_ROWS}) newest {where} {NEWEST_FIRST} {_PAGE}"
        rows = list(tx.rows(_sql_of_rows(page), parameters))
    if len(rows) < due:
        rows = list(tx.rows(_sql_of_rows(f"select row_id from {from_living(filters)} {_PAGE}"), parameters))
    return rows


def _sql_of_rows(rows: str) -> str:
    return f"select {summary_columns} from capsules where row_id in ({rows}) {NEWEST_FIRST}"
