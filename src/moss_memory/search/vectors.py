"""The vectors of a store in memory: one signed byte for each dimension, updated from the database by every search.

Vectors are compared as integers. Their products and sums are exact in 32-bit floats, so a similarity does not depend on
the other vectors of a multiplication, and pages are consistent.
"""

from __future__ import annotations

from _thread import allocate_lock
from itertools import islice

from moss_memory.search.embedding.encoder import FLOOR

from .request import source_codes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Protocol

    from moss_memory.search.embedding.encoder import Embedder, Vectors

    class VectorRows(Protocol):
        """The vectors of a database in the snapshot of one transaction."""

        def state(self) -> tuple[int, int]:
            """Return the position up to which this snapshot sees all changes, and the number of vectors."""

        def since(self, seen: int, model: str, size: int) -> Iterator[tuple[int, int, bytes | None]]:
            """Yield at least the vectors after a position, as `(seq, doc, vector)`.

            The vector is None if it is of another model or its length is no multiple of `size`.
            """

        def numbers(self) -> Iterable[int]:
            """Return the seq of every vector."""

        def seen_by(self, seen: int, parts: list[ChunkVectors]) -> list[ChunkVectors]:
            """Return the chunks that this snapshot sees, given chunks read up to a position."""


_START_BYTES = 4
_ROW_BATCH = 4096
_BLOCK = 512
"""Chunks in one multiplication: as floats they fit into the cache of a core, which halves the time of 2048."""
_MAX_CACHED_DOCUMENTS = 1000
_MAX_CACHED_QUESTIONS = 32


def encode_chunks(starts: list[int], vectors: Vectors) -> bytes:
    """Encode the chunks of a document: all offsets in the text, then all vectors, one byte for each dimension."""
    import numpy as np

    return b"".join((np.array(starts, dtype="<u4").tobytes(), _quantize(vectors).tobytes()))


def decode_chunks(blob: bytes, dimensions: int) -> tuple[Any, Any]:
    """Decode the offsets and the vectors of chunks."""
    import numpy as np

    count = len(blob) // (_START_BYTES + dimensions)
    starts = np.frombuffer(blob, dtype="<u4", count=count)
    vectors = np.frombuffer(blob, dtype=np.int8, offset=count * _START_BYTES).reshape(count, dimensions)
    return starts, vectors


def _quantize(vectors: Any) -> Any:
    """Scale vectors to integers of at most 127."""
    import numpy as np

    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    return np.rint(vectors * (127 / np.maximum(largest, 1e-9))).astype(np.int8)


def _norms(vectors: Any) -> Any:
    import numpy as np

    wide = vectors.astype(np.float32)
    return np.maximum(np.sqrt((wide * wide).sum(axis=-1)), 1.0)  # a damaged vector may be all zeros


