"""The passages of a store in memory: one signed byte a dimension, kept up with the database, shared by all searches.

Vectors are compared as whole numbers. Their products and sums are exact in 32-bit floats, so a nearness does not depend
on what else is compared in the same go, and pages agree.
"""

from __future__ import annotations

from _thread import allocate_lock
from itertools import islice

from moss_memory.search.embedding.encoder import FLOOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Protocol

    from moss_memory.search.embedding.encoder import Embedder, Vectors

    class VectorRows(Protocol):
        """The vectors of a database, as one transaction sees them."""

        def state(self) -> tuple[int, int]:
            """Up to where everything is seen that there ever was, in an order of the database's own; and how many
            vectors there are."""

        def since(self, seen: int, model: str, size: int) -> Iterator[tuple[int, int, bytes | None]]:
            """What may have come after all was seen up to there: `(seq, doc, vector)`, without the vector where it is
            of another model or not a number of passages of this size."""

        def numbers(self) -> Iterable[int]:
            """The seq of every vector that there is."""

        def seen_by(self, seen: int, parts: list[Passages]) -> list[Passages]:
            """Those that this transaction sees, where all was seen up to there by one."""


_START_BYTES = 4
_ROWS_AT_ONCE = 4096
_BLOCK = 512
"""Passages that are multiplied at once: as floats they stay in a core's cache, which takes half the time of 2048."""
_REMEMBERED = 1000
_QUESTIONS = 32


def encoded(starts: list[int], vectors: Vectors) -> bytes:
    """The passages of a document: where each begins in the text, then each one's vector, a signed byte a dimension."""
    import numpy as np

    return b"".join((np.array(starts, dtype="<u4").tobytes(), _rounded(vectors).tobytes()))


def decoded(blob: bytes, dimensions: int) -> tuple[Any, Any]:
    """Where the passages of such bytes begin, and their vectors as whole numbers, one a row."""
    import numpy as np

    count = len(blob) // (_START_BYTES + dimensions)
    starts = np.frombuffer(blob, dtype="<u4", count=count)
    vectors = np.frombuffer(blob, dtype=np.int8, offset=count * _START_BYTES).reshape(count, dimensions)
    return starts, vectors


def _rounded(vectors: Any) -> Any:
    """Vectors as whole numbers whose largest is 127."""
    import numpy as np

    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    return np.rint(vectors * (127 / np.maximum(largest, 1e-9))).astype(np.int8)


def _lengths(vectors: Any) -> Any:
    import numpy as np

    wide = vectors.astype(np.float32)
    return np.maximum(np.sqrt((wide * wide).sum(axis=-1)), 1.0)  # a damaged one may be all zeros


class Passages:
    """Passages of documents, those of one document side by side. Never changed once made."""

    __slots__ = ("_order", "docs", "first", "lengths", "places", "seqs", "vectors")

    def __init__(self, docs: Any, seqs: Any, first: Any, places: Any, vectors: Any, lengths: Any) -> None:
        self.docs = docs
        self.seqs = seqs
        """The number of each document's row in the database."""
        self.first = first
        """The first passage of each document, and after the last one how many passages there are."""
        self.places = places
        """Where each passage begins in its text."""
        self.vectors = vectors
        self.lengths = lengths
        self._order: Any = None

    @classmethod
    def of(cls, rows: list[tuple[int, int, bytes]], dimensions: int) -> Passages:
        """The passages of `(seq, doc, blob)`."""
        import numpy as np

        read = [decoded(blob, dimensions) for _, _, blob in rows]
        counts = [len(places) for places, _ in read]
        empty = np.zeros((0, dimensions), dtype=np.int8)
        vectors = np.concatenate([empty, *(vectors for _, vectors in read)])
        return cls(
            np.array([doc for _, doc, _ in rows], dtype=np.int64),
            np.array([seq for seq, _, _ in rows], dtype=np.int64),
            np.cumsum([0, *counts], dtype=np.int64),
            np.concatenate([np.zeros(0, dtype=np.uint32), *(places for places, _ in read)]),
            vectors,
            _lengths(vectors),
        )

    def kept(self, keep: Any) -> Passages:
        """Only some of the documents."""
        import numpy as np

        counts = np.diff(self.first)
        inside = np.repeat(keep, counts)
        first = np.concatenate([[0], np.cumsum(counts[keep])])
        return Passages(
            self.docs[keep], self.seqs[keep], first, self.places[inside], self.vectors[inside], self.lengths[inside]
        )

    def joined(self, other: Passages) -> Passages:
        """These, then the others."""
        import numpy as np

        join = np.concatenate
        return Passages(
            join([self.docs, other.docs]),
            join([self.seqs, other.seqs]),
            join([self.first, other.first[1:] + self.first[-1]]),
            join([self.places, other.places]),
            join([self.vectors, other.vectors]),
            join([self.lengths, other.lengths]),
        )

    def nearness(self, asked: Vectors) -> Any:
        """How near each document is to a question: half its best passage's cosine, half the mean of all."""
        import numpy as np

        cosines = self._cosines(asked, 0, len(self.vectors))
        first = self.first[:-1]
        best = np.maximum.reduceat(cosines, first)
        mean = np.add.reduceat(cosines, first) / np.diff(self.first)
        return (best + mean) / 2

    def positions(self, docs: Any) -> Any:
        """Where each of some documents is among these; -1 for those that are not."""
        import numpy as np

        if self._order is None:
            self._order = np.argsort(self.docs)
        at = np.searchsorted(self.docs, docs, sorter=self._order)
        found = self._order[np.minimum(at, len(self.docs) - 1)]
        return np.where(self.docs[found] == docs, found, -1)

    def nearest_place(self, position: int, asked: Vectors) -> int:
        """Where in its text the nearest passage of a document begins."""
        start, end = self.first[position : position + 2].tolist()
        return int(self.places[start + int(self._cosines(asked, start, end).argmax())])

    def _cosines(self, asked: Vectors, start: int, end: int) -> Any:
        import numpy as np

        question = _rounded(asked)
        wide = question.astype(np.float32)
        products = np.empty(end - start, dtype=np.float64)
        for at in range(start, end, _BLOCK):
            block = self.vectors[at : min(end, at + _BLOCK)]
            products[at - start : at - start + len(block)] = block.astype(np.float32) @ wide
        return products / self.lengths[start:end] / float(_lengths(question))


