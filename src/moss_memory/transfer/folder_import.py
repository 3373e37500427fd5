"""Import of a folder: read and validated completely, then written in one transaction."""

from __future__ import annotations

from contextlib import contextmanager

from moss_memory.errors import MossError, invalid_request
from moss_memory.rows.names import DEFAULT_WORKSPACE
from moss_memory.secrets.scanner import findings_fields, findings_in
from moss_memory.tools.capsule.import_lines import (
    MOST_ERRORS,
    InvalidRecordError,
    LineImporter,
    invalid_record,
    problem,
    refuse_collisions,
)

from . import front_matter, history_files
from .export_layout import ARTIFACT_LINES, DELETED, FIRST_FORMAT, MANIFEST, NUMBERS, RECORDS, Manifest, digest
from .export_schema import InvalidRow, json_object
from .families import records as record
from .families.artifacts import ARTIFACTS, artifact_row
from .families.capsules import CAPSULES, capsule_row
from .families.record_files import RecordRows
from .file_names import decode_name
from .folder_numbers import FolderNumbers
from .reasoning_task_files import FOLDERS, ORIGINS, in_store_numbers, parse_rows, table_at_path
from .reasoning_task_import import FILES as WORKSPACE_FILES
from .reasoning_task_import import TABLES_BY_NAME, Workspaces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.config import Config
    from moss_memory.storage.engine import Transaction
    from moss_memory.storage.files.safe_directory import SafeDirectory

    from .export_schema import Line, Table, Values
    from .families.named_files import NamedFiles

    Where = dict[str, Any]

_RECORDS = {table.name: table for table in record.TABLES}
_BATCH_ROWS = 200


