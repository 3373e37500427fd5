"""The tables of a family as they go to files and come back: columns, what they hold, and which numbers count on."""

from __future__ import annotations

import json

from moss_memory.errors import MossError
from moss_memory.registry.decode import check_json, check_text
from moss_memory.rows.names import normalize_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Row, Transaction

    Line = dict[str, Any]
    Values = dict[str, Any]

ENDLESS = 2**63 - 1
"""What stands for "until further notice" where a number says until when."""
_LAST_NUMBER = 2**53
_JSON = "_json"
MOST_VALUES = 4000
"""Of one statement: an index is brought to the disk after each, however many rows it writes."""


_NEXT_VERSION = {"version": "version + 1", "version_at": "greatest(version_at, :now)", "version_tool": ":tool"}
"""What a row is given that is overwritten: what is there stays as its version before."""


class InvalidRow(Exception):  # noqa: N818
    """Why a line cannot become a row."""


class Column:
    """One column: what it may hold, and under which key a line has it."""

    __slots__ = ("_check", "default", "json", "key", "name", "optional", "series")

    def __init__(
        self,
        name: str,
        check: Callable[[Any, str], Any],
        *,
        optional: bool = False,
        default: Any = None,
        series: str = "",
        json: Json | None = None,
    ) -> None:
        self.name = name
        self.key = name.removesuffix(_JSON) if json else name
        self._check = check
        self.optional = optional or default is not None
        self.default = default
        self.series = series
        """Whose numbers it holds: they count on from the store's own where a line comes into one that has some."""
        self.json = json

    def put(self, value: Any, line: Line) -> None:
        """Writes the value into a line: JSON as such where it comes back as the same text, else that text."""
        if self.json is None:
            line[self.key] = None if self.series and value == ENDLESS else value
        elif value is None:
            line[self.key] = self.json.none
        else:
            told, exact = self.json.read(value)
            line[self.key if exact else self.name] = told if exact else value

    def take(self, line: Line) -> Any:
        """The value that a line has for it; raises `InvalidRow`."""
        if self.json is not None:
            return self._take_json(self.json, line)
        value = line.get(self.key)
        return self._none() if value is None else self._check(value, self.key)

    def _take_json(self, kept: Json, line: Line) -> Any:
        spelled = line.get(self.name)
        if isinstance(spelled, str):
            value = kept.parsed(spelled, self.name)
        else:
            spelled, value = None, line.get(self.key)
            if value is None or value == kept.none:
                return self._none()
        check_json(value, self.key)
        self._check(value, self.key)
        return kept.written(value) if spelled is None else spelled

    def _none(self) -> Any:
        if not self.optional:
            raise InvalidRow(f"{self.key} is missing")
        return self.default


class Json:
    """How a column keeps JSON: its spelling, and what a line has where the column has nothing."""

    __slots__ = ("_ascii", "_separators", "none")

    def __init__(self, *, spaced: bool, ascii: bool, none: Any) -> None:
        self._separators = (", ", ": ") if spaced else (",", ":")
        self._ascii = ascii
        self.none = none

    def written(self, value: Any) -> str:
        """The text that a column keeps of a value."""
        return json.dumps(value, ensure_ascii=self._ascii, separators=self._separators)

    def read(self, text: str) -> tuple[Any, bool]:
        """The value of a column's text, and whether writing that gives the very same text."""
        try:
            value = json.loads(text)
            return value, value != self.none and self.written(value) == text
        except (ValueError, RecursionError):
            return None, False

    def parsed(self, text: str, key: str) -> Any:
        """The value of a text in a spelling of its own."""
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise InvalidRow(f"{key} is not JSON") from None


def text(name: str, *, optional: bool = False, default: str | None = None) -> Column:
    """A column of text."""
    return Column(name, _text, optional=optional, default=default)


def whole(name: str, *, optional: bool = False, default: int | None = None) -> Column:
    """A column of whole numbers that nothing counts on from: times, sizes."""
    return Column(name, _whole, optional=optional, default=default)


