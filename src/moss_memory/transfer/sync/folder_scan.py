"""Reading of a synced folder: which files are Moss's, which of them changed, and which cannot be read."""

from __future__ import annotations

import re

from moss_memory.errors import MossError
from moss_memory.rows.names import normalize_workspace
from moss_memory.transfer import reasoning_task_files
from moss_memory.transfer.export_layout import digest
from moss_memory.transfer.families import record_files
from moss_memory.transfer.families.artifacts import ARTIFACTS
from moss_memory.transfer.families.capsules import CAPSULES
from moss_memory.transfer.file_names import decode_id, decode_name, encode_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.storage.files.safe_directory import SafeDirectory

    from .sync_state import SyncState

ERASED = "erased"
SUFFIXES = {
    CAPSULES.folder: CAPSULES.suffix,
    ARTIFACTS.folder: ARTIFACTS.suffix,
    record_files.FOLDER: record_files.SUFFIX,
    reasoning_task_files.REASONING: reasoning_task_files.SUFFIX,
    reasoning_task_files.TASKS: reasoning_task_files.SUFFIX,
}
_BEGIN = re.compile(rb"^<<<<<<< ", re.MULTILINE)
_MIDDLE = re.compile(rb"^=======\r?$", re.MULTILINE)
_END = re.compile(rb"^>>>>>>> ", re.MULTILINE)


class FolderFile:
    """A file of the folder; its content only if it changed since the last sync."""

    __slots__ = ("content", "hash", "path")

    def __init__(self, path: str, hashed: str, content: bytes | None) -> None:
        self.path = path
        self.hash = hashed
        self.content = content

    @property
    def is_changed(self) -> bool:
        return self.content is not None

    def text(self) -> str:
        """Return the content of a changed file; raise `UnicodeDecodeError` if it is not UTF-8."""
        return (self.content or b"").decode("utf-8")


class FolderScan:
    """The files of a folder at one time."""

    def __init__(self, tree: SafeDirectory, max_bytes: int, scope: set[str] | None) -> None:
        self._tree = tree
        self._max_bytes = max_bytes
        self._scope = scope
        self.files: dict[str, dict[str, FolderFile]] = {folder: {} for folder in SUFFIXES}
        """The files by folder and path."""
        self.tombstones: set[str] = set()
        """The ids of erased rows."""
        self.skipped: dict[str, str] = {}
        """The files that cannot be used, with the reason."""

    def load(self, states: list[SyncState], check_cancelled: Callable[[], None]) -> None:
        """Read and hash every file; keep the content of those that changed since the last sync."""
        states_by_path = {state.file: state for state in states}
        for folder, suffix in SUFFIXES.items():
            paths = [
                path
                for path in self._list(folder, suffix)
                if path.count("/") == 2 and self._is_in_scope(path) and self._is_ours(folder, path)
            ]
            for path in paths:
                check_cancelled()
                self._add(folder, path, states_by_path.get(path))
        for path in self._list(ERASED, ""):
            if path.count("/") == 1:
                self._read_tombstone(path)

    def content(self, path: str) -> bytes:
        return self._tree.read(path, max_bytes=self._max_bytes) or b""

    def is_blocked(self, path: str) -> bool:
        """Return True if a file cannot be read, so that nothing is known of it."""
        return path in self.skipped or any(path.startswith(f"{folder}/") for folder in self.skipped)

    def _list(self, folder: str, suffix: str) -> list[str]:
        try:
            paths = list(self._tree.files(suffix, folder))
        except MossError as error:
            self.skipped[folder] = error.message
            return []
        for link in self._tree.skipped:
            if link.startswith(f"{folder}/"):
                self.skipped[_display_path(link)] = "it is a link or nested too deeply, and is not followed"
        return paths

    def _is_in_scope(self, path: str) -> bool:
        if self._scope is None:
            return True
        workspace = workspace_of(path)
        return workspace is not None and workspace in self._scope

    def _is_ours(self, folder: str, path: str) -> bool:
        is_work = folder in (reasoning_task_files.REASONING, reasoning_task_files.TASKS)
        return not is_work or reasoning_task_files.table_at_path(path) is not None

    def _add(self, folder: str, path: str, state: SyncState | None) -> None:
        try:
            content = self._tree.read(path, max_bytes=self._max_bytes)
        except MossError as error:
            self.skipped[_display_path(path)] = error.message
            return
        if content is None:
            return  # removed since it was listed
        if state is None and _display_path(path) != path:
            self.skipped[_display_path(path)] = "its name is not UTF-8"
            return
        hashed = digest(content)
        if state is not None and state.has_hash(hashed):
            self.files[folder][path] = FolderFile(path, hashed, None)
        elif has_conflict_markers(content):
            self.skipped[path] = "it has conflict markers of git; settle the merge first"
        else:
            self.files[folder][path] = FolderFile(path, hashed, content)

    def _read_tombstone(self, path: str) -> None:
        try:
            item_id = decode_id(path.partition("/")[2])
            if encode_id(item_id) == path.partition("/")[2]:
                self.tombstones.add(item_id)
        except UnicodeDecodeError:
            return  # no name that Moss gives


def workspace_of(path: str) -> str | None:
    """Return the workspace that a path means, or None if it means none."""
    try:
        return normalize_workspace(decode_name(path.split("/")[1]))
    except (MossError, UnicodeDecodeError, IndexError):
        return None


def has_conflict_markers(content: bytes) -> bool:
    """Return True if a file has the marks of an unsettled merge, in their order."""
    begin = _BEGIN.search(content)
    middle = _MIDDLE.search(content, begin.end()) if begin else None
    return middle is not None and _END.search(content, middle.end()) is not None


def _display_path(path: str) -> str:
    return path.encode("utf-8", "replace").decode()
