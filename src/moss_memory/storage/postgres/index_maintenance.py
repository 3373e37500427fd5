"""Maintain the index in the background: write segments, sweep them, remove unused terms.

Each step is one short transaction, which no writer waits for. A step that is interrupted is rolled back, and the next
process that is due does it again.
"""

from __future__ import annotations

import psycopg

from moss_memory.errors import MossError
from moss_memory.log import INFO, log
from moss_memory.storage.transaction_context import committing

from .segments import SEGMENTS_LOCK, flush, remove_orphans, sum_totals, sweep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.storage.call import CallContext

    from .engine import PostgresEngine
    from .transaction import PostgresTransaction

_STEPS = (flush, sweep, sum_totals, remove_orphans)


def maintain(engine: PostgresEngine, call: CallContext) -> None:
    """Run all steps until nothing is left to do; leave them to the next process if one fails."""
    try:
        for step in _STEPS:
            while _run(engine, call, step):
                pass
    except (psycopg.Error, MossError) as error:
        log(INFO, "the index is maintained later (%s)", type(error).__name__)


def _run(engine: PostgresEngine, call: CallContext, step: Callable[[PostgresTransaction], bool]) -> bool:
    """Run a step in a transaction, unless another process is maintaining; return True if there is more to do."""
    with committing(engine.read_transaction(snapshot=False, call=call)) as tx:
        tx.queue("begin")
        if not tx.value(f"select cast(pg_try_advisory_xact_lock({SEGMENTS_LOCK}) as integer)"):
            return False
        # Locked, so that the schema stays until the end of the step.
        version = tx.value("select version from moss_schema for share")
        has_more = engine.is_current(version) and step(tx)
        tx.send("commit", None)
        return has_more
