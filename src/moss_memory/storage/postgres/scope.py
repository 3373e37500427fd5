"""The filters of a search on PostgreSQL, and the documents within them."""

from __future__ import annotations

import functools

from ...families import SOURCES
from ...query.hits import number_of
from ..filtering import Filters, either
from .held import Matched
from .packing import DOC, LENGTH, SLOT, unpacked

MANY = 1000
"""More documents than so many are told apart by looking at all of them."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from ...families import Source
    from ...query.expression import Expression, Operand
    from ...query.request import Request
    from ..engine import Parameters, Row
    from .held import Index
    from .transaction import PostgresTransaction


class Inside:
    """Slots that are within filters, and of these, at the least, the documents and how many words they have."""

    __slots__ = ("docs", "lengths", "slots")

    def __init__(self, rows: Sequence[Row]) -> None:
        self.docs: dict[int, int] = {slot: doc for slot, doc, _ in rows}
        self.lengths: dict[int, int] = {slot: length for slot, _, length in rows}
        self.slots = set(self.docs)

    def add(self, slots: Sequence[int], docs: Sequence[int], lengths: Sequence[int]) -> None:
        """Adds documents that may be inside."""
        self.docs.update(zip(slots, docs, strict=True))
        self.lengths.update(zip(slots, lengths, strict=True))

    def keep(self, *, codes_of: Sequence[Source], without: set[int]) -> None:
        """Leaves out documents of other sources, and some more."""
        codes = {source.code for source in codes_of}
        docs = self.docs
        if len(codes) < len(SOURCES):
            self.slots = {slot for slot in self.slots if docs[slot] & 15 in codes}
        if without:
            self.slots = {slot for slot in self.slots if docs[slot] not in without}


class Scope(Filters):
    """The filters of one search, as conditions on the documents of the index."""

    def __init__(
        self, tx: PostgresTransaction, request: Request, index: Index, *, without: Operand | Expression | None = None
    ) -> None:
        super().__init__(request, tx.now)
        self._tx = tx
        self._index = index
        self._without = without
        self._has_conditions = bool(request.conditions)

    @functools.cached_property
    def unwanted(self) -> set[int]:
        """The slots that a query does not want."""
        return set() if self._without is None else Matched(self._index, self._without).slots

    def rows(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement, with the parameters of the scope and some more."""
        return list(self._tx.rows(sql, {**self.parameters, **values}))

    def within(self, slots: Collection[int]) -> Inside:
        """Those of the slots that are within the filters."""
        slots = set(slots).difference(self.unwanted) if self.unwanted else slots
        if not slots:
            return Inside([])
        if len(slots) > MANY and not self._has_conditions:
            return self._many_within(slots)
        sql = (
            "select slot, doc, length from search_docs"
            f" where slot = any(cast(:moss_slots as integer[])){self._indexed()}"
        )
        # Written out: a list is looked through number by number before it is sent.
        return Inside(self.rows(sql, moss_slots=f"{{{','.join(map(str, slots))}}}"))

    def _many_within(self, slots: Collection[int]) -> Inside:
        """The same for many: segments tell all their documents at once, and what is outside is left out."""
        values = {"moss_workspace": self.workspace_norm, "moss_now": self.parameters["moss_now"]}
        asked: list[tuple[str, Parameters]] = [
            ("select slots, docs, lengths from search_segments", {}),
            ("select slot, doc, length from search_fresh", {}),
            (f"select slot from search_docs where {'live = 0' if self.live_only else 'false'}", {}),
            *(
                (f"select {number_of(source)} from {source.table} where not {source.alive}", values)
                for source in self.sources
                if source.alive
            ),
        ]
        if self.workspace_norm is not None:
            asked.append(("select slot from search_docs where workspace = :moss_workspace", values))
        segments, fresh, gone, *others = self._tx.together(*asked)
        inside = Inside(fresh)
        for packed in segments:
            inside.add(*map(unpacked, (SLOT, DOC, LENGTH), packed))
        inside.slots = inside.docs.keys() & slots
        inside.slots.difference_update([slot for (slot,) in gone])
        if self.workspace_norm is not None:
            inside.slots.intersection_update([slot for (slot,) in others.pop()])
        inside.keep(codes_of=self.sources, without={doc for rows in others for (doc,) in rows})
        return inside

    def _indexed(self) -> str:
        """All filters in SQL over `search_docs`."""
        condition = either({source: self.beyond_the_index(source) for source in self.sources}, "search_docs.doc")
        if self.workspace_norm is not None:
            condition += " and search_docs.workspace = :moss_workspace"
        return condition + " and search_docs.live = 1" if self.live_only else condition

    def documents(self, number: str) -> str:
        """All filters in SQL over a column that holds documents' numbers."""
        condition = either({source: self.row_condition(source) for source in self.sources}, number)
        if self.unwanted:
            unwanted = "select doc from search_docs where slot = any(cast(:moss_unwanted as integer[]))"
            condition += f" and {number} not in ({unwanted})"
            self.parameters["moss_unwanted"] = list(self.unwanted)
        return condition

    def among(self, docs: list[int]) -> set[int]:
        """Those of the documents that are within the filters."""
        sql = f"select number from unnest(:moss_docs) as given (number) where true{self.documents('number')}"
        return {doc for (doc,) in self.rows(sql, moss_docs=docs)}

    def changes(self, docs: list[int]) -> dict[int, tuple[int, int, int]]:
        """When each document last changed, comparable across sources."""
        found = {}
        for source in self.sources:
            rows = [doc >> 4 for doc in docs if doc & 15 == source.code]
            sql = (
                f"select {number_of(source)}, updated_at, change_seq from {source.table} where row_id = any(:moss_rows)"
            )
            for doc, updated_at, change_seq in self.rows(sql, moss_rows=rows) if rows else ():
                found[doc] = (updated_at, change_seq, doc)
        return found
