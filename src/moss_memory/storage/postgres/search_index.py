"""The search index of PostgreSQL as `search.ranking` reads it in one transaction: filters, words and vectors.

`word_search` has the filters and the words.
"""

from __future__ import annotations

from .index_reader import IndexReader
from .word_search import PostgresFilters, PostgresWordQuery, search_by_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from moss_memory.search.embedding_queue import VectorEngine
    from moss_memory.search.query import Query
    from moss_memory.search.request import Hits, SearchRequest
    from moss_memory.search.vectors import ChunkVectors, VectorRows
    from moss_memory.storage.engine import ReadTransaction

    from .engine import PostgresEngine
    from .transaction import PostgresTransaction

_STATE = "select cast(cast(pg_snapshot_xmin(pg_current_snapshot()) as text) as bigint), (select count(*) from vectors)"
_SINCE = (
    "select seq, doc, case when model = :model and length(vector) > 0 and length(vector) % :size = 0 then vector end"
    " from vectors where tx >= cast(cast(:seen as text) as xid8) order by seq"
)


class PostgresSearchIndex:
    """The index of one transaction, for a search by vectors with or without words."""

    def __init__(self, engine: PostgresEngine, tx: PostgresTransaction) -> None:
        self.engine: VectorEngine = engine
        self.tx: ReadTransaction = tx
        self.call = tx.call
        self.identity: object = None
        self._tx = tx
        self._index = IndexReader(tx)
        self.vector_rows: VectorRows = PostgresVectors(tx)

    def begin(self) -> None:
        """Read a row, because the snapshot begins with the first statement."""
        self._tx.row("select seq from unembedded limit 1")

    def filters(self, request: SearchRequest) -> PostgresFilters:
        return PostgresFilters(self._tx, request, self._index, without=request.query.unwanted)

    def word_query(self, query: Query) -> PostgresWordQuery:
        return PostgresWordQuery(self._index, query)

    def find_by_words(self, request: SearchRequest) -> Hits:
        return search_by_words(self._tx, request)


class PostgresVectors:
    """The vectors of a database.

    A vector that is committed later may have a smaller seq, so new vectors are found by the transaction that wrote
    them: all transactions before the oldest running one have ended, and their vectors were read.
    """

    def __init__(self, tx: PostgresTransaction) -> None:
        self._tx = tx

    def state(self) -> tuple[int, int]:
        """Return the oldest transaction that may still run, and the number of vectors."""
        oldest, count = self._tx.row(_STATE) or (0, 0)
        return oldest, count

    def since(self, seen: int, model: str, size: int) -> Iterator[tuple[int, int, bytes | None]]:
        """Yield the vectors of this and later transactions, including some that were read before."""
        return self._tx.stream(_SINCE, {"model": model, "size": size, "seen": str(seen)})

    def numbers(self) -> list[int]:
        return [seq for (seq,) in self._tx.rows("select seq from vectors")]

    def seen_by(self, seen: int, parts: list[ChunkVectors]) -> list[ChunkVectors]:
        """Return all parts: the document of a vector newer than the snapshot is not within the filters."""
        return list(parts)
