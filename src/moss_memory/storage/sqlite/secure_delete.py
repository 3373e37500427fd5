"""Erase deleted rows from every file of the store, in slices between which others write.

`secure_delete` zeroes the cells that it frees, and that is not enough. Words stay in the search index until their
segments are merged into one; if SQLite rebuilds a page, the old bytes in its gap stay; and the log contains everything
that was written. So the index is merged, some pages at a time; then the log is truncated and the gaps are zeroed. A
`vacuum` would do both, but it would hold the write lock meanwhile: 21 s in a store of a million capsules. Beside seven
busy processes on two cores it took 5.6 s for 200,000; in slices it was 6.8 s in 154 of them, half of which took less
than 24 ms and the longest, perhaps one with a checkpoint, 0.9 s; 3.1 s and 0.1 s when the machine was less busy.

The gaps are zeroed in the file itself, through SQLite's own file layer, while this process holds the lock that excludes
writers and checkpoints. Gaps are never read, so readers need not wait. But a process that may write a page again has it
in its cache, with its gap: this process drops its cache first, and the others do because every slice ends with a
commit, after which they read the pages again.
"""

from __future__ import annotations

import os
import time

import apsw

from moss_memory.storage.call import SLICE_S, wall_clock_ms

from .connections import shadow_tables_writable
from .error_mapping import BUSY_TIMEOUT_MS
from .functions import only_value
from .transaction import LEASE_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.storage.call import CallContext

    from .engine import SqliteEngine

_MERGE_PAGES = 128
"""Pages of the index that a slice merges."""
_READ_PAGES = 256
"""Pages that are read at once."""
_STRUCTURE = 10
"""The row of the index's data table that records its structure."""
_NEWER_FORM = b"\xff\0\0\1"
_NO_DOCUMENT, _NO_WORD = -1, "moss"
"""A row without a document, and a word: indexed and deleted at once, they make a segment."""
_PASSES = 3
"""After this many passes over the pages that writes of others interrupted, the next one keeps the lock."""
_PAUSE_S = 0.01
_HEAD_BYTES = 100
"""The length of the file header before the first page's header."""
_HEADERS = {2: 12, 5: 12, 10: 8, 13: 8}
"""The lengths of page headers by the page's first byte, its kind, for pages with a gap."""
_MOST_PAGES = 1 << 24
"""In a smaller file the first byte of every other page is 0: free pages are zeroed, others begin with a number."""
_FILE_FLAGS = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW


