"""A batch of changes to one graph: each is checked against what the ones before it left, then all are written."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.rows.names import has_control
from moss_memory.tools.reasoning.branches.visible_ranges import graph_view
from moss_memory.tools.reasoning.reasoning_arguments import LABEL_MAX_CHARS, checked_label, checked_title, meta_json

from .node_versions import EDGE_MARK, Version, edge, node, present, versions, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Transaction
    from moss_memory.tools.reasoning.branches.document_refs import DocumentRef

OPS_MAX = 10_000
ID_MAX_CHARS = 256
RESERVED = ("task:", "step:")
TAGS_MAX = 50
TAG_MAX_CHARS = 100
_FIELDS = {
    "node_upsert": {"id", "type", "title", "text", "status", "tags", "meta"},
    "node_delete": {"id"},
    "edge_upsert": {"from", "rel", "to", "meta"},
    "edge_delete": {"from", "rel", "to"},
}
_NEEDED = {
    "node_upsert": ("id", "type"),
    "node_delete": ("id",),
    "edge_upsert": ("from", "rel", "to"),
    "edge_delete": ("from", "rel", "to"),
}


class GraphBatch:
    """What a call is about to write to a graph, and what the graph looks like once it has."""

    def __init__(self, tx: Transaction, place: DocumentRef) -> None:
        self.applied = {"nodes_upserted": 0, "nodes_deleted": 0, "edges_upserted": 0, "edges_deleted": 0}
        self._tx = tx
        self._place = place
        self._view = graph_view(tx, place.branch.branch_id, place.doc)
        self._versions: list[Version] = []
        self._pending: dict[str, Version] = {}
        self._edges_at: dict[str, set[str]] = {}

    def apply(self, ops: list[dict[str, Any]]) -> None:
        """Takes operations as a caller sends them; refuses all of them when one is wrong."""
        if not 1 <= len(ops) <= OPS_MAX:
            raise invalid_request(f"`ops` has {len(ops)} entries; give 1 to {OPS_MAX}", path="ops")
        for index, op in enumerate(ops):
            at = f"ops[{index}]"
            _check_fields(op, at)
            if op["op"] == "node_upsert":
                self.upsert(_node(op, at))
            elif op["op"] == "edge_upsert":
                self.upsert(edge(*_ends(op, at), meta=meta_json(op.get("meta"))))
            elif op["op"] == "node_delete":
                self.delete(checked_id(op["id"], what=f"{at}.id"), at=at)
            else:
                self.delete(EDGE_MARK.join(_ends(op, at)), at=at)

    def upsert(self, version: Version) -> None:
        """A new version of a node or an edge in place of the old one."""
        self._add(version)
        self.applied["edges_upserted" if version.type is None else "nodes_upserted"] += 1

    def delete(self, key: str, *, at: str) -> None:
        """A tombstone for a node and all its edges, or for an edge; what is not there is `NOT_FOUND`."""
        old = self.live(key)
        if old is None:
            raise self._nothing_there(key, at)
        self._add(old.tombstone())
        self.applied["edges_deleted" if old.type is None else "nodes_deleted"] += 1
        if old.type is not None:
            for edge_at in self.edges_at(key):
                self._add(edge_at.tombstone())
                self.applied["edges_deleted"] += 1

    def live(self, key: str) -> Version | None:
        """The node or edge as the changes so far leave it; none when it is deleted or was never there."""
        found = self._pending.get(key) or present(self._tx, self._view, self._place.doc, [key]).get(key)
        return None if found is None or found.deleted else found

    def exists(self, key: str) -> bool:
        """Whether a node or edge is there or ever was, deleted ones too."""
        return key in self._pending or bool(present(self._tx, self._view, self._place.doc, [key]))

    def edges_at(self, id: str) -> list[Version]:
        """The edges that begin or end in a node, as the changes so far leave them, by key."""
        found: dict[str, Version] = {}
        for end in ("from_id", "to_id"):
            there = versions(self._tx, self._view, self._place.doc, f"v.{end} = :id and v.deleted = 0", {"id": id})
            found.update((version.key, version) for version in there)
        found.update((key, self._pending[key]) for key in self._edges_at.get(id, ()))
        current = [self._pending.get(key, version) for key, version in found.items()]
        return sorted([one for one in current if not one.deleted], key=lambda one: one.key)

    def write(self) -> int:
        """Writes every change with a number of its own, in order; gives the last number."""
        return write(self._tx, self._place, self._versions)

    def _add(self, version: Version) -> None:
        self._versions.append(version)
        self._pending[version.key] = version
        for end in (version.from_id, version.to_id):
            if end is not None:
                self._edges_at.setdefault(end, set()).add(version.key)

    def _nothing_there(self, key: str, at: str) -> MossError:
        noun = "edge" if EDGE_MARK in key else "node"
        place = self._place
        graph = {"workspace": place.workspace, "branch": place.branch.name}
        doc = {} if place.doc == "graph" else {"doc": place.doc}
        return MossError(
            "NOT_FOUND",
            f"{at}: there is no {noun} {key[:300]!r} to delete on branch {place.branch.name!r}; nothing was applied",
            recovery=next_call("branchmind_graph_query", {**graph, **doc}, "shows the nodes and edges there are"),
        )


def checked_id(raw: str, *, what: str, most: int = ID_MAX_CHARS, reserved: bool = True) -> str:
    """A node's id, a type or a rel: not blank, bounded, without control characters and `|`."""
    if not raw.strip():
        raise invalid_request(f"`{what}` is blank; give it a name", path=what)
    if len(raw) > most:
        raise invalid_request(f"`{what}` has {len(raw)} characters; at most {most} are allowed", path=what)
    if EDGE_MARK in raw or has_control(raw):
        raise invalid_request(f"`{what}` contains `|` or a control character; remove it", path=what)
    if reserved and raw.startswith(RESERVED):
        raise invalid_request(f"`{what}` begins with {raw[:5]!r}, which Moss keeps for plans and tasks", path=what)
    return raw


