"""What a search found, whichever engine looked."""

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
    """One row of one source; `number` is what stands for it in the one index of all sources."""

    __slots__ = ("row", "source")

    def __init__(self, source: str, row: int) -> None:
        self.source = source
        self.row = row

    @classmethod
    def of(cls, number: int) -> Document:
        """The document that a number stands for."""
        return cls(_NAMES[number & 15], number >> 4)

    @property
    def number(self) -> int:
        """What stands for it in the index."""
        return self.row << 4 | SEARCH_SOURCES[self.source].code


def number_of(source: SearchSource, row: str = "row_id") -> str:
    """SQL for the number of a source's document, given SQL for its row."""
    return f"{row} * 16 + {source.code}"


def row_of(number: str) -> str:
    """SQL for the row of a document, given SQL for its number."""
    return f"{number} >> 4"


def code_of(number: str) -> str:
    """SQL for the code of a document's source, given SQL for its number."""
    return f"{number} & 15"


def rows_of(source: SearchSource, numbers: Iterable[int]) -> list[int]:
    """The rows of those documents, given by their numbers, that are of one source."""
    return [number >> 4 for number in numbers if number & 15 == source.code]


def codes_of(numbers: Any) -> Any:
    """The codes of the sources of many documents, given an array of their numbers."""
    return numbers & 15


class Hit:
    """One document that was found; a higher score is better, in all sources alike."""

    __slots__ = ("document", "place", "score")

    def __init__(self, document: Document, score: float, place: int = 0) -> None:
        self.document = document
        self.score = score
        self.place = place
        """Where in its text the passage begins whose meaning is nearest; 0 where none was looked for."""


class Hits:
    """One page of hits in final order, how many match in all, and what shows the matched words."""

    __slots__ = ("degraded", "items", "matcher", "pending", "relaxed", "total")

    def __init__(self, items: list[Hit], total: int, matcher: Matcher, *, pending: int = 0) -> None:
        self.items = items
        self.total = total
        self.matcher = matcher
        self.pending = pending
        """How many documents within the filters could only be found by their words so far."""
        self.degraded = False
        """Whether meaning was asked for and only words could be looked at."""
        self.relaxed = False
        """Whether the query was searched as a plain question, for what it says exactly is nowhere."""

    def rows(self, source: str) -> list[int]:
        """The rows of one source on this page."""
        return [hit.document.row for hit in self.items if hit.document.source == source]

    def remarks(self) -> dict[str, Any]:
        """What an answer says beside its hits, where there is something to say."""
        remarks = {"degraded": self.degraded, "relaxed": self.relaxed, "pending": self.pending}
        return {name: value for name, value in remarks.items() if value}
