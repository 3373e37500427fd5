"""The documents of the index, by slot: which they are, how long, in which workspace, and whether they are live.

None of that ever changes for a slot, so a process keeps what it has read: 60 bytes a document, and the postings of what
was indexed lately, about 1 kB each. What there is it asks anew in every search, so what was purged is found no more and
let go. To read it takes 2.5 ms for 20,000 documents, once; and 5 ms for as many fresh ones as there can be.
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
    """A slot or the number of a segment, and its tag: numbers may be given out again, as when a backup is put back."""
    Segment = tuple[Numbers, ...]
    """Of each of its documents the slot, number, length, whether it is live and a hash of its workspace."""

FRESH = (
    "select slot, words, weights, sizes, places, doc, length, live, workspace, tag from search_fresh"
    " join search_docs using (slot)"
)
_SEGMENTS = "select segment, tag, slots, docs, lengths, lives, workspaces from search_segments"
_KEY = [("number", ">i4"), ("tag", ">i8")]
_MOST_KEPT = 32 << 20
"""So many bytes of what was indexed lately are kept."""
WORKSPACE_BYTES = 8


def hash_of(workspace: str) -> bytes:
    """What stands for a workspace in a segment."""
    return hashlib.sha256(workspace.encode()).digest()[:WORKSPACE_BYTES]


class Documents:
    """All documents as one state of the store has them, in the order of their slots. Never changed once made."""

    def __init__(self, segments: dict[Key, Segment], fresh: dict[Key, Row], postings: Postings) -> None:
        self.segments = segments
        self.fresh = fresh
        self.postings = postings
        """Those of fresh documents."""
        parts = sorted([_listed(list(fresh.values())), *segments.values()], key=lambda part: part[0][:1].tolist())
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        if (np.diff(columns[0]) < 0).any():
            order = np.argsort(columns[0])
            columns = [column[order] for column in columns]
        self.slots, self.docs, self.lengths, self.live, self._workspaces = columns

    def __len__(self) -> int:
        return len(self.slots)

    def places_of(self, slots: Numbers) -> Numbers:
        """Where the documents of slots stand here; -1 for those that do not."""
        if not len(self):
            return np.full(len(slots), -1)
        at = np.minimum(np.searchsorted(self.slots, slots), len(self) - 1)
        return np.where(self.slots[at] == slots, at, -1)

    def is_in(self, workspace: str, at: Numbers) -> Numbers:
        """Which of some documents are in a workspace."""
        return self._workspaces[at] == np.frombuffer(hash_of(workspace), dtype=np.uint64)


def _listed(rows: list[Row]) -> Segment:
    """Documents that are fresh."""
    of_each = [(slot, doc, length, live) for slot, _, _, _, _, doc, length, live, *_ in rows]
    slots, docs, lengths, lives = np.array(of_each, dtype=np.int64).reshape(-1, 4).T
    hashes = b"".join([hash_of(workspace) for *_, workspace, _ in rows])
    return slots, docs, lengths, lives.astype(np.uint8), np.frombuffer(hashes, dtype=np.uint64)


def _unpacked(slots: bytes, docs: bytes, lengths: bytes, lives: bytes, workspaces: bytes) -> Segment:
    return (
        np.frombuffer(slots, dtype=f"<{SLOT}4"),
        np.frombuffer(docs, dtype=f"<{DOC}"),
        np.frombuffer(lengths, dtype=f"<{LENGTH}"),
        np.frombuffer(lives, dtype=np.uint8),
        np.frombuffer(workspaces, dtype=np.uint64),
    )


class DocumentTable:
    """How a search comes by the documents: what the process knows, and statements for what it does not."""

    def __init__(self, tx: PostgresTransaction, fresh: bytes | None, segments: bytes | None) -> None:
        self._engine = tx._engine
        self._known = known = _known.get(self._engine) or Documents({}, {}, _postings_of([]))
        self._fresh, self._segments = _keys_in(fresh), _keys_in(segments)
        new = [slot for slot, tag in self._fresh if (slot, tag) not in known.fresh]
        others = [segment for segment, tag in self._segments if (segment, tag) not in known.segments]
        self.asked: list[tuple[str, Parameters]] = []
        """Nothing, where all is known."""
        if new or others:
            self.asked = [
                (f"{FRESH} where slot = any(cast(:slots as integer[]))", {"slots": new}),
                (f"{_SEGMENTS} where segment = any(cast(:segments as integer[]))", {"segments": others}),
            ]

    def documents(self, answers: list[list[Row]]) -> Documents:
        """All documents, given the answers to what was asked."""
        known = self._known
        if not answers and len(self._fresh) == len(known.fresh) and len(self._segments) == len(known.segments):
            return known
        new, others = answers or ([], [])
        read = known.fresh | {(row[0], row[-1]): row for row in new}
        fresh = {key: read[key] for key in self._fresh if key in read}
        is_more = len(fresh) == len(read)  # and none went
        postings = known.postings.joined(_postings_of(new)) if is_more else _postings_of(list(fresh.values()))
        listed = known.segments | {(segment, tag): _unpacked(*columns) for segment, tag, *columns in others}
        found = Documents({key: listed[key] for key in self._segments if key in listed}, fresh, postings)
        if len(postings.places) + 16 * len(postings) <= _MOST_KEPT:
            _known[self._engine] = found
        return found


def _postings_of(fresh: list[Row]) -> Postings:
    return Postings.of_documents([row[:5] for row in fresh])


def _keys_in(data: bytes | None) -> list[Key]:
    return np.frombuffer(data or b"", dtype=_KEY).tolist()


_known: WeakKeyDictionary[PostgresEngine, Documents] = WeakKeyDictionary()
