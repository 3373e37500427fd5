"""Check the rows of a store on every engine: counters below their limit, and references without cycles."""

from __future__ import annotations

from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator
    from typing import Any

    Rows = Callable[[str], Iterator[tuple[Any, ...]]]
    """Runs a statement and returns its rows."""
    Fault = dict[str, Any]

LAST_EVENT = 1 << 38
"""Change numbers contain their event's number; above this limit they come near the end of 64 bits."""
LAST_CHANGE = 1 << 62
LAST_NUMBER = 1 << 58
"""A document's number in the index is sixteen times the number of its row."""
DEEPEST = 32
"""The maximum depth of a chain of branches."""

_COUNTERS = (
    ("events", "seq", LAST_EVENT),
    ("capsules", "change_seq", LAST_CHANGE),
    ("artifacts", "change_seq", LAST_CHANGE),
    *[(table, "version", LAST_NUMBER) for table in ("capsules", "artifacts", "versions")],
    *[(table, "seq", LAST_NUMBER) for table in ("doc_entries", "graph_versions", "resets", "card_pins")],
    *[(table, "row_id", LAST_NUMBER) for table in ("capsules", "artifacts", "records", "tasks", "steps", "versions")],
    *[(table, "row_id", LAST_NUMBER) for table in ("entities", "observations", "timeline_events", "task_evidence")],
    ("branches", "branch_id", LAST_NUMBER),
    ("task_numbers", "last", LAST_NUMBER),
    ("tasks", "revision", LAST_NUMBER),
    ("tasks", "next_index", LAST_NUMBER),
    ("steps", "next_index", LAST_NUMBER),
)
_PARENTS = (
    ("branches", "base_id", "select branch_id, base_id from branches where base_id is not null"),
    (
        "tasks",
        "parent_id",
        "select workspace_norm, id, workspace_norm, parent_id from tasks where parent_id is not null",
    ),
    (
        "steps",
        "parent_step",
        "select task_row, step_id, task_row, parent_step from steps where parent_step is not null",
    ),
)
_DANGLING = (
    ("branches", "base_id", "branch_id", "branches", "branch_id"),
    *[
        (table, "branch_id", key, "branches", "branch_id")
        for table, key in (
            ("documents", "doc"),
            ("doc_entries", "seq"),
            ("resets", "seq"),
            ("tags", "name"),
            ("graph_versions", "seq"),
            ("tasks", "id"),
        )
    ],
    ("graph_conflicts", "from_id", "conflict_id", "branches", "branch_id"),
    ("graph_conflicts", "into_id", "conflict_id", "branches", "branch_id"),
    ("branches", "workspace_norm", "branch_id", "workspaces", "workspace_norm"),
    ("workspaces", "checkout_id", "workspace_norm", "branches", "branch_id"),
    ("steps", "task_row", "step_id", "tasks", "row_id"),
    ("task_evidence", "task_row", "row_id", "tasks", "row_id"),
    ("task_claims", "task_row", "row_id", "tasks", "row_id"),
    ("records", "entity_row", "row_id", "entities", "row_id"),
    ("observations", "entity_row", "row_id", "entities", "row_id"),
    ("observations", "record_row", "row_id", "records", "row_id"),
    ("timeline_events", "entity_row", "row_id", "entities", "row_id"),
    ("timeline_events", "record_row", "row_id", "records", "row_id"),
)
_WRITTEN = (("doc_entries", "log"), ("graph_versions", "graph"))
"""Tables of rows in documents, and the shape of these documents."""
_KEYS = {"branches": "branch_id", "tasks": "row_id", "entities": "row_id"}
_WORKSPACE_REFERENCES = (
    ("doc_entries", "branch_id", "branches", "seq"),
    ("graph_versions", "branch_id", "branches", "seq"),
    ("tags", "branch_id", "branches", "name"),
    ("tasks", "branch_id", "branches", "id"),
    ("steps", "task_row", "tasks", "step_id"),
    ("task_claims", "task_row", "tasks", "row_id"),
    ("records", "entity_row", "entities", "row_id"),
    ("observations", "entity_row", "entities", "row_id"),
)


def breaking(rows: Rows) -> Iterator[Fault]:
    """Yield each counter that is out of range and each cycle of references."""
    yield from _counters(rows)
    yield from _cycles(rows)


def _counters(rows: Rows) -> Iterator[Fault]:
    for table, column, last in _COUNTERS:
        for least, most in rows(f"select min({column}), max({column}) from {table}"):
            for value in (least, most):
                if value is not None and not (isinstance(value, int) and 0 <= value <= last):
                    yield fault(table, value, column, f"is out of the range 0 to {last}")
                    break


