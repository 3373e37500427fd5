"""A workspace behind a door for tests of tasks and thinking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.reasoning.reasoning_tools import ReasoningTools
from moss_memory.registry import catalog

if TYPE_CHECKING:
    from contract.doors import Door
    from moss_memory.errors import MossError
    from moss_memory.registry.operation import Operation

BOTH = {"criteria": True, "tests": True}
"""The checkpoints that a step needs before it closes."""

GUARDED: dict[str, Any] = {"title": "guarded", "success_criteria": ["it signs"], "tests": ["pytest keys"]}
"""A step that closes only after both of its checkpoints are confirmed."""

NEEDED: dict[str, Any] = {
    "workspace": "Shop", "content": "x", "ops": [{"op": "node_upsert", "id": "a", "type": "note"}], "card": "t",
    "from": "a", "rel": "supports", "to": "a", "ids": ["a"], "status": "closed", "question_id": "a", "subgoal_id": "a",
    "step": "s", "type": "note", "name": "debug", "id": "a",
    "thought": "t", "thought_number": 1, "total_thoughts": 1, "next_thought_needed": False,
}  # fmt: skip
"""A value for each required argument of the reasoning tools."""


def needed(tool: Operation, *but: str) -> dict[str, Any]:
    """Return the required arguments of a reasoning tool, with workspace Shop and without a target."""
    return {name: NEEDED[name] for name in tool.required if name not in ("target", *but)}


def check_call(call: Any) -> None:
    """Assert that a next call names an existing tool, has a reason, and is valid as it is."""
    assert set(call) == {"tool", "arguments", "reason"}, call
    assert call["reason"].strip()
    tool = catalog.find(call["tool"])
    assert tool is not None, call
    tool.decode(call["arguments"])


class TaskTools:
    """One workspace; `room` calls the reasoning tools."""

    def __init__(self, door: Door, workspace: str = "Shop") -> None:
        self.door = door
        self.workspace = workspace
        self.room = ReasoningTools(door, workspace)

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        return self.door(f"tasks_{tool}", workspace=self.workspace, **arguments)

    def refuses(self, code: str, tool: str, /, **arguments: Any) -> MossError:
        """Assert that a call fails with this code and writes nothing, and return the error."""
        error = self.door.refuses(code, f"tasks_{tool}", workspace=self.workspace, **arguments)
        if error.recovery is not None:
            check_call(error.recovery)
        return error

    def misses(self, tool: str, /, **arguments: Any) -> MossError:
        """Assert that a call fails with `NOT_FOUND` and that its recovery succeeds, and return the error."""
        error = self.refuses("NOT_FOUND", tool, **arguments)
        assert error.recovery is not None, error.payload()
        self.door(error.recovery["tool"], **error.recovery["arguments"])
        return error

    def another(self, workspace: str) -> TaskTools:
        return TaskTools(self.door, workspace)

    def plan(self, title: str = "Rotate every key", **fields: Any) -> str:
        """Create a plan and return its id."""
        made: str = self("create", kind="plan", title=title, **fields)["id"]
        return made

    def task(self, title: str = "Rotate the signing key", *titles: str, **fields: Any) -> str:
        """Create a task with steps of these titles and return its id."""
        steps = {"steps": [{"title": one} for one in titles]} if titles else {}
        made: str = self("create", kind="task", title=title, **steps, **fields)["id"]
        return made

    def close(self, target: str, *paths: str) -> None:
        """Confirm and close steps."""
        for path in paths:
            self("done", target=target, path=path, checkpoints=BOTH)

    def radar(self, target: str) -> dict[str, Any]:
        return self("radar", target=target, max_chars=0)

    def shown(self, target: str) -> dict[str, Any]:
        """Return a plan or task as the radar shows it."""
        found: dict[str, Any] = self.radar(target)["target"]
        return found

    def steps(self, target: str) -> dict[str, dict[str, Any]]:
        """Return the steps by path, in the order of the radar."""
        return {step["path"]: step for step in self.radar(target)["steps"]}

    def revision(self, target: str) -> int:
        found: int = self.shown(target)["revision"]
        return found

    def listed(self, **filters: Any) -> list[str]:
        """Return the ids of a list, in its order."""
        return [item["id"] for item in self("list", **filters)["items"]]

    def events(self, since: str | None = None, **asked: Any) -> list[dict[str, Any]]:
        """Return every task event after `since`, page by page."""
        found: list[dict[str, Any]] = []
        while True:
            page = self("delta", since=since, **asked)
            found += page["events"]
            if not page["has_more"]:
                return found
            assert page["events"], "a page that promises more shows nothing"
            since = page["events"][-1]["event_id"]

    def trace(self, target: str) -> list[dict[str, Any]]:
        """Return every trace entry of a target, oldest first, even if the target was deleted."""
        return self.room.entries(branch_of(target), f"{target}-trace")

    def nodes(self, target: str) -> dict[str, dict[str, Any]]:
        """Return the live nodes of a target's graph by id."""
        return self.room.nodes(branch_of(target), doc=f"{target}-graph")

    def edges(self, target: str) -> set[tuple[str, str, str]]:
        return set(self.room.edges(branch_of(target), doc=f"{target}-graph"))


def branch_of(target: str) -> str:
    return f"{target.partition('-')[0].lower()}/{target}"
