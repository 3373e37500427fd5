"""Taking nodes out for good: every version on every branch, their edges, their conflicts, their cards in the trace."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.rows.hard_delete import HardDelete
from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.reasoning.branches.document_refs import (
    GRAPH,
    TRACE,
    DocumentRef,
    branch_by_id,
    family_of,
    find_branch,
)
from moss_memory.tools.reasoning.branches.visible_ranges import HEAD, graph_view
from moss_memory.tools.reasoning.cards.card_edit import SUBGOAL, default_title
from moss_memory.tools.reasoning.cards.card_model import CARD_TYPES
from moss_memory.tools.reasoning.reasoning_arguments import meta_json
from moss_memory.tools.reasoning.reasoning_erase import entries_erasure, is_on, origin_of, where, with_copies
from moss_memory.tools.reasoning.reasoning_sql import sql

from .node_versions import Version, node, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

_TYPES = ", ".join(f"'{known}'" for known in (*CARD_TYPES, "task", "plan", "step"))
_STATUSES = "'open', 'closed', 'rejected', 'merged', 'done', 'blocked', 'TODO', 'ACTIVE', 'DONE'"
_KNOWN = {"known_type": f"type in ({_TYPES})", "known_status": f"status in ({_STATUSES})"}
"""Words that Moss has chosen: every other type or status is a caller's own and goes."""


def erase_node(
    tx: ReadTransaction, workspace: str, id: str | None, *, branch: str | None, doc: str | None
) -> HardDelete:
    """Return the erasure of a node: on the branch that is named and all that share a base with it, else on every one.

    Its id stays known as that of a deleted node.
    """
    if id is None:
        raise invalid_request("`id` is needed: the id of the node", path="id")
    graph = doc or GRAPH
    named = None if branch is None else find_branch(tx, workspace, branch)
    found = [Nodes(tx, workspace, family, graph, [id]) for family in families(tx, workspace)]
    meant = [nodes for nodes in found if nodes.seqs and (named is None or named.branch_id in nodes.branches)]
    wrote = [(seq, branch_id) for nodes in meant for seq, branch_id in nodes.seqs.items()]
    if not meant or not is_on(tx, graph_view, named, graph, wrote):
        raise MossError(
            "NOT_FOUND",
            f"there is no node {id[:100]!r} {where(named, graph)}of workspace {workspace!r}",
            recovery=next_call("branchmind_graph_query", {"workspace": workspace}, "lists the nodes there are"),
        )
    entries = entries_erasure(tx, [seq for nodes in meant for seq in nodes.entries()])
    return entries.combined_with([nodes.erasure() for nodes in meant])


def families(tx: ReadTransaction, workspace: str) -> list[list[int]]:
    """Return the branches of a workspace, those together that share a first base: only they share nodes."""
    left = [
        branch_id
        for (branch_id,) in tx.stream(sql["branches_of_workspace"], {"workspace": normalize_workspace(workspace)})
    ]
    families = []
    while left:
        families.append(family_of(tx, left[0]))
        left = [branch_id for branch_id in left if branch_id not in families[-1]]
    return families