class ChunkVectors:
    """The vectors of chunks, grouped by document. Immutable."""

    __slots__ = ("_order", "docs", "first", "norms", "offsets", "seqs", "vectors")

    def __init__(self, docs: Any, seqs: Any, first: Any, offsets: Any, vectors: Any, norms: Any) -> None:
        self.docs = docs
        self.seqs = seqs
        """The seq of each document's row in the database."""
        self.first = first
        """The index of each document's first chunk, followed by the number of chunks."""
        self.offsets = offsets
        """The offset of each chunk in its text."""
        self.vectors = vectors
        self.norms = norms
        self._order: Any = None

    @classmethod
    def of(cls, rows: list[tuple[int, int, bytes]], dimensions: int) -> ChunkVectors:
        """Decode the chunks of rows `(seq, doc, blob)`."""
        import numpy as np

        decoded = [decode_chunks(blob, dimensions) for _, _, blob in rows]
        counts = [len(offsets) for offsets, _ in decoded]
        empty = np.zeros((0, dimensions), dtype=np.int8)
        vectors = np.concatenate([empty, *(vectors for _, vectors in decoded)])
        return cls(
            np.array([doc for _, doc, _ in rows], dtype=np.int64),
            np.array([seq for seq, _, _ in rows], dtype=np.int64),
            np.cumsum([0, *counts], dtype=np.int64),
            np.concatenate([np.zeros(0, dtype=np.uint32), *(offsets for offsets, _ in decoded)]),
            vectors,
            _norms(vectors),
        )

    def select(self, keep: Any) -> ChunkVectors:
        """Return the chunks of the documents for which a mask is True."""
        import numpy as np

        counts = np.diff(self.first)
        inside = np.repeat(keep, counts)
        first = np.concatenate([[0], np.cumsum(counts[keep])])
        return ChunkVectors(
            self.docs[keep], self.seqs[keep], first, self.offsets[inside], self.vectors[inside], self.norms[inside]
        )

    def concat(self, other: ChunkVectors) -> ChunkVectors:
        import numpy as np

        join = np.concatenate
        return ChunkVectors(
            join([self.docs, other.docs]),
            join([self.seqs, other.seqs]),
            join([self.first, other.first[1:] + self.first[-1]]),
            join([self.offsets, other.offsets]),
            join([self.vectors, other.vectors]),
            join([self.norms, other.norms]),
        )

    def similarities(self, question: Vectors) -> Any:
        """Return the similarity of each document: half its best chunk's cosine plus half the mean of all."""
        import numpy as np

        cosines = self._cosines(question, 0, len(self.vectors))
        first = self.first[:-1]
        best = np.maximum.reduceat(cosines, first)
        mean = np.add.reduceat(cosines, first) / np.diff(self.first)
        return (best + mean) / 2

    def positions(self, docs: Any) -> Any:
        """Return the index of each of these documents, -1 if it has no chunks here."""
        import numpy as np

        if self._order is None:
            self._order = np.argsort(self.docs)
        places = np.searchsorted(self.docs, docs, sorter=self._order)
        indexes = self._order[np.minimum(places, len(self.docs) - 1)]
        return np.where(self.docs[indexes] == docs, indexes, -1)

    def nearest_offset(self, position: int, question: Vectors) -> int:
        """Return the offset of the most similar chunk of a document in its text."""
        start, end = self.first[position : position + 2].tolist()
        return int(self.offsets[start + int(self._cosines(question, start, end).argmax())])

    def _cosines(self, question: Vectors, start: int, end: int) -> Any:
        import numpy as np

        quantized = _quantize(question)
        wide = quantized.astype(np.float32)
        products = np.empty(end - start, dtype=np.float64)
        for block_start in range(start, end, _BLOCK):
            block = self.vectors[block_start : min(end, block_start + _BLOCK)]
            products[block_start - start : block_start - start + len(block)] = block.astype(np.float32) @ wide
        return products / self.norms[start:end] / float(_norms(quantized))


class Similarities:
    """The similarities of the documents of a store to one question, on one scale for all models.

    Unrelated texts have a different cosine in each model, the model's floor; here every floor is scaled to `FLOOR`.
    """

    def __init__(self, parts: list[ChunkVectors], question: Vectors, floor: float) -> None:
        import numpy as np

        self._question = question
        self._parts = [part for part in parts if len(part.docs)]
        scale = (1 - FLOOR) / (1 - floor)
        self._values = [part.similarities(question) * scale + (FLOOR - floor * scale) for part in self._parts]
        self.docs = np.concatenate([np.zeros(0, dtype=np.int64), *(part.docs for part in self._parts)])
        self.values = np.concatenate([np.zeros(0), *self._values])
        """The similarity of each of `docs`."""

    def best_first(self, codes: list[int]) -> tuple[list[int], list[float]]:
        """Return the documents of these sources that are similar enough, and their similarities, best first."""
        import numpy as np

        enough = np.flatnonzero((self.values >= FLOOR) & np.isin(source_codes(self.docs), codes))
        order = enough[np.lexsort((-self.docs[enough], -self.values[enough]))]
        return self.docs[order].tolist(), self.values[order].tolist()

    def of(self, docs: Any) -> Any:
        """Return the similarities of documents; 0 if one has no vector."""
        import numpy as np

        similarities = np.zeros(len(docs))
        for part, values in zip(self._parts, self._values, strict=True):
            positions = part.positions(docs)
            similarities = np.where(positions < 0, similarities, values[positions])
        return similarities

    def offset(self, doc: int) -> int:
        """Return the offset of a document's most similar chunk in its text; 0 if it has no vector."""
        import numpy as np

        for part in self._parts:
            position = int(part.positions(np.array([doc]))[0])
            if position >= 0:
                return part.nearest_offset(position, self._question)
        return 0


