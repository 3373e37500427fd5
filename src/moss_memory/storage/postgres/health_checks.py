"""The health checks of a store on a server; every error becomes a check result."""

from __future__ import annotations

from moss_memory.errors import MossError
from moss_memory.storage.consistency import breaking, dangling, describe
from moss_memory.storage.health import DAMAGED, FAILED, MENDED, PENDING, SOUND, CheckResult
from moss_memory.storage.schema_version import SCHEMA_VERSION
from moss_memory.storage.transaction_context import committing

from . import server_health
from .connections import open_connection
from .schema import version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from moss_memory.storage.call import CallContext

    from .engine import PostgresEngine
    from .transaction import PostgresTransaction

    Check = Callable[[PostgresTransaction], Iterator[CheckResult]]

_TIMEOUT_S = 60.0
_SERVER_CHECKS = (server_health.server, server_health.hosts, server_health.durability, server_health.connections)


def check_health(engine: PostgresEngine, call: CallContext, *, fix: bool) -> Iterator[CheckResult]:
    """Yield the results of all checks: first the server, then the store."""
    server_results = list(_run(engine, "server", lambda: _check_server(engine)))
    yield from server_results
    if server_results[-1].state == FAILED or server_results[-1].subject == "schema":
        return
    yield from _run_in_transaction(engine, call, "schema", _check_schema)
    yield from _check_or_rebuild_index(engine, call, fix=fix)
    yield from _run_in_transaction(engine, call, "consistency", _check_consistency)
    yield from _run_in_transaction(engine, call, "meaning", _check_vectors)


def _check_server(engine: PostgresEngine) -> list[CheckResult]:
    """Check the server, and report a missing schema without creating it."""
    with open_connection(engine.url) as connection:
        results = [result for check in _SERVER_CHECKS for result in check(connection, engine.url)]
        if version_of(connection) == 0:
            results.append(CheckResult("schema", PENDING, version=0, known=SCHEMA_VERSION, capsules=0))
    return results


def _run_in_transaction(engine: PostgresEngine, call: CallContext, subject: str, check: Check) -> Iterator[CheckResult]:
    def run() -> list[CheckResult]:
        with committing(engine.read_transaction(snapshot=True, call=call)) as tx:
            return list(check(tx))

    return _run(engine, subject, run)


def _run(engine: PostgresEngine, subject: str, check: Callable[[], list[CheckResult]]) -> Iterator[CheckResult]:
    """Run a check, and turn a storage error into a failed result."""
    try:
        results = check()
    except Exception as error:
        problem = error if isinstance(error, MossError) else engine.translate(error)
        if problem is None:
            raise
        for note in getattr(problem, "__notes__", ()):
            problem.message = note  # `moss doctor` is for the operator of the server, so it names the host
        results = [CheckResult(subject, FAILED, problem=problem)]
    yield from results


def _check_schema(tx: PostgresTransaction) -> Iterator[CheckResult]:
    version = tx.value("select version from moss_schema")
    capsules = tx.value("select count(*) from capsules where deleted_at is null")
    yield CheckResult("schema", SOUND, version=version, known=SCHEMA_VERSION, capsules=capsules)


def _check_consistency(tx: PostgresTransaction) -> Iterator[CheckResult]:
    faults = [describe(fault) for look in (breaking, dangling) for fault in look(lambda sql: iter(list(tx.rows(sql))))]
    yield CheckResult("consistency", DAMAGED, found=faults) if faults else CheckResult("consistency", SOUND)


def _check_or_rebuild_index(engine: PostgresEngine, call: CallContext, *, fix: bool) -> Iterator[CheckResult]:
    results = list(_run_in_transaction(engine, call, "index", _check_index))
    must_rebuild = fix and results[0].state == FAILED
    yield from _run(engine, "index", lambda: _rebuild_index(engine, call)) if must_rebuild else results


def _check_index(tx: PostgresTransaction) -> Iterator[CheckResult]:
    from .index_check import check_index  # imports numpy

    check_index(tx)
    yield CheckResult("index", SOUND)


def _rebuild_index(engine: PostgresEngine, call: CallContext) -> list[CheckResult]:
    from .index_check import rebuild_index

    engine.write(rebuild_index, timeout_s=_TIMEOUT_S, call=call)
    return [CheckResult("index", MENDED)]


def _check_vectors(tx: PostgresTransaction) -> Iterator[CheckResult]:
    counts_by_model: dict[str, int] = dict(tx.rows("select model, count(*) from vectors group by model order by model"))
    count = tx.value("select count(*) from unembedded")
    folder = tx.config.model_folder
    yield CheckResult("meaning", PENDING if count else SOUND, count=count, made=counts_by_model, folder=folder)
