"""The clock of the server: the clocks of machines that share a store may differ, which would break leases."""

from __future__ import annotations

import time

from moss_memory.storage.call import wall_clock_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.call import CallContext

    from .connections import Connection

CLOCK = "(extract(epoch from clock_timestamp()) * 1000)::bigint"
"""SQL for the time of the server in milliseconds."""
RENEW_S = 60.0
STEP_MS = 500
"""A larger change of the wall clock against the monotonic clock is a step."""


def is_wall_clock(call: CallContext) -> bool:
    """Return True if a call uses the wall clock; the clock of a caller is used unchanged."""
    return call.clock_ms is wall_clock_ms


class ServerClock:
    """The time of the server, extrapolated by the monotonic clock of this machine and measured regularly."""

    def __init__(self) -> None:
        self._ahead_ms = 0.0
        """The offset of the server's clock to the monotonic clock."""
        self._wall_ahead_ms = 0.0
        self._measured_s: float | None = None

    def measure(self, connection: Connection) -> None:
        """Measure the server's time; it counts for the midpoint of the round trip."""
        before_s = time.monotonic()
        row = connection.execute(f"select {CLOCK}").fetchone()
        assert row is not None, "the statement always gives one"
        now_s = time.monotonic()
        self._ahead_ms = int(row[0]) - (before_s + now_s) * 500
        self._wall_ahead_ms = wall_clock_ms() - now_s * 1000
        self._measured_s = now_s

    def is_stale(self) -> bool:
        """Return True if the time has to be measured: never yet, long ago, or before a step of the wall clock.

        The monotonic clock stops while a machine sleeps, which looks like such a step.
        """
        now_s = time.monotonic()
        if self._measured_s is None or now_s - self._measured_s > RENEW_S:
            return True
        return abs(wall_clock_ms() - now_s * 1000 - self._wall_ahead_ms) > STEP_MS

    def at(self, monotonic_s: float) -> int:
        """Return the time of the server at a moment of the monotonic clock."""
        return int(monotonic_s * 1000 + self._ahead_ms)
