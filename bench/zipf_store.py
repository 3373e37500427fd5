"""A store of capsules; the frequencies of their words follow Zipf's law."""

from __future__ import annotations

import itertools
import os
import random
from typing import Any

import apsw

from moss_memory.storage.sqlite.functions import add_functions
from moss_memory.storage.sqlite.schema_migrations import migrations_after

from .measure import cached, read_once

SYLLABLES = "ka lo mi tur ven sa po rik ther an du be gol fi nes ori qua st el um".split()  # noqa: SIM905
VOCABULARY = 30_000
BODY_CHARS = 1000
TITLE_WORDS = 4


def open_database(rows: int) -> tuple[apsw.Connection, list[str]]:
    """Open a store with this number of capsules; return it with its words, the most common first."""

    def build(folder: str) -> None:
        connection = apsw.Connection(os.path.join(folder, "moss.db"))
        fill(connection, rows)
        connection.close()

    path = os.path.join(cached(f"search-{rows}", build), "moss.db")
    read_once(path)
    connection = apsw.Connection(path)
    add_functions(connection)
    return connection, vocabulary(random.Random(7))  # noqa: S311


def fill(connection: apsw.Connection, rows: int) -> None:
    """Create the tables and insert the capsules; every fiftieth is a deleted one."""
    chance = random.Random(7)  # noqa: S311
    words = vocabulary(chance)
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(words))))
    connection.execute("pragma journal_mode = wal").fetchall()
    connection.execute("pragma synchronous = off").fetchall()
    add_functions(connection)
    for _, sql in migrations_after(0):
        connection.execute(sql).fetchall()

    def capsules() -> Any:
        for row in range(1, rows + 1):
            body = " ".join(chance.choices(words, cum_weights=weights, k=BODY_CHARS // 5))[:BODY_CHARS]
            title = " ".join(chance.choices(words, cum_weights=weights, k=TITLE_WORDS))
            yield row, f"{row:026d}", title, body, row if row % 50 == 0 else None

    with connection:
        connection.executemany(
            "insert into capsules (row_id, id, workspace_raw, workspace_norm, title, capsule_text, capsule_chars,"
            " tokens_estimate, created_at, updated_at, deleted_at, change_seq)"
            " values (?1, ?2, 'w', 'w', ?3, ?4, 1000, 1, ?1, ?1, ?5, ?1)",
            capsules(),
        )


def vocabulary(chance: random.Random) -> list[str]:
    """Return made-up words, always the same; stemming changes few of them."""
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        words["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4)))] = None
    return list(words)
