"""A plain-Python model of reasoning.

A document of a branch is a list of entries and its graph a list of versions; a new branch copies both lists. The model
has its own sequence numbers (`Seq`): only their order is documented, so a test maps each to the store's number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from property.model import RefusedError, norm

ALWAYS_THERE = ("notes", "trace", "graph")
DEFAULTS = {"branch": "main", "docs": {"notes": "notes", "graph": "graph", "trace": "trace"}}
CANONICAL = re.compile(r"task/TASK-\d+|plan/PLAN-\d+")
Key = tuple[str, ...]
"""("node", id) or ("edge", from, rel, to)."""
State = dict[str, Any] | None
"""The fields of a version; None if it is deleted or never existed."""


class Seq(int):
    """A sequence number of the model."""


class Alias(str):
    """A name in the model for a name that the store generates."""

    __slots__ = ()


@dataclass
class Origin:
    """The branch and number of the first copy of a merged note."""

    branch: Alias
    seq: Seq


class Anything:
    """A placeholder for an unspecified value."""


class Part(dict[str, Any]):
    """A placeholder for an object with at least these fields."""


class Gone:
    """A placeholder for a missing state: null, or a tombstone."""


@dataclass
class ResetTo:
    """The message of a reset, which contains the argument of the caller."""

    to: int | str


@dataclass(eq=False)
class Entry:
    seq: Seq
    ts_ms: int
    branch: Branch
    doc: str
    content: str
    more: dict[str, Any]
    origin: Origin | None
    reach: list[Entry] = field(default_factory=list, repr=False)

    @property
    def identity(self) -> tuple[str, int]:
        return (self.origin.branch, self.origin.seq) if self.origin else (self.branch.id, self.seq)

    @property
    def message(self) -> str:
        return str(self.more.get("title") or self.content.splitlines()[0])


@dataclass(eq=False)
class Version:
    seq: Seq
    ts_ms: int
    branch: Branch
    key: Key
    state: State


@dataclass(eq=False)
class Branch:
    id: Alias
    name: str
    base: Branch | None = None
    base_seq: Seq | None = None
    logs: dict[str, list[Entry]] = field(default_factory=dict, repr=False)
    """The visible entries of each document, oldest first."""
    shown: list[Entry] = field(default_factory=list, repr=False)
    """Every entry of `notes` that this branch ever showed and can be reset to."""
    graphs: dict[str, list[Version]] = field(default_factory=dict, repr=False)
    moves: list[dict[str, Any]] = field(default_factory=list, repr=False)

    def has(self, doc: str) -> bool:
        return doc in ALWAYS_THERE or doc in self.logs or doc in self.graphs

    def log(self, doc: str) -> list[Entry]:
        return self.logs.get(doc, [])

    def head(self, doc: str) -> Seq | None:
        return self.log(doc)[-1].seq if self.log(doc) else None

    def graph(self, doc: str) -> dict[Key, Version]:
        """Return the latest version of each key, oldest first."""
        latest = {version.key: version for version in self.graphs.get(doc, [])}
        return dict(sorted(latest.items(), key=lambda item: item[1].seq))


@dataclass(eq=False)
class Conflict:
    id: Alias
    seq: Seq
    source: Branch
    into: Branch
    doc: str
    key: Key
    base: State
    theirs: State
    ours: State
    created: int = 0
    resolution: str | None = None
    resolved: int | None = None

    @property
    def place(self) -> tuple[str, str, str, Key]:
        return (self.source.id, self.into.id, self.doc, self.key)

    @property
    def status(self) -> str:
        return "resolved" if self.resolution else "open"


@dataclass(eq=False)
class Workspace:
    branches: list[Branch] = field(default_factory=list)
    checkout: Branch | None = None
    tags: dict[str, dict[str, Any]] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)
    reconciled: dict[tuple[str, str, str, Key], State] = field(default_factory=dict)

    def branch(self, name: str | None) -> Branch:
        if name is None and self.checkout is not None:
            return self.checkout
        found: Branch = first(branch for branch in self.branches if branch.name == name)
        return found

    def entries(self) -> list[Entry]:
        """Return every note written in the workspace, including hidden ones, oldest first."""
        written = {
            entry.seq: entry
            for branch in self.branches
            for entries in [branch.shown, *branch.logs.values()]
            for entry in entries
        }
        return [written[seq] for seq in sorted(written)]


class ReasoningModel:
    """All workspaces of a store. Each method implements a tool or raises the refusal."""

    def __init__(self, now_ms: int) -> None:
        self.workspaces: dict[str, Workspace] = {}
        self.now_ms = now_ms
        self.last_seq = 0
        self.made = 0
        self.conflict_ids: dict[str, Alias] = {}

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the answer of `branchmind_<tool>`; a refused call changes nothing."""
        workspace = norm(arguments["workspace"])
        was_empty = workspace not in self.workspaces
        named = {{"from": "source"}.get(name, name): value for name, value in arguments.items() if value is not None}
        method: Callable[..., dict[str, Any]] = getattr(self, tool)
        try:
            return method(**named)
        except RefusedError:
            if was_empty:
                self.workspaces.pop(workspace, None)
            raise

    def next_seq(self) -> Seq:
        self.last_seq += 1
        return Seq(self.last_seq)

    def new_alias(self, kind: str) -> Alias:
        self.made += 1
        return Alias(f"{kind} {self.made}")

    def for_reading(self, workspace: str) -> Workspace:
        found = self.workspaces.get(norm(workspace))
        if found is None:
            raise RefusedError("NOT_FOUND")
        return found

    def for_writing(self, workspace: str) -> Workspace:
        """Return the workspace, created with `main` checked out if it has no branches."""
        if norm(workspace) not in self.workspaces:
            main = Branch(self.new_alias("branch"), "main")
            self.workspaces[norm(workspace)] = Workspace([main], main)
        return self.workspaces[norm(workspace)]

    def writable_branch(self, workspace: str, name: str | None) -> tuple[Workspace, Branch]:
        space = self.for_writing(workspace)
        return space, space.branch(name)

    # Workspace and branches

    def init(self, workspace: str) -> dict[str, Any]:
        space = self.for_writing(workspace)
        return {
            "workspace": workspace, "storage_dir": Anything(), "schema_version": Anything(),
            "checkout": checkout_name(space), "defaults": DEFAULTS,
        }  # fmt: skip

    def status(self, workspace: str) -> dict[str, Any]:
        space = self.workspaces.get(norm(workspace))
        entries = space.entries() if space else []
        wanted = ("seq", "ts", "ts_ms", "branch", "doc", "kind")
        last = {name: shown_entry(entries[-1])[name] for name in wanted} if entries else None
        return {
            "workspace": workspace, "schema_version": Anything(), "workspace_exists": space is not None,
            "checkout": checkout_name(space) if space else None, "defaults": DEFAULTS, "last_event": None,
            "last_doc_entry": last, "truncated": False,
        }  # fmt: skip

    def branch_create(self, workspace: str, name: str, source: str | None = None) -> dict[str, Any]:
        space, base = self.writable_branch(workspace, source)
        refuse_if("INVALID_REQUEST", CANONICAL.fullmatch(name) is not None)
        refuse_if("CONFLICT", any(branch.name == name for branch in space.branches))
        made = Branch(
            self.new_alias("branch"),
            name,
            base,
            Seq(self.last_seq),
            logs={doc: list(log) for doc, log in base.logs.items()},
            shown=list(base.log("notes")),
            graphs={doc: list(versions) for doc, versions in base.graphs.items()},
        )
        space.branches.append(made)
        return {"workspace": workspace, "branch": shown_branch(made)}

    def branch_list(self, workspace: str, limit: int = 200) -> dict[str, Any]:
        space = self.workspaces.get(norm(workspace), Workspace())
        rows = [shown_branch(branch) for branch in sorted(space.branches, key=lambda branch: branch.name)]
        return {"workspace": workspace, "branches": rows[:limit], "truncated": len(rows) > limit}

    def checkout(self, workspace: str, ref: str) -> dict[str, Any]:
        space = self.for_reading(workspace)
        previous = checkout_name(space)
        space.checkout = space.branch(ref)
        return {"workspace": workspace, "previous": previous, "current": ref}

    def branch_rename(self, workspace: str, old: str, new: str) -> dict[str, Any]:
        space = self.for_reading(workspace)
        branch = space.branch(old)
        refuse_if("INVALID_REQUEST", CANONICAL.fullmatch(new) is not None)
        refuse_if("CONFLICT", any(other.name == new for other in space.branches))
        branch.name = new
        return {"workspace": workspace, "previous": old, "current": new}

    def branch_delete(self, workspace: str, name: str) -> dict[str, Any]:
        space = self.for_reading(workspace)
        gone = space.branch(name)
        refuse_if("CONFLICT", name == "main" or gone is space.checkout)
        refuse_if("CONFLICT", any(branch.base is gone for branch in space.branches))
        concerned = [conflict for conflict in space.conflicts if gone in (conflict.source, conflict.into)]
        refuse_if("CONFLICT", any(conflict.status == "open" for conflict in concerned))
        space.branches.remove(gone)
        space.conflicts = [conflict for conflict in space.conflicts if conflict not in concerned]
        space.tags = {tag: row for tag, row in space.tags.items() if row["branch"] is not gone}
        return {"workspace": workspace, "name": name, "deleted": True}

    # Documents and history

    def write_note(
        self, branch: Branch, doc: str, content: str, more: dict[str, Any], origin: Origin | None = None
    ) -> Entry:
        entry = Entry(self.next_seq(), self.now_ms, branch, doc, content, more, origin)
        branch.moves.append(
            {
                "seq": entry.seq, **times(self.now_ms), "doc": doc, "old_seq": branch.head(doc), "new_seq": entry.seq,
                "message": entry.message,
            }
        )  # fmt: skip
        branch.logs.setdefault(doc, []).append(entry)
        entry.reach = list(branch.logs[doc])
        if doc == "notes":
            branch.shown.append(entry)
        return entry

    def notes_commit(
        self, workspace: str, content: str, branch: str | None = None, doc: str = "notes", **more: Any
    ) -> dict[str, Any]:
        _, target = self.writable_branch(workspace, branch)
        return {"entry": shown_entry(self.write_note(target, doc, content, more))}

    def commit(self, workspace: str, artifact: str, message: str, docs: Any = "notes", **more: Any) -> dict[str, Any]:
        _, branch = self.writable_branch(workspace, None)
        names = list(dict.fromkeys([docs] if isinstance(docs, str) else docs))
        entries = [self.write_note(branch, doc, artifact, {"title": message, **more}) for doc in names]
        commits = [
            {
                "seq": entry.seq, **times(entry.ts_ms), "branch": branch.name, "doc": entry.doc, "message": message
            } for entry in entries
        ]  # fmt: skip
        return {"workspace": workspace, "branch": branch.name, "docs": names, "commits": commits}

    def show(self, workspace: str, branch: str | None = None, doc: str = "trace", **page: Any) -> dict[str, Any]:
        view = self.document(workspace, branch, doc)
        rows, pagination = newest(view.log(doc), **{"limit": 50, **page})
        return {
            "branch": view.name, "doc": doc, "entries": [shown_entry(entry) for entry in rows[::-1]],
            "pagination": pagination, "truncated": False,
        }  # fmt: skip

    def document(self, workspace: str, branch: str | None, doc: str) -> Branch:
        """Return the branch, which must show the document."""
        view = self.for_reading(workspace).branch(branch)
        refuse_if("NOT_FOUND", not view.has(doc))
        return view

    def two_sides(self, workspace: str, one: str, other: str, doc: str) -> tuple[Workspace, Branch, Branch]:
        """Return two branches, at least one of which shows the document."""
        space = self.for_reading(workspace)
        sides = space.branch(one), space.branch(other)
        refuse_if("NOT_FOUND", not any(side.has(doc) for side in sides))
        return space, *sides

    def diff(self, workspace: str, source: str, to: str, doc: str = "notes", **page: Any) -> dict[str, Any]:
        _, one, other = self.two_sides(workspace, source, to, doc)
        known = [entry.seq for entry in one.log(doc)]
        new = [entry for entry in other.log(doc) if entry.seq not in known]
        rows, pagination = newest(new, **{"limit": 50, **page})
        return {
            "from": source, "to": to, "doc": doc, "entries": [shown_entry(entry) for entry in rows[::-1]],
            "pagination": pagination, "truncated": False,
        }  # fmt: skip

    def merge(
        self, workspace: str, source: str, into: str, doc: str = "notes", dry_run: bool = False, **page: Any
    ) -> dict[str, Any]:
        _, one, other = self.two_sides(workspace, source, into, doc)
        there = [entry.seq for entry in other.log(doc)]
        candidates = [entry for entry in one.log(doc) if entry.seq not in there]
        rows, pagination = oldest(candidates, **{"limit": 200, **page})
        merged = 0
        for entry in rows:
            known = {note.identity for note in other.log(doc)}
            if entry.identity not in known:
                merged += 1
                if not dry_run:
                    branch, seq = entry.identity
                    self.write_note(other, doc, entry.content, entry.more, Origin(Alias(branch), Seq(seq)))
        return {
            "from": source, "into": into, "doc": doc, "merged": merged, "skipped": len(rows) - merged,
            "pagination": pagination,
        }  # fmt: skip

    def log(self, workspace: str, ref: str | None = None, doc: str = "notes", **page: Any) -> dict[str, Any]:
        view = self.document(workspace, ref, doc)
        rows, pagination = newest(view.log(doc), **{"limit": 20, **page})
        commits = [
            {
                "seq": entry.seq, **times(entry.ts_ms), "message": entry.message, "content": entry.content,
                **({"meta": entry.more["meta"]} if "meta" in entry.more else {}),
            } for entry in rows
        ]  # fmt: skip
        return {
            "workspace": workspace, "ref": view.name, "doc": doc, "head_seq": view.head(doc), "commits": commits,
            "pagination": pagination, "truncated": False,
        }  # fmt: skip

    def docs_list(self, workspace: str, ref: str | None = None) -> dict[str, Any]:
        view = self.for_reading(workspace).branch(ref)
        rows = []
        for doc in sorted({*ALWAYS_THERE, *view.logs, *view.graphs}):
            numbers = [entry.seq for entry in view.log(doc)] + [version.seq for version in view.graphs.get(doc, [])]
            rows.append({"doc": doc, "entries": len(numbers), "last_seq": max(numbers, default=None)})
        return {"workspace": workspace, "ref": view.name, "docs": rows, "truncated": False}

    def reflog(self, workspace: str, ref: str | None = None, **page: Any) -> dict[str, Any]:
        branch = self.for_reading(workspace).branch(ref)
        rows, pagination = newest([Move(move) for move in branch.moves], **{"limit": 50, **page})
        entries = [{name: value for name, value in move.row.items() if name != "seq"} for move in rows]
        return {
            "workspace": workspace, "ref": branch.name, "entries": entries, "pagination": pagination,
            "truncated": False,
        }  # fmt: skip

    def reset(self, workspace: str, to: int | str, ref: str | None = None) -> dict[str, Any]:
        space, branch = self.writable_branch(workspace, ref)
        target = self.pointed_at(space, to)
        refuse_if("NOT_FOUND", target not in branch.shown)
        old = branch.head("notes")
        move = {"seq": self.next_seq(), **times(self.now_ms), "doc": "notes", "old_seq": old, "new_seq": target.seq}
        branch.moves.append({**move, "message": ResetTo(to)})
        branch.logs["notes"] = list(target.reach)
        return {"workspace": workspace, "ref": branch.name, "doc": "notes", "old_seq": old, "new_seq": target.seq}

    def pointed_at(self, space: Workspace, to: int | str) -> Entry:
        """Return the entry that a tag or a number refers to."""
        wanted = first(tag["seq"] for name, tag in space.tags.items() if name == to) if isinstance(to, str) else to
        found: Entry = first(entry for entry in space.entries() if entry.seq == wanted)
        return found

    def tag_create(
        self, workspace: str, name: str, source: int | str | None = None, force: bool = False
    ) -> dict[str, Any]:
        space = self.for_writing(workspace)
        assert space.checkout is not None
        refuse_if("CONFLICT", name in space.tags and not force)
        if source is None:
            head = first(reversed(space.checkout.log("notes")))
            tag = {"branch": space.checkout, "doc": "notes", "seq": head.seq}
        else:
            entry = self.pointed_at(space, source)
            tag = {"branch": entry.branch, "doc": entry.doc, "seq": entry.seq}
        space.tags[name] = {**tag, "name": name, "created_at_ms": self.now_ms}
        return {"workspace": workspace, "tag": shown_tag(space.tags[name])}

    def tag_list(self, workspace: str) -> dict[str, Any]:
        tags = self.workspaces.get(norm(workspace), Workspace()).tags
        return {"workspace": workspace, "tags": [shown_tag(tags[name]) for name in sorted(tags)], "truncated": False}

    def tag_delete(self, workspace: str, name: str) -> dict[str, Any]:
        space = self.for_reading(workspace)
        refuse_if("NOT_FOUND", name not in space.tags)
        del space.tags[name]
        return {"workspace": workspace, "name": name, "deleted": True}

    # Graph

    def graph_apply(
        self, workspace: str, ops: list[dict[str, Any]], branch: str | None = None, doc: str = "graph"
    ) -> dict[str, Any]:
        _, target = self.writable_branch(workspace, branch)
        applied = dict.fromkeys(("nodes_upserted", "nodes_deleted", "edges_upserted", "edges_deleted"), 0)
        before = {name: list(versions) for name, versions in target.graphs.items()}, self.last_seq
        try:
            for op in ops:
                self.apply_one(target, doc, op, applied)
        except RefusedError:
            target.graphs, self.last_seq = before
            raise
        return {
            "branch": target.name, "doc": doc, "applied": applied, "last_seq": Seq(self.last_seq),
            "last_ts_ms": self.now_ms,
        }  # fmt: skip

    def apply_one(self, branch: Branch, doc: str, op: dict[str, Any], applied: dict[str, int]) -> None:
        kind, verb = op["op"].split("_")
        key: Key = ("node", op["id"]) if kind == "node" else ("edge", op["from"], op["rel"], op["to"])
        if verb == "upsert":
            applied[f"{kind}s_upserted"] += 1
            self.write_version(branch, doc, key, state_of(op))
            return
        live = {key for key, version in branch.graph(doc).items() if version.state is not None}
        refuse_if("NOT_FOUND", key not in live)
        edges = sorted(edge for edge in live if kind == "node" and edge[0] == "edge" and op["id"] in (edge[1], edge[3]))
        for gone in [key, *edges]:
            applied[f"{gone[0]}s_deleted"] += 1
            self.write_version(branch, doc, gone, None)

    def write_version(self, branch: Branch, doc: str, key: Key, state: State) -> None:
        version = Version(self.next_seq(), self.now_ms, branch, key, state)
        branch.graphs.setdefault(doc, []).append(version)

    def graph_query(
        self, workspace: str, branch: str | None = None, doc: str = "graph", include_deleted: bool = False,
        include_edges: bool = True, edges_limit: int = 200, cursor: int | None = None, limit: int = 50, **filters: Any,
    ) -> dict[str, Any]:  # fmt: skip
        view = self.document(workspace, branch, doc)
        seen = [v for v in view.graph(doc).values() if include_deleted or v.state is not None]
        nodes = [version for version in seen if version.key[0] == "node" and fits(version, filters)]
        rows, pagination = newest(nodes, cursor=cursor, limit=limit)
        ids = {version.key[1] for version in rows}
        edges = [v for v in seen[::-1] if v.key[0] == "edge" and {v.key[1], v.key[3]} <= ids and include_edges]
        return {
            "branch": view.name, "doc": doc, "nodes": [shown_version(version) for version in rows],
            "edges": [shown_version(version) for version in edges[:edges_limit]], "pagination": pagination,
            "truncated": len(edges) > edges_limit,
        }  # fmt: skip

    def graph_validate(
        self, workspace: str, branch: str | None = None, doc: str = "graph", max_errors: int = 50
    ) -> dict[str, Any]:
        view = self.document(workspace, branch, doc)
        live = [key for key, version in view.graph(doc).items() if version.state is not None]
        nodes = {key[1] for key in live if key[0] == "node"}
        edges = sorted(key for key in live if key[0] == "edge")
        errors = []
        for key in edges:
            missing = [end for end in dict.fromkeys((key[1], key[3])) if end not in nodes]
            if missing:
                edge = dict(zip(("from", "rel", "to"), key[1:], strict=True))
                code = "EDGE_ENDPOINT_MISSING"
                errors.append({"code": code, "edge": edge, "missing": missing, "message": Anything()})
        return {
            "branch": view.name, "doc": doc, "ok": not errors, "stats": {"nodes": len(nodes), "edges": len(edges)},
            "errors": errors[:max_errors], "truncated": len(errors) > max_errors,
        }  # fmt: skip

    def graph_diff(self, workspace: str, source: str, to: str, doc: str = "graph", **page: Any) -> dict[str, Any]:
        _, one, other = self.two_sides(workspace, source, to, doc)
        known = one.graph(doc)
        different = [v for key, v in other.graph(doc).items() if not equal(v.state, state_in(known, key))]
        rows, pagination = newest(different, **{"limit": 50, **page})
        return {
            "from": source, "to": to, "doc": doc, "changes": [shown_change(version) for version in rows],
            "pagination": pagination, "truncated": False,
        }  # fmt: skip

    def graph_merge(
        self, workspace: str, source: str, into: str, doc: str = "graph", dry_run: bool = False, **page: Any
    ) -> dict[str, Any]:
        space, one, other = self.two_sides(workspace, source, into, doc)
        refuse_if("INVALID_REQUEST", one.base is not other)
        changed = [version for version in one.graph(doc).values() if version.branch is one]
        rows, pagination = oldest(changed, **{"limit": 200, **page})
        agreed, merged, met = [], [], []
        there = other.graph(doc)
        for version in rows:
            place = (one.id, other.id, doc, version.key)
            theirs, ours = version.state, state_in(there, version.key)
            base = space.reconciled[place] if place in space.reconciled else snapshot(one, doc, version.key)
            if equal(theirs, ours) or equal(theirs, base):
                agreed.append((place, theirs if equal(theirs, ours) else base))
            elif equal(ours, base):
                merged.append(version)
                agreed.append((place, theirs))
            else:
                alias = self.conflict_ids.setdefault(
                    canonical([*place, base, theirs, ours]), self.new_alias("conflict")
                )
                met.append(Conflict(alias, Seq(0), one, other, doc, version.key, base, theirs, ours))
        still_open = {conflict.id for conflict in space.conflicts if conflict.status == "open"}
        created = [conflict for conflict in met if conflict.id not in still_open]
        if not dry_run:
            self.open_conflicts(space, created)
            for version in merged:
                self.write_version(other, doc, version.key, version.state)
            for place, state in agreed:
                self.close_conflicts(space, place)
                space.reconciled[place] = state
        return {
            "from": source, "into": into, "doc": doc, "merged": len(merged),
            "skipped": len(rows) - len(merged) - len(met), "conflicts_created": len(created),
            "conflict_ids": [conflict.id for conflict in met], "pagination": pagination,
        }  # fmt: skip

    def open_conflicts(self, space: Workspace, created: list[Conflict]) -> None:
        """Add conflicts; a new one supersedes an open one of the same key, a resolved one is reopened."""
        for new in created:
            self.close_conflicts(space, new.place)
            space.conflicts = [conflict for conflict in space.conflicts if conflict.id != new.id]
            new.seq, new.created = self.next_seq(), self.now_ms
            space.conflicts.append(new)

    def close_conflicts(self, space: Workspace, place: tuple[str, str, str, Key]) -> None:
        """Mark the open conflicts of a key as superseded."""
        for conflict in space.conflicts:
            if conflict.place == place and conflict.status == "open":
                conflict.resolution, conflict.resolved = "superseded", self.now_ms

    def graph_conflicts(
        self, workspace: str, into: str, doc: str = "graph", status: str | None = None, **page: Any
    ) -> dict[str, Any]:
        space = self.for_reading(workspace)
        branch = self.document(workspace, into, doc)
        found = [
            conflict
            for conflict in space.conflicts
            if conflict.into is branch and conflict.doc == doc and status in (None, conflict.status)
        ]
        rows, pagination = newest(found, **{"limit": 50, **page})
        wanted = ("conflict_id", "kind", "key", "status", "created_at_ms")
        conflicts = [{name: shown_conflict(conflict)[name] for name in wanted} for conflict in rows]
        return {"into": into, "doc": doc, "conflicts": conflicts, "pagination": pagination, "truncated": False}

    def graph_conflict_show(self, workspace: str, conflict_id: str) -> dict[str, Any]:
        found = first(c for c in self.for_reading(workspace).conflicts if c.id == conflict_id)
        return {"conflict": shown_conflict(found), "truncated": False}

    def graph_conflict_resolve(self, workspace: str, conflict_id: str, resolution: str) -> dict[str, Any]:
        space = self.for_reading(workspace)
        found = first(conflict for conflict in space.conflicts if conflict.id == conflict_id)
        refuse_if("CONFLICT", found.resolution not in (None, resolution))
        applied = found.resolution is None and resolution == "use_from"
        if applied:
            self.write_version(found.into, found.doc, found.key, found.theirs)
        if found.resolution is None:
            found.resolution, found.resolved = resolution, self.now_ms
            space.reconciled[found.place] = found.theirs
        held = {"use_from": f"the state of {found.source.name}", "use_into": "its own state"}[resolution]
        outcome = f"{found.into.name} has {held}"
        return {"conflict_id": found.id, "status": "resolved", "applied": applied, "outcome": outcome}


