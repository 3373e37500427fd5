"""Changes between two times: the events, and the changed entries of documents and titles of tasks."""

from __future__ import annotations

from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.origin import actors_of

from .activity_tools import family_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

EVENTS = 1_000
"""Maximum number of changes that are grouped: the last ones."""
QUARTER_MS = 900_000
_LOOKED_AT = 5_000
"""Maximum number of events that are read to find the events of one workspace."""
_EVENT = ("seq", "workspace", "tool", "address", "ts_ms", "payload", "origin")
_BEGINNING_CHARS = 300
_AFTER_ALL = 2**62


def changes_in_period(tx: ReadTransaction, *, from_ms: int, to_ms: int | None, workspace: str | None) -> dict[str, Any]:
    """Return the last changes of a period, newest first, each with family and author, and whether there were more."""
    first = _first_at(tx, from_ms)
    end = None if to_ms is None else _first_at(tx, to_ms)
    values: dict[str, Any] = {"first": first, "looked_at": _LOOKED_AT, "most": EVENTS + 1, "end": end}
    until = "" if end is None else " and seq < :end"
    condition = "where workspace = :workspace" if workspace else ""
    values["workspace"] = normalize_workspace(workspace) if workspace else None
    rows = tx.rows(
        f"select {', '.join(_EVENT)} from (select * from events where seq >= :first{until} order by seq desc"
        f" limit :looked_at) period {condition} order by seq desc limit :most",
        values,
    )
    events = [dict(zip(_EVENT, row, strict=True)) for row in rows]
    actors = actors_of(tx, {event["origin"] for event in events if event["origin"] is not None})
    shown = []
    for event in events[:EVENTS]:
        event |= {"family": family_of(event["tool"]), "by": actors.get(event["origin"], "")}
        if event["family"] not in tx.config.disabled_types:
            shown.append(event)
    return {"events": shown, "has_more": len(events) > EVENTS}


def changes_by_quarter(
    tx: ReadTransaction, *, from_ms: int, workspace: str | None, most: int
) -> list[tuple[int, str, int]] | None:
    """Return quarter hour since 1970, family and number of the changes since a time; None if there are over `most`.

    A quarter of an hour is in one day of every time zone. A change without an address, as the first one of a workspace,
    does not count.
    """
    first, last = _first_at(tx, from_ms), tx.value("select coalesce(max(seq), 0) from events")
    if last - first >= most:
        return None
    condition = " and workspace = :workspace" if workspace else ""
    own = normalize_workspace(workspace) if workspace else None
    values = {"first": first, "quarter": QUARTER_MS, "workspace": own}
    rows = tx.stream(
        f"select ts_ms / :quarter, tool, count(*) from events where seq >= :first and address is not null{condition}"
        " group by 1, 2",
        values,
    )
    return [(quarter, family_of(tool), count) for quarter, tool, count in rows]


def recent_actors(tx: ReadTransaction) -> list[tuple[str, int]]:
    """Return the actors of the last 5,000 changes with the time in ms of each one's last change, newest first."""
    rows = tx.rows(
        "select origin, max(ts_ms) from (select origin, ts_ms from events order by seq desc limit :looked_at) latest"
        " where origin is not null group by origin limit :most",
        {"looked_at": _LOOKED_AT, "most": EVENTS},
    )
    times: dict[str, int] = dict(rows)
    actors: dict[str, int] = {}
    for origin, actor in actors_of(tx, set(times)).items():
        if actor:
            actors[actor] = max(actors.get(actor, 0), times[origin])
    return sorted(actors.items(), key=lambda pair: -pair[1])


def _first_at(tx: ReadTransaction, at_ms: int, table: str = "events") -> int:
    """Return the number of a table's first row at or after a time, by bisection, since numbers rise with time."""
    low, high = tx.row(f"select coalesce(min(seq), 0), coalesce(max(seq), 0) + 1 from {table}") or (0, 1)
    while low < high:
        middle = (low + high) // 2
        row = tx.row(f"select seq, ts_ms from {table} where seq >= :seq order by seq limit 1", {"seq": middle})
        if row is None or row[1] >= at_ms:
            high = middle
        else:
            low = row[0] + 1
    return int(low)


def task_titles(tx: ReadTransaction, *, tasks: list[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the titles of tasks, by workspace in its normal form and id."""
    sql = "select title from tasks where workspace_norm = :workspace and id = :id"
    titles = {key: tx.value(sql, {"workspace": key[0], "id": key[1]}) for key in tasks}
    return {key: title for key, title in titles.items() if title is not None}


def document_numbers(tx: ReadTransaction, *, from_ms: int, to_ms: int | None) -> dict[str, tuple[int, int]]:
    """Return the numbers of a period's rows in the tables of nodes and of entries: the first, and the one after it."""
    tables = ("graph_versions", "doc_entries")
    return {
        table: (_first_at(tx, from_ms, table), _AFTER_ALL if to_ms is None else _first_at(tx, to_ms, table))
        for table in tables
    }


def document_changes(
    tx: ReadTransaction, *, workspace: str, branch: str, doc: str, numbers: dict[str, tuple[int, int]], limit: int
) -> list[dict[str, Any]]:
    """Return the nodes and entries of a document that changed in a period, newest first, a node once."""
    branch_id = tx.value(
        "select branch_id from branches where workspace_norm = :workspace and name = :name",
        {"workspace": workspace, "name": branch},
    )
    document = {"branch_id": branch_id, "doc": doc, "limit": limit}
    first, end = numbers["graph_versions"]
    nodes = tx.rows(
        "select key, type, title, status, deleted from graph_versions where branch_id = :branch_id and doc = :doc"
        " and type is not null and seq >= :first and seq < :end order by seq desc limit :limit",
        {**document, "first": first, "end": end},
    )
    changes: dict[str, dict[str, Any]] = {}
    for key, kind, title, status, deleted in nodes:
        shown_status = "deleted" if deleted else status or ""
        changes.setdefault(key, {"id": key, "type": kind, "title": title or key, "status": shown_status})
    first, end = numbers["doc_entries"]
    entries = tx.rows(
        "select seq, title, content from doc_entries where branch_id = :branch_id and doc = :doc and hidden = 0"
        " and written_as in ('note', 'step') and seq >= :first and seq < :end order by seq desc limit :limit",
        {**document, "first": first, "end": end},
    )
    notes = [
        {"entry": seq, "type": "note", "title": (title or content)[:_BEGINNING_CHARS], "status": ""}
        for seq, title, content in entries
    ]
    return [*changes.values(), *notes]
