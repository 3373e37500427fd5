"""Looking a store on a server over, however it is: whatever goes wrong becomes a finding."""

from __future__ import annotations

from ...errors import MossError
from ..finding import FAILED, SOUND, Finding
from ..schema_version import SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..engine import Call
    from .engine import PostgresEngine
    from .transaction import PostgresTransaction

    Look = Callable[[PostgresTransaction], Iterator[Finding]]


def look_over(engine: PostgresEngine, call: Call, *, fix: bool) -> Iterator[Finding]:
    """What there is to say of the store, in the order in which a reader wants to hear it."""
    opened = list(_attempt(engine, call, "schema", _schema))
    yield from opened
    if opened[0].state == FAILED:
        return
    yield from _attempt(engine, call, "server", _server)


def _attempt(engine: PostgresEngine, call: Call, subject: str, look: Look) -> Iterator[Finding]:
    """One look in a transaction of its own; whatever goes wrong is a finding too."""
    try:
        tx = engine.begin_read(snapshot=True, call=call)
        try:
            found = list(look(tx))
        finally:
            tx.rollback()
            tx.release()
    except Exception as error:
        problem = error if isinstance(error, MossError) else engine.translate(error)
        if problem is None:
            raise
        found = [Finding(subject, FAILED, problem=problem)]
    yield from found


def _schema(tx: PostgresTransaction) -> Iterator[Finding]:
    version = tx.value("select version from moss_schema")
    capsules = tx.value("select count(*) from capsules where deleted_at is null")
    yield Finding("schema", SOUND, version=version, known=SCHEMA_VERSION, capsules=capsules)


def _server(tx: PostgresTransaction) -> Iterator[Finding]:
    version, standby, standbys = tx.row(
        "select current_setting('server_version'), pg_is_in_recovery(), (select count(*) from pg_stat_replication)"
    ) or ("", 0, 0)
    info = tx.connection.info
    yield Finding(
        "server",
        SOUND,
        version=version,
        host=info.host,
        database=info.dbname,
        encrypted=bool(tx.connection.pgconn.ssl_in_use),
        standby=bool(standby),
        standbys=standbys,
    )
