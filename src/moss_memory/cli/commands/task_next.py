"""`moss task next`: the best unclaimed task; `--claim` claims it."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.store import Store

from .command_request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def next_work(home: str | None, *, claim: bool = False, agent: str | None = None, **arguments: Any) -> dict[str, Any]:
    """Return the best task that can be started now; with `claim`, claim it for an agent."""
    if claim and agent is None:
        raise invalid_request("`claim` needs an `agent`", path="agent")
    with Store(load_settings(home), actor="cli") as store:
        if claim:
            claimed = store.call("tasks_claim", {**arguments, "agent": agent})
            step = {"step": claimed["step"]["path"]} if "step" in claimed else {}
            lease = {"agent": claimed["agent"], "lease_until_ms": claimed["lease_until_ms"]}
            title = store.call("tasks_show", {**arguments, "target": claimed["id"]})["title"]
            return {"next": {"id": claimed["id"], **step, **lease, "title": title}}
        tasks = store.call("tasks_ready", {**arguments, "limit": 1})["tasks"]
    if not tasks:
        return {"next": None}
    task = tasks[0]
    step = {"step": f"{task['step']['path']} {task['step']['title']}"} if "step" in task else {}
    return {"next": {"id": task["id"], "title": task["title"], **step, "why": task["why"]}}
