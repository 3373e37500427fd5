"""The state of one sync: options, counts, changes of the stored state and files to write."""

from __future__ import annotations

from contextlib import contextmanager

from moss_memory.errors import MossError
from moss_memory.secrets.scanner import findings_fields, findings_in
from moss_memory.tools.capsule.import_lines import InvalidRecordError
from moss_memory.transfer.export_layout import digest
from moss_memory.transfer.export_schema import InvalidRow

from .sync_state import GONE, SyncState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .folder_scan import FolderFile, FolderScan

_COUNTED = ("taken", "written", "deleted", "restored", "erased")
_REASON_CHARS = 300


class SyncRun:
    """One pass over folder and store; the store's part happens in one transaction."""

    def __init__(self, scan: FolderScan, *, scope: set[str] | None, settle: str, dry_run: bool) -> None:
        self.scan = scan
        self.scope = scope
        self.settle = settle
        """`ours` or `theirs`: the winner of conflicts of reasoning and tasks; empty if they are only reported."""
        self.dry_run = dry_run
        self.counts = dict.fromkeys(_COUNTED, 0)
        self.conflicts: list[dict[str, str]] = []
        self.skipped: dict[str, str] = dict(scan.skipped)
        self.findings: list[dict[str, Any]] = []
        self.states: dict[tuple[str, str], list[SyncState]] = {}
        """The states that the transaction stores, by family and subject."""
        self.states_after_write: dict[tuple[str, str], list[SyncState]] = {}
        """The states that are stored after the files are written."""
        self.writes: dict[str, tuple[bytes, str]] = {}
        """The files to write: content, and the hash of the file that may be replaced."""
        self.removals: dict[str, str] = {}
        """The files to remove, with the hash that they may have."""

    def is_in_scope(self, workspace: str | None) -> bool:
        return self.scope is None or (workspace is not None and workspace in self.scope)

    def count(self, what: str, *, file: str = "", content: bytes | None = None) -> None:
        """Count one change, and look for secrets in the content."""
        self.counts[what] += 1
        if content is not None:
            self.find_secrets(file, content)

    def find_secrets(self, file: str, content: bytes) -> None:
        self.findings += findings_in(content.decode("utf-8", "replace"), file)

    def add_conflict(self, type: str, address: str, file: str) -> None:
        self.conflicts.append({"type": type, "address": address, "file": file})

    def skip(self, path: str, why: str) -> None:
        self.skipped[path] = self.scan.skipped[path] = why[:_REASON_CHARS]

    @contextmanager
    def skip_if_invalid(self, path: str) -> Iterator[None]:
        """Skip a file that cannot become a row."""
        try:
            yield
        except UnicodeDecodeError:
            self.skip(path, "it is not UTF-8")
        except (InvalidRow, InvalidRecordError, MossError) as error:
            self.skip(path, str(getattr(error, "message", error)))

    def save_state(self, state: SyncState) -> None:
        """Store a state in the transaction."""
        self.states[state.family, state.subject] = [state]

    def write(self, path: str, content: bytes, present: str) -> bool:
        """Write a file in the place of one with a known hash; return False if another file is there."""
        if self.scan.is_blocked(path):
            return False
        self.writes[path] = (content, present)
        self.removals.pop(path, None)
        return True

    def write_row(self, state: SyncState, content: bytes, old: FolderFile | None) -> None:
        """Write the file of a row and remove its file at an old path; `state` is the state after that."""
        old_path, old_hash = (state.file, GONE) if old is None else (old.path, old.hash)
        if not self.write(state.file, content, old_hash if old_path == state.file else GONE):
            self.skipped.setdefault(state.file, "another file is in its place")
            return
        self.count("written", file=state.file, content=content)
        if old_path != state.file:
            self.remove(old_path, old_hash)
        self.save_state(state.before_write(old_path, old_hash))
        self.states_after_write[state.family, state.subject] = [state]

    def remove(self, path: str, hashed: str) -> None:
        """Remove a file that has a known hash."""
        if path not in self.writes and hashed != GONE:
            self.removals[path] = hashed

    def changes_anything(self) -> bool:
        changes = (self.states, self.states_after_write, self.writes, self.removals)
        return any(changes) or any(self.counts.values())

    def to_response(self) -> dict[str, Any]:
        return {
            **self.counts,
            "conflicts": self.conflicts,
            "skipped": [{"file": file, "why": why} for file, why in sorted(self.skipped.items())],
            "dry_run": self.dry_run,
            **findings_fields(self.findings),
        }


def hash_files(files: dict[str, bytes]) -> str:
    """Return one hash of several files."""
    return digest("\n".join([f"{path} {digest(content)}" for path, content in sorted(files.items())]).encode())
