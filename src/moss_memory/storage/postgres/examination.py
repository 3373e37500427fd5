"""Looking a store on a server over, however it is: whatever goes wrong becomes a finding."""

from __future__ import annotations

from ...errors import MossError
from ..finding import FAILED, PENDING, SOUND, Finding
from ..schema_version import SCHEMA_VERSION
from . import standing
from .connection import connect
from .schema import version_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..engine import Call
    from .engine import PostgresEngine
    from .transaction import PostgresTransaction

    Look = Callable[[PostgresTransaction], Iterator[Finding]]

_OF_SERVER = (standing.server, standing.hosts, standing.durability, standing.connections)


def look_over(engine: PostgresEngine, call: Call, *, fix: bool) -> Iterator[Finding]:
    """What there is to say of the server and of the store, in the order in which a reader wants to hear it."""
    of_server = list(_caught(engine, "server", lambda: _server(engine)))
    yield from of_server
    if of_server[-1].state == FAILED or of_server[-1].subject == "schema":
        return
    for subject, look in _OF_STORE:
        yield from _attempt(engine, call, subject, look)


def _server(engine: PostgresEngine) -> list[Finding]:
    """The server, and whether there is a store: looking makes none."""
    with connect(engine.url) as connection:
        found = [one for look in _OF_SERVER for one in look(connection, engine.url)]
        if version_of(connection) == 0:
            found.append(Finding("schema", PENDING, version=0, known=SCHEMA_VERSION, capsules=0))
    return found


def _attempt(engine: PostgresEngine, call: Call, subject: str, look: Look) -> Iterator[Finding]:
    """One look in a transaction of its own."""

    def looked() -> list[Finding]:
        tx = engine.begin_read(snapshot=True, call=call)
        try:
            return list(look(tx))
        finally:
            tx.rollback()
            tx.release()

    return _caught(engine, subject, looked)


def _caught(engine: PostgresEngine, subject: str, look: Callable[[], list[Finding]]) -> Iterator[Finding]:
    try:
        found = look()
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


_OF_STORE: tuple[tuple[str, Look], ...] = (("schema", _schema),)
