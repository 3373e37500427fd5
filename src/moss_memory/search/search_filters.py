"""The filters of a search in SQL, whichever engine runs it."""

from __future__ import annotations

from moss_memory.registry.tool_groups import SEARCH_SOURCES

from .hits import code_of, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.tool_groups import SearchSource

    from .request import SearchRequest


class SearchFilters:
    """The filters of one search as conditions on the sources' tables."""

    def __init__(self, request: SearchRequest, now: int) -> None:
        self.sources = [SEARCH_SOURCES[source] for source in request.sources]
        self.workspace_norm = request.workspace_norm
        self.live_only = not request.include_deleted
        self._conditions = request.conditions
        self.parameters: dict[str, Any] = {
            **request.parameters,
            "moss_now": now,
            "moss_workspace": request.workspace_norm,
        }

    def residual_conditions(self, source: SearchSource) -> str:
        """The filters that only a source's table can answer; empty when there are none."""
        conditions = [f"({condition})" for condition in self._conditions]
        return " and ".join([*conditions, source.alive] if source.alive else conditions)

    def row_condition(self, source: SearchSource) -> str:
        """All filters in SQL over the columns of a source's table."""
        beyond = self.residual_conditions(source)
        conditions = [beyond] if beyond else []
        if self.workspace_norm is not None:
            conditions.append("workspace_norm = :moss_workspace")
        if self.live_only:
            conditions.append("deleted_at is null")
        return " and ".join(conditions) or "true"


def either(conditions: dict[SearchSource, str], number: str) -> str:
    """That a document is of one of the sources and its row meets that source's condition."""
    choices = []
    for source, condition in conditions.items():
        choice = f"{code_of(number)} = {source.code}"
        if condition:
            row = f"{source.table}.row_id = {row_of(number)}"
            choice += f" and exists (select 1 from {source.table} where {row} and {condition})"
        choices.append(choice)
    return " and (" + " or ".join(choices) + ")"