def graph_tags(raw: list[str] | None, *, what: str = "tags") -> list[str]:
    """Tags trimmed, in lower case, without duplicates, sorted; blank ones are refused."""
    tags = set()
    for index, tag in enumerate(raw or ()):
        normal = tag.strip().lower()
        if not normal or len(normal) > TAG_MAX_CHARS or has_control(normal):
            raise invalid_request(
                f"`{what}[{index}]` needs 1 to {TAG_MAX_CHARS} characters and no control characters",
                path=f"{what}[{index}]",
            )
        tags.add(normal)
    if len(tags) > TAGS_MAX:
        raise invalid_request(f"`{what}` has {len(tags)} entries; at most {TAGS_MAX} are allowed", path=what)
    return sorted(tags)


def _check_fields(op: dict[str, Any], at: str) -> None:
    kind = op["op"]
    for name in op:
        if name != "op" and name not in _FIELDS[kind]:
            raise invalid_request(f"`{at}.{name}` has no meaning for {kind}; leave it out", path=f"{at}.{name}")
    for name in _NEEDED[kind]:
        if name not in op:
            raise invalid_request(f"`{at}.{name}` is required by {kind}; add it", path=f"{at}.{name}")


def _node(op: dict[str, Any], at: str) -> Version:
    return node(
        checked_id(op["id"], what=f"{at}.id"),
        checked_id(op["type"], what=f"{at}.type", most=LABEL_MAX_CHARS, reserved=False),
        title=checked_title(op.get("title"), what=f"{at}.title"),
        text=op.get("text"),
        status=checked_label(op.get("status"), what=f"{at}.status"),
        tags=graph_tags(op.get("tags"), what=f"{at}.tags"),
        meta=meta_json(op.get("meta")),
    )


def _ends(op: dict[str, Any], at: str) -> tuple[str, str, str]:
    return (
        checked_id(op["from"], what=f"{at}.from"),
        checked_id(op["rel"], what=f"{at}.rel", most=LABEL_MAX_CHARS, reserved=False),
        checked_id(op["to"], what=f"{at}.to"),
    )
