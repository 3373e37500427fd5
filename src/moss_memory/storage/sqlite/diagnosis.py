"""Find out if damaged rows or a damaged index are the reason why a call failed."""

from __future__ import annotations

import apsw

from moss_memory.errors import MossError
from moss_memory.storage.consistency import inconsistent

from .error_mapping import storage_error
from .index_check import check_index
from .rows_check import faults

LIMIT_S = 5.0
"""The time limit for the check of the rows."""


def diagnose_damage(connection: apsw.Connection, home: str, *, is_large: bool) -> MossError | None:
    """Return the error for damaged rows or a damaged index; None if both are sound."""
    try:
        row_faults = faults(connection, limit_s=LIMIT_S)
    except apsw.Error as error:
        return storage_error(error, home)
    except UnicodeDecodeError:
        return None
    if row_faults:
        todo = "`moss doctor` names all of it, and `moss restore-backup` brings back a copy"
        return inconsistent(f"the database in {home}", row_faults, todo)
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
