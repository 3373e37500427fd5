"""The interface of storage engines and transactions, and the choice of an engine."""

from __future__ import annotations

from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol, TypeVar

    from moss_memory.config import Config
    from moss_memory.search.request import Hits, SearchRequest

    from .call import CallContext
    from .health import CheckResult
    from .origin import Origin

    Row = tuple[Any, ...]
    Parameters = dict[str, Any]
    Result = TypeVar("Result")

    class ReadTransaction(Protocol):
        """A consistent read of the store for one call."""

        call: CallContext
        config: Config
        tool: str
        """The name of the called tool."""

        def begin(self) -> None:
            """Begin the transaction unless it has begun; a write acquires the write lock, then reads the clock."""

        @property
        def now_ms(self) -> int:
            """Return the time of the snapshot or of the begin: times are ordered as the changes are."""

        @property
        def now(self) -> int:
            """Return the same in whole seconds."""

        @property
        def erasure_scope(self) -> dict[str, Any]:
            """Return the fields with which answers report an incomplete erasure; empty if no byte is left."""

        def rows(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
            """Return every row of a statement that yields few: it has a limit, or names its rows."""

        def stream(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
            """Return an iterator over any number of rows, without holding all of them in memory."""

        def row(self, sql: str, parameters: Parameters | None = None) -> Row | None:
            """Return the first row, or None."""

        def value(self, sql: str, parameters: Parameters | None = None) -> Any:
            """Return the first column of the first row, or None."""

        @property
        def schema_version(self) -> int:
            """Return the schema version of the store."""

        def check_cancelled(self) -> None:
            """Raise `CANCELLED` if the caller has cancelled."""

        def progress(self, done: int, total: int | None = None) -> None:
            """Report the progress of a long call to the caller."""

        def search(self, request: SearchRequest) -> Hits:
            """Return one page of hits in the index of all tools, and their total.

            Raise `SEMANTIC_UNAVAILABLE` if the request needs a model and none is installed.
            """

        def vectors_of(self, source: str, rows: list[int]) -> int:
            """Return the number of these rows of a source that have vectors."""

        def sql_in(self, column: str, parameter: str) -> str:
            """Return the SQL condition that a column is in a list, which is bound to the parameter unchanged."""

        def sql_json_contains(self, column: str, parameter: str) -> str:
            """Return the SQL condition that a column, a JSON array, contains a value."""

        def commit(self) -> None:
            """Commit durably; only `Store` calls it."""

        def rollback(self) -> None:
            """Roll back; only `Store` calls it."""

        def release(self) -> None:
            """Give the connection back; only `Store` calls it."""

    class Transaction(ReadTransaction, Protocol):
        """One call's changes to the store: all of its statements happen, or none do.

        It holds the write lock from `begin`, `new_id` or its first statement on; `now` may be read only then. So a body
        checks its arguments first; one that never begins leaves no event.
        """

        def run(self, sql: str, parameters: Parameters | None = None) -> int:
            """Run a statement that changes rows; return the number of changed rows."""

        def queue(self, sql: str, parameters: Parameters | None = None) -> None:
            """Run a statement without a result, in order, at the latest before the commit."""

        def insert_all(self, sql: str, rows: list[Parameters]) -> bool:
            """Insert rows by a statement for one row; return False, without a row inserted, if one conflicts."""

        def try_run(self, sql: str, parameters: Parameters | None = None) -> None:
            """Run a statement whose failure is ignored; a failed one changes nothing."""

        def new_id(self) -> str:
            """Return a ULID larger than every one that this process returned before."""

        def origin_key(self) -> str:
            """Return the key of the origin of this call's changes; its event stores the origin itself."""

        @property
        def actor(self) -> str:
            """Return the actor of this call."""

        def store_origin(self, origin: Origin) -> str:
            """Store an origin other than this call's, as an import does; return its key."""

        def next_change(self, count: int = 1) -> int:
            """Take `count` numbers in the store-wide order of changes; return the last."""

        def advance_sequence(self, change: int) -> None:
            """Advance the numbers of events and changes past a change that was imported from another store."""

        def advance_event_sequence(self, seq: int) -> None:
            """Advance the numbers of events past an imported event."""

        def set_event_subject(self, *, workspace: str | None = None, address: str | None = None) -> None:
            """Set the workspace and the address of this call's event; never stored text."""

        def record_event(self, *, workspace: str, address: str, payload: str) -> str:
            """Write an event of this call that others read, such as a task event; return its id."""

        def skip_event(self) -> None:
            """Write no event for this call, because it changes nothing."""

        def erase_after_commit(self, result: dict[str, Any], *, field: str, anything: bool) -> None:
            """Remove everything that was deleted, now or before, from the disk after the commit.

            The `field` of the result reports success. Other calls write between the slices of the work. Stored
            answers of idempotent calls are emptied at once, because any of them may contain the deleted text.
            """

        def yield_lock(self) -> bool:
            """Release the lock if this call has held it for a while; return False if the caller has cancelled.

            The work so far is committed then, so each slice must be consistent by itself.
            """

        def append_event(self, tool: str) -> bool:
            """Write this call's event, unless it recorded its own; return True if the transaction has begun.

            Only `Store` calls it.
            """

    class Engine(Protocol):
        """A storage backend."""

        def read_transaction(self, *, snapshot: bool, call: CallContext) -> ReadTransaction:
            """Begin a transaction that reads a snapshot."""

        def read(
            self,
            body: Callable[..., Result],
            values: dict[str, Any],
            *,
            snapshot: bool,
            timeout_s: float,
            call: CallContext,
        ) -> Result:
            """Run a call in a reading transaction and return its result.

            A call that fails because its server is lost or busy is run again until the timeout.
            """

        def write_transaction(self, *, timeout_s: float, call: CallContext) -> Transaction:
            """Return a writing transaction; from its begin on it is the only one in its workspace, or in the store.

            Its begin raises `STORAGE_BUSY` at the timeout.
            """

        def write(self, run: Callable[[Transaction], Result], *, timeout_s: float, call: CallContext) -> Result:
            """Run a call in a writing transaction, commit it and return its result.

            `run` is called again after a temporary failure or an unconfirmed commit. It must look up its idempotency
            key first, or be repeatable.
            """

        can_lose_commits: bool
        """True if the result of a commit can be unknown; then every write gets an idempotency key."""

        locks_workspaces: bool
        """True if a write locks only its workspace; otherwise it locks the whole store."""

        def index(self, *, call: CallContext, timeout_s: float, most: int | None, rebuild: bool) -> tuple[int, int]:
            """Make at most `most` missing vectors; return the numbers of made and of still missing ones."""

        def restore(self, backup: str, *, call: CallContext) -> str | None:
            """Replace the store by a backup; return the name of the copy of the old one."""

        def salvage(self, target: str, *, call: CallContext) -> list[dict[str, Any]]:
            """Copy all readable rows of a damaged store into a new database; list the unreadable ones."""

        def translate(self, error: Exception) -> MossError | None:
            """Return the `MossError` for a driver's error; None for any other error."""

        def about(self) -> str:
            """Return the name and the version of this engine."""

        def files(self) -> tuple[str, ...]:
            """Return the names of its files in the home folder."""

        def exists(self) -> bool:
            """Return True if there is a store, or any other file in its place."""

        def has_data(self) -> bool:
            """Return True if there is a store with data; a copy must not overwrite it."""

        def connections(self) -> tuple[int, int]:
            """Return the number of connections in use and that of the calls that wait for one."""

        def size_bytes(self) -> int:
            """Return the size of the store, 0 if it is not known."""

        def is_large(self) -> bool:
            """Return True if a search or a count over the store may take longer than 20 ms."""

        def upgrade(self, *, call: CallContext) -> tuple[int, int]:
            """Bring the schema up to date; return its versions before and after."""

        def check_health(self, *, call: CallContext, fix: bool) -> Iterator[CheckResult]:
            """Yield the results of all health checks; with `fix`, repair first."""

        def copy_to(self, path: str) -> int:
            """Copy a snapshot of the store into a new file; return its size in bytes.

            The file is private, durable on return, and absent after an error; an existing file is never replaced.
            """

        def dump(self, *, call: CallContext) -> Iterator[tuple[str, Row]]:
            """Yield `(table, row)` for every row of a snapshot except the index and the vectors, which are derived."""

        def tables(self, tx: ReadTransaction) -> list[str]:
            """Return the names of the tables that `dump` yields."""

        def columns(self, tx: ReadTransaction, table: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
            """Return the columns of a table that are not derived, and its key columns; empty if there is no table."""

        def finish_load(self, *, call: CallContext) -> None:
            """Open a store to others after a bulk load."""

        def truncate_all(self, *, call: CallContext, but: tuple[str, ...] = ()) -> None:
            """Empty every table except `but` and reset all counters; running servers see an empty store."""

        def change_token(self) -> object:
            """Return a token that equals an earlier one only if no process has committed since."""

        def close(self) -> None:
            """Close every connection and release every lock."""


class ErrorTranslation:
    """A context that raises every error as `MossError`: as the engine translates it, else as `INTERNAL`.

    Without a `tool` an error that the engine does not translate passes unchanged.
    """

    __slots__ = ("_engine", "_tool")

    def __init__(self, engine: Engine, tool: str | None = None) -> None:
        self._engine = engine
        self._tool = tool

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, MossError):
            if self._tool is not None:
                raise translate_error(self._engine, self._tool, error) from error
            translated = self._engine.translate(error)
            if translated is not None:
                raise translated from error


def translate_error(engine: Engine, tool: str, error: Exception) -> MossError:
    """Return an error as the engine translates it, else as `INTERNAL`."""
    internal = MossError("INTERNAL", f"`{tool}` failed in a way it should not; please report it")
    return engine.translate(error) or internal


def open_engine(config: Config, *, bulk_load: bool = False) -> Engine:
    """Return the engine that the configuration selects.

    With `bulk_load` it makes a new store, or continues one, which nobody else can open until `finish_load`.
    """
    if config.url:
        return _postgres(config, bulk_load=bulk_load)
    from moss_memory.storage.sqlite.engine import SqliteEngine

    return SqliteEngine(config.home, bulk_load=True) if bulk_load else SqliteEngine(config.home)


def read_external(path: str, statements: dict[str, str]) -> dict[str, list[Row]]:
    """Run statements on another program's database file, without changing it; return the rows of each."""
    from moss_memory.storage.sqlite.repair import external_db

    return external_db.read_external(path, statements)


def _postgres(config: Config, *, bulk_load: bool) -> Engine:
    from importlib.util import find_spec

    if any(find_spec(module) is None for module in ("psycopg", "numpy")):  # only searches import numpy
        raise MossError(
            "INVALID_REQUEST",
            "a store on PostgreSQL needs the extra `postgres`; install moss-memory[postgres]",
        )
    from moss_memory.storage.postgres.engine import PostgresEngine

    return PostgresEngine(config, bulk_load=bulk_load)
