"""Tools for traces: append steps, read them, validate their numbers."""

from __future__ import annotations

import json

from moss_memory.errors import invalid_request
from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import ResponseSchema, TableColumn, flag, integer, list_of, object_of, text
from moss_memory.rows.hard_delete import ERASED
from moss_memory.tools.reasoning.branches.document_refs import TRACE, DocumentRef, find_document
from moss_memory.tools.reasoning.cards.card_links import limit_links
from moss_memory.tools.reasoning.cursor_pages import CursorPage, fit_page
from moss_memory.tools.reasoning.reasoning_arguments import (
    BRANCH,
    Branch,
    Cursor,
    Meta,
    OneOrMore,
    PageLimit,
    RequiredWorkspace,
    Target,
    TraceDoc,
    check_label,
)
from moss_memory.tools.reasoning.reasoning_responses import DOCUMENT_REF, ENTRIES, ENTRY
from moss_memory.tools.reasoning.reasoning_sql import sql

from .entries import Note, append_entry, check_note, last_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction, Transaction

StepTitle = Annotated[str, "the action, in a line"]
StepMessage = Annotated[str, "the result"]
StepMode = Annotated[
    str, {"examples": ["explore", "test", "verify", "decide"]}, "explore, test, verify, decide, or your own word"
]
Thought = Annotated[str, "the thought itself"]
Number = Annotated[int, {"minimum": 1}]
Needed = Annotated[bool, "true if another thought follows"]
IsRevision = Annotated[bool, "corrects an earlier thought"]
ThoughtBranch = Annotated[str, "name of the line of thought"]

STEP_FORMAT = "trace_step"
_NUMBERS = ("thought_number", "total_thoughts")
_CAMEL = {
    "thoughtNumber": "thought_number",
    "totalThoughts": "total_thoughts",
    "nextThoughtNeeded": "next_thought_needed",
    "isRevision": "is_revision",
    "revisesThought": "revises_thought",
    "branchFromThought": "branch_from_thought",
    "branchId": "branch_id",
}

_MISSTEP = ResponseSchema(
    "Misstep",
    {
        "code": text("the code of the error"),
        "seq": integer("number of the step"),
        "message": text("the same in a sentence"),
    },
    table=(TableColumn("seq"), TableColumn("code"), TableColumn("message", min_width=20, max_width=0)),
)


@operation(
    mutates=True,
    scan_secrets=True,
    aliases=BRANCH,
    answers={**DOCUMENT_REF, "entry": object_of(ENTRY, "the step as it was written", shown="opened")},
    example="moss trace step 'Read the proxy log' -w shop --message 'no retries'",
    words=(
        "log a step, what I did, action and result, audit, log what I did, record an action, log an action and "
        "its outcome, I just did, add to the trace, write a trace entry, ran a command"
    ),
)
def branchmind_trace_step(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    step: StepTitle,
    message: StepMessage | None = None,
    mode: StepMode | None = None,
    supports: OneOrMore | None = None,
    blocks: OneOrMore | None = None,
    meta: Meta | None = None,
    target: Target | None = None,
    ref: Branch | None = None,
    doc: TraceDoc | None = None,
) -> dict[str, Any]:
    """Log a step of work in the trace: what was done and what came of it."""
    if not step.strip():
        raise invalid_request("`step` is blank; say in a line what was done", path="step")
    fields = {
        "mode": check_label(mode, what="mode"),
        "supports": limit_links(supports, what="supports"),
        "blocks": limit_links(blocks, what="blocks"),
    }
    stored_meta = {**(meta or {}), **{name: value for name, value in fields.items() if value}}
    field = "step" if message is None or not message.strip() else "message"
    content = step if field == "step" else message
    note = check_note(str(content), title=step, format=STEP_FORMAT, meta=stored_meta, what=field)
    return _append(tx, find_document(tx, workspace, target=target, branch=ref, doc=doc, kind=TRACE, writer=tx), note)


