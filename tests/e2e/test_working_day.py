"""A day of three agents in two workspaces that follow the answers of Moss: none reaches a dead end.

They know the names and arguments of the listed tools, fill in `(fill in: …)`, send `recovery` and `next` unchanged,
and set a checkpoint to true only after checking it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from support.mcp_server import McpServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MOST_CALLS = 30
"""Far more calls than any task of the day needs, to detect an endless loop."""


class Agent:
    """A client with its own server."""

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self.listed = {tool["name"] for tool in server.tools()}
        self.checked: set[str] = set()

    def ask(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a listed tool and return its answer or the error."""
        assert tool in self.listed, f"{tool} is not in the list of this client"
        return self.server.call(tool, arguments)

    def complete(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and follow the recoveries until it succeeds."""
        for _ in range(MOST_CALLS):
            answer = self.ask(tool, **arguments)
            if "error" not in answer:
                return answer
            recovery = answer["error"].get("recovery")
            assert recovery is not None, f"a dead end: {tool} {arguments}: {answer}"
            tool, arguments = recovery["tool"], filled_in(recovery["arguments"])
        raise AssertionError(f"led in a circle, at last to {tool} {arguments}")

    def follow(self, call: dict[str, Any]) -> dict[str, Any]:
        """Make a proposed next call with its checkpoints confirmed."""
        return self.complete(call["tool"], **self.confirmed(filled_in(call["arguments"]), call["reason"]))

    def confirmed(self, arguments: dict[str, Any], reason: str) -> dict[str, Any]:
        """Return the arguments with the checkpoints named in the reason; Moss never confirms them itself."""
        if "arguments" in arguments:
            return {**arguments, "arguments": self.confirmed(arguments["arguments"], reason)}
        assert "checkpoints" not in arguments, "confirmed before anybody looked"
        asked = [name for name in ("criteria", "tests") if f'"{name}": true' in reason]
        return {**arguments, **({"checkpoints": dict.fromkeys(asked, True)} if asked else {})}


def filled_in(value: Any) -> Any:
    """Return a proposed value with every `(fill in: …)` replaced."""
    if isinstance(value, str):
        return re.sub(r"\(fill in: ([^)]*)\)", r"here it is: \1", value)
    if isinstance(value, list):
        return [filled_in(item) for item in value]
    if isinstance(value, dict):
        return {name: filled_in(item) for name, item in value.items()}
    return value


@pytest.fixture
def start_agent(tmp_path: Path) -> Iterator[Callable[..., Agent]]:
    """Start agents that share one store, each in the project of a workspace, with a list of some size."""
    servers: list[McpServer] = []

    def start_one(*options: str, workspace: str | None = None) -> Agent:
        servers.append(McpServer(tmp_path / "home", *options, workspace=workspace))
        return Agent(servers[-1])

    yield start_one
    for server in servers:
        server.close()


def test_an_incomplete_hand_over_is_completed_and_loaded_from_another_folder(start_agent: Callable[..., Agent]) -> None:
    ada = start_agent("--toolsets", "core", workspace="shop")
    thin = ada.ask("capsule_store", name="auth", capsule_text="## Objective\nsign in with refresh tokens\n")
    assert thin["error"]["code"] == "CAPSULE_TOO_THIN"
    proposed = thin["error"]["recovery"]
    again = ada.ask(proposed["tool"], **proposed["arguments"])
    assert again["error"]["code"] == "CAPSULE_TOO_THIN", "the gate opens only for one who fills in what is missing"
    stored = ada.complete(proposed["tool"], **filled_in(proposed["arguments"]))
    assert stored["fetch_key"] == {"moss_capsule": "auth", "moss_workspace": "shop"}

    bob = start_agent("--toolsets", "core")
    loaded = bob.complete("capsule_fetch", name="auth")
    assert (loaded["workspace"], loaded["name"]) == ("shop", "auth")
    assert "refresh tokens" in loaded["capsule_text"]
    assert bob.complete("capsule_fetch", name="auht")["id"] == loaded["id"]
    assert [one["workspace"] for one in bob.ask("capsule_latest")["elsewhere"]] == ["shop"]


@pytest.mark.parametrize("options", [(), ("--toolsets", "core")], ids=["everything", "core"])
def test_an_agent_in_an_empty_project_is_led_to_the_end_of_a_task(
    start_agent: Callable[..., Agent], options: tuple[str, ...]
) -> None:
    agent = start_agent(*options, workspace="billing")
    made = agent.complete("tasks_radar")["id"]
    proposed = []
    while (radar := agent.complete("tasks_radar", target=made))["target"]["status"] != "DONE":
        proposed.append(radar["radar"]["next"])
        assert len(proposed) < MOST_CALLS, f"the day ended before the task: {proposed}"
        agent.follow(proposed[-1])


def test_two_agents_with_one_plan_take_different_tasks_and_a_third_continues_their_work(
    start_agent: Callable[..., Agent],
) -> None:
    ada, bob, eve = (
        start_agent(workspace="shop"),
        start_agent(workspace="shop"),
        start_agent("--toolsets", "core", workspace="shop"),
    )
    ada.complete("tasks_create", kind="plan", title="Sign in")
    for title in ("Rotate refresh tokens", "Log out every device"):
        steps = [{"title": f"{title}: code", "success_criteria": "it works", "tests": "pytest"}]
        ada.complete("tasks_create", kind="task", title=title, parent="PLAN-001", steps=steps)
    mine = ada.complete("tasks_claim", agent="ada")
    his = bob.complete("tasks_claim", agent="bob")
    assert {mine["id"], his["id"]} == {"TASK-001", "TASK-002"}
    taken = bob.ask("tasks_claim", agent="bob", target=mine["id"])
    assert taken["error"]["code"] == "CONFLICT"
    assert taken["error"]["details"]["agent"] == "ada"
    bob.complete("tasks_claim", agent="bob", target=mine["id"])  # the call proposed by the error is no dead end

    for agent, piece in ((ada, mine["id"]), (bob, his["id"])):
        for _ in range(MOST_CALLS):
            radar = agent.complete("tasks_radar", target=piece)
            if radar["target"]["status"] == "DONE":
                break
            agent.follow(radar["radar"]["next"])
        assert radar["target"]["status"] == "DONE"
    handed = ada.complete("tasks_handoff", target="PLAN-001", as_capsule=True)["capsule"]
    found = eve.complete("capsule_fetch", name=handed["fetch_key"]["moss_capsule"])
    assert "Sign in" in found["capsule_text"]
    shown = eve.complete("moss_call", tool="tasks_show", arguments={"target": "PLAN-001"})
    assert {task["status"] for task in shown["tasks"]} == {"DONE"}


def test_the_instructions_name_only_callable_tools(start_agent: Callable[..., Agent]) -> None:
    for options in ((), ("--toolsets", "core"), ("--toolsets", "capsule"), ("--toolsets", "reasoning")):
        agent = start_agent(*options)
        named = set(re.findall(r"\b(?:capsule|artifact|tasks|branchmind|moss)_[a-z_]+\b", agent.server.instructions))
        direct = {name for name in named if not re.search(rf"moss_call {name}\b", agent.server.instructions)}
        assert direct <= agent.listed, options
