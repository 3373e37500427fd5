"""Import of reasoning and tasks by workspace: validated first, then written with new numbers."""

from __future__ import annotations

from moss_memory.rows.names import NAME_MAX_CHARS, normalize_name, normalize_workspace
from moss_memory.storage.origin import note_repositories

from .export_schema import InvalidRow, Renumbering
from .families import reasoning
from .families import tasks as task
from .reasoning_task_files import LOCAL_TABLES, ORIGINS, WorkspaceFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction
    from moss_memory.storage.origin import Origin

    from .export_schema import Line, Table, Values

FILES = {reasoning.FILE: reasoning, task.FILE: task}
TABLES_BY_NAME = {table.name: table for module in FILES.values() for table in module.TABLES}
_FILE_OF = {table.name: file for file, module in FILES.items() for table in module.TABLES}
_SERIES = {**reasoning.SERIES, **task.SERIES}


class Workspaces:
    """The workspaces of two files, and their import."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._rows: dict[str, list[tuple[str, Values]]] = {name: [] for name in TABLES_BY_NAME}
        self._by_workspace: dict[str, dict[str, list[Values]]] = {}
        self._offsets: dict[str, int] = {}
        self._origins: list[Origin] = []
        self._nothing_left = False
        self.lines = dict.fromkeys(FILES, 0)

    def add(self, name: str, values: Values, where: str) -> None:
        """Add one row, or an origin that rows name."""
        if name == ORIGINS:
            self._origins.append(reasoning.origin_in_file(values))
            return
        self._rows[name].append((where, values))
        self.lines[_FILE_OF[name]] += 1

    def add_line(self, file: str, line: Line, where: str) -> None:
        """Parse one line of the first layout; raise `InvalidRow` if it is invalid."""
        name = line.pop("table", None)
        if file == reasoning.FILE and name == reasoning.NUMBERS.name:
            values = reasoning.NUMBERS.read(line)
            self._numbers[values["series"]] = values["last"]
            self.lines[file] += 1
        elif file == reasoning.FILE and name == ORIGINS:
            self.add(ORIGINS, reasoning.ORIGINS.read(line), where)
            self.lines[file] += 1
        elif _FILE_OF.get(str(name)) == file:
            self.add(str(name), TABLES_BY_NAME[str(name)].read(line), where)
        else:
            raise InvalidRow(f"there is no table {str(name)[:80]!r} in {file}")

    def check(self) -> None:
        """Sort the rows by workspace; raise `InvalidRow` with the line if they are inconsistent."""
        workspaces_by_table = {name: _workspaces_of(name, self._rows) for name in TABLES_BY_NAME}
        for name, table in TABLES_BY_NAME.items():
            _refuse_duplicates(table, self._rows[name])
            for (where, values), workspace in zip(self._rows[name], workspaces_by_table[name], strict=True):
                if workspace is None:
                    raise InvalidRow(f"{where}: {name} names a row that is not in the folder")
                self._by_workspace.setdefault(workspace, {}).setdefault(name, []).append(values)
        for workspace, tables in self._by_workspace.items():
            _refuse_dangling(workspace, tables)

    def add_origins(self, origins: list[Origin]) -> None:
        self._origins += origins

    def set_counters(self, counters: dict[str, int]) -> None:
        """Set the counters of the exported store, which may be above all of its numbers."""
        self._numbers = counters

    def leave_equal(self, tx: ReadTransaction) -> int:
        """Leave out the workspaces that the store has with equal content; return their number."""
        equal = []
        for workspace, tables in self._by_workspace.items():
            rows = {name: table_rows for name, table_rows in tables.items() if name not in LOCAL_TABLES}
            if WorkspaceFiles(workspace, rows).files() == WorkspaceFiles.of(tx, workspace, origins=False).files():
                equal.append(workspace)
        for workspace in equal:
            del self._by_workspace[workspace]
        self._nothing_left = bool(equal) and not self._by_workspace
        return len(equal)

    def present(self, tx: ReadTransaction) -> list[str]:
        """Return the workspaces that have reasoning or tasks in the store."""
        return [
            workspace
            for workspace in self._by_workspace
            if any(table.has_rows(tx, workspace) for table in TABLES_BY_NAME.values())
        ]

    def write(self, tx: Transaction, mode: str, present: list[str]) -> list[tuple[str, str]]:
        """Write every workspace and return the new names of renamed ones."""
        if mode == "replace":
            for workspace in present:
                delete_reasoning_and_tasks(tx, workspace)
        for origin in self._origins:
            tx.store_origin(origin)
        self._offsets = offsets = {series: int(tx.value(query) or 0) for series, query in _SERIES.items()}
        renamed = []
        for workspace, tables in self._by_workspace.items():
            renumbering = Renumbering(offsets)
            raw = next((str(values["workspace_raw"]) for values in tables.get("workspaces", ())), workspace)
            new_name = None
            if workspace in present and mode == "rename":
                new_name = self._free_name(tx, raw)
                renumbering.workspace = normalize_name(new_name, what="workspace")
                renamed.append((raw, new_name))
            renumbering.ids = task.new_event_ids(tx, tables)
            for name, rows in tables.items():
                renumbered = [TABLES_BY_NAME[name].renumber(values, renumbering) for values in rows]
                if new_name is not None and name == "workspaces":
                    renumbered = [{**values, "workspace_raw": new_name} for values in renumbered]
                TABLES_BY_NAME[name].insert_all(tx, renumbered)
                reasoning.after_insert(tx, name, renumbered)
            keys = {values["origin"] for rows in tables.values() for values in rows if values.get("origin")}
            note_repositories(tx, renumbering.workspace or workspace, keys)
        if self._rows["events"]:
            tx.advance_event_sequence(offsets["events"] + self._highest("events"))
        return renamed

    def _free_name(self, tx: ReadTransaction, raw: str) -> str:
        """Return the workspace's name with the first number that is neither in the store nor in the folder."""
        number = 0
        while True:
            number += 1
            suffix = f"-{number}"
            candidate = raw.rstrip()[: NAME_MAX_CHARS - len(suffix)] + suffix
            norm = normalize_workspace(candidate)
            if norm not in self._by_workspace and not any(
                table.has_rows(tx, norm) for table in TABLES_BY_NAME.values()
            ):
                return candidate

    def advance_counters(self, tx: Transaction) -> None:
        """Set the counters above all imported numbers, also above those of deleted rows.

        Call it last: sequences of PostgreSQL are not rolled back if the import fails.
        """
        if self._nothing_left:
            return
        for series in reasoning.SERIES:
            number = self._offsets[series] + max(self._numbers.get(series, 0), self._highest(series))
            tx.run("update numbers set last = :last where series = :series", {"series": series, "last": number})

    def _highest(self, series: str) -> int:
        columns = [(table, name) for table in TABLES_BY_NAME.values() for name in table.columns]
        numbered = [(table.name, name) for table, name in columns if table.columns[name].series == series]
        numbers = [values[name] for table, name in numbered for _, values in self._rows[table]]
        return max((number for number in numbers if number is not None and number < 2**53), default=0)


