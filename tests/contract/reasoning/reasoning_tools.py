"""Helpers of the reasoning tests: a workspace that is emptied for each test, and readers of answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from moss_memory.registry import catalog
from support.direct_store import forget

if TYPE_CHECKING:
    from contract.doors import Door
    from moss_memory.errors import MossError

OTHER_FAMILIES = ("capsules", "artifacts", "events", "erasures", "upkeep")
"""Tables of other families, whose rows are not deleted."""


def forget_reasoning(home: str) -> None:
    """Delete all branches, tasks and their contents directly in the database, and reset the counters."""
    forget(home, *OTHER_FAMILIES)


class ReasoningTools:
    """One workspace; its tools are called by their short names, `from` is spelled `from_`."""

    def __init__(self, door: Door, workspace: str = "Shop") -> None:
        self.door = door
        self.workspace = workspace

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        return self.door(f"branchmind_{tool}", **self.sent(arguments))

    def refuses(self, code: str, tool: str, /, **arguments: Any) -> MossError:
        """Return the error of a call; assert that it has this code and that the store is unchanged."""
        return self.door.refuses(code, f"branchmind_{tool}", **self.sent(arguments))

    def misses(self, tool: str, /, **arguments: Any) -> MossError:
        """Return the `NOT_FOUND` error of a call; assert that its proposed call is not `NOT_FOUND` too."""
        error = self.refuses("NOT_FOUND", tool, **arguments)
        assert error.recovery is not None, error.payload()
        assert set(error.recovery) == {"tool", "arguments", "reason"}
        assert error.recovery["reason"]
        self.door(error.recovery["tool"], **error.recovery["arguments"])
        return error

    def sent(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"workspace": self.workspace} | {
            "from" if name == "from_" else name: value for name, value in arguments.items()
        }

    def another(self, workspace: str) -> ReasoningTools:
        return ReasoningTools(self.door, workspace)

    def note(self, content: str = "a note", **where: Any) -> int:
        """Write a note and return its number."""
        seq: int = self("notes_commit", content=content, **where)["entry"]["seq"]
        return seq

    def branch(self, name: str, from_: str | None = None) -> dict[str, Any]:
        """Create a branch and return it in the form of the answer."""
        made: dict[str, Any] = self("branch_create", name=name, from_=from_)["branch"]
        return made

    def branches(self) -> dict[str, Any]:
        return {row["name"]: row for row in self("branch_list", max_chars=0)["branches"]}

    def entries(self, branch: str | None = None, doc: str = "notes") -> list[dict[str, Any]]:
        """Return every entry of a document, oldest first."""
        return oldest_first(self, "show", "entries", branch=branch, doc=doc)

    def seqs(self, branch: str | None = None, doc: str = "notes") -> list[int]:
        return [entry["seq"] for entry in self.entries(branch, doc)]

    def texts(self, branch: str | None = None, doc: str = "notes") -> list[str]:
        return [entry["content"] for entry in self.entries(branch, doc)]

    def apply(self, *ops: dict[str, Any], **where: Any) -> dict[str, Any]:
        return self("graph_apply", ops=list(ops), **where)

    def nodes(self, branch: str | None = None, **asked: Any) -> dict[str, dict[str, Any]]:
        """Return the nodes of a graph by id, in the order of the query."""
        pages = every_page(self, "graph_query", branch=branch, **asked)
        return {node["id"]: node for page in pages for node in page["nodes"]}

    def edges(self, branch: str | None = None, **asked: Any) -> dict[tuple[str, str, str], dict[str, Any]]:
        """Return the edges of a small graph by their keys."""
        answer = self("graph_query", branch=branch, limit=200, edges_limit=1000, max_chars=0, **asked)
        return {(edge["from"], edge["rel"], edge["to"]): edge for edge in answer["edges"]}

    def tags(self) -> dict[str, Any]:
        return {tag["name"]: tag for tag in self("tag_list", max_chars=0)["tags"]}

    def conflicts(self, into: str = "main", **asked: Any) -> list[dict[str, Any]]:
        return [row for page in every_page(self, "graph_conflicts", into=into, **asked) for row in page["conflicts"]]

    def conflict(self, conflict_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self("graph_conflict_show", conflict_id=conflict_id, max_chars=0)["conflict"]
        return found


def node(id: str, type: str = "note", **fields: Any) -> dict[str, Any]:
    """Return the operation that creates or replaces a node."""
    return {"op": "node_upsert", "id": id, "type": type, **fields}


def edge(from_: str, rel: str, to: str, **fields: Any) -> dict[str, Any]:
    """Return the operation that creates or replaces an edge."""
    return {"op": "edge_upsert", "from": from_, "rel": rel, "to": to, **fields}


def gone(*key: str) -> dict[str, Any]:
    """Return the operation that deletes a node, or an edge by its three parts."""
    if len(key) == 1:
        return {"op": "node_delete", "id": key[0]}
    return {"op": "edge_delete", "from": key[0], "rel": key[1], "to": key[2]}


def state(value: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the content of a node or an edge, without its version fields."""
    return value and {name: part for name, part in value.items() if name not in ("last_seq", "last_ts_ms")}


def packed(cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return cards without links as a pack has them: no empty or false fields, no second version number."""
    return [{k: v for k, v in card.items() if k not in ("deleted", "last_ts_ms") and v != []} for card in cards]


def every_page(room: ReasoningTools, tool: str, /, **arguments: Any) -> list[dict[str, Any]]:
    """Return all pages of a list with a cursor; assert the invariants of such lists."""
    pages: list[dict[str, Any]] = []
    found = catalog.find(f"branchmind_{tool}")
    bounded = found is not None and found.budget_of is not None
    whole = {"max_chars": 0} if bounded and not {"max_chars", "max_bytes", "max_lines"} & set(arguments) else {}
    cursor: int | None = None
    while True:
        answer = room(tool, **whole, **arguments, cursor=cursor)
        page = answer["pagination"]
        assert page["cursor"] == cursor
        assert set(page) - {"next_cursor"} == {"cursor", "has_more", "limit", "count"}
        assert ("next_cursor" in page) == page["has_more"], page
        pages.append(answer)
        if not page["has_more"]:
            return pages
        assert page["next_cursor"] != cursor, f"{tool} does not come further than {cursor}"
        assert len(pages) < 1000
        cursor = page["next_cursor"]


def oldest_first(room: ReasoningTools, tool: str, rows: str, /, **arguments: Any) -> list[dict[str, Any]]:
    """Return every row, oldest first, of a list whose pages go back in time and are sorted oldest first."""
    return [row for page in reversed(every_page(room, tool, **arguments)) for row in page[rows]]


def newest_first(room: ReasoningTools, tool: str, rows: str, /, **arguments: Any) -> list[dict[str, Any]]:
    """Return every row of a list whose pages go back in time and are sorted newest first."""
    return [row for page in every_page(room, tool, **arguments) for row in page[rows]]


def compact(value: Any) -> str:
    """Return the JSON whose length a budget limits."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def lines(value: Any) -> int:
    """Count one line for each list item and one for each line break inside a string."""
    if isinstance(value, dict):
        return sum(lines(key) + lines(part) for key, part in value.items())
    if isinstance(value, list):
        return len(value) + sum(map(lines, value))
    return value.count("\n") if isinstance(value, str) else 0