def counter(name: str, *, default: int | None = None) -> Column:
    """A column of numbers that the next change counts on from, so there must be room for more."""
    return Column(name, _number, default=default)


def number(name: str, series: str, *, optional: bool = False, endless: bool = False) -> Column:
    """A column of numbers of a series; where it may be `ENDLESS`, a line has null for that."""
    return Column(name, _number, optional=optional, series=series, default=ENDLESS if endless else None)


def flag(name: str, *, default: int | None = None) -> Column:
    """A column that says yes or no, as 1 or 0."""
    return choice(name, (0, 1), default=default)


def choice(name: str, among: tuple[Any, ...], *, default: Any = None) -> Column:
    """A column with a closed set of values."""

    def check(value: Any, key: str) -> Any:
        if value not in among or isinstance(value, bool):
            raise InvalidRow(f"{key} must be one of {', '.join(map(str, among))}")
        return value

    return Column(name, check, default=default)


def norm(name: str, *, optional: bool = False) -> Column:
    """A column with a name in the form in which names are compared."""

    def check(value: Any, key: str) -> Any:
        if normalize_name(_text(value, key), what=key) != value:
            raise InvalidRow(f"{key} is not in the form in which names are compared")
        return value

    return Column(name, check, optional=optional)


def json_column(
    name: str,
    kind: type,
    *,
    of: type | None = None,
    optional: bool = False,
    spaced: bool = False,
    ascii: bool = False,
    none: Any = None,
) -> Column:
    """A column of JSON: an object or a list, whose items are of a type."""

    def check(value: Any, key: str) -> Any:
        items: Any = value
        if not isinstance(value, kind) or (of and not all(isinstance(item, of) for item in items)):
            raise InvalidRow(f"{key} must be {'an object' if kind is dict else 'a list'}{_of(of)}")
        return value

    kept = Json(spaced=spaced, ascii=ascii, none=none)
    return Column(name, check, optional=optional or none is not None, json=kept)


def tags_column() -> Column:
    """The tags of a row; none is an empty list."""
    return json_column("tags_json", list, of=str, spaced=True, none=[])


def _of(kind: type | None) -> str:
    return "" if kind is None else " of strings" if kind is str else " of lists"


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise InvalidRow(f"{key} must be a string")
    check_text(value, key)
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
    """What changes about rows that come into a store which has some: numbers, ids, the name of their workspace."""

    def __init__(self, offsets: dict[str, int], *, workspace: str | None = None) -> None:
        self.offsets = offsets
        """By series: how much is added to its numbers."""
        self.workspace = workspace
        """The workspace they come into; none where that is their own."""
        self.ids: dict[str, str] = {}
        """Ids of events that others have, and those that take their place."""

    def number(self, series: str, value: int) -> int:
        """A number of a series as it is in the store."""
        return value if value >= _LAST_NUMBER else value + self.offsets.get(series, 0)