class ParsedFolder:
    """The parsed files of a folder; reading and validation happen before the write lock."""

    def __init__(self, tree: SafeDirectory, config: Config) -> None:
        self._tree = tree
        self.path = tree.path
        self._max_bytes = config.import_max_bytes
        self._workspace = config.workspace or DEFAULT_WORKSPACE
        self._manifest: Manifest | None = None
        self.capsules: list[tuple[Where, Values]] = []
        self.artifacts: list[tuple[Where, Values]] = []
        self.records: list[tuple[Table, Where, Values, Any]] = []
        self.record_count = 0
        self.workspaces = Workspaces()
        self.versions = history_files.VersionImport()
        self.errors_found: list[dict[str, Any]] = []
        """Files and lines without a valid row."""
        self.changed: list[str] = []
        """Files that differ from the manifest or are missing in it."""
        self.ignored: list[str] = []
        self.findings: list[dict[str, Any]] = []
        """Findings of the secrets scanner."""

    def read(self, tx: Transaction) -> None:
        """Read all files; raise if the folder as a whole is invalid."""
        content = self._tree.read(MANIFEST, max_bytes=self._max_bytes)
        self._manifest = None if content is None else Manifest.read(content)
        if self._manifest is not None and not self._manifest.complete:
            raise invalid_request(f"the export into {self._tree.path} is incomplete; export again")
        if self._manifest is not None and self._manifest.format == FIRST_FORMAT:
            self._read_first_layout(tx)
        else:
            self._read_current_layout(tx)
        self.ignored += sorted(name for name in self._tree.skipped if not name.endswith((CAPSULES.suffix, ".jsonl")))
        try:
            self.workspaces.check()
        except InvalidRow as problem:
            raise invalid_request(f"{problem}; nothing was imported") from None
        if not self.capsules and not self.errors_found and self._manifest is None:
            raise invalid_request(f"there is no {MANIFEST} and no Markdown file in {self._tree.path}")

    def _read_first_layout(self, tx: Transaction) -> None:
        """Read the files of an export before the layout that sync uses too."""
        assert self._manifest is not None
        for name in self._names((CAPSULES.suffix,)):
            tx.check_cancelled()
            self._parse_markdown(tx, name, {})
        for name in sorted(self._manifest.files):
            if not name.endswith(CAPSULES.suffix):
                tx.check_cancelled()
                self._read_lines(tx, name)

    def _names(self, suffixes: tuple[str, ...]) -> list[str]:
        """Return the files of the manifest and others beside them; without a manifest, all that may be Moss's."""
        listed = [] if self._manifest is None else [name for name in self._manifest.files if name.endswith(suffixes)]
        paths = set(self._tree.files(CAPSULES.suffix, "" if self._manifest is None else CAPSULES.folder))
        if self._manifest is None:
            for folder in (ARTIFACTS.folder, RECORDS, *FOLDERS):
                paths |= {name for name in self._tree.files("", folder) if name.count("/") == 2}
        return sorted({*listed, *[name for name in paths if name.endswith(suffixes)]})

    def _read_current_layout(self, tx: Transaction) -> None:
        """Read the files of the layout that sync and export share, and Markdown files written by hand."""
        numbers = self._read_numbers(tx)
        records = RecordRows(numbers.last_record)
        tables_by_workspace: dict[str, dict[str, list[Values]]] = {}
        for name in self._names((CAPSULES.suffix, ".json", ".jsonl")):
            tx.check_cancelled()
            family = name.removeprefix(f"{DELETED}/").partition("/")[0]
            if family in (CAPSULES.folder, ARTIFACTS.folder) or name.endswith(CAPSULES.suffix):
                parse = self._parse_markdown if name.endswith(CAPSULES.suffix) else self._parse_artifact_file
                parse(tx, name, numbers.of_file(name))
            elif family == RECORDS:
                with _refusing_import({"file": name}):
                    records.add(name, _decode_text(name, self._content(tx, name)), numbers.of_file(name))
                    self.record_count += 1
            elif table_at_path(name) is not None:
                self._parse_table(tx, name, numbers, tables_by_workspace)
            elif name == history_files.FILE:
                self._read_lines(tx, name)
        self.records = records.rows
        with _refusing_import({"file": NUMBERS}):
            self._add_workspaces(tables_by_workspace, numbers)

    def _read_numbers(self, tx: Transaction) -> FolderNumbers:
        numbers = FolderNumbers()
        if self._manifest is None:
            self.ignored = [name for name in self._tree.files(".jsonl") if "/" not in name]
        elif NUMBERS in self._manifest.files:
            for number, line in _json_lines(NUMBERS, self._content(tx, NUMBERS)):
                with _refusing_import({"file": NUMBERS, "line": number}):
                    numbers.add(line)
        return numbers

    def _parse_table(
        self,
        tx: Transaction,
        name: str,
        numbers: FolderNumbers,
        tables_by_workspace: dict[str, dict[str, list[Values]]],
    ) -> None:
        table, workspace = table_at_path(name), decode_name(name.split("/")[1])
        assert table is not None
        workspace = numbers.workspace_at(name) or workspace
        with _refusing_import({"file": name}):
            content = _decode_text(name, self._content(tx, name))
            rows = [values for _, values in parse_rows(table, content, workspace, numbers.revisions_of(workspace))]
            tables_by_workspace.setdefault(workspace, {})[table] = rows

    def _add_workspaces(self, tables_by_workspace: dict[str, dict[str, list[Values]]], numbers: FolderNumbers) -> None:
        last_numbers = dict(numbers.highest)
        for workspace, rows in tables_by_workspace.items():
            moved = in_store_numbers(rows, numbers.of_workspace(workspace), last_numbers)
            for table in (*TABLES_BY_NAME, ORIGINS):
                for number, values in enumerate(moved.get(table, ()), 1):
                    self.workspaces.add(table, values, f"{workspace}: {table} line {number}")
        self.workspaces.set_counters(numbers.counters)
        self.workspaces.add_origins(numbers.origins)

    def _parse_artifact_file(self, tx: Transaction, name: str, local: Values) -> None:
        where, content = {"file": name}, self._content(tx, name)
        try:
            workspace, item_name = _address_of(name, self._workspace)
            row = ARTIFACTS.decode(_decode_text("the file", content), workspace=workspace, name=item_name, local=local)
            self.artifacts.append((where, _as_deleted(name, row)))
        except (InvalidRecordError, InvalidRow, MossError) as error:
            self.errors_found.append(invalid_record(where, {}, error))

    def _content(self, tx: Transaction, name: str) -> bytes:
        """Return a file's content; refuse if a file of the manifest is missing."""
        content = self._tree.read(name, max_bytes=self._max_bytes)
        if content is None:
            raise invalid_request(
                f"{name} is gone, which {MANIFEST} names; put it back, or export again. Nothing was imported"
            )
        if self._manifest is not None and self._manifest.files.get(name) != digest(content):
            self.changed.append(name)
        self.findings += findings_in(content.decode("utf-8", "replace"), name, tx.check_cancelled)
        return content

    def _parse_markdown(self, tx: Transaction, name: str, local: Values) -> None:
        where, content = {"file": name}, self._content(tx, name)
        line: Line = {}
        try:
            line, text = front_matter.parse_markdown(_decode_text("the file", content))
            workspace, item_name = _address_of(name, self._workspace)
            row, unknown = capsule_row({**line, **local}, text, workspace=workspace, name=item_name)
        except (InvalidRecordError, InvalidRow, MossError) as error:
            self.errors_found.append(invalid_record(where, line, error))
            return
        self.capsules.append((where, _as_deleted(name, row)))
        if unknown:
            message = f"these fields do not belong to a capsule and were left out: {', '.join(unknown)[:200]}"
            self.errors_found.append(problem(where, line, "UNKNOWN_FIELD", message))

    def _read_lines(self, tx: Transaction, name: str) -> None:
        for number, line in _json_lines(name, self._content(tx, name)):
            self._parse_line(name, {"file": name, "line": number}, line)

    @property
    def has_snapshots(self) -> bool:
        """Return True if it has the snapshots of entities, as the first layout does."""
        return self._manifest is not None and self._manifest.format == FIRST_FORMAT

    def reports_history(self) -> dict[str, int]:
        """Return the number of imported versions, if the folder has any."""
        has_any = self._manifest is not None and history_files.FILE in self._manifest.files
        return {"history": self.versions.written} if has_any else {}

    def _parse_line(self, name: str, where: Where, line: Line) -> None:
        try:
            if name == ARTIFACT_LINES:
                try:
                    self.artifacts.append((where, artifact_row(line)))
                except (InvalidRow, MossError) as error:
                    self.errors_found.append(invalid_record(where, line, error))
            elif name in WORKSPACE_FILES:
                self.workspaces.add_line(name, line, f"{name} line {where['line']}")
            elif name == record.FILE:
                self._parse_record(where, line)
            elif name == history_files.FILE:
                self.versions.add(line)
        except InvalidRow as problem:
            raise invalid_request(f"{name} line {where['line']}: {problem}; nothing was imported", **where) from None

    def _parse_record(self, where: Where, line: Line) -> None:
        table = _RECORDS.get(str(line.pop("table", "")))
        if table is None:
            raise InvalidRow("it names no table of records")
        properties = record.pop_properties(line) if table.name == "records" else []
        self.records.append((table, where, table.read(line), properties))
        self.record_count += 1