class Similarities:
    """How near the documents of a store are to one question, on one scale for all models.

    What is unrelated lies somewhere else for each model; where that begins is its floor, and here `FLOOR` for all.
    """

    def __init__(self, parts: list[Passages], asked: Vectors, floor: float) -> None:
        import numpy as np

        self._asked = asked
        self._parts = [part for part in parts if len(part.docs)]
        wider = (1 - FLOOR) / (1 - floor)
        self._nearness = [part.nearness(asked) * wider + (FLOOR - floor * wider) for part in self._parts]
        self.docs = np.concatenate([np.zeros(0, dtype=np.int64), *(part.docs for part in self._parts)])
        self.nearness = np.concatenate([np.zeros(0), *self._nearness])

    def of(self, docs: Any) -> Any:
        """The nearness of some documents; 0 for those whose meaning is not known."""
        import numpy as np

        found = np.zeros(len(docs))
        for part, nearness in zip(self._parts, self._nearness, strict=True):
            at = part.positions(docs)
            found = np.where(at < 0, found, nearness[at])
        return found

    def place(self, doc: int) -> int:
        """Where in a document's text the passage begins that is nearest; 0 where its meaning is not known."""
        import numpy as np

        for part in self._parts:
            at = int(part.positions(np.array([doc]))[0])
            if at >= 0:
                return part.nearest_place(at, self._asked)
        return 0


class VectorMatrix:
    """All passages of one model in one database, read once and then kept up; and what this process made itself."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self.making = allocate_lock()
        """Held by the one that makes vectors: a process makes each only once."""
        self._made: dict[int, tuple[int, bytes | None]] = {}
        self._questions: dict[tuple[str, str], Vectors] = {}
        self._start("", None)

    def _start(self, model: str, identity: object) -> None:
        self._of = (model, identity)
        self._parts: list[Passages] = []
        self._seen = 0
        self._others: set[int] = set()

    @property
    def other_models(self) -> bool:
        """Whether there are vectors of another model, whose documents therefore wait for one of this."""
        return bool(self._others)

    def read(self, rows: VectorRows, model: Embedder, identity: object) -> list[Passages]:
        """The passages that a transaction sees."""
        with self._lock:
            if self._of != (model.name, identity):
                self._start(model.name, identity)
            seen, count = rows.state()
            self._add_new(rows.since(self._seen, model.name, model.dimensions + _START_BYTES), model)
            self._seen = max(seen, self._seen)
            if sum(len(part.docs) for part in self._parts) + len(self._others) > count:
                self._let_go(rows)
                self._seen = seen  # what is newer than this transaction went as well, and is read again
            return rows.seen_by(self._seen, self._parts)

    def _add_new(self, new: Iterator[tuple[int, int, bytes | None]], model: Embedder) -> None:
        """Adds what came since the last time; small parts are joined, so that there are few and little is copied."""
        parts = list(self._parts)
        known: set[int] | None = None
        while rows := list(islice(new, _ROWS_AT_ONCE)):
            if known is None:
                known = self._others.union(*(part.seqs.tolist() for part in parts))
            rows = [row for row in rows if row[0] not in known]
            own = [(seq, doc, vector) for seq, doc, vector in rows if vector is not None]
            parts.append(Passages.of(own, model.dimensions))
            self._others.update(seq for seq, _, vector in rows if vector is None)
            while len(parts) > 1 and 2 * len(parts[-1].vectors) >= len(parts[-2].vectors):
                last = parts.pop()
                parts[-1] = parts[-1].joined(last)
        self._parts = parts

    def _let_go(self, rows: VectorRows) -> None:
        """Drops what this transaction does not see in the database."""
        import numpy as np

        there = set(rows.numbers())
        self._others = {seq for seq in self._others if seq in there}
        parts = []
        for part in self._parts:
            keep = np.array([seq in there for seq in part.seqs.tolist()], dtype=bool)
            parts.append(part if keep.all() else part.kept(keep))
        self._parts = parts

    def question(self, model: Embedder, text: str) -> Vectors:
        """The vector of a question; those of the last ones are kept, for the next page."""
        key = (model.name, text)
        found = self._questions.get(key)
        if found is None:
            found = model.question(text)
            with self._lock:
                if len(self._questions) >= _QUESTIONS:
                    self._questions.clear()
                self._questions[key] = found
        return found

    def made_of(self, model: Embedder, doc: int, title: str, text: str) -> bytes | None:
        """The passages of a document, made now or remembered; none when it says nothing. Only while `making`."""
        written = hash((model.name, title, text))
        known = self._made.get(doc)
        if known is not None and known[0] == written:
            return known[1]
        blob = encoded(*model.passages(title, text)) if title.strip() or text.strip() else None
        if len(self._made) >= _REMEMBERED:
            self.forget_made()
        self._made[doc] = (written, blob)
        return blob

    def forget_made(self) -> None:
        """Forgets what was made: it will be made again."""
        self._made.clear()
