"""`search_mode`, through both doors."""

from __future__ import annotations

from typing import Any

import pytest

from contract.doors import Clock, Door, StoreDoor
from moss_memory.registry import catalog
from moss_memory.store import Store
from semantic.library import BACKUP, LOGIN, QUESTIONS, names, put, put_all


@pytest.mark.parametrize("answer", list(QUESTIONS))
def test_a_paraphrased_question_finds_its_answer_first(call: Door, answer: str) -> None:
    put_all(call)
    assert names(call, QUESTIONS[answer])[0] == answer
    assert names(call, QUESTIONS[answer], search_mode="both")[0] == answer
    assert names(call, QUESTIONS[answer], tool="moss_search", search_mode="both")[0] == answer
    assert answer not in names(call, QUESTIONS[answer], search_mode="keyword")


def test_search_mode_is_words_for_capsules_and_both_for_everything_by_default(call: Door) -> None:
    put_all(call)
    question = QUESTIONS["login"]
    plain = call("capsule_search", query=question)
    assert plain == call("capsule_search", query=question, search_mode="keyword")
    both = call("moss_search", query=question)
    assert both == call("moss_search", query=question, search_mode="both")
    assert both["items"][0]["title"] == "login"


@pytest.mark.parametrize("tool", ["capsule_search", "moss_search"])
def test_an_unknown_mode_is_refused_and_named(call: Door, tool: str) -> None:
    error = call.refuses("INVALID_REQUEST", tool, query="login", search_mode="fuzzy")
    assert "search_mode" in error.message


def test_an_unrelated_query_finds_nothing(call: Door) -> None:
    put(call, "login", LOGIN)
    answer = call("capsule_search", query="penguins of the southern ocean", search_mode="semantic")
    assert answer["items"] == []
    assert answer["pagination"]["total"] == 0


@pytest.mark.parametrize("tool", ["capsule_search", "moss_search"])
@pytest.mark.parametrize("mode", ["semantic", "both"])
def test_nonsense_finds_nothing_unless_a_word_of_it_occurs(call: Door, tool: str, mode: str) -> None:
    put_all(call)
    for nonsense in ("vrrblt", "plomph grindle", "qqxxzzj wvut"):
        answer = call(tool, query=nonsense, search_mode=mode)
        assert (answer["items"], answer["pagination"]["total"]) == ([], 0)
    put(call, "word", "A vrrblt has no use.")
    assert names(call, "vrrblt", tool, search_mode=mode)[0] == "word"
    for name, question in QUESTIONS.items():
        assert names(call, question, tool, search_mode=mode)[0] == name


def test_filters_apply_before_the_limit(call: Door) -> None:
    for number in range(12):
        put(call, f"other {number}", LOGIN, workspace="other", run_id="r2", tags=["old"])
    put(call, "mine", "Sessions of the shop last a day.", workspace="shop", run_id="r1", tags=["new"])
    for filters in ({"workspace": "shop"}, {"run_id": "r1"}, {"tag": "new"}):
        for mode in ("semantic", "both"):
            answer = call("capsule_search", query=QUESTIONS["login"], search_mode=mode, limit=1, **filters)
            assert [item["title"] for item in answer["items"]] == ["mine"], (filters, mode)
            assert answer["pagination"]["total"] == 1


@pytest.mark.parametrize("mode", ["semantic", "both"])
def test_pages_show_every_hit_once_and_agree_on_the_total(door: StoreDoor, mode: str) -> None:
    for number in range(20):
        put(door, f"session {number}", f"{LOGIN} Note {number}.")
        put(door, f"log {number}", f"People write to the log file number {number} a long time.")
    door.store.index()
    whole = door("capsule_search", query=QUESTIONS["login"], search_mode=mode, limit=100)
    total = whole["pagination"]["total"]
    assert total == len(whole["items"]) >= 20
    paged: list[Any] = []
    for offset in range(0, total + 7, 7):
        page = door("capsule_search", query=QUESTIONS["login"], search_mode=mode, limit=7, offset=offset)
        assert page["pagination"]["total"] == total
        assert page["pagination"]["has_more"] == (offset + 7 < total)
        paged += page["items"]
    assert paged == whole["items"]
    assert len({item["id"] for item in paged}) == total
    scores = [item["score"] for item in paged]
    assert scores == sorted(scores, reverse=True)


