"""The connections that read: kept for the next call, and let go of when another database stands in the place."""

from __future__ import annotations

import os
import time
from _weakref import ref

import apsw

from moss_memory.errors import MossError

from .connections import close_all, file_identity, open_empty, open_reader, refuse_unfinished, vanished
from .file_kind import EMPTY
from .schema_migrations import SCHEMA_VERSION
from .wal_file import keep_out_if_changed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Identity = tuple[int, int]

_ATTEMPTS = 20
LOOK_EVERY_S = 0.1
"""How often readers look whether the database is still the one they have open; where there is none, every time."""


class Reader:
    """A connection that one call at a time reads with."""

    __slots__ = ("__weakref__", "connection", "database", "generation", "lasts")

    def __init__(self, connection: apsw.Connection, database: Identity | None, *, lasts: bool) -> None:
        self.connection = connection
        self.generation = 0
        self.database = database
        """The file that was in the place when it was opened; none when there was none."""
        self.lasts = lasts
        """Whether it will see what others write, so that it may serve further calls."""


class Readers:
    """The readers of one database; those in use belong to their calls and are never closed by another.

    Threads share a list from which one step takes a reader, or adds one, and no lock that an interrupt could leave
    locked. A reader that is lost on its way is closed with the last reference to it.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._idle: list[Reader] = []
        self._all: list[ref[Reader]] = []
        self._look_again_at = 0.0
        self.identity: Identity | None = None
        """What tells the database apart from any that stood or will stand in its place; none while there is none."""
        self._generation = 0
        self.has_opened = False
        """Whether there was a store: if there is none any more, that is an error, and not an empty store."""

    @property
    def in_use(self) -> bool:
        """Whether a call reads right now."""
        idle = list(self._idle)
        return any(reader is not None and reader not in idle for reader in [found() for found in self._all])

    def take(self, prepare: Callable[[], None]) -> Reader:
        """A reader of the database that is in the place now, or of an empty store where there is none.

        `prepare` brings a database of an older schema up to date.
        """
        self._look()
        while (reader := self._take_idle()) is not None:
            if self._is_current(reader):
                return reader
            self._close(reader)
        reader = self._open_what_is_there(self.identity, prepare)
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
        """Keeps a reader for the next call, unless the database it reads is no longer the one in the place.

        One with a statement that was not read to its end would go on to see the state of that statement.
        """
        if reader.lasts and self._is_current(reader) and reader.connection.txn_state() == apsw.SQLITE_TXN_NONE:
            self._idle.append(reader)
        else:
            self._close(reader)

    def look_at_once(self) -> None:
        """Makes the next call look which database is in the place."""
        self._look_again_at = 0.0

    def renew(self) -> None:
        """Lets go of all that are open, of those in use when they come back: the files beside the database are new."""
        self._generation += 1
        self.close()

    def close(self) -> None:
        """Lets go of those that are idle now, and of the others when they come back."""
        self._forget(None)

    def _look(self) -> None:
        """Notices that the database was moved, removed or made; closes the idle connections to the old one."""
        now = time.monotonic()
        if self.identity is not None and now <= self._look_again_at:
            return
        found = file_identity(self._path)
        self._look_again_at = now + LOOK_EVERY_S
        if found != self.identity:
            self._forget(found)

    def _forget(self, identity: Identity | None) -> None:
        self.identity = identity
        while (reader := self._take_idle()) is not None:
            self._close(reader)

    def _open_what_is_there(self, identity: Identity | None, prepare: Callable[[], None]) -> Reader:
        """A new reader, also where the database was moved since it was last looked for."""
        for _ in range(_ATTEMPTS):
            generation = self._generation
            try:
                reader = self._open(identity, prepare)
                reader.generation = generation
                return reader
            except (FileNotFoundError, apsw.CantOpenError, apsw.IOError):
                found = file_identity(self._path)
                if found == identity:
                    raise
                identity = found
                self.look_at_once()
        raise MossError("STORAGE_BUSY", f"{self._path} comes and goes; try again when it stays")

    def _open(self, identity: Identity | None, prepare: Callable[[], None]) -> Reader:
        if identity is None:
            if self.has_opened:
                raise vanished(os.path.dirname(self._path))
            refuse_unfinished(self._path)
            return Reader(open_empty(), None, lasts=True)
        connection, version, follows = open_reader(self._path)
        if version == EMPTY:
            connection.close()  # its maker has not filled it yet, and will before this one is asked again
            return Reader(open_empty(), identity, lasts=False)
        if version < SCHEMA_VERSION:
            prepare()
        self.has_opened = True
        return Reader(connection, identity, lasts=follows)
