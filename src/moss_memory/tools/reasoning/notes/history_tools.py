"""The tools of `moss history`: commit, log, tags, reflog, reset."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import flag, integer, list_of, object_of, text, texts
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.times import format_time
from moss_memory.storage.named_rows import NamedRow
from moss_memory.tools.reasoning.branches.document_refs import NOTES, BranchRow, find_branch, find_document
from moss_memory.tools.reasoning.branches.visibility import update_visibility
from moss_memory.tools.reasoning.branches.visible_ranges import HEAD, log_view, reserve_seqs, truncate_ranges
from moss_memory.tools.reasoning.cursor_pages import CursorPage, Rows, fit_page
from moss_memory.tools.reasoning.reasoning_arguments import (
    BRANCH,
    Branch,
    Cursor,
    Doc,
    Meta,
    OneOrMore,
    PageLimit,
    Point,
    RequiredWorkspace,
    TagName,
    as_list,
    check_length,
    check_name,
)
from moss_memory.tools.reasoning.reasoning_responses import COMMIT, MOVE, NEW_COMMIT, PAGINATION, TAG, WORKSPACE
from moss_memory.tools.reasoning.reasoning_sql import sql

from .entries import append_entry, check_note, first_line, last_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction, Transaction

Artifact = Annotated[str, "content of the note"]
Message = Annotated[str, "the message of the commit, in a line"]
Force = Annotated[bool, "move a tag that exists"]


@operation(
    mutates=True,
    scan_secrets=True,
    answers={
        **WORKSPACE,
        "branch": text("the checkout"),
        "docs": texts("documents"),
        "commits": list_of(NEW_COMMIT, "one for each document", shown="answer"),
    },
    cli=Cli("history commit"),
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
    check_length(message, what="message")
    note = check_note(artifact, title=message, meta=meta, what="artifact")
    names = [check_name(doc, what="docs") for doc in as_list(docs)]
    if not names:
        raise invalid_request("`docs` is empty; name at least one document or leave it out", path="docs")
    documents = [find_document(tx, workspace, doc=doc, kind=NOTES, writer=tx) for doc in names]
    entries = [append_entry(tx, document, note) for document in documents]
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
    cli=Cli("history log"),
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
    document = find_document(tx, workspace, branch=ref, doc=doc, kind=NOTES)
    notes = last_entries(tx, document, page, query="notes_before")
    commits = []
    for note in notes:
        times = {key: note[key] for key in ("seq", "ts", "ts_ms")}
        meta = {"meta": note["meta"]} if "meta" in note else {}
        message = note.get("title") or first_line(note["content"])
        commits.append({**times, "message": message, "content": note["content"], **meta})
    head = document.log(tx).head(tx)
    fields = {"workspace": workspace, "ref": document.branch.name, "doc": document.doc, "head_seq": head}
    return fit_page(budget, page, Rows(commits, more=notes.more), fields, "commits")


@operation(
    mutates=True,
    scan_secrets=True,
    answers={**WORKSPACE, "tag": object_of(TAG, "the tag", shown="opened")},
    cli=Cli("history tag-create"),
    example="moss history tag-create before-rewrite --workspace shop",
    words=(
        "tag, bookmark, label a commit, mark a point to return to, create a tag, set a bookmark, tag a commit, "
        "name a commit, remember this point, mark a milestone, add a tag to a commit"
    ),
)
def branchmind_tag_create(
    tx: Transaction, *, workspace: RequiredWorkspace, name: TagName, from_: Point | None = None, force: Force = False
) -> dict[str, Any]:
    """Name a commit, so that reset and other tags can mean it: `from` is its seq or a tag, default the head."""
    check_name(name, what="name")
    checkout = find_branch(tx, workspace, None)
    if _find_tag(tx, workspace, name) is not None and not force:
        raise MossError(
            "CONFLICT",
            f"there is already a tag {name!r}; choose another name, or move it with `force: true`",
            recovery=next_call("branchmind_tag_list", {"workspace": workspace}, "lists the tags there are"),
        )
    if from_ is not None:
        branch_id, doc, seq = _resolve_point(tx, workspace, from_, what="from")
    else:
        branch_id, doc = checkout.branch_id, NOTES
        head = log_view(tx, branch_id, NOTES).head(tx)
        if head is None:
            raise MossError(
                "NOT_FOUND",
                f"branch {checkout.name!r} has no commit that a tag could name; commit one first",
                recovery=next_call("branchmind_log", {"workspace": workspace}, "lists the commits of the checkout"),
            )
        seq = head
    row = {
        "workspace": normalize_workspace(workspace),
        "name": name,
        "branch_id": branch_id,
        "doc": doc,
        "seq": seq,
        "now_ms": tx.now_ms,
    }
    tx.run(sql["set_tag"], row)
    tx.set_event_subject(workspace=normalize_workspace(workspace), address=name)
    stored = _find_tag(tx, workspace, name)
    assert stored is not None, "it was just written"
    return {"workspace": workspace, "tag": stored.to_dict()}


@operation(
    idempotent=True,
    has_budget=True,
    answers={**WORKSPACE, "tags": list_of(TAG, "the tags, by name", shown="answer")},
    cli=Cli("history tag-list"),
    example="moss history tag-list --workspace shop",
    words=(
        "list tags, list bookmarks, show the tags, which tags exist, what bookmarks are there, named commits, all tags"
    ),
)
def branchmind_tag_list(tx: ReadTransaction, *, workspace: RequiredWorkspace, budget: Budget) -> dict[str, Any]:
    """List the tags of a workspace by name."""
    rows = [Tag(row).to_dict() for row in tx.rows(sql["list_tags"], {"workspace": normalize_workspace(workspace)})]
    return budget.fit(rows, lambda tags: {"workspace": workspace, "tags": tags, "truncated": False}, least=0)


@operation(
    mutates=True,
    destructive=True,
    answers={**WORKSPACE, "name": text("its name"), "deleted": flag("true")},
    cli=Cli("history tag-delete", sentence="Deleted tag {name}."),
    example="moss history tag-delete before-rewrite --workspace shop",
    words="remove a tag, delete a bookmark, delete a tag, drop a tag, remove a bookmark, tag no longer needed",
)
def branchmind_tag_delete(tx: Transaction, *, workspace: RequiredWorkspace, name: TagName) -> dict[str, Any]:
    """Delete a tag; the commit that it names stays."""
    check_name(name, what="name")
    if not tx.run(sql["delete_tag"], {"workspace": normalize_workspace(workspace), "name": name}):
        raise _unknown_tag(workspace, name)
    tx.set_event_subject(workspace=normalize_workspace(workspace), address=name)
    return {"workspace": workspace, "name": name, "deleted": True}


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={
        **WORKSPACE,
        "ref": text("branch"),
        "entries": list_of(MOVE, "the movements of its head, newest first", shown="answer"),
        **PAGINATION,
    },
    cli=Cli("history reflog"),
    example="moss history reflog --workspace shop",
    words=(
        "find what a reset hid, lost notes, movements of the head, undo a reset, where was the head before, notes"
        " vanished, notes disappeared after a reset, recover lost commits, head movements, list of resets, find a"
        " lost commit"
    ),
)
def branchmind_reflog(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    ref: Branch | None = None,
    cursor: Cursor | None = None,
    limit: PageLimit = 50,
    budget: Budget,
) -> dict[str, Any]:
    """List how a branch's head moved, commits and resets, newest first; it leads back to what a reset hid."""
    page = CursorPage(cursor, limit)
    branch = find_branch(tx, workspace, ref, what="ref")
    rows = page.rows(_list_movements(tx, branch, page))
    return fit_page(budget, page, rows, {"workspace": workspace, "ref": branch.name}, "entries", hide_number=True)


