"""Queries of the nodes that a branch shows, newest first, by id, type, status, tag or text."""

from __future__ import annotations

from itertools import islice

from moss_memory.errors import invalid_request
from moss_memory.tools.reasoning.cursor_pages import LAST_SEQ
from moss_memory.tools.reasoning.reasoning_arguments import as_list

from .graph_batch import graph_tags
from .node_versions import VERSION_COLUMNS, Version, nearest_first, range_parameters, visibility_condition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.tools.reasoning.branches.visible_ranges import View
    from moss_memory.tools.reasoning.cursor_pages import CursorPage, Rows

IDS_MAX = 1000


class NodeFilters:
    """Filters of nodes: exact values, normalized tags, a substring of title or text."""

    __slots__ = ("deleted", "ids", "open_only", "status", "tags_all", "tags_any", "text", "types")

    def __init__(
        self,
        *,
        ids: str | list[str] | None = None,
        types: str | list[str] | None = None,
        status: str | None = None,
        tags_any: str | list[str] | None = None,
        tags_all: str | list[str] | None = None,
        text: str | None = None,
        deleted: bool = False,
        open_only: bool = False,
        trusted: bool = False,
    ) -> None:
        self.ids = None if ids is None else as_list(ids)
        self.types = None if types is None else as_list(types)
        self.status = status
        self.tags_any = None if tags_any is None else graph_tags(as_list(tags_any), what="tags_any")
        self.tags_all = graph_tags(as_list(tags_all), what="tags_all")
        self.text = (text or "").casefold()
        self.deleted = deleted
        self.open_only = open_only
        """Accept only nodes whose status is open or absent."""
        for name, values in (("ids", self.ids), ("types", self.types), ("tags_any", self.tags_any)):
            if values is not None and not trusted and not 1 <= len(values) <= IDS_MAX:
                raise invalid_request(
                    f"`{name}` has {len(values)} entries; give 1 to {IDS_MAX} or leave it out", path=name
                )

    def streams(self, tx: ReadTransaction) -> list[tuple[str, str, dict[str, Any]]]:
        """Return tables, conditions and values that select the nodes, each by an index; `{at}` is the range."""
        plain = "graph_versions v"
        condition, values = self._conditions(tx)
        if self.ids is not None:
            return [(plain, f"{tx.sql_in('v.key', 'ids')} and {condition}", values)]
        if self.open_only:
            # By the index on status, because few nodes are open and many are closed.
            kinds = tx.sql_in("v.type || ''", "types")
            driver_condition = f"v.status = 'open' and {kinds} and {condition}"
            without = f"v.status is null and v.type = :driver and {condition}"
            return [
                (plain, driver_condition, values),
                *((plain, without, {**values, "driver": kind}) for kind in self.types or ()),
            ]
        if self.tags_all or self.tags_any:
            tagged = "graph_tags o join graph_versions v on v.seq = o.seq"
            driver_condition = f"o.branch_id = :branch_{{at}} and o.doc = :doc and o.tag = :driver and {condition}"
            drivers = self.tags_all[:1] or self.tags_any or []
            return [(tagged, driver_condition, {**values, "driver": tag}) for tag in drivers]
        if self.types is not None:
            return [(plain, f"v.type = :driver and {condition}", {**values, "driver": kind}) for kind in self.types]
        return [(plain, condition, values)]

    def _conditions(self, tx: ReadTransaction) -> tuple[str, dict[str, Any]]:
        conditions = ["v.type is not null"] if self.deleted else ["v.type is not null", "v.deleted = 0"]
        values: dict[str, Any] = {}
        if self.ids is not None:
            values["ids"] = self.ids
        if self.types is not None:
            values["types"] = self.types
            if self.ids is not None or self.tags_all or self.tags_any:
                conditions.append(tx.sql_in("v.type", "types"))
        if self.status is not None:
            conditions.append("v.status = :status")
            values["status"] = self.status
        for number, tag in enumerate(self.tags_all):
            conditions.append(_has_tag(f"g.tag = :tag_all{number}"))
            values[f"tag_all{number}"] = tag
        if self.tags_any is not None:
            conditions.append(_has_tag(tx.sql_in("g.tag", "tags_any")))
            values["tags_any"] = self.tags_any
        return " and ".join(conditions), values

    def accept(self, node: Version) -> bool:
        """Return True if the title or text contains the substring, compared with full Unicode case folding."""
        return not self.text or any(self.text in (part or "").casefold() for part in (node.title, node.text))


def _has_tag(condition: str) -> str:
    return (
        "exists (select 1 from graph_tags g where g.branch_id = v.branch_id and g.doc = v.doc and g.seq = v.seq"
        f" and {condition})"
    )


def find_nodes(tx: ReadTransaction, view: View, filters: NodeFilters, page: CursorPage) -> Rows:
    """Return one page of the nodes that a view shows and the filters accept, last changed first."""
    versions = filter(filters.accept, newest_first(tx, view, filters, before=page.before()))
    return page.rows([version.to_dict() for version in islice(versions, page.limit + 1)])


def newest_first(tx: ReadTransaction, view: View, filters: NodeFilters, *, before: int = LAST_SEQ) -> Iterator[Version]:
    """Return the versions of all ranges and streams, newest first, merged lazily."""
    ranges = nearest_first(view)
    sources = []
    for tables, condition, values in filters.streams(tx):
        parameters = {**range_parameters(view), **values, "before": before}
        for index in range(len(ranges)):
            in_range = condition.replace("{at}", str(index))
            newest = "o.seq" if tables.startswith("graph_tags") else "v.seq"
            # The addition keeps the planner from the index by seq: the ids are more selective.
            order = "v.seq + 0" if filters.ids is not None else newest
            sources.append(
                tx.stream(
                    f"select {VERSION_COLUMNS} from {tables} where {visibility_condition(ranges, index)} and {in_range}"
                    f" and {newest} < :before order by {order} desc",
                    parameters,
                )
            )
    if len(sources) == 1:
        return map(Version, sources[0])
    return _merge_unique([map(Version, source) for source in sources])


def _merge_unique(sources: list[Iterator[Version]]) -> Iterator[Version]:
    import heapq  # most graphs have one range and one stream

    last = 0
    for version in heapq.merge(*sources, key=lambda version: -version.seq):
        if version.seq != last:
            yield version
        last = version.seq
