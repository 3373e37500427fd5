"""Plans, tasks and steps as they are stored: finding them, changing them, showing them."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request, nearest, next_call
from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.named_rows import NamedRow
from moss_memory.storage.queries import load_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Row, Transaction

TASK_COLUMNS = (
    "row_id", "id", "kind", "title", "description", "priority", "tags_json", "status", "parent_id", "contract_json",
    "revision", "next_index", "branch_id",
)  # fmt: skip
STEP_COLUMNS = (
    "row_id", "step_id", "parent_step", "path", "sort_key", "title", "success_criteria_json", "tests_json",
    "blockers_json", "done", "blocked", "block_reason", "checkpoints_json", "next_index",
)  # fmt: skip
CHECKPOINTS = ("criteria", "tests", "security", "perf", "docs")
REQUIRED_CHECKPOINTS = ("criteria", "tests")
STEPS_MAX = 100_000
_DIGITS = 3

sql = load_queries(__file__)


class Task:
    """A plan or a task."""

    __slots__ = TASK_COLUMNS

    def __init__(self, row: Row) -> None:
        for column, value in zip(TASK_COLUMNS, row, strict=True):
            setattr(self, column, value)

    if TYPE_CHECKING:
        row_id: int
        id: str
        kind: str
        title: str
        description: str | None
        priority: str
        tags_json: str | None
        status: str
        parent_id: str | None
        contract_json: str | None
        revision: int
        next_index: int
        branch_id: int

    def tags(self) -> list[str]:
        """Its tags."""
        return list(json.loads(self.tags_json)) if self.tags_json else []

    def listed(self) -> dict[str, Any]:
        """As lists show it."""
        parent = {} if self.parent_id is None else {"parent": self.parent_id}
        names = {"id": self.id, "kind": self.kind, "title": self.title, "status": self.status}
        return {**names, **parent, "tags": self.tags(), "revision": self.revision}

    def summary(self, depends_on: list[str]) -> dict[str, Any]:
        """As radar and export show it."""
        shown: dict[str, Any] = {**self.listed(), "priority": self.priority}
        if self.description is not None:
            shown["description"] = self.description
        if self.contract_json is not None:
            shown["contract"] = json.loads(self.contract_json)
        if depends_on:
            shown["depends_on"] = depends_on
        return shown


class Step:
    """One step of a plan or a task."""

    __slots__ = STEP_COLUMNS

    def __init__(self, row: Row) -> None:
        for column, value in zip(STEP_COLUMNS, row, strict=True):
            setattr(self, column, value)

    if TYPE_CHECKING:
        row_id: int
        step_id: str
        parent_step: str | None
        path: str
        sort_key: str
        title: str
        success_criteria_json: str | None
        tests_json: str | None
        blockers_json: str | None
        done: int
        blocked: int
        block_reason: str | None
        checkpoints_json: str | None
        next_index: int

    def checkpoints(self) -> dict[str, bool]:
        """Which checkpoints are confirmed."""
        return dict(json.loads(self.checkpoints_json)) if self.checkpoints_json else {}

    def texts(self, name: str) -> list[str]:
        """Its success criteria, tests or blockers."""
        stored = getattr(self, f"{name}_json")
        return list(json.loads(stored)) if stored else []

    def missing(self) -> list[str]:
        """The checkpoints that still keep it from being done."""
        confirmed = self.checkpoints()
        return [name for name in REQUIRED_CHECKPOINTS if not confirmed.get(name)]

    def status(self) -> str:
        """One word for where it stands."""
        if self.done:
            return "done"
        return "blocked" if self.blocked else "open"

    def shown(self) -> dict[str, Any]:
        """As radar shows it."""
        return {
            "step_id": self.step_id,
            "path": self.path,
            "title": self.title,
            "done": bool(self.done),
            "blocked": bool(self.blocked),
            "checkpoints": self.checkpoints(),
        }

    def address(self) -> dict[str, str]:
        """As a mutation's answer names it."""
        return {"step_id": self.step_id, "path": self.path}


def take_numbers(tx: Transaction, workspace: str, kind: str, count: int = 1) -> int:
    """The first of so many numbers of a workspace that are never given out again."""
    last: int = tx.value(
        sql["take_numbers"], {"workspace": normalize_workspace(workspace), "kind": kind, "count": count}
    )
    return last - count + 1


