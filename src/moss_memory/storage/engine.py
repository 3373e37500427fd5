"""What a room may ask of storage, and the one place that chooses an engine."""

from __future__ import annotations

from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol, TypeVar

    from moss_memory.config import Config
    from moss_memory.search.hits import Hits
    from moss_memory.search.request import SearchRequest

    from .health import CheckResult

    Row = tuple[Any, ...]
    Parameters = dict[str, Any]
    Result = TypeVar("Result")

    class ReadTransaction(Protocol):
        """One call's view of one state of the store."""

        call: CallContext
        config: Config
        tool: str
        """The tool that was called."""

        @property
        def now_ms(self) -> int:
            """When this call sees the store, or began to change it: the order of times is the order of changes."""

        @property
        def now(self) -> int:
            """The same in whole seconds."""

        @property
        def erases(self) -> dict[str, Any]:
            """How far something is gone that was erased, as answers tell it; nothing where no byte of it is left."""

        def rows(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
            """Every row of a statement that gives few: it has a limit, or names what it reads."""

        def stream(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
            """The same where there may be any number of rows: no more are held than are being read."""

        def row(self, sql: str, parameters: Parameters | None = None) -> Row | None:
            """The first row, or none."""

        def value(self, sql: str, parameters: Parameters | None = None) -> Any:
            """The first column of the first row, or none."""

        @property
        def schema_version(self) -> int:
            """The version of the schema that this transaction sees."""

        def check_cancelled(self) -> None:
            """Raises `CANCELLED` when the caller has given up."""

        def progress(self, done: int, total: int | None = None) -> None:
            """Tells the caller how far a long call has come."""

        def search(self, request: SearchRequest) -> Hits:
            """One page of what the query matches in the one index of all families, and the total.

            `SEMANTIC_UNAVAILABLE` where meaning is asked for and no model is there.
            """

        def vectors_of(self, source: str, rows: list[int]) -> int:
            """How many of these rows of a source have been prepared for search by meaning."""

        def sql_in(self, column: str, parameter: str) -> str:
            """The SQL condition that a column is one of a list, which is bound to the parameter as it is."""

        def sql_json_contains(self, column: str, parameter: str) -> str:
            """The SQL condition that a column, a JSON array, holds a value."""

        def commit(self) -> None:
            """Ends the transaction; what it wrote is durable when this returns. Only the door calls it."""

        def rollback(self) -> None:
            """Undoes everything. Only the door calls it."""

        def release(self) -> None:
            """Gives the connection back. Only the door calls it."""

    class Transaction(ReadTransaction, Protocol):
        """One call's changes to the store: all of its statements happen, or none do.

        It waits for other writers, and makes them wait, from its first statement on, of which `now` and `new_id` are
        some. So a body judges its arguments first; one that then has nothing to do leaves no event.
        """

        def run(self, sql: str, parameters: Parameters | None = None) -> int:
            """Runs a statement that changes rows and says how many it changed."""

        def queue(self, sql: str, parameters: Parameters | None = None) -> None:
            """Runs a statement whose answer nobody needs, at the latest before the commit, and always in its turn."""

        def insert_all(self, sql: str, rows: list[Parameters]) -> bool:
            """Inserts rows with one statement, written for one row; false when one collides, then none is there."""

        def try_run(self, sql: str, parameters: Parameters | None = None) -> None:
            """Runs a statement whose failure must not fail the call; a failed one leaves nothing."""

        def new_id(self) -> str:
            """A ULID larger than every one given out before by this process."""

        def next_change(self, count: int = 1) -> int:
            """The next number in the store-wide order of changes, or the last of so many that are taken at once."""

        def advance_sequence(self, change: int) -> None:
            """Makes this call's event, its further changes and all later ones come after a change of another store."""

        def advance_event_sequence(self, seq: int) -> None:
            """The same after an event that came in with its number."""

        def set_event_subject(self, *, workspace: str | None = None, address: str | None = None) -> None:
            """Names what this call's event is about; never any stored text."""

        def record_event(self, *, workspace: str, address: str, payload: str) -> str:
            """Writes an event of this call that others read, a task event, and gives its id."""

        def skip_event(self) -> None:
            """Says that this call changes nothing after all, so that it leaves no event."""

        def erase_after_commit(self, result: dict[str, Any], *, told: str, anything: bool) -> None:
            """Once all is committed, removes what was deleted, now or before, from the disk.

            That field of the result says if it could. It goes by slices, between which others write. Answers that are
            kept for calls with a key are emptied now: any of them may show it.
            """

        def yield_lock(self) -> bool:
            """Lets others write, if this call has kept them from it for a while; false when the caller has given up.

            What the call did before is committed then: each of its slices must be whole in itself.
            """

        def append_event(self, tool: str) -> bool:
            """Writes the one event of this call, unless it recorded its own; whether it asked for anything at all.

            Only the door calls it.
            """

    class Engine(Protocol):
        """A place where the store lives."""

        def begin_read(self, *, snapshot: bool, call: CallContext) -> ReadTransaction:
            """A transaction that sees one state of the store."""

        def begin_write(self, *, timeout_s: float, call: CallContext) -> Transaction:
            """A writing transaction, from its first statement on the only one in its workspace, or anywhere.

            `STORAGE_BUSY` when patience runs out.
            """

        def write(self, carry_out: Callable[[Transaction], Result], *, timeout_s: float, call: CallContext) -> Result:
            """Carries a call out in a writing transaction and commits it; its result.

            Where that fails without the call's fault, and nothing of it stays, it is carried out again. Where it cannot
            be known whether anything stays it is too, so it has to look first whether it is remembered; an engine that
            can be in that doubt gives every call a key of its own.
            """

        def generate_key(self) -> str | None:
            """A key for a call that has none of its caller's, by which it is remembered; none where none is needed."""

        def index(self, *, call: CallContext, timeout_s: float, most: int | None, rebuild: bool) -> tuple[int, int]:
            """Makes missing vectors, at most so many; how many it made, and how many are still missing."""

        def restore(self, backup: str, *, call: CallContext) -> str | None:
            """Puts a backup in the store's place; the name under which the one that was there is kept."""

        def salvage(self, target: str, *, call: CallContext) -> list[dict[str, Any]]:
            """Fills a new store's file with what can be read of this one, however damaged; what could not be."""

        def translate(self, error: Exception) -> MossError | None:
            """The `MossError` that a driver's error means, or none if it is not the driver's."""

        def about(self) -> str:
            """What this engine is and in which version."""

        def files(self) -> tuple[str, ...]:
            """The names of the files that it keeps in the home folder."""

        def exists(self) -> bool:
            """Whether there is a store: a file of any kind in its place counts."""

        def is_taken(self) -> bool:
            """Whether there is a store that a migration must not fill."""

        def is_large(self) -> bool:
            """Whether searching or counting all of it may take longer than others should wait, about 20 ms."""

        def check_health(self, *, call: CallContext, fix: bool) -> Iterator[CheckResult]:
            """Everything worth knowing of the store's condition; with `fix` what can be mended is mended first."""

        def copy_to(self, path: str) -> int:
            """Copies one state of the whole store into a new file and says how many bytes it has.

            The file is private, durable when this returns, and not there after an error; what has that name stays.
            """

        def dump(self, *, call: CallContext) -> Iterator[tuple[str, Row]]:
            """Every row of one state of the store as `(table, row)`; not index and vectors, which follow from them."""

        def tables(self, tx: ReadTransaction) -> list[str]:
            """The names of the tables of which `dump` gives rows."""

        def columns(self, tx: ReadTransaction, table: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
            """The columns of a table that follow from no other, and those of its key; none where there is no table."""

        def finish_load(self, *, call: CallContext) -> None:
            """Gives a store free that was being filled: from now on it is one like any other."""

        def forget(self, *, call: CallContext, but: tuple[str, ...] = ()) -> None:
            """Empties every table but those and begins to count anew; running servers see an empty store."""

        def mark(self) -> object:
            """What equals an earlier mark only if nobody, here or in another process, has committed anything since."""

        def close(self) -> None:
            """Lets go of every connection and lock."""


class CallContext:
    """What a caller brings along: settings, the clock, the source of ids, the wish to stop, the ear for progress."""

    __slots__ = ("advice", "cancelled", "clock_ms", "config", "key", "new_id", "operation", "progress", "workspace")

    def __init__(
        self,
        *,
        operation: str,
        config: Config,
        clock_ms: Callable[[], int],
        new_id: Callable[[int], str],
        cancelled: Callable[[], bool] | None,
        progress: Callable[[int, int | None], None] | None,
        workspace: str | None = None,
        advice: bool = True,
    ) -> None:
        self.operation = operation
        self.workspace = workspace
        """The only one in which it writes, as its caller wrote it; none where it may write anywhere."""
        self.key: str | None = None
        """What it is remembered by."""
        self.config = config
        self.clock_ms = clock_ms
        self.new_id = new_id
        self.cancelled = cancelled
        self.progress = progress
        self.advice = advice
        """Whether a refusal is worth some milliseconds for what to do instead."""

    def check_cancelled(self) -> None:
        """Ends a call whose caller has given up; its transaction is undone."""
        if self.cancelled is not None and self.cancelled():
            raise MossError("CANCELLED", f"`{self.operation}` was cancelled; nothing was changed")


def open_engine(config: Config, *, bulk_load: bool = False) -> Engine:
    """The engine that the configuration names.

    One that is `filling` makes a new store, or goes on with it, which nobody else opens until it is given free.
    """
    if config.url:
        return _postgres(config, bulk_load=bulk_load)
    from moss_memory.storage.sqlite.engine import SqliteEngine

    return SqliteEngine(config.home, bulk_load=True) if bulk_load else SqliteEngine(config.home)


def read_external(path: str, statements: dict[str, str]) -> dict[str, list[Row]]:
    """What each statement finds in the database file of another program, which is not touched."""
    from moss_memory.storage.sqlite.repair import external_db

    return external_db.read_external(path, statements)


def _postgres(config: Config, *, bulk_load: bool) -> Engine:
    """The engine on a server, whose driver is an extra."""
    from importlib.util import find_spec

    if any(find_spec(module) is None for module in ("psycopg", "numpy")):  # a search would miss the second much later
        raise MossError(
            "INVALID_REQUEST",
            "a store on PostgreSQL needs what the extra `postgres` brings; install moss-memory[postgres]",
        )
    from moss_memory.storage.postgres.engine import PostgresEngine

    return PostgresEngine(config, bulk_load=bulk_load)
