"""Sync of reasoning and tasks: those of a workspace are taken over as a whole."""

from __future__ import annotations

from moss_memory.errors import MossError
from moss_memory.transfer import reasoning_task_files
from moss_memory.transfer.export import workspaces
from moss_memory.transfer.export_layout import digest
from moss_memory.transfer.export_schema import InvalidRow
from moss_memory.transfer.file_names import encode_name
from moss_memory.transfer.reasoning_task_files import WorkspaceFiles
from moss_memory.transfer.reasoning_task_import import Workspaces, delete_reasoning_and_tasks

from .folder_scan import workspace_of
from .sync_run import hash_files
from .sync_state import GONE, SyncState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction, Transaction

    from .folder_scan import FolderFile
    from .sync_run import SyncRun

FAMILY = "work"


class WorkSync:
    """The sync of reasoning and tasks of all workspaces."""

    def __init__(self, run: SyncRun, states: list[SyncState]) -> None:
        self._run = run
        self._states: dict[str, dict[str, SyncState]] = {}
        for one in states:
            if one.family == FAMILY and run.is_in_scope(one.subject):
                self._states.setdefault(one.subject, {})[one.file] = one
        self._files: dict[str, dict[str, FolderFile]] = {}
        self._store: dict[str, dict[str, bytes]] = {}
        self._imports: list[str] = []
        self._writes: list[str] = []

    def decide(self, tx: ReadTransaction) -> None:
        for folder in reasoning_task_files.FOLDERS:
            for path, found in self._run.scan.files[folder].items():
                workspace = workspace_of(path)
                if workspace is not None and path.split("/")[1] == encode_name(workspace):
                    self._files.setdefault(workspace, {})[path] = found
        there = {one for one in workspaces(tx) if self._run.is_in_scope(one)}
        for workspace in sorted(there | self._states.keys() | self._files.keys()):
            tx.check_cancelled()
            self._store[workspace] = WorkspaceFiles.of(tx, workspace).files()
            if not self._is_blocked(workspace):
                self._decide_one(workspace)

    def _is_blocked(self, workspace: str) -> bool:
        folders = [f"{folder}/{encode_name(workspace)}" for folder in reasoning_task_files.FOLDERS]
        blocked = self._run.scan.skipped
        return any(
            one == parent or one.startswith(f"{parent}/") or one == parent.partition("/")[0]
            for one in blocked
            for parent in folders
        )

    def _decide_one(self, workspace: str) -> None:
        known, found = self._states.get(workspace, {}), self._files.get(workspace, {})
        store = self._store[workspace]
        present = {path: one.hash for path, one in found.items()}
        if present == {path: digest(content) for path, content in store.items()}:
            if present != {path: one.hash for path, one in known.items() if one.pending is None}:
                self._save_hashes(workspace)
            return
        files_changed = any(
            not known[path].has_hash(present.get(path, GONE)) if path in known else path in present
            for path in known.keys() | present.keys()
        )
        row_hash = next((one.row_hash for one in known.values()), hash_files({}))
        rows_changed = hash_files(store) != row_hash or any(one.pending is not None for one in known.values())
        if files_changed and rows_changed and not self._run.settle:
            path = min(present or known)
            self._run.add_conflict("workspace", workspace, path.rpartition("/")[0])
        elif files_changed and not (rows_changed and self._run.settle == "ours"):
            self._imports.append(workspace)
        elif rows_changed:
            self._writes.append(workspace)

    def is_needed(self) -> bool:
        return bool(self._imports or self._writes)

    def count(self, tx: ReadTransaction) -> None:
        for workspace in self._imports:
            self._run.count("taken" if self._files.get(workspace) else "deleted")
        for workspace in self._writes:
            self._write_files(workspace)

    def apply(self, tx: Transaction) -> None:
        for workspace in self._imports:
            tx.check_cancelled()
            self._take(tx, workspace)
        for workspace in self._writes:
            self._write_files(workspace)

    def _take(self, tx: Transaction, workspace: str) -> None:
        found = self._files.get(workspace, {})
        present = [workspace] if self._store[workspace] else []
        if not found:
            delete_reasoning_and_tasks(tx, workspace)
            self._run.count("deleted")
            self._run.states[FAMILY, workspace] = []
            return
        try:
            incoming = self._read(tx, workspace, found)
        except (InvalidRow, MossError, UnicodeDecodeError) as error:
            self._run.skipped[min(found)] = str(getattr(error, "message", error))[:300]
            return
        incoming.write(tx, "replace", present)
        incoming.advance_counters(tx)
        self._run.count("taken")
        self._store[workspace] = WorkspaceFiles.of(tx, workspace).files()
        self._save_hashes(workspace)

    def _read(self, tx: Transaction, workspace: str, found: dict[str, FolderFile]) -> Workspaces:
        """Return the rows of a workspace's files; raise if they are invalid or contradict each other."""
        rows = tx.stream("select id, revision from tasks where workspace_norm = :workspace", {"workspace": workspace})
        revisions = {task_id: revision + 1 for task_id, revision in rows}  # a store counts its own changes
        incoming = Workspaces()
        for path, one in sorted(found.items()):
            content = one.content if one.content is not None else self._run.scan.content(path)
            name = reasoning_task_files.table_at_path(path)
            assert name is not None
            try:
                for number, values in reasoning_task_files.parse_rows(
                    name, content.decode("utf-8"), workspace, revisions
                ):
                    incoming.add(name, values, f"{path} line {number}")
            except InvalidRow as problem:
                raise InvalidRow(f"{path}: {problem}") from None
            self._run.find_secrets(path, content)
        incoming.check()
        return incoming

    def _save_hashes(self, workspace: str) -> None:
        row_hash = hash_files(self._store[workspace])
        self._run.states[FAMILY, workspace] = [
            SyncState(FAMILY, workspace, path, workspace, one.hash, None, row_hash, 0)
            for path, one in self._files.get(workspace, {}).items()
        ]

    def _write_files(self, workspace: str) -> None:
        known, found, run = self._states.get(workspace, {}), self._files.get(workspace, {}), self._run
        store = self._store[workspace]
        row_hash = hash_files(store)
        begun, settled = [], []
        changed: list[str] = []
        for path in sorted(store.keys() | found.keys() | known.keys()):
            present = found[path].hash if path in found else GONE
            after = digest(store[path]) if path in store else GONE
            if present != after:
                changed.append(path)
            begun.append(SyncState(FAMILY, workspace, path, workspace, present, after, row_hash, 0))
            if path in store:
                settled.append(SyncState(FAMILY, workspace, path, workspace, after, None, row_hash, 0))
        if any(run.scan.is_blocked(path) for path in changed):
            return
        for path in changed:
            present = found[path].hash if path in found else GONE
            if path in store:
                run.write(path, store[path], present)
                run.find_secrets(path, store[path])
            else:
                run.remove(path, present)
        run.count("written" if store else "deleted")
        run.states[FAMILY, workspace] = begun
        run.states_after_write[FAMILY, workspace] = settled
