"""The parts of a transaction that are the same on every engine."""

from __future__ import annotations

import time

from .origin import INSERT, INSERT_REPOSITORY
from .schema_version import SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .call_context import CallContext
    from .engine import Parameters
    from .origin import Origin

CHANGES_PER_CALL = 1 << 24
"""The maximum number of changes of a call; the number of its event is in the bits above."""
SLICE_S = 0.05
"""About how long a slice of long work holds the lock."""


class ReadTransactionBase:
    """A consistent read of the store for one call."""

    __slots__ = ("_now_ms", "call", "config", "tool")

    if TYPE_CHECKING:
        call: CallContext
        _now_ms: int

        def rollback(self) -> None: ...
        def value(self, sql: str, parameters: Parameters | None = None) -> Any: ...
        def sql_in(self, column: str, parameter: str) -> str: ...

    def begin(self) -> None:
        """Do nothing: a reading transaction has begun when it is made."""

    @property
    def now_ms(self) -> int:
        return self._now_ms

    @property
    def now(self) -> int:
        return self.now_ms // 1000

    @property
    def schema_version(self) -> int:
        """Return the version of the schema: a store of another version is never open."""
        return SCHEMA_VERSION

    def check_cancelled(self) -> None:
        self.call.check_cancelled()

    def progress(self, done: int, total: int | None = None) -> None:
        if self.call.progress is not None:
            self.call.progress(done, total)

    def vectors_of(self, source: str, rows: list[int]) -> int:
        from moss_memory.search.hits import Document  # only erasing needs it

        numbers = [Document(source, row).number for row in rows]
        count = f"select count(*) from vectors where {self.sql_in('doc', 'numbers')}"
        found: int = self.value(count, {"numbers": numbers})
        return found

    def commit(self) -> None:
        self.rollback()  # a read has nothing to commit


class WriteTransactionBase:
    """A mixin for `ReadTransactionBase` with the state of a write: ids, event and slices."""

    if TYPE_CHECKING:
        call: CallContext
        _connection: Any
        _now_ms: int

        def begin(self) -> None: ...
        def commit(self) -> None: ...
        def queue(self, sql: str, parameters: Parameters | None = None) -> None: ...
        def advance_event_sequence(self, seq: int) -> None: ...
        def _insert_event(self, event: Parameters) -> None: ...
        def _pause(self) -> None: ...

    _workspace: str | None = None
    _address: str | None = None
    _changes = 0
    _recorded = False
    _began_s = 0.0
    _origin: Origin | None = None

    @property
    def now_ms(self) -> int:
        assert self._connection is not None, "a transaction must begin before its time is read"
        return self._now_ms

    def new_id(self) -> str:
        if self._connection is None:
            self.begin()
        return self.call.new_id(self._now_ms)

    @property
    def origin(self) -> str:
        return self._find_origin().key

    @property
    def actor(self) -> str:
        return self._find_origin().actor

    def _find_origin(self) -> Origin:
        """Return the origin of this call: the first read of a call counts for all of its changes."""
        if self._origin is None:
            self._origin = self.call.caller.origin()
        return self._origin

    def store_origin(self, origin: Origin) -> str:
        self.queue(INSERT, origin.row)
        return origin.key

    def _add_event(self, tool: str, workspace: str | None, address: str | None, payload: str | None) -> str:
        """Store an event and the origin of this call; return the id of the event."""
        event_id, origin = self.new_id(), self._find_origin()
        if workspace is not None and origin.repository is not None:
            self.queue(INSERT_REPOSITORY, {"workspace": workspace, **origin.repository})
        self.queue(INSERT, origin.row)
        self._insert_event(
            {
                "event_id": event_id,
                "workspace": workspace,
                "tool": tool,
                "address": address,
                "ts_ms": self._now_ms,
                "payload": payload,
                "origin": origin.key,
            }
        )
        return event_id

    def advance_sequence(self, change: int) -> None:
        self.advance_event_sequence(change // CHANGES_PER_CALL)

    def set_event_subject(self, *, workspace: str | None = None, address: str | None = None) -> None:
        self._workspace = workspace
        self._address = address

    def yield_lock(self) -> bool:
        if self._connection is not None and time.monotonic() - self._began_s > SLICE_S:
            self.append_event(self.call.operation)
            self.commit()
            self._pause()  # the next statement begins again
            self._changes = 0
            self._recorded = False
        return self.call.cancelled is None or not self.call.cancelled()

    def record_event(self, *, workspace: str, address: str, payload: str) -> str:
        self._recorded = True
        return self._add_event(self.call.operation, workspace, address, payload)

    def skip_event(self) -> None:
        self._recorded = True

    def append_event(self, tool: str) -> bool:
        if self._connection is not None and not self._recorded:
            self._add_event(tool, self._workspace, self._address, None)
        return self._connection is not None
