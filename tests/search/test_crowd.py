"""Questions that thousands of documents answer equally well: the newest are ranked, the others follow, none is lost."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.storage.sqlite import search as sqlite_search
from moss_memory.storage.sqlite.search import row_of
from search.shelf import Shelf, model_of

VOCABULARY = "store stores happy happiness cache redis session the".split()  # noqa: SIM905
texts = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=6).map(" ".join)
capsules = st.tuples(texts, texts, st.sampled_from(("w", "v")), st.booleans())


@given(
    rows=st.lists(capsules, min_size=1, max_size=30),
    question=st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4).map(" ".join),
    page=st.integers(1, 12),
    workspace=st.sampled_from((None, "w")),
    crowd=st.integers(1, 6),
    reading=st.sampled_from((1e-6, 1e6)),
)
def test_pages_of_a_crowd_fit_together(
    rows: list[tuple[str, str, str, bool]], question: str, page: int, workspace: str | None, crowd: int, reading: float
) -> None:
    shelf = Shelf()
    for title, body, place, deleted in rows:
        shelf.put(body, title=title, workspace=place, deleted=deleted)
    model = model_of(shelf, question)
    wanted = {
        row
        for row, (_, _, place, deleted) in enumerate(rows, start=1)
        if row in model and workspace in (None, place) and not deleted
    }
    found: list[tuple[int, float]] = []
    with mock.patch.multiple(sqlite_search, _FEW=0, _CROWD=crowd, _FRONT=crowd, _READ_COST=reading, _FETCH_COST=0):
        while hits := shelf.search(question, workspace_norm=workspace, limit=page, offset=len(found)).items:
            found += hits
        whole = shelf.search(question, workspace_norm=workspace)
    shelf.connection.close()
    assert [doc for doc, _ in found] == [doc for doc, _ in whole.items]
    assert sorted(row_of(doc) for doc, _ in found) == sorted(wanted)
    assert whole.total == len(wanted)
    keys = [(model[row_of(doc)][0], score) for doc, score in whole.items]
    assert keys == sorted(keys, reverse=True)


@pytest.fixture
def crowded(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.setattr(sqlite_search, "_FEW", 0)
    monkeypatch.setattr(sqlite_search, "_CROWD", 3)
    monkeypatch.setattr(sqlite_search, "_FRONT", 3)
    for _ in range(40):
        shelf.put("something else")
    return shelf


def test_the_newest_are_ranked_and_the_others_follow_them(crowded: Shelf) -> None:
    old = [crowded.put("redis redis redis") for _ in range(3)]
    new = [crowded.put(text) for text in ("redis and a word", "redis redis and", "redis with many words and more")]
    assert crowded.find("redis") == [new[1], new[0], new[2], *reversed(old)]


@pytest.mark.parametrize("counted", [True, False])
def test_the_last_page_of_a_crowd_that_all_holds_all_of_the_words_is_short(crowded: Shelf, counted: bool) -> None:
    rows = [crowded.put("redis with a cache") for _ in range(9)]
    last = crowded.search("redis cache", limit=5, offset=6, counted=counted)
    assert [row_of(doc) for doc, _ in last.items] == rows[2::-1]
    assert last.total == 9


def test_an_old_title_still_comes_first(crowded: Shelf) -> None:
    titled = crowded.put("notes and more words", title="redis")
    rest = [crowded.put("redis notes and more") for _ in range(6)]
    assert crowded.find("redis") == [titled, *reversed(rest)]


def test_a_crowd_of_capsules_hides_no_artifact(crowded: Shelf) -> None:
    for _ in range(9):
        crowded.put("redis in a long text about quite different things altogether")
    crowded.connection.execute(
        "insert into artifacts (id, workspace_raw, workspace_norm, kind, data_json, text, data_chars, version,"
        " created_at, updated_at, change_seq) values ('a', 'w', 'w', 'note', '{}', 'redis', 2, 1, 1, 1, 1)"
    )
    hits = crowded.search("redis", sources=("capsule", "artifact"), now=1)
    assert hits.items[0][0] & 15 == 1
    assert (len(hits.items), hits.total) == (10, 10)
