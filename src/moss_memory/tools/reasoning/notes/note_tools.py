"""Tools for documents of entries: append a note, show a page, diff two branches, export a target."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import TRUNCATED, ResponseSchema, object_of, text
from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.reasoning.branches.document_refs import (
    NOTES,
    TRACE,
    BranchRow,
    DocumentRef,
    find_branch,
    find_document,
)
from moss_memory.tools.reasoning.branches.visible_ranges import (
    Entry,
    View,
    log_view,
    newest_in,
    reserve_numbers,
    subtract_ranges,
)
from moss_memory.tools.reasoning.reasoning_arguments import (
    REF,
    Branch,
    Content,
    Cursor,
    CursorPage,
    Doc,
    DocKind,
    EntryTitle,
    Format,
    FromBranch,
    Meta,
    PageLimit,
    RequiredWorkspace,
    Target,
    ToBranch,
    check_label,
    check_name,
    check_title,
    meta_json,
)
from moss_memory.tools.reasoning.reasoning_responses import DOCUMENT_REF, ENTRIES, ENTRY
from moss_memory.tools.reasoning.reasoning_sql import sql
from moss_memory.tools.task.model.reasoning_refs import find_reference
from moss_memory.tools.task.model.task_fields import REFERENCE, TARGET
from moss_memory.tools.task.model.task_rows import summary_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction, Transaction
    from moss_memory.tools.reasoning.branches.document_refs import OpenView

_SLICE = object_of(
    ResponseSchema(
        "Slice",
        {
            **{name: field.or_absent() for name, field in DOCUMENT_REF.items()},
            **ENTRIES,
            "truncated": TRUNCATED.or_absent(),
        },
    ),
    "its last entries, oldest first; a tight budget leaves out where they are",
    shown="apart",
)


@operation(
    mutates=True,
    scan_secrets=True,
    aliases=REF,
    answers={"entry": object_of(ENTRY, "the note as it was written", shown="opened")},
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
    format: Format | None = None,
    meta: Meta | None = None,
) -> dict[str, Any]:
    """Write a note, the usual way: to the notes of a plan, task or branch (default: of the checkout)."""
    note = check_note(content, title=title, format=format, meta=meta)
    document = find_document(tx, workspace, target=target, branch=branch, doc=doc, kind=NOTES, writer=tx)
    document.set_event_subject(tx)
    return {"entry": append(tx, document, note)}


@operation(
    idempotent=True,
    aliases=REF,
    has_budget=True,
    answers={**DOCUMENT_REF, **ENTRIES},
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
    rows = tail(tx, document, page)
    return budget.fit(rows, lambda kept: _page_response(document, page, rows, kept))


@operation(
    idempotent=True,
    has_budget=True,
    answers={
        "target": object_of(TARGET, "the plan or task; left out where tasks are switched off", optional=True),
        "reasoning_ref": REFERENCE,
        "notes": _SLICE,
        "trace": _SLICE,
    },
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
    summary = summary_of(tx, workspace, reference.task)
    notes = find_document(tx, workspace, target=target, branch=None, doc=None, kind=NOTES)
    trace = find_document(tx, workspace, target=target, branch=None, doc=None, kind=TRACE)
    pages = {NOTES: CursorPage(None, notes_limit), TRACE: CursorPage(None, trace_limit)}
    rows = {NOTES: tail(tx, notes, pages[NOTES]), TRACE: tail(tx, trace, pages[TRACE])}
    labelled: list[dict[str, Any]] = [{"part": kind, "row": row} for kind in (NOTES, TRACE) for row in rows[kind]]
    labelled.sort(key=lambda one: -int(one["row"]["seq"]))
    labelled.insert(0, {"part": "target", "row": summary})

    def build(kept: list[Any]) -> dict[str, Any]:
        parts = {kind: [one["row"] for one in kept if one["part"] == kind] for kind in rows}
        slices = {
            "notes": _page_response(notes, pages[NOTES], rows[NOTES], parts[NOTES]),
            "trace": _page_response(trace, pages[TRACE], rows[TRACE], parts[TRACE]),
        }
        target = kept[0]["row"] if kept else {name: summary[name] for name in ("id", "kind", "title", "status")}
        if not kept:  # `reasoning_ref` already names the documents
            slices = {name: {key: part[key] for key in ("entries", "pagination")} for name, part in slices.items()}
        about = {} if "task" in tx.config.disabled_types else {"target": target}
        return {**about, "reasoning_ref": reference.to_dict(), **slices, "truncated": False}

    return budget.fit(labelled, build, least=0)


@operation(
    idempotent=True,
    has_budget=True,
    answers={
        "from": text("branch that lacks them"),
        "to": text("branch that shows them"),
        "doc": text("document"),
        **ENTRIES,
    },
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
    older, newer = both_sides(tx, workspace, from_, to, doc, log_view, names=("from", "to"))
    only_there = subtract_ranges(newer.view.ranges, older.view.ranges)
    found = newest_in(tx, only_there, doc, before=page.before(), limit=page.limit + 1, query="entries_before")
    shown = [entry.to_dict(doc, newer.view.names) for entry in found[: page.limit]]
    rows = Rows(shown, more=len(found) > page.limit)

    def build(kept: list[Any]) -> dict[str, Any]:
        answer = {"from": from_, "to": to, "doc": doc}
        return {**answer, **page_fields(page, rows, kept), "truncated": False}

    return budget.fit(rows, build)


class BranchSide:
    """One branch of a comparison or a merge, with its view of the document."""

    __slots__ = ("branch", "view")

    def __init__(self, branch: BranchRow, view: View) -> None:
        self.branch = branch
        self.view = view


def both_sides(
    tx: ReadTransaction,
    workspace: str,
    first: str,
    second: str,
    doc: str,
    open_view: OpenView,
    *,
    names: tuple[str, str],
) -> tuple[BranchSide, BranchSide]:
    """Return two branches with their views of a document; raise `NOT_FOUND` if neither has it."""
    check_name(doc, what="doc")
    branches = [find_branch(tx, workspace, name, what=what) for name, what in zip((first, second), names, strict=True)]
    sides = [BranchSide(branch, open_view(tx, branch.branch_id, doc)) for branch in branches]
    if not any(side.view.written for side in sides):
        _refuse_missing_document(tx, workspace, branches, doc)
    return sides[0], sides[1]


def _refuse_missing_document(tx: ReadTransaction, workspace: str, branches: list[BranchRow], doc: str) -> None:
    """Refuse a document that none of the branches has."""
    for branch in branches[:-1]:
        try:
            DocumentRef(workspace, branch, doc).log(tx)
            return
        except MossError:
            continue
    DocumentRef(workspace, branches[-1], doc).log(tx)


class Note:
    """A validated note."""

    __slots__ = ("content", "format", "meta", "meta_text", "title")

    def __init__(self, content: str, title: str | None, format: str | None, meta: dict[str, Any] | None) -> None:
        self.content = content
        self.title = title
        self.format = format
        self.meta = meta or None
        self.meta_text = meta_json(meta)


def check_note(
    content: str,
    *,
    title: str | None = None,
    format: str | None = None,
    meta: dict[str, Any] | None = None,
    what: str = "content",
) -> Note:
    """Return a note within its limits; refuse an empty one."""
    if not content.strip():
        raise invalid_request(f"`{what}` is empty; write what is worth remembering", path=what)
    check_title(title, what="title")
    return Note(content, title, check_label(format, what="format"), meta)


def append(
    tx: Transaction,
    document: DocumentRef,
    note: Note,
    *,
    written_as: str = "note",
    source_event_id: str | None = None,
    card_id: str | None = None,
) -> dict[str, Any]:
    """Write one entry and return it as fields of a response."""
    seq = reserve_numbers(tx)
    row = {
        "seq": seq,
        "branch_id": document.branch.branch_id,
        "workspace": normalize_workspace(document.workspace),
        "doc": document.doc,
        "written_as": written_as,
        "title": note.title,
        "format": note.format,
        "meta_json": note.meta_text,
        "content": note.content,
        "source_event_id": source_event_id,
        "card_id": card_id,
        "ts_ms": tx.now_ms,
        "origin": tx.origin,
    }
    tx.run(sql["add_entry"], row)
    touch(tx, document.branch.branch_id, document.doc, seq, seq)
    written = Entry([(row | {"by": tx.actor})[column] for column in Entry.columns])
    return written.to_dict(document.doc, {document.branch.branch_id: document.branch.name})


def touch(tx: Transaction, branch_id: int, doc: str, first: int, last: int, *, shape: str = "log") -> None:
    """Record that a branch wrote to a document."""
    row = {"branch_id": branch_id, "shape": shape, "doc": doc, "first": first, "last": last}
    tx.run(sql["touch_document"], row)


class Rows(list["dict[str, Any]"]):
    """The entries of one page, newest first, with a flag for older ones."""

    __slots__ = ("more",)

    def __init__(self, rows: list[dict[str, Any]], *, more: bool) -> None:
        super().__init__(rows)
        self.more = more


def tail(tx: ReadTransaction, document: DocumentRef, page: CursorPage, *, query: str = "entries_before") -> Rows:
    """Return the last entries of a document below the page's cursor, newest first."""
    view = document.log(tx)
    found = view.newest(tx, document.doc, before=page.before(), limit=page.limit + 1, query=query)
    shown = [entry.to_dict(document.doc, view.names) for entry in found[: page.limit]]
    return Rows(shown, more=len(found) > page.limit)


def page_fields(page: CursorPage, rows: Rows, kept: list[Any], *, key: str = "entries") -> dict[str, Any]:
    """Return the kept rows, oldest first, with the pagination."""
    return {key: kept[::-1], "pagination": page.answer(len(kept), next_cursor(rows, kept))}


def next_cursor(rows: Rows, kept: list[Any], *, key: str = "seq") -> int | None:
    """Return the cursor of the page after the kept rows, or None."""
    if not rows.more and len(kept) == len(rows):
        return None
    return int(kept[-1][key]) if kept else int(rows[0][key]) + 1


def _page_response(document: DocumentRef, page: CursorPage, rows: Rows, kept: list[Any]) -> dict[str, Any]:
    return {**document.to_dict(), **page_fields(page, rows, kept), "truncated": kept != list(rows)}
