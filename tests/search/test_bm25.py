"""Scores from texts: the same as FTS5's own, and the same pages whichever way they were reckoned."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.families import SOURCES
from moss_memory.storage.sqlite import search as sqlite_search
from moss_memory.storage.sqlite.bm25 import Collection, numbers_in
from search.shelf import Shelf

VOCABULARY = "store stores storing happy happiness cache caches the Redis résumé session".split()  # noqa: SIM905
texts = st.lists(st.sampled_from(VOCABULARY), max_size=200).map(" ".join)
capsules = st.lists(st.tuples(texts, texts, st.booleans()), min_size=1, max_size=20)


def filled(rows: list[tuple[str, str, bool]]) -> Shelf:
    shelf = Shelf()
    for title, body, deleted in rows:
        shelf.put(body, title=title, deleted=deleted)
    return shelf


@given(rows=capsules)
def test_a_score_from_the_text_is_the_score_of_the_index(rows: list[tuple[str, str, bool]]) -> None:
    shelf = filled(rows)
    forms: Any = shelf.connection.execute(
        "select term, doc from search_terms where term in ('cache', 'caches', 'redis', 'resume', 'the') order by term"
    ).fetchall()
    match = " OR ".join(f'"{form}"' for form, _ in forms) or '"none"'
    wanted = dict(
        shelf.connection.execute(
            "select rowid, -bm25(search_index, 5.0, 1.0, 0.0) from search_index where search_index match ?", (match,)
        )
    )
    collection = Collection(shelf.connection)
    found = collection.scores(forms, collection.lengths(wanted), [SOURCES["capsule"]])
    shelf.connection.close()
    assert dict(found) == pytest.approx(wanted, rel=1e-12)


@given(rows=capsules, question=st.lists(st.sampled_from(VOCABULARY), min_size=3, max_size=6), page=st.integers(1, 20))
def test_reading_and_walking_give_the_same_page(
    rows: list[tuple[str, str, bool]], question: list[str], page: int
) -> None:
    shelf = filled(rows)
    with mock.patch.multiple(sqlite_search, _FEW=0, _READ_COST=1e-6, _FETCH_COST=0):
        read = shelf.search(" ".join(question), limit=page)
    with mock.patch.multiple(sqlite_search, _FEW=0, _FETCH_COST=10**9):
        walked = shelf.search(" ".join(question), limit=page)
    shelf.connection.close()
    assert [doc for doc, _ in read.items] == [doc for doc, _ in walked.items]
    assert [score for _, score in read.items] == pytest.approx([score for _, score in walked.items], rel=1e-12)
    assert read.total == walked.total


def test_numbers_of_any_length_are_told_apart() -> None:
    assert numbers_in(bytes((5, 0x81, 0x00, 0x86, 0x8D, 0x20, 0))) == [5, 128, 100_000, 0]
