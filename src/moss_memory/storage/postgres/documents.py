"""The documents of the index as arrays by slot: number, length, workspace, and a flag for live documents.

The documents of a segment and the postings of a buffered document never change under the same tag, so a process caches
those that it has read: 60 bytes for each document, and about 1.5 kB of postings for each buffered one. Every search
reads the current list of both, so expunged documents leave the cache.
"""

from __future__ import annotations

import hashlib
from weakref import WeakKeyDictionary

import numpy as np

from .posting_blocks import Postings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import Parameters, Row

    from .engine import PostgresEngine
    from .posting_blocks import Numbers
    from .transaction import PostgresTransaction

    DocumentKey = tuple[int, int]
    """The number of a segment with its tag: a restored backup may assign the same number again."""
    Columns = tuple[Numbers, ...]
    """For each document the slot, number, length, live flag and hash of the workspace."""

BUFFERED = (
    "select string_agg(int4send(slot) || int8send(tag) || int8send(doc) || int4send(length) || int2send(live)"
    " || int4send(octet_length(weights)) || substring(sha256(convert_to(workspace, 'UTF8')) for 8), '' order by slot),"
    " string_agg(terms, cast('\\x00' as bytea) order by slot), string_agg(weights, '' order by slot),"
    " string_agg(sizes, '' order by slot), string_agg(positions, '' order by slot)"
    " from (select * from search_buffer join search_docs using (slot) {}) as one"
)
"""One row with all buffered documents, which takes a tenth of the time of a row for each of them."""
_BUFFERED_ROW = np.dtype([
    ("slot", ">i4"), ("tag", ">i8"), ("doc", ">i8"), ("length", ">i4"), ("live", ">i2"), ("terms", ">i4"),
    ("workspace", "u8"),
])  # fmt: skip
SEGMENT_COLUMNS = {"slots": "<i4", "docs": "<i8", "lengths": "<u4", "lives": "u1", "workspaces": "u8"}
_SEGMENTS = f"select segment, tag, {', '.join(SEGMENT_COLUMNS)} from search_segments"
_KEY = np.dtype([("number", ">i4"), ("tag", ">i8")])
WORKSPACE_BYTES = 8
_EMPTY = (b"",) * 5
_REMOVED_SHARE = 8


def hash_workspace(workspace: str) -> bytes:
    return hashlib.sha256(workspace.encode()).digest()[:WORKSPACE_BYTES]


class Buffered:
    """The documents of the buffer, and their postings."""

    def __init__(self, rows: Numbers, postings: Postings, removed: Numbers) -> None:
        self.rows = rows
        self.postings = postings
        self._removed = removed
        """The slots of documents that are no longer here, but their postings are. A search ignores unknown slots."""

    @classmethod
    def of(cls, row: Row) -> Buffered:
        """Decode the row that `BUFFERED` returns."""
        row_bytes, terms, *columns = [value or b"" for value in row]
        rows = np.frombuffer(row_bytes, dtype=_BUFFERED_ROW)
        return cls(rows, Postings.of_documents(rows["slot"], rows["terms"], terms, columns), rows["slot"][:0])

    def replaced(self, keep: Numbers, new: Buffered, *, flushed: bool) -> Buffered:
        """Return the documents that a mask keeps, and new ones.

        The postings of the others are removed if they are many, or if their slots are known again: by a segment, or in
        a restored backup. To remove them each time would copy the whole buffer after each write.
        """
        removed = np.concatenate([self._removed, self.rows["slot"][~keep]])
        postings = self.postings
        is_known_again = flushed or np.isin(new.rows["slot"], removed).any()
        if len(removed) > len(self.rows) // _REMOVED_SHARE or (len(removed) and is_known_again):
            postings = postings.take(np.flatnonzero(~np.isin(postings.slots, removed)))
            removed = removed[:0]
        return Buffered(np.concatenate([self.rows[keep], new.rows]), postings.concat(new.postings), removed)

    def columns(self) -> Columns:
        """Return the columns of a segment of these documents."""
        names = ("slot", "doc", "length", "live", "workspace")
        kinds = SEGMENT_COLUMNS.values()
        return tuple(self.rows[name].astype(kind) for name, kind in zip(names, kinds, strict=True))


class Documents:
    """All documents of one snapshot, in the order of their slots. Never changed once made."""

    def __init__(self, segments: dict[DocumentKey, Columns], buffered: Buffered) -> None:
        self.segments = segments
        self.buffered = buffered
        parts = sorted([buffered.columns(), *segments.values()], key=lambda part: part[0][:1].tolist())
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        if (np.diff(columns[0]) < 0).any():
            order = np.argsort(columns[0])
            columns = [column[order] for column in columns]
        self.slots, self.docs, self.lengths, self.live, self._workspaces = columns

    def __len__(self) -> int:
        return len(self.slots)

    def rows_of(self, slots: Numbers) -> Numbers:
        if not len(self):
            return np.full(len(slots), -1)
        indexes = np.minimum(np.searchsorted(self.slots, slots), len(self) - 1)
        return np.where(self.slots[indexes] == slots, indexes, -1)

    def is_in(self, workspace: str, at: Numbers) -> Numbers:
        """Return a mask of the documents at these rows that are in a workspace."""
        return self._workspaces[at] == np.frombuffer(hash_workspace(workspace), dtype=np.uint64)


class DocumentTable:
    """The cached documents of a process, and the statements that read the missing ones."""

    def __init__(self, tx: PostgresTransaction, buffered: bytes | None, segments: bytes | None) -> None:
        self._engine = tx._engine
        self._cached_documents = cached_documents = _known.get(self._engine) or Documents({}, Buffered.of(_EMPTY))
        current = np.frombuffer(buffered or b"", dtype=_KEY)
        self._segments: list[DocumentKey] = np.frombuffer(segments or b"", dtype=_KEY).tolist()
        cached = cached_documents.buffered.rows["tag"]
        if np.array_equal(cached, current["tag"]):  # the usual case, in a hundredth of the time
            self._keep, new = np.ones(len(cached), dtype=bool), []
        else:
            self._keep = np.isin(cached, current["tag"])
            new = current["number"][~np.isin(current["tag"], cached)].tolist()
        missing = [segment for segment, tag in self._segments if (segment, tag) not in cached_documents.segments]
        self.statements: list[tuple[str, Parameters]] = []
        """The statements to run; empty if all documents are cached."""
        if new or missing:
            self.statements = [
                (BUFFERED.format("where slot = any(cast(:slots as integer[]))"), {"slots": new}),
                (f"{_SEGMENTS} where segment = any(cast(:segments as integer[]))", {"segments": missing}),
            ]

    def documents(self, answers: list[list[Row]]) -> Documents:
        """Return all documents, given the rows of `statements`."""
        cached_documents = self._cached_documents
        if not answers and self._keep.all() and len(self._segments) == len(cached_documents.segments):
            return cached_documents
        new, segment_rows = answers or ([_EMPTY], [])
        read = {
            (segment, tag): tuple(
                np.frombuffer(data, dtype=kind) for data, kind in zip(columns, SEGMENT_COLUMNS.values(), strict=True)
            )
            for segment, tag, *columns in segment_rows
        }
        segments = cached_documents.segments | read
        documents = Documents(
            {key: segments[key] for key in self._segments if key in segments},
            cached_documents.buffered.replaced(self._keep, Buffered.of(new[0]), flushed=bool(read)),
        )
        _known[self._engine] = documents
        return documents


_known: WeakKeyDictionary[PostgresEngine, Documents] = WeakKeyDictionary()