class Nodes:
    """Some nodes of one graph document, on branches that share a base."""

    def __init__(self, tx: ReadTransaction, workspace: str, branches: list[int], doc: str, ids: list[str]) -> None:
        self._tx = tx
        self._workspace = workspace
        self.branches = branches
        self._doc = doc
        self._ids = ids
        self._key = {"branches": branches, "doc": doc, "keys": ids}
        gaps = {"branches": tx.sql_in("branch_id", "branches"), "keys": tx.sql_in("key", "keys")}
        self._versions = list(tx.stream(sql["versions_of_nodes"].filled(**gaps), self._key))
        self.seqs: dict[int, int] = {seq: branch_id for seq, branch_id, *_ in self._versions}
        """The number of every version, with the branch that wrote it."""
        ends = {"begins": tx.sql_in("from_id", "keys"), "ends": tx.sql_in("to_id", "keys")}
        edges = sql["edges_at_nodes"].filled(branches=gaps["branches"], **ends)
        self._edges = list(tx.stream(edges, self._key)) if self.seqs else []

    def erasure(self) -> HardDelete:
        """Return the erasure of the nodes and their edges, without what the trace says of them."""
        texts: list[str | None] = []
        for _, _, _, title, text, *_ in self._versions:
            texts += [title, text, f"{title}: {text}" if title and text else None]
        edges = {edge[2] for edge in self._edges}
        return HardDelete(
            self._carry_out,
            rows=len({key for _, _, key, *_ in self._versions}) + len(edges),
            versions=len(self.seqs) + len(self._edges),
            vectors=self._tx.vectors_of("node", list(self.seqs)),
            texts=texts,
            places=[*(("graph_versions", seq) for seq in self.seqs), *self._named_after()],
            owners=self._owners(),
        )

    def _owners(self) -> list[str]:
        """Return the plans and tasks whose hand-overs may show the nodes."""
        names = [branch_by_id(self._tx, branch_id) for branch_id in sorted(set(self.seqs.values()))]
        owners = [branch.name.partition("/")[2] for branch in names if branch.canonical]
        return [*owners, self._doc.removesuffix(f"-{GRAPH}")] if self._doc.endswith(f"-{GRAPH}") else owners

    def _carry_out(self, tx: Transaction) -> None:
        for key, old, new in self._subgoals():
            self._retitle(tx, key, old, new)
        self._bury(tx)
        place = {"doc": self._doc, "branches": self.branches}
        for seq, *_ in self._edges:
            tx.run(sql["forget_version"], {"seq": seq})
        gaps = {"branches": tx.sql_in("branch_id", "branches"), "keys": tx.sql_in("key", "keys")}
        found = list(tx.stream(sql["versions_of_nodes"].filled(**gaps), {**place, "keys": self._ids}))
        for seq, branch_id, *_ in found:
            tx.run(sql["blank_version"].filled(**_KNOWN), {"seq": seq})
            tx.run(sql["forget_version_tags"], {"branch_id": branch_id, "doc": self._doc, "seq": seq})
        for key in sorted({key for _, _, key, *_ in (*found, *self._edges)}):
            for branch_id in self.branches:
                for statement in ("delete_merges", "delete_conflicts", "delete_pins"):
                    tx.run(sql[statement], {"branch_id": branch_id, "doc": self._doc, "key": key})

    def _bury(self, tx: Transaction) -> None:
        """Write tombstones after the versions that are live; the index then forgets what these said."""
        for _, branch_id, key, _, _, kind, deleted, next_seq in self._versions:
            if not deleted and next_seq > HEAD:
                place = DocumentRef(self._workspace, branch_by_id(tx, branch_id), self._doc)
                write(tx, place, [node(key, kind).tombstone()])

    def entries(self) -> list[int]:
        """Return the numbers of the trace entries of the nodes that are cards, with the copies that merges made."""
        found: list[int] = []
        for key in self._ids:
            for entry in self._card_entries(key):
                seq, branch_id, *_, source = entry
                if self._is_own(key, entry):
                    found += with_copies(self._tx, self._workspace, branch_id, seq, source)
        return found

    def _card_entries(self, id: str) -> list[Any]:
        statement = sql["entries_of_card"].filled(branches=self._tx.sql_in("branch_id", "branches"))
        return list(self._tx.stream(statement, {"branches": self.branches, "key": id}))

    def _is_own(self, id: str, entry: Any) -> bool:
        """Say whether a trace entry tells of the card in this graph, and of none in another graph.

        A copy that a merge made belongs to its origin. A card says what its first version says; if two graphs have it,
        or none has it any more, a trace belongs to the graph of its name.
        """
        _, _, doc, title, content, meta, source = entry
        if source is not None and self._tx.row(sql["entry_texts"], {"seq": origin_of(source)}) is not None:
            return False
        key = {"branches": self.branches, "key": id, "state": _state_of(id, title, content, meta)}
        statement = sql["states_of_node"].filled(branches=self._tx.sql_in("branch_id", "branches"))
        same = [found for (found,) in self._tx.stream(statement, key)]
        partner = GRAPH if doc == TRACE else doc.removesuffix(f"-{TRACE}") + f"-{GRAPH}"
        return self._doc == partner if partner in same or not same else same == [self._doc]

    def _subgoals(self) -> list[tuple[str, str, str]]:
        """Return the subgoals that Moss named after the nodes, and those named after these: id, old and new title."""
        titles: dict[str, set[str]] = {}
        for _, _, key, title, *_ in self._versions:
            if title:
                titles.setdefault(key, set()).add(title)
        found: dict[tuple[str, str], str] = {}
        while titles:
            key, said = titles.popitem()
            for below in self._subgoals_of(key):
                for old in sorted({default_title(title) for title in said}):
                    if (below, old) not in found and self._titled(below, old):
                        found[below, old] = default_title(key)
                        titles.setdefault(below, set()).add(old)
        return [(key, old, new) for (key, old), new in found.items()]

    def _subgoals_of(self, key: str) -> list[str]:
        gaps = {"branches": self._tx.sql_in("branch_id", "branches"), "begins": "from_id = :key", "ends": "1 = 0"}
        edges = self._tx.stream(sql["edges_at_nodes"].filled(**gaps), {**self._key, "key": key})
        return sorted({to for *_, rel, to in edges if rel == SUBGOAL} - set(self._ids))

    def _titled(self, key: str, title: str) -> list[Any]:
        """Return the versions of a node that have a title, each with its branch and the number of the next."""
        statement = sql["titled_versions"].filled(branches=self._tx.sql_in("branch_id", "branches"))
        return list(self._tx.stream(statement, {**self._key, "key": key, "title": title}))

    def _titled_entries(self, key: str, title: str) -> dict[int, str]:
        """Return the trace entries of a card that have a title, copies too: number and content."""
        found: dict[int, str] = {}
        for seq, branch_id, _, said, content, _, source in self._card_entries(key):
            if said == title:
                found |= dict.fromkeys(with_copies(self._tx, self._workspace, branch_id, seq, source), content)
        return found

    def _named_after(self) -> list[tuple[str, int]]:
        """Return the rows that hold titles which Moss made of the nodes' titles."""
        places = []
        for key, old, _ in self._subgoals():
            places += [("graph_versions", seq) for seq, *_ in self._titled(key, old)]
            places += [("doc_entries", seq) for seq in self._titled_entries(key, old)]
        return places

    def _retitle(self, tx: Transaction, key: str, old: str, new: str) -> None:
        """Write another title in the place of one: in every version, conflict and trace entry of a node."""
        for *values, branch_id, next_seq in self._titled(key, old):
            version = _retitled(Version(values), old, new)
            row = dict(zip(Version.columns, version, strict=True))
            tx.run(sql["forget_version"], {"seq": version.seq})  # the index learns only what is new
            own = {
                "branch_id": branch_id,
                "doc": self._doc,
                "workspace": normalize_workspace(self._workspace),
                "next_seq": next_seq,
            }
            tx.run(sql["put_version"], {**row, **own})
        statement = sql["conflict_states"].filled(branches=tx.sql_in("from_id", "branches"))
        for seq, *states in list(tx.stream(statement, {**self._key, "key": key})):
            changed = [None if one is None else _retitled_json(one, old, new) for one in states]
            packed = dict(zip(("base_json", "theirs_json", "ours_json"), changed, strict=True))
            tx.run(sql["set_conflict_states"], {**packed, "seq": seq})
        for seq, content in self._titled_entries(key, old).items():
            said = {"title": new, "content": new if content == old else content}
            tx.run(sql["set_entry_texts"], {**said, "seq": seq})


def _state_of(id: str, title: str | None, content: str, meta: str | None) -> str | None:
    """Return the state of the node that a card's trace entry tells of; none if the entry was erased."""
    said = json.loads(meta or "{}")
    if "type" not in said:
        return None
    card = node(
        id,
        said["type"],
        title=title,
        text=None if said.get("title_only") else content,
        status=said.get("status"),
        tags=said.get("tags"),
        meta=meta_json(said.get("meta")),
    )
    return str(card.state)


def _retitled(version: Version, old: str, new: str) -> Version:
    """Return a version with the new title if it has the old one."""
    if version.title != old:
        return version
    said = node(
        version.key,
        version.type,
        title=new,
        text=version.text,
        status=version.status,
        tags=version.tags(),
        meta=version.meta_json,
    )
    return version.changed(title=new, state=version.state and said.state)


def _retitled_json(packed: str, old: str, new: str) -> str:
    return json.dumps(_retitled(Version(json.loads(packed)), old, new), ensure_ascii=False, separators=(",", ":"))
