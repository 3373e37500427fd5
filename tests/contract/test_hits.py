"""Search hits: each has the call that loads it, a time and a status, and occurs once."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import START_MS, Clock, Door, open_test_store
from moss_memory.storage.sqlite import search_index
from support.promises import holds

if TYPE_CHECKING:
    from moss_memory.store import Store

DAY = 86_400
START = START_MS // 1000
DECISION = "neotoma:store_agent_decision:v1"


def search(call: Door, query: str, **asked: Any) -> list[dict[str, Any]]:
    answer = call("moss_search", query=query, search_mode="keyword", **asked)
    found: list[dict[str, Any]] = answer["items"]
    assert answer["pagination"]["total"] == len(found)
    return found


def titles(call: Door, query: str, **asked: Any) -> list[str]:
    return [hit["title"] for hit in search(call, query, **asked)]


def decide(call: Door, decision: str, timestamp: str, **more: Any) -> str:
    body = {"decision": decision, "rationale": "zebra", "timestamp": timestamp}
    made: str = call("submit_payload", capability_id=DECISION, body=body, **more)["payload_id"]
    return made


def fill(call: Door) -> None:
    """Store the word zebra once in every family, in workspace Shop."""
    call("capsule_store", workspace="Shop", name="Named One", capsule_text="zebra", allow_thin=True)
    call("capsule_store", workspace="Shop", capsule_text="unnamed zebra", allow_thin=True)
    call("artifact_store", workspace="Shop", kind="plan", name="Plan A", data={}, text="zebra")
    call("artifact_store", workspace="Shop", kind="plan", data={}, text="unnamed zebra")
    call("branchmind_notes_commit", workspace="Shop", content="zebra note", doc="odd doc")
    call("branchmind_trace_step", workspace="Shop", step="zebra step")
    call("branchmind_think_card", workspace="Shop", card={"id": "d1", "type": "decision", "title": "zebra card"})
    call("tasks_create", workspace="Shop", kind="plan", title="zebra plan", steps=[{"title": "zebra plan step"}])
    call("tasks_create", workspace="Shop", kind="task", parent="PLAN-001", title="zebra task",
         steps=[{"title": "zebra task step"}])  # fmt: skip
    decide(call, "zebra decided", "2025-05-03T10:00:00+02:00", workspace="Shop")


@holds("decisions §10: every hit has the call that loads it, its time and its status; one thing is one hit")
def test_the_fetch_call_of_every_hit_loads_it(call: Door) -> None:
    fill(call)
    found = search(call, "zebra", limit=100)
    kinds = sorted((hit["type"], hit.get("kind", "")) for hit in found)
    assert kinds == [
        ("artifact", "plan"), ("artifact", "plan"), ("capsule", ""), ("capsule", ""), ("node", "decision"),
        ("note", ""), ("note", ""), ("record", "agent_decision"),
        ("task", "plan"), ("task", "step"), ("task", "step"), ("task", "task"),
    ]  # fmt: skip
    for hit in found:
        assert set(hit["fetch"]) == {"tool", "arguments"}
        loaded = call(hit["fetch"]["tool"], **hit["fetch"]["arguments"])
        assert "zebra" in str(loaded)
        assert call("moss_call", **hit["fetch"]) == loaded
        assert isinstance(hit["at"], int)


@holds("decisions §10: every hit has the call that loads it, its time and its status; one thing is one hit")
def test_hits_of_a_family_search_have_the_same_fields(call: Door) -> None:
    fill(call)
    [named, unnamed] = sorted(call("capsule_search", query="zebra")["items"], key=lambda hit: "name" not in hit)
    assert named["fetch"] == {"tool": "capsule_fetch", "arguments": {"workspace": "Shop", "name": "Named One"}}
    assert unnamed["fetch"] == {"tool": "capsule_fetch", "arguments": {"id": unnamed["id"]}}
    assert named["at"] == named["updated_at"]
    [record] = call("retrieve_records", search="zebra", search_mode="keyword")["records"]
    assert call(record["fetch"]["tool"], **record["fetch"]["arguments"])["records"][0]["id"] == record["id"]
    [plain] = call("retrieve_records")["records"]
    assert "fetch" not in plain


@holds("decisions §10: every hit has the call that loads it, its time and its status; one thing is one hit")
def test_the_fetch_call_of_a_deleted_capsule_includes_deleted_ones(call: Door) -> None:
    call("capsule_store", name="a", capsule_text="zebra", allow_thin=True)
    call("capsule_delete", name="a")
    call("capsule_store", name="a", capsule_text="another", allow_thin=True)
    [hit] = call("capsule_search", query="zebra", include_deleted=True)["items"]
    assert call(hit["fetch"]["tool"], **hit["fetch"]["arguments"])["capsule_text"] == "zebra"


@holds("decisions §10: every hit has the call that loads it, its time and its status; one thing is one hit")
def test_cards_tasks_and_steps_have_their_status(call: Door) -> None:
    fill(call)
    call("branchmind_think_set_status", workspace="Shop", ids="d1", status="resolved")
    call("tasks_complete", workspace="Shop", target="TASK-001", status="ACTIVE")
    status = {hit["title"]: hit.get("status") for hit in search(call, "zebra", types=["node", "task"])}
    assert status == {
        "zebra card": "resolved", "zebra plan": "TODO", "zebra plan step": "open", "zebra task": "ACTIVE",
        "zebra task step": "open",
    }  # fmt: skip


@holds("decisions §10: every hit has the call that loads it, its time and its status; one thing is one hit")
def test_tasks_and_cards_have_different_types(call: Door) -> None:
    fill(call)
    assert titles(call, "zebra", types=["node"]) == ["zebra card"]
    assert len(titles(call, "zebra", types=["task"])) == 4
    assert len(titles(call, '"zebra plan" OR "task step"', types=["task"])) == 3


@holds("decisions §10: every hit has the call that loads it, its time and its status; one thing is one hit")
def test_tasks_are_found_without_reasoning_but_not_if_tasks_are_disabled(home: str, clock: Clock) -> None:
    with open_test_store(home, clock) as store:
        fill(lambda tool, **arguments: store.call(tool, arguments))  # type: ignore[arg-type]
    for closed, expected in (("task", {"node"}), ("reasoning", {"task"})):
        with open_test_store(home, clock, disabled_types=[closed]) as store:
            answer = store.call("moss_search", {"query": "zebra", "search_mode": "keyword", "limit": 100})
            assert {hit["type"] for hit in answer["items"]} & {"node", "task"} == expected
            for hit in answer["items"]:
                store.call(hit["fetch"]["tool"], hit["fetch"]["arguments"])


@holds("decisions §10: every hit has the call that loads it, its time and its status; one thing is one hit")
def test_a_hit_of_a_disabled_tool_has_no_fetch_call(home: str, clock: Clock) -> None:
    with open_test_store(home, clock, disabled_tools=["capsule_fetch"]) as store:
        store.call("capsule_store", {"name": "a", "capsule_text": "zebra", "allow_thin": True})
        [hit] = store.call("moss_search", {"query": "zebra", "search_mode": "keyword"})["items"]
        assert "fetch" not in hit


@holds("decisions §10: every hit has the call that loads it, its time and its status; one thing is one hit")
def test_a_task_visible_in_several_graphs_is_one_hit(call: Door) -> None:
    call("tasks_create", workspace="w", kind="plan", title="a plan")
    for name in ("zebra", "okapi"):
        call("tasks_create", workspace="w", kind="task", parent="PLAN-001", title=name)
    call("tasks_edit", workspace="w", target="TASK-002", depends_on=["TASK-001"])
    [hit] = search(call, "zebra")
    assert (hit["type"], hit["id"]) == ("task", "TASK-001")


def card(call: Door, id: str, title: str, **more: Any) -> None:
    call("branchmind_think_card", workspace="w", card={"id": id, "type": "decision", "title": title}, **more)


def replace_card(call: Door, old: str, new: str, *, status: str = "superseded") -> None:
    edge = {"op": "edge_upsert", "from": new, "rel": "supersedes", "to": old}
    call("branchmind_graph_apply", workspace="w", ops=[edge])
    call("branchmind_think_set_status", workspace="w", ids=old, status=status)


@holds("decisions §10: superseded and merged cards score half")
@pytest.mark.parametrize("query", ["zebra colour", "zebra AND colour", "zebra"])
def test_a_superseded_card_has_half_the_score_and_follows_its_successor(call: Door, query: str) -> None:
    card(call, "old", "zebra colour")
    card(call, "new", "zebra colour is white")
    [before] = [hit["score"] for hit in search(call, query) if hit["id"] == "old"]
    assert search(call, query)[0]["id"] == "old"
    replace_card(call, "old", "new")
    first, second = search(call, query)
    assert (first["id"], second["id"]) == ("new", "old")
    assert second["status"] == "superseded"
    assert second["superseded_by"] == "new"
    assert second["score"] == pytest.approx(before / 2)
    assert "superseded_by" not in first


@holds("decisions §10: superseded and merged cards score half")
def test_a_merged_card_scores_half_and_names_no_successor(call: Door) -> None:
    card(call, "old", "zebra")
    [before] = search(call, "zebra")
    call("branchmind_think_set_status", workspace="w", ids="old", status="merged")
    [after] = search(call, "zebra")
    assert after["score"] == pytest.approx(before["score"] / 2)
    assert "superseded_by" not in after


@holds("decisions §10: superseded and merged cards score half")
def test_pages_show_every_hit_once_in_one_order_even_if_superseded(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_index, "_SPARE", 0)  # otherwise SQLite ranks all 60 at once
    for number in range(60):
        card_fields = {"id": f"c{number:02}", "type": "decision", "title": "zebra " + "filler " * (number % 7)}
        store.call("branchmind_think_card", {"workspace": "w", "card": card_fields})
    old = [f"c{number:02}" for number in range(0, 60, 2)]
    store.call("branchmind_think_set_status", {"workspace": "w", "ids": old, "status": "superseded"})
    for query in ("zebra", "zebra OR okapi", "zebra filler"):
        asked = {"query": query, "search_mode": "keyword"}
        whole = store.call("moss_search", {**asked, "limit": 100})["items"]
        scores = [hit["score"] for hit in whole]
        assert scores == sorted(scores, reverse=True)
        assert len({hit["id"] for hit in whole}) == 60
        paged = [
            hit
            for offset in range(0, 60, 7)
            for hit in store.call("moss_search", {**asked, "limit": 7, "offset": offset})["items"]
        ]
        assert [hit["id"] for hit in paged] == [hit["id"] for hit in whole]


@holds("decisions §10: every hit has the call that loads it, its time and its status; one thing is one hit")
def test_a_node_that_a_merge_copied_is_one_hit_until_the_base_deletes_it(call: Door) -> None:
    card(call, "first", "something")
    call("branchmind_branch_create", workspace="w", name="idea")
    card(call, "c", "zebra", branch="idea")
    call("branchmind_notes_commit", workspace="w", content="a zebra note", branch="idea")
    call("branchmind_graph_merge", workspace="w", **{"from": "idea", "into": "main"})
    call("branchmind_merge", workspace="w", **{"from": "idea", "into": "main"})
    [hit] = search(call, "zebra", types=["node"])
    assert hit["fetch"]["arguments"]["branch"] == "main"
    assert len(search(call, "zebra", types=["note"])) == 1
    call("branchmind_think_set_status", workspace="w", ids="c", status="superseded")
    assert [hit["status"] for hit in search(call, "zebra", types=["node"])] == ["superseded"]
    call("branchmind_graph_apply", workspace="w", ops=[{"op": "node_delete", "id": "c"}])
    [hit] = search(call, "zebra", types=["node"])
    assert hit["fetch"]["arguments"]["branch"] == "idea"


@holds("decisions §10: every hit has the call that loads it, its time and its status; one thing is one hit")
def test_a_change_on_a_branch_after_a_merge_is_a_separate_hit(call: Door) -> None:
    card(call, "first", "something")
    call("branchmind_branch_create", workspace="w", name="idea")
    card(call, "c", "zebra", branch="idea")
    call("branchmind_graph_merge", workspace="w", **{"from": "idea", "into": "main"})
    node = {"op": "node_upsert", "id": "c", "type": "decision", "title": "zebra and okapi", "status": "open"}
    call("branchmind_graph_apply", workspace="w", branch="idea", ops=[node])
    assert sorted(titles(call, "zebra", types=["node"])) == ["zebra", "zebra and okapi"]


@holds("decisions §10: moss_search takes after and before, compared with the time of a hit")
def test_after_and_before_are_inclusive_time_filters(store: Store, clock: Clock) -> None:
    for day in range(3):
        store.call("capsule_store", {"name": f"day{day}", "capsule_text": "zebra", "allow_thin": True})
        store.call("branchmind_notes_commit", {"workspace": "w", "content": "zebra", "title": f"day{day}"})
        clock.advance(DAY)

    def dated(day: int, form: str = "%Y-%m-%d") -> str:
        return time.strftime(form, time.gmtime(START + day * DAY))

    def days(**asked: Any) -> list[str]:
        answer = store.call("moss_search", {"query": "zebra", "search_mode": "keyword", **asked})
        return sorted(hit["title"] for hit in answer["items"])

    exact = "%Y-%m-%dT%H:%M:%SZ"
    assert days(after=dated(1)) == ["day1", "day1", "day2", "day2"]
    assert days(before=dated(1)) == ["day0", "day0", "day1", "day1"]
    assert days(after=dated(1), before=dated(1)) == ["day1", "day1"]
    assert days(after=dated(2, exact), types=["note"]) == ["day2"]
    assert days(before=dated(0, exact), types=["capsule"]) == ["day0"]
    assert days(after=dated(3)) == []
    for mode in ("both", "semantic"):
        assert days(after=dated(2), search_mode=mode) == ["day2", "day2"]


@holds("decisions §10: moss_search takes after and before, compared with the time of a hit")
def test_a_hit_of_a_record_has_the_time_in_its_body(call: Door) -> None:
    decide(call, "zebra in May", "2025-05-03T23:30:00-02:00")
    decide(call, "zebra in July", "2025-07-01")
    [july] = search(call, "zebra", after="2025-06-01")
    assert july["title"] == "zebra in July"
    [may] = search(call, "zebra", before="2025-05-04")
    assert may["at"] == 1_746_322_200
    assert search(call, "zebra", before="2025-05-03") == []
    found = call("retrieve_records", search="zebra", search_mode="keyword")["records"]
    assert {record["properties"]["decision"]: record["at"] for record in found}["zebra in May"] == may["at"]


@holds("decisions §10: moss_search takes after and before, compared with the time of a hit")
def test_a_hit_of_a_record_without_a_time_has_its_observation_time(home: str, clock: Clock) -> None:
    os.makedirs(f"{home}/capabilities", mode=0o700)
    fields = {"name": {"type": "string", "search": True}}
    capability = {"capability_id": "x:note:v1", "entity_type": "x", "fields": fields, "identity": ["name"]}
    with open(f"{home}/capabilities/x.json", "w", encoding="utf-8") as file:
        json.dump({**capability, "title": "name"}, file)
    body = {"capability_id": "x:note:v1", "body": {"name": "zebra"}}
    with open_test_store(home, clock) as store:
        store.call("submit_payload", {**body, "provenance": {"extracted_at": "2025-03-01T00:00:00Z"}})
        asked = {"query": "zebra", "search_mode": "keyword"}
        [hit] = store.call("moss_search", {**asked, "after": "2025-03-01", "before": "2025-03-01"})["items"]
        assert hit["at"] == 1_740_787_200
        store.call("submit_payload", body)
        assert store.call("moss_search", asked)["items"][0]["at"] == clock.seconds


@holds("decisions §10: moss_search takes after and before, compared with the time of a hit")
@pytest.mark.parametrize(
    "asked", [{"after": "May"}, {"before": ""}, {"after": 5}, {"after": "2025-06-01", "before": "2025-05-01"}]
)
def test_an_invalid_time_filter_is_refused(call: Door, asked: dict[str, Any]) -> None:
    call.refuses("INVALID_REQUEST", "moss_search", query="zebra", **asked)
