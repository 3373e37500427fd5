"""Search for secrets in a store: all texts of all families."""

from __future__ import annotations

from moss_memory.secrets.scanner import findings_in, redacted
from moss_memory.tools.artifact.artifact_rows import versioned as artifacts
from moss_memory.tools.capsule.capsule_rows import versioned as capsules
from moss_memory.transfer.families.artifacts import TABLE as ARTIFACT
from moss_memory.transfer.families.capsules import TABLE as CAPSULE

from .families import reasoning
from .families import records as record
from .families import tasks as task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

_TABLES = (CAPSULE, ARTIFACT, *reasoning.TABLES, *task.TABLES, *record.TABLES)
_TOLD_EVERY = 1000


def credentials_in(tx: ReadTransaction) -> list[dict[str, Any]]:
    """Return every finding, deleted rows and earlier versions included; its path is table, row and column."""
    found = []
    for count, (row, values) in enumerate(_rows(tx), 1):
        if count % _TOLD_EVERY == 0:
            tx.check_cancelled()
            tx.progress(count)
        found += findings_in(values, redacted(row), tx.check_cancelled)
    return found


def _rows(tx: ReadTransaction) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every row and every earlier version with its place."""
    for table in _TABLES:
        for values in table.rows(tx):
            yield "/".join([table.name, *(str(values[name]) for name in table.key)]), values
    for versioned in (capsules, artifacts):
        for row, number, values in versioned.everything(tx):
            yield f"{versioned.rows.table}/{row}/version {number}", values
