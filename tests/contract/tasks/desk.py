"""What the tests of tasks and thinking share: one workspace behind a door, its tasks, and how to read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.reasoning.room import Room
from moss_memory.registry import catalog

if TYPE_CHECKING:
    from contract.doors import Door
    from moss_memory.errors import MossError
    from moss_memory.registry.operation import Operation

BOTH = {"criteria": True, "tests": True}
"""The checkpoints that open the gate."""

GUARDED: dict[str, Any] = {"title": "guarded", "success_criteria": ["it signs"], "tests": ["pytest keys"]}
"""A step that closes only with both of its checkpoints."""

NEEDED: dict[str, Any] = {
    "workspace": "Shop", "content": "x", "ops": [{"op": "node_upsert", "id": "a", "type": "note"}], "card": "t",
    "from": "a", "rel": "supports", "to": "a", "ids": ["a"], "status": "closed", "question_id": "a", "subgoal_id": "a",
    "step": "s", "type": "note", "name": "debug", "id": "a",
    "thought": "t", "thought_number": 1, "total_thoughts": 1, "next_thought_needed": False,
}  # fmt: skip
"""A value for each argument that some tool of reasoning requires."""


def needed(tool: Operation, *but: str) -> dict[str, Any]:
    """What a tool of reasoning requires, in workspace Shop and without a target."""
    return {name: NEEDED[name] for name in tool.required if name not in ("target", *but)}


def check_call(call: Any) -> None:
    """A next call names a tool there is, gives a reason, and can be sent as it is."""
    assert set(call) == {"tool", "arguments", "reason"}, call
    assert call["reason"].strip()
    tool = catalog.find(call["tool"])
    assert tool is not None, call
    tool.decode(call["arguments"])


class Desk:
    """One workspace; task tools are called by their short names, reasoning tools through its `room`."""

    def __init__(self, door: Door, workspace: str = "Shop") -> None:
        self.door = door
        self.workspace = workspace
        self.room = Room(door, workspace)

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        return self.door(f"tasks_{tool}", workspace=self.workspace, **arguments)

    def refuses(self, code: str, tool: str, /, **arguments: Any) -> MossError:
        """The error of a call that must fail with this code and leave the store as it was."""
        error = self.door.refuses(code, f"tasks_{tool}", workspace=self.workspace, **arguments)
        if error.recovery is not None:
            check_call(error.recovery)
        return error

    def misses(self, tool: str, /, **arguments: Any) -> MossError:
        """The `NOT_FOUND` of a call, whose recovery can be sent as it is and does not miss again."""
        error = self.refuses("NOT_FOUND", tool, **arguments)
        assert error.recovery is not None, error.payload()
        self.door(error.recovery["tool"], **error.recovery["arguments"])
        return error

    def another(self, workspace: str) -> Desk:
        return Desk(self.door, workspace)

    def plan(self, title: str = "Rotate every key", **fields: Any) -> str:
        """Makes a plan and returns its id."""
        made: str = self("create", kind="plan", title=title, **fields)["id"]
        return made

    def task(self, title: str = "Rotate the signing key", *titles: str, **fields: Any) -> str:
        """Makes a task with steps of these titles and returns its id."""
        steps = {"steps": [{"title": one} for one in titles]} if titles else {}
        made: str = self("create", kind="task", title=title, **steps, **fields)["id"]
        return made

    def close(self, target: str, *paths: str) -> None:
        """Confirms and closes steps."""
        for path in paths:
            self("done", target=target, path=path, checkpoints=BOTH)

    def radar(self, target: str) -> dict[str, Any]:
        return self("radar", target=target, max_chars=0)

    def shown(self, target: str) -> dict[str, Any]:
        """What the radar says a plan or task is."""
        found: dict[str, Any] = self.radar(target)["target"]
        return found

    def steps(self, target: str) -> dict[str, dict[str, Any]]:
        """The steps by their paths, in the order of the radar."""
        return {step["path"]: step for step in self.radar(target)["steps"]}

    def revision(self, target: str) -> int:
        found: int = self.shown(target)["revision"]
        return found

    def listed(self, **filters: Any) -> list[str]:
        """The ids that a list shows, in its order."""
        return [item["id"] for item in self("list", **filters)["items"]]

    def events(self, since: str | None = None, **asked: Any) -> list[dict[str, Any]]:
        """Every task event after one of them, page by page."""
        found: list[dict[str, Any]] = []
        while True:
            page = self("delta", since=since, **asked)
            found += page["events"]
            if not page["has_more"]:
                return found
            assert page["events"], "a page that promises more shows nothing"
            since = page["events"][-1]["event_id"]

    def trace(self, target: str) -> list[dict[str, Any]]:
        """Every entry of a target's trace, oldest first; also after it was deleted."""
        return self.room.entries(branch_of(target), f"{target}-trace")

    def nodes(self, target: str) -> dict[str, dict[str, Any]]:
        """The live nodes of a target's graph by id."""
        return self.room.nodes(branch_of(target), doc=f"{target}-graph")

    def edges(self, target: str) -> set[tuple[str, str, str]]:
        """The live edges of a target's graph."""
        return set(self.room.edges(branch_of(target), doc=f"{target}-graph"))


def branch_of(target: str) -> str:
    """The canonical branch of a plan or task."""
    return f"{target.partition('-')[0].lower()}/{target}"
