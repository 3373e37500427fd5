"""Sync of capsules and artifacts: each is compared with its file and with both at the last sync."""

from __future__ import annotations

from moss_memory.rows.names import NAME_MAX_CHARS, is_local, normalize_name
from moss_memory.storage.origin import Origin, note_repositories
from moss_memory.transfer.export_layout import digest
from moss_memory.transfer.export_schema import InvalidRow
from moss_memory.transfer.families.capsules import CODE
from moss_memory.transfer.file_names import decode_name, derive_id, encode_id, is_id

from .folder_scan import ERASED, workspace_of
from .sync_state import GONE, SyncState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction, Transaction
    from moss_memory.transfer.export_schema import Values
    from moss_memory.transfer.families.named_files import NamedFiles

    from .folder_scan import FolderFile
    from .sync_run import SyncRun

_IS_LOCAL = "it is local here and is not synced; remove the file to withdraw it from the others"
_IS_ELSEWHERE = "it is in a workspace here that this sync leaves out"


class _RowState:
    """The columns of a row that are compared with the last sync."""

    __slots__ = ("change_seq", "code_may_differ", "deleted", "is_local", "name", "workspace")

    def __init__(
        self, workspace: str, name: str | None, change_seq: int, deleted: bool, tags: str | None, code_may_differ: bool
    ) -> None:
        self.workspace = workspace
        self.name = name
        self.change_seq = change_seq
        self.deleted = deleted
        self.is_local = is_local(tags)
        self.code_may_differ = code_may_differ
        """True if its code state may have changed without a change of the row."""


