"""Looking a store on a server over, however it is: whatever goes wrong becomes a finding."""

from __future__ import annotations

from moss_memory.errors import MossError
from moss_memory.storage.consistency import breaking, dangling, describe
from moss_memory.storage.health import DAMAGED, FAILED, MENDED, PENDING, SOUND, CheckResult
from moss_memory.storage.schema_version import SCHEMA_VERSION

from . import server_health
from .connections import connect
from .schema import version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from moss_memory.storage.engine import CallContext

    from .engine import PostgresEngine
    from .transaction import PostgresTransaction

    Look = Callable[[PostgresTransaction], Iterator[CheckResult]]

_TIMEOUT_S = 60.0
_OF_SERVER = (server_health.server, server_health.hosts, server_health.durability, server_health.connections)


def check_health(engine: PostgresEngine, call: CallContext, *, fix: bool) -> Iterator[CheckResult]:
    """What there is to say of the server and of the store, in the order in which a reader wants to hear it."""
    of_server = list(_caught(engine, "server", lambda: _server(engine)))
    yield from of_server
    if of_server[-1].state == FAILED or of_server[-1].subject == "schema":
        return
    yield from _attempt(engine, call, "schema", _schema)
    yield from _index(engine, call, fix=fix)
    yield from _attempt(engine, call, "consistency", _consistency)
    yield from _attempt(engine, call, "meaning", _meaning)


def _server(engine: PostgresEngine) -> list[CheckResult]:
    """The server, and whether there is a store: looking makes none."""
    with connect(engine.url) as connection:
        found = [one for look in _OF_SERVER for one in look(connection, engine.url)]
        if version_of(connection) == 0:
            found.append(CheckResult("schema", PENDING, version=0, known=SCHEMA_VERSION, capsules=0))
    return found


def _attempt(engine: PostgresEngine, call: CallContext, subject: str, look: Look) -> Iterator[CheckResult]:
    """One look in a transaction of its own."""

    def looked() -> list[CheckResult]:
        tx = engine.begin_read(snapshot=True, call=call)
        try:
            return list(look(tx))
        finally:
            tx.rollback()
            tx.release()

    return _caught(engine, subject, looked)


def _caught(engine: PostgresEngine, subject: str, look: Callable[[], list[CheckResult]]) -> Iterator[CheckResult]:
    try:
        found = look()
    except Exception as error:
        problem = error if isinstance(error, MossError) else engine.translate(error)
        if problem is None:
            raise
        found = [CheckResult(subject, FAILED, problem=problem)]
    yield from found


def _schema(tx: PostgresTransaction) -> Iterator[CheckResult]:
    version = tx.value("select version from moss_schema")
    capsules = tx.value("select count(*) from capsules where deleted_at is null")
    yield CheckResult("schema", SOUND, version=version, known=SCHEMA_VERSION, capsules=capsules)


def _consistency(tx: PostgresTransaction) -> Iterator[CheckResult]:
    found = [describe(one) for look in (breaking, dangling) for one in look(lambda sql: iter(list(tx.rows(sql))))]
    yield CheckResult("consistency", DAMAGED, found=found) if found else CheckResult("consistency", SOUND)


def _index(engine: PostgresEngine, call: CallContext, *, fix: bool) -> Iterator[CheckResult]:
    found = list(_attempt(engine, call, "index", _compare))
    yield from _caught(engine, "index", lambda: _rebuilt(engine, call)) if fix and found[0].state == FAILED else found


def _compare(tx: PostgresTransaction) -> Iterator[CheckResult]:
    from .index_check import check_index  # it brings numpy along

    check_index(tx)
    yield CheckResult("index", SOUND)


def _rebuilt(engine: PostgresEngine, call: CallContext) -> list[CheckResult]:
    from .index_check import build_again

    engine.write(build_again, timeout_s=_TIMEOUT_S, call=call)
    return [CheckResult("index", MENDED)]


def _meaning(tx: PostgresTransaction) -> Iterator[CheckResult]:
    made: dict[str, int] = dict(tx.rows("select model, count(*) from vectors group by model order by model"))
    count = tx.value("select count(*) from unembedded")
    folder = tx.config.model_folder
    yield CheckResult("meaning", PENDING if count else SOUND, count=count, made=made, folder=folder)
