"""The state of one sync: options, counts, changes to remember and files to write."""

from __future__ import annotations

from moss_memory.secrets.scanner import findings_fields, findings_in
from moss_memory.transfer.export_layout import digest

from .sync_memory import GONE, Remembered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .folder_scan import FolderScan

_COUNTED = ("taken", "written", "deleted", "restored", "erased")


class SyncRun:
    """One pass over folder and store; the store's part happens in one transaction."""

    def __init__(
        self,
        scan: FolderScan,
        *,
        scope: set[str] | None = None,
        settle: str = "",
        dry_run: bool = False,
    ) -> None:
        self.scan = scan
        self.scope = scope
        self.settle = settle
        """`ours` or `theirs`: how conflicts of reasoning and tasks are settled; empty if they are only named."""
        self.dry_run = dry_run
        self.counts = dict.fromkeys(_COUNTED, 0)
        self.conflicts: list[dict[str, str]] = []
        self.skipped: dict[str, str] = dict(scan.skipped)
        self.findings: list[dict[str, Any]] = []
        self.remember: dict[tuple[str, str], list[Remembered]] = {}
        """The states that the transaction stores, by family and subject."""
        self.settled: dict[tuple[str, str], list[Remembered]] = {}
        """The states that are stored after the files are written."""
        self.writes: dict[str, tuple[bytes, str]] = {}
        """The files to write: content, and the hash of the file that may be replaced."""
        self.removals: dict[str, str] = {}
        """The files to remove, with the hash that they may have."""

    def is_in_scope(self, workspace: str | None) -> bool:
        """Return whether things of a workspace are synced."""
        return self.scope is None or (workspace is not None and workspace in self.scope)

    def count(self, what: str, *, file: str = "", content: bytes | None = None) -> None:
        """Count one thing, and look for secrets in what moves."""
        self.counts[what] += 1
        if content is not None:
            self.look_for_secrets(file, content)

    def look_for_secrets(self, file: str, content: bytes) -> None:
        """Add the findings of the secrets scanner in a file that moves."""
        self.findings += findings_in(content.decode("utf-8", "replace"), file)

    def conflict(self, type: str, address: str, file: str) -> None:
        """Name a conflict."""
        self.conflicts.append({"type": type, "address": address, "file": file})

    def remember_state(self, state: Remembered) -> None:
        """Remember a state that needs no further file."""
        self.remember[state.family, state.subject] = [state]

    def remove_state(self, family: str, subject: str) -> None:
        """Forget a subject."""
        self.remember[family, subject] = []

    def write(self, path: str, content: bytes, present: str) -> bool:
        """Write a file in the place of one with a known hash; return False if another file is there."""
        if self.scan.is_blocked(path):
            return False
        self.writes[path] = (content, present)
        self.removals.pop(path, None)
        return True

    def remove(self, path: str, hashed: str) -> None:
        """Remove a file that has a known hash."""
        if path not in self.writes and hashed != GONE:
            self.removals[path] = hashed

    def changes_anything(self) -> bool:
        """Return whether the store or a file changes."""
        return bool(self.remember or self.settled or self.writes or self.removals or any(self.counts.values()))

    def answer(self) -> dict[str, Any]:
        """Return the response."""
        return {
            **self.counts,
            "conflicts": self.conflicts,
            "skipped": [{"file": file, "why": why} for file, why in sorted(self.skipped.items())],
            "dry_run": self.dry_run,
            **findings_fields(self.findings),
        }


def hash_of_files(files: dict[str, bytes]) -> str:
    """Return one hash of several files."""
    return digest("\n".join([f"{path} {digest(content)}" for path, content in sorted(files.items())]).encode())
