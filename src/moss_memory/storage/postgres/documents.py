"""The document table of the index by slot: number, length, workspace, and a flag for live documents.

A slot never changes, so a process caches the rows that it has read: 60 bytes for each document, and about 1 kB of
postings for each fresh one. Every search reads the current list of slots, so purged documents leave the cache. Reading
takes 2.5 ms for 20,000 documents, once, and 5 ms for the maximum of fresh documents.
"""

from __future__ import annotations

import hashlib
from weakref import WeakKeyDictionary

import numpy as np

from .codec import DOC, LENGTH, SLOT
from .postings import Postings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import Parameters, Row

    from .engine import PostgresEngine
    from .postings import Numbers
    from .transaction import PostgresTransaction

    Key = tuple[int, int]
    """A slot or segment number with its tag: a restored backup may assign the same number again."""
    Segment = tuple[Numbers, ...]
    """For each document the slot, number, length, live flag and hash of the workspace."""

FRESH = (
    "select slot, words, weights, sizes, places, doc, length, live, workspace, tag from search_fresh"
    " join search_docs using (slot)"
)
_SEGMENTS = "select segment, tag, slots, docs, lengths, lives, workspaces from search_segments"
_KEY = [("number", ">i4"), ("tag", ">i8")]
_MAX_CACHED_BYTES = 32 << 20
"""The maximum size of the cached postings of fresh documents."""
WORKSPACE_BYTES = 8


def hash_of(workspace: str) -> bytes:
    """Return the hash of a workspace that is stored in segments."""
    return hashlib.sha256(workspace.encode()).digest()[:WORKSPACE_BYTES]


class Documents:
    """All documents of one snapshot, in the order of their slots. Never changed once made."""

    def __init__(self, segments: dict[Key, Segment], fresh: dict[Key, Row], postings: Postings) -> None:
        self.segments = segments
        self.fresh = fresh
        self.postings = postings
        """The postings of fresh documents."""
        unsorted = [_fresh_segment(list(fresh.values())), *segments.values()]
        parts = sorted(unsorted, key=lambda part: part[0][:1].tolist())
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        if (np.diff(columns[0]) < 0).any():
            order = np.argsort(columns[0])
            columns = [column[order] for column in columns]
        self.slots, self.docs, self.lengths, self.live, self._workspaces = columns

    def __len__(self) -> int:
        return len(self.slots)

    def positions_of(self, slots: Numbers) -> Numbers:
        """Return the positions of slots, -1 if a slot is not here."""
        if not len(self):
            return np.full(len(slots), -1)
        at = np.minimum(np.searchsorted(self.slots, slots), len(self) - 1)
        return np.where(self.slots[at] == slots, at, -1)

    def is_in(self, workspace: str, at: Numbers) -> Numbers:
        """Return a mask of the documents at these positions that are in a workspace."""
        return self._workspaces[at] == np.frombuffer(hash_of(workspace), dtype=np.uint64)


def _fresh_segment(rows: list[Row]) -> Segment:
    """Return the columns of fresh documents in the form of a segment."""
    of_each = [(slot, doc, length, live) for slot, _, _, _, _, doc, length, live, *_ in rows]
    slots, docs, lengths, lives = np.array(of_each, dtype=np.int64).reshape(-1, 4).T
    hashes = b"".join([hash_of(workspace) for *_, workspace, _ in rows])
    return slots, docs, lengths, lives.astype(np.uint8), np.frombuffer(hashes, dtype=np.uint64)


def _decode_segment(slots: bytes, docs: bytes, lengths: bytes, lives: bytes, workspaces: bytes) -> Segment:
    return (
        np.frombuffer(slots, dtype=f"<{SLOT}4"),
        np.frombuffer(docs, dtype=f"<{DOC}"),
        np.frombuffer(lengths, dtype=f"<{LENGTH}"),
        np.frombuffer(lives, dtype=np.uint8),
        np.frombuffer(workspaces, dtype=np.uint64),
    )


class DocumentTable:
    """The cached documents of a process, and the statements that read the missing ones."""

    def __init__(self, tx: PostgresTransaction, fresh: bytes | None, segments: bytes | None) -> None:
        self._engine = tx._engine
        self._known = known = _known.get(self._engine) or Documents({}, {}, _postings_of([]))
        self._fresh, self._segments = _decode_keys(fresh), _decode_keys(segments)
        new = [slot for slot, tag in self._fresh if (slot, tag) not in known.fresh]
        others = [segment for segment, tag in self._segments if (segment, tag) not in known.segments]
        self.statements: list[tuple[str, Parameters]] = []
        """The statements to run; empty if all documents are cached."""
        if new or others:
            self.statements = [
                (f"{FRESH} where slot = any(cast(:slots as integer[]))", {"slots": new}),
                (f"{_SEGMENTS} where segment = any(cast(:segments as integer[]))", {"segments": others}),
            ]

    def documents(self, answers: list[list[Row]]) -> Documents:
        """Return all documents, given the rows of `statements`."""
        known = self._known
        if not answers and len(self._fresh) == len(known.fresh) and len(self._segments) == len(known.segments):
            return known
        new, others = answers or ([], [])
        read = known.fresh | {(row[0], row[-1]): row for row in new}
        fresh = {key: read[key] for key in self._fresh if key in read}
        only_added = len(fresh) == len(read)
        postings = known.postings.concat(_postings_of(new)) if only_added else _postings_of(list(fresh.values()))
        segments = known.segments | {(segment, tag): _decode_segment(*columns) for segment, tag, *columns in others}
        found = Documents({key: segments[key] for key in self._segments if key in segments}, fresh, postings)
        if len(postings.places) + 16 * len(postings) <= _MAX_CACHED_BYTES:
            _known[self._engine] = found
        return found


def _postings_of(fresh: list[Row]) -> Postings:
    return Postings.of_documents([row[:5] for row in fresh])


def _decode_keys(data: bytes | None) -> list[Key]:
    return np.frombuffer(data or b"", dtype=_KEY).tolist()


_known: WeakKeyDictionary[PostgresEngine, Documents] = WeakKeyDictionary()
