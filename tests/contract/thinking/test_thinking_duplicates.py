"""`think_nominal_merge`: merging of cards with equal content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.reasoning.reasoning_tools import node, state
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools

NOTHING = {"nodes_upserted": 0, "nodes_deleted": 0, "edges_upserted": 0, "edges_deleted": 0}


def words(*numbers: int) -> str:
    return " ".join(f"word{number}" for number in numbers)


def add(desk: TaskTools, id: str, title: str | None, text: str | None = None, type: str = "note", **where: Any) -> None:
    desk.room("think_card", card={"id": id, "type": type, "title": title, "text": text}, **where)


def groups(desk: TaskTools, **asked: Any) -> list[tuple[str, list[str]]]:
    found = desk.room("think_nominal_merge", dry_run=True, **asked)["groups"]
    return [(group["canonical"], group["merged"]) for group in found]


@holds("decisions §3 think_nominal_merge: the oldest is canonical, others get status merged and an edge dedup")
def test_duplicates_are_marked_as_merged_and_point_to_the_oldest(desk: TaskTools) -> None:
    add(desk, "b", "The cache is never cleared", "At all.")
    add(desk, "x", "Something else")
    add(desk, "a", "the  CACHE is never\ncleared", " at all. ")
    add(desk, "c", "The cache is never cleared", "At all.")
    before = desk.room.nodes()
    answer = desk.room("think_nominal_merge")
    assert set(answer) == {"workspace", "branch", "graph_doc", "groups", "applied"}
    assert answer["groups"] == [{"canonical": "b", "merged": ["a", "c"], "similarity": 1.0}]
    assert answer["applied"] == {**NOTHING, "nodes_upserted": 2, "edges_upserted": 2}
    after = desk.room.nodes()
    assert (after["b"], after["x"]) == (before["b"], before["x"])
    for one in ("a", "c"):
        assert state(after[one]) == {**(state(before[one]) or {}), "status": "merged"}
    assert set(desk.room.edges()) == {("a", "dedup", "b"), ("c", "dedup", "b")}


@holds("4 think_nominal_merge: idempotent")
def test_merging_again_changes_nothing(desk: TaskTools) -> None:
    for one in ("a", "b", "c"):
        add(desk, one, "The same")
    desk.room("think_nominal_merge")
    before = desk.room.nodes(), desk.room.edges()
    answer = desk.room("think_nominal_merge")
    assert (answer["groups"], answer["applied"]) == ([], NOTHING)
    assert (desk.room.nodes(), desk.room.edges()) == before
    add(desk, "b", "The same")
    assert desk.room("think_nominal_merge")["groups"] == []
    add(desk, "d", "the same")
    assert [(g["canonical"], g["merged"]) for g in desk.room("think_nominal_merge")["groups"]] == [("a", ["d"])]


@holds("decisions §3 think_nominal_merge: the oldest is canonical, others get status merged and an edge dedup")
def test_a_merged_card_is_not_a_candidate_of_the_frontier(desk: TaskTools) -> None:
    for one in ("q1", "q2"):
        add(desk, one, "Who clears the cache?", type="question")
    desk.room("think_nominal_merge")
    assert [one["id"] for one in desk.room("think_frontier")["candidates"]] == ["q1"]


@holds("shapes think_nominal_merge: candidate_ids, dry_run and a place")
def test_a_dry_run_reports_duplicates_and_writes_nothing(desk: TaskTools) -> None:
    for one in ("a", "b"):
        add(desk, one, "The same")
    before = dump(desk.door.home)
    answer = desk.room("think_nominal_merge", dry_run=True)
    assert answer["groups"] == [{"canonical": "a", "merged": ["b"], "similarity": 1.0}]
    assert dump(desk.door.home) == before


@holds("decisions §3 think_nominal_merge: type and normalized title+text agree, or words overlap by at least 0.9")
def test_cards_of_different_types_are_not_duplicates(desk: TaskTools) -> None:
    add(desk, "a", "The same", type="question")
    add(desk, "b", "The same", type="hypothesis")
    add(desk, "c", "The same", type="question")
    desk.room.apply(node("n", "thing", title="The same"), node("m", "thing", title="The same"))
    assert groups(desk) == [("a", ["c"])]


@holds("decisions §3 think_nominal_merge: type and normalized title+text agree, or words overlap by at least 0.9")
@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (words(*range(10)), words(*range(9)), True),  # 9 of 10
        (words(*range(9)), words(*range(10)), True),
        (words(*range(9)), words(*range(8)), False),  # 8 of 9
        (words(*range(19)), words(*range(18), 99), True),  # 18 of 20
        (words(*range(18)), words(*range(17), 99), False),  # 17 of 19
        (words(*range(100, 200)), words(*range(109, 200)), True),
        (words(*range(100, 200)), words(*range(111, 200)), False),
        (words(*range(100, 200)), words(*range(100, 190)), True),
        (words(*range(30)), words(*reversed(range(30))), True),
        ("cache cache cache", "Cache!", True),
        ("The cache", "The cash", False),
        ("???", "???", True),
        ("???", "!!!", False),
        ("Straße", "STRASSE", True),
        ("Ä", "ä", True),
        ("Caf\u00e9 \u1eb4", "cafe\u0301 A\u0306\u0303", True),
    ],
    ids=range(16),
)
def test_cards_are_duplicates_if_nine_tenths_of_their_words_are_equal(
    timed: TaskTools, first: str, second: str, same: bool
) -> None:
    for title, text in ((True, False), (False, True)):
        for at, said in enumerate((first, second)):
            named = f"{'title' if title else 'text'} {at}"
            add(timed, named, said if title else None, said if text else None, type="test" if title else "note")
    found = groups(timed)
    assert sorted(found) == ([("text 0", ["text 1"]), ("title 0", ["title 1"])] if same else [])


@holds("decisions §3 think_nominal_merge: type and normalized title+text agree, or words overlap by at least 0.9")
def test_title_and_text_count_together_and_the_similarity_is_shown(desk: TaskTools) -> None:
    add(desk, "a", words(*range(10)), words(*range(10, 20)))
    add(desk, "b", words(*range(12)), words(*range(12, 19)))
    [group] = desk.room("think_nominal_merge", dry_run=True)["groups"]
    assert (group["canonical"], group["merged"], group["similarity"]) == ("a", ["b"], 0.95)
    add(desk, "c", words(*range(20)))
    [group] = desk.room("think_nominal_merge", dry_run=True)["groups"]
    assert (group["merged"], group["similarity"]) == (["b", "c"], 0.95), "the least of the group"


@holds("decisions §3 think_nominal_merge: the oldest is canonical, others get status merged and an edge dedup")
def test_the_oldest_is_canonical_even_if_it_was_changed_last(desk: TaskTools) -> None:
    add(desk, "old", "The same")
    add(desk, "new", "The same")
    desk.room("think_set_status", ids="old", status="closed")
    assert groups(desk) == [("old", ["new"])]
    desk.room.branch("b")
    desk.room("think_set_status", ids="old", status="open", ref="b")
    add(desk, "mine", "The same", branch="b")
    assert groups(desk, ref="b") == [("old", ["new", "mine"])]
    assert groups(desk) == [("old", ["new"])]


@holds("shapes think_nominal_merge: candidate_ids, dry_run and a place")
def test_only_the_given_candidates_are_merged(desk: TaskTools) -> None:
    for one in ("a", "b", "c"):
        add(desk, one, "The same")
    assert groups(desk, candidate_ids=["b", "c"]) == [("b", ["c"])]
    assert groups(desk, candidate_ids="b") == []
    desk.room.misses("think_nominal_merge", candidate_ids=["a", "x"])
    error = desk.room.refuses("INVALID_REQUEST", "think_nominal_merge", candidate_ids=[])
    assert error.details == {"path": "candidate_ids"}
    desk.room("think_nominal_merge", candidate_ids=["c", "b"])
    assert {one: card["status"] for one, card in desk.room.nodes().items()} == {"a": "open", "b": "open", "c": "merged"}


@holds("shapes think_nominal_merge: candidate_ids, dry_run and a place")
def test_duplicates_are_searched_on_the_given_branch_and_document(desk: TaskTools) -> None:
    desk.task()
    for one in ("a", "b"):
        add(desk, one, "The same", target="TASK-001")
        add(desk, one, "The same", graph_doc="g", trace_doc="t")
    answer = desk.room("think_nominal_merge", target="TASK-001")
    assert (answer["branch"], answer["graph_doc"]) == ("task/TASK-001", "TASK-001-graph")
    assert len(answer["groups"]) == 1
    assert groups(desk, graph_doc="g") == [("a", ["b"])]
    assert groups(desk) == []
    desk.room.misses("think_nominal_merge", ref="typo")


@holds("shapes think_nominal_merge: candidate_ids, dry_run and a place")
def test_an_unknown_document_has_no_duplicates_to_merge(desk: TaskTools) -> None:
    desk.room("init")
    desk.room.misses("think_nominal_merge", graph_doc="never written", dry_run=True)
    desk.room.misses("think_nominal_merge", graph_doc="never written")
