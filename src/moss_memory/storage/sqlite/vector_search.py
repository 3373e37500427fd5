"""Semantic search on SQLite: the database access that it needs."""

from __future__ import annotations

from .word_search import Question, Scope, by_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

    from moss_memory.search.embedding_queue import VectorEngine
    from moss_memory.search.hits import Hits
    from moss_memory.search.request import SearchRequest
    from moss_memory.search.vectors import ChunkVectors, VectorRows
    from moss_memory.storage.engine import ReadTransaction

    from .engine import SqliteEngine
    from .transaction import SqliteTransaction


class SqliteSearching:
    """The search functions of one transaction."""

    def __init__(self, engine: SqliteEngine, tx: SqliteTransaction) -> None:
        self.engine: VectorEngine = engine
        self.tx: ReadTransaction = tx
        self.call = tx.call
        self.identity: object = engine.readers.identity
        self._connection = tx.connection
        self.vector_rows: VectorRows = SqliteVectors(self._connection)

    def begin(self) -> None:
        """Read a row: the snapshot begins with the first one."""
        self._connection.execute("select seq from unembedded limit 1").fetchone()

    def scope(self, request: SearchRequest) -> Scope:
        """Return the filters of a request, without its excluded words."""
        return Scope(self._connection, request, self.tx.now, without=request.query.unwanted)

    def question(self, words: Sequence[str]) -> Question:
        """Return a natural-language question."""
        return Question(self._connection, words)

    def by_words(self, request: SearchRequest) -> Hits:
        """Return one page of the lexical hits."""
        return by_words(self._connection, request, self.tx.now)


class SqliteVectors:
    """The vectors of a database. Writers are serialized, so numbers rise in the order of commits."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._last_seq = 0

    def state(self) -> tuple[int, int]:
        """Return the last number that was assigned, and the number of vectors."""
        found = self._connection.execute(
            "select coalesce((select seq from sqlite_sequence where name = 'vectors'), 0),"
            " (select count(*) from vectors)"
        ).fetchone() or (0, 0)
        self._last_seq, count = found
        return self._last_seq, count

    def since(self, seen: int, model: str, size: int) -> Iterator[tuple[int, int, bytes | None]]:
        """Yield the vectors with a larger number."""
        if self._last_seq <= seen:
            return iter(())
        found: Iterator[tuple[int, int, bytes | None]] = self._connection.execute(
            "select seq, doc, iif(model = :model and length(vector) > 0 and length(vector) % :size = 0, vector, null)"
            " from vectors where seq > :seq order by seq",
            {"model": model, "size": size, "seq": seen},
        )
        return found

    def numbers(self) -> list[int]:
        """Return the number of every vector."""
        return [seq for (seq,) in self._connection.execute("select seq from vectors")]

    def seen_by(self, seen: int, parts: list[ChunkVectors]) -> list[ChunkVectors]:
        """Return the passages that are in this transaction's snapshot."""
        if self._last_seq >= seen:
            return list(parts)
        return [part.select(part.seqs <= self._last_seq) for part in parts]