def _cycles(rows: Rows) -> Iterator[Fault]:
    for table, column, statement in _PARENTS:
        parents = {_key_part(row, 0): _key_part(row, 1) for row in rows(statement)}
        cycle_key, deepest = _find_parent_cycle(parents)
        if cycle_key is not None:
            yield fault(table, _as_json(cycle_key), column, "is part of a cycle")
        elif table == "branches" and deepest > DEEPEST:
            yield fault(table, None, column, f"makes a chain of {deepest}, and at most {DEEPEST} are allowed")
    waits: dict[Hashable, list[Hashable]] = {}
    for row in rows("select workspace_norm, id, workspace_norm, depends_on from task_dependencies"):
        waits.setdefault(_key_part(row, 0), []).append(_key_part(row, 1))
    circle = _find_cycle(waits)
    if circle is not None:
        yield fault("task_dependencies", _as_json(circle), "depends_on", "is part of a cycle")


def _find_parent_cycle(parents: dict[Any, Any]) -> tuple[Any, int]:
    """Return a key on a cycle of parents, or None, and the length of the longest chain."""
    depth: dict[Any, int] = {}
    for start in parents:
        path = []
        node = start
        visited = set()
        while node in parents and node not in depth:
            if node in visited:
                return node, 0
            visited.add(node)
            path.append(node)
            node = parents[node]
        length = depth.get(node, 0)
        for key in reversed(path):
            length += 1
            depth[key] = length
    return None, max(depth.values(), default=0)


def _find_cycle(after: dict[Any, list[Any]]) -> Any:
    """Return a key on a cycle, or None."""
    finished: set[Any] = set()
    for start in after:
        open_: dict[Any, Iterator[Any]] = {} if start in finished else {start: iter(after[start])}
        while open_:
            node, following = next(reversed(open_.items()))
            successor = next((candidate for candidate in following if candidate not in finished), None)
            if successor is None:
                finished.add(node)
                del open_[node]
            elif successor in open_:
                return successor
            else:
                open_[successor] = iter(after.get(successor, ()))
    return None


def dangling(rows: Rows) -> Iterator[Fault]:
    """Yield the first dangling reference of each kind."""
    for table, column, key, target, target_key in _DANGLING:
        statement = (
            f"select {key} from {table} as one where {column} is not null and not exists"
            f" (select 1 from {target} as other where other.{target_key} = one.{column}) limit 1"
        )
        for (row,) in rows(statement):
            yield fault(table, row, column, f"names a row of {target} that is not there")
    yield from _without_document(rows)
    yield from _misplaced(rows)


def _without_document(rows: Rows) -> Iterator[Fault]:
    """Yield the first document of each shape that has entries but no row in `documents`."""
    for table, shape in _WRITTEN:
        statement = (
            f"select branch_id, doc from (select distinct branch_id, doc from {table}) as one where not exists"
            f" (select 1 from documents as other where other.branch_id = one.branch_id and other.shape = '{shape}'"
            " and other.doc = one.doc) limit 1"
        )
        for branch_id, doc in rows(statement):
            yield fault("documents", [branch_id, doc], "doc", f"is missing, and {table} has rows of it")


def _misplaced(rows: Rows) -> Iterator[Fault]:
    """Yield the first row of each table whose workspace differs from that of its branch, task or entity."""
    for table, column, target, key in _WORKSPACE_REFERENCES:
        statement = (
            f"select one.{key} from {table} as one join {target} as other on other.{_KEYS[target]} = one.{column}"
            " where other.workspace_norm <> one.workspace_norm limit 1"
        )
        for (row,) in rows(statement):
            yield fault(table, row, "workspace_norm", f"is another than in {target}")


def _key_part(row: tuple[Any, ...], part: int) -> Any:
    size = len(row) // 2
    return row[part * size] if size == 1 else tuple(row[part * size : (part + 1) * size])


def _as_json(key: Any) -> Any:
    return list(key) if isinstance(key, tuple) else key


def fault(table: str, row: Any, column: str, what: str) -> Fault:
    """Return a fault as errors and `doctor` show it."""
    return {"table": table, "row": shorten(row), "column": column, "fault": what}


def shorten(value: Any) -> Any:
    """Return a value as JSON can represent it, shortened."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, list):
        return [shorten(item) for item in value]
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return str(value)[:100]


def describe(found: Fault) -> str:
    """Return a fault as one line of text."""
    row = "" if found["row"] is None else f" row {found['row']!r}"
    return f"{found['table']}{row}: {found['column']} {found['fault']}"


def inconsistent(where: str, found: list[Fault], todo: str) -> MossError:
    """Return the error for a store with inconsistent rows."""
    suffix = f" and {len(found) - 3} more" if len(found) > 3 else ""
    shown = "; ".join([describe(entry) for entry in found[:3]])
    return MossError(
        "STORAGE_CORRUPT", f"the rows of {where} are damaged: {shown}{suffix}. {todo}", details={"faults": found[:100]}
    )
