"""Visibility of notes after a reset: search finds a note if at least one branch shows it."""

from __future__ import annotations

from moss_memory.tools.reasoning.reasoning_sql import sql

from .document_refs import NOTES, derived_branches
from .visible_ranges import HEAD, base_chain, log_view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction, Transaction


def update_visibility(tx: Transaction, branch_id: int | None) -> None:
    """Recompute the hidden flag of the notes of a branch and of its bases."""
    if branch_id is not None:
        for base, *_ in base_chain(tx, branch_id, "log", NOTES):
            _update_hidden(tx, base)


def find_showing_branch(tx: ReadTransaction, branch_id: int, seq: int) -> int:
    """Return a branch that shows a note: the branch that wrote it if possible, else a derived one."""
    if tx.row(sql["resets_of"], {"branch_id": branch_id}) is None:
        return branch_id
    derived = derived_branches(tx, branch_id)
    return next((branch for branch in derived if log_view(tx, branch, NOTES).shows(branch_id, seq)), branch_id)


def _update_hidden(tx: Transaction, branch_id: int) -> None:
    if tx.row(sql["resets_of"], {"branch_id": branch_id}) is None:
        return  # never reset, so it shows all its notes
    shown = {
        (after, upto)
        for derived in derived_branches(tx, branch_id)
        for writer, after, upto in log_view(tx, derived, NOTES).ranges
        if writer == branch_id
    }
    last = 0
    for after, upto in sorted(shown):
        _set_hidden(tx, branch_id, last, after, hidden=True)
        _set_hidden(tx, branch_id, max(last, after), upto, hidden=False)
        last = max(last, upto)
    _set_hidden(tx, branch_id, last, HEAD, hidden=True)


def _set_hidden(tx: Transaction, branch_id: int, after: int, upto: int, *, hidden: bool) -> None:
    if after < upto:
        parameters = {"branch_id": branch_id, "doc": NOTES, "after": after, "upto": upto, "hidden": int(hidden)}
        tx.run(sql["hide_entries"], parameters)
