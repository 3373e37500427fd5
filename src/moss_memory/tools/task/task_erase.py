"""Permanent erasure of the texts of a plan, task or step: notes, evidence, cards and trace."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.rows.hard_delete import ERASED, HardDelete
from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.reasoning.branches.document_refs import branch_named
from moss_memory.tools.reasoning.graph.node_erase import Nodes, branch_groups
from moss_memory.tools.reasoning.reasoning_erase import (
    blank_events,
    copies_of_entries,
    entries_erasure,
    erase_copies_of_nodes,
    versions_of_key,
)
from moss_memory.tools.reasoning.reasoning_sql import sql as reasoning_sql
from moss_memory.tools.task.model.task_rows import Task, save_step, sql, steps_of, unknown_task

from .graph_projection import step_node
from .task_mutation import Mutation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction
    from moss_memory.tools.task.model.task_rows import Step


def erase_task(tx: ReadTransaction, workspace: str, target: str | None, *, step_id: str | None) -> HardDelete:
    """Return the erasure of the texts of a plan, task or step; the row and its status remain.

    If it was deleted, the erasure covers the remaining copies of its texts.
    """
    if target is None:
        raise invalid_request("`target` is needed: the plan or task", path="target")
    work = _TaskErasure(tx, workspace, target)
    return work.erasure() if step_id is None else work.erasure_of_step(step_id)


def target_of_step(tx: ReadTransaction, workspace: str, step_id: str) -> str:
    target = tx.value(sql["task_of_step"], {"workspace": normalize_workspace(workspace), "step_id": step_id})
    if target is None:
        raise MossError(
            "NOT_FOUND",
            f"workspace {workspace!r} has no step {step_id[:100]!r}; give `target` and `step_id` of a deleted one",
            recovery=next_call("tasks_list", {"workspace": workspace}, "lists the plans and tasks there are"),
        )
    return str(target)


class _TaskErasure:
    """A plan or task, deleted or not, with all rows that contain its texts."""

    def __init__(self, tx: ReadTransaction, workspace: str, id: str) -> None:
        self._tx = tx
        self._workspace = workspace
        self._id = id
        key = {"workspace": normalize_workspace(workspace), "id": id}
        row = tx.row(sql["task"], key)
        self._task = None if row is None else Task(row)
        event_rows = tx.stream(sql["events_of_task"], key)
        self._events: dict[str, dict[str, Any]] = {event_id: json.loads(payload) for event_id, payload in event_rows}
        if self._task is None and not self._events:
            raise unknown_task(tx, workspace, id)
        branches = [branch_named(tx, workspace, f"{kind}/{id}") for kind in ("task", "plan")]
        self._branches = [branch.branch_id for branch in branches if branch is not None]

    def erasure(self) -> HardDelete:
        task, tx = self._task, self._tx
        steps = [] if task is None else steps_of(tx, task)
        cards = self._cards()
        entries = {seq for nodes in cards for seq in nodes.entries()}
        entries.update(seq for branch_id in self._branches for seq in self._entries_on(branch_id, None))
        trace = {"workspace": normalize_workspace(self._workspace), "doc": f"{self._id}-trace"}
        entries.update(seq for (seq,) in tx.stream(sql["entries_of_document"], trace))
        step_keys: set[str] = set()
        for branch_id in self._branches:
            graph = {"branch_id": branch_id, "doc": f"{self._id}-graph"}
            step_keys.update(key for (key,) in tx.stream(sql["steps_in_graph"], graph))
        keys = [f"task:{self._id}", *sorted(step_keys)]
        texts = [event.get("payload", {}).get("title") for event in self._events.values()]
        if task is not None:
            texts += [task.title, task.description]
        row = [] if task is None else [("tasks", task.row_id)]
        own = HardDelete(lambda tx: self._blank_task(tx, steps), rows=len(row), texts=texts, row_versions=row)
        parts = [self._parts_erasure(steps, keys, None), *(nodes.erasure() for nodes in cards)]
        return entries_erasure(tx, entries).combined_with([own, *parts, self._copies_erasure(keys)])

    def erasure_of_step(self, step_id: str) -> HardDelete:
        path, step = self._step(step_id)
        events = {event_id: event for event_id, event in self._events.items() if event.get("path") == path}
        entries = [seq for branch_id in self._branches for seq in self._entries_on(branch_id, events)]
        keys = [f"step:{step_id}"]
        steps = [] if step is None else [step]
        own = HardDelete(lambda tx: self._blank_step(tx, step, events))
        parts = self._parts_erasure(steps, keys, step_id)
        return entries_erasure(self._tx, entries).combined_with([own, parts, self._copies_erasure(keys)])

    def _step(self, step_id: str) -> tuple[str, Step | None]:
        """Return the path of a step, and the step or None if it was deleted."""
        steps = [] if self._task is None else steps_of(self._tx, self._task)
        step = next((candidate for candidate in steps if candidate.step_id == step_id), None)
        if step is not None:
            return step.path, step
        for branch_id in self._branches:
            key = {"branch_id": branch_id, "doc": f"{self._id}-graph", "key": f"step:{step_id}"}
            meta = self._tx.value(sql["step_in_graph"], key)
            if meta is not None:
                return json.loads(meta)["path"], None
        raise MossError(
            "NOT_FOUND",
            f"{self._id} has no step {step_id[:100]!r} and never had one",
            recovery=next_call(
                "tasks_radar", {"workspace": self._workspace, "target": self._id}, "lists the steps there are"
            ),
        )

    def _parts_erasure(self, steps: list[Step], keys: list[str], step_id: str | None) -> HardDelete:
        """Return the erasure of steps, evidence, claims and their nodes."""
        tx = self._tx
        texts: list[str | None] = []
        for step in steps:
            texts += [step.title, step.block_reason]
            texts += [text for name in ("success_criteria", "tests", "blockers") for text in step.texts(name)]
        evidence: list[tuple[int, str]] = []
        if self._task is not None:
            rows = tx.stream(sql["evidence_rows"], {"task_row": self._task.row_id})
            evidence = [
                (row_id, content) for row_id, evidence_step, content in rows if step_id in (None, evidence_step)
            ]
        versions = [version for key in keys for version in versions_of_key(tx, self._workspace, key)]
        own = [("steps", step.row_id) for step in steps] + [("task_evidence", row_id) for row_id, _ in evidence]
        return HardDelete(
            lambda tx: self._delete_evidence_and_claims(tx, step_id),
            rows=len(steps) + len(evidence),
            vectors=tx.vectors_of("node", [seq for seq, _ in versions]),
            texts=[*texts, *(content for _, content in evidence), *(title for _, title in versions)],
            row_versions=[*own, *(("graph_versions", seq) for seq, _ in versions)],
            owners=[self._id],
        )

    def _delete_evidence_and_claims(self, tx: Transaction, step_id: str | None) -> None:
        if self._task is None:
            return
        key = {"task_row": self._task.row_id, "step_id": step_id}
        for statement in ("delete_evidence", "release_all") if step_id is None else ("delete_step_evidence", "release"):
            tx.run(sql[statement], key)

    def _blank_task(self, tx: Transaction, steps: list[Step]) -> None:
        blank_events(tx, list(self._events))
        if self._task is None:
            return
        mutation = Mutation(tx, self._workspace, self._id, None)
        mutation.task.title = ERASED
        mutation.task.description = mutation.task.contract_json = mutation.task.tags_json = None
        for step in steps:
            _blank_texts(tx, step)
        mutation.finish(f"{mutation.task.kind}_erased", {}, shown=[step_node(step) for step in steps])

    def _blank_step(self, tx: Transaction, step: Step | None, events: dict[str, dict[str, Any]]) -> None:
        blank_events(tx, list(events))
        if step is not None:
            mutation = Mutation(tx, self._workspace, self._id, None)
            _blank_texts(tx, step)
            mutation.finish("step_erased", {}, step=step, shown=[step_node(step)])

    def _copies_erasure(self, keys: list[str]) -> HardDelete:
        """Return the erasure of copies in other graphs and earlier versions; it must run last."""
        return HardDelete(lambda tx: erase_copies_of_nodes(tx, self._workspace, keys))

    def _cards(self) -> list[Nodes]:
        """Return the cards in the task's graph on any branch, and all nodes on its own branch."""
        tx, graph = self._tx, f"{self._id}-graph"
        cards = []
        for group in branch_groups(tx, self._workspace):
            ids: dict[str, list[str]] = {}
            scopes = [
                (group, "doc = :doc"),
                *(([branch_id], "doc <> :doc") for branch_id in self._branches if branch_id in group),
            ]
            for branches, doc in scopes:
                gaps = {"branches": tx.sql_in("branch_id", "branches"), "doc": doc}
                statement = reasoning_sql["nodes_in_document"].filled(**gaps)
                for name, key in tx.stream(statement, {"branches": branches, "doc": graph}):
                    ids.setdefault(name, []).append(key)
            cards += [Nodes(tx, self._workspace, group, doc, keys) for doc, keys in ids.items()]
        return cards

    def _entries_on(self, branch_id: int, events: dict[str, dict[str, Any]] | None) -> list[int]:
        """Return the entries on the task's branch, or only those of some events and of their notes.

        Copies made by merges are included.
        """
        entries = list(self._tx.stream(sql["entries_of_branch"], {"branch_id": branch_id}))
        if events is not None:
            notes = {event["payload"].get("seq") for event in events.values()}
            entries = [(seq, source) for seq, source in entries if source in events or seq in notes]
        seqs = [seq for seq, _ in entries]
        return [*seqs, *copies_of_entries(self._tx, self._workspace, branch_id, seqs)]


def _blank_texts(tx: Transaction, step: Step) -> None:
    step.title = ERASED
    step.success_criteria_json = step.tests_json = step.blockers_json = None
    if step.block_reason is not None:
        step.block_reason = ERASED
    save_step(tx, step)
