"""Erasing: what was deleted leaves no byte in any file of the store, in slices between which others write.

`secure_delete` zeroes what it frees, and that is not enough. Words stay in the search index until the segments that
hold them are merged into one; when SQLite builds a page anew, what stood in its gap stays there; and the log keeps all
that was written. So the index is merged, some pages at a time; then the log is emptied and the gaps are zeroed. A
`vacuum` would do both and keep every writer out meanwhile: 21 s in a store of a million capsules. Beside seven busy
processes on two cores it took 5.6 s for 200,000; by slices it were 6.8 s in 154 of them, half of which took less than
24 ms and the longest, perhaps one that also moved the log, 0.9 s; 3.1 s and 0.1 s when the machine was less busy.

The gaps are zeroed in the file itself, through SQLite's own file layer, while this process holds the lock that keeps
out all who write and all who move the log into the file. Nobody reads a gap, so readers need not wait. But pages are
kept in memory, with their gaps, by whoever may write them again: here they are let go before, and in other processes
because every slice ends with a commit, after which they read anew.
"""

from __future__ import annotations

import os
import time

import apsw

from moss_memory.storage.transaction import SLICE_S

from .connections import only_value, shadow_tables_writable
from .error_mapping import BUSY_TIMEOUT_MS
from .transaction import LEASE_MS, now_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.storage.engine import CallContext

    from .engine import SqliteEngine

_MERGED = 128
"""How many pages of the index a slice merges."""
_READ = 256
"""How many pages are read at once."""
_STRUCTURE = 10
"""The row of the index's own table that says how it is built."""
_NEWER_FORM = b"\xff\0\0\1"
_NO_DOCUMENT, _NO_WORD = -1, "moss"
"""A row that no document has, and a word: indexed and deleted at once, they make a segment."""
_PASSES = 3
"""After so many passes over the pages that others have interrupted by writing, the next one lets nobody in."""
_PAUSE_S = 0.01
_HEAD_BYTES = 100
"""What stands before the header of the first page."""
_HEADERS = {2: 12, 5: 12, 10: 8, 13: 8}
"""The lengths of the headers of pages that have a gap, by their first byte, the kind."""
_MOST_PAGES = 1 << 24
"""In a file of less, the first byte of every other page is 0: free ones are zeroes, the rest begin with a number."""
_FILE_FLAGS = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW


class SecureDelete:
    """The erasing of everything that was deleted before it began; `finish` does it."""

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
        self._held = False

    def finish(self) -> bool:
        """Erases, slice by slice; false while a reader holds the log, or when the caller has given up."""
        for step in (self._look, self._merge, self._clean):
            while not self._alone(step):
                if self._gives_up():
                    self._alone(self._leave)
                    return False
                if self._held:
                    time.sleep(_PAUSE_S)
        return True

    def _gives_up(self) -> bool:
        late = self._held and time.monotonic() >= self._deadline
        return late or (self._call.cancelled is not None and self._call.cancelled())

    def _alone(self, step: Callable[[apsw.Connection], bool]) -> bool:
        """One slice, in which nobody else writes: whether its step is done."""
        with self._engine.hold() as hold, hold:
            return step(self._engine.acquire(hold, self._call))

    def _look(self, connection: apsw.Connection) -> bool:
        """Sees what is to be erased; what comes to it later is not this one's."""
        self._upto = only_value(connection, "select max(seq) from erasures") or 0
        return True

    def _merge(self, connection: apsw.Connection) -> bool:
        """Merges pages of the index; done when what was there in the beginning is one segment."""
        if not only_value(connection, f"select 1 from erasures where rebuilt = 0 and seq <= {self._upto} limit 1"):
            return True
        pages = _MERGED if self._merging else -_MERGED  # a negative number begins the merge of everything there is
        if not self._merging:
            self._merge_again = _prepare_merge(connection)
        self._merging = True
        connection.execute("begin immediate")
        try:
            before = connection.total_changes()
            connection.execute("insert into search_index (search_index, rank) values ('merge', ?)", (pages,))
            done = connection.total_changes() - before < 2  # the sign, by the book, that there was nothing to do
            if done and self._merge_again:
                # What the other merge had written before may hold words of deleted rows.
                done = self._merging = self._merge_again = False
            self._stay(connection, rebuilt=done)
            connection.execute("commit")
        except BaseException:
            if connection.in_transaction:
                connection.execute("rollback")
            raise
        return done

    def _clean(self, connection: apsw.Connection) -> bool:
        """Empties the log and zeroes the gaps of some pages; done when all are zero."""
        connection.release_memory()
        if connection.pragma("page_count") >= _MOST_PAGES:
            connection.execute("vacuum")
        self._held = not _empty_log(connection)
        if self._held:
            return False
        if self._page and self._state != _state_of(connection):
            # Others have written: SQLite may have given a page, with its gap, a number that was passed already.
            self._page = 0
            self._passes += 1
        seconds = SLICE_S if self._passes < _PASSES else float("inf")
        self._page, done = zero_free_space(self._path, self._page, seconds=seconds)
        if done:
            connection.execute(f"delete from erasures where seq <= {self._upto}")
        else:
            self._stay(connection, rebuilt=True)
        self._state = _state_of(connection)
        return done

    def _stay(self, connection: apsw.Connection, *, rebuilt: bool) -> None:
        """Says that this process is at it, so that others need not be."""
        connection.execute(
            "update erasures set worker = ?, until_ms = ?, rebuilt = max(rebuilt, ?) where seq <= ?",
            (os.getpid(), now_ms() + LEASE_MS, int(rebuilt), self._upto),
        )

    def _leave(self, connection: apsw.Connection) -> bool:
        """Leaves the rest to whoever writes next."""
        connection.execute(f"update erasures set until_ms = 0 where seq <= {self._upto}")
        return True


