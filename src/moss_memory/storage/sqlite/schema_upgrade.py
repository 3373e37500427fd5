"""Migrate the schema on request; the first call after an update of Moss does the same, also a read."""

from __future__ import annotations

from moss_memory.storage.call import WRITE_TIMEOUT_S
from moss_memory.storage.schema_version import SCHEMA_VERSION

from .connections import open_reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.call import CallContext

    from .engine import SqliteEngine


def upgrade_schema(engine: SqliteEngine, path: str, call: CallContext) -> tuple[int, int]:
    """Migrate the schema; return its versions before and after, the newest if there is no store yet."""
    if not engine.exists():
        return SCHEMA_VERSION, SCHEMA_VERSION
    reader, before, _ = open_reader(path)
    reader.close()
    tx = engine.write_transaction(timeout_s=WRITE_TIMEOUT_S, call=call)
    try:
        tx.begin()
    finally:
        tx.rollback()
        tx.release()
    return before, SCHEMA_VERSION