class Table:
    """One table: its columns, what orders its lines, what may not be there twice, and what its rows belong to."""

    def __init__(
        self,
        name: str,
        *columns: Column,
        key: tuple[str, ...],
        call_in: str = "workspace_norm = :workspace",
        workspace: str = "workspace_norm",
        refers: dict[str, str] | None = None,
        unique: tuple[tuple[str, ...], ...] = (),
        only: str = "",
        fix: Callable[[Values, Renumbering], None] | None = None,
    ) -> None:
        self.name = name
        self.columns = {column.name: column for column in columns}
        self.key = key
        self.call_in = call_in
        """The condition on its rows that they belong to a workspace."""
        self.workspace = workspace if workspace in self.columns else ""
        """The column that says so; empty where the first table that it refers to does."""
        self.refers = refers or {}
        """Which of its columns name a row of the same workspace: a table by its first column, or `table.column`."""
        self.unique = (key, *unique)
        """Columns that no two lines have the same of, unless one is null."""
        self.only = only
        """The condition on rows that are moved at all."""
        self._fix = fix
        """Moves what its columns do not tell: numbers inside of texts."""
        self._keys = {key for column in columns for key in (column.name, column.key)}

    def rows(self, tx: ReadTransaction, condition: str = "", **parameters: Any) -> Iterator[Values]:
        """Its rows in the order of their lines."""
        for row in tx.stream(self.select(condition), parameters):
            yield self.values(row)

    def select(self, condition: str = "") -> str:
        """The statement that reads its rows."""
        columns, order = ", ".join(self.columns), ", ".join(self.key)
        return f"select {columns} from {self.name}{self._where(condition)} order by {order}"

    def _where(self, condition: str) -> str:
        met = " and ".join([one for one in (self.only, condition) if one])
        return f" where {met}" if met else ""

    def values(self, row: Row) -> Values:
        """A row of `select`, by column."""
        return dict(zip(self.columns, row, strict=True))

    def line(self, values: Values, *without: str) -> Line:
        """The row as a line has it."""
        line: Line = {}
        for name, column in self.columns.items():
            if name not in without:
                column.put(values[name], line)
        return line

    def read(self, line: Line) -> Values:
        """The row that a line means; raises `InvalidRow` for what cannot be one."""
        unknown = next((key for key in line if key not in self._keys), None)
        if unknown is not None:
            raise InvalidRow(f"{self.name} has no field {unknown[:80]!r}")
        try:
            return {name: column.take(line) for name, column in self.columns.items()}
        except MossError as error:
            raise InvalidRow(error.message) from None

    def moved(self, values: Values, move: Renumbering) -> Values:
        """The row as it comes into the store."""
        moved = dict(values)
        for name, column in self.columns.items():
            if column.series and moved[name] is not None:
                moved[name] = move.number(column.series, moved[name])
        if move.workspace is not None and self.workspace:
            moved[self.workspace] = move.workspace
        if self._fix is not None:
            self._fix(moved, move)
        return moved

    def insert(self) -> str:
        """The statement that writes a row."""
        places = ", ".join([f":{name}" for name in self.columns])
        return f"insert into {self.name} ({', '.join(self.columns)}) values ({places})"

    def statements(self) -> dict[str, str]:
        """The statements with which rows that have names come in, by the names that an importer knows them by."""
        kept = ("id", "row_id")
        changed = [f"{name} = {_NEXT_VERSION.get(name, ':' + name)}" for name in self.columns if name not in kept]
        named = "workspace_norm = :workspace_norm and name_norm = :name_norm and deleted_at is null"
        return {
            "insert": self.insert(),
            "overwrite": f"update {self.name} set {', '.join(changed)} where id = :id",
            "id_taken": f"select 1 from {self.name} where id = :id",
            "name_taken": f"select id from {self.name} where {named}",
        }

    def insert_all(self, tx: Transaction, rows: list[Values]) -> None:
        """Writes rows, many with a statement; raises `InvalidRow` where they contradict each other or what is there."""
        most = max(1, MOST_VALUES // len(self.columns))
        for start in range(0, len(rows), most):
            tx.check_cancelled()
            if not tx.insert_all(self.insert(), rows[start : start + most]):
                raise InvalidRow(f"the lines of {self.name} contradict each other")

    def holds(self, tx: ReadTransaction, workspace: str) -> bool:
        """Whether anything in it belongs to a workspace."""
        found = f"select 1 from {self.name}{self._where(self.call_in)} limit 1"
        return tx.row(found, {"workspace": workspace}) is not None

    def delete(self, tx: Transaction, workspace: str) -> None:
        """Removes what belongs to a workspace."""
        tx.run(f"delete from {self.name}{self._where(self.call_in)}", {"workspace": workspace})

    def rename(self, tx: Transaction, workspace: str, *, to: str, spelled: str) -> None:
        """Moves what belongs to a workspace into one of another name; what only refers to other rows goes along."""
        if self.workspace:
            names = {self.workspace: "to"} | ({"workspace_raw": "spelled"} if "workspace_raw" in self.columns else {})
            changed = ", ".join([f"{column} = :{value}" for column, value in names.items()])
            given = {"workspace": workspace, "to": to, "spelled": spelled}
            tx.run(f"update {self.name} set {changed}{self._where(self.call_in)}", given)
