"""Where a call reads or writes: its workspace, its branch (named, checked out, or a target's) and its document."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request, nearest, next_call
from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.named_rows import NamedRow
from moss_memory.tools.reasoning.reasoning_arguments import checked_name
from moss_memory.tools.reasoning.reasoning_sql import sql
from moss_memory.tools.task.model.reasoning_refs import reference_of

from .visible_ranges import View, graph_view, log_view, take_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.storage.engine import ReadTransaction, Transaction

    Look = Callable[[ReadTransaction, int, str], View]

MAIN = "main"
NOTES, TRACE, GRAPH = "notes", "trace", "graph"
STANDARD_DOCS = (NOTES, TRACE, GRAPH)
"""The documents that every branch has, written or not."""


class BranchRow(NamedRow):
    """A branch: its id never changes, its name may."""

    __slots__ = ()
    branch_id: int
    name: str
    base_id: int | None
    base_seq: int | None
    depth: int
    canonical: int


class DocumentRef:
    """A branch and one of its documents."""

    __slots__ = ("branch", "doc", "own_docs", "workspace")

    def __init__(self, workspace: str, branch: BranchRow, doc: str, own_docs: tuple[str, ...] = ()) -> None:
        self.workspace = workspace
        self.branch = branch
        self.doc = doc
        self.own_docs = own_docs
        """Documents of a target, which exist before anything is written to them."""

    def log(self, tx: ReadTransaction) -> View:
        """The document's entries as the branch shows them; a document that was never written is `NOT_FOUND`."""
        return self._existing(tx, log_view(tx, self.branch.branch_id, self.doc), other=graph_view)

    def graph(self, tx: ReadTransaction) -> View:
        """The document's graph as the branch shows it; a document that was never written is `NOT_FOUND`."""
        return self._existing(tx, graph_view(tx, self.branch.branch_id, self.doc), other=log_view)

    def _existing(self, tx: ReadTransaction, view: View, *, other: Look) -> View:
        """The view, unless nothing was ever written to the document, neither entries nor a graph."""
        if view.written or self.always_exists() or other(tx, self.branch.branch_id, self.doc).written:
            return view
        raise unknown_doc(self.workspace, self.branch.name, self.doc)

    def always_exists(self) -> bool:
        """Whether the document reads as empty before anything is written to it."""
        return self.doc in STANDARD_DOCS or self.doc in self.own_docs or self.doc in _canonical_docs(self.branch)

    def shown(self) -> dict[str, str]:
        """The place as answers name it."""
        return {"branch": self.branch.name, "doc": self.doc}

    def concern(self, tx: Transaction) -> None:
        """Names the place in the event of a call that writes to it."""
        tx.set_event_subject(workspace=normalize_workspace(self.workspace), address=f"{self.branch.name}:{self.doc}")


def _canonical_docs(branch: BranchRow) -> tuple[str, ...]:
    if not branch.canonical:
        return ()
    target = branch.name.partition("/")[2]
    return f"{target}-trace", f"{target}-graph"


def find_branch(tx: ReadTransaction, workspace: str, name: str | None, *, what: str = "branch") -> BranchRow:
    """The branch of a name, or the checkout when none is given; unknown: `NOT_FOUND` with the call that helps."""
    found = checkout_of(tx, workspace) if name is None else branch_named(tx, workspace, checked_name(name, what=what))
    if found is None:
        raise _no_such_branch(tx, workspace, name)
    return found


def checkout_of(tx: ReadTransaction, workspace: str) -> BranchRow | None:
    """The branch that calls without a branch use, if there is one."""
    row = tx.row(sql["checkout"], {"workspace": normalize_workspace(workspace)})
    return None if row is None else BranchRow(row)


def branch_named(tx: ReadTransaction, workspace: str, name: str) -> BranchRow | None:
    """The branch of a name, if there is one."""
    row = tx.row(sql["branch"], {"workspace": normalize_workspace(workspace), "name": name})
    return None if row is None else BranchRow(row)


def branch_by_id(tx: ReadTransaction, branch_id: int) -> BranchRow:
    """The branch that something else refers to by its id; those are deleted together."""
    row = tx.row(sql["branch_by_id"], {"branch_id": branch_id})
    assert row is not None, "what is referred to is there"
    return BranchRow(row)