class FolderImport:
    """Import of a parsed folder into the store."""

    def __init__(self, tx: Transaction, folder: ParsedFolder, mode: str) -> None:
        self._tx = tx
        self._folder = folder
        self._mode = mode
        self._collisions: list[dict[str, Any]] = []
        self._done = 0
        self._unchanged = 0
        self._new_ids: dict[tuple[str, str], str] = {}
        """The ids of new rows in the store, by family and id in the folder."""

    def run(self) -> dict[str, Any]:
        """Write everything; raise on a conflict that the mode does not resolve."""
        folder, tx = self._folder, self._tx
        imported = {}
        try:
            renamed = self._write_workspaces()
            for files, rows in ((CAPSULES, folder.capsules), (ARTIFACTS, folder.artifacts)):
                imported[files.folder] = self._import_rows(files, rows)
            self._write_records()
            folder.versions.write(tx, self._new_ids)
        except InvalidRow as problem:
            raise invalid_request(f"{problem}; nothing was imported") from None
        refuse_collisions(self._collisions, self._mode)
        folder.workspaces.advance_counters(tx)
        lines = {name.partition(".")[0]: count for name, count in folder.workspaces.lines.items()}
        tx.progress(1, 1)
        answer: dict[str, Any] = {
            "folder": folder.path,
            "imported": {**imported, **lines, "records": folder.record_count, **folder.reports_history()},
            "unchanged": self._unchanged,
            "skipped": sum(error["code"] == "INVALID_RECORD" for error in folder.errors_found),
            "errors": folder.errors_found[:MOST_ERRORS],
            "changed": sorted(folder.changed),
            **findings_fields(folder.findings),
        }
        if renamed:
            answer["renamed"] = [{"workspace": old_name, "now": new_name} for old_name, new_name in renamed]
        if folder.ignored:
            answer["ignored"] = folder.ignored
        return answer

    def _write_workspaces(self) -> list[tuple[str, str]]:
        workspaces = self._folder.workspaces
        if self._mode != "rename":
            self._unchanged += workspaces.leave_equal(self._tx)
        present = workspaces.present(self._tx)
        if present and self._mode == "error":
            collision = {"code": "WORKSPACE_COLLISION", "message": "this workspace has reasoning or tasks already"}
            self._collisions += [
                {"file": "reasoning, tasks", "workspace": workspace, **collision} for workspace in present
            ]
            return []
        return workspaces.write(self._tx, self._mode, present)

    def _import_rows(self, files: NamedFiles, rows: list[tuple[Where, Values]]) -> int:
        """Import capsules or artifacts, oldest change first, so that lists have the same order."""
        if not rows:
            return 0
        numbers = [row["change_seq"] or 0 for _, row in (*self._folder.capsules, *self._folder.artifacts)]
        importer = NamedImporter(
            self._tx, self._mode, files, max(numbers), max([row["row_id"] or 0 for _, row in rows])
        )
        rows = sorted(rows, key=_order)
        for start in range(0, len(rows), _BATCH_ROWS):
            importer.add(rows[start : start + _BATCH_ROWS])
            self._done += _BATCH_ROWS
            self._tx.progress(self._done)
        self._collisions += importer.collisions
        self._unchanged += importer.unchanged
        family = files.versioned.family
        self._new_ids |= {(family, folder_id): new_id for folder_id, new_id in importer.new_ids.items()}
        return importer.imported

    def _write_records(self) -> None:
        folder = self._folder
        _check_records(folder.records)
        offsets = {series: self._tx.value(query) for series, query in record.SERIES.items()}
        exported = folder.has_snapshots and record.FILE not in folder.changed
        incoming = record.RecordImport(self._tx, offsets, self._mode, as_exported=exported)
        order = list(_RECORDS)
        for table, where, values, properties in sorted(folder.records, key=lambda entry: order.index(entry[0].name)):
            self._tx.check_cancelled()
            incoming.add(table, where, values, properties)
        incoming.finish()
        for where, values, message in incoming.collisions:
            self._collisions.append(problem(where, {"id": values["submission_id"]}, "SUBMISSION_COLLISION", message))


