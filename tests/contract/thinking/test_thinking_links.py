"""Links of cards: edges, implied statuses, and unknown ids."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from contract.reasoning.reasoning_tools import ReasoningTools, node, state
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools

LINKS = ["supports", "blocks", "answers", "rejects", "supersedes", "tests"]
STATUS = {"answers": "resolved", "rejects": "rejected", "supersedes": "superseded"}
KINDS = ["frame", "hypothesis", "question", "test", "evidence", "decision", "note", "update"]


def links_of(room: ReasoningTools, id: str) -> set[tuple[str, str]]:
    return {(rel, to) for from_, rel, to in room.edges() if from_ == id}


def status_changes(room: ReasoningTools, doc: str = "trace", branch: str | None = None) -> list[dict[str, Any]]:
    return [entry["meta"] for entry in room.entries(branch, doc) if entry.get("format") == "status_change"]


def decide(desk: TaskTools, id: str, **more: Any) -> None:
    desk.room("think_add_decision", card={"id": id, "title": f"Decision {id}", **more})


@holds("decisions §10: links in a card, as arguments or inside it, become edges of that name")
@pytest.mark.parametrize("rel", LINKS)
def test_links_become_edges_as_arguments_and_inside_a_card_of_every_form(desk: TaskTools, rel: str) -> None:
    desk.room.apply(node("a", "question"), node("b", "question"))
    card = {"title": "T", rel: ["a", "b"]}
    forms: dict[str, tuple[Any, dict[str, Any]]] = {
        "argument": ({"id": "argument", "title": "T"}, {rel: ["a", "b"]}),
        "object": ({"id": "object", **card}, {}),
        "json": (json.dumps({"id": "json", **card}), {}),
        "lines": (f"id: lines\ntitle: T\n{rel}: a, b", {}),
    }
    for name, (sent, arguments) in forms.items():
        answer = desk.room("think_card", card=sent, **arguments)
        assert answer["graph_applied"]["edges_upserted"] == 2, name
        assert "meta_keys" not in answer
        assert links_of(desk.room, name) == {(rel, "a"), (rel, "b")}
        assert "meta" not in desk.room.nodes()[name]
    desk.room("think_card", card={"id": "one", "title": "T", rel: "a"})
    assert links_of(desk.room, "one") == {(rel, "a")}


@holds("decisions §10: links in a card, as arguments or inside it, become edges of that name")
def test_links_of_arguments_and_card_are_combined(desk: TaskTools) -> None:
    desk.room.apply(node("a"), node("b"), node("c"))
    desk.room("think_card", card={"id": "x", "title": "T", "supports": ["a", "b"], "tests": None}, supports="c")
    assert links_of(desk.room, "x") == {("supports", one) for one in "abc"}


@holds("decisions §10: links in a card, as arguments or inside it, become edges of that name")
def test_the_same_card_with_the_same_links_is_no_change_in_any_form(desk: TaskTools) -> None:
    desk.room.apply(node("a", "decision", status="open"), node("b", "question", status="open"))
    card = {"id": "x", "type": "decision", "title": "T"}
    desk.room("think_card", card={**card, "supersedes": "a", "answers": ["b"]})
    desk.room("think_set_status", ids="a", status="open")
    before = dump(desk.door.home)
    for again, arguments in (
        ({**card, "supersedes": ["a"], "answers": "b"}, {}), (card, {"supersedes": "a", "answers": ["b", "b"]}),
        ({**card, "answers": "b"}, {"supersedes": ["a"]}),
    ):  # fmt: skip
        answer = desk.room("think_card", card=again, **arguments)
        assert (answer["inserted"], answer["graph_applied"]["nodes_upserted"]) == (False, 0)
    after = dump(desk.door.home)
    for table in ("doc_entries", "graph_versions", "numbers", "documents"):
        assert after[table] == before[table], table
    for other in ({}, {"supersedes": "a"}, {"supersedes": "a", "answers": "b", "rejects": "a"}):
        desk.room.refuses("CONFLICT", "think_card", card={**card, **other})


@holds("decisions §10: links in a card, as arguments or inside it, become edges of that name")
@pytest.mark.parametrize("kind", KINDS)
def test_every_tool_that_writes_a_card_accepts_every_link(timed: TaskTools, kind: str) -> None:
    timed.room.apply(*(node(rel) for rel in LINKS))
    timed.room(f"think_add_{kind}", card={"id": "x", "title": "T"}, **{rel: rel for rel in LINKS})
    assert links_of(timed.room, "x") == {(rel, rel) for rel in LINKS}


@holds("decisions §10: links in a card, as arguments or inside it, become edges of that name")
def test_an_invalid_link_is_refused_and_writes_nothing(desk: TaskTools) -> None:
    desk.room.apply(node("a"))
    for wrong in (5, ["a", 5], {"id": "a"}, [""], ["a|b"], "a\nb", ["task:TASK-001"], "x", True):
        code = "NOT_FOUND" if wrong == "x" else "INVALID_REQUEST"
        desk.room.refuses(code, "think_card", card={"id": "new", "title": "T", "supersedes": wrong})
    desk.room.refuses("INVALID_REQUEST", "think_card", card={"id": "new", "title": "T", "supports": "new"})
    many = [f"n{number}" for number in range(201)]
    desk.room.refuses("INVALID_REQUEST", "think_card", card={"title": "T", "tests": many})


@holds("decisions §10: supersedes, rejects and answers set the other card's status in the same transaction")
@pytest.mark.parametrize("rel", STATUS)
def test_a_link_sets_the_status_of_the_other_card_with_an_entry_in_the_trace(desk: TaskTools, rel: str) -> None:
    for one in ("a", "b"):
        desk.room("think_card", card={"id": one, "type": "question", "title": "T", "tags": ["kept"]})
    before = desk.room.nodes()
    answer = desk.room("think_add_decision", card={"id": "d", "title": "D", rel: ["a", "b"]})
    assert answer["graph_applied"] == {"nodes_upserted": 3, "edges_upserted": 2}
    after = desk.room.nodes()
    for one in ("a", "b"):
        assert state(after[one]) == {**(state(before[one]) or {}), "status": STATUS[rel]}
    assert after["d"]["status"] == "open"
    changes = [(one["card_id"], one["old_status"], one["new_status"]) for one in status_changes(desk.room)]
    assert changes == [("a", "open", STATUS[rel]), ("b", "open", STATUS[rel])]
    assert all("d" in one["reason"] and rel in one["reason"] for one in status_changes(desk.room))


@holds("decisions §10: supersedes, rejects and answers set the other card's status in the same transaction")
def test_an_implied_status_is_set_once(desk: TaskTools) -> None:
    desk.room.apply(node("a", "decision", status="superseded"))
    before = desk.room.nodes()["a"]
    decide(desk, "d", supersedes="a", supports="a")
    assert desk.room.nodes()["a"] == before
    assert status_changes(desk.room) == []


@holds("decisions §10: supersedes, rejects and answers set the other card's status in the same transaction")
def test_of_several_links_to_one_card_the_strongest_sets_its_status(desk: TaskTools) -> None:
    desk.room.apply(node("a", "decision", status="open"))
    decide(desk, "d", supersedes="a", rejects="a", answers="a")
    assert desk.room.nodes()["a"]["status"] == "superseded"
    assert [one["new_status"] for one in status_changes(desk.room)] == ["superseded"]


@holds("decisions §10: supersedes, rejects and answers set the other card's status in the same transaction")
def test_reversing_a_decision_takes_two_calls(desk: TaskTools) -> None:
    decide(desk, "redis")
    decide(desk, "postgres", supersedes="redis")
    old, new = (desk.room.nodes()[one] for one in ("redis", "postgres"))
    assert (old["status"], new["status"]) == ("superseded", "open")
    assert ("postgres", "supersedes", "redis") in desk.room.edges()


@holds("decisions §10: supersedes, rejects and answers set the other card's status in the same transaction")
def test_a_link_on_a_branch_sets_the_status_there(desk: TaskTools) -> None:
    decide(desk, "old")
    desk.room.branch("b")
    desk.room("think_add_decision", card={"id": "new", "title": "N", "supersedes": "old"}, branch="b")
    assert (desk.room.nodes("b")["old"]["status"], desk.room.nodes()["old"]["status"]) == ("superseded", "open")
    assert [one["card_id"] for one in status_changes(desk.room, branch="b")] == ["old"]
    assert status_changes(desk.room) == []


@holds("decisions §10: an id that is not there is NOT_FOUND with the nearest ids, also for think_link")
@pytest.mark.parametrize("rel", LINKS)
def test_a_link_to_an_unknown_card_is_not_found_with_the_nearest_ids(desk: TaskTools, rel: str) -> None:
    desk.room.apply(node("cache-size"), node("cache-site"), node("gone"), node("sessions"))
    desk.room.apply({"op": "node_delete", "id": "gone"})
    for given in (
        {"card": {"title": "T", rel: ["sessions", "cache-sizes"]}}, {"card": "t", rel: "cache-sizes"},
        {"card": "t", rel: ["gone"]},
    ):  # fmt: skip
        error = desk.room.misses("think_card", **given)
        assert error.details is not None
        assert error.details["path"] == rel
        assert 1 <= len(error.details["nearest"]) <= 3
        if "gone" not in str(given):
            assert error.details["nearest"][0] == "cache-size"
            assert "cache-size" in error.message
    for ends in ({"from_": "cache-sizes", "to": "sessions"}, {"from_": "sessions", "to": "cache-sizes"}):
        error = desk.room.misses("think_link", rel=rel, **ends)
        assert (error.details or {})["nearest"][0] == "cache-size"


@holds("decisions §10: an id that is not there is NOT_FOUND with the nearest ids, also for think_link")
def test_a_first_card_with_an_unknown_link_creates_no_workspace(desk: TaskTools) -> None:
    error = desk.another("Never seen").room.misses("think_card", card="t", supports="x")
    assert (error.details or {})["nearest"] == []


@holds("decisions §10: keys that go to meta are named in meta_keys")
def test_keys_stored_in_meta_are_listed_in_the_answer(desk: TaskTools) -> None:
    for card in ({"id": "a", "title": "T", "why": "x", "owner": "kim"}, "id: b\ntitle: T\nwhy: x\nowner: kim"):
        answer = desk.room("think_card", card=card)
        assert sorted(answer["meta_keys"]) == ["owner", "why"]
        assert desk.room("think_card", card=card)["meta_keys"] == answer["meta_keys"]
        assert desk.room.nodes()[answer["card_id"]]["meta"] == {"why": "x", "owner": "kim"}
    assert "meta_keys" not in desk.room("think_card", card={"title": "T", "meta": {"why": "x"}})
