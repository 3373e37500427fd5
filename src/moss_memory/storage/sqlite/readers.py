"""A pool of connections that read, renewed if the database at the path is another."""

from __future__ import annotations

import os
import time
from _weakref import ref

import apsw

from moss_memory.errors import MossError
from moss_memory.storage.schema_version import SCHEMA_VERSION

from .connections import close_all, open_empty, open_reader, refuse_unfinished
from .error_mapping import missing_store
from .file_kind import EMPTY
from .open_files import file_identity, keep_out_if_changed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Identity = tuple[int, int]

_ATTEMPTS = 20
LOOK_EVERY_S = 0.1
"""Interval in which readers check if the database was replaced; if there is none, every time."""


class Reader:
    """A connection that one call at a time reads with."""

    __slots__ = ("__weakref__", "connection", "database", "generation", "lasts")

    def __init__(self, connection: apsw.Connection, database: Identity | None, *, lasts: bool) -> None:
        self.connection = connection
        self.generation = 0
        self.database = database
        """The file at the path when it was opened; None if there was none."""
        self.lasts = lasts
        """True if it sees later writes, so that it can be used again."""


class Readers:
    """The idle readers of one database; a reader in use belongs to its call and is never closed by another.

    Threads share a list whose operations are atomic, and no lock that an interrupt could leave locked. A reader that is
    lost between two steps is closed with the last reference to it.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._idle: list[Reader] = []
        self._all: list[ref[Reader]] = []
        self._next_check_at = 0.0
        self.identity: Identity | None = None
        """The identity of the database, which no other file in its place can have; None while there is none."""
        self._generation = 0
        self.has_opened = False
        """True if a store existed: if it is missing later, that is an error and not an empty store."""

    def count_in_use(self) -> int:
        """Return the number of calls that read now."""
        idle = list(self._idle)
        readers = [reader() for reader in list(self._all)]
        return sum([reader is not None and reader not in idle for reader in readers])

    def acquire(self, prepare: Callable[[], None]) -> Reader:
        """Return a reader of the database at the path, or of an empty store if there is none.

        `prepare` migrates a database of an older schema.
        """
        self._check_database()
        while (reader := self._take_idle()) is not None:
            if self._is_current(reader):
                return reader
            self._close(reader)
        reader = self._open_current(self.identity, prepare)
        self._all.append(ref(reader, self._all.remove))
        return reader

    def _close(self, reader: Reader) -> None:
        if reader.database is not None:
            keep_out_if_changed(self._path, reader.connection)
        close_all([reader.connection])

    def _take_idle(self) -> Reader | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _is_current(self, reader: Reader) -> bool:
        return reader.database == self.identity and reader.generation == self._generation

    def give_back(self, reader: Reader) -> None:
        """End the transaction of a reader and keep it for the next call, unless the database was replaced.

        A reader with an unfinished statement would keep the snapshot of that statement.
        """
        if reader.connection.in_transaction:
            reader.connection.execute("rollback")
        if reader.lasts and self._is_current(reader) and reader.connection.txn_state() == apsw.SQLITE_TXN_NONE:
            self._idle.append(reader)
        else:
            self._close(reader)

    def check_at_next_call(self) -> None:
        """Make the next call check the database at the path."""
        self._next_check_at = 0.0

    def renew(self) -> None:
        """Close all readers, those in use after their calls: the files beside the database are new."""
        self._generation += 1
        self.close()

    def close(self) -> None:
        """Close idle readers now, and the others after their calls."""
        self._forget(None)

    def _check_database(self) -> None:
        """Check if the database was moved, removed or created; close idle connections to the old one."""
        now = time.monotonic()
        if self.identity is not None and now <= self._next_check_at:
            return
        identity = file_identity(self._path)
        self._next_check_at = now + LOOK_EVERY_S
        if identity != self.identity:
            self._forget(identity)

    def _forget(self, identity: Identity | None) -> None:
        self.identity = identity
        while (reader := self._take_idle()) is not None:
            self._close(reader)

    def _open_current(self, identity: Identity | None, prepare: Callable[[], None]) -> Reader:
        """Return a new reader, also if the database was moved since the last check."""
        for _ in range(_ATTEMPTS):
            generation = self._generation
            try:
                reader = self._open(identity, prepare)
                reader.generation = generation
                return reader
            except (FileNotFoundError, apsw.CantOpenError, apsw.IOError):
                current = file_identity(self._path)
                if current == identity:
                    raise
                identity = current
                self.check_at_next_call()
        raise MossError("STORAGE_BUSY", f"{self._path} is removed and created again; try again later")

    def _open(self, identity: Identity | None, prepare: Callable[[], None]) -> Reader:
        if identity is None:
            if self.has_opened:
                raise missing_store(os.path.dirname(self._path))
            refuse_unfinished(self._path)
            return Reader(open_empty(), None, lasts=True)
        connection, version, follows = open_reader(self._path)
        if version == EMPTY:
            connection.close()  # another process has created it and not filled it yet
            return Reader(open_empty(), identity, lasts=False)
        if version < SCHEMA_VERSION:
            prepare()
        self.has_opened = True
        return Reader(connection, identity, lasts=follows)