class NamedImporter(LineImporter):
    """LineImporter of complete rows, with their numbers if the table is empty.

    Rows without numbers get some that no other row of the folder has, also if that row is in a later batch.
    """

    def __init__(self, tx: Transaction, mode: str, files: NamedFiles, last_change: int, last_row_id: int) -> None:
        super().__init__(tx, mode, versioned=files.versioned, statements=files.table.statements())
        self._is_empty = tx.value(f"select 1 from {files.table.name} limit 1") is None
        if self._is_empty:
            tx.advance_sequence(last_change)
        self._row_ids: set[int] = set()
        self._free_row_id = last_row_id + 1
        self.new_ids: dict[str, str] = {}
        """The rows that are new: the id in the folder, and the one here."""

    def add(self, lines: list[tuple[Where, Values]]) -> None:
        """Import rows; assign missing numbers."""
        if self._mode == "error":
            self._tx.begin()
            count = len(lines)
            lines = self._without_equal(lines)
            self.unchanged += count - len(lines)
        for _, row in lines:
            row["id"] = row["id_in_folder"] = row["id"] or self._tx.new_id()
            row["row_id"] = self._row_id_for(row) if self._is_empty else None
            if row["change_seq"] is None or not self._is_empty:
                row["change_seq"] = self._tx.next_change()
        super().add(lines)

    def _row_id_for(self, row: Values) -> int:
        row_id: int | None = row["row_id"]
        if row_id is None or row_id in self._row_ids:
            row_id = self._free_row_id
            self._free_row_id += 1
        self._row_ids.add(row_id)
        return row_id

    def _insert_all(self, rows: list[Values]) -> bool:
        if self._mode == "replace" or not self._tx.insert_all(self._sql["insert"], rows):
            return False
        self.new_ids |= {row["id_in_folder"]: row["id"] for row in rows}
        return True

    def _insert(self, row: Values) -> None:
        self._tx.run(self._sql["insert"], row)
        self.new_ids[row["id_in_folder"]] = row["id"]
        self.imported += 1


