"""Reasoning and tasks of a workspace as files, one for each table, with numbers that count within the workspace."""

from __future__ import annotations

import json

from .export_schema import InvalidRow, NumbersInUse, Ranks
from .families import reasoning
from .families import tasks as task
from .file_names import encode_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

    from .export_schema import Line, Table, Values

    Rows = dict[str, list[Values]]

REASONING, TASKS = "reasoning", "tasks"
SUFFIX = ".jsonl"
FOLDERS = {REASONING: reasoning.TABLES, TASKS: task.TABLES}
LOCAL_TABLES = ("task_claims",)
"""Tables that belong to a store: leases end soon and go by its clock."""
REVISION = "revision"
_TABLES: dict[str, tuple[str, Table]] = {
    table.name: (folder, table) for folder, tables in FOLDERS.items() for table in tables
}
ORIGINS = reasoning.WORKSPACE_ORIGINS.name
_TABLES[ORIGINS] = (REASONING, reasoning.WORKSPACE_ORIGINS)
_CONFLICT = "conflict_id"


class WorkspaceFiles:
    """The reasoning and the tasks of a workspace in the form of files."""

    def __init__(self, workspace: str, rows: Rows) -> None:
        self.workspace = workspace
        self._rows = rows
        used = NumbersInUse()
        for name, table_rows in rows.items():
            for values in table_rows:
                _TABLES[name][1].renumber(values, used)
        self._numbers = {series: sorted(numbers) for series, numbers in sorted(used.found.items())}

    @classmethod
    def of(cls, tx: ReadTransaction, workspace: str, *, complete: bool = False, origins: bool = True) -> WorkspaceFiles:
        """Read the rows of a store; `complete` includes the tables that belong to a store."""
        rows = {
            name: list(table.rows(tx, table.workspace_condition, workspace=workspace))
            for name, (_, table) in _TABLES.items()
            if (complete or name not in LOCAL_TABLES) and (origins or name != ORIGINS)
        }
        return cls(workspace, rows)

    def count(self, folder: str) -> int:
        return sum(len(rows) for name, rows in self._rows.items() if _TABLES[name][0] == folder and name != ORIGINS)

    def files(self) -> dict[str, bytes]:
        """Return path and content of every file; tables without rows have none."""
        tables = {
            series: {number: rank for rank, number in enumerate(numbers, 1)}
            for series, numbers in self._numbers.items()
        }
        ranks = Ranks(tables)
        files = {}
        for name, rows in self._rows.items():
            folder, table = _TABLES[name]
            if rows:
                left_out = (table.workspace, REVISION) if name == "tasks" else (table.workspace,)
                lines = [_encode_line(table.line(table.renumber(values, ranks), *left_out)) for values in rows]
                files[table_path(folder, self.workspace, name)] = "".join(lines).encode()
        return files

    def numbers(self) -> Line:
        """Return the numbers in the store by rank, and other columns that belong to it."""
        return {
            "workspace": self.workspace,
            "numbers": self._numbers,
            "conflict_ids": [values[_CONFLICT] for values in self._rows.get("graph_conflicts", [])],
            "revisions": {values["id"]: values[REVISION] for values in self._rows.get("tasks", [])},
        }


def table_path(folder: str, workspace: str, table: str) -> str:
    return f"{folder}/{encode_name(workspace)}/{table}{SUFFIX}"


def table_at_path(path: str) -> str | None:
    """Return the table of a file, or None if it is no file of a workspace."""
    folder, _, inner_path = path.partition("/")
    workspace, _, name = inner_path.partition("/")
    entry = _TABLES.get(name.removesuffix(SUFFIX)) if name.endswith(SUFFIX) and workspace else None
    return None if entry is None or entry[0] != folder else name.removesuffix(SUFFIX)


def _encode_line(line: Line) -> str:
    fields = {key: value for key, value in line.items() if value is not None and not (key == "tags" and value == [])}
    return json.dumps(fields, ensure_ascii=False) + "\n"


def parse_rows(name: str, content: str, workspace: str, revisions: dict[str, Any]) -> Iterator[tuple[int, Values]]:
    """Yield the rows of a file with their line numbers; raise `InvalidRow` if one is invalid.

    A task whose revision is unknown gets 1.
    """
    table = _TABLES[name][1]
    for number, raw in enumerate(content.split("\n"), 1):
        if not raw.strip():
            continue
        try:
            line = json.loads(raw)
            if not isinstance(line, dict):
                raise InvalidRow("it is no JSON object")
            if table.workspace:
                line[table.workspace] = workspace
            if name == "tasks":
                line[REVISION] = revisions.get(str(line.get("id")), 1)
            values = table.read(line)
        except (ValueError, RecursionError):
            raise InvalidRow(f"line {number} is no JSON") from None
        except InvalidRow as problem:
            raise InvalidRow(f"line {number}: {problem}") from None
        yield number, values


def in_store_numbers(rows: Rows, numbers: Line | None, first: dict[str, int]) -> Rows:
    """Return rows with the numbers of the store that they are from, else with the next free ones.

    `first` has the last number of each series that is in use, and is advanced.
    """
    used = NumbersInUse()
    for name, table_rows in rows.items():
        for values in table_rows:
            _TABLES[name][1].renumber(values, used)
    stored_numbers = (numbers or {}).get("numbers") or {}
    tables = {}
    for series, ranks in used.found.items():
        listed = stored_numbers.get(series)
        if listed is not None and max(ranks) <= len(listed):
            tables[series] = {rank: listed[rank - 1] for rank in ranks}
        else:
            tables[series] = {rank: first.get(series, 0) + rank for rank in ranks}
        first[series] = max(first.get(series, 0), *tables[series].values())
    move = Ranks(tables)
    moved = {
        name: [_TABLES[name][1].renumber(values, move) for values in table_rows] for name, table_rows in rows.items()
    }
    ids = (numbers or {}).get("conflict_ids") or []
    conflicts = moved.get("graph_conflicts", [])
    if len(ids) == len(conflicts):
        for values, conflict in zip(conflicts, ids, strict=True):
            values[_CONFLICT] = conflict
    return moved
