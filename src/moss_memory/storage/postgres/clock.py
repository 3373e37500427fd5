"""The database's clock: machines that share a store may disagree about the time, and a lease must not."""

from __future__ import annotations

from moss_memory.rows.times import wall_clock_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import CallContext

    from .connections import Connection

CLOCK = "(extract(epoch from clock_timestamp()) * 1000)::bigint"
"""The time of the server, in SQL."""


def is_wall_clock(call: CallContext) -> bool:
    """Whether a call goes by the time of day; another clock is its caller's own, and believed."""
    return call.clock_ms is wall_clock_ms


def clock_offset_ms(connection: Connection) -> int:
    """How far the clock of the server is ahead of that of this machine, in the middle of one question."""
    before_ms = wall_clock_ms()
    row = connection.execute(f"select {CLOCK}").fetchone()
    assert row is not None, "the statement always gives one"
    return int(row[0]) - (before_ms + wall_clock_ms()) // 2