class Move:
    """A row of the reflog with its sequence number."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.row = row
        self.seq: Seq = row["seq"]


def first(found: Iterable[Any]) -> Any:
    for thing in found:
        return thing
    raise RefusedError("NOT_FOUND")


def refuse_if(code: str, refused: bool) -> None:
    if refused:
        raise RefusedError(code)


def newest(rows: list[Any], limit: int, cursor: int | None = None) -> tuple[list[Any], dict[str, Any]]:
    """Return the newest rows before the cursor, newest first."""
    left = [row for row in rows if cursor is None or row.seq < cursor][::-1]
    return left[:limit], pagination(left, limit, cursor)


def oldest(rows: list[Any], limit: int, cursor: int | None = None) -> tuple[list[Any], dict[str, Any]]:
    """Return the oldest rows after the cursor, oldest first."""
    left = [row for row in rows if cursor is None or row.seq > cursor]
    return left[:limit], pagination(left, limit, cursor)


def pagination(left: list[Any], limit: int, cursor: int | None) -> dict[str, Any]:
    page = {"cursor": cursor, "has_more": len(left) > limit, "limit": limit, "count": min(limit, len(left))}
    return {**page, "next_cursor": left[limit - 1].seq} if page["has_more"] else page


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def equal(one: State, other: State) -> bool:
    return canonical(one) == canonical(other)


def state_in(graph: dict[Key, Version], key: Key) -> State:
    return graph[key].state if key in graph else None


def snapshot(branch: Branch, doc: str, key: Key) -> State:
    """Return the state of a key on the branch when it was created."""
    seen = [version for version in branch.graphs.get(doc, []) if version.branch is not branch and version.key == key]
    return seen[-1].state if seen else None


def state_of(op: dict[str, Any]) -> State:
    """Return the state that an upsert writes, in its normal form."""
    said = {name: value for name, value in op.items() if name not in ("op", "id", "from", "rel", "to")}
    if op["op"] == "edge_upsert":
        return said
    if not said.get("status", "").strip():
        said.pop("status", None)
    return {**said, "tags": sorted({tag.strip().lower() for tag in said.get("tags", [])})}


def fits(version: Version, filters: dict[str, Any]) -> bool:
    """Return whether a node passes every filter; a tombstone is matched by its id alone."""

    def listed(name: str) -> list[str]:
        value = filters[name]
        return [value] if isinstance(value, str) else value

    state = version.state or {"tags": []}
    tags = set(state["tags"])
    checks: dict[str, Callable[[], bool]] = {
        "ids": lambda: version.key[1] in listed("ids"),
        "types": lambda: state.get("type") in listed("types"),
        "status": lambda: state.get("status") == filters["status"],
        "tags_any": lambda: bool(tags & {tag.strip().lower() for tag in listed("tags_any")}),
        "tags_all": lambda: tags >= {tag.strip().lower() for tag in listed("tags_all")},
        "text": lambda: any(filters["text"].lower() in state.get(name, "").lower() for name in ("title", "text")),
    }
    return all(checks[name]() for name in filters)


def times(ms: int) -> dict[str, Any]:
    ts = datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    return {"ts": ts.replace("+00:00", "Z"), "ts_ms": ms}


def checkout_name(space: Workspace) -> str | None:
    return space.checkout.name if space.checkout else None


def shown_branch(branch: Branch) -> dict[str, Any]:
    base = branch.base.name if branch.base else None
    return {"name": branch.name, "base_branch": base, "base_seq": branch.base_seq}


def shown_entry(entry: Entry) -> dict[str, Any]:
    origin = {"source_event_id": entry.origin} if entry.origin else {}
    return {
        "seq": entry.seq, **times(entry.ts_ms), "branch": entry.branch.name, "doc": entry.doc, "kind": "note",
        **entry.more, "content": entry.content, **origin,
    }  # fmt: skip


def shown_tag(tag: dict[str, Any]) -> dict[str, Any]:
    return {**tag, "branch": tag["branch"].name}


def shown_key(key: Key) -> Any:
    return key[1] if key[0] == "node" else dict(zip(("from", "rel", "to"), key[1:], strict=True))


def shown_state(key: Key, state: State) -> dict[str, Any]:
    """Return a node or an edge without its number; of a deleted one only the mark."""
    names = ("id",) if key[0] == "node" else ("from", "rel", "to")
    said = {**dict(zip(names, key[1:], strict=True)), "deleted": state is None}
    return Part(said) if state is None else {**said, **state}


def shown_version(version: Version) -> dict[str, Any]:
    said = shown_state(version.key, version.state)
    said.update({"last_seq": version.seq, "last_ts_ms": version.ts_ms})
    return said


def shown_change(version: Version) -> dict[str, Any]:
    name = "id" if version.key[0] == "node" else "key"
    return {"kind": version.key[0], name: shown_key(version.key), "to": shown_version(version)}


def shown_conflict(conflict: Conflict) -> dict[str, Any]:
    def side(state: State) -> Any:
        return Gone() if state is None else Part(shown_state(conflict.key, state))

    ending = {"resolution": conflict.resolution, "resolved_at_ms": conflict.resolved} if conflict.resolution else {}
    return {
        "conflict_id": conflict.id, "kind": conflict.key[0], "key": shown_key(conflict.key),
        "from_branch": conflict.source.name, "into_branch": conflict.into.name, "doc": conflict.doc,
        "status": conflict.status,
        "base": side(conflict.base), "from": side(conflict.theirs), "into": side(conflict.ours),
        "created_at_ms": conflict.created, **ending,
    }  # fmt: skip
