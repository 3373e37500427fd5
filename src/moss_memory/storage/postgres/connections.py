"""Connections to PostgreSQL: how one is opened, and the few that a process keeps."""

from __future__ import annotations

import threading
import time

import psycopg
from psycopg import adapters
from psycopg.adapt import AdaptersMap, Dumper, Loader, PyFormat
from psycopg.types.numeric import Int8Dumper

from moss_memory.errors import MossError

from .connection_options import options_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

IDLE = 4
"""So many connections wait for their next call; what is more is closed when it is given back."""
MOST = 16
"""So many a process opens, unless `db_max_open_conns` says otherwise."""
TAKE_TIMEOUT_S = 60.0


class _BoolAsNumber(Dumper):
    """Truth as the number that a column holds: the schema has no column of truth values."""

    oid = adapters.types["int8"].oid

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


class _NumberOfBool(Loader):
    """Truth as SQLite tells it."""

    def load(self, data: Any) -> int:
        return 1 if bytes(data) == b"t" else 0


class _NumberOfNumeric(Loader):
    """A sum of whole numbers, which PostgreSQL gives a type of its own."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text or text == "NaN" else int(text)


def _adapters() -> AdaptersMap:
    """How values go there and come back: whole numbers always in 64 bits, truth as a number."""
    own = AdaptersMap(adapters)
    own.register_dumper(int, Int8Dumper)
    own.register_dumper(bool, _BoolAsNumber)
    own.register_loader("bool", _NumberOfBool)
    own.register_loader("numeric", _NumberOfNumeric)
    return own


_ADAPTERS = _adapters()
psycopg.logger.setLevel("ERROR")  # a connection that is cut is told once, as an error of the call
assert _ADAPTERS.get_dumper(int, PyFormat.AUTO) is not None


def connect(url: str) -> Connection:
    """A connection that can write, ready for the statements of the rooms."""
    connection: Connection = psycopg.connect(
        **options_of(url),
        autocommit=True,  # transactions begin and end by statements, several of which go in one message
        prepare_threshold=None,  # a pooler in between may send each transaction to another session
        cursor_factory=psycopg.RawCursor,
        context=_Context(),
    )
    return connection


class _Context:
    """What a new connection takes its adapters from."""

    adapters = _ADAPTERS
    connection = None


class Connections:
    """The connections of one engine: a few wait for their next call, more are opened when they are needed."""

    def __init__(self, url: str, *, most: int, idle: int) -> None:
        self._url = url
        self._most = most or MOST
        self._keep = min(idle or IDLE, self._most)
        self._idle: list[Connection] = []
        self._open = 0
        self._free = threading.Condition(threading.Lock())
        self._round = 0
        """Rises when what waits is closed: whatever was taken before is closed when it is given back."""
        self._rounds: dict[int, int] = {}

    def take(self, prepare: Callable[[Connection], None], *, fresh: bool = False) -> Connection:
        """A connection for one call; a `fresh` one where those that wait may have been cut off."""
        if fresh:
            self.close()
        with self._free:
            self._wait()
            if self._idle:
                return self._idle.pop()
            self._open += 1
            started = self._round
        try:
            connection = connect(self._url)
        except BaseException:
            self._gone()
            raise
        self._rounds[id(connection)] = started
        try:
            prepare(connection)
        except BaseException:
            self.drop(connection)
            raise
        return connection

    def _wait(self) -> None:
        until = time.monotonic() + TAKE_TIMEOUT_S
        while not self._idle and self._open >= self._most:
            if not self._free.wait(until - time.monotonic()):
                raise MossError(
                    "STORAGE_BUSY",
                    f"all {self._most} connections of this process were in use for {TAKE_TIMEOUT_S:g} s; nothing was "
                    "done, try again",
                )

    def give_back(self, connection: Connection) -> None:
        """Takes a connection whose call is over; one that is not idle, or not needed, is closed."""
        idle = not connection.closed and connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        with self._free:
            if idle and self._rounds.get(id(connection)) == self._round and len(self._idle) < self._keep:
                self._idle.append(connection)
                self._free.notify()
                return
        self.drop(connection)

    def drop(self, connection: Connection) -> None:
        """Closes a connection for good."""
        self._rounds.pop(id(connection), None)
        connection.close()
        self._gone()

    def _gone(self) -> None:
        with self._free:
            self._open -= 1
            self._free.notify()

    def close(self) -> None:
        """Closes what waits; what is in use is closed when it is given back."""
        with self._free:
            waiting, self._idle = self._idle, []
            self._round += 1
        for connection in waiting:
            self.drop(connection)
