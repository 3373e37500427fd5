"""What resets hide: an entry is found by search as long as at least one branch shows it."""

from __future__ import annotations

from moss_memory.tools.reasoning.reasoning_sql import sql

from .document_refs import NOTES
from .visible_ranges import HEAD, chain, log_view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction, Transaction


def update_visibility(tx: Transaction, branch_id: int | None) -> None:
    """Marks the notes of a branch and of its bases that no branch shows any more, and unmarks those one does."""
    if branch_id is not None:
        for base, *_ in chain(tx, branch_id, "log", NOTES):
            _mark(tx, base)


def shown_on(tx: ReadTransaction, branch_id: int, seq: int) -> int:
    """A branch that shows a note of a branch: that one itself where it can, else one derived from it."""
    if tx.row(sql["resets_of"], {"branch_id": branch_id}) is None:
        return branch_id
    family = [member for (member,) in tx.rows(sql["family_of_branch"], {"branch_id": branch_id})]
    return next((one for one in family if log_view(tx, one, NOTES).shows(branch_id, seq)), branch_id)


def _mark(tx: Transaction, branch_id: int) -> None:
    if tx.row(sql["resets_of"], {"branch_id": branch_id}) is None:
        return  # never reset: it shows everything itself
    family = [member for (member,) in tx.rows(sql["family_of_branch"], {"branch_id": branch_id})]
    shown = {
        (after, upto)
        for member in family
        for writer, after, upto in log_view(tx, member, NOTES).ranges
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
        place = {"branch_id": branch_id, "doc": NOTES, "after": after, "upto": upto, "hidden": int(hidden)}
        tx.run(sql["hide_entries"], place)
