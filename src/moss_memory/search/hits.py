"""Document numbers, and the page of hits that a search returns, the same for every engine."""

from __future__ import annotations

from moss_memory.registry.tool_groups import SEARCH_SOURCES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from moss_memory.registry.tool_groups import SearchSource

    from .matcher import Matcher

_NAMES = {source.code: source.name for source in SEARCH_SOURCES.values()}


class Document:
    """One row of one source; `number` is its id in the index, which all sources share."""

    __slots__ = ("row", "source")

    def __init__(self, source: str, row: int) -> None:
        self.source = source
        self.row = row

    @classmethod
    def of(cls, number: int) -> Document:
        """Return the document with this number."""
        return cls(_NAMES[number & 15], number >> 4)

    @property
    def number(self) -> int:
        """The id of the document in the index."""
        return self.row << 4 | SEARCH_SOURCES[self.source].code


def number_of(source: SearchSource, row: str = "row_id") -> str:
    """Return SQL for the number of a source's document, given SQL for its row."""
    return f"{row} * 16 + {source.code}"


def row_of(number: str) -> str:
    """Return SQL for the row of a document, given SQL for its number."""
    return f"{number} >> 4"


def code_of(number: str) -> str:
    """Return SQL for the code of a document's source, given SQL for its number."""
    return f"{number} & 15"


def rows_of(source: SearchSource, numbers: Iterable[int]) -> list[int]:
    """Return the rows of the documents of one source, given document numbers."""
    return [number >> 4 for number in numbers if number & 15 == source.code]


def codes_of(numbers: Any) -> Any:
    """Return the source codes of an array of document numbers."""
    return numbers & 15


class Hit:
    """One document of a search result; scores are comparable across sources, higher is better."""

    __slots__ = ("document", "offset", "score")

    def __init__(self, document: Document, score: float, offset: int = 0) -> None:
        self.document = document
        self.score = score
        self.offset = offset
        """The offset of the most similar passage in its text; 0 if vectors were not searched."""


class Hits:
    """One page of hits in final order, the total of all pages, and the matcher for snippets."""

    __slots__ = ("degraded", "items", "matcher", "pending", "relaxed", "total")

    def __init__(self, items: list[Hit], total: int, matcher: Matcher, *, pending: int = 0) -> None:
        self.items = items
        self.total = total
        self.matcher = matcher
        self.pending = pending
        """The number of documents within the filters that have no vector yet."""
        self.degraded = False
        """True if vectors were requested and only words could be searched."""
        self.relaxed = False
        """True if the expression had no hits and its words were searched as a natural question."""

    def rows(self, source: str) -> list[int]:
        """Return the rows of one source on this page."""
        return [hit.document.row for hit in self.items if hit.document.source == source]

    def remarks(self) -> dict[str, Any]:
        """Return the fields of an answer beside its hits; empty if none applies."""
        remarks = {"degraded": self.degraded, "relaxed": self.relaxed, "pending": self.pending}
        return {name: value for name, value in remarks.items() if value}
