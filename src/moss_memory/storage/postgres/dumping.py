"""All that a store holds, table by table: to be compared with another store's, or to be forgotten."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..engine import ReadTransaction, Row, Transaction

COUNTERS = "numbers"
"""The table whose rows count: they stay, and begin anew."""
SCHEMA = "moss_schema"
DERIVED = ("activity_counts", "changed_documents", "remembered", "unembedded", "vectors")
"""What follows from texts, events or answers; with every table whose name begins with `search_`."""
_TABLES = (
    "select c.relname, coalesce(("
    "select string_agg(quote_ident(a.attname), ', ' order by array_position(i.indkey, a.attnum))"
    " from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)"
    " where i.indrelid = c.oid and i.indisprimary), '1')"
    " from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by c.relname"
)
_COUNTING = (
    "select pg_get_serial_sequence(quote_ident(c.relname), a.attname) from pg_class c"
    " join pg_attribute a on a.attrelid = c.oid and a.attidentity <> ''"
    " where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by c.relname"
)


def dump(tx: ReadTransaction) -> Iterator[tuple[str, Row]]:
    """Every row of every table that follows from no other, in the order of its key."""
    for name, key in list(tx.rows(_TABLES)):
        if name != SCHEMA and name not in DERIVED and not name.startswith("search_"):
            for row in tx.stream(f"select * from {name} order by {key}"):
                yield name, row


def forget(tx: Transaction, *, but: tuple[str, ...]) -> None:
    """Empties every table but those, and begins to count anew."""
    for name, _ in list(tx.rows(_TABLES)):
        if name == COUNTERS:
            tx.run(f"update {COUNTERS} set last = 0")
        elif name != SCHEMA and name not in but:
            tx.run(f"delete from {name}")
    for (sequence,) in list(tx.rows(_COUNTING)):
        tx.run(f"select setval('{sequence}', 1, false)")
