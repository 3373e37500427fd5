"""Plain questions over 100,000 capsules, against an `OR` of the same words ordered by rank."""

from __future__ import annotations

import os
import random

import apsw

from moss_memory.search.query import parse
from moss_memory.storage.sqlite_search import search

from .measure import Line, cached, compared_us, read_once
from .search_bench import QUESTIONS, best_ms, fill, vocabulary

ROWS = 100_000
COMMON_SHARE = 0.05
"""A common word stands in at least one capsule of twenty; a question with any other word counts as rare."""

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


def compared(connection: apsw.Connection, words: list[str]) -> tuple[float, float]:
    """The microseconds of Moss and of the naive way for one question: the best of a few rounds, as noise only adds."""
    query = parse(" ".join(words))
    naive = " OR ".join(f'"{word}"' for word in words)
    ours_ms, naive_ms = best_ms(
        lambda: search(connection, query, limit=20),
        lambda: connection.execute(NAIVE, (naive,)).fetchall(),
    )
    return ours_ms * 1000, naive_ms * 1000


def _share(connection: apsw.Connection, word: str) -> float:
    row = connection.execute("select count(*) from search_index where search_index match ?", (f'"{word}"',)).fetchone()
    return row[0] / ROWS if row else 0.0


def lines() -> list[Line]:
    """The worst question of several common words, of one, and of those with rare ones."""
    connection, words = opened_store()
    kinds: dict[str, list[tuple[float, str]]] = {"common": [], "one": [], "rare": []}
    for name, ranks in QUESTIONS.items():
        ours, naive = compared(connection, [words[rank] for rank in ranks])
        common = "one" if len(ranks) == 1 else "common"
        kinds[common if _share(connection, words[max(ranks)]) >= COMMON_SHARE else "rare"].append(
            (ours / naive, f"worst is “{name}”, {compared_us(ours, naive)}")
        )
    connection.close()
    beside = "the naive `OR` by rank, 100,000 capsules"
    # One word has no OR to avoid: bm25 of every row that holds it is nearly all of the time on both sides.
    limits = {
        "common": ("of 2 to 8 common words", 0.5),
        "one": ("of one common word", 1.0),
        "rare": ("with rare words", 4),
    }
    return [
        Line(f"plain query {what} : {beside}", max(kinds[kind])[0], limit, note=max(kinds[kind])[1])
        for kind, (what, limit) in limits.items()
    ]


if __name__ == "__main__":
    for line in lines():
        print(*line.cells(), sep=" | ")
