"""Natural questions: stemmed, any word may match, the exact order and total against a model that reads every text."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.storage.sqlite import word_search as sqlite_search
from search.shelf import Shelf, model_of

VOCABULARY = """
    store stores storing happy happiness policy policies auth authentication cache the of redis session sessions
""".split()  # noqa: SIM905
texts = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=8).map(" ".join)
capsules = st.tuples(texts, texts, st.sampled_from(("w", "v")), st.booleans(), st.integers(1, 3))


@given(
    rows=st.lists(capsules, min_size=1, max_size=25),
    question=st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=6).map(" ".join),
    page=st.integers(1, 30),
    workspace=st.sampled_from((None, "w")),
    include_deleted=st.booleans(),
    few=st.sampled_from((0, 200)),
    spare=st.sampled_from((0, 3, 200)),
    in_one_go=st.sampled_from((0, 2000)),
    at_once=st.sampled_from((1, 5, 100)),
)
def test_every_page_is_a_cut_of_one_exact_order(
    rows: list[tuple[str, str, str, bool, int]],
    question: str,
    page: int,
    workspace: str | None,
    include_deleted: bool,
    few: int,
    spare: int,
    in_one_go: int,
    at_once: int,
) -> None:
    shelf = Shelf()
    updated = {}
    for title, body, place, deleted, updated_at in rows:
        row = shelf.put(body, title=title, workspace=place, deleted=deleted, updated_at=updated_at)
        updated[row] = (updated_at, row)
    model = model_of(shelf, question)
    wanted = {
        row
        for row, (_, _, place, deleted, _) in enumerate(rows, start=1)
        if row in model and (workspace in (None, place)) and (include_deleted or not deleted)
    }
    found: list[tuple[int, float]] = []
    with mock.patch.multiple(sqlite_search, _FEW_MATCHES=few, _SPARE=spare, _SCORE_ALL=in_one_go, _MEMORY_MAX=at_once):
        while True:
            hits = shelf.search(
                question, workspace_norm=workspace, include_deleted=include_deleted, limit=page, offset=len(found)
            )
            assert hits.total == len(wanted)
            if not hits.items:
                break
            found += [(hit.document.row, hit.score) for hit in hits.items]
    shelf.connection.close()
    assert {row for row, _ in found} == wanted
    assert len(found) == len(wanted)
    assert all(score == pytest.approx(model[row], rel=1e-6) for row, score in found)
    keys = [(score, updated[row]) for row, score in found]
    assert keys == sorted(keys, reverse=True)


def test_the_rarer_word_counts_for_more(shelf: Shelf) -> None:
    for _ in range(30):
        shelf.put("cache and some other words")
    rare = shelf.put("redis and some other words")
    shelf.put("nothing of it")
    assert shelf.find("redis cache")[0] == rare


def test_a_long_text_with_all_of_the_words_comes_before_a_short_one_with_half(shelf: Shelf) -> None:
    both = shelf.put("redis cache " + "padding " * 60)
    shelf.put("redis")
    for _ in range(8):
        shelf.put("other")
    assert shelf.find("redis cache")[0] == both


def test_a_word_that_no_text_holds_changes_no_order_and_lowers_every_score(shelf: Shelf) -> None:
    for text in ("redis", "redis cache", "cache and more", "other"):
        shelf.put(text)
    plain, more = shelf.search("redis cache"), shelf.search("redis cache zebra")
    assert [hit.document.row for hit in plain.items] == [hit.document.row for hit in more.items]
    assert all(one.score > two.score for one, two in zip(plain.items, more.items, strict=True))


def test_a_title_counts_five_times(shelf: Shelf) -> None:
    shelf.put("jwt notes and more")
    titled = shelf.put("notes and more here", title="jwt")
    shelf.put("jwt jwt notes and more")
    for _ in range(8):
        shelf.put("other")
    assert shelf.find("jwt")[0] == titled


def test_a_name_is_found_also_beside_a_title(shelf: Shelf) -> None:
    row = shelf.put("text", title="Sign in", name="auth-flow")
    assert shelf.find("flow") == [row]


def test_equal_rows_come_newest_first(shelf: Shelf) -> None:
    rows = [shelf.put("same text", updated_at=at) for at in (5, 9, 5, 7)]
    assert shelf.find("text") == [rows[1], rows[3], rows[2], rows[0]]


def test_however_many_rows_tie_all_of_them_are_scored_once_more_at_the_most(shelf: Shelf) -> None:
    rows = [shelf.put("same text", updated_at=at) for at in range(200)]
    ran: list[str] = []
    shelf.connection.exec_trace = lambda _cursor, sql, _values: ran.append(sql) or True  # type: ignore[func-returns-value]
    with mock.patch.multiple(sqlite_search, _SPARE=0, _SCORE_ALL=0, _FEW_MATCHES=0):
        assert shelf.find("text", limit=2, offset=3) == [rows[-4], rows[-5]]
    assert len([sql for sql in ran if "bm25" in sql]) == 2


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("policy", "two policies"),
        ("policies", "one policy"),
        ("storing", "it stores"),
        ("store", "kept by storing"),
        ("sensible", "a matter of sensibility"),
        ("happiness", "happy end"),
        ("authenticate", "Authentication works"),
        ("caching", "the cache"),
        ("resume", "RÉSUMÉ"),
        ("cafés", "a cafe"),
    ],
)
def test_a_word_finds_its_other_forms(shelf: Shelf, question: str, text: str) -> None:
    row = shelf.put(text)
    shelf.put("nothing here")
    assert shelf.find(question) == [row]


def test_a_word_does_not_find_another_stem(shelf: Shelf) -> None:
    shelf.put("authorization authority")
    assert shelf.find("authentication") == []


def test_stop_words_do_not_widen_a_question(shelf: Shelf) -> None:
    row = shelf.put("about redis")
    shelf.put("how is the what")
    assert shelf.find("How is the redis used, and what for?") == [row]


def test_stop_words_alone_are_searched(shelf: Shelf) -> None:
    row = shelf.put("to be or not to be")
    shelf.put("nothing")
    assert shelf.find("to be") == [row]


def test_forms_of_one_word_count_once(shelf: Shelf) -> None:
    shelf.put("stores storing stored")
    two = shelf.put("store redis " + "padding " * 20)
    assert shelf.find("store stores storing redis")[0] == two


@pytest.mark.parametrize(
    "text", ["pr-123", "foo.go", "src/auth", "C++", "it's", "^start", "column:value", "call(x) -> y", "a + b", "50%"]
)
def test_text_that_trips_fts5_is_searched_as_text(shelf: Shelf, text: str) -> None:
    row = shelf.put(f"see {text} there")
    shelf.put("unrelated")
    assert shelf.find(text) == [row]


def test_a_filter_word_in_a_text_finds_and_forges_nothing(shelf: Shelf) -> None:
    forged = "\ue000w" + b"w".hex()
    row = shelf.put(f"mine {forged} \ue000gone", workspace="other")
    shelf.put("plain", workspace="w")
    assert shelf.find(forged) == [row]
    assert shelf.find("mine") == [row]
    assert shelf.find("mine", workspace_norm="w") == []
    assert shelf.find("\ue000live") == []


def test_conditions_apply_before_the_limit(shelf: Shelf) -> None:
    rows = [shelf.put("redis", run_id="a" if at % 3 else "b") for at in range(30)]
    hits = shelf.search("redis", conditions=["run_id = :run_id"], parameters={"run_id": "b"}, limit=4)
    assert hits.total == 10
    assert [hit.document.row for hit in hits.items] == list(reversed(rows[::3]))[:4]


def test_a_page_past_the_end_is_empty_and_keeps_the_total(shelf: Shelf) -> None:
    shelf.put("redis")
    hits = shelf.search("redis", offset=5)
    assert (hits.items, hits.total) == ([], 1)


def test_an_unknown_word_finds_nothing(shelf: Shelf) -> None:
    shelf.put("redis")
    assert shelf.search("zebra").total == 0


def test_a_question_of_five_hundred_words_is_answered(shelf: Shelf) -> None:
    row = shelf.put(chr(0x4E00 + 7))
    question = " ".join(chr(0x4E00 + at) for at in range(500))
    for at in range(200):
        shelf.put(chr(0x4E00 + at) + " " + chr(0x4E00 + at + 1))
    assert row in shelf.find(question, limit=300)
    for few in (0, 200):
        with mock.patch.multiple(sqlite_search, _FEW_MATCHES=few, _SCORE_ALL=few):
            assert shelf.search(question, limit=10).total == 201


@pytest.mark.parametrize("rows", [0, 1, 127, 128, 300])
def test_the_index_says_how_many_documents_it_holds(shelf: Shelf, rows: int) -> None:
    for number in range(rows + 3):
        shelf.put(f"text {number}")
    shelf.connection.execute("update capsules set title = 'changed' where row_id % 7 = 0")
    shelf.connection.execute("delete from capsules where row_id <= 3")
    counted = shelf.connection.execute("select count(*) from search_index_docsize").fetchone()
    assert (sqlite_search._documents(shelf.connection),) == counted == (rows,)


def test_an_index_that_never_held_anything_holds_no_documents(shelf: Shelf) -> None:
    assert sqlite_search._documents(shelf.connection) == 0
    assert shelf.find("anything") == []
