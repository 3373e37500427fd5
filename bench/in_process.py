"""What the door costs in one process, beside the bare SQLite statements that do the same work."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from time import time_ns

import apsw

from moss_memory import open_store
from moss_memory.storage.sqlite.functions import prepare
from moss_memory.storage.sqlite.schema_migrations import migrations_after
from moss_memory.tools.capsule.capsule_rows import FULL_COLUMNS

from .measure import Line, compared_us, medians_us, scratch_folder
from .texts import Author

_COLUMNS = (
    "id", "workspace_raw", "workspace_norm", "name_raw", "name_norm", "title", "capsule_text", "capsule_chars",
    "tokens_estimate", "created_at", "updated_at", "change_seq",
)  # fmt: skip
_INSERT = f"insert into capsules ({', '.join(_COLUMNS)}) values ({', '.join('?' * len(_COLUMNS))})"
_EVENT = "insert into events (event_id, workspace, tool, address, ts_ms) values (?, ?, ?, ?, ?)"
_KEEP = (
    "insert into versions (family, subject, version, at, tool, superseded_at, workspace_raw, name_raw, chars, title,"
    " text) select 'capsule', row_id, version, version_at, version_tool, ?, workspace_raw, name_raw, capsule_chars,"
    " title, capsule_text from capsules where workspace_norm = ? and name_norm = ? and deleted_at is null"
)
_REPLACE = (
    "update capsules set title = ?, capsule_text = ?, capsule_chars = ?, tokens_estimate = ?, updated_at = ?,"
    " change_seq = ?, version = version + 1, version_at = ?, version_tool = 'capsule_store'"
    " where workspace_norm = ? and name_norm = ? and deleted_at is null returning id"
)
_SELECT = (
    f"select {', '.join(FULL_COLUMNS)} from capsules where workspace_norm = ? and name_norm = ? and deleted_at is null"
)


def durable(path: str) -> apsw.Connection:
    """A database with Moss's durability."""
    connection = apsw.Connection(path)
    prepare(connection)
    for pragma in ("journal_mode = wal", "synchronous = full", "secure_delete = on"):
        connection.execute(f"pragma {pragma}").fetchall()
    return connection


def bare_database(path: str) -> apsw.Connection:
    """An empty database with Moss's own tables, indexes, triggers and durability, and nothing else of Moss."""
    connection = durable(path)
    for _, sql in migrations_after(0):
        connection.execute(sql).fetchall()
    return connection


def bare_store(connection: apsw.Connection, texts: itertools.cycle[str]) -> Callable[[], None]:
    """Inserts a capsule (its trigger indexes it) and an event, and commits: the least that a store can do."""
    numbers = itertools.count(1)

    def store() -> None:
        number = next(numbers)
        text = next(texts)
        now_ms = time_ns() // 1_000_000
        now = now_ms // 1000
        key, name = f"{now_ms:013d}{number:013d}", f"name {number}"
        row = (key, "bench", "bench", name, name, name, text, len(text), 500, now, now, number)
        connection.execute("begin immediate")
        connection.execute(_INSERT, row)
        connection.execute(_EVENT, (key, "bench", "capsule_store", key, now_ms))
        connection.execute("commit")

    return store


def lines(rounds: int = 1500, replaced: int = 200) -> list[Line]:
    """Store, replace and fetch by name through `Store.call`, against the bare statements."""
    author = Author(seed=1)
    written = [author.capsule(2_000) for _ in range(200)]
    with scratch_folder() as folder:
        store = open_store(os.path.join(folder, "moss"))
        bare = bare_database(os.path.join(folder, "bare.db"))
        texts, numbers = itertools.cycle(written), itertools.count(1)
        baseline = bare_store(bare, itertools.cycle(written))

        def moss_store() -> None:
            name = f"name {next(numbers)}"
            store.call("capsule_store", {"workspace": "bench", "name": name, "capsule_text": next(texts)})

        def moss_fetch() -> None:
            store.call("capsule_fetch", {"workspace": "bench", "name": "name 77"})

        def bare_fetch() -> None:
            bare.execute(_SELECT, ("bench", "name 77")).fetchone()

        stored, stored_bare = medians_us(moss_store, baseline, rounds=rounds)
        fetched, fetched_bare = medians_us(moss_fetch, bare_fetch, rounds=400, calls=25)
        store.close()
        bare.close()
    return [
        Line(
            "store of a 2,000-character capsule, in process : bare insert, index, event and commit",
            stored / stored_bare,
            1.7,
            note=compared_us(stored, stored_bare),
        ),
        Line(
            "fetch by name, in process : bare select",
            fetched / fetched_bare,
            5,
            note=compared_us(fetched, fetched_bare),
        ),
    ]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
