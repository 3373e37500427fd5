"""Rows of plans, tasks and steps: lookup, updates, response fields, and references to their reasoning."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, closest_match, invalid_request, next_call
from moss_memory.registry.responses import ResponseSchema, choice, free, integer, object_of, text, texts
from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.named_rows import NamedRow
from moss_memory.storage.queries import load_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from moss_memory.storage.engine import ReadTransaction, Row, Transaction

CHECKPOINTS = ("criteria", "tests", "security", "perf", "docs")
REQUIRED_CHECKPOINTS = {"criteria": "success_criteria", "tests": "tests"}
"""The checkpoints that closing a step requires, each with the texts that it confirms."""
STEPS_MAX = 100_000
_DIGITS = 3

sql = load_queries(__file__)

REFERENCE = object_of(
    ResponseSchema(
        "ReasoningRef",
        {
            "branch": text("branch of the plan or task"),
            "notes_doc": text("its notes"),
            "graph_doc": text("its graph"),
            "trace_doc": text("its trace"),
        },
    ),
    "the branch and documents of the reasoning about it",
)
TARGET = ResponseSchema(
    "Target",
    {
        "id": text("PLAN-001 or TASK-001"),
        "kind": choice(("plan", "task"), "plan or task"),
        "title": text("the work to do"),
        "status": choice(("TODO", "ACTIVE", "DONE"), "its status"),
        "parent": text("the plan of a task", optional=True),
        "tags": texts("tags", optional=True),
        "revision": integer("rises with every change", optional=True),
        "priority": choice(("low", "normal", "high"), "its urgency", optional=True),
        "description": text("details", optional=True),
        "contract": free("the goal of a plan and its criteria", optional=True),
        "depends_on": texts("plans and tasks to finish first", optional=True),
    },
)
"""A plan or task in a response; optional fields are dropped if the budget is small."""


class MutableRow:
    """A row with named columns that can be changed; a subclass annotates the columns of its queries in their order."""

    columns: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.columns = tuple(cls.__annotations__)

    def __init__(self, row: Row) -> None:
        for column, value in zip(self.columns, row, strict=True):
            setattr(self, column, value)

    def values(self) -> dict[str, Any]:
        return {column: getattr(self, column) for column in self.columns}


class Task(MutableRow):
    """A plan or a task."""

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
        return list(json.loads(self.tags_json)) if self.tags_json else []

    def list_item(self) -> dict[str, Any]:
        parent = {} if self.parent_id is None else {"parent": self.parent_id}
        names = {"id": self.id, "kind": self.kind, "title": self.title, "status": self.status}
        return {**names, **parent, "tags": self.tags(), "revision": self.revision}

    def summary(self, depends_on: list[str]) -> dict[str, Any]:
        fields: dict[str, Any] = {**self.list_item(), "priority": self.priority}
        if self.description is not None:
            fields["description"] = self.description
        if self.contract_json is not None:
            fields["contract"] = json.loads(self.contract_json)
        if depends_on:
            fields["depends_on"] = depends_on
        return fields


class Step(MutableRow):
    """One step of a plan or a task."""

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
        return dict(json.loads(self.checkpoints_json)) if self.checkpoints_json else {}

    def texts(self, name: str) -> list[str]:
        stored = getattr(self, f"{name}_json")
        return list(json.loads(stored)) if stored else []

    def missing(self) -> list[str]:
        """Return the checkpoints that the step defines and that are not confirmed."""
        confirmed = self.checkpoints()
        return [name for name, texts in REQUIRED_CHECKPOINTS.items() if self.texts(texts) and not confirmed.get(name)]

    def status(self) -> str:
        if self.done:
            return "done"
        return "blocked" if self.blocked else "open"

    def to_dict(self) -> dict[str, Any]:
        return {
            "step_id": self.step_id,
            "path": self.path,
            "title": self.title,
            "done": bool(self.done),
            "blocked": bool(self.blocked),
            "checkpoints": self.checkpoints(),
        }

    def address(self) -> dict[str, str]:
        return {"step_id": self.step_id, "path": self.path, "title": self.title}


def reserve_task_numbers(tx: Transaction, workspace: str, kind: str, count: int = 1) -> int:
    """Reserve `count` consecutive numbers of a workspace and return the first; they are never reused."""
    last: int = tx.value(
        sql["take_numbers"], {"workspace": normalize_workspace(workspace), "kind": kind, "count": count}
    )
    return last - count + 1


def format_id(kind: str, number: int) -> str:
    """Return an id such as `TASK-007`, with more digits beyond 999."""
    return f"{kind.upper()}-{number:0{_DIGITS}d}"


def find_task(tx: ReadTransaction, workspace: str, id: str, *, what: str = "target") -> Task:
    row = tx.row(sql["task"], {"workspace": normalize_workspace(workspace), "id": id})
    if row is None:
        raise unknown_task(tx, workspace, id, what=what)
    return Task(row)


def unknown_task(tx: ReadTransaction, workspace: str, id: str, *, what: str = "target") -> MossError:
    rows = tx.rows("select id from tasks where workspace_norm = :w limit 1000", {"w": normalize_workspace(workspace)})
    task_ids = [known_id for (known_id,) in rows]
    like = closest_match(id.upper(), task_ids, cutoff=0.6)
    hint = f"; did you mean {like}?" if like else ""
    return MossError(
        "NOT_FOUND",
        f"`{what}`: there is no plan or task {id[:100]!r} in workspace {workspace!r}{hint}",
        recovery=next_call("tasks_list", {"workspace": workspace}, "lists the plans and tasks there are"),
    )


class Dependency(NamedRow):
    """A plan or task that another one depends on."""

    __slots__ = ()
    id: str
    title: str
    status: str


def task_key(workspace: str, task: Task) -> dict[str, Any]:
    """Return the parameters of a statement about a plan or task."""
    return {"workspace": normalize_workspace(workspace), "id": task.id}


def dependencies_of(tx: ReadTransaction, workspace: str, task: Task) -> list[Dependency]:
    """Return the dependencies of a plan or task in the given order."""
    return list(map(Dependency, tx.rows(sql["dependencies"], task_key(workspace, task))))


def tasks_of_plan(tx: ReadTransaction, workspace: str, plan: Task) -> list[Task]:
    """Return the tasks of a plan, oldest first; empty if it is a task."""
    return [Task(row) for row in tx.rows(sql["tasks_of_plan"], task_key(workspace, plan))]


def focus_of(tx: ReadTransaction, workspace: str) -> str | None:
    focus: str | None = tx.value(sql["focus"], {"workspace": normalize_workspace(workspace)})
    return focus


def task_summary(tx: ReadTransaction, workspace: str, task: Task) -> dict[str, Any]:
    """Return the fields of a plan or task with its dependencies, for radar and export."""
    return task.summary([needed.id for needed in dependencies_of(tx, workspace, task)])


def find_step(tx: ReadTransaction, workspace: str, task: Task, step_id: str | None, path: str | None) -> Step:
    """Return the step with this id or path; raise `NOT_FOUND` if there is none."""
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
    return [Step(row) for row in tx.rows(sql[query], {"task_row": task.row_id, "limit": limit, **more})]


def save_task(tx: Transaction, task: Task) -> None:
    tx.run(sql["change_task"], {**task.values(), "now_ms": tx.now_ms})


def save_step(tx: Transaction, step: Step) -> None:
    tx.run(sql["change_step"], step.values())


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
        names = ("branch", "notes_doc", "graph_doc", "trace_doc")
        return {name: getattr(self, name) for name in names}


def find_reference(tx: ReadTransaction, workspace: str, target: str) -> Reference:
    return Reference(find_task(tx, workspace, target))
