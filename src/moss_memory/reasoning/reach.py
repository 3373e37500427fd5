"""What resets hide: an entry is found by search as long as at least one branch shows it."""

from __future__ import annotations

from .places import NOTES
from .views import log_view, sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..storage.engine import Transaction


def show_and_hide(tx: Transaction, branch_id: int | None) -> None:
    """Marks the notes of a branch and of its bases that no branch shows any more, and unmarks those one does."""
    while branch_id is not None:
        _mark(tx, branch_id)
        row = tx.row(sql["branch_by_id"], {"branch_id": branch_id})
        branch_id = None if row is None else row[2]


def _mark(tx: Transaction, branch_id: int) -> None:
    if tx.row("select 1 from resets where branch_id = :id limit 1", {"id": branch_id}) is None:
        return  # never reset: it shows everything itself
    family = [row[0] for row in tx.rows(sql["family_of_branch"], {"branch_id": branch_id})]
    shown = {
        (after, upto)
        for member in family
        for writer, after, upto in log_view(tx, member, NOTES).ranges
        if writer == branch_id
    }
    visible = " or ".join(f"seq > {after} and seq <= {upto}" for after, upto in sorted(shown)) or "false"
    tx.run(
        f"update doc_entries set hidden = not ({visible})"
        f" where branch_id = :id and doc = :doc and hidden <> (not ({visible}))",
        {"id": branch_id, "doc": NOTES},
    )
