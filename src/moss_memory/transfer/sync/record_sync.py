"""Sync of records: they are only added, with all observations of both sides."""

from __future__ import annotations

import json

from moss_memory.tools.record.capabilities import registry_of
from moss_memory.tools.record.record_erase import erase_record
from moss_memory.tools.record.submission import add_events
from moss_memory.transfer.export_layout import digest, record_path
from moss_memory.transfer.export_schema import InvalidRow
from moss_memory.transfer.families import record_files
from moss_memory.transfer.families import records as record
from moss_memory.transfer.file_names import encode_id

from .folder_scan import ERASED
from .sync_state import GONE, SyncState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction, Transaction

    from .folder_scan import FolderFile
    from .sync_run import SyncRun

FAMILY = "record"
_NEWEST = "select record_row, max(row_id) from observations group by record_row"
_ORDER = {table.name: index for index, table in enumerate(record.TABLES)}


class RecordSync:
    def __init__(self, run: SyncRun, states: list[SyncState]) -> None:
        self._run = run
        self._states = {state.subject: state for state in states if state.family == FAMILY}
        self._rows: dict[str, tuple[str, int]] = {}
        self._files: dict[str, FolderFile] = {}
        self._imports: list[str] = []
        self._erases: list[str] = []
        self._to_write: list[str] = []

    def decide(self, tx: ReadTransaction) -> None:
        run = self._run
        newest: dict[int, int] = dict(tx.stream(_NEWEST))
        self._rows = {
            record_id: (workspace, newest.get(row_id, 0))
            for record_id, row_id, workspace in tx.stream("select payload_id, row_id, workspace_norm from records")
            if run.is_in_scope(workspace)
        }
        self._match_files()
        for record_id in sorted(self._states.keys() | self._files.keys() | self._rows.keys()):
            state, file, row = self._states.get(record_id), self._files.get(record_id), self._rows.get(record_id)
            if state is not None and file is None and run.scan.is_blocked(state.file):
                continue
            if record_id in run.scan.tombstones:
                if row is not None or file is not None:
                    self._erases.append(record_id)
            elif row is None:
                self._without_row(record_id, state, file)
            elif file is None:
                self._to_write.append(record_id)
            elif file.is_changed:
                self._imports.append(record_id)
            elif state is None or state.pending is not None or state.change_seq != row[1]:
                self._to_write.append(record_id)

    def _without_row(self, record_id: str, state: SyncState | None, file: FolderFile | None) -> None:
        run = self._run
        if state is None:
            self._imports.append(record_id)
        elif run.write(f"{ERASED}/{encode_id(record_id)}", f"{FAMILY}\n".encode(), "*"):
            run.remove(state.file, GONE if file is None else file.hash)
            run.count("erased")
            run.states_after_write[FAMILY, record_id] = []

    def _match_files(self) -> None:
        for path, file in self._run.scan.files[record_files.FOLDER].items():
            record_id = path.rpartition("/")[2].removesuffix(record_files.SUFFIX)
            with self._run.skip_if_invalid(path):
                if file.is_changed:
                    rows = record_files.RecordRows()
                    id_in_file = rows.add(path, file.text(), verify=True)
                    if id_in_file != record_id or path != record_path(record_id, rows.rows[-1][2]["workspace_norm"]):
                        raise InvalidRow("its id or its workspace is not the one of its path")
                self._files[record_id] = file

    def is_needed(self) -> bool:
        return bool(self._imports or self._erases or self._to_write)

    def count(self, tx: ReadTransaction) -> None:
        for record_id in self._imports:
            if not self._submissions(record_id) <= self._stored_submissions(tx, record_id):
                self._run.counts["taken"] += 1
        self._run.counts["erased"] += len(self._erases)
        for record_id in self._to_write:
            self._write_file(tx, record_id)

    def apply(self, tx: Transaction) -> None:
        for record_id in self._erases:
            self._erase(tx, record_id)
        self._take_all(tx)
        for record_id in dict.fromkeys([*self._imports, *self._to_write]):
            self._write_file(tx, record_id)

    def _submissions(self, record_id: str) -> set[str]:
        return record_files.submissions_of(self._files[record_id].text())

    def _stored_submissions(self, tx: ReadTransaction, record_id: str) -> set[str]:
        rows = tx.stream(
            "select submission_id from observations where record_row ="
            " (select row_id from records where payload_id = :id)",
            {"id": record_id},
        )
        return {submission for (submission,) in rows}

    def _take_all(self, tx: Transaction) -> None:
        if not self._imports:
            return
        added = record_files.RecordRows()
        new_ids = []
        for record_id in self._imports:
            file = self._files[record_id]
            if not self._submissions(record_id) <= self._stored_submissions(tx, record_id):
                added.add(file.path, file.text())
                new_ids.append(record_id)
                self._run.count("taken", file=file.path, content=file.content)
        offsets = {series: tx.value(query) for series, query in record.SERIES.items()}
        incoming = record.RecordImport(tx, offsets, "error", as_exported=False)
        for table, where, values, properties in sorted(added.rows, key=lambda entry: _ORDER[entry[0].name]):
            tx.check_cancelled()
            incoming.add(table, where, values, properties)
        incoming.finish()
        for where, _, reason in incoming.collisions:
            self._run.skipped[where["file"]] = reason
        for record_id in new_ids:
            _add_missing_events(tx, record_id)

    def _erase(self, tx: Transaction, record_id: str) -> None:
        if record_id in self._rows:
            erase_record(tx, None, record_id)[0].execute(tx)
            tx.erase_after_commit({}, field="complete", anything=True)
        if (file := self._files.get(record_id)) is not None:
            self._run.remove(file.path, file.hash)
        if record_id in self._states:
            self._run.states[FAMILY, record_id] = []
        self._run.count("erased")

    def _write_file(self, tx: ReadTransaction, record_id: str) -> None:
        file = next(record_files.records_in(tx, "payload_id = :id", id=record_id))
        state, old_file, run = self._states.get(record_id), self._files.get(record_id), self._run
        content, path = file.encode(), record_path(record_id, file.values["workspace_norm"])
        hashed = digest(content)
        seq: int = tx.value(
            "select max(row_id) from observations where record_row = :row", {"row": file.values["row_id"]}
        )
        is_same = old_file is not None and (
            old_file.hash == hashed
            or (old_file.is_changed and self._submissions(record_id) == self._stored_submissions(tx, record_id))
        )
        if old_file is None or not is_same:
            run.write_row(SyncState(FAMILY, record_id, path, record_id, hashed, None, hashed, seq), content, old_file)
        elif state is None or state.pending is not None or (state.hash, state.change_seq) != (old_file.hash, seq):
            run.save_state(SyncState(FAMILY, record_id, path, record_id, old_file.hash, None, hashed, seq))


def _add_missing_events(tx: Transaction, record_id: str) -> None:
    """Add the timeline events of a record that another record reports in the store that it is from."""
    row = tx.row(
        "select r.row_id, r.capability_id, r.workspace_norm, r.workspace_raw, r.body_json, r.entity_row, e.entity_id"
        " from records r join entities e on e.row_id = r.entity_row where r.payload_id = :id",
        {"id": record_id},
    )
    if row is None:
        return
    record_row, capability_id, workspace, raw, body_json, entity_row, entity = row
    capability = registry_of(tx.config.home).capabilities.get(capability_id)
    if capability is not None:
        columns = {"workspace": workspace, "workspace_raw": raw, "entity_row": entity_row, "record_row": record_row}
        add_events(tx, capability, json.loads(body_json), {**columns, "entity_id": entity})