def _workspaces_of(name: str, rows: dict[str, list[tuple[str, Values]]]) -> list[str | None]:
    """Return the workspace of each row: its own column, or that of the referenced row."""
    table = TABLES_BY_NAME[name]
    if table.workspace:
        return [values[table.workspace] for _, values in rows[name]]
    column, target = next(iter(table.refers.items()))
    workspaces = {values[_key_column(target)]: values[TABLES_BY_NAME[target].workspace] for _, values in rows[target]}
    return [workspaces.get(values[column]) for _, values in rows[name]]


def _key_column(table: str) -> str:
    """Return the column by which other tables reference a table."""
    return str(next(iter(TABLES_BY_NAME[table].columns)))


def _refuse_duplicates(table: Table, rows: list[tuple[str, Values]]) -> None:
    for columns in table.unique:
        places: dict[tuple[Any, ...], str] = {}
        for where, values in rows:
            key = tuple(values[column] for column in columns)
            if None not in key and places.setdefault(key, where) != where:
                raise InvalidRow(f"{where}: {table.name} has the same {' and '.join(columns)} as {places[key]}")


def _refuse_dangling(workspace: str, tables: dict[str, list[Values]]) -> None:
    for name, rows in tables.items():
        for column, target in TABLES_BY_NAME[name].refers.items():
            target_table, _, target_column = target.partition(".")
            keys = {values[target_column or _key_column(target_table)] for values in tables.get(target_table, ())}
            for values in rows:
                if values[column] is not None and values[column] not in keys:
                    raise InvalidRow(
                        f"in workspace {workspace!r} {name}.{column} names {values[column]!r}, "
                        f"which is not among its {target_table}"
                    )


def delete_reasoning_and_tasks(tx: Transaction, workspace: str) -> None:
    """Delete the reasoning and the tasks of a workspace."""
    reasoning.before_delete(tx, workspace)
    for table in reversed(list(TABLES_BY_NAME.values())):
        # Rows that belong to a workspace through branches or tasks are deleted before their owners.
        if not table.workspace:
            table.delete(tx, workspace)
    for table in TABLES_BY_NAME.values():
        if table.workspace:
            table.delete(tx, workspace)
