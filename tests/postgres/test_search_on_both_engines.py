"""The same documents searched on PostgreSQL and on SQLite: the same hits, totals, order, scores and marks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.errors import MossError
from moss_memory.search.query import parse_query
from moss_memory.search.request import Hits, SearchRequest
from moss_memory.search.snippet import snippet
from moss_memory.storage.postgres import indexer, posting_blocks, segment_size, segments, word_search
from moss_memory.storage.postgres.engine import PostgresEngine
from moss_memory.storage.postgres.index_maintenance import maintain
from search.capsules import CapsuleDatabase
from support.direct_store import DirectStore

WORDS = (
    "token", "tokens", "tokenize", "rotate", "rotating", "café", "cafe", "session", "会话", "会话管理", "の", "x",
    "foo.go",
    "password", "pass", "word", "Ünïcode", "happy", "happily", "stored", "store", "the", "of", "42", "a" * 3000,
)  # fmt: skip
INSERT = (
    "insert into capsules (row_id, id, workspace_raw, workspace_norm, name_raw, name_norm, title, capsule_text,"
    " capsule_chars, tokens_estimate, created_at, updated_at, deleted_at, change_seq)"
    " values (:row, :id, :workspace, :workspace, null, null, :title, :text, 1, 1, 1, :updated_at, :deleted_at, :row)"
)
UPDATE = (
    "update capsules set title = :title, capsule_text = :text, workspace_norm = :workspace, deleted_at = :deleted_at,"
    " updated_at = :updated_at where row_id = :row"
)
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
documents = st.fixed_dictionaries(
    {
        "title": st.none() | texts,
        "text": texts,
        "workspace": st.sampled_from(["w", "v"]),
        "deleted_at": st.sampled_from([None, None, None, 5]),
        "updated_at": st.integers(1, 3),
    }
)
terms = st.one_of(
    st.sampled_from(WORDS),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(lambda words: f'"{" ".join(words)}"'),
    st.sampled_from(WORDS).map(lambda word: f"{word[:2]}*"),
    st.sampled_from(WORDS).map(lambda word: f'"{WORDS[0]} {word[:3]}"*'),
)
expressions = st.recursive(
    terms,
    lambda inner: st.builds(
        lambda one, operator, other: f"({one}) {operator} ({other})",
        inner, st.sampled_from(["AND", "OR", "NOT"]), inner,
    ),
    max_leaves=5,
)  # fmt: skip
questions = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
queries = st.one_of(questions, expressions, expressions.map(lambda one: f"NOT ({one})"))


class Pair:
    """The same rows on both engines."""

    def __init__(self, direct: DirectStore) -> None:
        self._beside = direct
        self._sqlite = CapsuleDatabase()
        direct.forget()

    def run(self, *statements: tuple[str, dict[str, Any]]) -> None:
        """Change both, in one transaction."""
        for sql, values in statements:
            self._sqlite.connection.execute(sql, values)

        def change(tx: Any) -> None:
            for sql, values in statements:
                tx.run(sql, values)

        self._beside.write(change)

    def assert_same(self, request: SearchRequest) -> None:
        """Assert that both find the same."""
        from moss_memory.storage.sqlite.search_index import search_by_words

        there = search_by_words(self._sqlite.connection, request, 0)
        here = self._beside.read(lambda tx: tx.search(request))
        assert self._told(here) == self._told(there)

    def _told(self, hits: Hits) -> tuple[int, list[tuple[int, float, str]]]:
        sql = "select coalesce(title || ' ', '') || capsule_text from capsules where row_id = ?"
        shown = []
        for hit in hits.items:
            text = str(self._sqlite.connection.execute(sql, (hit.document.row,)).fetchall()[0][0])
            shown.append((hit.document.number, hit.score, snippet(text, hits.matcher)))
        return hits.total, shown


@pytest.fixture
def direct(home: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[DirectStore]:
    """Return an empty store whose index is maintained after every write, with segments of a few documents."""
    for module, name, value in (
        (indexer, "DUE", 1), (segment_size, "SEGMENT", 4), (indexer, "_AT_ONCE", 2), (segments, "_TERMS_AT_ONCE", 2),
        (segments, "DELETED_SHARE", 3), (word_search, "MANY", 3), (posting_blocks, "_MANY_BYTES", 12),
        (PostgresEngine, "maintain_index", maintain),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    with DirectStore(home) as opened:
        yield opened


@given(
    first=st.lists(documents, min_size=1, max_size=10),
    later=st.lists(st.tuples(st.integers(1, 10), st.none() | documents), max_size=8),
    asked=st.lists(st.tuples(queries, st.sampled_from([None, "w"]), st.booleans()), min_size=1, max_size=6),
)
def test_both_engines_find_the_same(
    direct: DirectStore,
    first: list[dict[str, Any]],
    later: list[tuple[int, dict[str, Any] | None]],
    asked: list[tuple[str, str | None, bool]],
) -> None:
    pair = Pair(direct)
    for start in range(0, len(first), 3):
        rows = [{"row": row + 1, "id": str(row), **first[row]} for row in range(start, min(start + 3, len(first)))]
        pair.run(*((INSERT, values) for values in rows))
    for row, changed in later:
        if changed is None:
            pair.run(("delete from capsules where row_id = :row", {"row": row}))
        else:
            pair.run((UPDATE, {"row": row, **changed}))
    for text, workspace, deleted in asked:
        try:
            query = parse_query(text)
        except MossError:
            continue
        for limit, offset in ((20, 0), (2, 1)):
            request = SearchRequest(
                query, sources=("capsule",), workspace_norm=workspace, include_deleted=deleted, limit=limit,
                offset=offset,
            )  # fmt: skip
            pair.assert_same(request)


def test_a_word_that_a_text_holds_thousands_of_times_counts_as_often(direct: DirectStore) -> None:
    pair = Pair(direct)
    for row, text in enumerate(("often " * 70_000, "often once " * 200, "often", "once upon a time"), 1):
        values = {"workspace": "w", "title": None, "updated_at": row, "deleted_at": None}
        pair.run((INSERT, {"row": row, "id": str(row), "text": text, **values}))
    for query in ("often", "once often", '"often once"', "oft*", "often NOT upon"):
        pair.assert_same(SearchRequest(parse_query(query), sources=("capsule",), limit=20))


def test_a_word_that_does_not_begin_as_its_forms_do_is_counted_once(direct: DirectStore) -> None:
    pair = Pair(direct)
    for row, text in enumerate(("ied stars y", "stars", "y of it", "an ied star", "other"), 1):
        values = {"workspace": "w", "title": None, "updated_at": row, "deleted_at": None}
        pair.run((INSERT, {"row": row, "id": str(row), "text": text, **values}))
    for query in ("ied", "ied stars", "y ied stars other"):
        pair.assert_same(SearchRequest(parse_query(query), sources=("capsule",), limit=20))
