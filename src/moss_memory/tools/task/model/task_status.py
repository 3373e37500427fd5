"""Computed status of a plan or task: current step, blockers, progress and next call."""

from __future__ import annotations

from moss_memory.errors import next_call
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.times import format_time

from .leases import claims_on
from .task_rows import (
    REQUIRED_CHECKPOINTS,
    Dependency,
    Reference,
    Step,
    Task,
    dependencies_of,
    find_task,
    focus_of,
    sql,
    steps_of,
    task_key,
    tasks_of_plan,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

HOPS_MAX = 100
"""The maximum number of dependencies and tasks of plans that are followed to the work that comes next."""

OWN_WORK = "(t.kind = 'task' or exists (select 1 from steps w where w.task_row = t.row_id))"
"""SQL that is true for tasks and for plans with steps of their own."""


class TaskStatus:
    """The status of a plan or task at one time."""

    def __init__(self, tx: ReadTransaction, workspace: str, task: Task) -> None:
        self.tx = tx
        self.workspace = workspace
        self.task = task
        self._needs = dependencies_of(tx, workspace, task)
        self._open = [] if task.status == "DONE" else steps_of(tx, task, "open_steps")
        counts = tx.row(sql["count_steps"], {"task_row": task.row_id})
        self._steps, self._done = counts or (0, 0)
        next_row = tx.row(sql["next_task_of_plan"], task_key(workspace, task)) if task.kind == "plan" else None
        self._next_task = None if next_row is None else Task(next_row)
        self._focus = focus_of(tx, workspace)
        self._leaf = self._first_leaf()
        self._current_status: TaskStatus | None = None

    def summary(self) -> dict[str, Any]:
        return self.task.summary([needed.id for needed in self._needs])

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of a radar that do not depend on its budget."""
        disabled = "reasoning" in self.tx.config.disabled_types
        return {
            "workspace": self.workspace,
            "target": {name: getattr(self.task, name) for name in ("id", "kind", "title", "status", "revision")},
            "focus": self._focus,
            **({} if disabled else {"reasoning_ref": Reference(self.task).to_dict()}),
        }

    def radar(self) -> dict[str, Any]:
        """Return the current work with its reason and holder, its verification, the next call and the blockers."""
        work, why = self.now()
        why += self._holder()
        leaf = self._current()._leaf
        verify = [] if leaf is None else [*leaf.texts("success_criteria"), *leaf.texts("tests")]
        return {"now": work, "why": why, "verify": verify, "next": self.next(), "blockers": self.blockers()}

    def blockers(self) -> list[str]:
        """Return unmet dependencies, blocked steps and the known blockers of the current step."""
        reasons = [f"{needed.id} {needed.title} is {needed.status}" for needed in self._unmet()]
        for step in self._open:
            if step.blocked:
                reasons.append(f"{step.path} {step.title}: {step.block_reason or 'blocked'}")
        return reasons if self._leaf is None else reasons + self._leaf.texts("blockers")

    def next(self) -> dict[str, Any]:
        """Return the best next call with all arguments: the call for the work that comes first."""
        current = self._current()
        call = current._next_here()
        return call if current is self else {**call, "reason": f"{current.task.id}: {call['reason']}"}

    def _current(self) -> TaskStatus:
        """Return the status of the work that comes first: a dependency, a task of the plan, else this one."""
        if self._current_status is None:
            current, visited_ids = self, {self.task.id}
            while len(visited_ids) <= HOPS_MAX:
                following = current._next_target()
                if following is None or following in visited_ids:
                    break
                visited_ids.add(following)
                current = TaskStatus(self.tx, self.workspace, find_task(self.tx, self.workspace, following))
            self._current_status = current
        return self._current_status

    def _next_target(self) -> str | None:
        """Return the id of the plan or task to continue with instead of this one, or None.

        After a finished task that is its plan, else other open work.
        """
        if self.task.status == "DONE":
            parent = self.task.parent_id
            if parent is not None and find_task(self.tx, self.workspace, parent).status != "DONE":
                return parent
            return choose_open(self.tx, self.workspace)[0]
        unmet = self._unmet()
        if unmet:
            return unmet[0].id
        following = self._following_task()
        return None if following is None else following.id

    def _following_task(self) -> Task | None:
        """Return the open task of the plan to continue with; None if an open step comes first or there is no task."""
        return self._next_task if self._leaf is None else None

    def _next_here(self) -> dict[str, Any]:
        """Return the best next call for this plan or task itself."""
        task, target = self.task, {"workspace": self.workspace, "target": self.task.id}
        if task.status == "DONE":
            new = {"workspace": self.workspace, "kind": "task"}
            return next_call("tasks_create", new, "nothing is open; add the `title` of the next task")
        if self._next_target() is not None:
            return next_call("tasks_radar", {**target, "target": self._next_target()}, f"{task.id} waits for it")
        if self._leaf is not None:
            return self._next_of_step(self._leaf, target)
        if self._steps or self._has_tasks():
            return next_call("tasks_complete", target, "everything in it is done")
        if task.kind == "plan":
            first = {"workspace": self.workspace, "kind": "task", "parent": task.id, "title": shorten_line(task.title)}
            return next_call("tasks_create", first, "the plan has no task yet; name the first one")
        steps = [{"title": shorten_line(task.title), "success_criteria": ["it works as described"]}]
        reason = "it has no steps yet; say how it will be done, or close it with `tasks_complete` when it is done"
        return next_call("tasks_decompose", {**target, "steps": steps}, reason)

    def handoff(self, cards: list[str]) -> dict[str, list[str]]:
        """Return lines for completed work, remaining work and risks, given the texts of evidence cards."""
        everything = steps_of(self.tx, self.task)
        evidence: dict[str | None, list[str]] = {}
        for step_id, _, content in self.tx.rows(sql["evidence"], {"task_row": self.task.row_id}):
            evidence.setdefault(step_id, []).append(" ".join(content.split()))
        if cards:
            evidence.setdefault(None, []).extend(cards)
        done: list[str] = []
        remaining: list[str] = []
        for step in everything:
            line = f"{step.path} {step.title}"
            if step.blocked:
                line += f" (blocked: {step.block_reason})" if step.block_reason else " (blocked)"
            if step.step_id in evidence:
                line += f" (evidence: {'; '.join(evidence[step.step_id])})"
            (done if step.done else remaining).append(line)
        done += [f"evidence: {text}" for text in evidence.get(None, ())]
        for child in tasks_of_plan(self.tx, self.workspace, self.task):
            (done if child.status == "DONE" else remaining).append(f"{child.id} {child.title} ({child.status})")
        risks = self.blockers()
        if done and not evidence:
            risks.append("nothing is backed by evidence yet")
        return {"done": done, "remaining": remaining, "risks": risks}

    def now(self) -> tuple[str, str]:
        """Return the current work and the reason for it."""
        task = self.task
        name = f"{task.id} {task.title}"
        if task.status == "DONE":
            return f"{name}: done", "its status is DONE"
        if self._unmet():
            return f"{name}: waits for {self._unmet()[0].id}", "it depends on something that is not DONE"
        if self._leaf is not None:
            progress = f"{self._done} of {self._steps} steps are done"
            why = f"every open step is blocked; {progress}" if self._leaf.blocked else f"first open step; {progress}"
            return f"{name}: {self._leaf.path} {self._leaf.title}", why
        if self._next_task is not None:
            return f"{name}: {self._next_task.id} {self._next_task.title}", "the open task to continue with"
        if self._steps or self._has_tasks():
            return f"{name}: complete it", "nothing in it is open"
        return f"{name}: divide it", "it has nothing in it yet"

    def _holder(self) -> str:
        """Return who holds the work that comes now, as the end of a sentence; empty if nobody does."""
        if self.task.status == "DONE" or self._unmet():
            return ""
        task = self._following_task() or self.task
        claim = next((claim for claim in claims_on(self.tx, task) if claim.touches(self._leaf)), None)
        if claim is None:
            return ""
        return f"; {shorten_line(claim.agent, 60)!r} works on it until {format_time(claim.lease_until_ms)}"

    def _unmet(self) -> list[Dependency]:
        """Return the dependencies that are not DONE, except the own plan, which cannot be DONE before its task."""
        return [needed for needed in self._needs if needed.status != "DONE" and needed.id != self.task.parent_id]

    def _has_tasks(self) -> bool:
        return self.tx.row(sql["tasks_of_plan"], task_key(self.workspace, self.task)) is not None

    def _first_leaf(self) -> Step | None:
        """Return the first open step without open substeps, preferably an unblocked one, or None."""
        divided = {step.parent_step for step in self._open}
        leaves = [step for step in self._open if step.step_id not in divided]
        return next((step for step in leaves if not step.blocked), leaves[0] if leaves else None)

    def _next_of_step(self, step: Step, target: dict[str, Any]) -> dict[str, Any]:
        address = {**target, "step_id": step.step_id}
        if step.blocked:
            cause = f" ({step.block_reason})" if step.block_reason else ""
            return next_call(
                "tasks_block", {**address, "blocked": False}, f"unblock {step.path} once it can go on{cause}"
            )
        return next_call("tasks_done", address, f"{step.path} {shorten_line(step.title, 60)}: {reason_to_close(step)}")


def choose_open(tx: ReadTransaction, workspace: str) -> tuple[str | None, str]:
    """Return the open work to show if none is named, and why: the only one, else the one last worked on."""
    key = {"workspace": normalize_workspace(workspace)}
    for counts in (OWN_WORK, "t.kind = 'plan'"):
        task_ids = [task_id for (task_id,) in tx.rows(sql["open_works"].filled(counts=counts), key)]
        if len(task_ids) == 1:
            return task_ids[0], "only_open"
        if task_ids:
            for query in ("last_worked_on", "last_created"):
                last: str | None = tx.value(sql[query].filled(counts=counts), key)
                if last is not None:
                    return last, "last_worked_on"  # its creation counts as work
    return None, ""


def reason_to_close(step: Step) -> str:
    """Return the condition for closing a step: the checks, and the checkpoints to add."""
    missing = step.missing()
    if not missing:
        return "close it when it is done"
    checks = [shorten_line(text) for name in missing for text in step.texts(REQUIRED_CHECKPOINTS[name])]
    confirmed = ", ".join(f'"{name}": true' for name in missing)
    return f"when it is done, check: {'; '.join(checks)}; then add `checkpoints: {{{confirmed}}}`"


def shorten_line(text: str, chars: int = 100) -> str:
    """Return a text on one line, truncated to at most `chars` characters."""
    line = " ".join(text.split())
    return line if len(line) <= chars else line[: chars - 1] + "…"
