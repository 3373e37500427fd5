"""Run a call exactly once, or not at all, even if its server is lost, replaced or busy.

The outcome of a commit is unknown if the connection is lost, or if the server stops waiting for a standby, which it
reports in a warning. The retry then acquires the same lock, so the first attempt has ended, and looks up the
idempotency key of the call. If its answer is stored, the retry commits again, so that it waits for the standby, and
returns the answer; if not, the call runs again.
"""

from __future__ import annotations

import time

import psycopg

from moss_memory.errors import MossError
from moss_memory.log import WARNING, log

from .error_mapping import UnconfirmedCommit, is_lost, is_refused, is_retryable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.storage.call import CallContext
    from moss_memory.storage.engine import Result

    from .engine import PostgresEngine
    from .transaction import PostgresWrite

IN_DOUBT_TIMEOUT_S = 30.0
"""The minimum time for finding out the outcome of a commit."""
_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.5


def run_with_retry(
    engine: PostgresEngine, run: Callable[[PostgresWrite], Result], *, timeout_s: float, call: CallContext
) -> Result:
    """Run a call in a transaction and commit it; retry until the timeout if the error may be temporary.

    After a lost COMMIT, `run` is called again. That of a tool (`Store._write`) or of `Store.write` looks up its key in
    `storage/idempotency.py`, and returns the stored answer if the COMMIT arrived; any other must be repeatable.
    """
    until = time.monotonic() + timeout_s
    pause_s = _FIRST_PAUSE_S
    in_doubt = False
    while True:
        failure: MossError | psycopg.Error
        tx = engine.write_transaction(timeout_s=max(until - time.monotonic(), 0.0), call=call)
        try:
            result = run(tx)
            tx.commit()
            return result
        except UnconfirmedCommit as error:
            in_doubt, failure = True, error
            call.cancelled = None  # it may be committed already, which has to be found out
            until = max(until, time.monotonic() + IN_DOUBT_TIMEOUT_S)
        except (MossError, psycopg.Error) as error:
            tx.rollback()
            # After a lost COMMIT, an error of the server leaves its outcome unknown. Any other error comes from the
            # call, which ran again because no answer was stored: nothing was committed.
            may_retry = _is_storage_error(error) if in_doubt else _is_temporary(engine, error)
            if not may_retry:
                raise
            failure = error
        except BaseException:
            tx.rollback()
            raise
        finally:
            tx.release()
        outcome = "has an unknown outcome" if in_doubt else "failed"
        log(WARNING, "%s %s (%s); next attempt in %.2f s", call.operation, outcome, type(failure).__name__, pause_s)
        if time.monotonic() + pause_s >= until:
            if in_doubt:
                raise _unknown_error(call) from failure
            raise failure
        if is_lost(failure) or isinstance(failure, UnconfirmedCommit):
            engine.disconnect()  # idle connections are lost too
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def read_with_retry(
    engine: PostgresEngine,
    body: Callable[..., Result],
    values: dict[str, Any],
    *,
    snapshot: bool,
    timeout_s: float,
    call: CallContext,
) -> Result:
    """Run a read; retry it until the timeout if the error may be temporary."""
    until = time.monotonic() + timeout_s
    pause_s = _FIRST_PAUSE_S
    while True:
        tx = engine.read_transaction(snapshot=snapshot, call=call)
        try:
            result = body(tx, **values)
            tx.commit()
            return result
        except psycopg.Error as error:
            tx.rollback()
            if not _is_temporary(engine, error) or time.monotonic() + pause_s >= until:
                raise
            if is_lost(error):
                engine.disconnect()  # idle connections are lost too
        except BaseException:
            tx.rollback()
            raise
        finally:
            tx.release()
        call.check_cancelled()
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _is_temporary(engine: PostgresEngine, error: MossError | psycopg.Error) -> bool:
    """Return True if a retry may succeed; the failure of a server that was never reached is reported at once."""
    if isinstance(error, MossError):
        return False
    return is_retryable(error) or (engine.was_open and is_lost(error) and not is_refused(error))


def _is_storage_error(error: MossError | psycopg.Error) -> bool:
    """Return True if the error came from the server, so that the earlier attempt is still in doubt."""
    return isinstance(error, psycopg.Error) or error.code.startswith("STORAGE_")


def _unknown_error(call: CallContext) -> MossError:
    problem = f"it is unknown if `{call.operation}` was committed"
    if call.key is None:  # no tool, so it takes no key
        return MossError("STORAGE_UNKNOWN", f"{problem}; see if its change is there before you run it again")
    return MossError(
        "STORAGE_UNKNOWN",
        f"{problem}. Send the same call again with `call_id` as `idempotency_key` (MCP: in `_meta`): it runs once",
        details={"call_id": call.key},
    )
