"""Which columns a listing has: one declared table per kind of row, and how columns share a terminal's width."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WIDEST = 60


class Column:
    """One column: what it shows, how far it may shrink, and how soon it goes when there is no room."""

    __slots__ = ("goes", "key", "least", "right", "title", "widest")

    def __init__(
        self, key: str, title: str = "", *, least: int = 0, goes: int = 0, right: bool = False, widest: int = _WIDEST
    ) -> None:
        self.key = key
        self.title = title or key
        self.least = least
        """The narrowest that it is of use; 0 when it is whole or not there at all."""
        self.goes = goes
        """Its place in the order in which columns are dropped, the highest first; 0 stays."""
        self.right = right
        self.widest = widest


NAME = Column("name", least=8)
TYPE = Column("type", goes=5)
KIND = Column("kind", least=6, goes=3)
WORKSPACE = Column("workspace", least=8, goes=6)
TITLE = Column("title", least=8, goes=7)
CHARS = Column("capsule_chars", "chars", right=True, goes=4)
UPDATED = Column("updated_at", "updated", goes=3)
DELETED = Column("deleted_at", "deleted", goes=2)
ID = Column("id", goes=0)
SNIPPET = Column("snippet", least=30)
GONE = Column("deleted")
EVENT = Column("kind", goes=4)

SEQ = Column("seq", right=True)
WRITTEN = Column("ts_ms", "written", goes=6)
STATUS = Column("status", least=6, goes=3)
TAGS = Column("tags", least=8, goes=8)
LONG = 120
FILE = Column("file", least=16, widest=0)

RECORD = (
    Column("title", least=16), Column("status", goes=6), Column("says", least=24, goes=4, widest=LONG),
    Column("workspace", least=8, goes=7),
)  # fmt: skip

KINDS: tuple[tuple[tuple[str, ...], tuple[Column, ...]], ...] = (
    (
        ("snippet",),
        (
            NAME, WORKSPACE, TYPE, Column("branch", least=6, goes=8), Column("title", least=8, goes=9), SNIPPET,
            DELETED, ID,
        ),
    ),
    (("capsule_chars",), (NAME, WORKSPACE, TITLE, CHARS, UPDATED, DELETED, ID)),
    (
        ("version",),
        (
            KIND, NAME, WORKSPACE, Column("version", right=True, goes=4), Column("expires_at", "expires", goes=5),
            Column("run_id", least=8, goes=7), UPDATED, DELETED, ID,
        ),
    ),
    (("schema",), (KIND, Column("schema", "holds", least=20), Column("source", least=12, goes=1, widest=0))),
    (("display_name",), (Column("display_name", "title", least=8), NAME, WORKSPACE, Column("chars", right=True), ID)),
    (("message", "content"), (SEQ, WRITTEN, Column("message", least=16), Column("content", least=12, widest=LONG))),
    (
        ("seq", "content"),
        (
            SEQ, WRITTEN, Column("branch", least=6, goes=8), EVENT, Column("title", least=8, goes=5),
            Column("content", least=16, widest=LONG),
        ),
    ),
    (
        ("old_seq",),
        (
            WRITTEN, Column("doc", least=6, goes=4), Column("old_seq", "from", right=True),
            Column("new_seq", "to", right=True), Column("message", least=16),
        ),
    ),
    (("seq", "doc", "message"), (SEQ, WRITTEN, Column("branch", least=6), Column("doc", least=6), Column("message"))),
    (
        ("base_seq",),
        (Column("name", least=12), Column("base_branch", "base", least=8), Column("base_seq", "at", right=True)),
    ),
    (("conflict_id",), (Column("conflict_id"), KIND, Column("key", least=12), STATUS, Column("created_at_ms", "found",
                                                                                            goes=7))),
    (
        ("created_at_ms", "seq"),
        (Column("name", least=12), SEQ, Column("branch", least=6), Column("doc", least=6),
         Column("created_at_ms", "tagged", goes=7)),
    ),
    (("doc", "last_seq"), (Column("doc", least=12), Column("entries", right=True),
                           Column("last_seq", "last", right=True))),
    (
        ("why",),
        (
            Column("id", least=8), TYPE, STATUS, Column("title", least=16), Column("blocked_by", "blocked by", least=6,
                                                                                  goes=8),
            Column("why", least=12, goes=9),
        ),
    ),
    (
        ("change",),
        (
            Column("change"), KIND, Column("key", least=12), TYPE, STATUS, Column("title", least=16, goes=9),
        ),
    ),
    (("rel",), (Column("from", least=8), Column("rel", least=6), Column("to", least=8), GONE)),
    (
        ("type", "last_seq"),
        (Column("id", least=8), TYPE, STATUS, Column("title", least=16), TAGS, GONE),
    ),
    (
        ("revision", "status"),
        (Column("id"), Column("kind", goes=4), Column("status"), Column("title", least=16),
         Column("parent", goes=6), TAGS),
    ),
    (
        ("event_timestamp",),
        (
            Column("event_timestamp", "when"), Column("event_type", "what", least=10, goes=2),
            Column("title", "of", least=12), WORKSPACE, Column("entity_ids", "entity", goes=8),
            Column("source_record_id", "record", goes=9),
        ),
    ),
    (
        ("event_id",),
        (WRITTEN, TYPE, Column("target", least=8), Column("path", goes=8), Column("event_id", "event id")),
    ),
    (
        ("step_id",),
        (
            Column("step_id", "step"), Column("path"), Column("title", least=16), Column("done", goes=7),
            Column("blocked", goes=8), Column("checkpoints", least=8, goes=9),
        ),
    ),
    (
        ("properties",),
        (TYPE, *RECORD, Column("created_at", "submitted", goes=8), Column("id", goes=9)),
    ),
    (
        ("observation_count",),
        (
            Column("entity_type", "type", goes=4), *RECORD, Column("observation_count", "told", right=True, goes=8),
            Column("entity_id", "id", goes=9),
        ),
    ),
    (("file", "message"), (FILE, Column("code", goes=3), Column("message", least=20, widest=0))),
    (
        ("message",),
        (
            Column("line", right=True), Column("seq", right=True), Column("ref", least=12, goes=2),
            Column("name", least=8, goes=3), Column("code"), Column("edge", least=12),
            Column("message", least=20, widest=0),
        ),
    ),
)  # fmt: skip
"""The columns of each kind of row, known by keys that no kind above it has together; a new family adds its lines."""


def columns_for(rows: list[dict[str, Any]]) -> list[Column]:
    """The columns of these rows: those of their kind that any of them fills, else all that they have."""
    keys = dict.fromkeys(key for row in rows for key in row)
    for telling, declared in KINDS:
        if all(key in keys for key in telling):
            return [column for column in declared if column.key in keys and _tells(column, rows)]
    numbers = {key for key in keys if all(_is_number(row.get(key)) for row in rows)}
    return [Column(key, right=key in numbers, least=8, goes=place) for place, key in enumerate(keys)]


def _tells(column: Column, rows: list[dict[str, Any]]) -> bool:
    """Whether a column is worth its room: ids only where a name alone does not lead to every row."""
    if column is GONE:
        return any(row.get("deleted") for row in rows)
    if column is EVENT:
        return any(row.get("kind") == "event" for row in rows)
    if column is TAGS:
        return any(row.get("tags") for row in rows)
    deleted = any(row.get("deleted_at") is not None for row in rows)
    if column is ID:
        return deleted or any(row.get("name") is None for row in rows)
    return column is not DELETED or deleted


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def share_width(columns: list[Column], needed: list[int], width: int) -> list[int]:
    """The width of each column, 0 for one that is left out: long texts shrink first, then whole columns go."""
    widths = [min(wide, column.widest or wide) for column, wide in zip(columns, needed, strict=True)]
    while width and _total(widths) > width:
        shrinkable = [i for i, column in enumerate(columns) if column.least and widths[i] > column.least]
        if shrinkable:
            widths[max(shrinkable, key=lambda i: widths[i])] -= 1
            continue
        goes = max((i for i, wide in enumerate(widths) if wide), key=lambda i: columns[i].goes)
        if not columns[goes].goes:
            break
        widths[goes] = 0
        widths = [wide and min(need, column.widest or need) for wide, need, column in
                  zip(widths, needed, columns, strict=True)]  # fmt: skip
    return widths


def _total(widths: list[int]) -> int:
    shown = [wide for wide in widths if wide]
    return sum(shown) + 2 * (len(shown) - 1)
