"""Run a search in its mode, with two fallbacks: an expression without hits as a question, and vectors by words."""

from __future__ import annotations

from moss_memory.errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction

    from .hits import Hits
    from .request import SearchRequest


def search(tx: ReadTransaction, request: SearchRequest) -> Hits:
    """Return one page of hits; every hit is on exactly one page.

    The total of `semantic` counts the documents that are similar enough, at most 500; that of `both` counts all
    documents found by words or by meaning. If an expression of enough words has no hits, its words are searched as a
    natural question and the answer is `relaxed`. If no model is installed, `semantic` is refused, and `both` searches
    by words and is `degraded`.
    """
    hits = _search_or_degrade(tx, request)
    relaxed = request.query.relaxed
    if hits.total or relaxed is None or request.mode == "semantic":
        return hits
    hits = _search_or_degrade(tx, request.replace(query=relaxed))
    hits.relaxed = True
    return hits


def _search_or_degrade(tx: ReadTransaction, request: SearchRequest) -> Hits:
    try:
        return tx.search(request)
    except MossError as error:
        if request.mode != "both" or error.code != "SEMANTIC_UNAVAILABLE":
            raise
    hits = tx.search(request.replace(mode="keyword"))
    hits.degraded = True
    return hits