@operation(
    mutates=True,
    scan_secrets=True,
    aliases={**BRANCH, **_CAMEL},
    answers={**DOCUMENT_REF, "entry": object_of(ENTRY, "the step as it was written", shown="opened")},
    example="moss trace sequential-step 'The proxy retries.' 1 3 true -w shop",
    words=(
        "sequential thinking, chain of thought, numbered thought, revise a thought, step by step thinking, think "
        "step by step, revise an earlier thought, thought 1 of 5, numbered thoughts, think in steps, next "
        "thought, log a thought, think it through, correct an earlier thought"
    ),
)
def branchmind_trace_sequential_step(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    thought: Thought,
    thought_number: Number,
    total_thoughts: Number,
    next_thought_needed: Needed,
    is_revision: IsRevision | None = None,
    revises_thought: Number | None = None,
    branch_from_thought: Number | None = None,
    branch_id: ThoughtBranch | None = None,
    meta: Meta | None = None,
    target: Target | None = None,
    ref: Branch | None = None,
    doc: TraceDoc | None = None,
) -> dict[str, Any]:
    """Log one of a series of numbered thoughts in the trace; it may revise an earlier one or branch off it."""
    fields = {
        "thought_number": thought_number,
        "total_thoughts": max(total_thoughts, thought_number),
        "next_thought_needed": next_thought_needed,
        "is_revision": is_revision,
        "revises_thought": revises_thought,
        "branch_from_thought": branch_from_thought,
        "branch_id": check_label(branch_id, what="branch_id"),
    }
    stored_meta = {**(meta or {}), **{name: value for name, value in fields.items() if value is not None}}
    title = f"Thought {thought_number}/{fields['total_thoughts']}"
    note = check_note(thought, title=title, format=STEP_FORMAT, meta=stored_meta, what="thought")
    return _append(tx, find_document(tx, workspace, target=target, branch=ref, doc=doc, kind=TRACE, writer=tx), note)


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={**DOCUMENT_REF, **ENTRIES},
    example="moss trace hydrate -w shop --limit 20",
    words=(
        "read the trace, what was done so far, audit trail, steps taken, show the trace, what did the agent do, "
        "what steps were taken, last actions, read the log of actions, trace of a task"
    ),
)
def branchmind_trace_hydrate(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    ref: Branch | None = None,
    doc: TraceDoc | None = None,
    cursor: Cursor | None = None,
    limit: PageLimit = 50,
    budget: Budget,
) -> dict[str, Any]:
    """Read only the trace: its last entries, oldest first; `next_cursor` leads to older ones."""
    page = CursorPage(cursor, limit)
    document = find_document(tx, workspace, target=target, branch=ref, doc=doc, kind=TRACE)
    rows = last_entries(tx, document, page)
    return fit_page(budget, page, rows, document.to_dict(), "entries", oldest_first=True)


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={
        **DOCUMENT_REF,
        "ok": flag("true if there are no errors"),
        "checked": integer("number of checked steps"),
        "errors": list_of(_MISSTEP, "their errors"),
    },
    example="moss trace validate -w shop",
    words=(
        "check the trace, gaps in numbers, is the trace complete, validate the trace, numbering of thoughts, "
        "missing thought numbers, trace is consistent"
    ),
)
def branchmind_trace_validate(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    ref: Branch | None = None,
    doc: TraceDoc | None = None,
    budget: Budget,
) -> dict[str, Any]:
    """Check the steps of a trace: numbers count up without gaps or repeats, revisions point to an earlier thought."""
    document = find_document(tx, workspace, target=target, branch=ref, doc=doc, kind=TRACE)
    check = _TraceValidator()
    for writer, after, upto in document.log(tx).ranges:
        key = {"branch_id": writer, "doc": document.doc, "after": after, "upto": upto, "erased": ERASED}
        for seq, title, meta, erased in tx.stream(sql["steps_of"], key):
            if erased:
                check.count_erased()
            else:
                check.check_step(seq, title, json.loads(meta) if meta else {})
    return budget.fit(
        check.errors,
        lambda errors: {
            **document.to_dict(),
            "ok": not check.errors,
            "checked": check.checked,
            "errors": errors,
            "truncated": False,
        },
        least=0,
    )


