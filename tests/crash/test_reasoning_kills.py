"""Writers of notes and graphs are killed during a batch: batches are whole or absent, and a merge can be repeated."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import check_artifacts
from property.reasoning_model import ReasoningModel
from support.killing import all_before, kill_in_the_middle
from support.store_truth import open_at
from support.thorough import first_of

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.store import Store
    from support.killing import Wait

KILLS = 30
BATCHES = 3
STEPS = 60
EDGE = ("from", "rel", "to")
MERGES = ("merge", "graph_merge")
# Runs the plan from stdin and acknowledges each step with one byte, until it is killed. A step that goes on takes
# the cursor of the answer before it.
WORK = """
import json, os, sys
from support.store_truth import open_at
from moss_memory.tools.reasoning.branches import merge_tools
from moss_memory.tools.reasoning.graph import graph_tools
from moss_memory.tools.reasoning.notes import note_tools
plan = json.loads(sys.stdin.readline())
store = open_at(sys.argv[1])
os.write(1, b"r")
answer = {}
for tool, arguments, goes_on in plan:
    if goes_on:
        arguments["cursor"] = answer.get("pagination", {}).get("next_cursor")
    answer = store.call(f"branchmind_{tool}", arguments)
    os.write(1, b"a")
os.write(1, b"e")
sys.stdin.readline()
"""
Step = tuple[str, dict[str, Any], bool]
State = dict[str, Any]
"""By branch: the contents of its notes in order, and the nodes and edges of its graph."""


class Plan:
    """A seeded list of writes to two branches of one workspace; `large` are the steps that write many rows."""

    def __init__(self, worker: int) -> None:
        self.workspace = f"worker {worker}"
        self._random = random.Random(worker)  # noqa: S311
        self.steps: list[Step] = []
        self.large: list[int] = []
        self._add("branch_create", name="empty")
        self._add("commit", artifact="the first", message="m")
        self._add("branch_create", name="what-if")
        while len(self.steps) < STEPS:
            self._notes("what-if", 8)
            self._notes("main", 1)
            self._batch("what-if")
            self._batch(self._random.choice(["main", "what-if"]))
            for tool in MERGES:
                self._merge(tool)

    def _add(self, tool: str, *, goes_on: bool = False, large: bool = False, **arguments: Any) -> None:
        self.large += [len(self.steps)] if large else []
        self.steps.append((tool, {"workspace": self.workspace, **arguments}, goes_on))

    def _notes(self, branch: str, count: int) -> None:
        """Add notes to one document, and to two at once."""
        for _ in range(count):
            text = f"word{len(self.steps)} " + "the filling " * self._random.randrange(300)
            self._add("notes_commit", branch=branch, content=text)
        self._add("checkout", ref=branch)
        self._add("commit", artifact=f"again{len(self.steps)}", message="m", docs=["notes", "side"])

    def _batch(self, branch: str) -> None:
        number = len(self.steps)
        ids = [
            f"n{self._random.randrange(12)}",
            *(f"{number}.{part}" for part in range(self._random.randrange(20, 60))),
        ]
        nodes = [{"op": "node_upsert", "id": key, "type": "idea", "title": f"t{number}"} for key in ids]
        edges = [{"op": "edge_upsert", "from": ids[0], "rel": "r", "to": key} for key in ids[1:]]
        gone = [{"op": "node_delete", "id": ids[-1]}]
        self._add("graph_apply", large=True, branch=branch, ops=[*nodes, *edges, *gone])

    def _merge(self, tool: str) -> None:
        """Add a merge of everything at once, or of the first pages."""
        limit = self._random.choice([1000, 1000, 5])
        way: dict[str, Any] = {"from": "what-if", "into": "main", "limit": limit}
        for page in range(1 if limit == 1000 else 3):
            self._add(tool, large=True, goes_on=page > 0, **way)

    def model_after(self, steps: int) -> ReasoningModel:
        """Return the model after a number of steps."""
        model = ReasoningModel(0)
        answer: dict[str, Any] = {}
        for tool, arguments, goes_on in self.steps[:steps]:
            cursor = answer.get("pagination", {}).get("next_cursor") if goes_on else None
            answer = model.call(tool, {**arguments, "cursor": cursor})
        return model


def state_in_model(model: ReasoningModel, workspace: str) -> State:
    branches = model.workspaces[workspace].branches if workspace in model.workspaces else []
    state: State = {
        branch.name: {
            **{doc: [entry.content for entry in branch.log(doc)] for doc in ("notes", "side")},
            **{
                "/".join(key[1:]): version.state.get("title", "-")
                for key, version in branch.graph("graph").items()
                if version.state is not None
            },
        }
        for branch in branches
    }
    conflicts = model.workspaces[workspace].conflicts if branches else []
    return {**state, "open": sum(conflict.status == "open" for conflict in conflicts)}


ALL = {"limit": 200, "max_chars": 0}
"""Arguments for a page without a limit of characters."""


def state_in_store(store: Store, workspace: str) -> State:
    here = {"workspace": workspace}
    names = [row["name"] for row in store.call("branchmind_branch_list", {**here, **ALL})["branches"]]
    state: State = {}
    for name in names:
        docs = [row["doc"] for row in store.call("branchmind_docs_list", {**here, "max_chars": 0, "ref": name})["docs"]]
        notes = {doc: contents(store, {**here, "branch": name, "doc": doc}) for doc in ("notes", "side") if doc in docs}
        state[name] = {"side": [], **notes, **graph(store, {**here, "branch": name})}
    open_ones = {**here, **ALL, "into": "main", "status": "open"}
    return {**state, "open": len(store.call("branchmind_graph_conflicts", open_ones)["conflicts"]) if names else 0}


def contents(store: Store, place: dict[str, Any]) -> list[str]:
    return [entry["content"] for entry in store.call("branchmind_show", {**place, **ALL})["entries"]]


def graph(store: Store, place: dict[str, Any]) -> dict[str, str]:
    """Return the titles of the nodes, and the edges, by key: all differences from an empty graph."""
    found: dict[str, str] = {}
    way = {"workspace": place["workspace"], "from": "empty", "to": place["branch"], "limit": 200}
    page: dict[str, Any] = {"pagination": {"has_more": True}}
    while page["pagination"]["has_more"]:
        page = store.call("branchmind_graph_diff", {**way, "cursor": page["pagination"].get("next_cursor")})
        for change in page["changes"]:
            key = change["id"] if change["kind"] == "node" else "/".join(change["key"][end] for end in EDGE)
            if not change["to"]["deleted"]:
                found[key] = change["to"].get("title", "-")
    return found


def one_of_the_large(plan: Plan, chance: random.Random) -> Wait:
    """Return a wait for the start of one of the steps that write many rows."""
    return all_before(chance.choice(plan.large[:-4]), chance)


def check_merging_again(store: Store, model: ReasoningModel, workspace: str) -> None:
    """Assert that merging from the beginning adds exactly the entries that the killed writer had not merged."""
    for tool in MERGES:
        way = {"workspace": workspace, "from": "what-if", "into": "main", "limit": 1000}
        expected, answer = model.call(tool, way), store.call(f"branchmind_{tool}", way)
        for name in ("merged", "skipped", "conflicts_created"):
            assert answer.get(name) == expected.get(name), f"{tool}: {answer}, expected {expected}"
        again = store.call(f"branchmind_{tool}", way)
        assert (again["merged"], again.get("conflicts_created", 0)) == (0, 0)
    notes = contents(store, {"workspace": workspace, "branch": "main", "doc": "notes"})
    assert len(notes) == len(set(notes)), "a note was merged twice"


@pytest.mark.parametrize("batch", first_of(range(BATCHES)))
def test_a_killed_writer_leaves_whole_batches_and_a_repeatable_merge(home: Path, batch: int) -> None:
    chance = random.Random(batch)  # noqa: S311
    unfinished = 0
    for number in range(KILLS // BATCHES):
        plan = Plan(1000 * batch + number)
        acknowledged = kill_in_the_middle(WORK, home, plan.steps, one_of_the_large(plan, chance)).count(b"a")
        unfinished += acknowledged < len(plan.steps)
        possible = [plan.model_after(steps) for steps in (acknowledged, acknowledged + 1)]
        with open_at(home) as store:
            found = state_in_store(store, plan.workspace)
            fitting = [model for model in possible if state_in_model(model, plan.workspace) == found]
            assert fitting, (acknowledged, plan.steps[acknowledged - 1 : acknowledged + 1])
            if "what-if" in found:
                check_merging_again(store, fitting[0], plan.workspace)
                assert state_in_store(store, plan.workspace) == state_in_model(fitting[0], plan.workspace)
        check_artifacts(home)
    assert unfinished >= KILLS // BATCHES * 0.8, "the writers were not killed in the middle"