def _prepare_merge(connection: apsw.Connection) -> bool:
    """Make sure that the merge drops the words of deleted rows; say whether it only ends another merge.

    It keeps them, marked as deleted, if the index has a level below the one that it writes to, even an empty one, and
    it leaves a single segment as it is. So the index gets one segment more, and its empty lowest levels are removed:
    before, because a new segment may begin a merge of its own, and after, because it may take others up to its level.
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
    """Remove the empty levels at the end of the index; return the record of how it is built."""
    connection.execute("begin immediate")
    found = only_value(connection, f"select block from search_index_data where id = {_STRUCTURE}")
    block = without_empty_levels(found)
    with shadow_tables_writable(connection):
        connection.execute(f"update search_index_data set block = ? where id = {_STRUCTURE}", (block,))
    connection.execute("commit")
    # The index remembers how it was built until another connection changes it, or a change is taken back.
    connection.execute("begin immediate")
    connection.execute(
        "insert into search_index (rowid, title, body, filter) values (?, ?, '', '')", (_NO_DOCUMENT, _NO_WORD)
    )
    connection.execute("rollback")
    return block


def is_being_merged(structure: bytes) -> bool:
    """Say whether segments of an index are being merged, as the record of how it is built says."""
    at = 8 if structure[4:8] == _NEWER_FORM else 4
    return any(structure[_levels_end(structure, at, level)] for level in range(structure[at]))


def without_empty_levels(structure: bytes) -> bytes:
    """Return the record of how an index is built without the empty levels at its end.

    After a cookie of four bytes, and four more if the record is of the newer form, it holds the number of levels, two
    other numbers, and of each level how many segments are being merged and how many there are, with three numbers or
    more for each. An empty level is two zeroes. There are at most 64 levels.
    """
    at = 8 if structure[4:8] == _NEWER_FORM else 4
    levels, end = structure[at], len(structure)
    while levels > 1 and structure[end - 2 : end] == b"\0\0" and _levels_end(structure, at, levels - 1) == end - 2:
        levels, end = levels - 1, end - 2
    return structure[:at] + bytes([levels]) + structure[at + 1 : end]


def _levels_end(structure: bytes, at: int, levels: int) -> int:
    """Return where the first levels of an index end in its record."""
    fields = 8 if at == 8 else 3
    place = at
    for _ in range(3):
        _, place = _number(structure, place)
    for _ in range(levels):
        _, place = _number(structure, place)
        segments, place = _number(structure, place)
        for _ in range(segments * fields):
            _, place = _number(structure, place)
    return place


def _number(structure: bytes, place: int) -> tuple[int, int]:
    """Return the number at a place, seven bits a byte and the last byte below 128, and the place after it."""
    number = 0
    while structure[place] >= 0x80:
        number = number << 7 | structure[place] & 0x7F
        place += 1
    return number << 7 | structure[place], place + 1


def _empty_log(connection: apsw.Connection) -> bool:
    """Moves the log into the database and leaves it empty; false when a reader is in the way."""
    connection.set_busy_timeout(0)
    try:
        busy: int = only_value(connection, "pragma wal_checkpoint(truncate)")
    except apsw.BusyError:
        return False
    finally:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    return not busy


def _state_of(connection: apsw.Connection) -> tuple[object, ...]:
    """What changes when anybody else writes, by this connection or another."""
    return connection, connection.pragma("data_version"), connection.total_changes()


def zero_free_space(path: str, first: int, *, seconds: float) -> tuple[int, bool]:
    """Zeroes the gaps of the pages after so many, for about so long: how many are done now, and whether all are.

    The log is empty, and the caller keeps everybody from writing.
    """
    deadline = time.monotonic() + seconds
    file = apsw.VFSFile("", path, [_FILE_FLAGS, 0])
    try:
        head = file.xRead(_HEAD_BYTES, 0)
        size = int.from_bytes(head[16:18], "big")
        size = 65_536 if size == 1 else size
        count = file.xFileSize() // size
        while first < count:
            _zero_some(file, first, min(_READ, count - first), size)
            first = min(first + _READ, count)
            if time.monotonic() >= deadline:
                break
        file.xSync(apsw.SQLITE_SYNC_FULL)
    finally:
        file.xClose()
    return first, first >= count


def _zero_some(file: apsw.VFSFile, first: int, count: int, size: int) -> None:
    """Zeroes the gaps of so many pages."""
    data = file.xRead(count * size, first * size)
    for at in range(0, len(data), size):
        header = at + (_HEAD_BYTES if first + at == 0 else 0)
        length = _HEADERS.get(data[header])
        if length is None:
            continue
        start = header + length + 2 * int.from_bytes(data[header + 3 : header + 5], "big")
        end = at + (int.from_bytes(data[header + 5 : header + 7], "big") or 65_536)
        if end <= at + size and data.count(0, start, end) < end - start:
            file.xWrite(bytes(end - start), first * size + start)