def family_of(tx: ReadTransaction, branch_id: int) -> list[int]:
    """Return the first base of a branch and every branch that was derived from it, however far."""
    base = tx.value(sql["base_of"], {"branch_id": branch_id})
    if base is not None:
        return family_of(tx, base)
    return [member for (member,) in tx.rows(sql["family_of_branch"], {"branch_id": branch_id})]


def branch_for_writing(tx: Transaction, workspace: str, name: str | None, *, what: str = "branch") -> BranchRow:
    """The same for a write: the first one in a workspace without branches makes `main` and checks it out."""
    bootstrap(tx, workspace)
    return find_branch(tx, workspace, name, what=what)


def bootstrap(tx: Transaction, workspace: str) -> None:
    """Makes `main` where there is no branch, and checks it out where nothing is."""
    checkout_id, _ = tx.row(sql["workspace"], {"workspace": normalize_workspace(workspace)}) or (None, False)
    if checkout_id is not None:
        return
    tx.run(sql["add_workspace"], {"workspace": normalize_workspace(workspace), "raw": workspace})
    if tx.row(sql["any_branch"], {"workspace": normalize_workspace(workspace)}) is None:
        add_branch(tx, workspace, MAIN)
    main = branch_named(tx, workspace, MAIN)
    if main is not None:
        tx.run(sql["set_checkout"], {"workspace": normalize_workspace(workspace), "branch_id": main.branch_id})


def add_branch(tx: Transaction, workspace: str, name: str, *, canonical: bool = False) -> int:
    """A new branch without a base; gives its id."""
    branch_id = take_numbers(tx, series="branch")
    row = {
        "branch_id": branch_id,
        "workspace": normalize_workspace(workspace),
        "name": name,
        "base_id": None,
        "base_seq": None,
        "depth": 0,
        "canonical": int(canonical),
    }
    tx.run(sql["add_branch"], row)
    return branch_id


def place_of(
    tx: ReadTransaction,
    workspace: str,
    *,
    target: str | None,
    branch: str | None,
    doc: str | None,
    kind: str,
    writer: Transaction | None = None,
) -> DocumentRef:
    """The place that a call names by a target, by branch and document, or not at all.

    `kind` says which document is meant by default. Unknown things are `NOT_FOUND`; `writer` is the same
    transaction where the call writes, so that the first write can make the workspace.
    """
    if target is not None:
        if branch is not None or doc is not None:
            given = "branch" if branch is not None else "doc"
            raise invalid_request(f"`target` already says where; leave `{given}` out", path=given)
        reference = reference_of(tx, workspace, target)
        docs = {NOTES: reference.notes_doc, TRACE: reference.trace_doc, GRAPH: reference.graph_doc}
        return DocumentRef(workspace, find_branch(tx, workspace, reference.branch), docs[kind], tuple(docs.values()))
    named = checked_name(doc, what="doc") if doc is not None else kind
    found = find_branch(tx, workspace, branch) if writer is None else branch_for_writing(writer, workspace, branch)
    return DocumentRef(workspace, found, named)


def unknown_doc(workspace: str, branch: str, doc: str) -> MossError:
    """The refusal of a document that nothing was written to."""
    return MossError(
        "NOT_FOUND",
        f"branch {branch!r} has no document {doc!r}; it appears at its first write",
        recovery=next_call(
            "branchmind_docs_list", {"workspace": workspace, "ref": branch}, "lists the documents there are"
        ),
    )


def _no_such_branch(tx: ReadTransaction, workspace: str, name: str | None) -> MossError:
    names = [known for (known,) in tx.rows(sql["branch_names"], {"workspace": normalize_workspace(workspace)})]
    if not names:
        return MossError(
            "NOT_FOUND",
            f"workspace {workspace!r} has no branches yet",
            recovery=next_call("branchmind_init", {"workspace": workspace}, "makes its branch `main`"),
        )
    like = nearest(name, names, cutoff=0.6) if name else None
    hint = f"; did you mean {like!r}?" if like else ""
    problem = f"there is no branch {name[:100]!r}{hint}" if name else "nothing is checked out"
    return MossError(
        "NOT_FOUND",
        problem,
        recovery=next_call("branchmind_branch_list", {"workspace": workspace}, "lists the branches there are"),
    )
