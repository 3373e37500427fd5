"""References to documents: the workspace, branch and document that a call reads or writes."""

from __future__ import annotations

from moss_memory.errors import MossError, closest_match, invalid_request, next_call
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.workspace_names import note_new_workspace
from moss_memory.storage.named_rows import NamedRow
from moss_memory.tools.reasoning.reasoning_arguments import check_name
from moss_memory.tools.reasoning.reasoning_sql import sql
from moss_memory.tools.task.model.task_rows import find_reference

from .visible_ranges import View, graph_view, log_view, reserve_seqs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.storage.engine import ReadTransaction, Transaction

    OpenView = Callable[[ReadTransaction, int, str], View]

MAIN = "main"
NOTES, TRACE, GRAPH = "notes", "trace", "graph"
STANDARD_DOCS = (NOTES, TRACE, GRAPH)
"""The documents that exist on every branch, even before the first write."""


class BranchRow(NamedRow):
    """A row of the table of branches; the id never changes, the name may."""

    __slots__ = ()
    branch_id: int
    name: str
    base_id: int | None
    base_seq: int | None
    depth: int
    canonical: int


class DocumentRef:
    """A reference to one document of one branch."""

    __slots__ = ("branch", "doc", "own_docs", "workspace")

    def __init__(self, workspace: str, branch: BranchRow, doc: str, own_docs: tuple[str, ...] = ()) -> None:
        self.workspace = workspace
        self.branch = branch
        self.doc = doc
        self.own_docs = own_docs
        """Documents of the target, which exist before the first write."""

    def log(self, tx: ReadTransaction) -> View:
        """Return the view of the document's entries; raise `NOT_FOUND` if nothing was ever written to the document."""
        return self._require(tx, log_view(tx, self.branch.branch_id, self.doc), open_other=graph_view)

    def graph(self, tx: ReadTransaction) -> View:
        """Return the view of the document's graph; raise `NOT_FOUND` if nothing was ever written to the document."""
        return self._require(tx, graph_view(tx, self.branch.branch_id, self.doc), open_other=log_view)

    def _require(self, tx: ReadTransaction, view: View, *, open_other: OpenView) -> View:
        """Return the view; raise `NOT_FOUND` if the document has neither entries nor a graph."""
        if view.written or self.always_exists() or open_other(tx, self.branch.branch_id, self.doc).written:
            return view
        raise unknown_doc(self.workspace, self.branch.name, self.doc)

    def always_exists(self) -> bool:
        """Return True if the document reads as empty before the first write."""
        if self.doc in STANDARD_DOCS or self.doc in self.own_docs:
            return True
        target = self.branch.name.partition("/")[2]
        return bool(self.branch.canonical) and self.doc in (f"{target}-trace", f"{target}-graph")

    def to_dict(self) -> dict[str, str]:
        return {"branch": self.branch.name, "doc": self.doc}

    def set_event_subject(self, tx: Transaction) -> None:
        """Set the document as the subject of the event of this call."""
        tx.set_event_subject(workspace=normalize_workspace(self.workspace), address=f"{self.branch.name}:{self.doc}")


def find_branch(tx: ReadTransaction, workspace: str, name: str | None, *, what: str = "branch") -> BranchRow:
    """Return the branch with this name, or the checkout if the name is None; raise `NOT_FOUND` if there is none."""
    branch = checkout_of(tx, workspace) if name is None else branch_named(tx, workspace, check_name(name, what=what))
    if branch is None:
        raise _unknown_branch(tx, workspace, name)
    return branch


def checkout_of(tx: ReadTransaction, workspace: str) -> BranchRow | None:
    row = tx.row(sql["checkout"], {"workspace": normalize_workspace(workspace)})
    return None if row is None else BranchRow(row)


def branch_named(tx: ReadTransaction, workspace: str, name: str) -> BranchRow | None:
    row = tx.row(sql["branch"], {"workspace": normalize_workspace(workspace), "name": name})
    return None if row is None else BranchRow(row)


def branch_by_id(tx: ReadTransaction, branch_id: int) -> BranchRow:
    """Return the branch with this id, which must exist because another row refers to it."""
    row = tx.row(sql["branch_by_id"], {"branch_id": branch_id})
    assert row is not None, "the referenced row exists"
    return BranchRow(row)


def related_branches(tx: ReadTransaction, branch_id: int) -> list[int]:
    """Return the ids of the first base of a branch and of all branches derived from that base."""
    branch_ids = derived_branches(tx, root_branch(tx, branch_id))
    if branch_id not in branch_ids:  # the value of `base_id` is no number
        raise MossError(
            "STORAGE_CORRUPT",
            f"the bases of branch {branch_id} do not lead to it; run `moss doctor`",
            details={"table": "branches", "row": branch_id},
        )
    return branch_ids


def root_branch(tx: ReadTransaction, branch_id: int) -> int:
    """Return the id of the first base of a branch, or of the branch itself if it has no base."""
    base = tx.value(sql["base_of"], {"branch_id": branch_id})
    return branch_id if base is None else root_branch(tx, base)