class SecureDelete:
    """The erasure of everything that was deleted before it began."""

    def __init__(self, engine: SqliteEngine, call: CallContext, *, path: str, timeout_s: float) -> None:
        self._engine = engine
        self._call = call
        self._path = path
        self._deadline = time.monotonic() + timeout_s
        self._upto = 0
        self._merging = False
        self._merge_again = False
        self._page = 0
        self._passes = 0
        self._state: tuple[object, ...] = ()
        self._log_in_use = False

    def finish(self) -> bool:
        """Erase in slices; return False while a reader uses the log, or if the caller has cancelled."""
        for step in (self._record_pending, self._merge, self._zero_gaps):
            while not self._run_slice(step):
                if self._must_stop():
                    self._run_slice(self._release_lease)
                    return False
                if self._log_in_use:
                    time.sleep(_PAUSE_S)
        return True

    def _must_stop(self) -> bool:
        late = self._log_in_use and time.monotonic() >= self._deadline
        return late or (self._call.cancelled is not None and self._call.cancelled())

    def _run_slice(self, step: Callable[[apsw.Connection], bool]) -> bool:
        """Run one slice under the write lock; return True if its step is done."""
        with self._engine.new_hold() as hold, hold:
            return step(self._engine.acquire(hold, self._call))

    def _record_pending(self, connection: apsw.Connection) -> bool:
        """Record the pending erasures; later ones are not part of this run."""
        self._upto = only_value(connection, "select max(seq) from erasures") or 0
        return True

    def _merge(self, connection: apsw.Connection) -> bool:
        """Merge pages of the index; done if the initial segments are merged to one."""
        if not only_value(connection, f"select 1 from erasures where rebuilt = 0 and seq <= {self._upto} limit 1"):
            return True
        pages = _MERGE_PAGES if self._merging else -_MERGE_PAGES  # a negative number starts a merge of everything
        if not self._merging:
            self._merge_again = _prepare_merge(connection)
        self._merging = True
        connection.execute("begin immediate")
        try:
            before = connection.total_changes()
            connection.execute("insert into search_index (search_index, rank) values ('merge', ?)", (pages,))
            done = connection.total_changes() - before < 2  # documented as the sign that nothing was left to do
            if done and self._merge_again:
                # The output of the other merge may contain words of deleted rows.
                done = self._merging = self._merge_again = False
            self._renew_lease(connection, rebuilt=done)
            connection.execute("commit")
        except BaseException:
            if connection.in_transaction:
                connection.execute("rollback")
            raise
        return done

    def _zero_gaps(self, connection: apsw.Connection) -> bool:
        """Checkpoint the log and zero the gaps of some pages; done if all are zeroed."""
        connection.release_memory()
        if connection.pragma("page_count") >= _MOST_PAGES:
            connection.execute("vacuum")
        self._log_in_use = not _empty_log(connection)
        if self._log_in_use:
            return False
        if self._page and self._state != _write_state(connection):
            # Others have written: SQLite may have moved a page with its gap to a number that was already processed.
            self._page = 0
            self._passes += 1
        seconds = SLICE_S if self._passes < _PASSES else float("inf")
        self._page, done = zero_free_space(self._path, self._page, seconds=seconds)
        if done:
            connection.execute(f"delete from erasures where seq <= {self._upto}")
        else:
            self._renew_lease(connection, rebuilt=True)
        self._state = _write_state(connection)
        return done

    def _renew_lease(self, connection: apsw.Connection, *, rebuilt: bool) -> None:
        """Renew the lease, so that others do not erase, too."""
        connection.execute(
            "update erasures set worker = ?, until_ms = ?, rebuilt = max(rebuilt, ?) where seq <= ?",
            (os.getpid(), wall_clock_ms() + LEASE_MS, int(rebuilt), self._upto),
        )

    def _release_lease(self, connection: apsw.Connection) -> bool:
        """Leave the rest to the next writer."""
        connection.execute(f"update erasures set until_ms = 0 where seq <= {self._upto}")
        return True


def _prepare_merge(connection: apsw.Connection) -> bool:
    """Make sure that the merge drops the words of deleted rows; return whether it only ends another merge.

    FTS5 keeps them, marked as deleted, if the index has a level below the one that it writes to, even an empty one, and
    it does not rewrite a single segment. So the index gets one segment more, and its empty lowest levels are removed:
    before, because a new segment may start a merge of its own, and after, because it may move others up to its level.
    """
    row = "insert into search_index ({0}rowid, title, body, filter) values ({1}?, ?, '', '')"
    try:
        _remove_empty_levels(connection)
        connection.execute("begin immediate")
        connection.execute(row.format("", ""), (_NO_DOCUMENT, _NO_WORD))
        connection.execute(row.format("search_index, ", "'delete', "), (_NO_DOCUMENT, _NO_WORD))
        connection.execute("commit")
        return is_being_merged(_remove_empty_levels(connection))
    finally:
        if connection.in_transaction:
            connection.execute("rollback")


def _remove_empty_levels(connection: apsw.Connection) -> bytes:
    """Remove the empty levels at the end of the index; return its structure record."""
    connection.execute("begin immediate")
    structure = only_value(connection, f"select block from search_index_data where id = {_STRUCTURE}")
    block = without_empty_levels(structure)
    with shadow_tables_writable(connection):
        connection.execute(f"update search_index_data set block = ? where id = {_STRUCTURE}", (block,))
    connection.execute("commit")
    # FTS5 caches the structure until another connection changes it, or a change is rolled back.
    connection.execute("begin immediate")
    connection.execute(
        "insert into search_index (rowid, title, body, filter) values (?, ?, '', '')", (_NO_DOCUMENT, _NO_WORD)
    )
    connection.execute("rollback")
    return block


