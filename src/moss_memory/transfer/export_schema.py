"""The tables of a family in export files: columns, value types, and renumbered series."""

from __future__ import annotations

import json

from moss_memory.errors import MossError
from moss_memory.registry.decode import check_json, check_unicode
from moss_memory.rows.names import normalize_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Row, Transaction

    Line = dict[str, Any]
    Values = dict[str, Any]

ENDLESS = 2**63 - 1
"""The number for "no end" in columns that give an end."""
_LAST_NUMBER = 2**53
_JSON = "_json"
MAX_VALUES = 4000
"""Of one statement: an index is brought to the disk after each, however many rows it writes."""


_NEXT_VERSION = {"version": "version + 1", "version_at": "greatest(version_at, :now)", "version_tool": ":tool"}
"""Columns of an overwritten row: the old row becomes its previous version."""


class InvalidRow(Exception):  # noqa: N818
    """Why a line cannot become a row."""


class ExportColumn:
    """A column: allowed values and its key in a line."""

    __slots__ = ("_check", "default", "json", "key", "name", "optional", "series")

    def __init__(
        self,
        name: str,
        check: Callable[[Any, str], Any],
        *,
        optional: bool = False,
        default: Any = None,
        series: str = "",
        json: JsonFormat | None = None,
    ) -> None:
        self.name = name
        self.key = name.removesuffix(_JSON) if json else name
        self._check = check
        self.optional = optional or default is not None
        self.default = default
        self.series = series
        """The series of its numbers, which are renumbered if the target store has rows."""
        self.json = json

    def write(self, value: Any, line: Line) -> None:
        """Write the value into a line: as JSON if it round-trips to the same text, otherwise as text."""
        if self.json is None:
            line[self.key] = None if self.series and value == ENDLESS else value
        elif value is None:
            line[self.key] = self.json.none
        else:
            value_read, exact = self.json.read(value)
            line[self.key if exact else self.name] = value_read if exact else value

    def read_value(self, line: Line) -> Any:
        """Return the value of a line; raise `InvalidRow` if it is invalid."""
        if self.json is not None:
            return self._read_json(self.json, line)
        value = line.get(self.key)
        return self._missing() if value is None else self._check(value, self.key)

    def _read_json(self, json_format: JsonFormat, line: Line) -> Any:
        raw_text = line.get(self.name)
        if isinstance(raw_text, str):
            value = json_format.decode(raw_text, self.name)
        else:
            raw_text, value = None, line.get(self.key)
            if value is None or value == json_format.none:
                return self._missing()
        check_json(value, self.key)
        self._check(value, self.key)
        return json_format.encode(value) if raw_text is None else raw_text

    def _missing(self) -> Any:
        if not self.optional:
            raise InvalidRow(f"{self.key} is missing")
        return self.default


class JsonFormat:
    """The JSON format of a column, and its value for an empty column."""

    __slots__ = ("_ascii", "_separators", "none")

    def __init__(self, *, spaced: bool, ascii: bool, none: Any) -> None:
        self._separators = (", ", ": ") if spaced else (",", ":")
        self._ascii = ascii
        self.none = none

    def encode(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=self._ascii, separators=self._separators)

    def read(self, text: str) -> tuple[Any, bool]:
        """Return the value of a column's text, and whether encoding it gives the same text."""
        try:
            value = json.loads(text)
            return value, value != self.none and self.encode(value) == text
        except (ValueError, RecursionError):
            return None, False

    def decode(self, text: str, key: str) -> Any:
        """Return the value of a text in any JSON format."""
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise InvalidRow(f"{key} is not JSON") from None


def text(name: str, *, optional: bool = False, default: str | None = None) -> ExportColumn:
    return ExportColumn(name, _text, optional=optional, default=default)


def whole(name: str, *, optional: bool = False, default: int | None = None) -> ExportColumn:
    """Return an integer column without a series: times, sizes."""
    return ExportColumn(name, _whole, optional=optional, default=default)


def counter(name: str, *, default: int | None = None) -> ExportColumn:
    """Return a column of a counter, which must leave numbers for later changes."""
    return ExportColumn(name, _number, default=default)


def number(name: str, series: str, *, optional: bool = False, endless: bool = False) -> ExportColumn:
    """Return a column of a series' numbers; if it may be `ENDLESS`, a line has null for that."""
    return ExportColumn(name, _number, optional=optional, series=series, default=ENDLESS if endless else None)


def flag(name: str, *, default: int | None = None) -> ExportColumn:
    return choice(name, (0, 1), default=default)


