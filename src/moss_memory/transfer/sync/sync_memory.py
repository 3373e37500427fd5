"""The state of a folder at its last sync: the hash of each file."""

from __future__ import annotations

from moss_memory.rows.names import is_local

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
GONE = ""
"""The hash of a file that is not there."""


class RowState:
    """A row as far as a sync without changes needs it."""

    __slots__ = ("change_seq", "confirmed", "deleted", "name", "tags", "workspace")

    def __init__(
        self, workspace: str, name: str | None, change_seq: int, deleted: bool, tags: str | None, confirmed: bool
    ) -> None:
        self.workspace = workspace
        self.name = name
        self.change_seq = change_seq
        self.deleted = deleted
        self.tags = tags
        self.confirmed = confirmed
        """True if its code state may have changed without a change of the row."""

    def is_local(self) -> bool:
        """Return whether it never leaves the store."""
        return is_local(self.tags)


class Remembered:
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
        self.file = file
        self.known_as = known_as
        self.hash = hash
        self.pending = pending
        self.row_hash = row_hash
        self.change_seq = change_seq

    def has(self, hashed: str) -> bool:
        """Return whether a file with this hash is as Moss left it, or began to leave it."""
        return hashed in (self.hash, self.pending)

    def settled(self) -> Remembered:
        """Return the state after the files were written."""
        hashed = self.hash if self.pending is None else self.pending
        return Remembered(
            self.family, self.subject, self.file, self.known_as, hashed, None, self.row_hash, self.change_seq
        )


class SyncMemory:
    """The remembered files of one folder."""

    def __init__(self, folder: str, marker: str) -> None:
        self._folder = {"place": folder, "marker": marker}

    def load(self, tx: ReadTransaction) -> list[Remembered]:
        """Return everything that is remembered of the folder."""
        return [Remembered(*row) for row in tx.stream(_SELECT, self._folder)]

    def save(self, tx: Transaction, changes: dict[tuple[str, str], list[Remembered]]) -> None:
        """Replace the remembered state of some subjects; delete that of another folder at the same path."""
        tx.run("delete from sync_files where place = :place and marker <> :marker", self._folder)
        for family, subject in changes:
            key = {**self._folder, "family": family, "subject": subject}
            tx.run(f"delete from sync_files {_OF_FOLDER} and family = :family and subject = :subject", key)
        rows = [one for found in changes.values() for one in found]
        for start in range(0, len(rows), 300):
            values = [
                {**self._folder, **{name: getattr(one, name) for name in _COLUMNS}} for one in rows[start : start + 300]
            ]
            tx.insert_all(_INSERT, values)
