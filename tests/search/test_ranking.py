"""The order of hits that have been scored."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from moss_memory.search.query import parse_query
from moss_memory.search.ranking import best_page
from moss_memory.search.request import SearchRequest


def test_halving_never_raises_a_negative_score() -> None:
    """A document with few of many words has a negative score if its vector opposes that of the question."""
    replaced, other = 1, 2
    filters: Any = SimpleNamespace(half_scored=lambda docs: {replaced}, changes=None)
    request = SearchRequest(parse_query("zebra colour"), mode="both", sources=["node"], limit=2)
    page, total = best_page(lambda most: ([((-0.2, 0.0), other), ((-0.25, 0.0), replaced)], 2), request, filters)
    assert page == [((-0.2, 0.0), other), ((-0.25, 0.0), replaced)]
    assert total == 2
