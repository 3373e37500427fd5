"""Plans and tasks in the graph: `task:` and `step:` nodes that match their tasks."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import StoreDoor, outcome
from contract.reasoning.reasoning_tools import edge, gone, node, state
from contract.tasks.task_tools import BOTH, TaskTools
from support.promises import holds

if TYPE_CHECKING:
    from moss_memory.store import Store


def statuses(desk: TaskTools, target: str) -> dict[str, str]:
    return {one: found["status"] for one, found in desk.nodes(target).items()}


@holds("decisions §4: each mutation writes the task: and step: graph projection")
def test_a_task_and_its_steps_are_nodes_of_its_graph(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    desk("decompose", target="TASK-001", parent="s:1", steps=[{"title": "b.a"}])
    nodes = {one: state(found) for one, found in desk.nodes("TASK-001").items()}
    step: dict[str, Any] = {"type": "step", "status": "open", "tags": [], "deleted": False}
    assert nodes == {
        "task:TASK-001": {
            "id": "task:TASK-001", "type": "task", "title": "A", "status": "TODO", "tags": [], "deleted": False,
        },
        "step:STEP-001": {"id": "step:STEP-001", "title": "a", "meta": {"path": "s:0"}, **step},
        "step:STEP-002": {"id": "step:STEP-002", "title": "b", "meta": {"path": "s:1"}, **step},
        "step:STEP-003": {"id": "step:STEP-003", "title": "b.a", "meta": {"path": "s:1.s:0"}, **step},
    }  # fmt: skip
    assert desk.edges("TASK-001") == {
        ("task:TASK-001", "contains", "step:STEP-001"), ("task:TASK-001", "contains", "step:STEP-002"),
        ("step:STEP-002", "contains", "step:STEP-003"),
    }  # fmt: skip


@holds("decisions §4: each mutation writes the task: and step: graph projection")
def test_the_graph_reflects_every_change(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    desk("edit", target="TASK-001", title="New")
    assert desk.nodes("TASK-001")["task:TASK-001"]["title"] == "New"
    desk("define", target="TASK-001", path="s:0", title="new")
    assert desk.nodes("TASK-001")["step:STEP-001"]["title"] == "new"
    desk("block", target="TASK-001", path="s:0")
    assert statuses(desk, "TASK-001")["step:STEP-001"] == "blocked"
    desk("block", target="TASK-001", path="s:0", blocked=False)
    assert statuses(desk, "TASK-001")["step:STEP-001"] == "open"
    desk.close("TASK-001", "s:0", "s:1")
    desk("complete", target="TASK-001")
    assert set(statuses(desk, "TASK-001").values()) == {"done", "DONE"}
    desk("reopen", target="TASK-001", path="s:1")
    assert statuses(desk, "TASK-001") == {"task:TASK-001": "ACTIVE", "step:STEP-001": "done", "step:STEP-002": "open"}
    desk("delete", target="TASK-001", path="s:0")
    assert set(desk.nodes("TASK-001")) == {"task:TASK-001", "step:STEP-002"}
    assert desk.edges("TASK-001") == {("task:TASK-001", "contains", "step:STEP-002")}


@holds("decisions §4: each mutation writes the task: and step: graph projection")
def test_a_plan_is_linked_to_its_tasks_and_a_task_to_its_dependencies(desk: TaskTools) -> None:
    desk.plan("P")
    desk.task("A", parent="PLAN-001")
    desk.task("B")
    desk("edit", target="TASK-001", depends_on=["TASK-002"])
    assert desk.edges("PLAN-001") == {("task:PLAN-001", "contains", "task:TASK-001")}
    assert desk.nodes("PLAN-001")["task:PLAN-001"]["type"] == "plan"
    assert desk.edges("TASK-001") == {("task:TASK-001", "depends_on", "task:TASK-002")}
    desk("complete", target="TASK-002")
    desk("complete", target="TASK-001", status="ACTIVE")
    assert statuses(desk, "TASK-001") == {"task:TASK-001": "ACTIVE", "task:TASK-002": "DONE"}
    assert statuses(desk, "PLAN-001") == {"task:PLAN-001": "TODO", "task:TASK-001": "ACTIVE"}
    desk("edit", target="TASK-001", depends_on=[])
    assert set(desk.nodes("TASK-001")) == {"task:TASK-001"}
    assert desk.edges("TASK-001") == set()


@holds("decisions §4: each mutation writes the task: and step: graph projection")
def test_only_changed_nodes_get_a_new_version(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    before = desk.nodes("TASK-001")
    desk("block", target="TASK-001", path="s:1")
    after = desk.nodes("TASK-001")
    assert [one for one in after if after[one]["last_seq"] != before[one]["last_seq"]] == ["step:STEP-002"]
    for tool, arguments in (
        ("note", {"note": "n"}), ("evidence", {"links": ["l"]}), ("edit", {"priority": "high"}),
        ("verify", {"path": "s:0", "checkpoints": BOTH}), ("define", {"path": "s:0", "tests": ["t"]}),
    ):  # fmt: skip
        desk(tool, target="TASK-001", **arguments)
        assert desk.nodes("TASK-001") == after, tool


@holds("shapes graph: task: and step: ids are refused from outside")
def test_external_writes_to_ids_of_tasks_and_steps_are_refused(desk: TaskTools) -> None:
    desk.task("A", "a")
    here = {"target": "TASK-001"}
    desk.room.apply(node("mine"), **here)
    for ops in (
        [node("task:TASK-001", "task")], [node("step:STEP-001", "step")], [node("task:anything")],
        [gone("task:TASK-001")],
        [gone("step:STEP-001")], [edge("mine", "about", "task:TASK-001")], [edge("step:STEP-001", "r", "mine")],
        [gone("task:TASK-001", "contains", "step:STEP-001")],
    ):  # fmt: skip
        desk.room.refuses("INVALID_REQUEST", "graph_apply", ops=ops, **here)
    for card in ({"id": "task:x", "title": "t"}, {"card_id": "step:x", "title": "t"}):
        desk.room.refuses("INVALID_REQUEST", "think_card", card=card, **here)
    for end in ("supports", "blocks"):
        desk.room.refuses("INVALID_REQUEST", "think_card", card="t", **{end: ["task:TASK-001"]}, **here)
    desk.room.refuses("INVALID_REQUEST", "think_link", from_="mine", rel="about", to="task:TASK-001", **here)


@holds("decisions §4: each mutation writes the task: and step: graph projection")
def test_external_nodes_and_edges_survive_changes_of_tasks(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk.room.apply(
        node("mine", "note", title="kept"), node("other"), edge("mine", "about", "other"), target="TASK-001"
    )
    desk("edit", target="TASK-001", title="B")
    desk("delete", target="TASK-001", path="s:0")
    assert set(desk.nodes("TASK-001")) == {"task:TASK-001", "mine", "other"}
    desk("delete", target="TASK-001")
    assert set(desk.nodes("TASK-001")) == {"mine", "other"}
    assert desk.edges("TASK-001") == {("mine", "about", "other")}


class RandomWork:
    """Random operations on a few plans and tasks, whose graphs must always match the radar."""

    def __init__(self, store: Store, seed: int) -> None:
        self.desk = TaskTools(StoreDoor(store))
        self.dice = random.Random(seed)  # noqa: S311
        self.store = store

    def pick(self, kind: str | None = None) -> str:
        return self.dice.choice([*self.desk.listed(kind=kind), "TASK-099"])

    def path(self, target: str) -> str:
        found = outcome(self.store, "tasks_radar", {"workspace": "Shop", "target": target})
        return self.dice.choice([*(s["path"] for s in found["steps"]), "s:0"]) if isinstance(found, dict) else "s:0"

    def move(self) -> None:
        tool = self.dice.choice(
            ["create", "create", "edit", "edit", "decompose", "decompose", "define", "done", "done", "reopen", "block",
             "complete", "delete"]
        )  # fmt: skip
        target = self.pick()
        path = self.path(target)
        moves: dict[str, dict[str, Any]] = {
            "create": {
                "kind": self.dice.choice(["plan", "task", "task"]), "title": "new", "steps": [{"title": "s"}],
                "parent": self.dice.choice([None, self.pick("plan")]),
            },
            "edit": {"target": target, "title": f"t{self.dice.random()}", "depends_on": [self.pick(), self.pick()]},
            "decompose": {
                "target": target, "steps": [{"title": "x"}] * 2, "parent": self.dice.choice([None, path]),
            },
            "define": {"target": target, "path": path, "title": f"t{self.dice.random()}"},
            "done": {"target": target, "path": path, "checkpoints": BOTH},
            "reopen": {"target": target, "path": self.dice.choice([None, path])},
            "block": {"target": target, "path": path, "blocked": self.dice.random() < 0.3},
            "complete": {"target": target, "status": self.dice.choice(["TODO", "ACTIVE", "DONE"])},
            "delete": {"target": target, "path": self.dice.choice([None, path, path])},
        }  # fmt: skip
        outcome(self.store, f"tasks_{tool}", {"workspace": "Shop", **moves[tool]})

    def check(self) -> None:
        desk = self.desk
        everything = {item["id"]: item for item in desk("list", limit=200)["items"]}
        for target, item in everything.items():
            radar = desk.radar(target)
            nodes, edges = self.expected(target, item, radar, everything)
            found = {key: (one["type"], one["title"], one["status"]) for key, one in desk.nodes(target).items()}
            assert found == nodes, target
            assert desk.edges(target) == edges, target
            assert desk.room("graph_validate", target=target)["ok"] is True
            self.check_order(radar, everything)
        traced = [entry["source_event_id"] for target in everything for entry in desk.trace(target)]
        told = [event["event_id"] for event in desk.events() if event["target"] in everything]
        assert sorted(traced) == sorted(told)

    def expected(self, target: str, item: Any, radar: Any, everything: Any) -> tuple[Any, Any]:
        """Return the expected nodes and edges of the projection."""
        me = f"task:{target}"
        nodes = {me: (item["kind"], item["title"], item["status"])}
        edges = set()
        ids = {step["path"]: step["step_id"] for step in radar["steps"]}
        for step in radar["steps"]:
            status = "done" if step["done"] else "blocked" if step["blocked"] else "open"
            nodes[f"step:{step['step_id']}"] = ("step", step["title"], status)
            above = step["path"].rpartition(".")[0]
            edges.add((f"step:{ids[above]}" if above else me, "contains", f"step:{step['step_id']}"))
        children = [one["id"] for one in everything.values() if one.get("parent") == target]
        needed = radar["target"].get("depends_on", [])
        for other in [*children, *needed]:
            one = everything[other]
            nodes[f"task:{other}"] = (one["kind"], one["title"], one["status"])
        edges |= {(me, "contains", f"task:{other}") for other in children}
        edges |= {(me, "depends_on", f"task:{other}") for other in needed}
        return nodes, edges

    def check_order(self, radar: Any, everything: Any) -> None:
        """Assert that nothing is closed while something below it is open."""
        open_paths = [step["path"] for step in radar["steps"] if not step["done"]]
        for step in radar["steps"]:
            assert not (step["done"] and any(path.startswith(f"{step['path']}.") for path in open_paths))
            assert not (step["done"] and step["blocked"])
        if radar["target"]["status"] == "DONE":
            assert open_paths == []
            mine = [one for one in everything.values() if one.get("parent") == radar["target"]["id"]]
            assert all(one["status"] == "DONE" for one in mine)


@holds("decisions §4: each mutation writes the task: and step: graph projection")
@pytest.mark.parametrize("seed", range(4))
def test_after_random_operations_the_graph_matches_the_radar(store: Store, seed: int) -> None:
    life = RandomWork(store, seed)
    for _ in range(6):
        for _ in range(20):
            life.move()
        life.check()
