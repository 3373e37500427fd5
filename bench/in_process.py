"""A store in one process, compared with the bare SQLite statements that do the same work."""

from __future__ import annotations

import itertools
import os
from time import time_ns

import apsw

from moss_memory import open_store
from moss_memory.storage.sqlite.functions import add_functions
from moss_memory.storage.sqlite.schema_migrations import migrations_after

from .measure import BenchmarkRow, compare_times, medians_us, scratch_folder
from .texts import Author

_COLUMNS = (
    "id", "workspace_raw", "workspace_norm", "name_raw", "name_norm", "title", "capsule_text", "capsule_chars",
    "tokens_estimate", "created_at", "updated_at", "change_seq",
)  # fmt: skip
_INSERT = f"insert into capsules ({', '.join(_COLUMNS)}) values ({', '.join('?' * len(_COLUMNS))})"
_EVENT = "insert into events (event_id, workspace, tool, address, ts_ms) values (?, ?, ?, ?, ?)"


def create_database(path: str) -> apsw.Connection:
    """Create an empty database with the tables, indexes, triggers and durability of a store."""
    connection = apsw.Connection(path)
    add_functions(connection)
    for pragma in ("journal_mode = wal", "synchronous = full", "secure_delete = on"):
        connection.execute(f"pragma {pragma}").fetchall()
    for _, sql in migrations_after(0):
        connection.execute(sql).fetchall()
    return connection


def insert_capsule(connection: apsw.Connection, number: int, text: str) -> None:
    """Insert a capsule, which its trigger indexes, and an event, and commit."""
    now_ms = time_ns() // 1_000_000
    now = now_ms // 1000
    key, name = f"{now_ms:013d}{number:013d}", f"name {number}"
    row = (key, "bench", "bench", name, name, name, text, len(text), 500, now, now, number)
    connection.execute("begin immediate")
    connection.execute(_INSERT, row)
    connection.execute(_EVENT, (key, "bench", "capsule_store", key, now_ms))
    connection.execute("commit")


def run(rounds: int = 1500) -> list[BenchmarkRow]:
    author = Author(seed=1)
    texts = [author.capsule(2_000) for _ in range(200)]
    numbers, bare_numbers = itertools.count(1), itertools.count(1)
    with scratch_folder() as folder:
        store = open_store(os.path.join(folder, "moss"))
        bare = create_database(os.path.join(folder, "bare.db"))

        def store_capsule() -> None:
            number = next(numbers)
            capsule = {"workspace": "bench", "name": f"name {number}", "capsule_text": texts[number % len(texts)]}
            store.call("capsule_store", capsule)

        def insert() -> None:
            number = next(bare_numbers)
            insert_capsule(bare, number, texts[number % len(texts)])

        stored, inserted = medians_us(store_capsule, insert, rounds=rounds)
        store.close()
        bare.close()
    title = "store of a 2,000-character capsule, in process : bare insert, index, event and commit"
    return [BenchmarkRow(title, stored / inserted, 1.7, note=compare_times(stored, inserted))]
