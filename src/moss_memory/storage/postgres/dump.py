"""Read or empty all tables of a store: to copy it, to compare it with another, or to delete everything."""

from __future__ import annotations

from moss_memory.storage.server_tables import PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from moss_memory.storage.engine import ReadTransaction, Row, Transaction

COUNTERS = "numbers"
"""The view of the sequences: its rows stay, and are reset to 0."""
SCHEMA = "moss_schema"
DERIVED = ("activity_counts", "capsule_tags", "changed_documents", "remembered", "unembedded", "vectors")
"""Tables derived from texts, events or answers, besides all tables whose name begins with `search_`."""
_LEFT_OUT = ("search_", PREFIX)
_TABLES = (
    "select c.relname, coalesce(("
    "select string_agg(quote_ident(a.attname), ', ' order by array_position(i.indkey, a.attnum))"
    " from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)"
    " where i.indrelid = c.oid and i.indisprimary), '1')"
    f" from pg_class c where (c.relkind = 'r' or c.relname = '{COUNTERS}')"
    " and c.relnamespace = current_schema()::regnamespace order by c.relname"
)
_COLUMNS = (
    "select a.attname, coalesce(array_position(i.indkey::int2[], a.attnum), 0 - 1) + 1 from pg_attribute a"
    " join pg_class c on c.oid = a.attrelid"
    " left join pg_index i on i.indrelid = c.oid and i.indisprimary and a.attnum = any(i.indkey)"
    f" where c.relname = :name and (c.relkind = 'r' or c.relname = '{COUNTERS}')"
    " and c.relnamespace = current_schema()::regnamespace"
    " and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum"
)
_SERIES = (
    "select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attidentity <> ''"
    " where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by c.relname"
)


def dump(tx: ReadTransaction) -> Iterator[tuple[str, Row]]:
    """Yield every row of every table that is not derived, in the order of its key."""
    keys = dict(tables(tx))
    filled = " union all ".join([f"select '{name}' where exists (select 1 from {name})" for name in keys])
    for name in [name for (name,) in tx.rows(filled)]:  # most tables are often empty
        for row in tx.stream(f"select * from {name} order by {keys[name]}"):
            yield name, row


def tables(tx: ReadTransaction) -> list[tuple[str, str]]:
    """Return the tables that are not derived, and the columns of their keys."""
    return [
        (name, key)
        for name, key in tx.rows(_TABLES)
        if name != SCHEMA and name not in DERIVED and not name.startswith(_LEFT_OUT)
    ]


def columns(tx: ReadTransaction, table: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of a table that are not generated, and those of its key."""
    rows = list(tx.rows(_COLUMNS, {"name": table}))
    key = sorted([(position, name) for name, position in rows if position or (table, name) == (COUNTERS, "series")])
    return tuple([name for name, _ in rows]), tuple([name for _, name in key])


def advance_sequences(tx: Transaction) -> None:
    """Set every sequence to the largest number in its table."""
    for name, column in list(tx.rows(_SERIES)):
        last = tx.value(f"select max({column}) from {name}")
        sequence = f"pg_get_serial_sequence('{name}', '{column}')"
        tx.run(f"select setval({sequence}, {last or 1}, {'true' if last else 'false'})")


def truncate_all(tx: Transaction, *, but: tuple[str, ...]) -> None:
    """Empty every table except `but`, and reset the sequences."""
    for name, _ in list(tx.rows(_TABLES)):
        if name == COUNTERS:
            tx.queue(f"update {COUNTERS} set last = 0")
        elif name != SCHEMA and name not in but:
            tx.queue(f"delete from {name}")
    for name, column in list(tx.rows(_SERIES)):
        if name not in but:
            tx.queue(f"select setval(pg_get_serial_sequence('{name}', '{column}'), 1, false)")
