"""All that a store holds, table by table: to be compared with another store's, or to be forgotten."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from moss_memory.storage.engine import ReadTransaction, Row, Transaction

COUNTERS = "numbers"
"""The table whose rows count: they stay, and begin anew."""
TABLES = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like 'search_%'"
_DERIVED = ("vectors", "unembedded", "activity", "capsule_tags", "remembered")
"""What follows from texts, tags or events, as the index does, or from what callers were told."""


def dump(tx: ReadTransaction) -> Iterator[tuple[str, Row]]:
    """Every row of every table that follows from no other, in the order in which it was written."""
    for name in tables(tx):
        for row in tx.rows(f"select * from {name}"):
            yield name, row


def tables(tx: ReadTransaction) -> list[str]:
    """The names of the tables that follow from no other."""
    return [name for name in sorted(_tables(tx)) if name not in _DERIVED]


def columns(tx: ReadTransaction, table: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of a table that are not made of others, and those of its key."""
    found = list(
        tx.rows("select name, pk from pragma_table_xinfo(:table) where hidden = 0 order by cid", {"table": table})
    )
    key = sorted([(place, name) for name, place in found if place])
    return tuple([name for name, _ in found]), tuple([name for _, name in key])


def forget(tx: Transaction, *, but: tuple[str, ...]) -> None:
    """Empties every table but those, and begins to count anew."""
    tx.run("pragma defer_foreign_keys = on")
    for name in _tables(tx):
        if name == COUNTERS:
            tx.run(f"update {COUNTERS} set last = 0")
        elif name not in but:
            tx.run(f"delete from {name}")


def _tables(tx: ReadTransaction) -> list[str]:
    return [name for (name,) in tx.rows(TABLES)]
