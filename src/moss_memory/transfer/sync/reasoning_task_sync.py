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
        for state in states:
            if state.family == FAMILY and run.is_in_scope(state.subject):
                self._states.setdefault(state.subject, {})[state.file] = state
        self._files: dict[str, dict[str, FolderFile]] = {}
        self._store: dict[str, dict[str, bytes]] = {}
        self._imports: list[str] = []
        self._writes: list[str] = []

    def decide(self, tx: ReadTransaction) -> None:
        for folder in reasoning_task_files.FOLDERS:
            for path, file in self._run.scan.files[folder].items():
                workspace = workspace_of(path)
                if workspace is not None and path.split("/")[1] == encode_name(workspace):
                    self._files.setdefault(workspace, {})[path] = file
        stored_workspaces = {name for name in workspaces(tx) if self._run.is_in_scope(name)}
        for workspace in sorted(stored_workspaces | self._states.keys() | self._files.keys()):
            tx.check_cancelled()
            self._store[workspace] = WorkspaceFiles.of(tx, workspace).files()
            if not self._is_blocked(workspace):
                self._decide_one(workspace)

    def _is_blocked(self, workspace: str) -> bool:
        folders = [f"{folder}/{encode_name(workspace)}" for folder in reasoning_task_files.FOLDERS]
        blocked = self._run.scan.skipped
        return any(
            path == parent or path.startswith(f"{parent}/") or path == parent.partition("/")[0]
            for path in blocked
            for parent in folders
        )

    def _decide_one(self, workspace: str) -> None:
        states, files = self._states.get(workspace, {}), self._files.get(workspace, {})
        store = self._store[workspace]
        present = {path: file.hash for path, file in files.items()}
        if present == {path: digest(content) for path, content in store.items()}:
            if present != {path: state.hash for path, state in states.items() if state.pending is None}:
                self._save_hashes(workspace)
            return
        files_changed = any(
            not states[path].has_hash(present.get(path, GONE)) if path in states else path in present
            for path in states.keys() | present.keys()
        )
        row_hash = next((state.row_hash for state in states.values()), hash_files({}))
        rows_changed = hash_files(store) != row_hash or any(state.pending is not None for state in states.values())
        if files_changed and rows_changed and not self._run.settle:
            path = min(present or states)
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
        files = self._files.get(workspace, {})
        present = [workspace] if self._store[workspace] else []
        if not files:
            delete_reasoning_and_tasks(tx, workspace)
            self._run.count("deleted")
            self._run.states[FAMILY, workspace] = []
            return
        try:
            incoming = self._read(tx, workspace, files)
        except (InvalidRow, MossError, UnicodeDecodeError) as error:
            self._run.skipped[min(files)] = str(getattr(error, "message", error))[:300]
            return
        incoming.write(tx, "replace", present)
        incoming.advance_counters(tx)
        self._run.count("taken")
        self._store[workspace] = WorkspaceFiles.of(tx, workspace).files()
        self._save_hashes(workspace)

    def _read(self, tx: Transaction, workspace: str, files: dict[str, FolderFile]) -> Workspaces:
        """Return the rows of a workspace's files; raise if they are invalid or contradict each other."""
        rows = tx.stream("select id, revision from tasks where workspace_norm = :workspace", {"workspace": workspace})
        revisions = {task_id: revision + 1 for task_id, revision in rows}  # a store counts its own changes
        incoming = Workspaces()
        for path, file in sorted(files.items()):
            content = file.content if file.content is not None else self._run.scan.content(path)
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
            SyncState(FAMILY, workspace, path, workspace, file.hash, None, row_hash, 0)
            for path, file in self._files.get(workspace, {}).items()
        ]

    def _write_files(self, workspace: str) -> None:
        states, files, run = self._states.get(workspace, {}), self._files.get(workspace, {}), self._run
        store = self._store[workspace]
        row_hash = hash_files(store)
        pending_states, final_states = [], []
        changed_paths: list[str] = []
        for path in sorted(store.keys() | files.keys() | states.keys()):
            present = files[path].hash if path in files else GONE
            target_hash = digest(store[path]) if path in store else GONE
            if present != target_hash:
                changed_paths.append(path)
            pending_states.append(SyncState(FAMILY, workspace, path, workspace, present, target_hash, row_hash, 0))
            if path in store:
                final_states.append(SyncState(FAMILY, workspace, path, workspace, target_hash, None, row_hash, 0))
        if any(run.scan.is_blocked(path) for path in changed_paths):
            return
        for path in changed_paths:
            present = files[path].hash if path in files else GONE
            if path in store:
                run.write(path, store[path], present)
                run.find_secrets(path, store[path])
            else:
                run.remove(path, present)
        run.count("written" if store else "deleted")
        run.states[FAMILY, workspace] = pending_states
        run.states_after_write[FAMILY, workspace] = final_states
