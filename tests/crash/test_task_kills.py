"""Writers of tasks and cards are killed during a write: acknowledged writes are stored and consistent."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import check_artifacts
from property.task_model import RefusedCallError, Step, TaskModel, WorkspaceState, check_consistency, home_of
from support.killing import kill_in_the_middle, some_of, writer_with
from support.store_truth import open_at
from support.thorough import first_of

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.store import Store

KILLS = 30
BATCHES = 3
STEPS = 60
CONFIRMED = {"criteria": True, "tests": True}
WORK = writer_with("tools.task.task_tools", "tools.task.step_tools", "tools.reasoning.cards.card_create")
State = dict[str, Any]
"""The state of a workspace without the ids and times that the store assigns."""


class Plan:
    """A seeded list of task mutations and cards in one workspace, none of which is refused."""

    def __init__(self, worker: int) -> None:
        self.workspace = f"worker {worker}"
        self._random = random.Random(worker)  # noqa: S311
        self._model = TaskModel(0)
        self.steps: list[tuple[str, dict[str, Any]]] = []
        self._change("create", kind="plan", title="the plan")
        self._change("create", kind="task", title="the task", parent="PLAN-001", steps=[{"title": "a step"}])
        deeds = [self._create, self._create, self._edit, self._divide, self._work, self._work, self._work, self._finish]
        deeds += [self._delete, self._think, self._think]
        while len(self.steps) < STEPS:
            self._random.choice(deeds)(len(self.steps))

    def _change(self, tool: str, **arguments: Any) -> None:
        """Add a call that the model does not refuse."""
        sent = {"workspace": self.workspace, **arguments}
        if not isinstance(self._model.call(tool, sent), RefusedCallError):
            self.steps.append((f"tasks_{tool}", sent))

    def _target(self) -> str:
        return self._random.choice(list(self._model.space(self.workspace).tasks) or ["PLAN-001"])

    def _parts(self, number: int) -> list[dict[str, Any]]:
        return [{"title": f"step {number}.{part}"} for part in range(self._random.choice([1, 2, 40]))]

    def _create(self, number: int) -> None:
        parent = {"parent": self._target()} if self._random.random() < 0.7 else {}
        kind = "task" if parent else self._random.choice(["plan", "task"])
        self._change("create", kind=kind, title=f"title {number}", steps=self._parts(number), **parent)

    def _edit(self, number: int) -> None:
        needed = [self._target() for _ in range(self._random.randrange(4))]
        self._change("edit", target=self._target(), title=f"title {number}", depends_on=needed)

    def _divide(self, number: int) -> None:
        target = self._target()
        above = self._step(target) if self._random.random() < 0.5 else None
        parent = {"parent": above} if above else {}
        self._change("decompose", target=target, steps=self._parts(number), **parent)

    def _step(self, target: str) -> str | None:
        tasks = self._model.space(self.workspace).tasks
        paths = [step.path for step in tasks[target].every_step()] if target in tasks else []
        return self._random.choice(paths) if paths else None

    def _work(self, number: int) -> None:
        target = self._target()
        here = {"target": target, "path": self._step(target) or "s:0"}
        works: list[tuple[str, dict[str, Any]]] = [
            ("verify", {"checkpoints": CONFIRMED}), ("done", {"checkpoints": CONFIRMED}), ("block", {"reason": "r"}),
            ("block", {"blocked": False}), ("define", {"title": f"title {number}"}), ("reopen", {}),
            ("note", {"note": f"note {number} " + "the filling " * self._random.randrange(300)}),
            ("evidence", {"texts": [f"{part} " + "the filling " * 100 for part in range(4)]}),
        ]  # fmt: skip
        tool, more = self._random.choice(works)
        self._change(tool, **here, **more)

    def _finish(self, _: int) -> None:
        target = self._target()
        task = self._model.space(self.workspace).tasks.get(target)
        for step in task.open_steps()[::-1][:8] if task else []:
            self._change("done", target=target, path=step.path, checkpoints=CONFIRMED)
        self._change("complete", target=target)
        self._change("complete", target=target, status="ACTIVE")

    def _delete(self, _: int) -> None:
        target = self._target()
        path = self._step(target)
        step = {"path": path} if path and self._random.random() < 0.7 else {}
        self._change("delete", target=target, **step)

    def _think(self, number: int) -> None:
        """Add a loop of cards about one target; each card depends on the ones before it."""
        target = self._target()
        if target in self._model.space(self.workspace).tasks:
            for part in range(4):
                card = {"id": f"card {number}.{part}", "type": "question", "text": "the filling " * 100 * part or "it"}
                sent = {"workspace": self.workspace, "target": target, "card": card}
                sent["supports"] = [f"card {number}.{one}" for one in range(part)]
                self.steps.append(("branchmind_think_card", sent))

    def state_after(self, steps: int) -> State:
        """Return the expected state of the workspace after a number of steps."""
        model = TaskModel(0)
        cards: dict[str, list[str]] = {}
        for tool, arguments in self.steps[:steps]:
            if tool == "branchmind_think_card":
                cards.setdefault(arguments["target"], []).append(arguments["card"]["id"])
            else:
                model.call(tool.removeprefix("tasks_"), arguments)
        space = model.space(self.workspace)
        return {
            "items": [task.listed() for task in space.tasks.values()],
            "needs": {one: [other.id for other in task.depends_on] for one, task in space.tasks.items()},
            "steps": {one: [modelled_step(step) for step in task.every_step()] for one, task in space.tasks.items()},
            "events": [(event.type, event.target, event.path) for event in space.events],
            "notes": {target: [text for _, text in notes] for target, notes in space.notes.items()},
            "cards": cards,
        }  # fmt: skip


def state_in_store(store: Store, workspace: str, found: WorkspaceState) -> State:
    """Return the stored state of the workspace."""
    radars = found.radars
    known = dict.fromkeys(event["target"] for event in found.events)
    notes = {target: notes_of(store, workspace, target) for target in known}
    cards = {target: cards_of(store, workspace, target) for target in known}
    return {
        "items": found.items,
        "needs": {one: radar["target"].get("depends_on", []) for one, radar in radars.items()},
        "steps": {one: [shown_step(step) for step in radar["steps"]] for one, radar in radars.items()},
        "events": [(event["type"], event["target"], event.get("path")) for event in found.events],
        "notes": {target: texts for target, texts in notes.items() if texts},
        "cards": {target: ids for target, ids in cards.items() if ids},
    }


def modelled_step(step: Step) -> tuple[Any, ...]:
    return step.id, step.path, step.title, step.status, sorted(step.confirmed)


def shown_step(step: dict[str, Any]) -> tuple[Any, ...]:
    status = "done" if step["done"] else "blocked" if step["blocked"] else "open"
    confirmed = sorted(name for name, value in step["checkpoints"].items() if value)
    return step["step_id"], step["path"], step["title"], status, confirmed


def notes_of(store: Store, workspace: str, target: str) -> list[str]:
    place = {"workspace": workspace, "branch": home_of(target), "doc": "notes", "limit": 200}
    return [entry["content"] for entry in store.call("branchmind_show", place)["entries"]]


def cards_of(store: Store, workspace: str, target: str) -> list[str]:
    """Return the ids of the cards in a trace, asserting that the graph has exactly them with all their edges."""
    place = {"workspace": workspace, "branch": home_of(target), "limit": 200}
    entries = store.call("branchmind_show", {**place, "doc": f"{target}-trace"})["entries"]
    cards = [entry["meta"] for entry in entries if entry["kind"] == "note"]
    graph = store.call(
        "branchmind_graph_query", {**place, "doc": f"{target}-graph", "types": "question", "edges_limit": 1000}
    )
    assert sorted(node["id"] for node in graph["nodes"]) == sorted(card["card_id"] for card in cards)
    edges = {(edge["from"], edge["rel"], edge["to"]) for edge in graph["edges"]}
    assert edges == {(card["card_id"], "supports", other) for card in cards for other in card.get("supports", [])}
    return [card["card_id"] for card in cards]


def go_on(store: Store, plan: Plan, state: State) -> None:
    """Repeat every card, which changes nothing, and write one more note, which gets the next revision."""
    told = {card for cards in state["cards"].values() for card in cards}
    alive = {item["id"]: item["revision"] for item in state["items"]}
    for tool, arguments in plan.steps:
        if tool == "branchmind_think_card" and arguments["card"]["id"] in told and arguments["target"] in alive:
            assert not store.call(tool, arguments)["inserted"]
    assert state_in_store(store, plan.workspace, check_consistency(store, plan.workspace)) == state
    for target, revision in list(alive.items())[:1]:
        note = {"workspace": plan.workspace, "target": target, "note": "going on", "expected_revision": revision}
        assert store.call("tasks_note", note)["revision"] == revision + 1
    check_consistency(store, plan.workspace)


@pytest.mark.parametrize("batch", first_of(range(BATCHES)))
def test_a_killed_writer_of_tasks_loses_nothing_it_acknowledged_and_leaves_it_consistent(
    home: Path, batch: int
) -> None:
    chance = random.Random(batch)  # noqa: S311
    unfinished = 0
    for number in range(KILLS // BATCHES):
        plan = Plan(1000 * batch + number)
        acknowledged = kill_in_the_middle(WORK, home, plan.steps, some_of(STEPS // 2, chance)).count(b"a")
        unfinished += acknowledged < len(plan.steps)
        with open_at(home) as store:
            found = state_in_store(store, plan.workspace, check_consistency(store, plan.workspace))
            possible = [plan.state_after(steps) for steps in (acknowledged, acknowledged + 1)]
            assert found in possible, (acknowledged, plan.steps[acknowledged - 1 : acknowledged + 1])
            go_on(store, plan, found)
        check_artifacts(home)
    assert unfinished >= KILLS // BATCHES * 0.8, "the writers were not killed in the middle"
