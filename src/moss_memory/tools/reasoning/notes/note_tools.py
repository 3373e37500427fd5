"""The tools of `moss notes`: append a note, show a page, export a target, diff two branches, list documents."""

from __future__ import annotations

from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import TRUNCATED, ResponseSchema, list_of, object_of, text
from moss_memory.tools.reasoning.branches.document_refs import (
    NOTES,
    STANDARD_DOCS,
    TRACE,
    BranchRow,
    find_branch,
    find_document,
    find_two_views,
)
from moss_memory.tools.reasoning.branches.visible_ranges import base_chain, graph_view, log_view, subtract_ranges
from moss_memory.tools.reasoning.cursor_pages import CursorPage, fit_page
from moss_memory.tools.reasoning.reasoning_arguments import (
    BRANCH,
    REF,
    Branch,
    Content,
    Cursor,
    Doc,
    DocKind,
    EntryTitle,
    FromBranch,
    Meta,
    NoteFormat,
    PageLimit,
    RequiredWorkspace,
    Target,
    ToBranch,
)
from moss_memory.tools.reasoning.reasoning_responses import DOCUMENT, DOCUMENT_REF, ENTRIES, ENTRY, WORKSPACE
from moss_memory.tools.reasoning.reasoning_sql import sql
from moss_memory.tools.task.model.task_rows import REFERENCE, TARGET, find_reference, task_summary

from .entries import append_entry, check_note, entries_page, last_entries, newest_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction, Transaction

_SLICE = object_of(
    ResponseSchema(
        "Slice",
        {
            **{name: field.or_absent() for name, field in DOCUMENT_REF.items()},
            **ENTRIES,
            "truncated": TRUNCATED.or_absent(),
        },
    ),
    "its last entries, oldest first; a tight budget omits branch and document",
    shown="apart",
)


@operation(
    mutates=True,
    scan_secrets=True,
    aliases=REF,
    answers={"entry": object_of(ENTRY, "the note as it was written", shown="opened")},
    cli=Cli("notes add", sentence="Noted as {seq} in {workspace}, branch {branch}."),
    example="moss notes add --workspace shop 'Tokens are rotated by a cron job, not by the proxy.'",
    words=(
        "write a note, jot down, log, journal, diary, what happened and why, record progress, write down what I "
        "found, take a note, remember an observation, write to the log, add a note, memo, lab book, write in the "
        "journal, note something, log an entry, remember what I learned, add a journal entry, lesson learned, "
        "write down an insight, keep a diary, note for myself"
    ),
)
def branchmind_notes_commit(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    content: Content,
    target: Target | None = None,
    branch: Branch | None = None,
    doc: Doc | None = None,
    title: EntryTitle | None = None,
    format: NoteFormat | None = None,
    meta: Meta | None = None,
) -> dict[str, Any]:
    """Write a note, the usual way: to the notes of a plan, task or branch (default: of the checkout)."""
    note = check_note(content, title=title, format=format, meta=meta)
    document = find_document(tx, workspace, target=target, branch=branch, doc=doc, kind=NOTES, writer=tx)
    document.set_event_subject(tx)
    return {"entry": append_entry(tx, document, note)}


@operation(
    idempotent=True,
    aliases=REF,
    has_budget=True,
    answers={**DOCUMENT_REF, **ENTRIES},
    cli=Cli("notes show", defaults={"doc_kind": "notes"}),
    example="moss notes show --workspace shop --doc-kind notes",
    words=(
        "read notes, read a document, see the entries, look at the diary, notes of a day, entries, read the "
        "journal, read the notes, older notes, page through notes, show the notes of a branch, read the diary, "
        "what is in the notes, last entries of a document"
    ),
)
def branchmind_show(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    branch: Branch | None = None,
    doc: Doc | None = None,
    doc_kind: DocKind = "trace",
    cursor: Cursor | None = None,
    limit: PageLimit = 50,
    budget: Budget,
) -> dict[str, Any]:
    """Page through one document (`doc`, or of `doc_kind`), oldest first; `next_cursor` goes further back."""
    page = CursorPage(cursor, limit)
    document = find_document(tx, workspace, target=target, branch=branch, doc=doc, kind=doc_kind)
    rows = last_entries(tx, document, page)
    return fit_page(budget, page, rows, document.to_dict(), "entries", oldest_first=True)