class VectorMatrix:
    """All chunks of one model in one database, read once and then updated; with a cache of computed vectors."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self.embedding_lock = allocate_lock()
        """Held by the one thread that computes vectors, so that a process computes each only once."""
        self._computed: dict[int, tuple[int, bytes | None]] = {}
        self._questions: dict[tuple[str, str], Vectors] = {}
        self._reset("", None)

    def _reset(self, model: str, identity: object) -> None:
        self._loaded_for = (model, identity)
        self._parts: list[ChunkVectors] = []
        self._position = 0
        self._other_seqs: set[int] = set()

    @property
    def other_models(self) -> bool:
        """True if there are vectors of another model, whose documents have to be embedded again."""
        return bool(self._other_seqs)

    def read(self, rows: VectorRows, model: Embedder, identity: object) -> list[ChunkVectors]:
        """Update the chunks from the database and return those that the transaction sees."""
        with self._lock:
            if self._loaded_for != (model.name, identity):
                self._reset(model.name, identity)
            position, count = rows.state()
            self._add_new(rows.since(self._position, model.name, model.dimensions + _START_BYTES), model)
            self._position = max(position, self._position)
            if sum(len(part.docs) for part in self._parts) + len(self._other_seqs) > count:
                self._drop_deleted(rows)
                self._position = position  # vectors newer than this snapshot were dropped too, and must be read again
            return rows.seen_by(self._position, self._parts)

    def _add_new(self, new: Iterator[tuple[int, int, bytes | None]], model: Embedder) -> None:
        """Append new vectors; merge small parts, so that there are few and little is copied."""
        parts = list(self._parts)
        known_seqs: set[int] | None = None
        while rows := list(islice(new, _ROW_BATCH)):
            if known_seqs is None:
                known_seqs = self._other_seqs.union(*(part.seqs.tolist() for part in parts))
            rows = [row for row in rows if row[0] not in known_seqs]
            own = [(seq, doc, vector) for seq, doc, vector in rows if vector is not None]
            parts.append(ChunkVectors.of(own, model.dimensions))
            self._other_seqs.update(seq for seq, _, vector in rows if vector is None)
            while len(parts) > 1 and 2 * len(parts[-1].vectors) >= len(parts[-2].vectors):
                last = parts.pop()
                parts[-1] = parts[-1].concat(last)
        self._parts = parts

    def _drop_deleted(self, rows: VectorRows) -> None:
        import numpy as np

        existing = set(rows.numbers())
        self._other_seqs &= existing
        parts = []
        for part in self._parts:
            keep = np.array([seq in existing for seq in part.seqs.tolist()], dtype=bool)
            parts.append(part if keep.all() else part.select(keep))
        self._parts = parts

    def question(self, model: Embedder, text: str) -> Vectors:
        """Return the vector of a question; the last ones are cached for the next page."""
        key = (model.name, text)
        vector = self._questions.get(key)
        if vector is None:
            vector = model.question(text)
            with self._lock:
                if len(self._questions) >= _MAX_CACHED_QUESTIONS:
                    self._questions.clear()
                self._questions[key] = vector
        return vector

    def embed(self, model: Embedder, doc: int, title: str, text: str) -> bytes | None:
        """Return the encoded chunks of a document, computed or cached; None if it is blank.

        The caller holds `embedding_lock`.
        """
        digest = hash((model.name, title, text))
        cached = self._computed.get(doc)
        if cached is not None and cached[0] == digest:
            return cached[1]
        blob = encode_chunks(*model.encode_chunks(title, text)) if title.strip() or text.strip() else None
        if len(self._computed) >= _MAX_CACHED_DOCUMENTS:
            self.clear_cache()
        self._computed[doc] = (digest, blob)
        return blob

    def clear_cache(self) -> None:
        self._computed.clear()