def _append(tx: Transaction, document: DocumentRef, note: Note) -> dict[str, Any]:
    document.set_event_subject(tx)
    entry = append_entry(tx, document, note, written_as="step")
    return {**document.to_dict(), "entry": entry}


class _Sequence:
    """One sequence of numbered thoughts."""

    __slots__ = ("ended", "last", "used")

    def __init__(self) -> None:
        self.last = 0
        self.used: set[int] = set()
        self.ended = False


class _TraceValidator:
    """A validation of the steps of a trace."""

    def __init__(self) -> None:
        self.checked = 0
        self.errors: list[dict[str, Any]] = []
        self._sequences: dict[str, _Sequence] = {}
        self._erased = 0

    def count_erased(self) -> None:
        """Count an erased step, which may have been any missing thought."""
        self.checked += 1
        self._erased += 1

    def check_step(self, seq: int, title: str | None, meta: dict[str, Any]) -> None:
        self.checked += 1
        if not title:
            self._report("MISSING_FIELD", seq, "the step has no title")
        if not any(name in meta for name in _NUMBERS):
            return
        missing = [name for name in (*_NUMBERS, "next_thought_needed") if name not in meta]
        if missing or not all(isinstance(meta[name], int) for name in _NUMBERS):
            self._report("MISSING_FIELD", seq, f"the thought lacks {', '.join(missing) or 'whole numbers'}")
            return
        self._check_thought(seq, meta)

    def _check_thought(self, seq: int, meta: dict[str, Any]) -> None:
        number = meta["thought_number"]
        left_at, trunk = meta.get("branch_from_thought"), self._sequences.get("")
        if left_at is not None and (trunk is None or left_at not in trunk.used) and not self._erased:
            self._report("GAP", seq, f"thought {number} branches off thought {left_at}, which is not there")
        sequence = self._sequence(meta, number)
        if number in sequence.used:
            self._report("REPEAT", seq, f"thought {number} is there already")
        elif not sequence.last + 1 <= number <= sequence.last + 1 + self._erased:
            self._report("GAP", seq, f"thought {number} follows thought {sequence.last}")
        self._check_revision(seq, meta, sequence)
        sequence.used.add(number)
        sequence.last = max(sequence.last, number)
        sequence.ended = not meta["next_thought_needed"]

    def _sequence(self, meta: dict[str, Any], number: int) -> _Sequence:
        """Return the sequence of a thought; start a new one if the old one ended and the number is 1."""
        name = str(meta.get("branch_id") or "")
        sequence = self._sequences.get(name)
        if sequence is None or (sequence.ended and number == 1):
            sequence = self._sequences[name] = _Sequence()
            trunk = self._sequences.get("")
            if name and trunk is not None and number > 1:
                # A branch inherits the earlier thoughts and continues after its branch point or the last one.
                left_at = meta.get("branch_from_thought")
                sequence.last = trunk.last if number == trunk.last + 1 or not isinstance(left_at, int) else left_at
                sequence.used = {used_number for used_number in trunk.used if used_number <= sequence.last}
        return sequence

    def _check_revision(self, seq: int, meta: dict[str, Any], sequence: _Sequence) -> None:
        revised = meta.get("revises_thought")
        if meta.get("is_revision") and revised is None:
            self._report("BAD_REVISION", seq, "the revision does not say which thought it revises")
        elif (
            revised is not None and not self._erased and (not isinstance(revised, int) or revised not in sequence.used)
        ):
            self._report("BAD_REVISION", seq, f"thought {revised} is no earlier thought")

    def _report(self, code: str, seq: int, message: str) -> None:
        self.errors.append({"code": code, "seq": seq, "message": message})
