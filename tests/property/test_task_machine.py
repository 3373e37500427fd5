"""Any sequence of task calls has the same effect on the store and on a model; events, traces and graphs agree."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from contract.doors import START_MS, Clock, open_test_store, outcome
from moss_memory.errors import MossError
from property.model import norm
from property.task_model import (
    MUTATIONS,
    RefusedCallError,
    Space,
    TaskModel,
    agree,
    check_consistency,
    home_of,
)
from support.direct_store import Watch
from support.thorough import machine_settings

QUIET = "quiet words"
"""A part of every text that no event may contain."""
WORKSPACES = [*["shop"] * 6, " Shop", "\u00c9t\u00e9"]
TITLES = st.sampled_from([*["Rotate the keys", "caf\u00e9 \U0001f33f", "x" * 1000, "a | b"] * 2, " "])
TEXTS = st.sampled_from([f"{QUIET} one", [f"{QUIET} one", f"{QUIET} two"], [f"{QUIET} two"], []])
STEP = st.fixed_dictionaries(
    {"title": st.sampled_from(["first", "second", "third"])},
    optional={"success_criteria": TEXTS, "tests": TEXTS, "blockers": TEXTS},
)
MANY_STEPS = [{"title": f"number {number}"} for number in range(12)]
STEPS: st.SearchStrategy[Any] = (
    st.lists(STEP, min_size=1, max_size=3) | st.lists(STEP, min_size=1, max_size=2) | st.just(MANY_STEPS)
)
TAGS = st.sampled_from([["a"], ["b", " a ", "b"], ["b"], [], [" "]])
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "title": TITLES,
        "description": st.sampled_from(["", QUIET]),
        "priority": st.sampled_from(["low", "high"]),
        "tags": TAGS,
        "contract": st.just({"promise": QUIET}),
    },
)
STEP_CHANGES = st.one_of(
    st.fixed_dictionaries({"tests": TEXTS}, optional={"success_criteria": TEXTS}),
    st.fixed_dictionaries({"success_criteria": TEXTS}, optional={"blockers": TEXTS}),
    st.fixed_dictionaries({}, optional={"title": TITLES}),
)
CHECKPOINTS = st.sampled_from(
    [
        {"criteria": True, "tests": True}, {"criteria": True, "tests": True}, {"criteria": True}, {"tests": True},
        {"tests": False}, {"criteria": False, "docs": True}, {"security": True, "perf": True}, {},
    ]
)  # fmt: skip
NOTES = st.sampled_from([f"{QUIET} about it", f"{QUIET}\non two lines", f"{QUIET} again", " "])
EVIDENCE = st.fixed_dictionaries(
    {}, optional={"links": TEXTS, "checks": TEXTS, "texts": st.sampled_from([QUIET, QUIET, [" "]])}
)
STEP_WORK: dict[str, st.SearchStrategy[Any]] = {
    "done": st.fixed_dictionaries({}, optional={"checkpoints": CHECKPOINTS}),
    "verify": st.fixed_dictionaries({"checkpoints": CHECKPOINTS}),
    "define": STEP_CHANGES,
    "reopen": st.just({}),
    "block": st.sampled_from([{}, {"reason": QUIET}, {"blocked": False}]),
    "note": st.fixed_dictionaries({"note": NOTES}),
    "evidence": EVIDENCE,
    "delete": st.just({}),
}
# One rule chooses among these: Hypothesis would disable separate rules at random and make most sequences poor.
DEEDS = (
    *["work_on_a_step"] * 6, "finish_and_look_again", "decompose", "decompose", "edit", "depend", "depend", "complete",
    "delete", "finish_everything", "reopen", "focus", "follow_the_radar", "read_a_page", "think_about_it",
    "write_what_belongs_to_tasks", "hand_over", "let_time_pass", "create", "create",
)  # fmt: skip


class TaskMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="moss-tasks-")
        self.clock = Clock()
        self.store = open_test_store(self.folder, self.clock)
        self.model = TaskModel(START_MS)
        self.graphs: dict[str, dict[str, dict[str, tuple[Any, int]]]] = {}
        self.watch: Watch | None = None
        self.touched: set[str] = set()
        self.cards = 0
        self.workspace = ""
        self.odd: str | None = None
        """The invalid part of the next call, if any."""

    def teardown(self) -> None:
        try:
            for workspace in self.model.spaces:
                self.check(workspace)
        finally:
            if self.watch is not None:
                self.watch.close()
            self.store.close()
            shutil.rmtree(self.folder)

    @initialize()
    def begin_with_a_plan_and_a_task(self) -> None:
        self.both("create", workspace="\u00e9t\u00e9", kind="task", title="Elsewhere", steps=[{"title": "alone"}])
        self.both("create", workspace="shop", kind="plan", title="The plan", steps=[{"title": "agree"}])
        steps: list[dict[str, Any]] = [{"title": "write"}, {"title": "test", "tests": QUIET}]
        self.both("create", workspace="shop", kind="task", title="The task", parent="PLAN-001", steps=steps)
        self.both("focus", workspace="shop", target="TASK-001")
        self.watch = Watch(self.folder)

    def wrote(self) -> bool:
        """Return whether anything was committed since the last call of this method."""
        return self.watch is None or self.watch.saw_a_commit()

    @rule(data=st.data())
    def call_a_tool(self, data: st.DataObject) -> None:
        self.data = data
        self.workspace = self.pick(WORKSPACES)
        self.odd = self.pick([*[None] * 9, "target", "step", "revision", "state"])
        getattr(self, self.pick(DEEDS))()
        if self.wrote():
            self.touched.add(norm(self.workspace))

    def both(self, tool: str, **arguments: Any) -> bool:
        """Call a tool of the model and of the store; assert equal answers or codes. Return True if it succeeded."""
        arguments = {name: value for name, value in arguments.items() if value is not None}
        if self.wrote():
            self.touched.add(norm(arguments["workspace"]))
        answer = outcome(self.store, f"tasks_{tool}", arguments)
        expected = self.model.call(tool, arguments)
        if isinstance(expected, RefusedCallError):
            assert isinstance(answer, MossError), f"{tool}({arguments}): {answer}, expected {expected.codes}"
            assert answer.code in expected.codes, f"{tool}({arguments}): {answer.payload()}, expected {expected.codes}"
            check_details(answer, expected)
            assert not self.wrote(), f"{tool}({arguments}) was refused and wrote something"
            return False
        assert not isinstance(answer, MossError), f"{tool}({arguments}): {answer.payload()}, expected {expected}"
        for name in ("created_workspace", "similar_workspace"):  # the contract tests check these
            answer.pop(name, None)
        agree(expected, answer, f"{tool}({arguments})")
        assert not self.wrote() or tool in (*MUTATIONS, "focus"), f"{tool}({arguments}) wrote something"
        if tool in (*MUTATIONS, "focus"):
            self.touched.add(norm(arguments["workspace"]))
        if tool in MUTATIONS:
            self.model.space(arguments["workspace"]).events[-1].id = answer["event"]["event_id"]
        return True

    # Choosing arguments

    def pick(self, options: Sequence[Any]) -> Any:
        return self.data.draw(st.sampled_from(options))

    @property
    def space(self) -> Space:
        return self.model.space(self.workspace)

    def target(self, *, done: bool | None = None) -> str:
        """Return an existing plan or task, or a deleted or unknown one."""
        tasks = self.space.tasks
        if self.odd == "target" or not tasks:
            gone = [event.target for event in self.space.events if event.type.endswith("_deleted")]
            return str(self.pick([*gone, "TASK-999", "task-001"]))
        fitting = [one for one, task in tasks.items() if done in (None, task.status == "DONE")]
        return str(self.pick(fitting if fitting and self.odd != "state" else list(tasks)))

    def step(self, target: str, *, done: bool) -> dict[str, str]:
        """Return the id or path of an existing step; or none, both, or one of another target."""
        tasks = self.space.tasks
        steps = tasks[target].every_step() if target in tasks else []
        fitting = [step for step in steps if step.done == done or self.odd == "state"] or steps
        if done and self.pick([True, False]):
            fitting = [step for step in fitting if step.parent] or fitting
        addresses = [{name: address} for step in fitting for name, address in step.address.items()]
        if self.odd == "step" or not steps:
            others = [step.id for task in tasks.values() if task.id != target for step in task.every_step()]
            addresses = [{}, {"step_id": others[0] if others else "STEP-999"}, {"path": "s:99"}, {"path": "s:0.s:99"}]
            addresses += [steps[0].address] if steps else []
        chosen: dict[str, str] = self.pick(addresses)
        return chosen

    def change(self, tool: str, target: str, **arguments: Any) -> bool:
        known = self.space.tasks.get(target)
        right = known.revision if known else 1
        revision = self.pick([right - 1, right + 1] if self.odd == "revision" else [None, right])
        return self.both(tool, workspace=self.workspace, target=target, expected_revision=revision, **arguments)

    # Steps

    def let_time_pass(self) -> None:
        self.clock.ms += self.pick([1, 60_000, -1500])
        self.model.now_ms = self.clock.ms

    def create(self) -> None:
        kind = self.pick(["plan", "task", "task", "task"])
        plans = [task.id for task in self.space.tasks.values() if task.kind == "plan" != kind]
        parent = self.pick(["PLAN-999", "TASK-001"] if self.odd == "target" else [None, *plans])
        revision = self.pick([1, 2] if self.odd == "revision" else [None, 0])
        fields: dict[str, Any] = self.data.draw(CHANGES)
        fields.pop("contract", None)
        fields = {"title": "Untitled", "steps": self.data.draw(STEPS) if self.pick([True, False]) else None, **fields}
        self.both("create", workspace=self.workspace, kind=kind, parent=parent, expected_revision=revision, **fields)

    def edit(self) -> None:
        self.change("edit", self.target(), **self.data.draw(CHANGES))

    def depend(self) -> None:
        target = self.target(done=False)
        others = [one for one in self.space.tasks if one != target or self.odd == "state"] or ["PLAN-999"]
        ids = [self.pick(others) for _ in range(self.pick([0, 1, 1, 2, 3]))]
        self.change("edit", target, depends_on=ids[0] if len(ids) == 1 and self.pick([True, False]) else ids)

    def complete(self) -> None:
        self.change("complete", self.target(), status=self.pick([None, "DONE", "ACTIVE", "TODO"]))

    def delete(self) -> None:
        focus = self.space.focus
        self.change("delete", focus.id if focus and self.pick([True, False]) else self.target())

    def decompose(self) -> None:
        target = self.target(done=False)
        above = list(self.step(target, done=False).values())[:1] if self.pick([True, False]) else []
        self.change("decompose", target, steps=self.data.draw(STEPS), parent=above[0] if above else None)

    def work_on_a_step(self) -> None:
        tool = self.pick(list(STEP_WORK))
        target = self.target(done=tool == "reopen")
        whole = tool in ("note", "evidence") and self.pick([True, False])
        step = {} if whole else self.step(target, done=tool == "reopen")
        if step or tool != "delete":
            self.change(tool, target, **step, **self.data.draw(STEP_WORK[tool]))

    def reopen(self) -> None:
        self.change("reopen", self.target(done=True))

    def finish_everything(self) -> None:
        target = self.target(done=False)
        task = self.space.tasks.get(target)
        for child in self.space.tasks_of(task) if task and self.pick([True, False]) else []:
            self.finish(child.id)
        self.finish(target)

    def finish(self, target: str) -> None:
        here = {"workspace": self.workspace, "target": target}
        task = self.space.tasks.get(target)
        for step in task.open_steps()[::-1] if task else []:
            if step.blocked:
                self.both("block", **here, step_id=step.id, blocked=False)
            self.both("done", **here, path=step.path, checkpoints={"criteria": True, "tests": True})
        self.both("complete", **here)

    def finish_and_look_again(self) -> None:
        """Close everything in a task and reopen one of its steps, a nested one if possible."""
        target = self.target(done=False)
        above = list(self.step(target, done=False).values())[:1]
        self.change("decompose", target, steps=[{"title": "below"}], parent=above[0] if above else None)
        self.finish(target)
        self.check(norm(self.workspace))
        self.change("reopen", target, **self.step(target, done=True))

    def focus(self) -> None:
        action = self.pick([None, None, "get", "set", "clear"])
        target = self.target() if action in (None, "set") and self.odd != "step" else None
        self.both("focus", workspace=self.workspace, action=action, target=target)
        self.both("radar", workspace=self.workspace)

    def follow_the_radar(self) -> None:
        """Send the radar's next call; assert that only an unconfirmed step refuses it."""
        answer = outcome(self.store, "tasks_radar", {"workspace": self.workspace, "target": self.target(done=False)})
        if not isinstance(answer, MossError):
            call = answer["radar"]["next"]
            assert call["reason"]
            accepted = self.both(call["tool"].removeprefix("tasks_"), **call["arguments"])
            assert accepted or call["tool"] == "tasks_done", f"{call} is refused"

    def read_a_page(self) -> None:
        limit = self.pick([None, 1, 2, 5, 200])
        filters = {
            "kind": self.pick([None, "plan", "task"]), "tag": self.pick([None, "a"]), "offset": self.pick([None, 1, 3]),
            "status": self.pick([None, None, "TODO", "DONE"]), "parent": self.pick([None, None, "PLAN-001"]),
        }  # fmt: skip
        self.both("list", workspace=self.workspace, limit=limit, **filters)
        ids = [event.id for space in self.model.spaces.values() for event in space.events if event.id]
        self.both("delta", workspace=self.workspace, since=self.pick([None, "never", *ids]), limit=limit)

    def think_about_it(self) -> None:
        """Write cards and notes next to the events and nodes of a task, sometimes on a derived branch."""
        for target in self.some_target():
            here: dict[str, Any] = {"workspace": self.workspace, "target": target}
            self.cards += 1
            self.store.call("branchmind_notes_commit", {**here, "content": "beside it"})
            if self.pick([True, False]):
                here["branch"] = f"what-if {self.cards}"
                way = {"workspace": self.workspace, "name": here["branch"], "from": home_of(target)}
                self.store.call("branchmind_branch_create", way)
            card = {"id": f"card {self.cards}", "title": "a thought", "type": "question"}
            assert self.store.call("branchmind_think_card", {**here, "card": card})["inserted"]

    def some_target(self) -> list[str]:
        return [self.pick(list(self.space.tasks))] if self.space.tasks else []

    def write_what_belongs_to_tasks(self) -> None:
        """Assert that external writes to ids of tasks are refused."""
        for target in self.some_target():
            here = {"workspace": self.workspace, "target": target}
            for tool, arguments, code in forgeries(target):
                where = {"workspace": self.workspace} if tool.startswith("branch_") else here
                refused = outcome(self.store, f"branchmind_{tool}", {**where, **arguments})
                assert isinstance(refused, MossError), f"{tool}({arguments}): {refused}"
                assert refused.code == code, refused.payload()

    def hand_over(self) -> None:
        for target in self.some_target():
            here: dict[str, Any] = {"workspace": self.workspace, "target": target}
            as_capsule = self.pick([True, False])
            told = self.store.call("tasks_handoff", {**here, "as_capsule": as_capsule})
            radar = self.store.call("tasks_radar", here)
            assert (told["radar"], told["target"]) == (radar["radar"], radar["target"])
            still_open = len(self.space.tasks[target].open_steps())
            assert len(told["handoff"]["remaining"]) >= still_open
            assert len(told["handoff"]["done"]) >= len(radar["steps"]) - still_open
            if as_capsule:
                name = {"workspace": self.workspace, "name": f"{target}-handoff"}
                assert self.store.call("capsule_fetch", name)["id"] == told["capsule"]["id"]

    # Invariants

    @invariant()
    def the_store_equals_the_model_and_is_consistent(self) -> None:
        for workspace in self.touched:
            self.check(workspace)
        self.touched.clear()

    def check(self, workspace: str) -> None:
        space = self.model.spaces[workspace]
        found = check_consistency(self.store, workspace)
        self.check_events(space, found.events)
        agree([task.listed() for task in space.tasks.values()], found.items, "list")
        for target in space.tasks:
            expected = self.model.radar(workspace, target)
            agree(expected, found.radars[target], f"radar({target})")
        for target, notes in space.notes.items():
            seqs = [event["payload"].get("seq") for event in found.events if event["target"] == target]
            self.check_notes(workspace, target, notes, [seq for seq in seqs if seq is not None])
        self.check_versions(workspace, found.graphs)

    def check_events(self, space: Space, events: list[dict[str, Any]]) -> None:
        assert len(events) == len(space.events)
        for event, shown in zip(space.events, events, strict=True):
            # Deleting a plan makes one event; those of its tasks get their ids here.
            event.id = event.id or shown["event_id"]
            agree(event.shown(), shown, "event")
            assert event.type != "note_added" or shown["payload"].keys() == {"seq"}
        assert QUIET not in str(events), "an event holds a text"

    def check_notes(self, workspace: str, target: str, notes: list[tuple[str | None, str]], seqs: list[int]) -> None:
        place = {"workspace": workspace, "branch": home_of(target), "doc": "notes", "limit": 200}
        shown = [entry for entry in self.store.call("branchmind_show", place)["entries"] if QUIET in entry["content"]]
        assert [entry["content"] for entry in shown] == [text for _, text in notes]
        assert [entry["seq"] for entry in shown] == seqs, "an event names another note"
        for entry, (path, _) in zip(shown, notes, strict=True):
            assert entry.get("title", "").split(" ")[0] == (path or ""), entry

    def check_versions(self, workspace: str, graphs: dict[str, dict[str, tuple[Any, int]]]) -> None:
        """Assert that a node or edge gets a new version exactly if its state changed."""
        for target, before in self.graphs.get(workspace, {}).items():
            for key in before.keys() & graphs[target].keys():
                (old_state, old_seq), (state, seq) = before[key], graphs[target][key]
                assert (old_state == state) == (old_seq == seq), f"{key} of {target} has a needless version"
        self.graphs[workspace] = graphs


