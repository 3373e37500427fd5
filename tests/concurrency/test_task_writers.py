"""Eight processes work on one plan: revisions without gap or repeat; events, traces and graphs stay consistent."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from property.task_model import check_consistency, every_event
from support.python_process import race
from support.store_truth import events
from support.thorough import complete_or

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.store import Store

WORKERS = 8
ROUNDS = complete_or(6, 3)
# Works on the plan of all, on tasks of its own in it and on a task of all; keeps every answer. Some changes are made
# for a revision that was seen, and made again when another came first.
WORK = """
import json, sys
from support.store_truth import open_at
from moss_memory.errors import MossError
home, worker, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
store = open_at(home)
answers, lost_races, cards = [], 0, []
def ask(tool, **arguments):
    if worker == 0:
        store.close()  # the last one to leave empties the log
    return store.call(tool, {"workspace": "w", **arguments})
def change(tool, target, **arguments):
    answers.append(ask(f"tasks_{tool}", target=target, **arguments))
    return answers[-1]
def change_what_was_seen(tool, target, **arguments):
    global lost_races
    while True:
        seen = ask("tasks_radar", target=target, max_chars=500)["target"]["revision"]
        try:
            return change(tool, target, **arguments, expected_revision=seen)
        except MossError as error:
            assert error.code == "VERSION_MISMATCH", error
            lost_races += 1
ask("tasks_list")
print("ready", flush=True)
sys.stdin.readline()
confirmed = {"criteria": True, "tests": True}
for number in range(rounds):
    name = f"{worker}.{number}"
    steps = [{"title": f"step {part} of {name}"} for part in "ab"]
    task = ask("tasks_create", kind="task", title=f"task {name}", parent="PLAN-001", steps=steps)
    answers.append(task)
    added = change("decompose", "PLAN-001", steps=steps)["steps"]
    change("verify", "PLAN-001", step_id=added[0]["step_id"], checkpoints={"tests": True})
    change_what_was_seen("edit", "PLAN-001", title=f"the plan as {name} names it")
    change("note", "TASK-001", note=f"note {name}")
    change("block", "PLAN-001", step_id=added[1]["step_id"], reason=name)
    change("done", task["id"], path="s:0", checkpoints=confirmed)
    change("edit", task["id"], depends_on=["TASK-001"], title=f"better {name}")
    card = {"id": f"card {number}", "title": "all of them say it"}  # the same one from each process
    cards.append(ask("branchmind_think_card", target="TASK-001", card=card)["inserted"])
    change_what_was_seen("evidence", "TASK-001", checks=[name])
    change("delete", "PLAN-001", step_id=added[0]["step_id"])
    if number % 2:
        change("delete", task["id"])
    else:
        change("done", task["id"], path="s:1", checkpoints=confirmed)
        change("complete", task["id"])
    ask("tasks_focus", target="PLAN-001")
print(json.dumps({"answers": answers, "lost_races": lost_races, "cards": cards}))
"""


class Follower:
    """Poll for the events after the last one that was read."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.seen: list[dict[str, Any]] = []
        self.looks = 0

    def look(self) -> None:
        since = {"since": self.seen[-1]["event_id"]} if self.seen else {}
        page = self.store.call("tasks_delta", {"workspace": "w", "limit": 7, **since})
        self.seen += page["events"]
        self.looks += bool(page["events"])


def test_eight_processes_on_one_plan_lose_nothing_and_stay_consistent(store: Store, home: Path) -> None:
    here = {"workspace": "w"}
    first = [
        store.call("tasks_create", {**here, "kind": "plan", "title": "the plan of all"}),
        store.call("tasks_create", {**here, "kind": "task", "title": "the task of all", "parent": "PLAN-001"}),
    ]
    follower = Follower(store)
    told = race([(WORK, home, worker, ROUNDS) for worker in range(WORKERS)], follower.look)
    answers = [*first, *(answer for one in told for answer in one["answers"])]
    assert sum(one["lost_races"] for one in told) > 0, "nobody raced"
    check_revisions(answers)
    found = check_consistency(store, "w")
    wanted = {answer["event"]["event_id"]: answer["event"] for answer in answers}
    assert len(wanted) == len(answers) == len(found.events)
    assert {event["event_id"]: event for event in found.events} == wanted
    while len(follower.seen) < len(found.events):
        follower.look()
    assert follower.seen == found.events == every_event(store, "w")
    assert follower.looks > 3, "nobody watched"
    check_the_calls_of_each_are_in_order(told, found.events)
    check_what_is_there(found.radars)
    assert sum(inserted for one in told for inserted in one["cards"]) == ROUNDS, "a card was inserted twice, or never"
    check_log(home, answers)


def check_revisions(answers: list[dict[str, Any]]) -> None:
    """Assert that each plan or task has every revision from 1 on, each of them once."""
    revisions: dict[str, list[int]] = {}
    for answer in answers:
        revisions.setdefault(answer["id"], []).append(answer["revision"])
    assert len(revisions["PLAN-001"]) > WORKERS * ROUNDS
    for target, numbers in revisions.items():
        assert sorted(numbers) == list(range(1, len(numbers) + 1)), target


def check_the_calls_of_each_are_in_order(told: list[dict[str, Any]], events: list[dict[str, Any]]) -> None:
    place = {event["event_id"]: number for number, event in enumerate(events)}
    for one in told:
        places = [place[answer["event"]["event_id"]] for answer in one["answers"]]
        assert places == sorted(places)
    by_target: dict[str, list[tuple[int, int]]] = {}
    for answer in [answer for one in told for answer in one["answers"]]:
        by_target.setdefault(answer["id"], []).append((place[answer["event"]["event_id"]], answer["revision"]))
    for target, pairs in by_target.items():
        revisions = [revision for _, revision in sorted(pairs)]
        assert revisions == sorted(revisions), f"the events of {target} are not in the order of its revisions"


def check_what_is_there(radars: dict[str, dict[str, Any]]) -> None:
    plan = radars.pop("PLAN-001")
    titles = sorted(step["title"] for step in plan["steps"])
    names = sorted(f"{worker}.{number}" for worker in range(WORKERS) for number in range(ROUNDS))
    assert titles == [f"step b of {name}" for name in names]
    assert all(step["blocked"] for step in plan["steps"])
    assert len({step["path"] for step in plan["steps"]}) == len(names)
    radars.pop("TASK-001")
    kept = sorted(f"better {name}" for name in names if int(name.partition(".")[2]) % 2 == 0)
    assert sorted(radar["target"]["title"] for radar in radars.values()) == kept
    assert all(radar["target"]["status"] == "DONE" for radar in radars.values())


def check_log(home: Path, answers: list[dict[str, Any]]) -> None:
    """Assert that the log has exactly one event for each call that changed a row."""
    logged = Counter(tool for tool, _ in events(home))
    others = {tool: logged.pop(tool) for tool in ("tasks_focus", "branchmind_think_card")}
    assert others == dict.fromkeys(others, WORKERS * ROUNDS)
    assert sum(logged.values()) == len(answers)
