"""Health checks of a store; every failure becomes a result."""

from __future__ import annotations

import os

from moss_memory.errors import MossError
from moss_memory.storage.consistency import describe
from moss_memory.storage.health import DAMAGED, FAILED, MENDED, PENDING, SOUND, UNCHECKED, CheckResult
from moss_memory.storage.schema_version import SCHEMA_VERSION
from moss_memory.storage.sqlite.repair.encoding_check import rows_with_invalid_text

from .backup import leftovers
from .file_kind import replaced_logs
from .functions import only_value
from .index_check import check_index, rebuild
from .rows_check import faults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    import apsw

    from moss_memory.storage.call import CallContext

    from .engine import SqliteEngine
    from .transaction import SqliteTransaction

    Look = Callable[[apsw.Connection], Iterator[CheckResult]]

TIMEOUT_S = 10.0
_UNWRITABLE = ("STORAGE_READONLY", "STORAGE_BUSY")


def check_health(engine: SqliteEngine, call: CallContext, *, fix: bool) -> Iterator[CheckResult]:
    """Yield the result of each check, in the order of display.

    With `fix` a damaged index is rebuilt and purges are finished before the checks.
    """
    opened = list(_attempt(engine, call, "schema", _schema))
    yield from opened
    if opened[0].state == FAILED:
        return
    yield from _index(engine, call, fix=fix)
    yield from _attempt(engine, call, "pages", _pages)
    yield from _attempt(engine, call, "rows", _rows)
    yield from _attempt(engine, call, "consistency", _consistency)
    if fix:
        list(_attempt(engine, call, "erasures", _erasures, writes=True))  # a commit finishes pending erasures
    yield from _attempt(engine, call, "erasures", _erasures)
    unfinished = leftovers(os.path.join(call.config.home, engine.files()[0]))
    if unfinished:
        yield CheckResult("leftovers", PENDING, found=unfinished)
    replaced = replaced_logs(os.path.join(call.config.home, engine.files()[0]))
    if replaced:
        yield CheckResult("replaced", PENDING, found=replaced)
    yield from _attempt(
        engine, call, "meaning", lambda connection: _semantic_search(connection, call.config.model_folder)
    )


def _attempt(
    engine: SqliteEngine, call: CallContext, subject: str, look: Look, *, writes: bool = False
) -> Iterator[CheckResult]:
    """Run one check in its own transaction; a failure is a result, too."""
    tx: SqliteTransaction
    try:
        if writes:
            tx = engine.write_transaction(timeout_s=TIMEOUT_S, call=call)
        else:
            tx = engine.read_transaction(snapshot=True, call=call)
        try:
            results = list(look(tx.connect()))
            tx.commit()
        finally:
            tx.rollback()
            tx.release()
    except Exception as error:
        problem = error if isinstance(error, MossError) else engine.translate(error)
        if problem is None:
            raise
        unchecked = problem.code == "STORAGE_FULL" or (writes and problem.code in _UNWRITABLE)
        results = [CheckResult(subject, UNCHECKED if unchecked else FAILED, problem=problem)]
    yield from results


def _schema(connection: apsw.Connection) -> Iterator[CheckResult]:
    version = connection.pragma("user_version")
    capsules = only_value(connection, "select count(*) from capsules where deleted_at is null")
    yield CheckResult("schema", SOUND, version=version, known=SCHEMA_VERSION, capsules=capsules)
    journal = connection.pragma("journal_mode")
    if journal != "wal":
        yield CheckResult("journal", PENDING, mode=journal)


def _index(engine: SqliteEngine, call: CallContext, *, fix: bool) -> Iterator[CheckResult]:
    results = list(_attempt(engine, call, "index", _compare))
    if fix and results[0].state == FAILED:
        rebuilt = list(_attempt(engine, call, "index", _rebuild, writes=True))
        if rebuilt[0].state == MENDED:
            results = rebuilt
    yield from results


def _compare(connection: apsw.Connection) -> Iterator[CheckResult]:
    check_index(connection)
    yield CheckResult("index", SOUND)


def _rebuild(connection: apsw.Connection) -> Iterator[CheckResult]:
    rebuild(connection)
    yield CheckResult("index", MENDED)


def _pages(connection: apsw.Connection) -> Iterator[CheckResult]:
    lines = [str(row[0]) for row in connection.execute("pragma integrity_check(5)")]
    if lines == ["ok"]:
        yield CheckResult("pages", SOUND)
    else:
        only_index = all("search_index" in line or "fts5" in line for line in lines)
        yield CheckResult("pages", DAMAGED, said="; ".join(lines)[:500], only_index=only_index)


def _rows(connection: apsw.Connection) -> Iterator[CheckResult]:
    invalid_rows = list(rows_with_invalid_text(connection))
    yield CheckResult("rows", DAMAGED, found=invalid_rows) if invalid_rows else CheckResult("rows", SOUND)


def _consistency(connection: apsw.Connection) -> Iterator[CheckResult]:
    descriptions = [describe(entry) for entry in faults(connection)]
    yield CheckResult("consistency", DAMAGED, found=descriptions) if descriptions else CheckResult("consistency", SOUND)


def _erasures(connection: apsw.Connection) -> Iterator[CheckResult]:
    yield _waiting("erasures", only_value(connection, "select count(*) from erasures"))


def _semantic_search(connection: apsw.Connection, folder: str) -> Iterator[CheckResult]:
    rows: Any = connection.execute("select model, count(*) from vectors group by model order by model")
    counts_by_model = dict(rows)
    count = only_value(connection, "select count(*) from unembedded")
    yield _waiting("meaning", count, made=counts_by_model, folder=folder)


def _waiting(subject: str, count: int, **facts: Any) -> CheckResult:
    return CheckResult(subject, PENDING if count else SOUND, count=count, **facts)
