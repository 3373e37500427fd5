"""Who works on what: claims with a lease. At most one agent holds a piece, and a lease that ran out holds nothing."""

from __future__ import annotations

from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.named_rows import NamedRow

from .task_rows import Step, Task, sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

WHOLE = ""
"""The step of a claim on a whole plan or task."""


class Claim(NamedRow):
    """One agent's hold on a plan or task, or on one of its steps."""

    step_id: str
    agent: str
    lease_s: int
    lease_until_ms: int
    path: str | None
    sort_key: str | None

    def touches(self, step: Step | None) -> bool:
        """Whether it holds some of a piece: all of the task, the step, one above or one below it."""
        if step is None or self.step_id == WHOLE or self.sort_key is None:
            return True
        mine, its = f"{self.sort_key}.", f"{step.sort_key}."
        return its.startswith(mine) or mine.startswith(its)

    def shown(self) -> dict[str, Any]:
        """Who, and until when."""
        return {"agent": self.agent, "lease_until_ms": self.lease_until_ms}


def claims_on(tx: ReadTransaction, task: Task) -> list[Claim]:
    """The claims on a plan or task and on its steps whose leases still run."""
    return list(map(Claim, tx.rows(sql["claims"], {"task_row": task.row_id, "now_ms": tx.now_ms})))


def hold(tx: Transaction, workspace: str, task: Task, step: Step | None, agent: str, lease_s: int) -> Claim:
    """Gives a piece to an agent for so long from now; the caller has seen to it that nobody else has it."""
    until = tx.now_ms + lease_s * 1000
    step_id = WHOLE if step is None else step.step_id
    row = {"task_row": task.row_id, "workspace": normalize_workspace(workspace), "step_id": step_id, "agent": agent}
    tx.run(sql["claim"], {**row, "lease_s": lease_s, "lease_until_ms": until})
    named = (None, None) if step is None else (step.path, step.sort_key)
    return Claim((step_id, agent, lease_s, until, *named))


def renew(tx: Transaction, workspace: str, task: Task, agent: str) -> None:
    """Lets everything that an agent holds of a plan or task run as long again."""
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


def let_go(tx: Transaction, task: Task, step: Step | None = None) -> None:
    """Gives back a step, or a plan or task with everything in it, whoever has it."""
    if step is None:
        tx.run(sql["release_all"], {"task_row": task.row_id})
    else:
        tx.run(sql["release"], {"task_row": task.row_id, "step_id": step.step_id})
