"""What a `target` stands for: the branch and the documents of a plan or a task."""

from __future__ import annotations

from ..task.rows import find_task, sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..storage.engine import ReadTransaction
    from ..values import Workspace


class Reference:
    """Where the reasoning about a plan or a task lives."""

    __slots__ = ("branch", "graph_doc", "kind", "notes_doc", "summary", "target", "trace_doc")

    def __init__(self, target: str, kind: str, summary: dict[str, Any]) -> None:
        self.target = target
        self.kind = kind
        self.summary = summary
        self.branch = f"{kind}/{target}"
        self.notes_doc = "notes"
        self.trace_doc = f"{target}-trace"
        self.graph_doc = f"{target}-graph"

    def shown(self) -> dict[str, str]:
        """The reference as `reasoning_ref` shows it."""
        return {
            "branch": self.branch,
            "notes_doc": self.notes_doc,
            "graph_doc": self.graph_doc,
            "trace_doc": self.trace_doc,
        }


def reference_of(tx: ReadTransaction, workspace: Workspace, target: str) -> Reference:
    """The reference of a plan or a task; an unknown one is `NOT_FOUND`."""
    task = find_task(tx, workspace, target)
    needed = [row[0] for row in tx.rows(sql["dependencies"], {"workspace": workspace.norm, "id": task.id})]
    return Reference(task.id, task.kind, task.summary(needed))