@operation(
    mutates=True,
    aliases=BRANCH,
    answers={
        **WORKSPACE,
        "ref": text("branch"),
        "doc": text("document"),
        "old_seq": integer("the head before"),
        "new_seq": integer("the head now"),
    },
    cli=Cli("history reset", sentence="Reset {doc} of {ref} from {old_seq} to {new_seq}."),
    example="moss history reset before-rewrite --workspace shop",
    words=(
        "go back in the notes, roll back notes, reset, rewind, un-commit, undo notes, undo the last notes, go "
        "back to an earlier commit, reset to a tag, return to a bookmark, drop the last notes, rewind the notes, "
        "discard the last commits, reset a branch, go back to a commit"
    ),
)
def branchmind_reset(
    tx: Transaction, *, workspace: RequiredWorkspace, to: Point, ref: Branch | None = None
) -> dict[str, Any]:
    """Move the head of a branch's notes to one of its commits (seq or tag); the reflog leads back to later ones."""
    branch = find_branch(tx, workspace, ref, what="ref")
    writer, doc, seq = _resolve_point(tx, workspace, to, what="to")
    reach = _ranges_at(tx, branch, writer, seq) if doc == NOTES else []
    if not reach:
        raise MossError(
            "NOT_FOUND",
            f"the notes of branch {branch.name!r} never showed {to}; its reflog lists what they did show",
            recovery=next_call(
                "branchmind_reflog", {"workspace": workspace, "ref": branch.name}, "lists the heads of the branch"
            ),
        )
    old_seq = log_view(tx, branch.branch_id, NOTES).head(tx)
    number = reserve_seqs(tx)
    own_after = number
    last_writer, last_after, _ = reach[-1]
    newer = {"branch_id": branch.branch_id, "doc": NOTES, "after": seq, "upto": HEAD}
    if last_writer == branch.branch_id and tx.value(sql["newest_entry"], newer) is None:
        reach.pop()
        own_after = last_after  # no entry in between, so the range continues
    row = {
        "seq": number,
        "own_after": own_after,
        "branch_id": branch.branch_id,
        "old_seq": old_seq,
        "new_seq": seq,
        "message": f"reset to {to}",
        "reach_json": json.dumps(reach, separators=(",", ":")),
        "ts_ms": tx.now_ms,
    }
    tx.run(sql["add_reset"], row)
    tx.run(sql["note_reset"], {"branch_id": branch.branch_id, "seq": row["seq"]})
    update_visibility(tx, branch.branch_id)
    tx.set_event_subject(workspace=normalize_workspace(workspace), address=branch.name)
    return {"workspace": workspace, "ref": branch.name, "doc": NOTES, "old_seq": old_seq, "new_seq": seq}


