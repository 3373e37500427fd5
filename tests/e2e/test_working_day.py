"""A day of three agents in two workspaces, who do only what Moss tells them: nobody reaches a dead end.

They know a tool's name and arguments from the list, fill in what is marked `(fill in: …)`, send `recovery` and `next`
as they come, and turn a checkpoint to true only after they have checked.
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
"""Far more than any errand of the day takes; an agent led in a circle would meet it."""


class Agent:
    """One client with a server of its own, and a person behind it who knows what to write."""

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self.listed = {tool["name"] for tool in server.tools()}
        self.checked: set[str] = set()

    def ask(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """One call, of a tool that the client can see; the answer, or the error."""
        assert tool in self.listed, f"{tool} is not in the list of this client"
        return self.server.call(tool, arguments)

    def does(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """An errand: asks, and follows what the errors say, until it is done."""
        for _ in range(MOST_CALLS):
            answer = self.ask(tool, **arguments)
            if "error" not in answer:
                return answer
            recovery = answer["error"].get("recovery")
            assert recovery is not None, f"a dead end: {tool} {arguments}: {answer}"
            tool, arguments = recovery["tool"], filled_in(recovery["arguments"])
        raise AssertionError(f"led in a circle, at last to {tool} {arguments}")

    def follows(self, call: dict[str, Any]) -> dict[str, Any]:
        """Does what an answer proposed as next; where it is to confirm something, after a look at it."""
        return self.does(call["tool"], **self.confirmed(filled_in(call["arguments"]), call["reason"]))

    def confirmed(self, arguments: dict[str, Any], reason: str) -> dict[str, Any]:
        """The same with the checkpoints that the reason asks for; Moss never confirms them for anybody."""
        if "arguments" in arguments:
            return {**arguments, "arguments": self.confirmed(arguments["arguments"], reason)}
        assert "checkpoints" not in arguments, "confirmed before anybody looked"
        asked = [name for name in ("criteria", "tests") if f'"{name}": true' in reason]
        return {**arguments, **({"checkpoints": dict.fromkeys(asked, True)} if asked else {})}


def filled_in(value: Any) -> Any:
    """A proposed value with every `(fill in: …)` answered."""
    if isinstance(value, str):
        return re.sub(r"\(fill in: ([^)]*)\)", r"here it is: \1", value)
    if isinstance(value, list):
        return [filled_in(item) for item in value]
    if isinstance(value, dict):
        return {name: filled_in(item) for name, item in value.items()}
    return value


@pytest.fixture
def hire(tmp_path: Path) -> Iterator[Callable[..., Agent]]:
    """Starts agents that share one store, each in the project of a workspace, with a list of some size."""
    servers: list[McpServer] = []

    def hire_one(*options: str, workspace: str | None = None) -> Agent:
        servers.append(McpServer(tmp_path / "home", *options, workspace=workspace))
        return Agent(servers[-1])

    yield hire_one
    for server in servers:
        server.close()


def test_what_was_saved_thin_in_one_project_is_loaded_whole_from_another_folder(hire: Callable[..., Agent]) -> None:
    ada = hire("--toolsets", "core", workspace="shop")
    thin = ada.ask("capsule_store", name="auth", capsule_text="## Objective\nsign in with refresh tokens\n")
    assert thin["error"]["code"] == "CAPSULE_TOO_THIN"
    proposed = thin["error"]["recovery"]
    again = ada.ask(proposed["tool"], **proposed["arguments"])
    assert again["error"]["code"] == "CAPSULE_TOO_THIN", "the gate opens only for one who fills in what is missing"
    stored = ada.does(proposed["tool"], **filled_in(proposed["arguments"]))
    assert stored["fetch_key"] == {"moss_capsule": "auth", "moss_workspace": "shop"}

    bob = hire("--toolsets", "core")
    loaded = bob.does("capsule_fetch", name="auth")
    assert (loaded["workspace"], loaded["name"]) == ("shop", "auth")
    assert "refresh tokens" in loaded["capsule_text"]
    assert bob.does("capsule_fetch", name="auht")["id"] == loaded["id"]
    assert [one["workspace"] for one in bob.ask("capsule_latest")["elsewhere"]] == ["shop"]


@pytest.mark.parametrize("options", [(), ("--toolsets", "core")], ids=["everything", "core"])
def test_who_comes_to_an_empty_project_is_led_from_nothing_to_the_end_of_a_task(
    hire: Callable[..., Agent], options: tuple[str, ...]
) -> None:
    agent = hire(*options, workspace="billing")
    made = agent.does("tasks_radar")["id"]
    proposed = []
    while (radar := agent.does("tasks_radar", target=made))["target"]["status"] != "DONE":
        proposed.append(radar["radar"]["next"])
        assert len(proposed) < MOST_CALLS, f"the day ended before the task: {proposed}"
        agent.follows(proposed[-1])


def test_two_who_share_a_plan_take_different_pieces_and_a_third_goes_on_where_they_stopped(
    hire: Callable[..., Agent],
) -> None:
    ada, bob, eve = hire(workspace="shop"), hire(workspace="shop"), hire("--toolsets", "core", workspace="shop")
    ada.does("tasks_create", kind="plan", title="Sign in")
    for title in ("Rotate refresh tokens", "Log out every device"):
        steps = [{"title": f"{title}: code", "success_criteria": "it works", "tests": "pytest"}]
        ada.does("tasks_create", kind="task", title=title, parent="PLAN-001", steps=steps)
    mine = ada.does("tasks_claim", agent="ada")
    his = bob.does("tasks_claim", agent="bob")
    assert {mine["id"], his["id"]} == {"TASK-001", "TASK-002"}
    taken = bob.ask("tasks_claim", agent="bob", target=mine["id"])
    assert taken["error"]["code"] == "CONFLICT"
    assert taken["error"]["details"]["agent"] == "ada"
    bob.does("tasks_claim", agent="bob", target=mine["id"])  # what the error proposes is no dead end

    for agent, piece in ((ada, mine["id"]), (bob, his["id"])):
        for _ in range(MOST_CALLS):
            radar = agent.does("tasks_radar", target=piece)
            if radar["target"]["status"] == "DONE":
                break
            agent.follows(radar["radar"]["next"])
        assert radar["target"]["status"] == "DONE"
    handed = ada.does("tasks_handoff", target="PLAN-001", as_capsule=True)["capsule"]
    found = eve.does("capsule_fetch", name=handed["fetch_key"]["moss_capsule"])
    assert "Sign in" in found["capsule_text"]
    shown = eve.does("moss_call", tool="tasks_show", arguments={"target": "PLAN-001"})
    assert {task["status"] for task in shown["tasks"]} == {"DONE"}


def test_the_instructions_name_only_what_the_client_can_call(hire: Callable[..., Agent]) -> None:
    for options in ((), ("--toolsets", "core"), ("--toolsets", "capsule"), ("--toolsets", "reasoning")):
        agent = hire(*options)
        named = set(re.findall(r"\b(?:capsule|artifact|tasks|branchmind|moss)_[a-z_]+\b", agent.server.instructions))
        direct = {name for name in named if not re.search(rf"moss_call {name}\b", agent.server.instructions)}
        assert direct <= agent.listed, options