@operation(
    idempotent=True,
    has_budget=True,
    answers={
        "target": object_of(TARGET, "the plan or task; absent if tasks are disabled", optional=True),
        "reasoning_ref": REFERENCE,
        "notes": _SLICE,
        "trace": _SLICE,
    },
    cli=Cli("notes export"),
    example="moss notes export TASK-001 --workspace shop",
    words=(
        "summary of a task's reasoning, notes and trace of a task at a glance, last notes of a task, read notes "
        "and trace of a plan, reasoning of a task, what was noted on a task"
    ),
)
def branchmind_export(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target,
    notes_limit: PageLimit = 20,
    trace_limit: PageLimit = 50,
    budget: Budget,
) -> dict[str, Any]:
    """Read the last notes and trace entries of one plan or task, without cards; it makes no file."""
    reference = find_reference(tx, workspace, target)
    summary = task_summary(tx, workspace, reference.task)
    documents = {kind: find_document(tx, workspace, target=target, kind=kind) for kind in (NOTES, TRACE)}
    pages = {NOTES: CursorPage(None, notes_limit), TRACE: CursorPage(None, trace_limit)}
    rows = {kind: last_entries(tx, documents[kind], page) for kind, page in pages.items()}
    labelled: list[dict[str, Any]] = [{"part": kind, "row": row} for kind in rows for row in rows[kind]]
    labelled.sort(key=lambda item: -int(item["row"]["seq"]))
    labelled.insert(0, {"part": "target", "row": summary})

    def build(shown: list[Any]) -> dict[str, Any]:
        slices: dict[str, Any] = {}
        for kind, document in documents.items():
            part = [item["row"] for item in shown if item["part"] == kind]
            slices[kind] = entries_page(pages[kind], rows[kind], part)
            if shown:  # otherwise `reasoning_ref` names the documents
                slices[kind] = {**document.to_dict(), **slices[kind], "truncated": part != list(rows[kind])}
        target = shown[0]["row"] if shown else {name: summary[name] for name in ("id", "kind", "title", "status")}
        about = {} if "task" in tx.config.disabled_types else {"target": target}
        return {**about, "reasoning_ref": reference.to_dict(), **slices, "truncated": False}

    return budget.fit(labelled, build, least=0)


@operation(
    idempotent=True,
    has_budget=True,
    answers={
        "from": text("the branch without these entries"),
        "to": text("the branch with these entries"),
        "doc": text("document"),
        **ENTRIES,
    },
    cli=Cli("notes diff"),
    example="moss notes diff main what-if --workspace shop",
    words=(
        "compare branches, difference in notes, what does the other branch say, compare two branches, notes on "
        "one branch only, which notes are missing on main, what is new on the branch, differences between "
        "branches, notes that the other branch lacks"
    ),
)
def branchmind_diff(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    from_: FromBranch,
    to: ToBranch,
    doc: Doc = NOTES,
    cursor: Cursor | None = None,
    limit: PageLimit = 50,
    budget: Budget,
) -> dict[str, Any]:
    """Show the entries that branch `to` shows and branch `from` does not; reverse them for the other direction."""
    page = CursorPage(cursor, limit)
    (_, older), (_, newer) = find_two_views(tx, workspace, {"from": from_, "to": to}, doc, log_view)
    entries = newest_entries(tx, subtract_ranges(newer.ranges, older.ranges), doc, page)
    rows = page.rows([entry.to_dict(doc, newer.names) for entry in entries])
    fields = {"from": from_, "to": to, "doc": doc}
    return fit_page(budget, page, rows, fields, "entries", oldest_first=True)


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={**WORKSPACE, "ref": text("branch"), "docs": list_of(DOCUMENT, "the documents, by name", shown="answer")},
    cli=Cli("notes docs"),
    example="moss notes docs --workspace shop",
    words=(
        "which documents exist, list documents, documents of a branch, which documents are there, how many "
        "entries does a document have, show the documents, names of documents"
    ),
)
def branchmind_docs_list(
    tx: ReadTransaction, *, workspace: RequiredWorkspace, ref: Branch | None = None, budget: Budget
) -> dict[str, Any]:
    """List the documents that a branch shows, with their number of entries and their last seq."""
    branch = find_branch(tx, workspace, ref, what="ref")
    rows = _list_documents(tx, branch)
    return budget.fit(
        rows, lambda docs: {"workspace": workspace, "ref": branch.name, "docs": docs, "truncated": False}, least=0
    )


def _list_documents(tx: ReadTransaction, branch: BranchRow) -> list[dict[str, Any]]:
    """Return each document that the branch shows, with its number of entries and last seq."""
    names = set(STANDARD_DOCS)
    for branch_id, _, upto, _, _ in base_chain(tx, branch.branch_id, "log", NOTES):
        rows = tx.rows(sql["documents_of"], {"branch_id": branch_id})
        names.update(doc for doc, _, first_seq in rows if first_seq <= upto)
    documents = []
    for doc in sorted(names):
        log = [("count_entries", span) for span in log_view(tx, branch.branch_id, doc).ranges]
        graph = [("count_versions", span) for span in graph_view(tx, branch.branch_id, doc).ranges]
        entries, last = 0, None
        for query, (branch_id, after, upto) in (*log, *graph):
            row = tx.row(sql[query], {"branch_id": branch_id, "doc": doc, "after": after, "upto": upto})
            count, newest = row or (0, None)
            entries += count
            last = last if newest is None else max(last or 0, newest)
        documents.append({"doc": doc, "entries": entries, "last_seq": last})
    return documents
