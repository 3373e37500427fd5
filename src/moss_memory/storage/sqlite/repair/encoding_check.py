"""Find rows with invalid UTF-8, which SQLite itself never checks."""

from __future__ import annotations

from moss_memory.errors import MossError
from moss_memory.storage.sqlite.dump import SELECT_TABLES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import apsw


def rows_with_invalid_text(connection: apsw.Connection) -> Iterator[dict[str, Any]]:
    """Yield the first row with invalid UTF-8 of each table: the table, the row's key and the column."""
    tables: list[Any] = connection.execute(SELECT_TABLES).fetchall()
    for (table,) in tables:
        try:
            for _ in connection.execute(f"select * from {table}"):
                pass
        except UnicodeDecodeError:
            yield _first_in(connection, table)


def _first_in(connection: apsw.Connection, table: str) -> dict[str, Any]:
    columns = "select name, pk, lower(type) from pragma_table_info(?)"
    info: list[Any] = connection.execute(columns, (table,)).fetchall()
    texts = [name for name, _, kind in info if kind == "text"]
    keys = [name for _, name in sorted((position, name) for name, position, _ in info if position)]
    plain = [f"cast({name} as blob)" if name in texts else name for name in keys]
    for row in connection.execute(
        f"select {', '.join([*plain, *[f'cast({name} as blob)' for name in texts]])} from {table}"
    ):
        for name, raw in zip(texts, row[len(keys) :], strict=True):
            if raw is not None and raw.decode("utf-8", "replace").encode() != raw:
                key = [
                    value.decode("utf-8", "replace") if isinstance(value, bytes) else value
                    for value in row[: len(keys)]
                ]
                return {"table": table, "row": key[0] if len(key) == 1 else key, "column": name}
    return {"table": table}


def invalid_utf8_error(found: dict[str, Any], home: str) -> MossError:
    column = f"{found['table']} row {found['row']!r}, {found['column']}" if "row" in found else found["table"]
    return MossError(
        "STORAGE_CORRUPT",
        f"the database in {home} is damaged: a text is not UTF-8 ({column}). `moss export --salvage FOLDER` writes "
        "everything that can be read",
        details=found,
    )
