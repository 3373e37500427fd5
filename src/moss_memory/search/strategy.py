"""One search, by words, by meaning, or by both: as asked, else as a plain question, else by words."""

from __future__ import annotations

from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction

    from .hits import Hits
    from .request import SearchRequest


def search(tx: ReadTransaction, request: SearchRequest) -> Hits:
    """One page of what `mode` finds; every hit is on one page, once.

    The total of `semantic` counts what is near enough, at most 500; that of `both` counts everything found by words and
    what meaning adds to it. A query with operators is meant exactly; where nothing matches it and it has words enough,
    it is searched as a plain question, and the answer says `relaxed`. Where no model is installed `semantic` is refused
    and `both` goes by words and says `degraded`.
    """
    hits = _found(tx, request)
    relaxed = request.query.relaxed
    if hits.total or relaxed is None or request.mode == "semantic":
        return hits
    hits = _found(tx, request.replace(query=relaxed))
    hits.relaxed = True
    return hits


def _found(tx: ReadTransaction, request: SearchRequest) -> Hits:
    try:
        return tx.search(request)
    except MossError as error:
        if request.mode != "both" or error.code != "SEMANTIC_UNAVAILABLE":
            raise
    hits = tx.search(request.replace(mode="keyword"))
    hits.degraded = True
    return hits
