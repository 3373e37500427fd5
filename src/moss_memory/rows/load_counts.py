"""Counts how often the texts of capsules are loaded, without a write in the call that loads one.

A call adds to counters in memory. A thread that exists only while counts are pending writes them in batches, and so
does the closing of the store. If the store is busy they stay pending; a crash loses the pending ones.
"""

from __future__ import annotations

import os
import time
from _weakref import ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.storage.call import CallContext
    from moss_memory.storage.engine import Engine, ReadTransaction

    LoadKey = tuple[str, str, str]
    """The workspace and the id of a capsule, and the actor."""
    Counts = dict[LoadKey, list[int]]
    """The number of loads, and the time of the last one in seconds."""

SAVE_AFTER_S = 2.0
_MAX_PENDING = 100_000
_MAX_SAVED = 1000
"""The maximum number of rows that one transaction writes."""
_SAVE = (
    "insert into capsule_loads (capsule, actor, loads, last_at)"
    " select id, :actor, :loads, :last_at from capsules where id = :capsule"
    " on conflict (capsule, actor) do update set loads = capsule_loads.loads + excluded.loads,"
    " last_at = case when excluded.last_at > capsule_loads.last_at then excluded.last_at else capsule_loads.last_at end"
)


class LoadCounts:
    """The loads of one store that are not written yet."""

    __slots__ = ("__weakref__", "_context", "_engine", "_is_saving", "_pending", "_process")

    def __init__(self, engine: Engine, context: Callable[..., CallContext]) -> None:
        self._engine = engine
        self._context = context
        self._pending: Counts = {}
        self._is_saving = False
        self._process = os.getpid()

    def add(self, tx: ReadTransaction, row: dict[str, Any]) -> None:
        """Count one load of a capsule by the actor of a call."""
        if self._process != os.getpid():  # the parent of a fork writes the earlier counts
            self._process, self._pending, self._is_saving = os.getpid(), {}, False
        _add(self._pending, (row["workspace_raw"], row["id"], tx.call.caller.actor), 1, tx.now)
        if not self._is_saving:
            from _thread import start_new_thread

            self._is_saving = True
            try:
                start_new_thread(_save_later, (ref(self),))
            except RuntimeError:  # no more threads: closing writes them
                self._is_saving = False

    def save(self) -> None:
        """Write the pending loads; keep them if the store is busy, drop them if it cannot be written."""
        if self._process != os.getpid():
            return
        pending, self._pending = self._pending, {}
        by_workspace: dict[str, Counts] = {}
        for key, figures in list(pending.items()):
            by_workspace.setdefault(key[0], {})[key] = figures
        for workspace, counts in by_workspace.items():
            rows = list(counts.items())
            for start in range(0, len(rows), _MAX_SAVED):
                batch = rows[start : start + _MAX_SAVED]
                if not self._write(workspace, batch):
                    for key, (loads, last_at) in batch:
                        _add(self._pending, key, loads, last_at)

    def _write(self, workspace: str, rows: list[tuple[LoadKey, list[int]]]) -> bool:
        """Write loads of one workspace without waiting for the lock; return False if they can be written later."""
        from moss_memory.errors import is_busy

        call = self._context("count loads")
        call.workspace = workspace
        try:
            tx = self._engine.write_transaction(timeout_s=0.0, call=call)
            try:
                for (_, capsule, actor), (loads, last_at) in rows:
                    tx.run(_SAVE, {"capsule": capsule, "actor": actor, "loads": loads, "last_at": last_at})
                tx.commit()
            finally:
                tx.rollback()
                tx.release()
        except Exception as error:
            return not is_busy(self._engine.translate(error) or error)
        return True

    def has_finished(self) -> bool:
        """Return True, and let a new thread start with the next load, if none is pending."""
        self._is_saving = False
        if self._pending:  # read afterwards: a load added now starts a thread or is written by this one
            self._is_saving = True
        return not self._is_saving


def _add(counts: Counts, key: LoadKey, loads: int, last_at: int) -> None:
    count = counts.get(key)
    if count is not None:
        count[0] += loads
        count[1] = max(count[1], last_at)
    elif len(counts) < _MAX_PENDING:
        counts[key] = [loads, last_at]


def _save_later(counts: ref[LoadCounts]) -> None:
    while True:
        time.sleep(SAVE_AFTER_S)
        live_counts = counts()
        if live_counts is None:
            return
        live_counts.save()
        if live_counts.has_finished():
            return
        del live_counts


def loads_of(tx: ReadTransaction, capsules: list[str]) -> dict[str, tuple[int, int]]:
    """Return the number of loads by all actors and the time of the last one, for each capsule that has any."""
    chosen = tx.sql_in("capsule", "capsules")
    sql = f"select capsule, sum(loads), max(last_at) from capsule_loads where {chosen} group by capsule"
    return {capsule: (int(loads), int(last_at)) for capsule, loads, last_at in tx.rows(sql, {"capsules": capsules})}


def actors_of_loads(tx: ReadTransaction, *, capsules: list[str]) -> dict[str, list[tuple[str, int]]]:
    """Return the actors that loaded each capsule with the number of their loads, the most first."""
    sql = (
        f"select capsule, actor, loads from capsule_loads where {tx.sql_in('capsule', 'capsules')}"
        " order by loads desc, actor"
    )
    loads_by_capsule: dict[str, list[tuple[str, int]]] = {}
    for capsule, actor, loads in tx.stream(sql, {"capsules": capsules}):
        loads_by_capsule.setdefault(capsule, []).append((actor, loads))
    return loads_by_capsule


def loads_by_actor(tx: ReadTransaction, capsule: str) -> list[dict[str, Any]]:
    """Return the loads of one capsule by each actor, the last one first."""
    sql = "select actor, loads, last_at from capsule_loads where capsule = :capsule order by last_at desc, actor"
    rows = tx.rows(sql, {"capsule": capsule})
    return [{"actor": actor, "loads": loads, "last_at": last_at} for actor, loads, last_at in rows]
