"""A batch of changes to one graph: each operation is validated against the earlier ones, then all are written."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.rows.names import has_control
from moss_memory.tools.reasoning.branches.visible_ranges import graph_view
from moss_memory.tools.reasoning.reasoning_arguments import LABEL_MAX_CHARS, check_label, check_length, meta_json

from .graph_keys import EDGE_SEPARATOR
from .node_versions import Version, current_versions, new_edge, new_node, stream_versions, write_versions

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
NODE_FIELDS: dict[str, dict[str, Any]] = {
    **{name: {"type": "string"} for name in ("type", "title", "text", "status")},
    "tags": {"type": "array", "items": {"type": "string"}},
    "meta": {"type": "object"},
}
"""The schemas of the fields of a node besides its id."""
_FIELDS = {
    "node_upsert": {"id", *NODE_FIELDS},
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
    """The pending changes of one call to a graph."""

    def __init__(self, tx: Transaction, document: DocumentRef) -> None:
        self.applied = {"nodes_upserted": 0, "nodes_deleted": 0, "edges_upserted": 0, "edges_deleted": 0}
        self.tx = tx
        self.document = document
        self.view = graph_view(tx, document.branch.branch_id, document.doc)
        self._versions: list[Version] = []
        self._pending: dict[str, Version] = {}
        self._edges_at: dict[str, set[str]] = {}

    def apply(self, ops: list[dict[str, Any]]) -> None:
        """Validate and add the operations of a caller; refuse all of them if one is invalid."""
        if not 1 <= len(ops) <= OPS_MAX:
            raise invalid_request(f"`ops` has {len(ops)} entries; give 1 to {OPS_MAX}", path="ops")
        for index, op in enumerate(ops):
            path = f"ops[{index}]"
            _check_fields(op, path)
            if op["op"] == "node_upsert":
                self.upsert(node_from_fields(op, path))
            elif op["op"] == "edge_upsert":
                self.upsert(new_edge(*_edge_ends(op, path), meta=meta_json(op.get("meta"))))
            elif op["op"] == "node_delete":
                self.delete(check_id(op["id"], what=f"{path}.id"), at=path)
            else:
                self.delete(EDGE_SEPARATOR.join(_edge_ends(op, path)), at=path)

    def upsert(self, version: Version) -> None:
        self._add(version)
        self.applied["edges_upserted" if version.type is None else "nodes_upserted"] += 1

    def delete(self, key: str, *, at: str) -> None:
        """Add tombstones for a node and its edges, or for an edge; raise `NOT_FOUND` if it does not exist."""
        old = self.live(key)
        if old is None:
            raise self._not_found(key, at)
        self._add(old.tombstone())
        self.applied["edges_deleted" if old.type is None else "nodes_deleted"] += 1
        if old.type is not None:
            for edge_at in self.edges_at(key):
                self._add(edge_at.tombstone())
                self.applied["edges_deleted"] += 1

    def live(self, key: str) -> Version | None:
        """Return the node or edge after the pending changes; None if it is deleted or never existed."""
        version = self._pending.get(key) or current_versions(self.tx, self.view, [key]).get(key)
        return None if version is None or version.deleted else version

    def exists(self, key: str) -> bool:
        """Return True if a node or edge exists or existed before."""
        return key in self._pending or bool(current_versions(self.tx, self.view, [key]))

    def edges_at(self, id: str) -> list[Version]:
        """Return the edges that start or end at a node after the pending changes, by key."""
        edges: dict[str, Version] = {}
        for end in ("from_id", "to_id"):
            stored = stream_versions(self.tx, self.view, f"v.{end} = :id and v.deleted = 0", {"id": id})
            edges.update((version.key, version) for version in stored)
        edges.update((key, self._pending[key]) for key in self._edges_at.get(id, ()))
        current = [self._pending.get(key, version) for key, version in edges.items()]
        return sorted([edge for edge in current if not edge.deleted], key=lambda edge: edge.key)

    def write(self) -> int:
        return write_versions(self.tx, self.document, self._versions)

    def _add(self, version: Version) -> None:
        self._versions.append(version)
        self._pending[version.key] = version
        for end in (version.from_id, version.to_id):
            if end is not None:
                self._edges_at.setdefault(end, set()).add(version.key)

    def _not_found(self, key: str, path: str) -> MossError:
        noun = "edge" if EDGE_SEPARATOR in key else "node"
        document = self.document
        graph = {"workspace": document.workspace, "branch": document.branch.name}
        doc = {} if document.doc == "graph" else {"doc": document.doc}
        return MossError(
            "NOT_FOUND",
            f"{path}: there is no {noun} {key[:300]!r} to delete on branch {document.branch.name!r};"
            " nothing was applied",
            recovery=next_call("branchmind_graph_query", {**graph, **doc}, "shows the nodes and edges there are"),
        )


def check_id(raw: str, *, what: str, most: int = ID_MAX_CHARS, reserved: bool = True) -> str:
    """Return an id, type or relation; refuse a blank or long one, control characters and `|`."""
    if not raw.strip():
        raise invalid_request(f"`{what}` is blank; give it a name", path=what)
    if len(raw) > most:
        raise invalid_request(f"`{what}` has {len(raw)} characters; at most {most} are allowed", path=what)
    if EDGE_SEPARATOR in raw or has_control(raw):
        raise invalid_request(f"`{what}` contains `|` or a control character; remove it", path=what)
    if reserved and raw.startswith(RESERVED):
        raise invalid_request(f"`{what}` begins with {raw[:5]!r}, which Moss keeps for plans and tasks", path=what)
    return raw


def graph_tags(raw: list[str] | None, *, what: str = "tags") -> list[str]:
    """Return the tags trimmed, in lower case, sorted and without duplicates; refuse blank ones."""
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


def _check_fields(op: dict[str, Any], path: str) -> None:
    kind = op["op"]
    for name in op:
        if name != "op" and name not in _FIELDS[kind]:
            raise invalid_request(f"`{path}.{name}` has no meaning for {kind}; leave it out", path=f"{path}.{name}")
    for name in _NEEDED[kind]:
        if name not in op:
            raise invalid_request(f"`{path}.{name}` is required by {kind}; add it", path=f"{path}.{name}")


def node_from_fields(op: dict[str, Any], at: str) -> Version:
    """Return the node that the fields of a caller describe; `at` is their path."""
    return new_node(
        check_id(op["id"], what=f"{at}.id"),
        check_id(op["type"], what=f"{at}.type", most=LABEL_MAX_CHARS, reserved=False),
        title=check_length(op.get("title"), what=f"{at}.title"),
        text=op.get("text"),
        status=check_label(op.get("status"), what=f"{at}.status"),
        tags=graph_tags(op.get("tags"), what=f"{at}.tags"),
        meta=meta_json(op.get("meta")),
    )


def _edge_ends(op: dict[str, Any], path: str) -> tuple[str, str, str]:
    return (
        check_id(op["from"], what=f"{path}.from"),
        check_id(op["rel"], what=f"{path}.rel", most=LABEL_MAX_CHARS, reserved=False),
        check_id(op["to"], what=f"{path}.to"),
    )
