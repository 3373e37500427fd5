"""A call on any engine: its context, its clock and ids, and the part of its transaction that all engines share."""

from __future__ import annotations

import os
import time
from _thread import allocate_lock

from moss_memory.errors import MossError

from .origin import INSERT, INSERT_REPOSITORY, Origin
from .schema_version import SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.code_state.work_tree import CodeState, WorkTree
    from moss_memory.config import Config
    from moss_memory.rows.load_counts import LoadCounts

    from .engine import Parameters

CHANGES_PER_CALL = 1 << 24
"""The maximum number of changes of a call; the number of its event is in the bits above."""
WRITE_TIMEOUT_S = 60.0
"""The maximum time for which a write waits for the lock."""
LARGE_BYTES = 64 << 20
"""The size above which a search over a store may take longer than 20 ms."""
SLICE_S = 0.05
"""The approximate time that a slice of long work holds the lock."""
ACTOR_MAX_CHARS = 100
ULID_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [first + second for first in ULID_ALPHABET for second in ULID_ALPHABET]
_FORTY_BITS = (1 << 40) - 1


class CallContext:
    """The caller's context: settings, clock, source of ids, cancellation and progress callback."""

    __slots__ = (
        "caller",
        "cancelled",
        "clock_ms",
        "config",
        "created",
        "is_listed",
        "key",
        "loads",
        "new_id",
        "operation",
        "progress",
        "read_only",
        "suggest",
        "workspace",
    )  # fmt: skip

    def __init__(
        self,
        *,
        operation: str,
        config: Config,
        clock_ms: Callable[[], int],
        new_id: Callable[[int], str],
        cancelled: Callable[[], bool] | None,
        progress: Callable[[int, int | None], None] | None,
        caller: Caller | None = None,
        workspace: str | None = None,
        suggest: bool = True,
        is_listed: Callable[[str], bool] | None = None,
        loads: LoadCounts | None = None,
    ) -> None:
        self.operation = operation
        self.loads = loads
        """Counts the capsules whose text is loaded; None if this call is not counted."""
        self.caller = caller or Caller("moss")
        self.workspace = workspace
        """The only workspace that the call writes to, as given by the caller; None if it may write to any."""
        self.key: str | None = None
        """The idempotency key."""
        self.created: dict[str, Any] = {}
        """The fields with which the answer reports that the call created a workspace."""
        self.read_only = False
        """True if the caller may not write."""
        self.config = config
        self.clock_ms = clock_ms
        self.new_id = new_id
        self.cancelled = cancelled
        self.progress = progress
        self.suggest = suggest
        """True if an error may take some milliseconds more to suggest a better call."""
        self.is_listed = is_listed
        """Return True if a tool is in the caller's list; None if the caller has all tools."""

    def check_cancelled(self) -> None:
        """Raise `CANCELLED` if the caller has cancelled."""
        if self.cancelled is not None and self.cancelled():
            raise MossError("CANCELLED", f"`{self.operation}` was cancelled; nothing was changed")


class Caller:
    """The actor of a call and its code state, which is that of the process or sent with the call."""

    __slots__ = ("_code", "_compares_work_tree", "_origin", "_records_work_tree", "actor")

    def __init__(
        self,
        actor: str,
        *,
        code: CodeState | None = None,
        records_work_tree: bool = False,
        compares_work_tree: bool = False,
    ) -> None:
        self.actor = actor
        self._code = code
        self._records_work_tree = records_work_tree
        """True if writes record the code state of the work tree that the process runs in."""
        self._compares_work_tree = compares_work_tree or records_work_tree
        """True if reads compare with it; pages do so on the machine of their reader and record nothing."""
        self._origin: Origin | None = None

    def origin(self) -> Origin:
        """Return the present origin of changes."""
        code = self._code
        if code is None and self._records_work_tree:
            tree = self.work_tree()
            code = None if tree is None else tree.state()
        if self._origin is None or self._origin.code is not code:
            self._origin = Origin(self.actor, code)
        return self._origin

    def work_tree(self) -> WorkTree | None:
        """Return the work tree that the process runs in, None if the caller does not compare with it."""
        if not self._compares_work_tree:
            return None
        from moss_memory.code_state.work_tree import work_tree_of

        return work_tree_of()


def clean_actor(*names: str | None) -> str:
    """Return the names of an actor, joined, without control characters, at most 100 characters."""
    cleaned = ["".join([c for c in name[:1000] if c.isprintable()]).strip() for name in names if name]
    joined = " · ".join([name for name in cleaned if name])
    return joined.encode("utf-8", "replace").decode()[:ACTOR_MAX_CHARS].strip()


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
        """Do nothing: a reading transaction begins by itself, at the latest at its first statement."""

    @property
    def now_ms(self) -> int:
        return self._now_ms

    @property
    def now(self) -> int:
        return self.now_ms // 1000

    @property
    def schema_version(self) -> int:
        return SCHEMA_VERSION

    def check_cancelled(self) -> None:
        self.call.check_cancelled()

    def progress(self, done: int, total: int | None = None) -> None:
        if self.call.progress is not None:
            self.call.progress(done, total)

    def vectors_of(self, source: str, rows: list[int]) -> int:
        from moss_memory.search.request import Document  # only erasing needs it

        numbers = [Document(source, row).number for row in rows]
        count = f"select count(*) from vectors where {self.sql_in('doc', 'numbers')}"
        vector_count: int = self.value(count, {"numbers": numbers})
        return vector_count

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

    def origin_key(self) -> str:
        return self._find_origin().key

    @property
    def actor(self) -> str:
        return self.call.caller.actor

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


def wall_clock_ms() -> int:
    """Return milliseconds since the epoch by the wall clock."""
    return time.time_ns() // 1_000_000


class IdSource:
    """Generates ULIDs that strictly increase, even if the clock does not."""

    __slots__ = ("_last", "_lock")

    def __init__(self) -> None:
        self._last = 0
        self._lock = allocate_lock()

    def __call__(self, now_ms: int) -> str:
        random_bits = int.from_bytes(os.urandom(10), "big")
        value = (now_ms << 80) | random_bits
        with self._lock:
            if value <= self._last:
                # A random increment: a forked process continues from the same last id.
                value = self._last + 1 + (random_bits >> 16)
            self._last = value
        return encode_ulid(value)


new_id = IdSource()
"""Shared by all stores of the process, so that their ids never collide or decrease."""


def encode_ulid(value: int) -> str:
    """Return the 26 Crockford characters of a 128-bit number."""
    pairs = _PAIRS
    low, middle, high = value & _FORTY_BITS, (value >> 40) & _FORTY_BITS, value >> 80
    # Two characters at a time: 0.8 µs instead of 3, and every write makes two ids.
    return (
        f"{pairs[high >> 40]}{pairs[high >> 30 & 1023]}{pairs[high >> 20 & 1023]}{pairs[high >> 10 & 1023]}"
        f"{pairs[high & 1023]}{pairs[middle >> 30]}{pairs[middle >> 20 & 1023]}{pairs[middle >> 10 & 1023]}"
        f"{pairs[middle & 1023]}{pairs[low >> 30]}{pairs[low >> 20 & 1023]}{pairs[low >> 10 & 1023]}{pairs[low & 1023]}"
    )
