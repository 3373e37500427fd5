"""Natural questions: stemming, matching of any word, and exact order and total against a reference implementation."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.storage.sqlite import search_index as sqlite_search
from search.capsules import CapsuleDatabase, model_of

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
def test_every_page_is_a_slice_of_one_exact_order(
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
    database = CapsuleDatabase()
    updated = {}
    for title, body, place, deleted, updated_at in rows:
        row = database.put(body, title=title, workspace=place, deleted=deleted, updated_at=updated_at)
        updated[row] = (updated_at, row)
    model = model_of(database, question)
    wanted = {
        row
        for row, (_, _, place, deleted, _) in enumerate(rows, start=1)
        if row in model and (workspace in (None, place)) and (include_deleted or not deleted)
    }
    found: list[tuple[int, float]] = []
    with mock.patch.multiple(sqlite_search, _FEW_MATCHES=few, _SPARE=spare, _SCORED_MAX=in_one_go, _MEMORY_MAX=at_once):
        while True:
            hits = database.search(
                question, workspace_norm=workspace, include_deleted=include_deleted, limit=page, offset=len(found)
            )
            assert hits.total == len(wanted)
            if not hits.items:
                break
            found += [(hit.document.row, hit.score) for hit in hits.items]
    database.connection.close()
    assert {row for row, _ in found} == wanted
    assert len(found) == len(wanted)
    assert all(score == pytest.approx(model[row], rel=1e-6) for row, score in found)
    keys = [(score, updated[row]) for row, score in found]
    assert keys == sorted(keys, reverse=True)


def test_a_rarer_word_has_more_weight(database: CapsuleDatabase) -> None:
    for _ in range(30):
        database.put("cache and some other words")
    rare = database.put("redis and some other words")
    database.put("nothing of it")
    assert database.find("redis cache")[0] == rare


def test_a_long_text_with_all_words_ranks_above_a_short_one_with_half(database: CapsuleDatabase) -> None:
    both = database.put("redis cache " + "padding " * 60)
    database.put("redis")
    for _ in range(8):
        database.put("other")
    assert database.find("redis cache")[0] == both


def test_an_unknown_word_keeps_the_order_and_lowers_every_score(database: CapsuleDatabase) -> None:
    for text in ("redis", "redis cache", "cache and more", "other"):
        database.put(text)
    plain, more = database.search("redis cache"), database.search("redis cache zebra")
    assert [hit.document.row for hit in plain.items] == [hit.document.row for hit in more.items]
    assert all(one.score > two.score for one, two in zip(plain.items, more.items, strict=True))


def test_a_title_has_five_times_the_weight(database: CapsuleDatabase) -> None:
    database.put("jwt notes and more")
    titled = database.put("notes and more here", title="jwt")
    database.put("jwt jwt notes and more")
    for _ in range(8):
        database.put("other")
    assert database.find("jwt")[0] == titled


def test_a_name_is_found_if_there_is_a_title(database: CapsuleDatabase) -> None:
    row = database.put("text", title="Sign in", name="auth-flow")
    assert database.find("flow") == [row]


def test_equal_scores_are_ordered_newest_first(database: CapsuleDatabase) -> None:
    rows = [database.put("same text", updated_at=at) for at in (5, 9, 5, 7)]
    assert database.find("text") == [rows[1], rows[3], rows[2], rows[0]]


def test_tied_rows_are_scored_at_most_once_more(database: CapsuleDatabase) -> None:
    rows = [database.put("same text", updated_at=at) for at in range(200)]
    ran: list[str] = []
    database.connection.exec_trace = lambda _cursor, sql, _values: ran.append(sql) or True  # type: ignore[func-returns-value]
    with mock.patch.multiple(sqlite_search, _SPARE=0, _SCORED_MAX=0, _FEW_MATCHES=0):
        assert database.find("text", limit=2, offset=3) == [rows[-4], rows[-5]]
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
def test_a_word_finds_its_other_forms(database: CapsuleDatabase, question: str, text: str) -> None:
    row = database.put(text)
    database.put("nothing here")
    assert database.find(question) == [row]


def test_a_word_does_not_find_another_stem(database: CapsuleDatabase) -> None:
    database.put("authorization authority")
    assert database.find("authentication") == []


def test_stop_words_do_not_widen_a_question(database: CapsuleDatabase) -> None:
    row = database.put("about redis")
    database.put("how is the what")
    assert database.find("How is the redis used, and what for?") == [row]


def test_stop_words_alone_are_searched(database: CapsuleDatabase) -> None:
    row = database.put("to be or not to be")
    database.put("nothing")
    assert database.find("to be") == [row]


def test_forms_of_one_word_are_counted_once(database: CapsuleDatabase) -> None:
    database.put("stores storing stored")
    two = database.put("store redis " + "padding " * 20)
    assert database.find("store stores storing redis")[0] == two


@pytest.mark.parametrize(
    "text", ["pr-123", "foo.go", "src/auth", "C++", "it's", "^start", "column:value", "call(x) -> y", "a + b", "50%"]
)
def test_special_characters_of_fts5_are_searched_as_text(database: CapsuleDatabase, text: str) -> None:
    row = database.put(f"see {text} there")
    database.put("unrelated")
    assert database.find(text) == [row]


def test_a_filter_word_in_a_text_is_ordinary_text(database: CapsuleDatabase) -> None:
    forged = "\ue000w" + b"w".hex()
    row = database.put(f"mine {forged} \ue000gone", workspace="other")
    database.put("plain", workspace="w")
    assert database.find(forged) == [row]
    assert database.find("mine") == [row]
    assert database.find("mine", workspace_norm="w") == []
    assert database.find("\ue000live") == []


def test_filters_apply_before_the_limit(database: CapsuleDatabase) -> None:
    rows = [database.put("redis", run_id="a" if at % 3 else "b") for at in range(30)]
    hits = database.search("redis", conditions=["run_id = :run_id"], parameters={"run_id": "b"}, limit=4)
    assert hits.total == 10
    assert [hit.document.row for hit in hits.items] == list(reversed(rows[::3]))[:4]


def test_a_page_past_the_end_is_empty_and_keeps_the_total(database: CapsuleDatabase) -> None:
    database.put("redis")
    hits = database.search("redis", offset=5)
    assert (hits.items, hits.total) == ([], 1)


def test_an_unknown_word_finds_nothing(database: CapsuleDatabase) -> None:
    database.put("redis")
    assert database.search("zebra").total == 0


def test_a_question_of_five_hundred_words_is_answered(database: CapsuleDatabase) -> None:
    row = database.put(chr(0x4E00 + 7))
    question = " ".join(chr(0x4E00 + at) for at in range(500))
    for at in range(200):
        database.put(chr(0x4E00 + at) + " " + chr(0x4E00 + at + 1))
    assert row in database.find(question, limit=300)
    for few in (0, 200):
        with mock.patch.multiple(sqlite_search, _FEW_MATCHES=few, _SCORED_MAX=few):
            assert database.search(question, limit=10).total == 201


@pytest.mark.parametrize("rows", [0, 1, 127, 128, 300])
def test_the_index_counts_its_documents(database: CapsuleDatabase, rows: int) -> None:
    for number in range(rows + 3):
        database.put(f"text {number}")
    database.connection.execute("update capsules set title = 'changed' where row_id % 7 = 0")
    database.connection.execute("delete from capsules where row_id <= 3")
    counted = database.connection.execute("select count(*) from search_index_docsize").fetchone()
    assert (sqlite_search._documents(database.connection),) == counted == (rows,)


def test_an_index_that_was_never_used_has_no_documents(database: CapsuleDatabase) -> None:
    assert sqlite_search._documents(database.connection) == 0
    assert database.find("anything") == []