def is_being_merged(structure: bytes) -> bool:
    """Return True if the structure record of an index has an unfinished merge."""
    start = 8 if structure[4:8] == _NEWER_FORM else 4
    return any(structure[_levels_end(structure, start, level)] for level in range(structure[start]))


def without_empty_levels(structure: bytes) -> bytes:
    """Return the structure record of an index without the empty levels at its end.

    After a cookie of four bytes, and four more if the record has the newer format, it contains the number of levels,
    two other numbers, and for each level the number of segments in a merge and of all segments, with three numbers or
    more for each. An empty level is two zeroes. There are at most 64 levels.
    """
    start = 8 if structure[4:8] == _NEWER_FORM else 4
    levels, end = structure[start], len(structure)
    while levels > 1 and structure[end - 2 : end] == b"\0\0" and _levels_end(structure, start, levels - 1) == end - 2:
        levels, end = levels - 1, end - 2
    return structure[:start] + bytes([levels]) + structure[start + 1 : end]


def _levels_end(structure: bytes, start: int, levels: int) -> int:
    """Return the end of the first levels in the structure record of an index."""
    fields = 8 if start == 8 else 3
    offset = start
    for _ in range(3):
        _, offset = _number(structure, offset)
    for _ in range(levels):
        _, offset = _number(structure, offset)
        segments, offset = _number(structure, offset)
        for _ in range(segments * fields):
            _, offset = _number(structure, offset)
    return offset


def _number(structure: bytes, offset: int) -> tuple[int, int]:
    """Return the varint at an offset, seven bits a byte and the last byte below 128, and the next offset."""
    number = 0
    while structure[offset] >= 0x80:
        number = number << 7 | structure[offset] & 0x7F
        offset += 1
    return number << 7 | structure[offset], offset + 1


def _empty_log(connection: apsw.Connection) -> bool:
    """Checkpoint and truncate the log; return False if a reader blocks that."""
    connection.set_busy_timeout(0)
    try:
        busy: int = only_value(connection, "pragma wal_checkpoint(truncate)")
    except apsw.BusyError:
        return False
    finally:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    return not busy


def _write_state(connection: apsw.Connection) -> tuple[object, ...]:
    """Return a value that changes if this connection or another writes."""
    return connection, connection.pragma("data_version"), connection.total_changes()


def zero_free_space(path: str, first: int, *, seconds: float) -> tuple[int, bool]:
    """Zero the gaps of the pages after `first` for about `seconds`; return the last page and if it is the end.

    The log is empty, and the caller holds the write lock.
    """
    deadline = time.monotonic() + seconds
    file = apsw.VFSFile("", path, [_FILE_FLAGS, 0])
    try:
        head = file.xRead(_HEAD_BYTES, 0)
        size = int.from_bytes(head[16:18], "big")
        size = 65_536 if size == 1 else size
        count = file.xFileSize() // size
        while first < count:
            _zero_pages(file, first, min(_READ_PAGES, count - first), size)
            first = min(first + _READ_PAGES, count)
            if time.monotonic() >= deadline:
                break
        file.xSync(apsw.SQLITE_SYNC_FULL)
    finally:
        file.xClose()
    return first, first >= count


def _zero_pages(file: apsw.VFSFile, first: int, count: int, size: int) -> None:
    """Zero the gaps of `count` pages."""
    data = file.xRead(count * size, first * size)
    for page_start in range(0, len(data), size):
        header = page_start + (_HEAD_BYTES if first + page_start == 0 else 0)
        length = _HEADERS.get(data[header])
        if length is None:
            continue
        start = header + length + 2 * int.from_bytes(data[header + 3 : header + 5], "big")
        end = page_start + (int.from_bytes(data[header + 5 : header + 7], "big") or 65_536)
        if end <= page_start + size and data.count(0, start, end) < end - start:
            file.xWrite(bytes(end - start), first * size + start)
