"""Search for secrets in a store: all texts of all families."""

from __future__ import annotations

from moss_memory.secrets.scanner import findings_in, redacted

from .families import reasoning
from .families import records as record
from .families import tasks as task
from .families.artifacts import ARTIFACTS
from .families.capsules import CAPSULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

_TABLES = (CAPSULES.table, ARTIFACTS.table, *reasoning.TABLES, *task.TABLES, *record.TABLES)
_PROGRESS_EVERY = 1000


def credentials_in(tx: ReadTransaction) -> list[dict[str, Any]]:
    """Return every finding, deleted rows and earlier versions included; its path is table, row and column."""
    findings = []
    for count, (row, values) in enumerate(_rows(tx), 1):
        if count % _PROGRESS_EVERY == 0:
            tx.check_cancelled()
            tx.progress(count)
        findings += findings_in(values, redacted(row), tx.check_cancelled)
    return findings


def _rows(tx: ReadTransaction) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every row and every earlier version with its place."""
    for table in _TABLES:
        for values in table.rows(tx):
            yield "/".join([table.name, *(str(values[name]) for name in table.key)]), values
    for family in (CAPSULES, ARTIFACTS):
        for row, number, values in family.versioned.stream_all(tx):
            yield f"{family.table.name}/{row}/version {number}", values