class NamedSync:
    """The sync of one family of named rows."""

    def __init__(self, run: SyncRun, files: NamedFiles, states: list[SyncState]) -> None:
        self._run = run
        self._format = files
        self._table = files.table
        self._versioned = files.versioned
        self._family = files.versioned.family
        self._states = {state.subject: state for state in states if state.family == self._family}
        self._aliases = {state.known_as: subject for subject, state in self._states.items()}
        self._rows: dict[str, _RowState] = {}
        self._files: dict[str, FolderFile] = {}
        self._parsed: dict[str, Values] = {}
        """The rows in changed files, by subject."""
        self._ids: dict[str, str] = {}
        """The ids in changed files, by subject."""
        self._named_files: dict[tuple[str, str], str] = {}
        """The changed files by workspace and name."""
        self._copies: set[str] = set()
        """The ids of copies, whose files have the id of another row."""
        self._imports: list[tuple[str, bool]] = []
        self._confirms: list[tuple[str, bool]] = []
        """The capsules that differ only in their code state, and whether the row changed too."""
        self._deletes: list[str] = []
        self._erases: list[str] = []
        self._to_write: dict[str, None] = {}
        self._now = 0

    def decide(self, tx: ReadTransaction) -> None:
        self._read_rows(tx)
        self._match_files()
        for subject in sorted(self._states.keys() | self._files.keys() | self._rows.keys()):
            state, file, row = self._states.get(subject), self._files.get(subject), self._rows.get(subject)
            if state is not None and file is not None and row is not None:
                row_changed = row.change_seq != state.change_seq or row.deleted or row.code_may_differ or row.is_local
                if not (file.is_changed or row_changed or state.pending is not None):
                    continue
            self._decide_one(tx, subject, state, file, row)

    def _read_rows(self, tx: ReadTransaction) -> None:
        tx.begin()
        self._now = tx.now
        columns = self._table.columns
        confirmed = "confirmed_origin is not null" if "confirmed_origin" in columns else "false"
        expired = "expires_at is not null and expires_at <= :now" if "expires_at" in columns else "false"
        rows = tx.stream(
            f"select id, workspace_norm, name_norm, change_seq, deleted_at is not null, tags_json, {confirmed},"
            f" {expired} from {self._table.name}",
            {"now": tx.now} if "expires_at" in columns else {},
        )
        self._rows = {
            item_id: _RowState(workspace, name, seq, bool(deleted) or bool(has_expired), tags, bool(confirmed))
            for item_id, workspace, name, seq, deleted, tags, confirmed, has_expired in rows
        }

    def _decide_one(
        self,
        tx: ReadTransaction,
        subject: str,
        state: SyncState | None,
        file: FolderFile | None,
        row: _RowState | None,
    ) -> None:
        if state is not None and file is None and self._run.scan.is_blocked(state.file):
            return
        if state is None and file is None and (row is None or not self._is_ours(row)):
            return
        known_as = self._known_as(subject, state)
        if known_as in self._run.scan.tombstones and (row is None or self._run.is_in_scope(row.workspace)):
            self._erases.append(subject)
        elif row is not None and not row.deleted and not self._is_ours(row):
            if file is not None:
                self._run.skipped[file.path] = _IS_LOCAL if row.is_local else _IS_ELSEWHERE
        elif row is None:
            self._decide_without_row(subject, state, file)
        elif row.deleted:
            self._decide_with_deleted_row(subject, state, file, row)
        elif file is None:
            changed = state is None or state.hash == GONE or self._row_changed(tx, subject, state, row)
            if changed:
                self._to_write[subject] = None
            else:
                self._deletes.append(subject)
        else:
            self._compare(tx, subject, state, file, row)

    def _is_ours(self, row: _RowState) -> bool:
        return self._run.is_in_scope(row.workspace) and not row.is_local

    def _decide_without_row(self, subject: str, state: SyncState | None, file: FolderFile | None) -> None:
        if state is not None:  # the row was purged or erased: a tombstone erases it on the other side
            run = self._run
            if run.scan.is_blocked(f"{ERASED}/{encode_id(state.known_as)}"):
                return
            run.write(f"{ERASED}/{encode_id(state.known_as)}", f"{self._family}\n".encode(), "*")
            run.remove(state.file if file is None else file.path, GONE if file is None else file.hash)
            run.count("erased")
            run.states_after_write[self._family, subject] = []
        elif file is not None:
            if self._has_expired(subject):
                self._run.remove(file.path, file.hash)
                self._run.count("deleted")
            else:
                self._imports.append((subject, False))

    def _has_expired(self, subject: str) -> bool:
        expires = self._parsed[subject].get("expires_at") if subject in self._parsed else None
        return expires is not None and expires <= self._now

    def _decide_with_deleted_row(
        self, subject: str, state: SyncState | None, file: FolderFile | None, row: _RowState
    ) -> None:
        if file is None:
            if state is not None and (state.hash != GONE or state.pending is not None):
                self._run.save_state(self._state(subject, state.file, GONE, state.row_hash, row.change_seq))
        elif (not file.is_changed and state is not None) or self._has_expired(subject):
            self._run.remove(file.path, file.hash)
            self._run.count("deleted")
            row_hash = state.row_hash if state is not None else GONE
            new_state = self._state(subject, file.path, GONE, row_hash, row.change_seq)
            self._run.save_state(new_state.before_write(file.path, file.hash))
            self._run.states_after_write[self._family, subject] = [new_state]
        else:
            self._imports.append((subject, False))

    def _row_changed(self, tx: ReadTransaction, subject: str, state: SyncState | None, row: _RowState) -> bool:
        if state is None or state.pending is not None:
            return True
        if row.change_seq == state.change_seq and not row.code_may_differ:
            return False
        values = self._load(tx, subject)
        return digest(self._format.encode(values, state.known_as)) != state.row_hash or state.file != self._format.path(
            values
        )

    def _compare(
        self, tx: ReadTransaction, subject: str, state: SyncState | None, file: FolderFile, row: _RowState
    ) -> None:
        row_changed = self._row_changed(tx, subject, state, row)
        if not file.is_changed:
            assert state is not None
            if row_changed:
                self._to_write[subject] = None
            else:
                self._run.save_state(self._state(subject, file.path, file.hash, state.row_hash, row.change_seq))
            return
        if self._is_equal(tx, subject):
            if self._has_other_code(tx, subject):
                self._confirms.append((subject, row_changed))
            self._to_write[subject] = None  # writes nothing unless the file is in another place
        else:
            self._imports.append((subject, row_changed))

    def _is_equal(self, tx: ReadTransaction, subject: str) -> bool:
        """Return True if file and row are equal except for id, time of creation and code state."""
        return self._content(self._load(tx, subject)) == self._content(self._parsed[subject])

    def _content(self, values: Values) -> bytes:
        return self._format.encode({**values, "id": "", "created_at": 0, CODE: None})

    def _has_other_code(self, tx: ReadTransaction, subject: str) -> bool:
        """Return True if a file names another commit than its row."""
        code, row_code = self._parsed[subject].get(CODE), self._load(tx, subject).get(CODE)
        return code is not None and (row_code is None or row_code.in_file() != code.in_file())

    def _match_files(self) -> None:
        """Assign each file to a row: by its id, its path at the last sync, or its name."""
        by_path = {
            state.file: state for state in self._states.values() if state.hash != GONE or state.pending is not None
        }
        ids_by_name = {
            (row.workspace, row.name): item_id for item_id, row in self._rows.items() if row.name and not row.deleted
        }
        members: dict[str, list[tuple[FolderFile, Values | None]]] = {}
        for path, file in self._run.scan.files[self._format.folder].items():
            last_state = by_path.get(path)
            if not file.is_changed and last_state is not None:
                members.setdefault(last_state.known_as, []).append((file, None))
                continue
            with self._run.skip_if_invalid(path):
                parsed = self._parse(file)
                item_id = parsed["id"] or (last_state.known_as if last_state else None) or self._derive_id(parsed)
                members.setdefault(item_id, []).append((file, {**parsed, "id": item_id}))
        for item_id, files in members.items():
            self._match_members(item_id, files, by_path, ids_by_name)

    def _match_members(
        self,
        item_id: str,
        files: list[tuple[FolderFile, Values | None]],
        by_path: dict[str, SyncState],
        ids_by_name: dict[tuple[str, str], str],
    ) -> None:
        """Assign the files with one id; a copy gets a new id, the same one on every machine."""
        if len(files) > 1:
            state = self._states.get(self._aliases.get(item_id, item_id))
            pending = None if state is None else state.pending
            files = [pair for pair in files if pair[0].hash != pending] or files[:1]
            files.sort(
                key=lambda pair: (pair[1] is not None and pair[0].path != self._format.path(pair[1]), pair[0].path)
            )
        (file, parsed), *copies = files
        if parsed is None:
            self._files[by_path[file.path].subject] = file
        else:
            self._match(file, parsed, ids_by_name)
        for copy, values in copies:
            self._match_copy(copy, values, ids_by_name)

    def _match_copy(self, file: FolderFile, parsed: Values | None, ids_by_name: dict[tuple[str, str], str]) -> None:
        copy = None
        with self._run.skip_if_invalid(file.path):
            if parsed is None:
                file.content = self._run.scan.content(file.path)
                parsed = self._parse(file)
            copy = self._name_copy(file, parsed)
        if copy is None:
            return
        other_path = self._file_with_name(copy, ids_by_name)
        if other_path not in (None, file.path):
            self._run.skip(file.path, f"it has the name of {other_path}")
            return
        copy["id"] = self._derive_id(copy)
        while copy["id"] in self._rows or copy["id"] in self._run.scan.tombstones:
            copy["id"] = self._derive_id(copy, copy["id"])
        self._match(file, copy, ids_by_name)
        self._copies.add(copy["id"])

    def _file_with_name(self, parsed: Values, ids_by_name: dict[tuple[str, str], str]) -> str | None:
        """Return the file of the row that has the name of a copy already."""
        name = parsed["workspace_norm"], parsed["name_norm"]
        state = self._states.get(ids_by_name.get(name, ""))
        if state is not None and state.file in self._run.scan.files[self._format.folder]:
            return state.file
        return self._named_files.get(name)

    def _name_copy(self, file: FolderFile, parsed: Values) -> Values:
        """Return a copy with the name of its file; raise if that is no name."""
        if file.path == self._format.path(parsed):
            return parsed
        name = decode_name(file.path.rpartition("/")[2].removesuffix(self._format.suffix))
        return {**parsed, "name_raw": name, "name_norm": normalize_name(name)}

    def _parse(self, file: FolderFile) -> Values:
        stem = file.path.rpartition("/")[2].removesuffix(self._format.suffix)
        workspace = workspace_of(file.path)
        if workspace is None:
            raise InvalidRow("its folder is no name of a workspace")
        name = None if is_id(stem) else decode_name(stem)
        parsed = self._format.decode(file.text(), workspace=workspace, name=name)
        if not self._run.is_in_scope(parsed["workspace_norm"]):
            raise InvalidRow(f"it says that its workspace is {parsed['workspace_raw']!r}, which this sync leaves out")
        return parsed

    def _match(self, file: FolderFile, parsed: Values, ids_by_name: dict[tuple[str, str], str]) -> None:
        item_id: str = parsed["id"]
        name_owner = ids_by_name.get((parsed["workspace_norm"], parsed["name_norm"])) if parsed["name_norm"] else None
        if item_id in self._aliases:
            subject = self._aliases[item_id]
        elif item_id not in self._rows and name_owner is not None and self._is_same_row(name_owner, file):
            subject = name_owner
        else:
            subject = item_id
        if subject in self._files:
            self._run.skip(file.path, f"it has the name of {self._files[subject].path}")
            return
        self._files[subject], self._parsed[subject], self._ids[subject] = file, parsed, item_id
        if parsed["name_norm"]:
            self._named_files[parsed["workspace_norm"], parsed["name_norm"]] = file.path

    def _is_same_row(self, owner: str, file: FolderFile) -> bool:
        """Return True if a file belongs to the row with its name but another id: both sides created or changed it."""
        state, row = self._states.get(owner), self._rows[owner]
        if owner in self._files:
            return False
        return state is None or (state.file == file.path and state.change_seq != row.change_seq)

    def _derive_id(self, parsed: Values, salt: str = "") -> str:
        return derive_id(self._family, parsed["workspace_norm"], parsed["name_norm"] or "", salt)

    def _known_as(self, subject: str, state: SyncState | None) -> str:
        return self._ids.get(subject) or (state.known_as if state is not None else subject)

    def _load(self, tx: ReadTransaction, subject: str) -> Values:
        return self._format.add_code_state(tx, next(self._table.rows(tx, "id = :id", id=subject)))

    def _state(self, subject: str, file: str, hashed: str, row_hash: str, change_seq: int) -> SyncState:
        known_as = self._known_as(subject, self._states.get(subject))
        return SyncState(self._family, subject, file, known_as, hashed, None, row_hash, change_seq)

    def count(self, tx: ReadTransaction) -> None:
        run = self._run
        for subject, conflict in self._imports:
            self._count_take(subject, conflict)
        run.counts["taken"] += sum(not row_changed for _, row_changed in self._confirms)
        run.counts["deleted"] += len(self._deletes)
        run.counts["erased"] += len(self._erases)
        for subject in self._to_write:
            self._write_file(tx, subject)

    def is_needed(self) -> bool:
        return bool(self._imports or self._deletes or self._erases or self._to_write)

    def apply(self, tx: Transaction) -> None:
        for subject in self._erases:
            self._erase(tx, subject)
        for subject in self._deletes:
            seq = tx.next_change()
            tx.run(self._versioned.sql["soft_delete"], {"id": subject, "now": tx.now, "change_seq": seq})
            state = self._states[subject]
            self._run.save_state(self._state(subject, state.file, GONE, state.row_hash, seq))
            self._run.count("deleted")
        for subject, row_changed in self._confirms:
            origin = self._origin_of(tx, self._parsed[subject])
            tx.run(self._versioned.sql["confirm"], {"id": subject, "origin": origin})
            if not row_changed:
                self._run.count("taken")
        order = {subject: self._parsed[subject]["created_at"] or 0 for subject, _ in self._imports}
        remaining = {subject for subject, _ in self._imports}
        for subject, conflict in sorted(self._imports, key=lambda item: (order[item[0]], item[0])):
            tx.check_cancelled()
            self._count_take(subject, conflict)
            self._free_name(tx, subject, remaining)
            remaining.discard(subject)
            self._take(tx, subject)
            self._to_write[subject] = None
        for subject in self._to_write:
            self._write_file(tx, subject)

    def _count_take(self, subject: str, conflict: bool) -> None:
        file, row = self._files[subject], self._rows.get(subject)
        is_deleted = row is not None and row.deleted
        self._run.count("restored" if is_deleted else "taken", file=file.path, content=file.content)
        if conflict:
            self._run.add_conflict(self._family, address_of(self._parsed[subject]), file.path)

    def _erase(self, tx: Transaction, subject: str) -> None:
        row, file = self._rows.get(subject), self._files.get(subject)
        if row is not None:
            self._versioned.erasure(tx, self._load(tx, subject)).execute(tx)
            tx.erase_after_commit({}, field="complete", anything=True)
        if file is not None:
            self._run.remove(file.path, file.hash)
        if subject in self._states:
            self._run.states[self._family, subject] = []
        self._run.count("erased")

    def _free_name(self, tx: Transaction, subject: str, remaining: set[str]) -> None:
        """Rename another row that has the name of an imported file: it gets a number."""
        parsed = self._parsed[subject]
        if parsed["name_norm"] is None:
            return
        table = self._table.name
        owner = tx.value(self._table.statements()["name_taken"], parsed)
        if owner is None or owner == subject:
            return
        if owner in remaining:  # it gets its own new name in this run
            tx.run(f"update {table} set name_raw = null, name_norm = null where id = :id", {"id": owner})
            return
        row = self._load(tx, owner)
        number, name = 0, {"name_norm": row["name_norm"]}
        while tx.value(self._table.statements()["name_taken"], {**row, **name}) is not None:
            number += 1
            raw = row["name_raw"].rstrip()[: NAME_MAX_CHARS - len(f"-{number}")] + f"-{number}"
            name = {"name_raw": raw, "name_norm": normalize_name(raw)}
        self._versioned.archive_and_write(tx, {**row, **name}, self._versioned.sql["rename"])
        self._run.add_conflict(self._family, address_of({**row, **name}), self._format.path({**row, **name}))
        self._to_write[owner] = None

    def _take(self, tx: Transaction, subject: str) -> None:
        parsed = dict(self._parsed[subject])
        created = parsed["created_at"]
        if subject in self._rows:
            row = self._load(tx, subject)
            kept_columns = ("id", "row_id", "version", "version_at", "version_tool")
            own_columns = {key: row[key] for key in kept_columns} | {"version_origin": self._origin_of(tx, parsed)}
            times = {"created_at": row["created_at"] if created is None else created, "deleted_at": None}
            values = {**parsed, **own_columns, **times, "updated_at": max(tx.now, row["updated_at"])}
            if row["deleted_at"] is not None and self._content(row) == self._content(parsed):
                seq = tx.next_change()
                tx.run(self._versioned.sql["restore"], {"id": subject, "now": tx.now, "change_seq": seq})
            else:
                self._versioned.archive_and_write(tx, values, self._table.statements()["overwrite"])
            return
        own_columns = {"id": subject, "row_id": None, "version": 1, "version_at": tx.now, "version_tool": tx.tool}
        own_columns["version_origin"] = self._origin_of(tx, parsed)
        created = tx.now if created is None else created
        times = {"created_at": created, "updated_at": max(tx.now, created), "deleted_at": None}
        tx.run(self._table.insert(), {**parsed, **own_columns, **times, "change_seq": tx.next_change()})

    def _origin_of(self, tx: Transaction, parsed: Values) -> str:
        """Return the origin of a taken file: taken by the caller, at the commit that the file names."""
        code = parsed.get(CODE)
        key = tx.store_origin(tx.call.caller.origin() if code is None else Origin(tx.actor, code))
        note_repositories(tx, parsed["workspace_norm"], {key})
        return key

    def _write_file(self, tx: ReadTransaction, subject: str) -> None:
        """Write the file of a row unless the folder has it already."""
        values = self._load(tx, subject)
        state, file, run = self._states.get(subject), self._files.get(subject), self._run
        known_as = self._known_as(subject, state)
        content, path = self._format.encode(values, known_as), self._format.path(values)
        hashed, seq = digest(content), values["change_seq"]
        is_taken = subject in self._parsed and known_as not in self._copies
        if file is not None and file.path == path and (is_taken or file.hash == hashed):
            run.save_state(self._state(subject, path, file.hash, hashed, seq))
            return
        if is_local(values["tags_json"]):
            return
        run.write_row(self._state(subject, path, hashed, hashed, seq), content, file)


def address_of(values: Values) -> str:
    """Return the address of a row for people."""
    return f"{values['workspace_raw']}/{values['name_raw'] or values['id']}"
