"""Plain questions over 100,000 capsules, compared with the bare FTS5 query of the same words and its count."""

from __future__ import annotations

import apsw

from moss_memory.search.query import parse_query
from moss_memory.search.ranking import TITLE_WEIGHT
from moss_memory.search.request import SearchRequest
from moss_memory.storage.sqlite.search_index import SqliteWordQuery, search_by_words

from .measure import BenchmarkRow, medians_us, worst_row
from .zipf_store import open_database

ROWS = 100_000
MANY = 10_000
QUESTIONS: dict[str, tuple[int, ...]] = {
    "1 common": (8,),
    "2 common": (5, 20),
    "4 common": (10, 30, 60, 100),
    "8 most common": (0, 1, 2, 3, 5, 8, 13, 20),
    "8 fairly common": (50, 80, 120, 200, 300, 400, 500, 600),
    "3 common, 5 rarer": (3, 7, 11, 500, 900, 1500, 4000, 9000),
    "6 spread": (15, 90, 400, 1000, 3000, 8000),
    "1 common, 3 rare": (100, 5000, 9000, 20000),
    "1 middling": (300,),
    "3 middling": (400, 600, 800),
    "5 middling": (1000, 1200, 1500, 1800, 2000),
    "2 rare": (20000, 21000),
    "8 rare": (6000, 8000, 10000, 12000, 14000, 16000, 18000, 22000),
    "1 rare": (15000,),
}
"""Name of a question -> the ranks of its words; 0 is the most common word."""

COUNT = "select count(*) from search_index where search_index match ?"
BEST = (
    "select rowid from search_index where search_index match ?"
    f" order by bm25(search_index, {TITLE_WEIGHT}, 1.0, 0.0) limit 20"
)


def compare_question(connection: apsw.Connection, words: list[str], rounds: int) -> tuple[float, float, int]:
    """Return the times of Moss and of the bare query in microseconds, and the number of matches."""
    query = parse_query(" ".join(words))
    request = SearchRequest(query, sources=("capsule",), limit=20)
    match = " OR ".join(f'"{form}"' for form in SqliteWordQuery(connection, query).forms())

    def bare() -> None:
        connection.execute(COUNT, (match,)).fetchall()
        connection.execute(BEST, (match,)).fetchall()

    searched, queried = medians_us(lambda: search_by_words(connection, request, 0), bare, rounds=rounds, warm_up=1)
    return searched, queried, search_by_words(connection, request, 0).total


def run(rounds: int = 15) -> list[BenchmarkRow]:
    """Return the worst question with at most 10,000 matches and the worst of the others."""
    connection, words = open_database(ROWS)
    few: dict[str, tuple[float, float]] = {}
    many: dict[str, tuple[float, float]] = {}
    for name, ranks in QUESTIONS.items():
        searched, queried, matches = compare_question(connection, [words[rank] for rank in ranks], rounds)
        (few if matches <= MANY else many)[f"{name}, {matches:,} matches"] = (searched, queried)
    connection.close()
    title = (
        f"plain question over {ROWS:,} capsules, {{}} matches : the bare FTS5 query of its words by bm25, and its count"
    )
    return [
        worst_row(title.format(f"up to {MANY:,}"), few, 1.6),
        worst_row(title.format("more"), many, 3),
    ]