def _order(entry: tuple[Where, Values]) -> tuple[Any, ...]:
    where, row = entry
    is_new = row["updated_at"] is None
    return is_new, row["updated_at"] or 0, row["change_seq"] or 0, where["file"], where.get("line", 0)


def _address_of(name: str, default: str) -> tuple[str, str]:
    """Return workspace and name of a path: its first folder, and the rest."""
    inner = name.removeprefix(f"{DELETED}/")
    folder, slash, path = inner.partition("/")
    if folder in (CAPSULES.folder, ARTIFACTS.folder) and slash:
        try:
            path = decode_name(path)
        except UnicodeDecodeError:
            raise InvalidRecordError("the name of the file is not UTF-8") from None
    else:
        path = inner
    path = path.removesuffix(CAPSULES.suffix).removesuffix(ARTIFACTS.suffix)
    workspace, slash, item_name = path.partition("/")
    return (workspace, item_name) if slash else (default, path)


def _as_deleted(name: str, row: Values) -> Values:
    """Return the row of a file; one in the folder of deleted files is deleted."""
    if name.startswith(f"{DELETED}/") and row["deleted_at"] is None:
        return {**row, "deleted_at": row["updated_at"] or row["created_at"] or 0}
    return row


def _decode_text(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidRow(f"{name} is not UTF-8") from None


@contextmanager
def _refusing_import(where: Where) -> Iterator[None]:
    """Refuse the whole import if a file is invalid."""
    try:
        yield
    except InvalidRow as error:
        line = " line ".join(map(str, where.values()))
        raise invalid_request(f"{line}: {error}; nothing was imported", **where) from None


def _json_lines(name: str, content: bytes) -> Iterator[tuple[int, Line]]:
    """Yield the JSON objects of a file; refuse the whole import if a line is not one."""
    for number, raw in enumerate(content.split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            line = json_object(raw.decode("utf-8"))
        except (InvalidRow, UnicodeDecodeError):
            message = f"{name} line {number} is no JSON object; nothing was imported"
            raise invalid_request(message, file=name, line=number) from None
        yield number, line


def _check_records(records: list[tuple[Table, Where, Values, Any]]) -> None:
    """Refuse duplicate records and references to missing rows."""
    row_keys = {(table.name, values["row_id"]) for table, _, values, _ in records}
    unique_keys: set[tuple[Any, ...]] = set()
    for table, where, values, _ in records:
        for column, target in table.refers.items():
            if (target, values[column]) not in row_keys:
                raise InvalidRow(
                    f"{where['file']} line {where['line']}: {column} names none of the {target} in the folder"
                )
        for columns in table.unique:
            key = (table.name, columns, *[values[column] for column in columns])
            if None not in key and key in unique_keys:
                raise InvalidRow(f"{where['file']} line {where['line']}: the same {' and '.join(columns)} stands above")
            unique_keys.add(key)
