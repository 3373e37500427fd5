"""Versions of nodes and edges: content, state hash, visibility on a branch, and writes."""

from __future__ import annotations

import json

from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.named_rows import NamedRow
from moss_memory.tools.reasoning.branches.document_refs import touch_document
from moss_memory.tools.reasoning.branches.visible_ranges import HEAD, reserve_seqs
from moss_memory.tools.reasoning.reasoning_sql import sql

from .graph_keys import EDGE_SEPARATOR, render_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Row, Transaction
    from moss_memory.tools.reasoning.branches.document_refs import DocumentRef
    from moss_memory.tools.reasoning.branches.visible_ranges import Range, View

ABSENT = ""
"""The state of a key that is deleted or never existed."""
_PRESENT = "v.next_seq = 9223372036854775807"


class Version(NamedRow):
    """One version of a node, which has a type, or of an edge, which has ends."""

    __slots__ = ()
    seq: int
    key: str
    type: Any  # None if it is an edge
    title: str | None
    text: str | None
    status: str | None
    tags_json: str | None
    from_id: Any  # None if it is a node, like the next two
    rel: Any
    to_id: Any
    meta_json: str | None
    deleted: int
    state: str
    ts_ms: int

    def to_dict(self) -> dict[str, Any]:
        """Return the node or edge as fields of a response, without fields that are None."""
        if self.type is None:
            return {**render_key(self.key), **self._common()}
        fields: dict[str, Any] = {"id": self.key, "type": self.type}
        for name in ("title", "text", "status"):
            if getattr(self, name) is not None:
                fields[name] = getattr(self, name)
        fields["tags"] = self.tags()
        return {**fields, **self._common()}

    def _common(self) -> dict[str, Any]:
        meta = {"meta": json.loads(self.meta_json)} if self.meta_json else {}
        return {**meta, "deleted": bool(self.deleted), "last_seq": self.seq, "last_ts_ms": self.ts_ms}

    def tags(self) -> list[str]:
        return list(json.loads(self.tags_json)) if self.tags_json else []

    def with_fields(self, **changed: str) -> Version:
        """Return an unwritten version of the node with another title or status."""
        fields = {"title": self.title, "text": self.text, "status": self.status, **changed}
        return new_node(self.key, self.type, **fields, tags=self.tags(), meta=self.meta_json)

    def tombstone(self) -> Version:
        """Return a version that deletes the node or edge."""
        return self.changed(deleted=1, state=ABSENT)


VERSION_COLUMNS = ", ".join(f"v.{column}" for column in Version.columns)


def new_node(
    id: str,
    type: str,
    *,
    title: str | None = None,
    text: str | None = None,
    status: str | None = None,
    tags: list[str] | None = None,
    meta: str | None = None,
) -> Version:
    """Return an unwritten version of a node; `meta` is JSON."""
    tags_json = json.dumps(tags, ensure_ascii=False) if tags else None
    state = _state([type, title, text, status, tags or []], meta)
    return Version((0, id, type, title, text, status, tags_json, None, None, None, meta, 0, state, 0))


def new_edge(from_id: str, rel: str, to_id: str, *, meta: str | None = None) -> Version:
    """Return an unwritten version of an edge; `meta` is JSON."""
    key = EDGE_SEPARATOR.join((from_id, rel, to_id))
    return Version((0, key, None, None, None, None, None, from_id, rel, to_id, meta, 0, _state([key], meta), 0))


def _state(parts: list[Any], meta: str | None) -> str:
    """Return a hash of the content, independent of the order of keys in `meta`."""
    import hashlib  # only writes to a graph need it

    free = None if meta is None else json.dumps(json.loads(meta), sort_keys=True, ensure_ascii=False)
    text = json.dumps([*parts, free], ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def version_json(version: Version) -> str:
    return json.dumps(version, ensure_ascii=False, separators=(",", ":"))


def visibility_condition(ranges: list[Range], at: int) -> str:
    """Return the SQL condition that a range shows version `v` and no nearer range shadows it."""
    shadows = [
        f"not exists (select 1 from graph_versions s{near} where s{near}.branch_id = :branch_{near}"
        f" and s{near}.doc = :doc and s{near}.key = v.key and s{near}.seq <= :upto_{near})"
        for near in range(at)
    ]
    # A literal instead of a parameter lets the partial index of present versions apply.
    in_range = _PRESENT if ranges[at][2] == HEAD else f"v.seq <= :upto_{at} and v.next_seq > :upto_{at}"
    own = f"v.branch_id = :branch_{at} and v.doc = :doc and {in_range}"
    return " and ".join([own, *shadows])


def nearest_first(view: View) -> list[Range]:
    """Return the ranges of a graph view, nearest branch first."""
    return view.ranges[::-1]


def range_parameters(view: View) -> dict[str, Any]:
    values: dict[str, Any] = {"doc": view.doc}
    for index, (branch_id, _, upto) in enumerate(nearest_first(view)):
        values[f"branch_{index}"] = branch_id
        values[f"upto_{index}"] = upto
    return values


def stream_versions(
    tx: ReadTransaction, view: View, condition: str, values: dict[str, Any] | None = None
) -> Iterator[Version]:
    """Yield each version that the view shows and that meets a condition, range by range."""
    return map(Version, select_columns(tx, view, VERSION_COLUMNS, condition, values or {}))


def select_columns(tx: ReadTransaction, view: View, what: str, condition: str, values: dict[str, Any]) -> Iterator[Row]:
    """Yield columns of each version that the view shows and that meets a condition, range by range."""
    ranges = nearest_first(view)
    parameters = {**range_parameters(view), **values}
    for index in range(len(ranges)):
        yield from tx.stream(
            f"select {what} from graph_versions v where {visibility_condition(ranges, index)} and {condition}",
            parameters,
        )


def current_versions(tx: ReadTransaction, view: View, keys: Iterable[str]) -> dict[str, Version]:
    """Return the versions of these keys that the view shows, including tombstones."""
    versions = stream_versions(tx, view, tx.sql_in("v.key", "keys"), {"keys": list(keys)})
    return {version.key: version for version in versions}


def write_versions(tx: Transaction, document: DocumentRef, new: list[Version]) -> int:
    """Write new versions in order and return the seq of the last."""
    first = reserve_seqs(tx, len(new))
    own = {
        "branch_id": document.branch.branch_id,
        "doc": document.doc,
        "workspace": normalize_workspace(document.workspace),
    }
    for seq, version in enumerate(new, first):
        tx.run(sql["supersede"], {**own, "key": version.key, "seq": seq})
        row = dict(zip(Version.columns, version, strict=True))
        tx.run(sql["add_version"], {**row, **own, "seq": seq, "ts_ms": tx.now_ms, "origin": tx.origin_key()})
        if version.tags_json:
            for tag in json.loads(version.tags_json):
                tx.run(sql["add_version_tag"], {**own, "tag": tag, "seq": seq})
    last = first + len(new) - 1
    touch_document(tx, document.branch.branch_id, document.doc, first, last, shape="graph")
    return last