def test_the_total_of_both_counts_each_hit_of_words_and_meaning_once(door: StoreDoor) -> None:
    for number in range(10):
        put(door, f"signed {number}", f"Documents number {number} are signed with a fountain pen by people.")
    put_all(door)
    words = {item["id"] for item in door("capsule_search", query=QUESTIONS["login"], limit=100)["items"]}
    arguments = {"query": QUESTIONS["login"], "limit": 100}
    meant = {item["id"] for item in door("capsule_search", search_mode="semantic", **arguments)["items"]}
    first = door("capsule_search", query=QUESTIONS["login"], search_mode="both", limit=1)
    assert first["pagination"]["total"] == len(words | meant)
    assert {item["id"] for item in door("capsule_search", search_mode="both", **arguments)["items"]} == words | meant


def test_both_finds_an_exact_name_first(call: Door) -> None:
    put_all(call)
    put(call, "lock", "The billing job takes the advisory lock 4711 before it closes the month.")
    assert names(call, "4711", search_mode="both")[0] == "lock"


@pytest.mark.parametrize(
    "query", ['"sessions end"', "squea* AND gate", "brows*", "sessions NOT garden", "browser OR gate"]
)
def test_queries_with_operators_match_words_only(call: Door, query: str) -> None:
    put_all(call)
    put(call, "exact", "How often the garden gate squeaks; nothing about hours of a browser sessions end.")
    for tool in ("capsule_search", "moss_search"):
        words = call(tool, query=query, search_mode="keyword")
        assert words["items"]
        assert call(tool, query=query, search_mode="both") == words


def test_excluded_words_are_not_found_by_meaning(call: Door) -> None:
    put(call, "typed", LOGIN)
    put(call, "stolen", "People stay signed in until the cookie is stolen.")
    assert "stolen" in names(call, "people stay signed in", search_mode="both")
    assert names(call, "(people stay signed in) NOT stolen", search_mode="semantic") == ["typed"]
    relaxed = call("capsule_search", query="(people stay signed in) NOT stolen", search_mode="both")
    assert relaxed["relaxed"] is True
    assert [item["title"] for item in relaxed["items"]] == ["typed"]


@pytest.mark.parametrize("mode", ["semantic", "both"])
def test_a_query_of_only_exclusions_searches_by_words(call: Door, mode: str) -> None:
    put_all(call)
    asked = {"query": "NOT tomatoes", "limit": 10}
    assert call("capsule_search", search_mode=mode, **asked) == call("capsule_search", **asked)
    assert call("capsule_search", query="?!", search_mode=mode)["items"] == []


def test_snippets_come_from_the_text_and_are_escaped(call: Door) -> None:
    put(call, "markup", f"<script>{LOGIN}</script>")
    [item] = call("capsule_search", query="how long are people signed in before a password", search_mode="semantic")[
        "items"
    ]
    assert item["snippet"].startswith("&lt;script&gt;Browser sessions end")
    assert "the <b>password</b> must" in item["snippet"]


@pytest.mark.parametrize(
    "query",
    [
        "\u202eright to left\u202c",
        "🍌" * 200,
        "x" * 1000,
        "ß İ ﬁ",
        "日本語の質問",
        "[CLS] [SEP] ##ing",
        "'; drop table--",
    ],
)
def test_odd_questions_are_accepted(call: Door, query: str) -> None:
    put_all(call)
    for mode in ("semantic", "both"):
        answer = call("capsule_search", query=query, search_mode=mode)
        assert answer["pagination"]["total"] == len(answer["items"])


