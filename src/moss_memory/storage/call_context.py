"""The context of a call: who calls, with which settings, by which clock."""

from __future__ import annotations

from moss_memory.errors import MossError

from .origin import Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.code_state.work_tree import CodeState, WorkTree
    from moss_memory.config import Config
    from moss_memory.rows.load_counts import LoadCounts


ACTOR_MAX_CHARS = 100


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
        """Tells if a tool is in the caller's list; None if the caller has all tools."""

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
            found = self.work_tree()
            code = None if found is None else found.state()
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
