"""The clock of the server: the clocks of machines that share a store may differ, which would break leases."""

from __future__ import annotations

from moss_memory.rows.times import wall_clock_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import CallContext

    from .connections import Connection

CLOCK = "(extract(epoch from clock_timestamp()) * 1000)::bigint"
"""SQL for the time of the server in milliseconds."""


def is_wall_clock(call: CallContext) -> bool:
    """Return True if a call uses the wall clock; the clock of a caller is used unchanged."""
    return call.clock_ms is wall_clock_ms


def clock_offset_ms(connection: Connection) -> int:
    """Return how far the clock of the server is ahead of this machine's, at the midpoint of one round trip."""
    before_ms = wall_clock_ms()
    row = connection.execute(f"select {CLOCK}").fetchone()
    assert row is not None, "the statement always gives one"
    return int(row[0]) - (before_ms + wall_clock_ms()) // 2
