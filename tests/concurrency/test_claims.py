"""Twenty processes claim tasks at once: each task is claimed by one of them, and again after the agent was killed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from moss_memory.storage.call import wall_clock_ms
from property.task_model import check_consistency
from support.python_process import start
from support.store_truth import open_at

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from moss_memory.store import Store

AGENTS, TASKS = 20, 60
LEASE_S = 3600
# Takes one piece after the other until there is none, and says each one that it was told is its own.
WORK = """
import sys
from support.store_truth import open_at
from moss_memory.errors import MossError
home, agent, lease_s = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = open_at(home)
store.call("tasks_list", {"workspace": "w"})
print("ready", flush=True)
sys.stdin.readline()
while True:
    try:
        print(store.call("tasks_claim", {"workspace": "w", "agent": agent, "lease_s": lease_s})["id"], flush=True)
    except MossError as error:
        assert error.code == "NOT_FOUND", error
        break
print("nothing left", flush=True)
"""


def agents_at_work(home: Path) -> dict[str, subprocess.Popen[str]]:
    """Start twenty agents and wait until all have begun to claim."""
    agents = {f"agent {number}": start(WORK, home, f"agent {number}", LEASE_S) for number in range(AGENTS)}
    for process in agents.values():
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in agents.values():
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return agents


def told(process: subprocess.Popen[str]) -> list[str]:
    """Return every whole line that a process wrote before it ended or was killed."""
    assert process.stdout is not None
    lines = process.stdout.read()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        pipe.close()
    return [line for line in lines.split("\n")[:-1] if line]


def holders(store: Store) -> dict[str, str | None]:
    """Return the agent that works on each task, None if nobody does."""
    ids = [f"TASK-{number:03}" for number in range(1, TASKS + 1)]
    return {one: store.call("tasks_show", {"workspace": "w", "target": one}).get("agent") for one in ids}


def make_tasks(store: Store) -> None:
    for number in range(TASKS):
        task = {"workspace": "w", "kind": "task", "title": f"piece {number}"}
        store.call("tasks_create", {**task, "steps": [{"title": "do it"}]} if number % 2 else task)


def test_twenty_processes_at_once_claim_every_task_and_none_twice(store: Store, home: Path) -> None:
    make_tasks(store)
    answers = {agent: told(process) for agent, process in agents_at_work(home).items()}
    assert all(lines[-1] == "nothing left" for lines in answers.values())
    given = [(piece, agent) for agent, lines in answers.items() for piece in lines[:-1]]
    assert len(given) == TASKS
    assert dict(given) == holders(store)
    assert len({agent for _, agent in given}) > 1, "only one of them came to ask"
    check_consistency(store, "w")


def test_tasks_of_killed_processes_stay_claimed_until_the_lease_expires(store: Store, home: Path) -> None:
    make_tasks(store)
    agents = agents_at_work(home)
    killed = random.Random(14).sample(sorted(agents), 12)  # noqa: S311
    first = {agent: agents[agent].stdout for agent in killed[:6]}  # these have begun, of the others nobody knows
    begun = {agent: pipe.readline().strip() for agent, pipe in first.items() if pipe is not None}
    for agent in killed:
        agents[agent].kill()
    answers = {agent: told(process) for agent, process in agents.items()}
    for agent, line in begun.items():
        answers[agent].insert(0, line)
    held = holders(store)
    for agent, lines in answers.items():
        for piece in lines:
            assert piece == "nothing left" or held[piece] == agent, "what was said to be mine is another's"
    living = [agent for agent in agents if agent not in killed]
    assert all(answers[agent][-1] == "nothing left" for agent in living)
    assert all(held.values()), "a piece was left while somebody still asked"
    with open_at(home, clock_ms=lambda: wall_clock_ms() + LEASE_S * 1000) as tomorrow:
        ready = tomorrow.call("tasks_ready", {"workspace": "w", "limit": TASKS})
        assert ready["pagination"]["total"] == TASKS, "what was never given back comes back by itself"
        assert tomorrow.call("tasks_claim", {"workspace": "w", "agent": "heir"})["id"] == ready["tasks"][0]["id"]
    check_consistency(store, "w")
