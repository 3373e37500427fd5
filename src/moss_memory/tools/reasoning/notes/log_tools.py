"""Tools for the history of notes: commit, log, documents."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import integer, list_of, text, texts
from moss_memory.tools.reasoning.branches.document_refs import (
    NOTES,
    STANDARD_DOCS,
    BranchRow,
    find_branch,
    find_document,
)
from moss_memory.tools.reasoning.branches.visible_ranges import (
    chain,
    graph_view,
    log_view,
)
from moss_memory.tools.reasoning.reasoning_arguments import (
    BRANCH,
    Branch,
    Cursor,
    CursorPage,
    Doc,
    Meta,
    OneOrMore,
    PageLimit,
    RequiredWorkspace,
    as_list,
    check_name,
    check_title,
)
from moss_memory.tools.reasoning.reasoning_responses import (
    COMMIT,
    DOCUMENT,
    NEW_COMMIT,
    PAGINATION,
    WORKSPACE,
)
from moss_memory.tools.reasoning.reasoning_sql import sql

from .note_tools import Rows, append, check_note, next_cursor, tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Any

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction, Transaction
else:
    from moss_memory.registry.argument_types import Annotated

Artifact = Annotated[str, "content of the note"]
Message = Annotated[str, "what this commit says, in a line"]

_LINE_CHARS = 200


@operation(
    mutates=True,
    scan_secrets=True,
    answers={
        **WORKSPACE,
        "branch": text("the checkout"),
        "docs": texts("documents"),
        "commits": list_of(NEW_COMMIT, "one for each document", shown="answer"),
    },
    example="moss history commit --workspace shop --message 'Rotation moved' 'The cron job is gone.'",
    words=(
        "commit with a message, note into several documents, git-like commit, make a commit, commit a text, "
        "commit a document, save a text as a commit, commit message"
    ),
)
def branchmind_commit(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    artifact: Artifact,
    message: Message,
    docs: OneOrMore = NOTES,
    meta: Meta | None = None,
) -> dict[str, Any]:
    """Write a plain text (`artifact`) with a message as a commit, to be tagged or reset to, in one or more `docs`."""
    if not message.strip():
        raise invalid_request("`message` is blank; say in a line what this commit is", path="message")
    check_title(message, what="message")
    note = check_note(artifact, title=message, meta=meta, what="artifact")
    names = [check_name(doc, what="docs") for doc in as_list(docs)]
    if not names:
        raise invalid_request("`docs` is empty; name at least one document or leave it out", path="docs")
    documents = [
        find_document(tx, workspace, target=None, branch=None, doc=doc, kind=NOTES, writer=tx) for doc in names
    ]
    entries = [append(tx, document, note) for document in documents]
    documents[0].set_event_subject(tx)
    copied_fields = ("seq", "ts", "ts_ms", "branch", "doc")
    commits = [{**{key: entry[key] for key in copied_fields}, "message": message} for entry in entries]
    return {"workspace": workspace, "branch": documents[0].branch.name, "docs": names, "commits": commits}


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={
        **WORKSPACE,
        "ref": text("branch"),
        "doc": text("document"),
        "head_seq": integer("number of the last note", nullable=True),
        "commits": list_of(COMMIT, "the notes, newest first", shown="answer"),
        **PAGINATION,
    },
    example="moss history log --workspace shop",
    words=(
        "commit log, history of notes, git log, earlier commits, show the commits, list commits, history of "
        "commits, last commits, what was committed, log of a branch"
    ),
)
def branchmind_log(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    ref: Branch | None = None,
    doc: Doc = NOTES,
    cursor: Cursor | None = None,
    limit: PageLimit = 20,
    budget: Budget,
) -> dict[str, Any]:
    """List notes as commits with message and seq, newest first."""
    page = CursorPage(cursor, limit)
    document = find_document(tx, workspace, target=None, branch=ref, doc=doc, kind=NOTES)
    notes = tail(tx, document, page, query="notes_before")
    rows = Rows([_render_commit(note) for note in notes], more=notes.more)
    head = document.log(tx).head(tx, document.doc)

    def build(kept: list[Any]) -> dict[str, Any]:
        return {
            "workspace": workspace,
            "ref": document.branch.name,
            "doc": document.doc,
            "head_seq": head,
            "commits": kept,
            "pagination": page.answer(len(kept), next_cursor(rows, kept)),
            "truncated": False,
        }

    return budget.fit(rows, build)


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={**WORKSPACE, "ref": text("branch"), "docs": list_of(DOCUMENT, "the documents, by name", shown="answer")},
    example="moss notes docs --workspace shop",
    words=(
        "which documents exist, list documents, documents of a branch, which documents are there, how many "
        "entries does a document have, show the documents, names of documents"
    ),
)
def branchmind_docs_list(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    ref: Branch | None = None,
    budget: Budget,
) -> dict[str, Any]:
    """List the documents that a branch shows, with their number of entries and their last seq."""
    branch = find_branch(tx, workspace, ref, what="ref")
    rows = _list_documents(tx, branch)
    return budget.fit(
        rows,
        lambda kept: {"workspace": workspace, "ref": branch.name, "docs": kept, "truncated": False},
        least=0,
    )


def _render_commit(note: dict[str, Any]) -> dict[str, Any]:
    meta = {"meta": note["meta"]} if "meta" in note else {}
    times = {key: note[key] for key in ("seq", "ts", "ts_ms")}
    return {**times, "message": note.get("title") or first_line(note["content"]), "content": note["content"], **meta}


def first_line(content: str) -> str:
    """Return the first line of a text, shortened."""
    line = content.strip().partition("\n")[0].strip()
    return line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 1] + "…"


def _list_documents(tx: ReadTransaction, branch: BranchRow) -> list[dict[str, Any]]:
    """Return each document that the branch shows, with its number of entries and last seq."""
    names = set(STANDARD_DOCS)
    for branch_id, _, upto, _, _ in chain(tx, branch.branch_id, "log", NOTES):
        rows = tx.rows(sql["documents_of"], {"branch_id": branch_id})
        names.update(doc for doc, _, first_seq in rows if first_seq <= upto)
    documents = []
    for doc in sorted(names):
        log = [("count_entries", one) for one in log_view(tx, branch.branch_id, doc).ranges]
        graph = [("count_versions", one) for one in graph_view(tx, branch.branch_id, doc).ranges]
        entries, last = 0, None
        for query, (branch_id, after, upto) in (*log, *graph):
            found = tx.row(sql[query], {"branch_id": branch_id, "doc": doc, "after": after, "upto": upto})
            count, newest = found or (0, None)
            entries += count
            last = last if newest is None else max(last or 0, newest)
        documents.append({"doc": doc, "entries": entries, "last_seq": last})
    return documents
