"""Queries with operators: exact words, phrases, prefixes, AND, OR, NOT, parentheses, and refused queries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.errors import MossError
from moss_memory.search.expression import MAX_PREFIXES, MAX_SHORT_PREFIXES
from moss_memory.search.query import parse_query
from search.capsules import CapsuleDatabase

TEXTS = {
    1: "user authentication with JWT",
    2: "authentication of a user, OAuth",
    3: "Redis cache for sessions",
    4: "Redis notes, deprecated",
    5: "authorize the foo.go handler in src/auth",
}


@pytest.fixture
def filled(database: CapsuleDatabase) -> CapsuleDatabase:
    for text in TEXTS.values():
        database.put(text)
    database.put("Redis cache gone", deleted=True)
    database.put("Redis cache elsewhere", workspace="v")
    return database


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ('"user authentication"', {1}),
        ('"redis"', {3, 4}),
        ('"session"', set()),
        ("auth*", {1, 2, 5}),
        ("authenti*", {1, 2}),
        ("AUTH*", {1, 2, 5}),
        ('"user auth"*', {1}),
        ("JWT OR OAuth", {1, 2}),
        ("Redis AND cache", {3}),
        ("redis NOT deprecated", {3}),
        ("redis AND NOT deprecated", {3}),
        ("NOT redis", {1, 2, 5}),
        ("NOT (redis OR jwt)", {2, 5}),
        ("NOT(redis OR jwt)", {2, 5}),
        ("NOT redis NOT jwt", {2, 5}),
        ("NOT NOT redis", {3, 4}),
        ("(jwt OR redis) NOT deprecated", {1, 3}),
        ("jwt OR redis AND cache", {1, 3}),
        ("redis cache OR jwt", {1, 3}),
        ("redis NOT cache sessions", {4}),
        ("redis NOT deprecated NOT cache", set()),
        ("((((jwt))))", {1}),
        ('foo.go AND "src/auth"', {5}),
        ("go.foo OR jwt", {1}),
        ("src/au*", {5}),
        ('!!! OR "jwt"', {1}),
        ("jwt NOT !!!", {1}),
        ("call(x y) OR jwt", {1}),
        ('"re""dis" OR jwt', {1}),
        ("JWT\x00 AND user", {1}),
    ],
)
def test_operators_have_their_documented_meaning(filled: CapsuleDatabase, query: str, rows: set[int]) -> None:
    hits = filled.search(query, workspace_norm="w")
    assert {hit.document.row for hit in hits.items} == rows
    assert hits.total == len(rows)


@pytest.mark.parametrize("query", ["and", "or", "not", "user and redis or not"])
def test_lower_case_operators_are_words(filled: CapsuleDatabase, query: str) -> None:
    assert parse_query(query).words


@pytest.mark.parametrize("query", ["!!!", "()", "...", '""', "*", "NOT !!!", '"--" OR "++"', "\x00"])
def test_punctuation_alone_finds_nothing(filled: CapsuleDatabase, query: str) -> None:
    assert filled.search(query).total == 0


@pytest.mark.parametrize(
    "query",
    [
        *("", "   ", "\n", '"', '"open', "(", ")", "(a", "a)", "a (b OR c", "foo(bar", "AND", "OR", "NOT"),
        *("a AND", "AND a", "a OR", "OR a", "a NOT", "a AND AND b", "a OR AND b", "x AND ()", "(AND)", "x" * 1001),
        *("a OR NOT b", "NOT a OR b", "NOT a OR NOT b", "c AND (a OR NOT b)", "\ud800"),
    ],
)
def test_a_malformed_query_is_refused_with_advice(query: str) -> None:
    with pytest.raises(MossError) as refused:
        parse_query(query)
    assert refused.value.code == "INVALID_REQUEST"
    assert refused.value.message.startswith("`query` ")


def test_a_query_of_a_thousand_characters_is_accepted() -> None:
    assert parse_query("x" * 1000).words


def test_not_alone_lists_the_rest_newest_first_and_pages(filled: CapsuleDatabase) -> None:
    assert filled.find("NOT jwt") == [7, 5, 4, 3, 2]
    assert filled.find("NOT jwt", include_deleted=True) == [7, 6, 5, 4, 3, 2]
    assert filled.find("NOT jwt", limit=2, offset=2) == [4, 3]
    assert filled.search("NOT jwt", limit=2, offset=2).total == 5


def test_not_alone_respects_filters(filled: CapsuleDatabase) -> None:
    row = filled.put("fresh", run_id="a")
    assert filled.find("NOT jwt", conditions=["run_id = :run_id"], parameters={"run_id": "a"}) == [row]


def test_pages_of_tied_rows_show_each_row_once(database: CapsuleDatabase) -> None:
    rows = [database.put("same jwt text", updated_at=1) for _ in range(23)]
    pages = [database.find('"jwt"', limit=5, offset=offset) for offset in range(0, 25, 5)]
    assert [row for page in pages for row in page] == list(reversed(rows))


@pytest.mark.parametrize(
    "query",
    [
        " OR ".join(f"{letter}*" for letter in "abcdefghijklmnopqrstuvwxyz"),
        " OR ".join(f"abc{number}*" for number in range(100)),
        "(" * 499 + "a*" + ")" * 499,
        "(a AND (b OR " * 60 + '"c"' + "))" * 60,
    ],
)
def test_a_query_that_would_read_the_whole_index_is_refused(query: str) -> None:
    with pytest.raises(MossError) as refused:
        parse_query(query[:1000] if query[-1] != ")" else query)
    assert refused.value.code == "INVALID_REQUEST"


@pytest.mark.parametrize(("letters", "most"), [(2, MAX_SHORT_PREFIXES), (3, MAX_PREFIXES)])
def test_a_query_has_at_most_so_many_prefixes(letters: int, most: int) -> None:
    prefixes = [f"{letter * letters}*" for letter in "abcdefghijklmnopq"]
    assert parse_query(" OR ".join(prefixes[:most])).expression is not None
    with pytest.raises(MossError) as refused:
        parse_query(" OR ".join(prefixes[: most + 1]))
    assert refused.value.code == "INVALID_REQUEST"


def test_the_deepest_accepted_query_can_be_run(filled: CapsuleDatabase) -> None:
    deep = '"c"'
    for level in range(14):
        deep = f"(a {('AND', 'OR')[level % 2]} {deep})"
    for workspace in (None, "w"):
        assert filled.search(deep, workspace_norm=workspace).total >= 0
    deep = '"c"'
    for _ in range(14):
        deep = f"redis NOT ({deep})"
    assert filled.search(deep, workspace_norm="w").total >= 0


pieces = st.sampled_from(
    ["AND", "OR", "NOT", "(", ")", '"', "*", "redis", "jwt*", "cache", "a-b", "^x", "col:", "NEAR(", "+", "-", "'",
     "\\", "{title}", "\ue000gone", "é", "\x00", " ", "{", ":", '""']
)  # fmt: skip


@given(
    query=st.one_of(st.text(max_size=60), st.lists(pieces, max_size=12).map(" ".join), st.lists(pieces).map("".join))
)
def test_any_input_is_answered_or_refused_with_advice(query: str) -> None:
    database = CapsuleDatabase()
    database.put("redis cache jwt a b x col near")
    try:
        hits = database.search(query, workspace_norm="w")
    except MossError as error:
        assert error.code == "INVALID_REQUEST"  # noqa: PT017
    else:
        assert 0 <= len(hits.items) <= hits.total
    finally:
        database.connection.close()
