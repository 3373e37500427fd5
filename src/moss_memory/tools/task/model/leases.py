"""Claims with a lease: at most one agent holds a step or task, until the lease expires."""

from __future__ import annotations

import json

from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.times import format_time
from moss_memory.storage.named_rows import NamedRow

from .task_rows import Step, Task, sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

WHOLE_TASK = ""
"""The `step_id` of a claim on a whole plan or task."""


class Claim(NamedRow):
    """A claim of an agent on a plan or task, or on one of its steps."""

    step_id: str
    agent: str
    lease_s: int
    lease_until_ms: int
    path: str | None
    sort_key: str | None

    def touches(self, step: Step | None) -> bool:
        """Return True if the claim overlaps a step, its ancestors or descendants, or the whole task if None."""
        if step is None or self.step_id == WHOLE_TASK or self.sort_key is None:
            return True
        own_key, other_key = f"{self.sort_key}.", f"{step.sort_key}."
        return other_key.startswith(own_key) or own_key.startswith(other_key)

    def to_dict(self) -> dict[str, Any]:
        return {"agent": self.agent, "lease_until_ms": self.lease_until_ms}


def claims_on(tx: ReadTransaction, task: Task) -> list[Claim]:
    """Return the claims on a plan or task and on its steps that have not expired."""
    return list(map(Claim, tx.rows(sql["claims"], {"task_row": task.row_id, "now_ms": tx.now_ms})))


def write_claim(tx: Transaction, workspace: str, task: Task, step: Step | None, agent: str, lease_s: int) -> Claim:
    """Write a claim with a new lease; the caller has checked that no other agent holds it."""
    until = tx.now_ms + lease_s * 1000
    step_id = WHOLE_TASK if step is None else step.step_id
    row = {"task_row": task.row_id, "workspace": normalize_workspace(workspace), "step_id": step_id, "agent": agent}
    tx.run(sql["claim"], {**row, "lease_s": lease_s, "lease_until_ms": until})
    position = (None, None) if step is None else (step.path, step.sort_key)
    return Claim((step_id, agent, lease_s, until, *position))


def renew_claims(tx: Transaction, workspace: str, task: Task, agent: str) -> None:
    """Extend all claims of an agent on a plan or task by their lease time."""
    for claim in claims_on(tx, task):
        if claim.agent == agent:
            row = {
                "task_row": task.row_id,
                "workspace": normalize_workspace(workspace),
                "step_id": claim.step_id,
                "agent": agent,
            }
            until = max(claim.lease_until_ms, tx.now_ms + claim.lease_s * 1000)
            tx.run(sql["claim"], {**row, "lease_s": claim.lease_s, "lease_until_ms": until})


def warn_of_holder(tx: Transaction, workspace: str, task: Task, step: Step | None, agent: str | None) -> dict[str, str]:
    """Return a `warning` if another agent holds a step or task that is closed, else nothing.

    Without an `agent`, the actor of the claim is compared with the one of this call.
    """
    for claim in claims_on(tx, task):
        if claim.touches(step):
            same = claim.agent == agent if agent is not None else _claimed_by(tx, workspace, task, claim) == tx.actor
            if not same:
                piece = task.id if claim.path is None else f"step {claim.path} of {task.id}"
                until = format_time(claim.lease_until_ms)
                return {
                    "warning": f"{claim.agent!r} holds {piece} until {until}; it was closed anyway; inform that agent"
                }
    return {}


def _claimed_by(tx: Transaction, workspace: str, task: Task, claim: Claim) -> str | None:
    """Return the actor of the last event of a claim; this call's actor if there is no event."""
    key = {"workspace": normalize_workspace(workspace), "address": task.id}
    for payload, actor in tx.rows(sql["claim_events"], key):
        if json.loads(payload)["payload"].get("agent") == claim.agent:
            return str(actor)
    return tx.actor


def release_claims(tx: Transaction, task: Task, step: Step | None = None) -> None:
    """Release a step, or a plan or task with all its steps, from any agent."""
    if step is None:
        tx.run(sql["release_all"], {"task_row": task.row_id})
    else:
        tx.run(sql["release"], {"task_row": task.row_id, "step_id": step.step_id})
