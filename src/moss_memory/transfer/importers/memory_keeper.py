"""`memory-keeper`: one database file with sessions, items, their relations, and a journal."""

from __future__ import annotations

import json

from moss_memory.storage.engine import read_external

from .items import SourceFile, edge, node, note, parse_time, to_text
from .source_files import find_file, new_source_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from moss_memory.storage.engine import Row

_ITEMS = (
    "select i.key, i.value, i.category, i.priority, i.channel, i.created_at, i.updated_at, s.id, s.name "
    "from context_items i left join sessions s on s.id = i.session_id order by i.created_at, i.id"
)
_RELATIONS = "select from_key, relationship_type, to_key, session_id from context_relationships order by created_at, id"
_JOURNAL = (
    "select j.id, j.entry, j.tags, j.mood, j.created_at, s.name "
    "from journal_entries j left join sessions s on s.id = j.session_id order by j.created_at, j.id"
)


def read_memory_keeper(path: str) -> Iterator[SourceFile]:
    """Yield the source: an item as a node of its category, a relation as an edge, a journal entry as a note."""
    database_path = find_file(path, "context.db")
    file = new_source_file(database_path, path)
    tables = read_external(database_path, {"items": _ITEMS, "relations": _RELATIONS, "journal": _JOURNAL})
    names = _names(tables["items"])
    for row in tables["items"]:
        _add_item(file, row, names)
    for source, relation, target, session in tables["relations"]:
        ends = [names.get((to_text(session), to_text(end))) for end in (source, target)]
        if None in ends or not to_text(relation):
            file.skip(f"{source} {relation} {target}", "an end of this relation is not there")
        else:
            file.items.append(edge(str(ends[0]), to_text(relation), str(ends[1])))
    for row in tables["journal"]:
        _add_entry(file, row)
    yield file


def _names(rows: list[Row]) -> dict[tuple[str, str], str]:
    """Return the name of each item: its key, with its session if two sessions have the same key."""
    owners: dict[str, str] = {}
    names = {}
    for key, *_, session, session_name in rows:
        owner = owners.setdefault(to_text(key), to_text(session))
        label = to_text(key) if owner == to_text(session) else f"{to_text(key)} ({to_text(session_name)} {session})"
        names[to_text(session), to_text(key)] = label
    return names


def _add_item(file: SourceFile, row: Row, names: dict[tuple[str, str], str]) -> None:
    key, value, category, priority, channel, created, updated, session, session_name = row
    if not to_text(key).strip() or not to_text(value).strip():
        file.skip(to_text(key), "holds no text")
        return
    tags = [to_text(part) for part in (channel, session_name) if part]
    file.items.append(
        node(
            names[to_text(session), to_text(key)],
            type=to_text(category) or "note",
            title=to_text(key),
            text=to_text(value),
            tags=tags,
            priority=to_text(priority),
            created_at=parse_time(created),
            updated_at=parse_time(updated),
        )
    )


def _add_entry(file: SourceFile, row: Row) -> None:
    key, entry, tags, mood, created, session = row
    if not to_text(entry).strip():
        file.skip(f"journal {key}", "holds no text")
        return
    try:
        read_tags = json.loads(to_text(tags) or "[]")
    except ValueError:
        read_tags = []
    meta = {"tags": read_tags, "mood": to_text(mood), "session": to_text(session), "created_at": parse_time(created)}
    file.items.append(note(to_text(key), to_text(entry), title="Journal", **meta))
