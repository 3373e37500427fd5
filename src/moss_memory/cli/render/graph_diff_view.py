"""A difference of two graphs for people: added nodes and edges apart from changed ones."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.store import Store

_PAGE = 200


def with_added(store: Store, arguments: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of `branchmind_graph_diff` with `added` in each change that the branch `from` does not show.

    A difference contains only the state on its second branch, so the opposite difference is read too.
    """
    shown_keys = _shown_on_from(store, arguments)
    changes = [{**change, "added": _key(change) not in shown_keys} for change in answer["changes"]]
    return {**answer, "changes": changes}


def _shown_on_from(store: Store, arguments: dict[str, Any]) -> set[object]:
    document = {name: value for name, value in arguments.items() if name in ("workspace", "doc")}
    opposite = {**document, "from": arguments["to"], "to": arguments["from"], "limit": _PAGE}
    keys: set[object] = set()
    cursor = None
    while True:
        page = store.call("branchmind_graph_diff", {**opposite, **({} if cursor is None else {"cursor": cursor})})
        keys |= {_key(change) for change in page["changes"] if not change["to"].get("deleted")}
        cursor = page["pagination"].get("next_cursor")
        if cursor is None:
            return keys


def _key(change: dict[str, Any]) -> object:
    return change["id"] if change["kind"] == "node" else tuple(sorted(change["key"].items()))
