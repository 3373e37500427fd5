"""One change of a plan or task: state, event, trace entry and graph, in the transaction of the call."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, next_call
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.times import format_time
from moss_memory.tools.reasoning.branches.document_refs import DocumentRef
from moss_memory.tools.reasoning.notes.note_tools import Note, append
from moss_memory.tools.task.model.task_rows import Step, Task, find_task, save_task

from .graph_projection import home_of, show, show_elsewhere, task_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Transaction
    from moss_memory.tools.reasoning.graph.node_versions import Version


class Mutation:
    """A plan or task that is about to change, once its revision is the expected one."""

    def __init__(self, tx: Transaction, workspace: str, target: str, expected_revision: int | None) -> None:
        self.tx = tx
        self.workspace = workspace
        self.task = find_task(tx, self.workspace, target)
        self._look = (self.task.title, self.task.status)
        if expected_revision is not None and expected_revision != self.task.revision:
            raise version_mismatch(self.workspace, target, expected_revision, self.task.revision)

    def refuse(
        self, problem: str, *, details: dict[str, Any] | None = None, recovery: dict[str, Any] | None = None
    ) -> MossError:
        """A `CONFLICT` with the state of the plan or task, and what to call instead."""
        radar = next_call("tasks_radar", {"workspace": self.workspace, "target": self.task.id}, "shows where it stands")
        return MossError("CONFLICT", problem, details=details, recovery=recovery or radar)

    def refuse_done(self) -> None:
        """Refuses changes that would leave something open in what is done."""
        if self.task.status == "DONE":
            raise self.refuse(
                f"{self.task.id} is DONE; reopen it first",
                recovery=next_call(
                    "tasks_reopen", {"workspace": self.workspace, "target": self.task.id}, "makes it ACTIVE again"
                ),
            )

    def refuse_in_done_plan(self) -> None:
        """Refuses to open a task of a plan that is closed."""
        parent = self.task.parent_id
        if parent is not None and find_task(self.tx, self.workspace, parent).status == "DONE":
            arguments = {"workspace": self.workspace, "target": parent}
            raise self.refuse(
                f"{self.task.id} belongs to {parent}, which is DONE; reopen that first",
                recovery=next_call("tasks_reopen", arguments, "makes the plan ACTIVE again"),
            )

    def finish(
        self, type: str, payload: dict[str, Any], *, step: Step | None = None, shown: list[Version] | None = None
    ) -> dict[str, Any]:
        """Writes the next revision, its event, its trace entry and its nodes; gives the answer of the call."""
        task = self.task
        task.revision += 1
        save_task(self.tx, task)
        event = emit(self.tx, self.workspace, task, type, payload, path=None if step is None else step.path)
        versions = list(shown or ())
        if self._look != (task.title, task.status):
            versions.append(task_node(task))
            show_elsewhere(self.tx, self.workspace, task)
        if versions:
            show(self.tx, self.workspace, task, versions)
        return answer(task, event, step)


def emit(
    tx: Transaction, workspace: str, task: Task, type: str, payload: dict[str, Any], *, path: str | None = None
) -> dict[str, Any]:
    """Writes an event and, with the same id, its trace entry; gives the event as callers see it."""
    said: dict[str, Any] = {"type": type, "target": task.id}
    if path is not None:
        said["path"] = path
    said["payload"] = payload
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    event_id = tx.record_event(workspace=normalize_workspace(workspace), address=task.id, payload=text)
    ingest(tx, home_of(workspace, task, f"{task.id}-trace"), event_id, said)
    return shown_event(event_id, tx.now_ms, said)


def ingest(tx: Transaction, trace: DocumentRef, event_id: str, said: dict[str, Any]) -> bool:
    """Writes an event into a trace document, once however often it is told; says whether it was new."""
    there = tx.row(
        "select 1 from doc_entries where branch_id = :branch_id and doc = :doc and source_event_id = :event_id"
        " and written_as = 'event'",
        {"branch_id": trace.branch.branch_id, "doc": trace.doc, "event_id": event_id},
    )
    if there is not None:
        return False
    step = f" {said['path']}" if "path" in said else ""
    note = Note(f"{said['type']} {said['target']}{step}", said["type"], None, said)
    append(tx, trace, note, written_as="event", source_event_id=event_id)
    return True


def shown_event(event_id: str, ts_ms: int, said: dict[str, Any]) -> dict[str, Any]:
    """An event as `tasks_delta` and the answers of mutations show it."""
    return {"event_id": event_id, "ts": format_time(ts_ms), "ts_ms": ts_ms, **said}


def answer(task: Task, event: dict[str, Any], step: Step | None = None) -> dict[str, Any]:
    """What every mutation answers."""
    named = {} if step is None else {"step": step.address()}
    return {"id": task.id, "kind": task.kind, "revision": task.revision, "event": event, **named}


def version_mismatch(workspace: str, target: str, expected: int, actual: int) -> MossError:
    """The refusal of a change that was made for another revision."""
    return MossError(
        "VERSION_MISMATCH",
        f"{target} is at revision {actual}, not {expected}; look at it, then send `expected_revision: {actual}`",
        details={"expected": expected, "actual": actual},
        recovery=next_call("tasks_radar", {"workspace": workspace, "target": target}, "shows what it is now"),
    )
