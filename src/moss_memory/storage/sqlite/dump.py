"""Dump the rows of a store table by table, for comparisons, or delete them."""

from __future__ import annotations

from moss_memory.storage.server_tables import PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from moss_memory.storage.engine import ReadTransaction, Row, Transaction

COUNTERS = "numbers"
"""The table of counters: its rows stay and are reset."""
SELECT_TABLES = (
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like 'search_%'"
)
_DERIVED = ("vectors", "unembedded", "activity", "capsule_tags", "remembered")
"""Tables derived from texts, tags, events or answers, besides those whose name begins with `server_tables.PREFIX`."""


def dump(tx: ReadTransaction) -> Iterator[tuple[str, Row]]:
    """Yield every row of every table that is not derived, in the order of insertion."""
    for name in tables(tx):
        for row in tx.rows(f"select * from {name}"):
            yield name, row


def tables(tx: ReadTransaction) -> list[str]:
    """Return the names of the tables that are not derived."""
    return [name for name in sorted(_tables(tx)) if name not in _DERIVED and not name.startswith(PREFIX)]


def columns(tx: ReadTransaction, table: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of a table that are not generated, and its key columns."""
    rows = list(
        tx.rows("select name, pk from pragma_table_xinfo(:table) where hidden = 0 order by cid", {"table": table})
    )
    key = sorted([(position, name) for name, position in rows if position])
    return tuple([name for name, _ in rows]), tuple([name for _, name in key])


def truncate_all(tx: Transaction, *, but: tuple[str, ...]) -> None:
    """Empty every table except `but` and reset all counters."""
    tx.run("pragma defer_foreign_keys = on")
    for name in _tables(tx):
        if name == COUNTERS:
            tx.run(f"update {COUNTERS} set last = 0")
        elif name not in but:
            tx.run(f"delete from {name}")


def _tables(tx: ReadTransaction) -> list[str]:
    return [name for (name,) in tx.rows(SELECT_TABLES)]
