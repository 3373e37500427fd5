"""Capsules in lists: the latest one, a workspace, everything, and search."""

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
from moss_memory.registry.operation import is_semantic, operation
from moss_memory.registry.responses import (
    PAGINATION,
    SEARCH_REMARKS,
    Column,
    Shape,
    choice,
    highlighted,
    list_of,
    number,
    object_of,
)
from moss_memory.rows.list_filters import ListFilters, filters_from
from moss_memory.rows.lookup import Address
from moss_memory.rows.values import DEFAULT_WORKSPACE, Page, norm

from .capsule_listing import listed, newest
from .capsule_responses import CAPSULE, DELETED, ID, NAME, SUMMARY, WORKSPACE
from .capsule_rows import capsules, shown, summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

HIT = SUMMARY.with_fields(
    {"snippet": highlighted("where the words are"), "score": number("how well it matches", shown="never")},
    "CapsuleHit",
    table=(NAME, WORKSPACE, Column("title", least=8, goes=9), Column("snippet", least=30), DELETED, ID),
)

NEWEST_THERE = Shape(
    "CapsuleElsewhere",
    {name: SUMMARY.fields[name] for name in ("workspace", "id", "name", "updated_at")},
    table=(NAME, WORKSPACE, Column("updated_at", "updated"), ID),
)

LISTING = {
    "items": list_of(SUMMARY, "the capsules, newest change first", shown="answer"),
    "pagination": PAGINATION,
    "sort": choice(("updated_at_desc",), "their order", shown="never"),
}
HITS = {
    "items": list_of(HIT, "the capsules, best match first", shown="answer"),
    "pagination": PAGINATION,
    "sort": choice(("relevance",), "their order", shown="never"),
    **SEARCH_REMARKS,
}


@operation(
    idempotent=True,
    answers={
        "item": object_of(CAPSULE, "the capsule; null when there is none", nullable=True, shown="opened"),
        "elsewhere": list_of(
            NEWEST_THERE, "where there is none: the newest of up to 5 other workspaces", optional=True
        ),
    },
    example="moss latest --workspace shop --include-text",
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
    """The most recently changed capsule of a workspace, as a summary unless `include_text`.

    Where there is none, `elsewhere` names the newest of other workspaces.
    """
    filters = filters_from(tx, workspace=workspace, run_id=run_id, phase=phase, role=role)
    found = newest(tx, filters, include_deleted=include_deleted)
    if found is None:
        from moss_memory.rows.suggestions import newest_elsewhere  # few ask in an empty workspace

        filters = filters_from(tx, run_id=run_id, phase=phase, role=role)
        return {"item": None, "elsewhere": newest_elsewhere(tx, filters, norm(workspace))}
    capsule = capsules.find(tx, Address(found, None, None), include_deleted=True)
    return {"item": shown(capsule, include_text=include_text)}


@operation(idempotent=True, grows=True, answers=LISTING, example="moss list --workspace shop --limit 20")
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
    """List one workspace's capsules, newest change first, without their text; at most 100 a page."""
    filters = filters_from(tx, workspace=workspace, run_id=run_id, phase=phase, role=role)
    return _listing(tx, filters, Page(limit, offset, maximum=100), include_deleted=include_deleted)


@operation(idempotent=True, grows=True, answers=LISTING, example="moss inventory --tag auth")
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
    """List the capsules of all workspaces, newest change first, without their text; at most 500 a page."""
    filters = filters_from(
        tx, workspace=workspace, tag=tag, name_prefix=name_prefix, run_id=run_id, phase=phase, role=role
    )
    return _listing(tx, filters, Page(limit, offset, maximum=500), include_deleted=include_deleted)


@operation(
    idempotent=True,
    slow_if=is_semantic("keyword"),
    grows=True,
    answers=HITS,
    example='moss capsule search "where do refresh tokens live"',
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

    A plain question finds what holds any of its words, rare ones counting most. Operators work exactly:
    "a phrase", prefix*, AND, OR, NOT, parentheses.
    """
    from .capsule_hits import search_capsules  # the search room is not worth its import to other calls

    filters = filters_from(tx, tag=tag, run_id=run_id, phase=phase, role=role)
    page = Page(limit, offset, maximum=100)
    workspace_norm = None if workspace is None else norm(workspace)
    return search_capsules(
        tx, query, filters, page, mode=search_mode, workspace_norm=workspace_norm, include_deleted=include_deleted
    )


def _listing(tx: ReadTransaction, filters: ListFilters, page: Page, *, include_deleted: bool) -> dict[str, Any]:
    rows, total = listed(tx, filters, page, include_deleted=include_deleted)
    items = [summary(row) for row in rows]
    return {
        "items": items,
        "pagination": page.answer(returned=len(items), total=total),
        "sort": "updated_at_desc",
    }
