"""Open connections to PostgreSQL, and the connection pool of a process."""

from __future__ import annotations

import threading
import time

import psycopg
from psycopg import adapters
from psycopg.adapt import AdaptersMap, Dumper, Loader, PyFormat
from psycopg.types.numeric import Int8Dumper

from moss_memory.errors import MossError

from .connection_options import resolve_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

IDLE = 4
"""The maximum of idle connections; others are closed when they are given back."""
MOST = 16
"""The maximum of open connections of a process, unless `db_max_open_conns` is set."""
TAKE_TIMEOUT_S = 60.0


class _BoolAsNumber(Dumper):
    """Sends a bool as an integer: the schema has no boolean columns."""

    oid = adapters.types["int8"].oid

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


class _NumberOfBool(Loader):
    """Reads a boolean as 0 or 1, as SQLite does."""

    def load(self, data: Any) -> int:
        return 1 if bytes(data) == b"t" else 0


class _NumberOfNumeric(Loader):
    """Reads a numeric, the type of a sum of integers, as an int or float."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text or text == "NaN" else int(text)


def _adapters() -> AdaptersMap:
    """Return the type adapters: integers always as 64 bits, booleans as integers."""
    own = AdaptersMap(adapters)
    own.register_dumper(int, Int8Dumper)
    own.register_dumper(bool, _BoolAsNumber)
    own.register_loader("bool", _NumberOfBool)
    own.register_loader("numeric", _NumberOfNumeric)
    return own


_ADAPTERS = _adapters()
psycopg.logger.setLevel("ERROR")  # a lost connection is reported once, as the error of the call
assert _ADAPTERS.get_dumper(int, PyFormat.AUTO) is not None


def open_connection(url: str) -> Connection:
    """Open a connection that can write, with the type adapters of Moss."""
    connection: Connection = psycopg.connect(
        **resolve_options(url),
        autocommit=True,  # transactions begin and end by statements, which are pipelined with others
        prepare_threshold=None,  # a pooler may run each transaction in another session
        cursor_factory=psycopg.RawCursor,
        context=_Context(),
    )
    return connection


def is_idle(connection: Connection) -> bool:
    """Return True if no transaction is open on a connection."""
    return connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


class _Context:
    """The adaptation context of a new connection."""

    adapters = _ADAPTERS
    connection = None


class Connections:
    """The connection pool of one engine."""

    def __init__(self, url: str, *, most: int, idle: int) -> None:
        self._url = url
        self._most = most or MOST
        self._keep = min(idle or IDLE, self._most)
        self._idle: list[Connection] = []
        self._open = 0
        self._waiting = 0
        self._free = threading.Condition(threading.Lock())
        self._generation = 0
        """Incremented by `close`: connections of an earlier generation are closed when they are given back."""
        self._generations: dict[int, int] = {}

    def acquire(self, prepare: Callable[[Connection], None], *, fresh: bool = False) -> Connection:
        """Return a connection for one call; with `fresh` a new one, because idle ones may be broken."""
        if fresh:
            self.close()
        with self._free:
            self._wait_until_free()
            if self._idle:
                return self._idle.pop()
            self._open += 1
            generation = self._generation
        try:
            connection = open_connection(self._url)
        except BaseException:
            self._release_slot()
            raise
        self._generations[id(connection)] = generation
        try:
            prepare(connection)
        except BaseException:
            self.drop(connection)
            raise
        return connection

    def _wait_until_free(self) -> None:
        until = time.monotonic() + TAKE_TIMEOUT_S
        while not self._idle and self._open >= self._most:
            self._waiting += 1
            try:
                freed = self._free.wait(until - time.monotonic())
            finally:
                self._waiting -= 1
            if not freed:
                raise MossError(
                    "STORAGE_BUSY",
                    f"all {self._most} connections of this process were in use for {TAKE_TIMEOUT_S:g} s; nothing was "
                    "done, try again",
                )

    def usage(self) -> tuple[int, int]:
        with self._free:
            return self._open - len(self._idle), self._waiting

    def give_back(self, connection: Connection) -> None:
        """Return a connection to the pool; close it if it is broken, in a transaction, or not needed."""
        idle = not connection.closed and is_idle(connection)
        with self._free:
            current = self._generations.get(id(connection)) == self._generation
            if idle and current and len(self._idle) < self._keep:
                self._idle.append(connection)
                self._free.notify()
                return
        self.drop(connection)

    def drop(self, connection: Connection) -> None:
        """Close a connection and free its slot in the pool."""
        self._generations.pop(id(connection), None)
        connection.close()
        self._release_slot()

    def _release_slot(self) -> None:
        with self._free:
            self._open -= 1
            self._free.notify()

    def close(self) -> None:
        """Close idle connections now, and those in use when they are given back."""
        with self._free:
            idle, self._idle = self._idle, []
            self._generation += 1
        for connection in idle:
            self.drop(connection)
