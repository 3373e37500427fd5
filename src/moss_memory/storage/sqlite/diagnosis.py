"""Why a call failed that Moss itself did not refuse: what is damaged in the store, looked for when it is needed."""

from __future__ import annotations

import apsw

from moss_memory.errors import MossError
from moss_memory.storage.consistency import inconsistent

from .error_mapping import storage_error
from .index_check import check_index
from .rows_check import faults

LIMIT_S = 5.0
"""How long the rows are looked through."""


def explain(connection: apsw.Connection, home: str, *, is_large: bool) -> MossError | None:
    """Return what is wrong with the stored rows or with the index, if anything is."""
    try:
        found = faults(connection, limit_s=LIMIT_S)
    except apsw.Error as error:
        return storage_error(error, home)
    except UnicodeDecodeError:
        return None
    if found:
        todo = "`moss doctor` names all of it, and `moss restore-backup` brings back a copy"
        return inconsistent(f"the database in {home}", found, todo)
    return None if is_large else _damaged_index(connection, home)


def _damaged_index(connection: apsw.Connection, home: str) -> MossError | None:
    try:
        connection.execute("begin")
        check_index(connection)
    except apsw.Error as error:
        return MossError(
            "STORAGE_CORRUPT",
            f"the search index of the database in {home} is damaged ({error}); `moss doctor --fix` builds it again",
        )
    return None