def check_details(answer: MossError, refused: RefusedCallError) -> None:
    details = answer.details or {}
    if answer.code == "CHECKPOINTS_NOT_CONFIRMED":
        assert details["missing"] == refused.details["missing"]
    if answer.code == "CONFLICT" and "open" in refused.details:
        assert details["open"], "nothing is named as open"
        assert set(details["open"]) <= set(refused.details["open"])


def forgeries(target: str) -> list[tuple[str, dict[str, Any], str]]:
    """Return writes that only task tools may make, with the code that refuses each."""
    node = f"task:{target}"
    ops = [
        {"op": "node_delete", "id": node}, {"op": "node_upsert", "id": node, "type": "task"},
        {"op": "node_upsert", "id": "step:STEP-999", "type": "step"},
        {"op": "edge_upsert", "from": "other", "rel": "contains", "to": node},
    ]  # fmt: skip
    return [
        *[("graph_apply", {"ops": [op]}, "INVALID_REQUEST") for op in ops],
        ("think_card", {"card": {"id": node, "title": "x"}}, "INVALID_REQUEST"),
        ("think_card", {"card": "x", "blocks": [node]}, "INVALID_REQUEST"),
        ("think_link", {"from": node, "rel": "blocks", "to": node}, "INVALID_REQUEST"),
        ("think_set_status", {"ids": node, "status": "DONE"}, "NOT_FOUND"),
        ("branch_delete", {"name": home_of(target)}, "CONFLICT"),
        ("branch_rename", {"old": home_of(target), "new": "mine"}, "CONFLICT"),
    ]


TaskMachine.TestCase.settings = machine_settings(30)
TestAnySequenceOfTaskCallsDoesWhatTheModelDoes = TaskMachine.TestCase