def derived_branches(tx: ReadTransaction, branch_id: int) -> list[int]:
    """Return the ids of a branch and of all branches derived from it."""
    return [derived for (derived,) in tx.rows(sql["family_of_branch"], {"branch_id": branch_id})]


def branch_for_writing(tx: Transaction, workspace: str, name: str | None, *, what: str = "branch") -> BranchRow:
    """Return the branch with this name, or the checkout; create `main` first if the workspace has no branch."""
    bootstrap(tx, workspace)
    return find_branch(tx, workspace, name, what=what)


def bootstrap(tx: Transaction, workspace: str) -> None:
    """Create `main` if the workspace has no branch, and check it out if nothing is checked out."""
    norm = normalize_workspace(workspace)
    checkout_id, _ = tx.row(sql["workspace"], {"workspace": norm}) or (None, False)
    if checkout_id is not None:
        return
    note_new_workspace(tx, norm)
    tx.run(sql["add_workspace"], {"workspace": norm, "raw": workspace})
    if tx.row(sql["any_branch"], {"workspace": norm}) is None:
        add_branch(tx, workspace, MAIN)
    main = branch_named(tx, workspace, MAIN)
    if main is not None:
        tx.run(sql["set_checkout"], {"workspace": norm, "branch_id": main.branch_id})


def add_branch(
    tx: Transaction,
    workspace: str,
    name: str,
    *,
    base: BranchRow | None = None,
    base_seq: int | None = None,
    canonical: bool = False,
) -> int:
    branch_id = reserve_seqs(tx, series="branch")
    row = {
        "branch_id": branch_id,
        "workspace": normalize_workspace(workspace),
        "name": name,
        "base_id": base and base.branch_id,
        "base_seq": base_seq,
        "depth": 0 if base is None else base.depth + 1,
        "canonical": int(canonical),
    }
    tx.run(sql["add_branch"], row)
    return branch_id


def find_document(
    tx: ReadTransaction,
    workspace: str,
    *,
    kind: str,
    target: str | None = None,
    branch: str | None = None,
    doc: str | None = None,
    writer: Transaction | None = None,
) -> DocumentRef:
    """Resolve the target, or the branch and document, that a call names.

    `kind` selects the default document. Pass the transaction as `writer` if the call writes, so that the first write
    creates the workspace. Raise `NOT_FOUND` if the target or branch does not exist.
    """
    if target is not None:
        if branch is not None or doc is not None:
            argument = "branch" if branch is not None else "doc"
            raise invalid_request(f"`target` already says where; leave `{argument}` out", path=argument)
        reference = find_reference(tx, workspace, target)
        docs = {NOTES: reference.notes_doc, TRACE: reference.trace_doc, GRAPH: reference.graph_doc}
        return DocumentRef(workspace, find_branch(tx, workspace, reference.branch), docs[kind], tuple(docs.values()))
    name = check_name(doc, what="doc") if doc is not None else kind
    branch_row = find_branch(tx, workspace, branch) if writer is None else branch_for_writing(writer, workspace, branch)
    return DocumentRef(workspace, branch_row, name)


def find_two_views(
    tx: ReadTransaction, workspace: str, branches: dict[str, str], doc: str, open_view: OpenView
) -> list[tuple[BranchRow, View]]:
    """Return two branches, named by argument, with their views of a document; `NOT_FOUND` if neither has it."""
    check_name(doc, what="doc")
    rows = [find_branch(tx, workspace, name, what=argument) for argument, name in branches.items()]
    views = [(row, open_view(tx, row.branch_id, doc)) for row in rows]
    if not any(view.written for _, view in views):
        first, second = [DocumentRef(workspace, row, doc) for row in rows]
        try:
            first.log(tx)
        except MossError:
            second.log(tx)
    return views


def touch_document(
    tx: Transaction, branch_id: int, doc: str, first: int, last: int | None, *, shape: str = "log"
) -> None:
    """Record that a branch wrote to a document."""
    row = {"branch_id": branch_id, "shape": shape, "doc": doc, "first": first, "last": last}
    tx.run(sql["touch_document"], row)


def unknown_doc(workspace: str, branch: str, doc: str) -> MossError:
    return MossError(
        "NOT_FOUND",
        f"branch {branch!r} has no document {doc!r}; it appears at its first write",
        recovery=next_call(
            "branchmind_docs_list", {"workspace": workspace, "ref": branch}, "lists the documents there are"
        ),
    )


def _unknown_branch(tx: ReadTransaction, workspace: str, name: str | None) -> MossError:
    names = [branch for (branch,) in tx.rows(sql["branch_names"], {"workspace": normalize_workspace(workspace)})]
    if not names:
        return MossError(
            "NOT_FOUND",
            f"workspace {workspace!r} has no branches yet",
            recovery=next_call("branchmind_init", {"workspace": workspace}, "makes its branch `main`"),
        )
    like = closest_match(name, names, cutoff=0.6) if name else None
    hint = f"; did you mean {like!r}?" if like else ""
    problem = f"there is no branch {name[:100]!r}{hint}" if name else "nothing is checked out"
    return MossError(
        "NOT_FOUND",
        problem,
        recovery=next_call("branchmind_branch_list", {"workspace": workspace}, "lists the branches there are"),
    )
