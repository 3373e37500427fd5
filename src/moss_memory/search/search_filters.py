"""The filters of a search as SQL conditions, the same for every engine."""

from __future__ import annotations

import functools

from moss_memory.registry.tool_groups import SEARCH_SOURCES

from .hits import code_of, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.tool_groups import SearchSource

    from .request import SearchRequest


class SearchFilters:
    """The filters of one search as conditions on the tables of its sources."""

    def __init__(self, request: SearchRequest, now: int) -> None:
        self.sources = [SEARCH_SOURCES[source] for source in request.sources]
        self.workspace_norm = request.workspace_norm
        self.live_only = not request.include_deleted
        self._conditions = [f"({condition})" for condition in request.conditions]
        self._source_conditions = request.source_conditions
        self.parameters: dict[str, Any] = {
            **request.parameters,
            "moss_now": now,
            "moss_workspace": request.workspace_norm,
        }

    @functools.cached_property
    def residual_conditions(self) -> dict[SearchSource, str]:
        """The conditions that the index cannot check, by source; empty if a source has none."""
        return {
            source: " and ".join(
                [*self._conditions, *self._source_conditions.get(source.name, ()), *filter(None, [source.alive])]
            )
            for source in self.sources
        }

    @functools.cached_property
    def row_conditions(self) -> dict[SearchSource, str]:
        """All filters as a condition on the columns of a source's table, by source."""
        shared = [] if self.workspace_norm is None else ["workspace_norm = :moss_workspace"]
        if self.live_only:
            shared.append("deleted_at is null")
        return {
            source: " and ".join([residual, *shared] if residual else shared) or "true"
            for source, residual in self.residual_conditions.items()
        }

    def half_score_conditions(self, docs: list[int]) -> dict[SearchSource, str]:
        """Return the conditions for half of the score, of the sources of these documents."""
        codes = {doc & 15 for doc in docs}
        return {source: source.half_score for source in self.sources if source.half_score and source.code in codes}


def either(conditions: dict[SearchSource, str], number: str) -> str:
    """Return SQL that is true if a document is of one of the sources and its row meets that source's condition."""
    choices = []
    for source, condition in conditions.items():
        choice = f"{code_of(number)} = {source.code}"
        if condition:
            row = f"{source.table}.row_id = {row_of(number)}"
            choice += f" and exists (select 1 from {source.table} where {row} and {condition})"
        choices.append(choice)
    return " and (" + " or ".join(choices) + ")"
