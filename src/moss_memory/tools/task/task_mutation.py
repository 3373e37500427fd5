"""One change of a plan or task: state, event, trace entry and graph in one transaction."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, next_call
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.times import format_time
from moss_memory.tools.reasoning.branches.document_refs import DocumentRef
from moss_memory.tools.reasoning.notes.entries import Note, append_entry
from moss_memory.tools.task.model.task_rows import Step, Task, find_step, find_task, save_step, save_task

from .graph_projection import step_node, task_document, task_node, update_graph, update_referrers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Transaction
    from moss_memory.tools.reasoning.graph.node_versions import Version


class Mutation:
    """A pending change of a plan or task whose revision was checked."""

    def __init__(self, tx: Transaction, workspace: str, target: str, expected_revision: int | None) -> None:
        self.tx = tx
        self.workspace = workspace
        self.task = find_task(tx, self.workspace, target)
        self._before = (self.task.title, self.task.status)
        actual = self.task.revision
        if expected_revision not in (None, actual):
            raise MossError(
                "VERSION_MISMATCH",
                f"{target} is at revision {actual}, not {expected_revision}; look at it, then send"
                f" `expected_revision: {actual}`",
                details={"expected": expected_revision, "actual": actual},
                recovery=next_call("tasks_radar", self.arguments(), "shows what it is now"),
            )

    def arguments(self, **more: Any) -> dict[str, Any]:
        """Return the workspace and target as arguments of a next call."""
        return {"workspace": self.workspace, "target": self.task.id, **more}

    def find_step(self, step_id: str | None, path: str | None) -> Step | None:
        """Return the step with this id or path; None if neither is given."""
        if step_id is None and path is None:
            return None
        return find_step(self.tx, self.workspace, self.task, step_id, path)

    def find_open_step(self, step_id: str | None, path: str | None) -> Step:
        """Return the step with this id or path; refuse one that is done."""
        step = find_step(self.tx, self.workspace, self.task, step_id, path)
        if step.done:
            reopen = next_call("tasks_reopen", self.arguments(step_id=step.step_id), "opens the step again")
            raise self.conflict(f"step {step.path} is done; reopen it first", recovery=reopen)
        return step

    def conflict(
        self, problem: str, *, details: dict[str, Any] | None = None, recovery: dict[str, Any] | None = None
    ) -> MossError:
        """Return a `CONFLICT` with a recovery call, by default `tasks_radar`."""
        radar = next_call("tasks_radar", self.arguments(), "shows its status")
        return MossError("CONFLICT", problem, details=details, recovery=recovery or radar)

    def refuse_done(self) -> None:
        if self.task.status == "DONE":
            reopen = next_call("tasks_reopen", self.arguments(), "makes it ACTIVE again")
            raise self.conflict(f"{self.task.id} is DONE; reopen it first", recovery=reopen)

    def refuse_in_done_plan(self) -> None:
        """Refuse to open a task of a plan that is DONE."""
        parent = self.task.parent_id
        if parent is not None and find_task(self.tx, self.workspace, parent).status == "DONE":
            reopen = next_call("tasks_reopen", self.arguments(target=parent), "makes the plan ACTIVE again")
            problem = f"{self.task.id} belongs to {parent}, which is DONE; reopen that first"
            raise self.conflict(problem, recovery=reopen)

    def finish_step(self, step: Step, type: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Save a step and finish with its node."""
        save_step(self.tx, step)
        return self.finish(type, payload, step=step, shown=[step_node(step)])

    def finish(
        self, type: str, payload: dict[str, Any], *, step: Step | None = None, shown: list[Version] | None = None
    ) -> dict[str, Any]:
        """Write the next revision, its event, trace entry and nodes; return the response."""
        task = self.task
        task.revision += 1
        save_task(self.tx, task)
        path = None if step is None else step.path
        event = record_task_event(self.tx, self.workspace, task, type, payload, path=path)
        versions = list(shown or ())
        if self._before != (task.title, task.status):
            versions.append(task_node(task))
            update_referrers(self.tx, self.workspace, task)
        if versions:
            update_graph(self.tx, self.workspace, task, versions)
        return mutation_response(self.workspace, task, event, step)


def record_task_event(
    tx: Transaction, workspace: str, task: Task, type: str, payload: dict[str, Any], *, path: str | None = None
) -> dict[str, Any]:
    """Write an event and its trace entry; return the event as fields of a response."""
    step = {} if path is None else {"path": path}
    event: dict[str, Any] = {"type": type, "target": task.id, **step, "payload": payload}
    text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    event_id = tx.record_event(workspace=normalize_workspace(workspace), address=task.id, payload=text)
    append_event(tx, task_document(workspace, task, f"{task.id}-trace"), event_id, event)
    return render_event(event_id, tx.now_ms, event, tx.actor)


def append_event(tx: Transaction, trace: DocumentRef, event_id: str, event: dict[str, Any]) -> bool:
    """Write an event into a trace document; return False if the document already contains it."""
    existing = tx.row(
        "select 1 from doc_entries where branch_id = :branch_id and doc = :doc and source_event_id = :event_id"
        " and written_as = 'event'",
        {"branch_id": trace.branch.branch_id, "doc": trace.doc, "event_id": event_id},
    )
    if existing is not None:
        return False
    step = f" {event['path']}" if "path" in event else ""
    note = Note(f"{event['type']} {event['target']}{step}", event["type"], None, event)
    append_entry(tx, trace, note, written_as="event", source_event_id=event_id)
    return True


def render_event(event_id: str, ts_ms: int, event: dict[str, Any], by: str | None) -> dict[str, Any]:
    fields = {"event_id": event_id, "ts": format_time(ts_ms), "ts_ms": ts_ms, **event}
    return fields if by is None else {**fields, "by": by}


def mutation_response(workspace: str, task: Task, event: dict[str, Any], step: Step | None = None) -> dict[str, Any]:
    step_fields = {} if step is None else {"step": step.address()}
    names = {"workspace": workspace, "id": task.id, "kind": task.kind, "title": task.title}
    return {**names, "revision": task.revision, "event": event, **step_fields}
