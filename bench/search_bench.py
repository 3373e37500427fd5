"""Full-text search against the naive way: an OR of the words ordered by rank, first twenty.

    python bench/search_bench.py 100000

Both sides run on the same store, in turns, and the best of a few rounds counts: the machine's noise only
ever adds. Moss also gives the exact total and orders by the number of words matched; the naive way does neither.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import apsw

from moss_memory.query.query import parse
from moss_memory.storage.sqlite.migrate import migrations_after
from moss_memory.storage.sqlite.search import search

SYLLABLES = "ka lo mi tur ven sa po rik ther an du be gol fi nes ori qua st el um".split()  # noqa: SIM905
VOCABULARY = 30_000
BODY_CHARS = 1000
TITLE_WORDS = 4
ROUNDS = 9

QUESTIONS: dict[str, tuple[int, ...]] = {
    "1 common": (8,),
    "2 common": (5, 20),
    "4 common": (10, 30, 60, 100),
    "8 most common": (0, 1, 2, 3, 5, 8, 13, 20),
    "8 fairly common": (50, 80, 120, 200, 300, 400, 500, 600),
    "3 common, 5 rarer": (3, 7, 11, 500, 900, 1500, 4000, 9000),
    "6 spread": (15, 90, 400, 1000, 3000, 8000),
    "1 common, 3 rare": (100, 5000, 9000, 20000),
    "2 rare": (20000, 21000),
    "8 rare": (6000, 8000, 10000, 12000, 14000, 16000, 18000, 22000),
    "1 rare": (15000,),
}
"""Name of a question -> the ranks of its words, 0 being the most common."""


def run(rows: int) -> list[dict[str, Any]]:
    """One result a question: milliseconds of both ways, their ratio and the total."""
    with tempfile.TemporaryDirectory() as folder:
        connection = apsw.Connection(os.path.join(folder, "moss.db"))
        words = fill(connection, rows)
        results = []
        for name, ranks in QUESTIONS.items():
            asked = [words[rank] for rank in ranks]
            results.append({"question": name, **compare(connection, asked)})
        connection.close()
        return results


def fill(connection: apsw.Connection, rows: int) -> list[str]:
    """Fills a store with texts whose words follow Zipf's law; answers the vocabulary, most common first."""
    chance = random.Random(7)  # noqa: S311
    words = vocabulary(chance)
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(words))))
    connection.execute("pragma journal_mode = wal").fetchall()
    connection.execute("pragma synchronous = off").fetchall()
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
    return words


def vocabulary(chance: random.Random) -> list[str]:
    """Words that no stemmer touches much, in a fixed order."""
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        found["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4)))] = None
    return list(found)


def compare(connection: apsw.Connection, words: list[str]) -> dict[str, Any]:
    """Both ways on one question."""
    naive = " OR ".join(f'"{word}"' for word in words)
    query = parse(" ".join(words))
    naive_sql = "select rowid from search_index where search_index match ? order by rank limit 20"
    naive_ms, moss_ms = best_ms(
        lambda: connection.execute(naive_sql, (naive,)).fetchall(),
        lambda: search(connection, query, limit=20),
    )
    return {
        "naive_ms": round(naive_ms, 2),
        "moss_ms": round(moss_ms, 2),
        "ratio": round(moss_ms / naive_ms, 2),
        "total": search(connection, query, limit=1).total,
    }


def best_ms(*ways: Callable[[], Any]) -> list[float]:
    """The shortest run of each way; they take turns, so that a slow moment of the machine meets them all."""
    times: list[list[float]] = [[] for _ in ways]
    for _ in range(ROUNDS):
        for way, spent in zip(ways, times, strict=True):
            start = time.perf_counter()
            way()
            spent.append(time.perf_counter() - start)
    return [min(spent) * 1000 for spent in times]


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    for result in run(rows):
        print("  ".join(f"{key} {value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
