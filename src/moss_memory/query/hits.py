"""What a search found, whichever engine looked."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..query.matcher import Matcher


class Hit:
    """One row of one source that matches; a higher score is better, in all sources alike."""

    __slots__ = ("row_id", "score", "source", "words")

    def __init__(self, source: str, row_id: int, score: float, words: int = 1) -> None:
        self.source = source
        self.row_id = row_id
        self.score = score
        self.words = words
        """How many words of a question it holds."""


class Hits:
    """One page of hits in final order, how many match in all, and what shows the matched words."""

    __slots__ = ("degraded", "exact", "items", "just_made", "matcher", "pending", "total")

    def __init__(self, items: list[Hit], total: int, matcher: Matcher) -> None:
        self.items = items
        self.total = total
        self.exact = True
        """Whether the total was counted; else there may be more."""
        self.matcher = matcher
        self.degraded = False
        """Whether meaning was asked for and only words could be looked at."""
        self.pending = 0
        """How many documents within the filters could only be found by their words so far."""
        self.just_made: set[int] = set()
        """Documents that got a vector from this search; its own transaction still sees them wait."""

    def remarks(self) -> dict[str, Any]:
        """What an answer says beside its hits, where there is something to say."""
        found: dict[str, Any] = {"degraded": True} if self.degraded else {}
        return {**found, "pending": self.pending} if self.pending else found
