"""An agent that is killed and restarted continues from the radar alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.agent import Agent, checked

STEPS = [
    {"title": "Make tokens that work once", "success_criteria": "a second use is refused", "tests": "pytest -k token"},
    {"title": "Send the mail", "success_criteria": "the mail holds a link", "tests": "pytest -k mail"},
    {"title": "Take the new password", "success_criteria": "the old one fails", "tests": "pytest -k form"},
]
MOST_CALLS = 40
"""Far more calls than the plan needs, to detect an endless loop."""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Agent]]:
    """Start agents that share one store and stop them after the test."""
    started: list[Agent] = []

    def start_one() -> Agent:
        started.append(Agent(tmp_path / "home"))
        return started[-1]

    yield start_one
    for agent in started:
        agent.leaves()


def _plan(agent: Agent) -> None:
    agent("tasks_create", kind="plan", title="Customers reset their password by mail")
    agent("tasks_create", kind="task", title="The reset itself", parent="PLAN-001")
    agent("tasks_decompose", target="TASK-001", steps=STEPS)
    agent("tasks_focus", target="TASK-001")


def _think(agent: Agent) -> None:
    """Write a what-if branch for the task."""
    agent("branchmind_branch_create", name="signed-tokens", **{"from": "task/TASK-001"})
    here = {"target": "TASK-001", "branch": "signed-tokens"}
    question = {"id": "where", "type": "question", "title": "Where do tokens live?"}
    agent("branchmind_think_card", card=question, **here)
    answer = {"id": "signed", "title": "Nowhere: they are signed"}
    agent("branchmind_think_add_hypothesis", card=answer, supports=["where"], **here)


def _thoughts(agent: Agent) -> list[tuple[Any, Any]]:
    cards = agent("branchmind_think_context", target="TASK-001", branch="signed-tokens")["cards"]
    return [(card["id"], card["type"]) for card in cards]


def _statuses(agent: Agent) -> dict[str, str]:
    return {item["id"]: item["status"] for item in agent("tasks_list")["items"]}


def test_a_restarted_agent_gets_the_same_next_action_from_the_radar_alone(
    start: Callable[[], Agent],
) -> None:
    first = start()
    _plan(first)
    first("tasks_done", target="TASK-001", path="s:0", checkpoints={"criteria": True, "tests": True})
    _think(first)
    radar, thoughts = first("tasks_radar"), _thoughts(first)
    first.is_killed()

    second = start()
    assert second("tasks_radar") == radar
    assert radar["radar"]["next"]["tool"] == "tasks_done"
    assert radar["radar"]["next"]["arguments"]["step_id"] == "STEP-002"
    assert thoughts == _thoughts(second) == [("signed", "hypothesis"), ("where", "question")]
    assert second.follow(second.next())["revision"] == radar["target"]["revision"] + 1


def test_following_the_radar_alone_completes_a_plan(start: Callable[[], Agent]) -> None:
    agent = start()
    _plan(agent)
    followed: list[str] = []
    call = agent.next()
    while call["tool"] != "tasks_create":
        assert len(followed) < MOST_CALLS, followed
        followed.append(call["tool"])
        answer = agent.follow(call)
        radar = answer if "radar" in answer else agent("tasks_radar", target=answer["id"])
        call = radar["radar"]["next"]
    assert followed == ["tasks_done"] * len(STEPS) + ["tasks_complete", "tasks_complete"]
    assert _statuses(agent) == {"PLAN-001": "DONE", "TASK-001": "DONE"}


def test_an_agent_killed_at_every_call_completes_its_task(start: Callable[[], Agent]) -> None:
    _plan(start())
    proposed: list[tuple[str, Any]] = []
    for _ in range(MOST_CALLS):
        if proposed[-1:] == [("tasks_create", None)]:
            break
        agent = start()
        call = agent.next()
        again = (call["tool"], call["arguments"].get("step_id"))
        if proposed[-1:] == [again]:
            agent.follow(call)  # the kill came before the call; what was answered has happened
            agent.is_killed()
        else:
            proposed.append(again)
            agent.is_killed_during(checked(call))
    steps = [("tasks_done", f"STEP-00{step}") for step in (1, 2, 3)]
    assert proposed == [*steps, ("tasks_complete", None), ("tasks_create", None)]
