"""A call carried out although its server is lost, replaced or busy: once, or not at all.

A commit may be done although nobody hears of it: the connection was cut, or the server gave up waiting for a standby
and says so in a warning. Then the call enters once more where it was before. Whoever has that lock knows that the first
attempt is over; the call finds the answer by which it is remembered and commits that it has seen it, which waits for
the standby as every commit does, or finds none and is carried out anew.
"""

from __future__ import annotations

import time

import psycopg

from moss_memory.errors import MossError

from .error_mapping import Unconfirmed, is_lost, is_passing, is_refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.storage.engine import CallContext, Result

    from .engine import PostgresEngine
    from .transaction import PostgresWrite

IN_DOUBT_TIMEOUT_S = 30.0
"""For so long at the least it is tried to find out how a commit ended."""
_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.5


def run_with_retry(
    engine: PostgresEngine, carry_out: Callable[[PostgresWrite], Result], *, timeout_s: float, call: CallContext
) -> Result:
    """Carries a call out in a transaction and commits it, again within its patience where others were in the way."""
    until = time.monotonic() + timeout_s
    pause_s = _FIRST_PAUSE_S
    in_doubt = False
    while True:
        failure: MossError | psycopg.Error
        tx = engine.begin_write(timeout_s=max(until - time.monotonic(), 0.0), call=call)
        try:
            result = carry_out(tx)
            tx.commit()
            return result
        except Unconfirmed as error:
            in_doubt, failure = True, error
            call.cancelled = None  # it may be done already: that has to be found out
            until = max(until, time.monotonic() + IN_DOUBT_TIMEOUT_S)
        except (MossError, psycopg.Error) as error:
            tx.rollback()
            if not (_is_of_storage(error) if in_doubt else _may_pass(engine, error)):
                raise
            failure = error
        except BaseException:
            tx.rollback()
            raise
        finally:
            tx.release()
        if time.monotonic() + pause_s >= until:
            raise _unknown(call) if in_doubt else failure from failure
        if is_lost(failure) or isinstance(failure, Unconfirmed):
            engine.close()  # what waits for its next call was cut off too
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _may_pass(engine: PostgresEngine, error: MossError | psycopg.Error) -> bool:
    """Whether the same call may well succeed soon; a server that was never reached is told of at once."""
    if isinstance(error, MossError):
        return False
    return is_passing(error) or (engine.was_open and is_lost(error) and not is_refused(error))


def _is_of_storage(error: MossError | psycopg.Error) -> bool:
    """Whether it came from the server, so that the call's earlier attempt is still in doubt."""
    return isinstance(error, psycopg.Error) or error.code.startswith("STORAGE_")


def _unknown(call: CallContext) -> MossError:
    return MossError(
        "STORAGE_UNKNOWN",
        f"the connection was lost while `{call.operation}` was committed, and it could not be found out whether it was "
        "done. Send the same call again with `call_id` as its `idempotency_key`: it is carried out once",
        details={"call_id": call.key},
    )