def test_invalid_questions_are_refused(door: StoreDoor) -> None:
    for query in ("\ud800", "a\0b", "x" * 1001, "  "):
        door.refuses("INVALID_REQUEST", "capsule_search", query=query, search_mode="semantic")


def test_deleted_capsules_are_not_found_and_restored_ones_are(call: Door) -> None:
    put_all(call)
    identity = call("capsule_fetch", name="login")["id"]
    call("capsule_delete", name="login")
    assert "login" not in names(call, QUESTIONS["login"])
    call("capsule_restore", id=identity)
    assert names(call, QUESTIONS["login"])[0] == "login"


def test_a_changed_text_is_found_by_its_new_content(call: Door) -> None:
    put_all(call)
    assert names(call, QUESTIONS["login"])[0] == "login"
    call("capsule_update", name="login", capsule_text=BACKUP, allow_thin=True)
    assert "login" not in names(call, QUESTIONS["login"])[:1]
    assert "login" in names(call, "the dump is restored every week and counted")[:2]


def test_expired_artifacts_are_not_found(store: Store, clock: Clock) -> None:
    store.call("artifact_store", {"name": "a", "kind": "k", "data": {}, "text": LOGIN, "ttl_seconds": 60})
    door = StoreDoor(store)
    question = QUESTIONS["login"]
    assert names(door, question, tool="moss_search") == ["a"]
    clock.advance(61)
    assert names(door, question, tool="moss_search") == []


def test_notes_nodes_and_records_are_found_by_their_meaning(door: StoreDoor) -> None:
    door("branchmind_notes_commit", workspace="w", content=LOGIN)
    node = {"op": "node_upsert", "id": "n", "type": "idea", "title": "Idea", "text": BACKUP}
    door("branchmind_graph_apply", workspace="w", ops=[node])
    body = {"decision": "Water the tomatoes", "rationale": "July is hot", "timestamp": "2026-01-01T00:00:00Z"}
    door("submit_payload", capability_id="neotoma:store_agent_decision:v1", body=body)
    found = {
        answer: door("moss_search", query=question, search_mode="semantic", limit=1)["items"][0]["type"]
        for answer, question in QUESTIONS.items()
    }
    assert found == {"login": "note", "backup": "node", "garden": "record"}
    [record] = door("retrieve_records", search=[QUESTIONS["garden"]], search_mode="semantic")["records"]
    assert record["properties"]["decision"] == "Water the tomatoes"
    node["text"] = GARDENING
    door("branchmind_graph_apply", workspace="w", ops=[node])
    hits = door("moss_search", query=QUESTIONS["backup"], search_mode="semantic", types=["node"])["items"]
    assert hits == [], "the superseded version is still found"


GARDENING = "Roses are cut in March."


def test_every_search_with_a_mode_is_declared_as_possibly_slow() -> None:
    for tool in catalog.operations():
        if "search_mode" in tool.parameters:
            assert tool.is_slow({"search": "x", "search_mode": "semantic"})
            assert not tool.is_slow({"search": "x", "search_mode": "keyword"})


@pytest.mark.parametrize("query", ["redis cache", "redis", "how fast is the redis cache", "redis OR browser"])
def test_scores_of_both_never_rise_from_hit_to_hit(door: StoreDoor, query: str) -> None:
    put_all(door)
    for number in range(130):
        put(door, f"redis-{number}", f"redis {'cache ' if number % 7 == 0 else ''}" + "word " * (number % 5))
    door.store.index()
    found = []
    for offset in range(0, 300, 50):
        found += door("capsule_search", query=query, search_mode="both", limit=50, offset=offset)["items"]
    scores = [item["score"] for item in found]
    assert scores
    assert scores == sorted(scores, reverse=True)


def test_a_text_with_one_of_many_words_ranks_below_the_relevant_one(door: StoreDoor) -> None:
    put_all(door)
    put(door, "noise", "The canteen has a new sign: no soup on Fridays.")
    assert names(door, "sign-in duration", search_mode="keyword") == ["noise"]
    assert names(door, "sign-in duration", search_mode="both")[0] == "login"