class Tag(NamedRow):
    """A name of a commit."""

    __slots__ = ()
    name: str
    branch: str
    doc: str
    seq: int
    created_at_ms: int

    def to_dict(self) -> dict[str, Any]:
        return dict(zip(self.columns, self, strict=True))


def _resolve_point(tx: Transaction, workspace: str, point: str | int, *, what: str) -> tuple[int, str, int]:
    """Return the branch, document and seq of the note that a seq or a tag names."""
    seq = point if isinstance(point, int) else None
    if isinstance(point, str):
        tag = _find_tag(tx, workspace, check_name(point, what=what))
        if tag is not None:
            seq = tag.seq
        elif point.isascii() and point.isdigit() and len(point) < 19:
            seq = int(point)
        else:
            raise _unknown_tag(workspace, point)
    entry = tx.row(sql["entry"], {"workspace": normalize_workspace(workspace), "seq": seq})
    branch_id, doc, written_as = entry or (None, None, None)
    if written_as in (None, "event"):
        raise MossError(
            "NOT_FOUND",
            f"there is no commit {point} in workspace {workspace!r}",
            recovery=next_call("branchmind_log", {"workspace": workspace}, "lists the commits of the checkout"),
        )
    return branch_id, doc, int(seq or 0)


def _ranges_at(tx: Transaction, branch: BranchRow, writer: int, seq: int) -> list[tuple[int, int, int]]:
    """Return the ranges that the branch showed when an entry was its head; empty if it never was."""
    if writer == branch.branch_id:
        return truncate_ranges(log_view(tx, branch.branch_id, NOTES, upto=seq).ranges, writer, seq)
    if branch.base_id is None:
        return []
    return truncate_ranges(log_view(tx, branch.base_id, NOTES, upto=branch.base_seq or 0).ranges, writer, seq)


def _list_movements(tx: ReadTransaction, branch: BranchRow, page: CursorPage) -> list[dict[str, Any]]:
    """Return at most one movement more than the page holds, newest first, with the heads before and after."""
    limit = page.limit + 1
    own = [doc for doc, shape, _ in tx.rows(sql["documents_of"], {"branch_id": branch.branch_id}) if shape == "log"]
    parameters = {"branch_id": branch.branch_id, "before": page.before(), "limit": limit}
    moves: list[dict[str, Any]] = []
    for doc in own:
        for seq, title, beginning, ts_ms in tx.rows(sql["commits_before"], {**parameters, "doc": doc}):
            old_seq = log_view(tx, branch.branch_id, doc, upto=seq - 1).head(tx)
            moves.append(_render_movement(seq, ts_ms, doc, old_seq, seq, title or first_line(beginning)))
    for seq, old_seq, new_seq, message, ts_ms in tx.rows(sql["resets_before"], parameters):
        moves.append(_render_movement(seq, ts_ms, NOTES, old_seq, new_seq, message))
    moves.sort(key=lambda move: -int(move["seq"]))
    return moves[:limit]


def _render_movement(seq: int, ts_ms: int, doc: str, old_seq: int | None, new_seq: int, message: str) -> dict[str, Any]:
    times = {"ts": format_time(ts_ms), "ts_ms": ts_ms}
    return {"seq": seq, **times, "doc": doc, "old_seq": old_seq, "new_seq": new_seq, "message": message}


def _find_tag(tx: ReadTransaction, workspace: str, name: str) -> Tag | None:
    row = tx.row(sql["tag"], {"workspace": normalize_workspace(workspace), "name": name})
    return None if row is None else Tag(row)


def _unknown_tag(workspace: str, name: str) -> MossError:
    return MossError(
        "NOT_FOUND",
        f"there is no tag {name[:100]!r} in workspace {workspace!r}",
        recovery=next_call("branchmind_tag_list", {"workspace": workspace}, "lists the tags there are"),
    )