def choice(name: str, among: tuple[Any, ...], *, default: Any = None) -> ExportColumn:
    """Return a column with a closed set of values."""

    def check(value: Any, key: str) -> Any:
        if value not in among or isinstance(value, bool):
            raise InvalidRow(f"{key} must be one of {', '.join(map(str, among))}")
        return value

    return ExportColumn(name, check, default=default)


def normalized(name: str, *, optional: bool = False) -> ExportColumn:
    """Return a column with a normalized name."""

    def check(value: Any, key: str) -> Any:
        if normalize_name(_text(value, key), what=key) != value:
            raise InvalidRow(f"{key} is not in the form in which names are compared")
        return value

    return ExportColumn(name, check, optional=optional)


def json_column(
    name: str,
    kind: type,
    *,
    of: type | None = None,
    optional: bool = False,
    spaced: bool = False,
    ascii: bool = False,
    none: Any = None,
    default: str | None = None,
) -> ExportColumn:
    """Return a JSON column: an object, or a list with items of one type."""

    def check(value: Any, key: str) -> Any:
        items: Any = value
        if not isinstance(value, kind) or (of and not all(isinstance(item, of) for item in items)):
            raise InvalidRow(f"{key} must be {'an object' if kind is dict else 'a list'}{_of(of)}")
        return value

    json_format = JsonFormat(spaced=spaced, ascii=ascii, none=none)
    return ExportColumn(name, check, optional=optional or none is not None, default=default, json=json_format)


def tags_column() -> ExportColumn:
    return json_column("tags_json", list, of=str, spaced=True, none=[])


def _of(kind: type | None) -> str:
    return "" if kind is None else " of strings" if kind is str else " of lists"


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise InvalidRow(f"{key} must be a string")
    check_unicode(value, key)
    return value