def numbered(kind: str, number: int) -> str:
    """`TASK-007`; beyond 999 the number grows."""
    return f"{kind.upper()}-{number:0{_DIGITS}d}"


def find_task(tx: ReadTransaction, workspace: str, id: str, *, what: str = "target") -> Task:
    """A plan or task by its id; unknown: `NOT_FOUND` with the call that lists them."""
    row = tx.row(sql["task"], {"workspace": normalize_workspace(workspace), "id": id})
    if row is None:
        raise no_such_task(tx, workspace, id, what=what)
    return Task(row)


def no_such_task(tx: ReadTransaction, workspace: str, id: str, *, what: str = "target") -> MossError:
    """The refusal of a plan or task that does not exist."""
    rows = tx.rows("select id from tasks where workspace_norm = :w limit 1000", {"w": normalize_workspace(workspace)})
    known = [known_id for (known_id,) in rows]
    like = nearest(id.upper(), known, cutoff=0.6)
    hint = f"; did you mean {like}?" if like else ""
    return MossError(
        "NOT_FOUND",
        f"`{what}`: there is no plan or task {id[:100]!r} in workspace {workspace!r}{hint}",
        recovery=next_call("tasks_list", {"workspace": workspace}, "lists the plans and tasks there are"),
    )


class Dependency(NamedRow):
    """What a plan or task depends on."""

    __slots__ = ()
    id: str
    title: str
    status: str


def dependencies_of(tx: ReadTransaction, workspace: str, task: Task) -> list[Dependency]:
    """What a plan or task depends on, in the order it was given."""
    return list(
        map(Dependency, tx.rows(sql["dependencies"], {"workspace": normalize_workspace(workspace), "id": task.id}))
    )


def tasks_of_plan(tx: ReadTransaction, workspace: str, plan: Task) -> list[Task]:
    """The tasks of a plan, oldest first; none of a task."""
    return [
        Task(row) for row in tx.rows(sql["tasks_of_plan"], {"workspace": normalize_workspace(workspace), "id": plan.id})
    ]


def focus_of(tx: ReadTransaction, workspace: str) -> str | None:
    """The id of the plan or task in focus, if there is one."""
    focus: str | None = tx.value(sql["focus"], {"workspace": normalize_workspace(workspace)})
    return focus


def summary_of(tx: ReadTransaction, workspace: str, task: Task) -> dict[str, Any]:
    """A plan or task with what it depends on, as radar and export show it."""
    return task.summary([other.id for other in dependencies_of(tx, workspace, task)])


def find_step(tx: ReadTransaction, workspace: str, task: Task, step_id: str | None, path: str | None) -> Step:
    """A step by its id or its path."""
    if step_id is not None and path is not None:
        raise invalid_request("`step_id` and `path` both name the step; give one of them", path="path")
    if step_id is None and path is None:
        raise invalid_request("`step_id` or `path` is needed; `tasks_radar` lists the steps", path="step_id")
    if path is not None:
        row = tx.row(sql["step_by_path"], {"task_row": task.row_id, "path": path})
    else:
        row = tx.row(
            sql["step_by_id"],
            {"workspace": normalize_workspace(workspace), "task_row": task.row_id, "step_id": step_id},
        )
    if row is None:
        raise MossError(
            "NOT_FOUND",
            f"{task.id} has no step {(path or step_id or '')[:100]!r}",
            recovery=next_call("tasks_radar", {"workspace": workspace, "target": task.id}, "lists the steps there are"),
        )
    return Step(row)


def steps_of(
    tx: ReadTransaction, task: Task, query: str = "steps", *, limit: int = STEPS_MAX, **more: Any
) -> list[Step]:
    """The steps of a plan or task as they read."""
    return [Step(row) for row in tx.rows(sql[query], {"task_row": task.row_id, "limit": limit, **more})]


def save_task(tx: Transaction, task: Task) -> None:
    """Writes a changed plan or task."""
    values = {column: getattr(task, column) for column in TASK_COLUMNS}
    tx.run(sql["change_task"], {**values, "now_ms": tx.now_ms})


def save_step(tx: Transaction, step: Step) -> None:
    """Writes a changed step."""
    tx.run(sql["change_step"], {column: getattr(step, column) for column in STEP_COLUMNS})
