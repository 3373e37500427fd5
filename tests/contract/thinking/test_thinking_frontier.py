"""The frontier: its ranking, links, statuses and pins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.reasoning.reasoning_tools import newest_first, node, state
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools


def add(desk: TaskTools, *ids: str, **where: Any) -> None:
    """Add cards whose type is the first letter of their id."""
    types = {"q": "question", "h": "hypothesis", "t": "test", "n": "note", "e": "evidence", "d": "decision"}
    for one in ids:
        desk.room("think_card", card={"id": one, "type": types[one[0]], "title": f"Title of {one}"}, **where)


def frontier(desk: TaskTools, **asked: Any) -> list[str]:
    return [one["id"] for one in desk.room("think_frontier", **asked)["candidates"]]


def candidate(desk: TaskTools, id: str) -> dict[str, Any]:
    [found] = [one for one in desk.room("think_frontier")["candidates"] if one["id"] == id]
    return dict(found)


@holds("shapes think_frontier: candidates with their fields, each with its reason")
def test_candidates_have_the_documented_fields_and_a_reason(desk: TaskTools) -> None:
    add(desk, "q1", "h1")
    desk.room("think_link", from_="q1", rel="blocks", to="h1")
    desk.room("think_pin", ids="h1")
    answer = desk.room("think_frontier")
    assert set(answer) == {"branch", "graph_doc", "candidates", "truncated"}
    for one in answer["candidates"]:
        assert set(one) == {"id", "type", "title", "status", "last_seq", "pinned", "blocked_by", "why"}
        assert one["why"].strip()
    cards = desk.room.nodes()
    assert candidate(desk, "h1") == {
        "id": "h1", "type": "hypothesis", "title": "Title of h1", "status": "open", "last_seq": cards["h1"]["last_seq"],
        "pinned": True, "blocked_by": ["q1"], "why": candidate(desk, "h1")["why"],
    }  # fmt: skip
    assert "pinned" in candidate(desk, "h1")["why"]
    assert "q1" in candidate(desk, "h1")["why"]
    assert candidate(desk, "q1")["pinned"] is False


@holds("decisions §3: pinned first, then unblocked, then type, then recency")
def test_open_questions_hypotheses_and_tests_are_ranked_by_type_and_then_by_recency(desk: TaskTools) -> None:
    add(desk, "t1", "q1", "h1", "n1", "e1", "d1", "t2", "q2", "h2")
    assert frontier(desk) == ["q2", "q1", "h2", "h1", "t2", "t1"]
    desk.room("think_set_status", ids="q1", status="checked")
    desk.room("think_set_status", ids="q1", status="open")
    assert frontier(desk) == ["q1", "q2", "h2", "h1", "t2", "t1"]


@holds("decisions §3: pinned first, then unblocked, then type, then recency")
def test_closed_cards_are_not_candidates(desk: TaskTools) -> None:
    add(desk, "q1", "q2", "h1")
    desk.room("think_set_status", ids=["q1", "h1"], status="closed")
    assert frontier(desk) == ["q2"]
    desk.room.apply(node("q3", "question", title="without a status"), node("q4", "question", status="Open"))
    assert frontier(desk) == ["q3", "q2"]
    assert candidate(desk, "q3")["status"] == "open"


@holds("decisions §3: pinned first, then unblocked, then type, then recency")
def test_blocked_cards_come_after_unblocked_ones(desk: TaskTools) -> None:
    add(desk, "q1", "q2", "h1", "h2", "t1")
    desk.room("think_link", from_="t1", rel="blocks", to="q2")
    desk.room("think_link", from_="q1", rel="blocks", to="h2")
    assert frontier(desk) == ["q1", "h1", "t1", "q2", "h2"]
    assert candidate(desk, "q2")["blocked_by"] == ["t1"]


@holds("shapes think: blocked means by a card that is still open")
def test_only_an_open_card_blocks(desk: TaskTools) -> None:
    add(desk, "q1", "q2", "n1")
    desk.room.apply(node("thing", "thing"))
    for blocker in ("n1", "thing"):
        desk.room("think_link", from_=blocker, rel="blocks", to="q2")
    desk.room("think_card", card={"id": "q3", "type": "question", "title": "T"}, blocks=["q2"])
    assert candidate(desk, "q2")["blocked_by"] == ["n1", "q3"]
    desk.room("think_set_status", ids=["n1", "q3"], status="answered")
    assert candidate(desk, "q2")["blocked_by"] == []
    assert frontier(desk) == ["q2", "q1"]
    desk.room("think_set_status", ids="n1", status="open")
    assert frontier(desk) == ["q1", "q2"]
    desk.room.apply({"op": "edge_delete", "from": "n1", "rel": "blocks", "to": "q2"})
    assert frontier(desk) == ["q2", "q1"]


@holds("decisions §3: pinned first, then unblocked, then type, then recency")
def test_pinned_cards_come_first_even_if_they_are_blocked(desk: TaskTools) -> None:
    add(desk, "q1", "t1", "t2", "h1")
    desk.room("think_link", from_="q1", rel="blocks", to="t1")
    desk.room("think_pin", ids=["t1", "t2"])
    assert frontier(desk) == ["t2", "t1", "q1", "h1"]
    desk.room("think_pin", ids="t2", pinned=False)
    assert frontier(desk) == ["t1", "q1", "h1", "t2"]


@holds("decisions §3: pinned first, then unblocked, then type, then recency")
def test_subgoals_are_ranked_as_questions(desk: TaskTools) -> None:
    add(desk, "q1", "h1")
    made = desk.room("think_subgoal_open", question_id="q1")["subgoal_id"]
    assert frontier(desk) == [made, "q1", "h1"]
    desk.room("think_subgoal_close", subgoal_id=made)
    assert frontier(desk) == ["q1", "h1"]


@holds("shapes think_next: the candidate or null")
def test_next_is_the_first_of_the_frontier_or_null(desk: TaskTools) -> None:
    desk.room("init")
    answer = desk.room("think_next")
    assert answer == {"branch": "main", "graph_doc": "graph", "candidate": None, "truncated": False}
    add(desk, "h1", "q1")
    assert desk.room("think_next")["candidate"] == desk.room("think_frontier")["candidates"][0]
    desk.room("think_pin", ids="h1")
    assert desk.room("think_next")["candidate"]["id"] == "h1"
    desk.room("think_set_status", ids=["h1", "q1"], status="closed")
    assert desk.room("think_next")["candidate"] is None


@holds("shapes think_frontier: candidates with their fields, each with its reason")
def test_the_frontier_shows_the_best_twenty_by_default(timed: TaskTools) -> None:
    kinds = {0: "question", 1: "hypothesis", 2: "test"}
    timed.room.apply(*(node(f"c{number}", kinds[number % 3], title="t") for number in range(90)))
    for number in range(0, 60, 3):
        timed.room("think_link", from_="c89", rel="blocks", to=f"c{number}")
    everything = frontier(timed, limit=200)
    assert len(everything) == 90
    assert everything[:10] == [f"c{number}" for number in range(87, 59, -3)]
    assert everything[-20:] == [f"c{number}" for number in range(57, -1, -3)]
    assert frontier(timed) == everything[:20]
    for limit in (1, 5, 10, 11, 45, 70, 71, 89):
        assert frontier(timed, limit=limit) == everything[:limit], limit
    timed.room.refuses("INVALID_REQUEST", "think_frontier", limit=0)


@holds("shapes think_link: an edge between cards")
def test_a_link_is_an_edge_between_existing_cards(desk: TaskTools) -> None:
    add(desk, "q1", "h1")
    answer = desk.room("think_link", from_="h1", rel="answers", to="q1", meta={"sure": 0.8})
    assert set(answer) == {"workspace", "branch", "graph_doc", "edge", "applied", "last_seq"}
    assert state(answer["edge"]) == {
        "from": "h1",
        "rel": "answers",
        "to": "q1",
        "meta": {"sure": 0.8},
        "deleted": False,
    }
    assert answer["edge"] == desk.room.edges()["h1", "answers", "q1"]
    assert answer["applied"] == {"nodes_upserted": 0, "nodes_deleted": 0, "edges_upserted": 1, "edges_deleted": 0}
    assert answer["last_seq"] == answer["edge"]["last_seq"]
    for ends in ({"from_": "x", "to": "q1"}, {"from_": "q1", "to": "x"}):
        desk.room.misses("think_link", **ends, rel="supports")
    for wrong in ({"rel": "a|b"}, {"rel": ""}, {"rel": "x" * 129}, {"meta": ["x"]}, {"to": "step:STEP-001"}):
        desk.room.refuses("INVALID_REQUEST", "think_link", **{"from_": "h1", "rel": "supports", "to": "q1", **wrong})


@holds("shapes think_set_status: updated and unchanged; an unknown card is NOT_FOUND")
def test_a_status_is_set_for_all_cards_or_none(desk: TaskTools) -> None:
    add(desk, "q1", "q2", "h1")
    before = desk.room.nodes()
    answer = desk.room("think_set_status", ids=["q1", "h1", "q1"], status=" closed ")
    assert set(answer) == {"workspace", "branch", "graph_doc", "status", "updated", "unchanged", "last_seq"}
    assert (answer["status"], answer["updated"], answer["unchanged"]) == ("closed", ["q1", "h1"], [])
    after = desk.room.nodes()
    for one in ("q1", "h1"):
        assert state(after[one]) == {**(state(before[one]) or {}), "status": "closed"}
    assert after["q2"] == before["q2"]
    assert answer["last_seq"] == max(one["last_seq"] for one in after.values())
    again = desk.room("think_set_status", ids=["q1", "q2"], status="closed")
    assert (again["updated"], again["unchanged"]) == (["q2"], ["q1"])
    same = desk.room("think_set_status", ids="q1", status="closed")
    assert (same["updated"], same["unchanged"]) == ([], ["q1"])
    assert "last_seq" not in same
    desk.room.misses("think_set_status", ids=["q1", "x"], status="open")
    wrongs: list[dict[str, Any]] = [{"status": " "}, {"status": "x" * 129}, {"ids": []}, {"ids": [5]}]
    for wrong in wrongs:
        desk.room.refuses("INVALID_REQUEST", "think_set_status", **{"ids": "q1", "status": "open", **wrong})


@holds("shapes think_set_status: updated and unchanged; an unknown card is NOT_FOUND")
def test_a_node_of_another_type_has_no_status_and_no_pin(desk: TaskTools) -> None:
    desk.room.apply(node("thing", "thing"))
    desk.room.misses("think_set_status", ids="thing", status="open")
    desk.room.misses("think_pin", ids="thing")


MISSING: list[tuple[str, dict[str, Any]]] = [
    ("think_set_status", {"ids": "x", "status": "open"}), ("think_pin", {"ids": "x"}),
    ("think_link", {"from_": "x", "rel": "r", "to": "x"}), ("think_subgoal_open", {"question_id": "x"}),
    ("think_subgoal_close", {"subgoal_id": "x"}), ("think_nominal_merge", {"candidate_ids": ["x"]}),
]  # fmt: skip
"""Calls that name an unknown card."""


@holds("shapes think_set_status: updated and unchanged; an unknown card is NOT_FOUND")
def test_an_unknown_card_is_not_found_and_the_recovery_succeeds(desk: TaskTools) -> None:
    desk.room("init")
    for tool, given in MISSING:
        desk.room.misses(tool, **given)


@holds("shapes think_set_status: updated and unchanged; an unknown card is NOT_FOUND")
def test_a_card_of_an_unknown_document_is_not_found_and_the_recovery_succeeds(desk: TaskTools) -> None:
    desk.room("init")
    for tool, given in MISSING:
        desk.room.misses(tool, **given, graph_doc="never written")


@holds("decisions §3: a first write bootstraps main; reads of an empty workspace are NOT_FOUND with a recovery")
def test_a_card_of_a_workspace_without_branches_is_not_found_and_the_recovery_succeeds(desk: TaskTools) -> None:
    for tool, given in MISSING:
        desk.another(f"Without {tool}").room.misses(tool, **given)


@holds("shapes think_pin: a pin is not part of the card's content")
def test_a_pin_can_be_set_and_removed_without_changing_the_card(desk: TaskTools) -> None:
    add(desk, "q1", "q2")
    before = desk.room.nodes()
    answer = desk.room("think_pin", ids=["q1", "q2"])
    assert answer == {
        "workspace": "Shop", "branch": "main", "graph_doc": "graph", "pinned": True, "updated": ["q1", "q2"],
        "unchanged": [],
    }  # fmt: skip
    assert desk.room("think_pin", ids="q1") == {**answer, "updated": [], "unchanged": ["q1"]}
    assert desk.room.nodes() == before
    assert desk.room("think_card", card={"id": "q1", "type": "question", "title": "Title of q1"})["inserted"] is False
    assert desk.room("think_pin", ids=["q1", "q2"], pinned=False)["updated"] == ["q1", "q2"]
    assert desk.room("think_pin", ids="q1", pinned=False)["unchanged"] == ["q1"]
    assert desk.room("think_pins")["pins"] == []
    desk.room.misses("think_pin", ids=["q1", "x"])
    assert desk.room("think_pins")["pins"] == []
    desk.room.refuses("INVALID_REQUEST", "think_pin", ids=[])


@holds("shapes think_pins: pages of pinned cards")
def test_pins_are_listed_in_pages_latest_change_first(desk: TaskTools) -> None:
    add(desk, *(f"n{number}" for number in range(7)), "q1")
    desk.room("think_pin", ids=[f"n{number}" for number in (3, 1, 5, 0, 6)])
    answer = desk.room("think_pins", limit=2)
    assert set(answer) == {"branch", "graph_doc", "pins", "pagination", "truncated"}
    assert answer["pagination"]["has_more"] is True
    assert answer["pins"] == [desk.room.nodes()[one] for one in ("n6", "n5")]
    found = newest_first(desk.room, "think_pins", "pins", limit=2)
    assert [card["id"] for card in found] == ["n6", "n5", "n3", "n1", "n0"]


@holds("shapes think_pins: pages of pinned cards")
def test_any_number_of_pins_can_be_listed(timed: TaskTools) -> None:
    made = [f"c{number}" for number in range(1200)]
    timed.room.apply(*(node(one, "note") for one in made))
    timed.room("think_pin", ids=made[:600])
    timed.room("think_pin", ids=made[600:])
    found = newest_first(timed.room, "think_pins", "pins", limit=200)
    assert [card["id"] for card in found] == made[::-1]


@holds("shapes think_pin: a pin is not part of the card's content")
def test_pins_belong_to_their_branch_and_its_snapshot(desk: TaskTools) -> None:
    add(desk, "q1", "q2")
    desk.room("think_pin", ids="q1")
    desk.room.branch("b")
    desk.room("think_pin", ids="q2")
    desk.room("think_pin", ids="q1", pinned=False)

    def pinned(**where: Any) -> list[str]:
        return [card["id"] for card in desk.room("think_pins", **where)["pins"]]

    assert (pinned(), pinned(ref="b")) == (["q2"], ["q1"])
    desk.room("think_pin", ids="q1", pinned=False, ref="b")
    assert (pinned(), pinned(ref="b")) == (["q2"], [])
    desk.room("think_card", card={"id": "q1", "title": "same id"}, graph_doc="g", trace_doc="t")
    desk.room("think_pin", ids="q1", graph_doc="g")
    assert (pinned(), pinned(graph_doc="g")) == (["q2"], ["q1"])
    desk.room("branch_rename", old="b", new="c")
    desk.room("think_pin", ids="q1", ref="c")
    assert pinned(ref="c") == ["q1"]


@holds("4 think convenience: with a target, branch and documents are those of its reasoning_ref")
def test_cards_of_a_target_are_linked_pinned_and_ranked_in_its_documents(desk: TaskTools) -> None:
    desk.task("A", "a")
    add(desk, "q1", "h1", target="TASK-001")
    here = {"target": "TASK-001"}
    for tool, given in (
        ("think_link", {"from_": "q1", "rel": "blocks", "to": "h1"}), ("think_pin", {"ids": "h1"}),
        ("think_set_status", {"ids": "q1", "status": "open"}), ("think_next", {}), ("think_pins", {}),
    ):  # fmt: skip
        answer = desk.room(tool, **given, **here)
        assert (answer["branch"], answer["graph_doc"]) == ("task/TASK-001", "TASK-001-graph"), tool
    assert frontier(desk, **here) == ["h1", "q1"]
    assert frontier(desk) == []


@holds("decisions §3: a card that a decision settles is no longer open")
def test_a_card_settled_by_a_decision_is_not_open(desk: TaskTools) -> None:
    add(desk, "q1", "q2", "h1")
    desk.room("think_pin", ids="q1")
    desk.room("think_add_decision", card={"id": "d1", "title": "rotate them"}, supports=["q1"])
    desk.room("think_add_evidence", card={"id": "e1", "title": "seen"}, supports=["q2"])
    assert frontier(desk) == ["q2", "h1"]
    assert desk.room("think_next")["candidate"]["id"] == "q2"
    assert [one["id"] for one in desk.room("think_pack")["candidates"]] == ["q2", "h1"]
    assert [one["id"] for one in desk.room("think_watch")["candidates"]] == ["q2", "h1"]
    desk.room("think_link", from_="d1", rel="rejects", to="h1")
    assert frontier(desk) == ["q2"]


@holds("decisions §3: a card that a decision settles is no longer open")
def test_a_card_settled_by_a_decision_blocks_nothing(desk: TaskTools) -> None:
    add(desk, "q1", "h1")
    desk.room("think_link", from_="q1", rel="blocks", to="h1")
    assert candidate(desk, "h1")["blocked_by"] == ["q1"]
    desk.room("think_add_decision", card={"id": "d1", "title": "so it is"}, supports=["q1"])
    assert candidate(desk, "h1")["blocked_by"] == []


@holds("decisions §3: a card that a decision settles is no longer open")
def test_a_superseded_decision_settles_nothing(desk: TaskTools) -> None:
    add(desk, "q1")
    desk.room("think_add_decision", card={"id": "d1", "title": "so it is"}, supports=["q1"])
    assert frontier(desk) == []
    desk.room("think_set_status", ids="d1", status="superseded")
    assert frontier(desk) == ["q1"]
    desk.room("think_set_status", ids="d1", status="accepted")
    assert frontier(desk) == []
    desk.room.apply({"op": "node_delete", "id": "d1"})
    assert frontier(desk) == ["q1"]


@holds("decisions §3: a card that a decision settles is no longer open")
def test_a_decision_on_a_branch_settles_cards_there_until_it_is_merged(desk: TaskTools) -> None:
    add(desk, "q1")
    desk.room("branch_create", name="try")
    desk.room("think_add_decision", card={"id": "d1", "title": "so it is"}, supports=["q1"], branch="try")
    assert frontier(desk, ref="try") == []
    assert frontier(desk) == ["q1"]
    desk.room("graph_merge", **{"from": "try", "into": "main"})
    assert frontier(desk) == []


@holds("decisions §3: a card that a decision settles is no longer open")
def test_a_settled_question_is_not_listed_as_open_in_a_hand_over(desk: TaskTools) -> None:
    desk("create", kind="task", title="Rotate")
    for one in ("q1", "q2"):
        desk.room("think_add_question", target="TASK-001", card={"id": one, "title": f"Title of {one}"})
    desk.room("think_add_decision", target="TASK-001", card={"id": "d1", "title": "so it is"}, supports=["q1"])
    key = desk("handoff", target="TASK-001", as_capsule=True)["capsule"]["fetch_key"]
    text = desk.door("capsule_fetch", workspace=key["moss_workspace"], name=key["moss_capsule"])["capsule_text"]
    questions = text.partition("## Open questions")[2]
    assert "Title of q2" in questions
    assert "Title of q1" not in questions
