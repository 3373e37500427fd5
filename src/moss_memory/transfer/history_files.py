"""Write and read the earlier versions in export files: one line each, with the id of their row."""

from __future__ import annotations

from .export_schema import InvalidRow, Table, choice, counter, flag, json_column, number, tags_column, text, whole
from .families.artifacts import ARTIFACTS
from .families.capsules import CAPSULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from moss_memory.rows.versions import Versioned
    from moss_memory.storage.engine import ReadTransaction, Transaction

    from .export_schema import Line, Values

FILE = "history.jsonl"
SUBJECT = "id"
"""Under which key a line has the id of the row; the table has its number."""

VERSIONED_BY_FAMILY: dict[str, Versioned] = {files.versioned.family: files.versioned for files in (CAPSULES, ARTIFACTS)}
TABLE = Table(
    "versions",
    choice("family", tuple(VERSIONED_BY_FAMILY)),
    whole("subject", optional=True),
    counter("version"),
    whole("at"),
    text("tool"),
    text("origin", optional=True),
    whole("superseded_at"),
    text("workspace_raw"),
    text("name_raw", optional=True),
    whole("chars"),
    flag("erased", default=0),
    text("title", optional=True),
    text("source", optional=True),
    text("kind", optional=True),
    json_column("data_json", dict, optional=True),
    text("text", optional=True),
    tags_column(),
    text("run_id", optional=True),
    text("phase", optional=True),
    text("role", optional=True),
    number("row_id", "versions", optional=True),
    key=("family", "subject", "version"),
)
_NEEDED = {"capsule": ("text",), "artifact": ("kind", "data_json")}


def lines(tx: ReadTransaction) -> Iterator[Line]:
    """Yield all earlier versions by family and id."""
    columns = ", ".join([f"v.{name}" for name in TABLE.columns])
    for family, versioned in sorted(VERSIONED_BY_FAMILY.items()):
        rows = tx.stream(
            f"select t.id, {columns} from versions as v join {versioned.rows.table} as t on t.row_id = v.subject "
            "where v.family = :family order by t.id, v.version",
            {"family": family},
        )
        for subject_id, *values in rows:
            line = TABLE.line(TABLE.values(tuple(values)), "subject")
            yield {"family": line.pop("family"), SUBJECT: subject_id, **line}


class VersionImport:
    """The earlier versions of a folder: collected while it is read, written after the rows that they belong to."""

    def __init__(self) -> None:
        self._versions: dict[tuple[str, str], dict[int, Values]] = {}
        self._numbers: set[int] = set()
        self.written = 0

    def add(self, line: Line) -> None:
        """Parse one line; raise `InvalidRow` if it is invalid."""
        subject = line.pop(SUBJECT, None)
        values = TABLE.read(line)
        required = () if values["erased"] else _NEEDED[values["family"]]
        if not isinstance(subject, str) or any(values[name] is None for name in required):
            raise InvalidRow(f"a version has the {SUBJECT} of its {values['family']}, and {' and '.join(required)}")
        if values["version"] < 1:
            raise InvalidRow("version must be at least 1")
        if values["chars"] < 0:
            raise InvalidRow("chars must be at least 0")
        stored = self._versions.setdefault((values["family"], subject), {})
        if values["version"] in stored or values["row_id"] in self._numbers:
            raise InvalidRow("duplicate version")
        stored[values["version"]] = values
        if values["row_id"] is not None:
            self._numbers.add(values["row_id"])

    def write(self, tx: Transaction, new_ids: dict[tuple[str, str], str]) -> None:
        """Insert the versions of new rows; rows that existed before have their own history.

        `new_ids` maps family and id in the folder to the id of the new row.
        """
        rows: list[Values] = []
        for (family, subject), stored in self._versions.items():
            new_id = new_ids.get((family, subject))
            if new_id is not None:
                rows += _versions_of(tx, VERSIONED_BY_FAMILY[family], new_id, stored)
        TABLE.insert_all(tx, _assign_numbers(rows, tx.value("select max(row_id) from versions")))
        self.written = len(rows)


def _assign_numbers(rows: list[Values], last_number: int | None) -> list[Values]:
    """Return rows with their own numbers if the table is empty, otherwise with the next ones."""
    is_empty = last_number is None
    last_number = max((row["row_id"] or 0 for row in rows), default=0) if last_number is None else last_number
    rows = sorted(rows, key=lambda row: row["row_id"] or 0)
    for values in rows:
        if not is_empty or values["row_id"] is None:
            last_number += 1
            values["row_id"] = last_number
    return rows


def _versions_of(tx: Transaction, versioned: Versioned, new_id: str, stored: dict[int, Values]) -> list[Values]:
    row = tx.row(f"select row_id, version from {versioned.rows.table} where id = :id", {"id": new_id})
    assert row is not None
    row_id, present = row
    # A file edited by hand may contain the current version or a later one.
    return [{**values, "subject": row_id} for version, values in stored.items() if version < present]
