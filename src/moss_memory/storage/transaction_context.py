"""A context for transactions outside of a call of `Store`."""

from __future__ import annotations

from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeVar

    from .engine import ReadTransaction

    AnyTransaction = TypeVar("AnyTransaction", bound=ReadTransaction)


@contextmanager
def committing(tx: AnyTransaction) -> Iterator[AnyTransaction]:
    """Commit a transaction at the end, or roll it back after an error; then release its connection."""
    try:
        yield tx
        tx.commit()
    except BaseException:
        tx.rollback()
        raise
    finally:
        tx.release()
