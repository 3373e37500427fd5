"""The state of a folder at its last sync: the hash of each file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction, Transaction

_COLUMNS = ("family", "subject", "file", "known_as", "hash", "pending", "row_hash", "change_seq")
_OF_FOLDER = "where place = :place and marker = :marker"
_SELECT = f"select {', '.join(_COLUMNS)} from sync_files {_OF_FOLDER}"
_INSERT = (
    f"insert into sync_files (place, marker, {', '.join(_COLUMNS)})"
    f" values (:place, :marker, {', '.join([f':{name}' for name in _COLUMNS])})"
)
_BATCH_ROWS = 300
GONE = ""
"""The hash of a missing file."""


class SyncState:
    """The state of one file and its row at the last sync."""

    __slots__ = _COLUMNS

    def __init__(
        self,
        family: str,
        subject: str,
        file: str,
        known_as: str,
        hash: str,
        pending: str | None,
        row_hash: str,
        change_seq: int,
    ) -> None:
        self.family = family
        self.subject = subject
        """The id of the row; for reasoning and tasks, the workspace."""
        self.file = file
        self.known_as = known_as
        """The id of the row in the folder."""
        self.hash = hash
        self.pending = pending
        """The hash that the file gets; None if it has been written."""
        self.row_hash = row_hash
        self.change_seq = change_seq

    def has_hash(self, hashed: str) -> bool:
        """Return True if a file with this hash was written by a sync, also by one that was interrupted."""
        return hashed in (self.hash, self.pending)

    def before_write(self, file: str, hash: str) -> SyncState:
        """Return the state to store before the file is written.

        `file` and `hash` are the present ones, and the target hash becomes `pending`.
        """
        return SyncState(
            self.family, self.subject, file, self.known_as, hash, self.hash, self.row_hash, self.change_seq
        )


class SyncStateTable:
    """The stored states of one folder."""

    def __init__(self, folder: str, marker: str) -> None:
        self._folder = {"place": folder, "marker": marker}

    def load(self, tx: ReadTransaction) -> list[SyncState]:
        return [SyncState(*row) for row in tx.stream(_SELECT, self._folder)]

    def save(self, tx: Transaction, changes: dict[tuple[str, str], list[SyncState]]) -> None:
        """Replace the states of some subjects; delete those of another folder at the same path."""
        tx.run("delete from sync_files where place = :place and marker <> :marker", self._folder)
        for family, subject in changes:
            key = {**self._folder, "family": family, "subject": subject}
            tx.run(f"delete from sync_files {_OF_FOLDER} and family = :family and subject = :subject", key)
        rows = [
            {**self._folder, **{name: getattr(state, name) for name in _COLUMNS}}
            for states in changes.values()
            for state in states
        ]
        for start in range(0, len(rows), _BATCH_ROWS):
            tx.insert_all(_INSERT, rows[start : start + _BATCH_ROWS])