def _whole(value: Any, key: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not -ENDLESS <= value <= ENDLESS:
        raise InvalidRow(f"{key} must be a whole number")
    return value


def _number(value: Any, key: str) -> int:
    if not 0 <= _whole(value, key) < _LAST_NUMBER:
        raise InvalidRow(f"{key} must be a number from 0 to {_LAST_NUMBER - 1}")
    return int(value)


class Renumbering:
    """Changes to rows for a store that has rows: numbers, ids, workspace name."""

    def __init__(self, offsets: dict[str, int], *, workspace: str | None = None) -> None:
        self.offsets = offsets
        """By series: how much is added to its numbers."""
        self.workspace = workspace
        """The target workspace; None if unchanged."""
        self.ids: dict[str, str] = {}
        """Replacements for event ids that exist already."""

    def number(self, series: str, value: int) -> int:
        """Return a number of a series as it is in the store; 0, which comes before all, stays."""
        return value if value == 0 or value >= _LAST_NUMBER else value + self.offsets.get(series, 0)

    def changes(self, series: str) -> bool:
        return bool(self.offsets.get(series))


class Ranks(Renumbering):
    """Renumbering of a workspace by tables of numbers, such as store numbers to ranks from 1 and back."""

    def __init__(self, tables: dict[str, dict[int, int]]) -> None:
        super().__init__({})
        self._tables = tables

    def number(self, series: str, value: int) -> int:
        """Return the other number; 0, which comes before all, and `ENDLESS` stay."""
        return value if value == 0 or value >= _LAST_NUMBER else self._tables[series][value]

    def changes(self, series: str) -> bool:
        """Return True: also equal numbers are computed again."""
        return True


class NumbersInUse(Renumbering):
    """A renumbering that changes nothing and collects the numbers of each series."""

    def __init__(self) -> None:
        super().__init__({})
        self.found: dict[str, set[int]] = {}

    def number(self, series: str, value: int) -> int:
        if 0 < value < _LAST_NUMBER:
            self.found.setdefault(series, set()).add(value)
        return value


class Table:
    """A table: columns, order of lines, unique keys, and references."""

    def __init__(
        self,
        name: str,
        *columns: ExportColumn,
        key: tuple[str, ...],
        workspace_condition: str = "workspace_norm = :workspace",
        workspace: str = "workspace_norm",
        refers: dict[str, str] | None = None,
        unique: tuple[tuple[str, ...], ...] = (),
        only: str = "",
        check: Callable[[Values], None] | None = None,
        fix: Callable[[Values, Renumbering], None] | None = None,
    ) -> None:
        self.name = name
        self.columns = {column.name: column for column in columns}
        self.key = key
        self.workspace_condition = workspace_condition
        """The condition on its rows that they belong to a workspace."""
        self.workspace = workspace if workspace in self.columns else ""
        """The column of the workspace; empty if the first referenced table has it."""
        self.refers = refers or {}
        """Which of its columns name a row of the same workspace: a table by its first column, or `table.column`."""
        self.unique = (key, *unique)
        """Columns that no two lines have the same of, unless one is null."""
        self.only = only
        """The condition on rows that are moved at all."""
        self._check = check
        """Function that raises `InvalidRow` if readers cannot process a row."""
        self._fix = fix
        """Function that renumbers values inside texts."""
        self._keys = {key for column in columns for key in (column.name, column.key)}

    def rows(self, tx: ReadTransaction, condition: str = "", **parameters: Any) -> Iterator[Values]:
        """Yield its rows in the order of lines."""
        for row in tx.stream(self.select(condition), parameters):
            yield self.values(row)

    def select(self, condition: str = "") -> str:
        columns, order = ", ".join(self.columns), ", ".join(self.key)
        return f"select {columns} from {self.name}{self._where(condition)} order by {order}"

    def _where(self, condition: str) -> str:
        condition_text = " and ".join([part for part in (self.only, condition) if part])
        return f" where {condition_text}" if condition_text else ""

    def values(self, row: Row) -> Values:
        return dict(zip(self.columns, row, strict=True))

    def line(self, values: Values, *without: str) -> Line:
        line: Line = {}
        for name, column in self.columns.items():
            if name not in without:
                column.write(values[name], line)
        return line

    def read(self, line: Line) -> Values:
        """Parse a line to a row; raise `InvalidRow` if it is invalid."""
        unknown = next((key for key in line if key not in self._keys), None)
        if unknown is not None:
            raise InvalidRow(f"{self.name} has no field {unknown[:80]!r}")
        try:
            values = {name: column.read_value(line) for name, column in self.columns.items()}
        except MossError as error:
            raise InvalidRow(error.message) from None
        if self._check is not None:
            self._check(values)
        return values

    def renumber(self, values: Values, renumbering: Renumbering) -> Values:
        """Return the row with the numbers of the target store."""
        row = dict(values)
        for name, column in self.columns.items():
            if column.series and row[name] is not None:
                row[name] = renumbering.number(column.series, row[name])
        if renumbering.workspace is not None and self.workspace:
            row[self.workspace] = renumbering.workspace
        if self._fix is not None:
            self._fix(row, renumbering)
        return row

    def insert(self) -> str:
        parameters = ", ".join([f":{name}" for name in self.columns])
        return f"insert into {self.name} ({', '.join(self.columns)}) values ({parameters})"

    def statements(self) -> dict[str, str]:
        """Return the insert statements of named rows, by the names used by importers."""
        unchanged = ("id", "row_id")
        assignments = [
            f"{name} = {_NEXT_VERSION.get(name, ':' + name)}" for name in self.columns if name not in unchanged
        ]
        condition = "workspace_norm = :workspace_norm and name_norm = :name_norm and deleted_at is null"
        return {
            "insert": self.insert(),
            "overwrite": f"update {self.name} set {', '.join(assignments)} where id = :id",
            "id_taken": f"select 1 from {self.name} where id = :id",
            "name_taken": f"select id from {self.name} where {condition}",
        }

    def insert_all(self, tx: Transaction, rows: list[Values]) -> None:
        """Insert rows, many per statement; raise `InvalidRow` on a conflict."""
        batch = max(1, MAX_VALUES // len(self.columns))
        for start in range(0, len(rows), batch):
            tx.check_cancelled()
            if not tx.insert_all(self.insert(), rows[start : start + batch]):
                raise InvalidRow(f"the lines of {self.name} contradict each other")

    def has_rows(self, tx: ReadTransaction, workspace: str) -> bool:
        sql = f"select 1 from {self.name}{self._where(self.workspace_condition)} limit 1"
        return tx.row(sql, {"workspace": workspace}) is not None

    def delete(self, tx: Transaction, workspace: str) -> None:
        tx.run(f"delete from {self.name}{self._where(self.workspace_condition)}", {"workspace": workspace})

    def rename(self, tx: Transaction, workspace: str, *, to: str, spelled: str) -> None:
        """Rename the workspace of its rows; rows that only reference others are included."""
        if self.workspace:
            names = {self.workspace: "to"} | ({"workspace_raw": "spelled"} if "workspace_raw" in self.columns else {})
            assignments = ", ".join([f"{column} = :{value}" for column, value in names.items()])
            parameters = {"workspace": workspace, "to": to, "spelled": spelled}
            tx.run(f"update {self.name} set {assignments}{self._where(self.workspace_condition)}", parameters)


def json_file(value: Any) -> bytes:
    """Return a JSON file with one value a line, so that a change of one value is a change of one line."""
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def json_object(content: str) -> Line:
    """Return the object of a JSON file; raise `InvalidRow` if it has no object."""
    try:
        value = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidRow("it is no JSON object")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
