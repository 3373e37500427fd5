"""Permanent erasure of nodes: all versions on all branches, edges, conflicts and trace entries of cards."""

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
    find_branch,
    related_branches,
)
from moss_memory.tools.reasoning.branches.visible_ranges import HEAD, graph_view
from moss_memory.tools.reasoning.cards.card_edit import SUBGOAL, default_title
from moss_memory.tools.reasoning.cards.card_model import CARD_TYPES
from moss_memory.tools.reasoning.reasoning_arguments import meta_json
from moss_memory.tools.reasoning.reasoning_erase import (
    describe_location,
    entries_erasure,
    entry_and_copies,
    original_seq,
    shows_any,
)
from moss_memory.tools.reasoning.reasoning_sql import sql

from .node_versions import Version, new_node, version_json, write_versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

_TYPES = ", ".join(f"'{kind}'" for kind in (*CARD_TYPES, "task", "plan", "step"))
_STATUSES = "'open', 'closed', 'rejected', 'merged', 'done', 'blocked', 'TODO', 'ACTIVE', 'DONE'"
_KNOWN = {"known_type": f"type in ({_TYPES})", "known_status": f"status in ({_STATUSES})"}
"""Types and statuses defined by Moss; all others are text of callers and are erased."""


def erase_node(
    tx: ReadTransaction, workspace: str, id: str | None, *, branch: str | None, doc: str | None
) -> HardDelete:
    """Return the erasure of a node on the branches related to the given one, or on all branches if None.

    The id remains as that of a deleted node.
    """
    if id is None:
        raise invalid_request("`id` is needed: the id of the node", path="id")
    graph = doc or GRAPH
    branch_row = None if branch is None else find_branch(tx, workspace, branch)
    node_groups = [Nodes(tx, workspace, group, graph, [id]) for group in branch_groups(tx, workspace)]
    selected = [
        nodes for nodes in node_groups if nodes.seqs and (branch_row is None or branch_row.branch_id in nodes.branches)
    ]
    writers = [(seq, branch_id) for nodes in selected for seq, branch_id in nodes.seqs.items()]
    if not selected or not shows_any(tx, graph_view, branch_row, graph, writers):
        raise MossError(
            "NOT_FOUND",
            f"there is no node {id[:100]!r} {describe_location(branch_row, graph)}of workspace {workspace!r}",
            recovery=next_call("branchmind_graph_query", {"workspace": workspace}, "lists the nodes there are"),
        )
    entries = entries_erasure(tx, [seq for nodes in selected for seq in nodes.entries()])
    return entries.combined_with([nodes.erasure() for nodes in selected])


def branch_groups(tx: ReadTransaction, workspace: str) -> list[list[int]]:
    """Return the branches of a workspace, grouped by their first base; only branches of a group share nodes."""
    ungrouped = [
        branch_id
        for (branch_id,) in tx.stream(sql["branches_of_workspace"], {"workspace": normalize_workspace(workspace)})
    ]
    branch_groups = []
    while ungrouped:
        branch_groups.append(related_branches(tx, ungrouped[0]))
        ungrouped = [branch_id for branch_id in ungrouped if branch_id not in branch_groups[-1]]
    return branch_groups


