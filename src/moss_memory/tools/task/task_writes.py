"""One change of a plan or task: state, event, trace entry and graph in one transaction."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, next_call
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.times import format_time
from moss_memory.tools.reasoning.branches.document_refs import DocumentRef
from moss_memory.tools.reasoning.notes.note_tools import Note, append
from moss_memory.tools.task.model.task_rows import Step, Task, find_task, save_task

from .graph_projection import task_document, task_node, update_graph, update_referrers

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
        if expected_revision is not None and expected_revision != self.task.revision:
            raise version_mismatch(self.workspace, target, expected_revision, self.task.revision)

    def conflict(
        self, problem: str, *, details: dict[str, Any] | None = None, recovery: dict[str, Any] | None = None
    ) -> MossError:
        """Return a `CONFLICT` with a recovery call, by default `tasks_radar`."""
        radar = next_call("tasks_radar", {"workspace": self.workspace, "target": self.task.id}, "shows where it stands")
        return MossError("CONFLICT", problem, details=details, recovery=recovery or radar)

    def refuse_done(self) -> None:
        """Refuse a change of a plan or task that is DONE."""
        if self.task.status == "DONE":
            raise self.conflict(
                f"{self.task.id} is DONE; reopen it first",
                recovery=next_call(
                    "tasks_reopen", {"workspace": self.workspace, "target": self.task.id}, "makes it ACTIVE again"
                ),
            )

    def refuse_in_done_plan(self) -> None:
        """Refuse to open a task of a plan that is DONE."""
        parent = self.task.parent_id
        if parent is not None and find_task(self.tx, self.workspace, parent).status == "DONE":
            arguments = {"workspace": self.workspace, "target": parent}
            raise self.conflict(
                f"{self.task.id} belongs to {parent}, which is DONE; reopen that first",
                recovery=next_call("tasks_reopen", arguments, "makes the plan ACTIVE again"),
            )

    def finish(
        self, type: str, payload: dict[str, Any], *, step: Step | None = None, shown: list[Version] | None = None
    ) -> dict[str, Any]:
        """Write the next revision, its event, trace entry and nodes; return the response."""
        task = self.task
        task.revision += 1
        save_task(self.tx, task)
        event = emit(self.tx, self.workspace, task, type, payload, path=None if step is None else step.path)
        versions = list(shown or ())
        if self._before != (task.title, task.status):
            versions.append(task_node(task))
            update_referrers(self.tx, self.workspace, task)
        if versions:
            update_graph(self.tx, self.workspace, task, versions)
        return mutation_response(self.workspace, task, event, step)


def emit(
    tx: Transaction, workspace: str, task: Task, type: str, payload: dict[str, Any], *, path: str | None = None
) -> dict[str, Any]:
    """Write an event and its trace entry; return the event as fields of a response."""
    event: dict[str, Any] = {"type": type, "target": task.id}
    if path is not None:
        event["path"] = path
    event["payload"] = payload
    text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    event_id = tx.record_event(workspace=normalize_workspace(workspace), address=task.id, payload=text)
    ingest(tx, task_document(workspace, task, f"{task.id}-trace"), event_id, event)
    return render_event(event_id, tx.now_ms, event, tx.actor)


def ingest(tx: Transaction, trace: DocumentRef, event_id: str, event: dict[str, Any]) -> bool:
    """Write an event into a trace document; return false if the document already contains it."""
    there = tx.row(
        "select 1 from doc_entries where branch_id = :branch_id and doc = :doc and source_event_id = :event_id"
        " and written_as = 'event'",
        {"branch_id": trace.branch.branch_id, "doc": trace.doc, "event_id": event_id},
    )
    if there is not None:
        return False
    step = f" {event['path']}" if "path" in event else ""
    note = Note(f"{event['type']} {event['target']}{step}", event["type"], None, event)
    append(tx, trace, note, written_as="event", source_event_id=event_id)
    return True


def render_event(event_id: str, ts_ms: int, event: dict[str, Any], by: str | None) -> dict[str, Any]:
    """Return an event as fields of a response."""
    fields = {"event_id": event_id, "ts": format_time(ts_ms), "ts_ms": ts_ms, **event}
    return fields if by is None else {**fields, "by": by}


def mutation_response(workspace: str, task: Task, event: dict[str, Any], step: Step | None = None) -> dict[str, Any]:
    """Return the response of each mutation."""
    step_fields = {} if step is None else {"step": step.address()}
    names = {"workspace": workspace, "id": task.id, "kind": task.kind, "title": task.title}
    return {**names, "revision": task.revision, "event": event, **step_fields}


def version_mismatch(workspace: str, target: str, expected: int, actual: int) -> MossError:
    """Return the error for an unexpected revision."""
    return MossError(
        "VERSION_MISMATCH",
        f"{target} is at revision {actual}, not {expected}; look at it, then send `expected_revision: {actual}`",
        details={"expected": expected, "actual": actual},
        recovery=next_call("tasks_radar", {"workspace": workspace, "target": target}, "shows what it is now"),
    )
