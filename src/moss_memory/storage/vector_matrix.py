"""The vectors of a store in memory: one matrix that grows by what was added, shared by all searches of a process."""

from __future__ import annotations

from _thread import allocate_lock
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import apsw

    from ..search.embed import Embedder, Vectors

_ROWS_AT_ONCE = 8192
_UNSAVED = 1000
_QUESTIONS = 32
_CROWDED = 1000


def encoded(vectors: Vectors) -> bytes:
    """A vector as one signed byte a dimension: on the test set the same answers in the same places, in a quarter."""
    import numpy as np

    vector = vectors[0]
    rounded: Vectors = np.rint(vector * (127 / np.abs(vector).max()))
    return rounded.astype(np.int8).tobytes()


def decoded(*blobs: bytes) -> Vectors:
    """The vectors of such bytes, of length 1, one a row."""
    import numpy as np

    vectors = np.frombuffer(b"".join(blobs), dtype=np.int8).reshape(len(blobs), -1).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1.0)  # a damaged one may be all zeros
    return vectors


class Reading:
    """The matrix as one search sees it; rows that others add later are not in it."""

    __slots__ = ("_matrix", "docs", "forgotten", "seqs")

    def __init__(self, matrix: Any, docs: Any, seqs: Any) -> None:
        self._matrix = matrix
        self.docs = docs
        self.seqs = seqs
        self.forgotten = 0

    def order(self, asked: Vectors, codes: list[int], floor: float) -> Any:
        """The rows of these sources that are near enough, nearest first."""
        import numpy as np

        scores = self._matrix @ asked
        rows = np.flatnonzero(scores >= floor)
        rows = rows[np.isin(self.docs[rows] & 15, codes)]
        return rows[np.argsort(-scores[rows], kind="stable")]

    def exact(self, rows: list[int], asked: Vectors) -> list[tuple[int, float]]:
        """Documents and cosines of some rows, summed row by row: a product's last digits depend on its size."""
        scores = (self._matrix[rows].astype("float64") * asked).sum(axis=1)
        return list(zip(self.docs[rows].tolist(), scores.tolist(), strict=True))

    def forget(self, rows: list[int]) -> None:
        """Rows that no search will find again."""
        self._matrix[rows] = 0.0
        self.forgotten += len(rows)


class VectorMatrix:
    """All vectors of one model in one database, read once and then kept up."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._unsaved: dict[int, tuple[str, bytes | None]] = {}
        self._questions: dict[tuple[str, str], Vectors] = {}
        self._start("", None)

    def _start(self, model: str, identity: object) -> None:
        self._of = (model, identity)
        self._last_seq = 0
        self._count = 0
        self._arrays: Any = None
        self._reading: Reading | None = None
        self._unsaved.clear()
        self.other_models = False
        """Whether there are vectors of another model, whose documents therefore wait for one of this."""

    def read(self, connection: apsw.Connection, model: Embedder, identity: object) -> Reading:
        """Everything that a transaction sees, and perhaps more: what counts is looked up again before it is shown."""
        with self._lock:
            if self._of != (model.name, identity):
                self._start(model.name, identity)
            self._drop_forgotten()
            self._add_new(connection, model)
            if self._reading is None or len(self._reading.docs) != self._count:
                forgotten = 0 if self._reading is None else self._reading.forgotten
                self._reading = Reading(*(array[: self._count] for array in self._room_for(0, model.dimensions)))
                self._reading.forgotten = forgotten
            return self._reading

    def _add_new(self, connection: apsw.Connection, model: Embedder) -> None:
        cursor = connection.execute(
            "select seq, doc, iif(model = :model and length(vector) = :size, vector, null)"
            " from vectors where seq > :seq order by seq",
            {"model": model.name, "size": model.dimensions, "seq": self._last_seq},
        )
        while rows := list(islice(cursor, _ROWS_AT_ONCE)):
            self._last_seq = rows[-1][0]
            ours = [row for row in rows if row[2] is not None]
            self.other_models = self.other_models or len(ours) < len(rows)
            if ours:
                end = self._count + len(ours)
                matrix, docs, seqs = self._room_for(len(ours), model.dimensions)
                matrix[self._count : end] = decoded(*(row[2] for row in ours))
                docs[self._count : end] = [row[1] for row in ours]
                seqs[self._count : end] = [row[0] for row in ours]
                self._count = end

    def _room_for(self, more: int, dimensions: int) -> Any:
        """The arrays, with place for so many rows more; readings keep those that they were given."""
        import numpy as np

        need = self._count + more
        if self._arrays is None or need > len(self._arrays[1]):
            size = max(need + need // 4, 256)
            grown: Any = (
                np.zeros((size, dimensions), dtype=np.float32),
                np.zeros(size, dtype=np.int64),
                np.zeros(size, dtype=np.int64),
            )
            for old, new in zip(self._arrays or (), grown, strict=False):
                new[: self._count] = old[: self._count]
            self._arrays = grown
        return self._arrays

    def _drop_forgotten(self) -> None:
        """Makes the matrix smaller when a good part of it is gone."""
        if self._reading is None or self._reading.forgotten < max(_CROWDED, self._count // 4):
            return
        kept = self._arrays[0][: self._count].any(axis=1)
        self._arrays = tuple(array[: self._count][kept] for array in self._arrays)
        self._count = len(self._arrays[1])
        self._reading = None

    def question(self, model: Embedder, text: str) -> Vectors:
        """The vector of a question; those of the last ones are kept, for the next page."""
        key = (model.name, text)
        found = self._questions.get(key)
        if found is None:
            found = model.embed([text])[0]
            with self._lock:
                if len(self._questions) >= _QUESTIONS:
                    self._questions.clear()
                self._questions[key] = found
        return found

    def made_of(self, model: Embedder, doc: int, text: str) -> bytes | None:
        """The vector of a document's text, made now or before; none when the text is blank."""
        known = self._unsaved.get(doc)
        if known is not None and known[0] == text:
            return known[1]
        return encoded(model.embed([text])) if text.strip() else None

    def keep(self, made: list[tuple[int, str, bytes | None]]) -> None:
        """Keeps vectors that could not be written, for the next search of this process."""
        with self._lock:
            if len(self._unsaved) + len(made) > _UNSAVED:
                self._unsaved.clear()
            self._unsaved.update((doc, (text, blob)) for doc, text, blob in made)
