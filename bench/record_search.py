"""Search for records by words, against the bare FTS5 query that finds the same."""

from __future__ import annotations

import os

import apsw

from moss_memory import open_store
from moss_memory.search.ranking import TITLE_WEIGHT
from moss_memory.search.tokens import stems_of
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.store import Store
from moss_memory.tools.record.record_queries import RECORD_COLUMNS

from .measure import Line, medians_us, worst_line
from .record_stores import records_of
from .texts import vocabulary

RECORDS = 100_000
PAGE = 100
COMMON_RANK = 100
QUESTIONS: dict[str, tuple[int, ...]] = {
    "1 rare word": (15_000,),
    "3 rare words": (14_000, 16_000, 18_000),
    "1 middling word": (300,),
    "2 middling words": (300, 500),
    "4 middling words": (250, 400, 600, 900),
    "1 common word": (20,),
    "3 common words": (20, 35, 60),
    "a common word and a rare one": (20, 15_000),
    "6 words of all kinds": (20, 90, 400, 1_000, 3_000, 12_000),
}
"""Name of a question -> the ranks of its words, 0 being the most common."""

_RANKED = f"""
select rowid as doc, bm25(search_index, {TITLE_WEIGHT}, 1.0, 0.0) as score from search_index
where search_index match :match %s order by score limit {PAGE}
"""
_SHOWN = f"select {RECORD_COLUMNS} from (%s) join records on row_id = doc >> 4 order by score"
BARE = _SHOWN % _RANKED % ""
BARE_TYPED = (
    _SHOWN % _RANKED % "and exists (select 1 from records where row_id = search_index.rowid >> 4 and type = :type)"
)


class Words:
    """The words to ask for, and every form of them that the index holds."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._known = vocabulary()
        self._by_stem: dict[str, list[str]] = {}
        terms = [term for (term,) in connection.execute("select term from search_terms")]
        terms = [term for term in terms if term.isalpha()]
        for term, stem in zip(terms, stems_of(terms), strict=True):
            self._by_stem.setdefault(stem, []).append(term)

    def asked(self, ranks: tuple[int, ...]) -> tuple[str, str]:
        """A question and what FTS5 is asked instead: any form of any of its words."""
        words = [self._known[rank] for rank in ranks]
        forms = [form for stem in stems_of(words) for form in self._by_stem[stem]]
        return " ".join(words), " OR ".join(f'"{form}"' for form in forms)


def lines(rounds: int = 15) -> list[Line]:
    """The worst question of those that take the index long, and of the others."""
    home = records_of(RECORDS)
    connection = apsw.Connection(os.path.join(home, DATABASE))
    words = Words(connection)
    common: dict[str, tuple[float, float]] = {}
    rarer: dict[str, tuple[float, float]] = {}
    typed: dict[str, tuple[float, float]] = {}
    with open_store(home) as store:
        for name, ranks in QUESTIONS.items():
            asked, match = words.asked(ranks)
            kind_of_question = common if min(ranks) < COMMON_RANK else rarer
            kind_of_question[name] = compared(store, connection, asked, match, None, rounds)
            for kind in ("feature_unit", "release"):
                typed[f"{name}, {kind}"] = compared(store, connection, asked, match, kind, rounds)
    connection.close()
    what = f"search of {RECORDS:,} records by words"
    return [
        worst_line(f"{what}, a common one among them : the bare FTS5 query of the same words by rank", common, 3),
        worst_line("the same for rarer words, whose bare query takes 0.1 to 5 ms", rarer, None),
        worst_line("the same with a type : the bare FTS5 query with the same filter", typed, None),
    ]


def compared(
    store: Store, connection: apsw.Connection, asked: str, match: str, kind: str | None, rounds: int
) -> tuple[float, float]:
    """The microseconds of Moss and of the bare query for one question."""
    call = {"search": asked, "search_mode": "keyword", "limit": PAGE, **({"type": kind} if kind else {})}
    sql, values = (BARE_TYPED if kind else BARE), {"match": match, **({"type": kind} if kind else {})}
    found = store.call("retrieve_records", call)
    rows = connection.execute(sql, values).fetchall()
    assert len(rows) == len(found["records"]), "both sides find as much"
    if not found["pagination"]["has_more"]:
        assert {row[0] for row in rows} == {record["id"] for record in found["records"]}, "both sides find the same"
    one, other = medians_us(
        lambda: store.call("retrieve_records", call),
        lambda: connection.execute(sql, values).fetchall(),
        rounds=rounds,
        warm_up=2,
    )
    return one, other
