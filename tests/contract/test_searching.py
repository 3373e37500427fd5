"""`capsule_search` and `moss_search`."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door

TOOLS = ["capsule_search", "moss_search"]


def put(call: Door, name: str, text: str, **fields: Any) -> None:
    call("capsule_store", name=name, capsule_text=text, allow_thin=True, **fields)


def found(call: Door, query: str, **arguments: Any) -> list[Any]:
    return call.names("capsule_search", query=query, **arguments)


@holds("2 §6.9: a hit has address, snippet and fetch_key")
def test_a_hit_has_its_address_a_snippet_and_a_fetch_key(call: Door) -> None:
    put(call, "auth", "We are using JWT for authentication.")
    answer = call("capsule_search", query="JWT")
    assert answer["sort"] == "relevance"
    assert answer["pagination"] == {"limit": 20, "offset": 0, "has_more": False, "total": 1}
    [item] = answer["items"]
    assert item["id"] == call("capsule_fetch", name="auth")["id"]
    assert (item["workspace"], item["name"]) == ("default", "auth")
    assert item["fetch_key"] == {"moss_capsule": "auth", "moss_workspace": "default"}
    assert "using <b>JWT</b> for authentication" in item["snippet"]
    assert "capsule_text" not in item


@holds("2 §6.9: a hit has address, snippet and fetch_key")
def test_a_hit_of_the_search_over_everything_can_be_fetched(call: Door) -> None:
    put(call, "auth", "We are using JWT.", workspace="Shop")
    call("capsule_store", capsule_text="also JWT", allow_thin=True)
    answer = call("moss_search", search_mode="keyword", query="jwt")
    assert answer["pagination"]["total"] == 2
    for item in answer["items"]:
        assert item["type"] == "capsule"
        assert "<b>JWT</b>" in item["snippet"]
        assert call("capsule_fetch", **item["fetch"]["arguments"])["id"] == item["id"]


@holds("2 §6.9: no match is an empty list")
@pytest.mark.parametrize("tool", TOOLS)
def test_nothing_found_is_an_empty_list(call: Door, tool: str) -> None:
    put(call, "a", "alpha")
    answer = call(tool, search_mode="keyword", query="omega")
    assert answer["items"] == []
    assert answer["pagination"]["total"] == 0


@holds("2 §6.9: a query has at most 1000 characters and is not blank")
@pytest.mark.parametrize("tool", TOOLS)
def test_a_query_has_at_most_1000_characters(call: Door, tool: str) -> None:
    call(tool, search_mode="keyword", query="x" * 1000)
    call.refuses("INVALID_REQUEST", tool, query="x" * 1001)


@holds("2 §6.9: a query has at most 1000 characters and is not blank")
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("query", ["", "  ", "\n\t"])
def test_a_blank_query_is_refused(call: Door, tool: str, query: str) -> None:
    call.refuses("INVALID_REQUEST", tool, query=query)


@holds("2 §6.9: a malformed query is invalid")
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    "query",
    ['"open', 'a "b', "(a", "a)", "((a)", "a AND", "AND a", "OR", "a OR", "NOT", "a NOT", "a AND AND b", "a OR NOT b",
     "a AND ()"],
)  # fmt: skip
def test_a_truly_malformed_query_is_refused(call: Door, tool: str, query: str) -> None:
    put(call, "x", "a b")
    call.refuses("INVALID_REQUEST", tool, query=query)


@holds("decisions §1: punctuation alone matches nothing")
@pytest.mark.parametrize("query", ["...", "?!", "-", "::", "/", "'", "+ -", "^", "*"])
def test_punctuation_alone_finds_nothing(call: Door, query: str) -> None:
    put(call, "x", "some words - and ... punctuation?!")
    assert found(call, query) == []


@holds("decisions §0: ordinary text that trips FTS5 is searched as text")
@pytest.mark.parametrize(
    ("text", "query"),
    [("see pr-123 now", "pr-123"), ("in foo.go there", "foo.go"), ("under src/auth here", "src/auth"),
     ("written in C++ code", "C++"), ("because it's so", "it's"), ("NEAR the end", "NEAR"),
     ("column: value", "column:"),
     ("a title:thing b", "title:thing"), ("caret ^top", "^top"), ("mail me@host.org", "me@host.org"),
     ("what now?", "what now?"), ("50% off", "50%"), ("key=value;", "key=value;"), ("[link](x)", "[link]")],
)  # fmt: skip
def test_ordinary_text_is_searched_as_text(call: Door, text: str, query: str) -> None:
    put(call, "hit", text)
    put(call, "miss", "nothing of the kind")
    assert found(call, query) == ["hit"]


CORPUS = {
    "jwt": "JWT tokens for user authentication",
    "oauth": "OAuth authorization by the user",
    "redis": "Redis cache holds the sessions",
    "memo": "a cache of deprecated notes without the other thing",
}


def corpus(call: Door) -> None:
    for name, text in CORPUS.items():
        put(call, name, text)


@holds("decisions §0: operators are exact, a leading NOT included")
@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("authentication", {"jwt"}),
        ('"user authentication"', {"jwt"}),
        ('"authentication user"', set()),
        ("auth*", {"jwt", "oauth"}),
        ("authenti*", {"jwt"}),
        ("JWT OR OAuth", {"jwt", "oauth"}),
        ("Redis AND cache", {"redis"}),
        ("cache NOT deprecated", {"redis"}),
        ("cache AND NOT deprecated", {"redis"}),
        ("NOT deprecated", {"jwt", "oauth", "redis"}),
        ("NOT (jwt OR redis)", {"oauth", "memo"}),
        ("(jwt OR redis) AND user", {"jwt"}),
        ('"token"', set()),
        ('"tokens"', {"jwt"}),
        ('"holds session"', set()),
        ("token AND jwt", set()),
        ("tokens AND jwt", {"jwt"}),
    ],
)
def test_operators_work_exactly(call: Door, query: str, hits: set[str]) -> None:
    corpus(call)
    assert set(found(call, query)) == hits


RELAXED = {
    '"holds the session"': ["redis"],
    'what did we write about "oauth tokens" and sessions?': ["redis", "jwt", "oauth"],
    "sessions AND tokens AND zebras": ["redis", "jwt"],
    "where do tokens AND sessions live": ["redis", "jwt"],
    'cache of "old things" NOT deprecated': ["redis"],
    '(tokens AND sessions AND "a zebra") NOT (cache OR oauth)': ["jwt"],
    '"user sessions" NOT cache NOT oauth': ["jwt"],
    'is the 5" screen of the user deprecated': ["memo", "jwt", "oauth"],
    '"sessions of zebras': ["redis"],
}
"""Queries without an exact match, with their results as plain questions."""


@holds("decisions §0: strict, then relaxed, by the total within the filters; operands of NOT stay excluded")
@pytest.mark.parametrize("query", list(RELAXED))
def test_a_query_that_matches_nothing_exactly_is_searched_as_a_question(call: Door, query: str) -> None:
    corpus(call)
    answer = call("capsule_search", query=query)
    assert {item["name"] for item in answer["items"]} == set(RELAXED[query])
    assert answer["pagination"]["total"] == len(RELAXED[query])
    assert answer.get("relaxed", False) == (query.count('"') % 2 == 0)
    everything = call("moss_search", query=query, search_mode="keyword")
    assert everything.get("relaxed") == answer.get("relaxed")
    assert everything["pagination"]["total"] == answer["pagination"]["total"]


@holds("decisions §0: strict, then relaxed, by the total within the filters; operands of NOT stay excluded")
@pytest.mark.parametrize(
    "query", ['"token"', '"oauth tokens"', "zebra AND lion", "NOT (jwt OR oauth OR redis OR memo)"]
)
def test_fewer_than_three_words_are_never_relaxed(call: Door, query: str) -> None:
    corpus(call)
    if query.startswith("NOT"):
        call("capsule_bulk_delete", workspace="default")
    answer = call("capsule_search", query=query)
    assert answer["items"] == []
    assert "relaxed" not in answer


@holds("decisions §0: strict, then relaxed, by the total within the filters; operands of NOT stay excluded")
def test_relaxation_depends_on_matches_within_the_filters_on_every_page(call: Door) -> None:
    corpus(call)
    for number in range(5):
        put(call, f"far-{number}", "sessions live here", workspace="far")
    put(call, "exact", "the very words stand here: sessions live in Redis", workspace="near")
    query = '"sessions live in redis"'
    assert "relaxed" not in call("capsule_search", query=query)
    paged = []
    for offset in range(0, 6, 2):
        answer = call("capsule_search", query=query, workspace="far", limit=2, offset=offset)
        assert answer["relaxed"] is True
        assert answer["pagination"]["total"] == 5
        paged += [item["name"] for item in answer["items"]]
    assert sorted(paged) == [f"far-{number}" for number in range(5)]
    past = call("capsule_search", query=query, offset=5)
    assert (past["items"], past["pagination"]["total"]) == ([], 1)
    assert "relaxed" not in past


CHINESE = {
    "pool": "数据库连接池的用户会话管理",
    "mixed": "用Redis缓存会话数据",
    "kana": "セッションをデータベースに保存する",
    "korean": "데이터베이스에 세션을 저장한다",
    "other": "今天天气很好 nothing else",
}


@holds("decisions §0: Chinese, Japanese and Korean are found by words")
@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("会话", {"pool", "mixed"}),
        ("会话管理", {"pool", "mixed"}),
        ('"会话管理"', {"pool"}),
        ("连接池 AND 会话", {"pool"}),
        ("会话 NOT redis", {"pool"}),
        ("redis 会话", {"pool", "mixed"}),
        ("redis AND 会话", {"mixed"}),
        ('"redis缓存"', {"mixed"}),
        ("缓存*", {"mixed"}),
        ("池", {"pool"}),
        ("理", {"pool"}),
        ("データベース", {"kana"}),
        ("セッション", {"kana"}),
        ("세션", {"korean"}),
        ("데이터베이스", {"korean"}),
        ("天气", {"other"}),
        ("话会", set()),
    ],
)
def test_chinese_japanese_and_korean_are_found_by_their_words(call: Door, query: str, hits: set[str]) -> None:
    for name, text in CHINESE.items():
        put(call, name, text)
    assert set(found(call, query)) == hits


@holds("decisions §0: Chinese, Japanese and Korean are found by words")
def test_a_match_of_a_whole_longer_run_is_ranked_first(call: Door) -> None:
    for name, text in CHINESE.items():
        put(call, name, text)
    assert found(call, "用户会话管理")[0] == "pool"


@holds("decisions §0: Chinese, Japanese and Korean are found by words")
def test_chinese_in_a_title_a_note_and_a_changed_text_is_found(call: Door) -> None:
    put(call, "a", "plain", title="会话管理")
    assert found(call, "会话") == ["a"]
    call("capsule_update", name="a", title="其他", capsule_text="数据库连接池", allow_thin=True)
    assert found(call, "会话") == []
    assert found(call, "连接") == ["a"]
    call("branchmind_notes_commit", workspace="w", content="每天清理会话")
    assert [item["type"] for item in call("moss_search", query="会话", search_mode="keyword")["items"]] == ["note"]


@holds("decisions §0: Chinese, Japanese and Korean are found by words")
@pytest.mark.parametrize(
    ("query", "snippet"),
    [
        ("会话", "用Redis缓存<b>会话</b>数据"),
        ("redis 会话", "用<b>Redis</b>缓存<b>会话</b>数据"),
        ("缓存会话", "用Redis<b>缓存会话</b>数据"),
        ('"缓存会话"', "用Redis<b>缓存会话</b>数据"),
    ],
)
def test_a_snippet_shows_chinese_matches(call: Door, query: str, snippet: str) -> None:
    put(call, "a", "用Redis缓存会话数据")
    assert call("capsule_search", query=query)["items"][0]["snippet"] == snippet


@holds("decisions §0: operators are exact, a leading NOT included")
def test_a_leading_not_lists_the_newest_first(call: Door) -> None:
    corpus(call)
    assert found(call, "NOT deprecated") == ["redis", "oauth", "jwt"]
    call("capsule_update", name="jwt", phase="p")
    assert found(call, "NOT deprecated") == ["jwt", "redis", "oauth"]


@holds("decisions §0: a plain query: any word, rare ones counting most, stemmed, stop words dropped")
def test_a_plain_question_finds_any_word_with_most_words_first(call: Door) -> None:
    put(call, "one", "tokens live somewhere")
    put(call, "three", "refresh tokens are in the keychain")
    put(call, "none", "unrelated matter")
    assert found(call, "where are the refresh tokens in the keychain?") == ["three", "one"]


@holds("decisions §0: a plain query: any word, rare ones counting most, stemmed, stop words dropped")
@pytest.mark.parametrize(("word", "text"), [("tokens", "a token"), ("rotate", "rotating keys"), ("caching", "caches")])
def test_a_plain_query_is_stemmed(call: Door, word: str, text: str) -> None:
    put(call, "hit", text)
    assert found(call, word) == ["hit"]


@holds("decisions §0: a plain query: any word, rare ones counting most, stemmed, stop words dropped")
def test_a_query_of_stop_words_only_is_searched_with_them(call: Door) -> None:
    put(call, "hit", "to be or not to be")
    put(call, "miss", "alpha")
    assert found(call, "to be") == ["hit"]


@holds("2 §6.9: title matches weigh more")
def test_a_word_in_the_title_weighs_more_than_in_the_body(call: Door) -> None:
    put(call, "title", "some other words entirely", title="Kubernetes")
    put(call, "body", "Kubernetes is mentioned in here")
    put(call, "noise", "nothing")
    assert found(call, "kubernetes") == ["title", "body"]


@holds("decisions §0: a plain query: any word, rare ones counting most, stemmed, stop words dropped")
def test_equal_matches_come_newest_first(call: Door) -> None:
    for name in ("a", "b", "c"):
        put(call, name, "the same gardening text", title="Same")
    call("capsule_update", name="a", phase="p")
    assert found(call, "gardening") == ["a", "c", "b"]


@holds("decisions §0: a plain query: any word, rare ones counting most, stemmed, stop words dropped")
def test_search_ignores_case_and_accents(call: Door) -> None:
    put(call, "hit", "Le CAF\u00c9 noir")
    assert found(call, "cafe") == found(call, "caf\u00e9") == found(call, "CAFE\u0301") == ["hit"]


@holds("2 §6.9: search narrows by its filters")
@pytest.mark.parametrize(
    ("filters", "names"),
    [({"workspace": " SHOP"}, {"a"}), ({"tag": "t"}, {"a", "b"}), ({"tag": "T"}, set()), ({"run_id": " r "}, {"b"}),
     ({"phase": "p"}, {"c"}), ({"role": "o"}, {"c"}), ({"tag": "t", "run_id": "r"}, {"b"}),
     ({"workspace": "default", "phase": "p", "role": "o"}, {"c"}), ({"workspace": "nowhere"}, set())],
)  # fmt: skip
@pytest.mark.parametrize("query", ["gardening", "NOT zebra", "garden*"])
def test_search_narrows_by_every_filter(call: Door, query: str, filters: dict[str, str], names: set[str]) -> None:
    put(call, "a", "gardening", workspace="Shop", tags=["t"])
    put(call, "b", "gardening", tags=["t"], run_id="r")
    put(call, "c", "gardening", phase="p", role="o")
    answer = call("capsule_search", query=query, **filters)
    assert {item["name"] for item in answer["items"]} == names
    assert answer["pagination"]["total"] == len(names)


@holds("2 §6.9: search narrows by its filters")
def test_search_leaves_deleted_capsules_out_unless_asked(call: Door) -> None:
    put(call, "a", "gardening")
    put(call, "b", "gardening")
    call("capsule_delete", name="a")
    assert found(call, "gardening") == ["b"]
    answer = call("capsule_search", query="gardening", include_deleted=True)
    assert {item["name"]: "deleted_at" in item for item in answer["items"]} == {"a": True, "b": False}
    assert [item["title"] for item in call("moss_search", search_mode="keyword", query="gardening")["items"]] == ["b"]


@holds("decisions §1: written capsules are found at once, purged ones never again")
def test_every_change_is_found_at_once(call: Door) -> None:
    stored = call("capsule_store", name="a", capsule_text="## A\nfirst", allow_thin=True)
    assert found(call, "first") == ["a"]
    call("capsule_append", name="a", section="A", content="second")
    assert found(call, "second") == ["a"]
    call("capsule_update", name="a", capsule_text="third", allow_thin=True)
    assert (found(call, "first"), found(call, "third")) == ([], ["a"])
    call("capsule_update", name="a", title="Fourth")
    assert found(call, "fourth") == ["a"]
    call("capsule_delete", name="a")
    assert found(call, "third") == []
    call("capsule_restore", id=stored["id"])
    assert found(call, "third") == ["a"]
    call("capsule_bulk_delete", workspace="default")
    call("capsule_purge")
    assert found(call, "third", include_deleted=True) == []
    call(
        "capsule_import",
        path=call.write_export({"id": "X", "workspace_raw": "w", "name_raw": "x", "capsule_text": "third"}),
    )
    assert found(call, "third") == ["x"]


@holds("decisions §0: search pages show every hit exactly once")
@pytest.mark.parametrize("query", ["gardening", "NOT zebra", "gardening OR zebra"])
def test_search_pages_show_every_hit_exactly_once(call: Door, query: str) -> None:
    for number in range(7):
        put(call, f"n{number}", "gardening " * (number % 3 + 1))
    whole = found(call, query)
    assert sorted(whole) == [f"n{number}" for number in range(7)]
    paged = []
    for offset in range(0, 9, 3):
        answer = call("capsule_search", query=query, limit=3, offset=offset)
        assert answer["pagination"] == {"limit": 3, "offset": offset, "has_more": offset < 4, "total": 7}
        paged += [item["name"] for item in answer["items"]]
    assert paged == whole


@holds("decisions §0: snippets are escaped text in which only hits are bold")
@pytest.mark.parametrize(
    "text",
    [
        "before <b>forged</b> gardening <script>alert('x')</script> & \"quotes\"",
        "&lt;b&gt; gardening &amp;",
        "<b>" * 200 + "gardening" + "</b>" * 200,
        "&" * 500 + " gardening " + "<" * 500,
        "e\u0301" * 400 + " gardening " + "\U0001f468\u200d\U0001f469" * 200,
        "\x01\x02 gardening \ue000\ue001 \x03",
        "gardening " * 300,
    ],
    ids=lambda text: text[:12],
)
def test_a_snippet_is_escaped_text_with_bold_hits_and_nothing_else(call: Door, text: str) -> None:
    put(call, "a", text)
    for tool in TOOLS:
        [item] = call(tool, search_mode="keyword", query="gardening")["items"]
        snippet = item["snippet"]
        assert "<b>gardening</b>" in snippet
        assert set(re.findall(r"<[^>]*>?", snippet)) <= {"<b>", "</b>"}
        assert re.fullmatch(r"(?:[^<]|<b>[^<]*</b>)*", snippet)
        assert not re.search(r"&(?!(?:lt|gt|amp|quot|apos|#\d+|#x[0-9a-fA-F]+);)", snippet)
        assert set(re.findall(r"<b>(.*?)</b>", snippet)) == {"gardening"}
        plain = html.unescape(snippet.replace("<b>", "").replace("</b>", ""))
        shortened = plain.removeprefix("...").removesuffix("...").removeprefix("\u2026").removesuffix("\u2026")
        assert len(plain) <= 400
        assert " ".join(shortened.split()) in " ".join(text.split())


@holds("2 §6.9: a hit has address, snippet and fetch_key")
def test_a_capsule_that_passes_the_check_is_found_by_its_sections(call: Door) -> None:
    call("capsule_store", name="full", capsule_text=FULL)
    assert found(call, "objective of the work") == ["full"]