class Nodes:
    """Some nodes of one graph document, on branches with the same first base."""

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
        """The seq of each version with the branch that wrote it."""
        ends = {"begins": tx.sql_in("from_id", "keys"), "ends": tx.sql_in("to_id", "keys")}
        edges = sql["edges_at_nodes"].filled(branches=gaps["branches"], **ends)
        self._edges = list(tx.stream(edges, self._key)) if self.seqs else []

    def erasure(self) -> HardDelete:
        """Return the erasure of the nodes and their edges, without their trace entries."""
        texts: list[str | None] = []
        for _, _, _, title, text, *_ in self._versions:
            texts += [title, text, f"{title}: {text}" if title and text else None]
        edges = {edge[2] for edge in self._edges}
        return HardDelete(
            self._execute,
            rows=len({key for _, _, key, *_ in self._versions}) + len(edges),
            versions=len(self.seqs) + len(self._edges),
            vectors=self._tx.vectors_of("node", list(self.seqs)),
            texts=texts,
            row_versions=[*(("graph_versions", seq) for seq in self.seqs), *self._derived_rows()],
            owners=self._owners(),
        )

    def _owners(self) -> list[str]:
        """Return the plans and tasks whose hand-overs may contain the nodes."""
        branches = [branch_by_id(self._tx, branch_id) for branch_id in sorted(set(self.seqs.values()))]
        owners = [branch.name.partition("/")[2] for branch in branches if branch.canonical]
        if self._doc.endswith(f"-{GRAPH}"):
            owners.append(self._doc.removesuffix(f"-{GRAPH}"))
        return owners

    def _execute(self, tx: Transaction) -> None:
        for key, old, new in self._find_subgoals():
            self._rewrite_titles(tx, key, old, new)
        # Tombstones after the live versions make the index drop their text.
        for _, branch_id, key, _, _, kind, deleted, next_seq in self._versions:
            if not deleted and next_seq > HEAD:
                document = DocumentRef(self._workspace, branch_by_id(tx, branch_id), self._doc)
                write_versions(tx, document, [new_node(key, kind).tombstone()])
        graph_key = {"doc": self._doc, "branches": self.branches}
        for seq, *_ in self._edges:
            tx.run(sql["forget_version"], {"seq": seq})
        gaps = {"branches": tx.sql_in("branch_id", "branches"), "keys": tx.sql_in("key", "keys")}
        versions = list(tx.stream(sql["versions_of_nodes"].filled(**gaps), {**graph_key, "keys": self._ids}))
        for seq, branch_id, *_ in versions:
            tx.run(sql["blank_version"].filled(**_KNOWN), {"seq": seq})
            tx.run(sql["forget_version_tags"], {"branch_id": branch_id, "doc": self._doc, "seq": seq})
        for key in sorted({key for _, _, key, *_ in (*versions, *self._edges)}):
            for branch_id in self.branches:
                for statement in ("delete_merges", "delete_conflicts", "delete_pins"):
                    tx.run(sql[statement], {"branch_id": branch_id, "doc": self._doc, "key": key})

    def entries(self) -> list[int]:
        """Return the seqs of the trace entries of the nodes that are cards, with copies made by merges."""
        seqs: list[int] = []
        for key in self._ids:
            for entry in self._card_entries(key):
                seq, branch_id, *_, source = entry
                if self._is_own(key, entry):
                    seqs += entry_and_copies(self._tx, self._workspace, branch_id, seq, source)
        return seqs

    def _card_entries(self, id: str) -> list[Any]:
        statement = sql["entries_of_card"].filled(branches=self._tx.sql_in("branch_id", "branches"))
        return list(self._tx.stream(statement, {"branches": self.branches, "key": id}))

    def _is_own(self, id: str, entry: Any) -> bool:
        """Return True if a trace entry belongs to the card in this graph and in no other.

        A copy made by a merge belongs to its original. An entry has the state of the card's first version; if several
        graphs have that state, or none, the entry belongs to the graph with the name of its trace.
        """
        _, _, doc, title, content, meta, source = entry
        if source is not None and self._tx.row(sql["entry_texts"], {"seq": original_seq(source)}) is not None:
            return False
        key = {"branches": self.branches, "key": id, "state": _state_of(id, title, content, meta)}
        statement = sql["states_of_node"].filled(branches=self._tx.sql_in("branch_id", "branches"))
        same = [graph_doc for (graph_doc,) in self._tx.stream(statement, key)]
        own = json.loads(meta or "{}").get("graph_doc")
        partner = own or (GRAPH if doc == TRACE else doc.removesuffix(f"-{TRACE}") + f"-{GRAPH}")
        return self._doc == partner if partner in same or not same else same == [self._doc]

    def _find_subgoals(self) -> list[tuple[str, str, str]]:
        """Return the subgoals titled by default after the nodes, transitively: id, old and new title."""
        titles: dict[str, set[str]] = {}
        for _, _, key, title, *_ in self._versions:
            if title:
                titles.setdefault(key, set()).add(title)
        new_titles: dict[tuple[str, str], str] = {}
        while titles:
            key, old_titles = titles.popitem()
            for subgoal in self._subgoals_of(key):
                for old in sorted({default_title(title) for title in old_titles}):
                    if (subgoal, old) not in new_titles and self._find_versions(subgoal, old):
                        new_titles[subgoal, old] = default_title(key)
                        titles.setdefault(subgoal, set()).add(old)
        return [(key, old, new) for (key, old), new in new_titles.items()]

    def _subgoals_of(self, key: str) -> list[str]:
        gaps = {"branches": self._tx.sql_in("branch_id", "branches"), "begins": "from_id = :key", "ends": "1 = 0"}
        edges = self._tx.stream(sql["edges_at_nodes"].filled(**gaps), {**self._key, "key": key})
        return sorted({to for *_, rel, to in edges if rel == SUBGOAL} - set(self._ids))

    def _find_versions(self, key: str, title: str) -> list[Any]:
        """Return the versions of a node with this title, each with its branch and its next seq."""
        statement = sql["titled_versions"].filled(branches=self._tx.sql_in("branch_id", "branches"))
        return list(self._tx.stream(statement, {**self._key, "key": key, "title": title}))

    def _find_entries(self, key: str, title: str) -> dict[int, str]:
        """Return the trace entries of a card with this title, with copies: seq and content."""
        contents: dict[int, str] = {}
        for seq, branch_id, _, entry_title, content, _, source in self._card_entries(key):
            if entry_title == title:
                contents |= dict.fromkeys(entry_and_copies(self._tx, self._workspace, branch_id, seq, source), content)
        return contents

    def _derived_rows(self) -> list[tuple[str, int]]:
        """Return the rows with default titles made of the nodes' titles."""
        rows = []
        for key, old, _ in self._find_subgoals():
            rows += [("graph_versions", seq) for seq, *_ in self._find_versions(key, old)]
            rows += [("doc_entries", seq) for seq in self._find_entries(key, old)]
        return rows

    def _rewrite_titles(self, tx: Transaction, key: str, old: str, new: str) -> None:
        """Replace a title in every version, conflict and trace entry of a node."""
        for *values, branch_id, next_seq in self._find_versions(key, old):
            version = _replace_title(Version(values), old, new)
            row = dict(zip(Version.columns, version, strict=True))
            origin = tx.value("select origin from graph_versions where seq = :seq", {"seq": version.seq})
            tx.run(sql["forget_version"], {"seq": version.seq})  # only inserts update the index
            own = {
                "branch_id": branch_id,
                "doc": self._doc,
                "workspace": normalize_workspace(self._workspace),
                "next_seq": next_seq,
                "origin": origin,
            }
            tx.run(sql["put_version"], {**row, **own})
        statement = sql["conflict_states"].filled(branches=tx.sql_in("from_id", "branches"))
        for seq, *states in list(tx.stream(statement, {**self._key, "key": key})):
            changed = [state and version_json(_replace_title(Version(json.loads(state)), old, new)) for state in states]
            row = dict(zip(("base_json", "theirs_json", "ours_json"), changed, strict=True))
            tx.run(sql["set_conflict_states"], {**row, "seq": seq})
        for seq, content in self._find_entries(key, old).items():
            texts = {"title": new, "content": new if content == old else content}
            tx.run(sql["set_entry_texts"], {**texts, "seq": seq})


def _state_of(id: str, title: str | None, content: str, meta: str | None) -> str | None:
    """Return the state of the node that a card's trace entry describes; None if the entry was erased."""
    fields = json.loads(meta or "{}")
    if "type" not in fields:
        return None
    card = new_node(
        id,
        fields["type"],
        title=title,
        text=None if fields.get("title_only") else content,
        status=fields.get("status"),
        tags=fields.get("tags"),
        meta=meta_json(fields.get("meta")),
    )
    return str(card.state)


def _replace_title(version: Version, old: str, new: str) -> Version:
    """Return a version with the new title if it has the old one."""
    if version.title != old:
        return version
    return version.changed(title=new, state=version.state and version.with_fields(title=new).state)
