"""The items of a bundle from other arguments: `names`, `ids`, or the filters of the family's list."""

from __future__ import annotations

from moss_memory.errors import next_call
from moss_memory.registry.corrected_calls import corrected_call

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

    If filters select nothing, return the call of the list; bad values raise `MossError`. `also` is a further condition,
    in which `:now` is the time of the call.
    """
    if "items" in arguments:
        return None
    selection = {name: value for name, value in arguments.items() if name not in compose.parameters}
    if "names" in selection or "ids" in selection:
        items = _items_by_name(selection)
    else:
        items = _items_by_filter(tx, listing, selection, most, also)
        if items == []:
            return next_call(listing.name, selection, "lists what matches: nothing of it can be bundled as it is")
    if items is None:
        return None
    parameters = {name: value for name, value in arguments.items() if name in compose.parameters}
    return corrected_call(compose, {**parameters, "items": items}, "is the same call with `items`")


def _items_by_name(selection: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the items of `names` in a workspace, or of `ids`; None if there is anything else."""
    key = "names" if "names" in selection else "ids"
    addresses = selection[key] if isinstance(selection[key], list) else [selection[key]]
    if (
        not addresses
        or selection.keys() - {key, "workspace"}
        or not all(isinstance(address, str) for address in addresses)
    ):
        return None
    if key == "ids":
        return [{"id": address} for address in addresses]
    workspace = {"workspace": selection["workspace"]} if "workspace" in selection else {}
    return [{"name": address, **workspace} for address in addresses]


def _items_by_filter(
    tx: ReadTransaction, listing: Operation, selection: dict[str, Any], most: int, also: str
) -> list[dict[str, Any]] | None:
    """Return the first rows that match the filters of a list, oldest first; None if one is no filter."""
    if not selection.keys() <= set(_FILTERS):
        return None
    if not selection:
        return []
    filters = filters_from(tx, strict=True, **listing.decode(selection))
    table = f"{listing.name.partition('_')[0]}s"
    statement = f"select id from {table} {filters.where(ALIVE, also)} order by row_id limit :most"
    parameters = {**filters.parameters, "most": most, **({"now": tx.now} if ":now" in also else {})}
    return [{"id": known_as} for (known_as,) in tx.rows(statement, parameters)]
