"""Subgoals and playbooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contract.reasoning.reasoning_tools import node, state
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools

PLAYBOOKS = ["default", "debug", "bisect", "experiment", "criteria_matrix", "contradiction"]


def ask(desk: TaskTools, id: str = "q1") -> None:
    desk.room("think_card", card={"id": id, "type": "question", "title": "Who clears the cache?"})


@holds("shapes think_subgoal_open: a question tagged subgoal below a question, with documents of its own")
def test_a_subgoal_is_a_question_with_a_parent_and_its_own_trace_and_graph(desk: TaskTools) -> None:
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


@holds("shapes think_subgoal_open: a question tagged subgoal below a question, with documents of its own")
def test_work_on_a_subgoal_is_written_to_its_own_documents(desk: TaskTools) -> None:
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


@holds("shapes think_subgoal_open: a question tagged subgoal below a question, with documents of its own")
def test_subgoals_are_distinct_and_can_be_nested(desk: TaskTools) -> None:
    ask(desk)
    first = desk.room("think_subgoal_open", question_id="q1")
    second = desk.room("think_subgoal_open", question_id="q1")
    below = desk.room("think_subgoal_open", question_id=first["subgoal_id"])
    made = [first, second, below]
    for name in ("subgoal_id", "child_trace_doc", "child_graph_doc"):
        assert len({one[name] for one in made}) == 3
    edges = desk.room.edges()
    assert (first["subgoal_id"], "subgoal", below["subgoal_id"]) in edges


@holds("shapes think_subgoal_open: a question tagged subgoal below a question, with documents of its own")
def test_a_question_with_the_longest_title_can_have_subgoals(desk: TaskTools) -> None:
    desk.room("think_card", card={"id": "q1", "type": "question", "title": "Q" * 10_000})
    opened = desk.room("think_subgoal_open", question_id="q1")
    title = desk.room.nodes()[opened["subgoal_id"]]["title"]
    assert title == "Subgoal of " + "Q" * 9_989


@holds("shapes think_subgoal_open: a question tagged subgoal below a question, with documents of its own")
def test_only_a_question_can_have_subgoals(desk: TaskTools) -> None:
    ask(desk)
    desk.room("think_card", card={"id": "h1", "type": "hypothesis", "title": "H"})
    desk.room.apply(node("thing", "thing"))
    for one in ("h1", "thing", "nowhere"):
        desk.room.misses("think_subgoal_open", question_id=one)
    for one in ("q1", "h1", "nowhere"):
        desk.room.misses("think_subgoal_close", subgoal_id=one)


@holds("shapes think_subgoal_close: closed, with a return card; the parent stays open")
def test_closing_a_subgoal_leaves_its_question_open(desk: TaskTools) -> None:
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


@holds("shapes think_subgoal_close: closed, with a return card; the parent stays open")
def test_a_closed_subgoal_can_return_a_card_in_any_form(desk: TaskTools) -> None:
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


@holds("shapes think_subgoal_close: closed, with a return card; the parent stays open")
def test_returning_the_same_card_again_changes_nothing(desk: TaskTools) -> None:
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


@holds("shapes think_subgoal_close: closed, with a return card; the parent stays open")
def test_a_subgoal_stays_open_if_its_card_cannot_be_returned(desk: TaskTools) -> None:
    ask(desk)
    opened = desk.room("think_subgoal_open", question_id="q1")["subgoal_id"]
    desk.room.refuses("CONFLICT", "think_subgoal_close", subgoal_id=opened, return_card={"id": "q1", "title": "other"})
    assert desk.room.nodes()[opened]["status"] == "open"


@holds("shapes think_subgoal_open: a question tagged subgoal below a question, with documents of its own")
def test_the_subgoals_of_a_target_are_on_its_branch(desk: TaskTools) -> None:
    desk.task()
    desk.room("think_card", target="TASK-001", card={"id": "q1", "type": "question", "title": "T"})
    opened = desk.room("think_subgoal_open", question_id="q1", target="TASK-001")
    assert (opened["branch"], opened["graph_doc"]) == ("task/TASK-001", "TASK-001-graph")
    assert desk.room("trace_hydrate", ref="task/TASK-001", doc=opened["child_trace_doc"])["entries"] == []
    closed = desk.room("think_subgoal_close", subgoal_id=opened["subgoal_id"], target="TASK-001", return_card="done")
    assert closed["branch"] == "task/TASK-001"
    assert [entry["kind"] for entry in desk.trace("TASK-001")] == ["event", "note", "note", "note"]


@holds("decisions §3: six playbooks, always the same; an unknown name is NOT_FOUND listing them")
def test_a_playbook_is_a_goal_with_steps_and_always_the_same(desk: TaskTools) -> None:
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


@holds("decisions §3: six playbooks, always the same; an unknown name is NOT_FOUND listing them")
def test_an_unknown_playbook_is_not_found_and_the_existing_ones_are_listed(desk: TaskTools) -> None:
    for name in ("debugging", "Debug", ""):
        error = desk.room.misses("think_playbook", name=name)
        assert all(known in error.message for known in PLAYBOOKS)
