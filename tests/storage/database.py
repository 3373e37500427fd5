"""Direct access to the database file, for tests of SQLite's own storage: they read it, and damage it."""

from __future__ import annotations

import os

import apsw

from moss_memory.storage.sqlite.functions import add_functions
from support.timeouts import TIMEOUT_S


def connect(home: object, name: str = "moss.db") -> apsw.Connection:
    """Return a separate connection to the database of a home."""
    connection = apsw.Connection(os.path.join(str(home), name), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(int(1000 * TIMEOUT_S))
    add_functions(connection)
    return connection


def make(home: str) -> apsw.Connection:
    """Return a new and empty database in a new home."""
    os.mkdir(home, 0o700)
    connection = apsw.Connection(os.path.join(home, "moss.db"))
    add_functions(connection)
    return connection
