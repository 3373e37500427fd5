"""The filters of a search, in the languages of the index and of SQL."""

from __future__ import annotations

import functools

from ...families import SOURCES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    import apsw

    from ...families import Source

MARK = "\ue000"
DOCS = "select rowid from search_index where search_index match :moss_match"
AMONG = " and +rowid in (select value from json_each(:moss_docs))"
GONE = f'(filter : "{MARK}gone")'


def json_list(numbers: Iterable[int]) -> str:
    """A list for `json_each`: one parameter, so that the statement stays the same and stays prepared."""
    return f"[{','.join(map(str, numbers))}]"


class Scope:
    """The filters of one search, as the part of the index and the conditions that they mean."""

    def __init__(
        self,
        connection: apsw.Connection,
        sources: Sequence[str],
        workspace_norm: str | None,
        include_deleted: bool,
        where: Sequence[str],
        parameters: dict[str, Any],
        among: Sequence[int] | None = None,
    ) -> None:
        self.connection = connection
        self.sources = [SOURCES[source] for source in sources]
        self.workspace_norm = workspace_norm
        self.where = where
        self.parameters = parameters
        self._inside = "" if workspace_norm is None else f'filter : "{MARK}w{workspace_norm.encode().hex()}" AND '
        self.live_only = not include_deleted
        self._among = ""
        if among is not None:
            self._among = " and +search_index.rowid in (select value from json_each(:moss_among))"
            self.parameters["moss_among"] = json_list(among)

    def _beyond_the_index(self, source: Source) -> list[str]:
        """The filters that only a source's table can answer."""
        conditions = [f"({condition})" for condition in self.where]
        return [*conditions, source.alive] if source.alive else conditions

    def row_condition(self, source: Source) -> str:
        """All filters in SQL over the columns of a source's table."""
        conditions = self._beyond_the_index(source)
        if self.workspace_norm is not None:
            conditions.append("workspace_norm = :moss_workspace")
        if self.live_only:
            conditions.append("deleted_at is null")
        return " and ".join(conditions) or "true"

    @functools.cached_property
    def condition(self) -> str:
        """What the index alone cannot check, in SQL over `search_index`; empty when there is nothing."""
        beyond = {source: " and ".join(self._beyond_the_index(source)) for source in self.sources}
        if not any(beyond.values()) and not self._others_are_there():
            return self._among
        return _either(beyond) + self._among

    def _others_are_there(self) -> bool:
        """Whether the index holds documents of other sources; where it does not, nothing need tell them apart."""
        others = [f'"{MARK}t{source.name}"' for source in SOURCES.values() if source not in self.sources]
        return bool(others) and bool(self.rows(DOCS + " limit 1", moss_match=f"filter : ({' OR '.join(others)})"))

    def table_condition(self) -> str:
        """All filters in SQL over `search_index`: for few documents cheaper than what the index knows."""
        return self.documents("search_index.rowid") + self._among

    def documents(self, doc: str) -> str:
        """All filters in SQL over a column that holds documents' numbers."""
        return _either({source: self.row_condition(source) for source in self.sources}, doc)

    def match(self, expression: str) -> str:
        """The FTS5 query for an expression within the filters that the index knows."""
        # Deleted rows are few, so leaving them out costs less than asking for the live ones.
        return f"({self.part(expression)}) NOT {GONE}" if self.live_only else self.part(expression)

    def part(self, expression: str) -> str:
        """The same with deleted documents left in."""
        # Naming columns slows every lookup, and only words with the mark could meet those of the filter column.
        columns = "{title body} : " if MARK in expression else ""
        return f"{self._inside}{columns}({expression})"

    def rows(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement, with the parameters of the scope and some more."""
        found: list[tuple[Any, ...]] = self.connection.execute(sql, {**self.parameters, **values}).fetchall()
        return found

    def gone(self, docs: Iterable[int]) -> list[int]:
        """Those of the documents that are deleted and should not be found."""
        if not self.live_only:
            return []
        found = self.rows(DOCS + AMONG, moss_match=GONE, moss_docs=json_list(docs))
        return [doc for (doc,) in found]

    def count(self, expression: str) -> int:
        """How many documents match the expression and all filters."""
        sql = "select count(*) from search_index where search_index match :moss_match" + self.condition
        total: int = self.rows(sql, moss_match=self.match(expression))[0][0]
        return total


def _either(conditions: dict[Source, str], doc: str = "search_index.rowid") -> str:
    """That a document is of one of the sources and its row meets that source's condition."""
    choices = []
    for source, condition in conditions.items():
        choice = f"{doc} & 15 = {source.code}"
        if condition:
            row = f"{source.table}.row_id = {doc} >> 4"
            choice += f" and exists (select 1 from {source.table} where {row} and {condition})"
        choices.append(choice)
    return " and (" + " or ".join(choices) + ")"
