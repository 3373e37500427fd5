"""What the documents promise of subgoals and playbooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contract.reasoning.room import node, state

if TYPE_CHECKING:
    from contract.tasks.desk import Desk

PLAYBOOKS = ["default", "debug", "bisect", "experiment", "criteria_matrix", "contradiction"]


def ask(desk: Desk, id: str = "q1") -> None:
    desk.room("think_card", card={"id": id, "type": "question", "title": "Who clears the cache?"})


def test_a_subgoal_is_a_question_below_a_question_with_a_trace_and_a_graph_of_its_own(desk: Desk) -> None:
    ask(desk)
    answer = desk.room("think_subgoal_open", question_id="q1", title="Is it the worker?", text="Look at its log.")
    assert set(answer) == {
        "branch", "graph_doc", "subgoal_id", "question_id", "child_trace_doc", "child_graph_doc", "inserted",
        "last_seq", "workspace",
    }  # fmt: skip
    assert (answer["branch"], answer["graph_doc"], answer["question_id"]) == ("main", "graph", "q1")
    assert answer["inserted"] is True
    card = desk.room.nodes()[answer["subgoal_id"]]
    assert (card["type"], card["tags"], card["status"]) == ("question", ["subgoal"], "open")
    assert (card["title"], card["text"]) == ("Is it the worker?", "Look at its log.")
    assert ("q1", "subgoal", answer["subgoal_id"]) in desk.room.edges()
    assert len(desk.room.entries(doc="trace")) == 2
    assert desk.room("trace_hydrate", doc=answer["child_trace_doc"])["entries"] == []
    assert desk.room("think_query", graph_doc=answer["child_graph_doc"])["cards"] == []
    assert desk.room("trace_validate", doc=answer["child_trace_doc"])["ok"] is True
    docs = {row["doc"] for row in desk.room("docs_list")["docs"]}
    assert {answer["child_trace_doc"], answer["child_graph_doc"]} <= docs


def test_work_on_a_subgoal_goes_to_its_own_documents(desk: Desk) -> None:
    ask(desk)
    opened = desk.room("think_subgoal_open", question_id="q1")
    where = {"trace_doc": opened["child_trace_doc"], "graph_doc": opened["child_graph_doc"]}
    desk.room("think_add_hypothesis", card={"id": "h1", "title": "It is the worker"}, **where)
    desk.room("trace_step", step="Read the log", doc=opened["child_trace_doc"])
    assert len(desk.room.entries(doc=opened["child_trace_doc"])) == 2
    assert list(desk.room.nodes(doc=opened["child_graph_doc"])) == ["h1"]
    assert "h1" not in desk.room.nodes()
    status = desk.room("status")["last_doc_entry"]
    assert status["doc"] == opened["child_trace_doc"]


def test_every_subgoal_is_one_of_its_own_and_may_have_subgoals(desk: Desk) -> None:
    ask(desk)
    first = desk.room("think_subgoal_open", question_id="q1")
    second = desk.room("think_subgoal_open", question_id="q1")
    below = desk.room("think_subgoal_open", question_id=first["subgoal_id"])
    made = [first, second, below]
    for name in ("subgoal_id", "child_trace_doc", "child_graph_doc"):
        assert len({one[name] for one in made}) == 3
    edges = desk.room.edges()
    assert (first["subgoal_id"], "subgoal", below["subgoal_id"]) in edges


def test_the_longest_question_has_subgoals_too(desk: Desk) -> None:
    desk.room("think_card", card={"id": "q1", "type": "question", "title": "Q" * 10_000})
    opened = desk.room("think_subgoal_open", question_id="q1")
    title = desk.room.nodes()[opened["subgoal_id"]]["title"]
    assert title == "Subgoal of " + "Q" * 9_989


def test_only_a_question_has_subgoals(desk: Desk) -> None:
    ask(desk)
    desk.room("think_card", card={"id": "h1", "type": "hypothesis", "title": "H"})
    desk.room.apply(node("thing", "thing"))
    for one in ("h1", "thing", "nowhere"):
        desk.room.misses("think_subgoal_open", question_id=one)
    for one in ("q1", "h1", "nowhere"):
        desk.room.misses("think_subgoal_close", subgoal_id=one)


def test_closing_a_subgoal_leaves_its_question_open(desk: Desk) -> None:
    ask(desk)
    opened = desk.room("think_subgoal_open", question_id="q1", title="Is it the worker?")
    before = desk.room.nodes()
    answer = desk.room("think_subgoal_close", subgoal_id=opened["subgoal_id"])
    assert set(answer) == {"workspace", "branch", "graph_doc", "subgoal_id", "status", "applied"}
    assert (answer["status"], answer["subgoal_id"]) == ("closed", opened["subgoal_id"])
    assert answer["applied"] == {"nodes_upserted": 1, "nodes_deleted": 0, "edges_upserted": 0, "edges_deleted": 0}
    after = desk.room.nodes()
    assert state(after[opened["subgoal_id"]]) == {**(state(before[opened["subgoal_id"]]) or {}), "status": "closed"}
    assert after["q1"] == before["q1"]
    again = desk.room("think_subgoal_close", subgoal_id=opened["subgoal_id"])
    assert set(again["applied"].values()) == {0}
    assert desk.room.nodes() == after


def test_a_closed_subgoal_may_return_a_card_in_any_form(desk: Desk) -> None:
    ask(desk)
    for card in (
        {"type": "evidence", "title": "It is"},
        '{"type": "decision", "text": "It is"}',
        "title: It is",
        "It is",
    ):
        opened = desk.room("think_subgoal_open", question_id="q1")["subgoal_id"]
        answer = desk.room("think_subgoal_close", subgoal_id=opened, return_card=card)
        assert answer["applied"] == {"nodes_upserted": 2, "nodes_deleted": 0, "edges_upserted": 1, "edges_deleted": 0}
        returned = desk.room.nodes()[answer["return_card_id"]]
        assert "It is" in (returned.get("title"), returned.get("text"))
        assert any({opened, answer["return_card_id"]} == {key[0], key[2]} for key in desk.room.edges())
    desk.room.refuses("INVALID_REQUEST", "think_subgoal_close", subgoal_id=opened, return_card={"type": "note"})


def test_returning_the_same_card_again_changes_nothing(desk: Desk) -> None:
    ask(desk)
    opened = desk.room("think_subgoal_open", question_id="q1")["subgoal_id"]
    card = {"id": "r1", "type": "evidence", "title": "It is"}
    desk.room("think_subgoal_close", subgoal_id=opened, return_card=card)
    before = desk.room.nodes(), desk.room.edges(), desk.room.entries(doc="trace")
    answer = desk.room("think_subgoal_close", subgoal_id=opened, return_card=card)
    assert answer["return_card_id"] == "r1"
    assert set(answer["applied"].values()) == {0}
    assert (desk.room.nodes(), desk.room.edges(), desk.room.entries(doc="trace")) == before
    desk.room.refuses("CONFLICT", "think_subgoal_close", subgoal_id=opened, return_card={**card, "title": "It is not"})


def test_a_subgoal_that_cannot_return_its_card_stays_open(desk: Desk) -> None:
    ask(desk)
    opened = desk.room("think_subgoal_open", question_id="q1")["subgoal_id"]
    desk.room.refuses("CONFLICT", "think_subgoal_close", subgoal_id=opened, return_card={"id": "q1", "title": "other"})
    assert desk.room.nodes()[opened]["status"] == "open"


def test_the_subgoals_of_a_target_live_on_its_branch(desk: Desk) -> None:
    desk.task()
    desk.room("think_card", target="TASK-001", card={"id": "q1", "type": "question", "title": "T"})
    opened = desk.room("think_subgoal_open", question_id="q1", target="TASK-001")
    assert (opened["branch"], opened["graph_doc"]) == ("task/TASK-001", "TASK-001-graph")
    assert desk.room("trace_hydrate", ref="task/TASK-001", doc=opened["child_trace_doc"])["entries"] == []
    closed = desk.room("think_subgoal_close", subgoal_id=opened["subgoal_id"], target="TASK-001", return_card="done")
    assert closed["branch"] == "task/TASK-001"
    assert [entry["kind"] for entry in desk.trace("TASK-001")] == ["event", "note", "note", "note"]


def test_a_playbook_is_a_goal_and_steps_and_always_the_same(desk: Desk) -> None:
    goals = set()
    for name in PLAYBOOKS:
        answer = desk.room("think_playbook", name=name)
        assert set(answer) == {"name", "template", "truncated"}
        assert (answer["name"], answer["truncated"]) == (name, False)
        assert set(answer["template"]) == {"goal", "steps"}
        assert isinstance(answer["template"]["goal"], str)
        assert answer["template"]["steps"]
        goals.add(answer["template"]["goal"])
        assert desk.another("Elsewhere").room("think_playbook", name=name) == answer
    assert len(goals) == len(PLAYBOOKS)


def test_an_unknown_playbook_is_not_found_with_those_there_are(desk: Desk) -> None:
    for name in ("debugging", "Debug", ""):
        error = desk.room.misses("think_playbook", name=name)
        assert all(known in error.message for known in PLAYBOOKS)
