"""The filters of a search, in the languages of the index and of SQL."""

from __future__ import annotations

import functools

from ...families import SOURCES
from ...query.expression import Operand
from ...query.hits import code_of, row_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    import apsw

    from ...families import Source
    from ...query.expression import Expression
    from ...query.request import Request

MARK = "\ue000"
DOCS = "select rowid from search_index where search_index match :moss_match"
GONE = f'(filter : "{MARK}gone")'


def json_list(numbers: Iterable[int]) -> str:
    """A list for `json_each`: one parameter, so that the statement stays the same and stays prepared."""
    return f"[{','.join(map(str, numbers))}]"


def rows_of(source: Source) -> str:
    """SQL for the rows of one source among the documents in `:moss_docs`."""
    return f"(select {row_of('value')} from json_each(:moss_docs) where {code_of('value')} = {source.code})"


def render(node: Operand | Expression) -> str:
    """The node in FTS5's own language; words are quoted, so nothing in them can be an operator."""
    if isinstance(node, Operand):
        return f'"{" ".join(node.words)}"' + (" *" if node.prefix else "")
    parts = [render(part) if isinstance(part, Operand) else f"({render(part)})" for part in node.parts]
    return f" {node.operator} ".join(parts)


class Scope:
    """The filters of one search, as the part of the index and the conditions that they mean."""

    def __init__(
        self, connection: apsw.Connection, request: Request, now: int, *, without: Operand | Expression | None = None
    ) -> None:
        self.connection = connection
        self.sources = [SOURCES[source] for source in request.sources]
        self._workspace_norm = request.workspace_norm
        self._live_only = not request.include_deleted
        self._conditions = request.conditions
        self._parameters = {**request.parameters, "moss_now": now, "moss_workspace": request.workspace_norm}
        self._unwanted = "" if without is None else _columns(render(without))

    def _beyond_the_index(self, source: Source) -> list[str]:
        """The filters that only a source's table can answer."""
        conditions = [f"({condition})" for condition in self._conditions]
        return [*conditions, source.alive] if source.alive else conditions

    def row_condition(self, source: Source) -> str:
        """All filters in SQL over the columns of a source's table."""
        conditions = self._beyond_the_index(source)
        if self._workspace_norm is not None:
            conditions.append("workspace_norm = :moss_workspace")
        if self._live_only:
            conditions.append("deleted_at is null")
        return " and ".join(conditions) or "true"

    @functools.cached_property
    def condition(self) -> str:
        """What the index alone cannot check, in SQL over `search_index`; empty when there is nothing."""
        beyond = {source: " and ".join(self._beyond_the_index(source)) for source in self.sources}
        return _either(beyond) if any(beyond.values()) or self._others_are_there() else ""

    def _others_are_there(self) -> bool:
        """Whether the index holds documents of other sources; where it does not, nothing need tell them apart."""
        others = [f'"{MARK}t{source.name}"' for source in SOURCES.values() if source not in self.sources]
        return bool(others) and bool(self.rows(DOCS + " limit 1", moss_match=f"filter : ({' OR '.join(others)})"))

    def documents(self, number: str) -> str:
        """All filters in SQL over a column that holds documents' numbers."""
        condition = _either({source: self.row_condition(source) for source in self.sources}, number)
        if self._unwanted:
            condition += (
                f" and {number} not in (select rowid from search_index where search_index match :moss_unwanted)"
            )
            self._parameters["moss_unwanted"] = self._unwanted
        return condition

    def match(self, expression: str) -> str:
        """The FTS5 query for an expression within the filters that the index knows; its own phrases come first."""
        # Deleted rows are few, so leaving them out costs less than asking for the live ones.
        match = self.part(expression)
        without = [self._unwanted] if self._unwanted else []
        if self._live_only:
            without.append(GONE)
        return f"({match}) NOT ({' OR '.join(without)})" if without else match

    def part(self, expression: str) -> str:
        """The same with deleted documents left in."""
        inside = "" if self._workspace_norm is None else f' AND filter : "{MARK}w{self._workspace_norm.encode().hex()}"'
        return _columns(f"({expression})") + inside

    def rows(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement, with the parameters of the scope and some more."""
        found: list[tuple[Any, ...]] = self.connection.execute(sql, {**self._parameters, **values}).fetchall()
        return found


def _columns(expression: str) -> str:
    """An expression over titles and texts; naming them slows every lookup, and only a mark could meet the filters."""
    return f"({{title body}} : ({expression}))" if MARK in expression else f"({expression})"


def _either(conditions: dict[Source, str], number: str = "search_index.rowid") -> str:
    """That a document is of one of the sources and its row meets that source's condition."""
    choices = []
    for source, condition in conditions.items():
        choice = f"{code_of(number)} = {source.code}"
        if condition:
            row = f"{source.table}.row_id = {row_of(number)}"
            choice += f" and exists (select 1 from {source.table} where {row} and {condition})"
        choices.append(choice)
    return " and (" + " or ".join(choices) + ")"
