"""References from a plan or task to the branch and documents of its reasoning."""

from __future__ import annotations

from .task_rows import Task, find_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction


class Reference:
    """The branch and documents of the reasoning about a plan or task."""

    __slots__ = ("branch", "graph_doc", "notes_doc", "task", "trace_doc")

    def __init__(self, task: Task) -> None:
        self.task = task
        self.branch = f"{task.kind}/{task.id}"
        self.notes_doc = "notes"
        self.trace_doc = f"{task.id}-trace"
        self.graph_doc = f"{task.id}-graph"

    def to_dict(self) -> dict[str, str]:
        """Return the reference as the field `reasoning_ref`."""
        return {
            "branch": self.branch,
            "notes_doc": self.notes_doc,
            "graph_doc": self.graph_doc,
            "trace_doc": self.trace_doc,
        }


def find_reference(tx: ReadTransaction, workspace: str, target: str) -> Reference:
    """Return the reference of a plan or task; raise `NOT_FOUND` if it does not exist."""
    return Reference(find_task(tx, workspace, target))
