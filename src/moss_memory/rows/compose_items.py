"""The items of a bundle from other arguments: `names`, `ids`, or the filters of the family's list."""

from __future__ import annotations

from moss_memory.errors import next_call
from moss_memory.registry.repair import corrected_call

from .list_filters import ALIVE, filters_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.operation import Operation
    from moss_memory.storage.engine import ReadTransaction

_FILTERS = ("workspace", "tag", "name_prefix", "kind", "run_id", "phase", "role")


def propose_items(
    tx: ReadTransaction, compose: Operation, listing: Operation, arguments: dict[str, Any], *, most: int, also: str
) -> dict[str, Any] | None:
    """Return the call of a compose tool with the items that its refused arguments mean, or None.

    Filters that select nothing lead to the list; bad values raise `MossError`. `also` is a further condition, in which
    `:now` is the time of the call.
    """
    if "items" in arguments:
        return None
    kept = {name: value for name, value in arguments.items() if name in compose.parameters}
    others = {name: value for name, value in arguments.items() if name not in compose.parameters}
    items: list[dict[str, Any]] | None
    if "names" in others or "ids" in others:
        items = _named(others)
    else:
        items = _selected(tx, listing, others, most, also)
        if items == []:
            return next_call(listing.name, others, "lists what matches: nothing of it can be bundled as it is")
    reason = "is the same call with `items`"
    return None if items is None else corrected_call(compose, {**kept, "items": items}, reason)


def _named(others: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the items of `names` in a workspace, or of `ids`; None if there is anything else."""
    key = "names" if "names" in others else "ids"
    given = others[key] if isinstance(others[key], list) else [others[key]]
    place = {name: others[name] for name in ("workspace",) if name in others and key == "names"}
    if not given or others.keys() - {key, "workspace"} or not all(isinstance(one, str) for one in given):
        return None
    return [{key.removesuffix("s"): one, **place} for one in given]


def _selected(
    tx: ReadTransaction, listing: Operation, others: dict[str, Any], most: int, also: str
) -> list[dict[str, Any]] | None:
    """Return the first rows that match the filters of a list, oldest first; None if one is no filter."""
    if not others.keys() <= set(_FILTERS):
        return None
    if not others:
        return []
    filters = filters_from(tx, strict=True, **listing.decode(others))
    table = f"{listing.name.partition('_')[0]}s"
    statement = f"select id from {table} {filters.where(ALIVE, also)} order by row_id limit :most"
    parameters = {**filters.parameters, "most": most, **({"now": tx.now} if ":now" in also else {})}
    return [{"id": known_as} for (known_as,) in tx.rows(statement, parameters)]
