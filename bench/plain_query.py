"""Plain questions over 100,000 capsules, against an `OR` of the same words ordered by rank."""

from __future__ import annotations

import os
import random

import apsw

from moss_memory.query.query import parse
from moss_memory.storage.sqlite.search import search

from .measure import Line, cached, compared_us, medians_us, read_once
from .search_bench import QUESTIONS, fill, vocabulary

ROWS = 100_000
COMMON_RANK = 1_000
"""A question of common words has only words among the thousand most common; every other one counts as rare."""

NAIVE = "select rowid from search_index where search_index match ? order by rank limit 20"


def opened_store() -> tuple[apsw.Connection, list[str]]:
    """The store to ask and its vocabulary, the most common word first."""
    path = os.path.join(cached(f"search-{ROWS}", _build), "moss.db")
    read_once(path)
    return apsw.Connection(path), vocabulary(random.Random(7))  # noqa: S311


def _build(folder: str) -> None:
    connection = apsw.Connection(os.path.join(folder, "moss.db"))
    fill(connection, ROWS)
    connection.close()


def compared(connection: apsw.Connection, words: list[str], rounds: int) -> tuple[float, ...]:
    """The microseconds of Moss and of the naive way for one question."""
    query = parse(" ".join(words))
    naive = " OR ".join(f'"{word}"' for word in words)
    return medians_us(
        lambda: search(connection, query, limit=20),
        lambda: connection.execute(NAIVE, (naive,)).fetchall(),
        rounds=rounds,
        warm_up=1,
    )


def lines(rounds: int = 15) -> list[Line]:
    """The worst question of common words, and the worst of those with rare ones."""
    connection, words = opened_store()
    common: list[tuple[float, str]] = []
    rare: list[tuple[float, str]] = []
    for name, ranks in QUESTIONS.items():
        ours, naive = compared(connection, [words[rank] for rank in ranks], rounds)
        kind = common if max(ranks) < COMMON_RANK else rare
        kind.append((ours / naive, f"worst is “{name}”, {compared_us(ours, naive)}"))
    connection.close()
    naive_way = "the naive `OR` by rank, 100,000 capsules"
    return [
        Line(f"plain query of common words : {naive_way}", max(common)[0], 0.5, note=max(common)[1]),
        Line(f"plain query with rare words : {naive_way}", max(rare)[0], 4, note=max(rare)[1]),
    ]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
