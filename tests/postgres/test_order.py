"""Writers of one workspace run one at a time, those of several in parallel; no reader misses a change."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from moss_memory.errors import MossError
from moss_memory.storage.call import CallContext, new_id, wall_clock_ms
from moss_memory.storage.postgres import statements
from moss_memory.storage.postgres.statements import translate_sql
from moss_memory.storage.queries import Statement
from moss_memory.store import Store
from moss_memory.tools.everything.activity_tools import sql
from support.postgres import databases
from support.python_process import start
from support.store_truth import capsule
from support.thorough import complete_or
from support.timeouts import TIMEOUT_S, wait_until

WRITERS, WORKSPACES, ROUNDS = 8, 3, complete_or(12, 6)

# What one process does: in its workspace, in another, by id, and what looks after all of them.
WRITE = """
import json, sys
from moss_memory.config import default_config
from moss_memory.store import Store
from support.store_truth import capsule
url, home, worker, workspaces, rounds = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
store = Store(default_config(home).replace(url=url))
store.call("capsule_list", {})
print("ready", flush=True)
sys.stdin.readline()
for number in range(rounds):
    own = f"w{(worker + number) % workspaces}"
    store.call("branchmind_notes_commit", {"workspace": own, "content": f"{worker}.{number}"})
    store.call("tasks_create", {"workspace": own, "kind": "task", "title": f"{worker}.{number}"})
    kept = store.call("capsule_store", {"workspace": own, "capsule_text": capsule()})
    store.call("capsule_update", {"id": kept["id"], "title": f"{worker}.{number}"})
    wanted = {"workspace": own, "kind": "k", "data": {"n": number}, "ttl_seconds": 1}
    store.call("artifact_store", wanted)
    if number % 4 == 0:
        store.call("artifact_bulk_update", {"workspace": own, "set_phase": "p"})
print("done", flush=True)
"""


@contextmanager
def writing(store: Store, workspace: str | None) -> Iterator[None]:
    """Acquire the locks of a call that writes in this workspace, or in any."""
    call = CallContext(
        operation="test", config=store.config, clock_ms=wall_clock_ms, new_id=new_id, cancelled=None, progress=None,
        workspace=workspace,
    )  # fmt: skip
    tx = store._engine.write_transaction(timeout_s=TIMEOUT_S, call=call)
    try:
        tx.run("update upkeep set done_at = done_at where false")
        yield
    finally:
        tx.rollback()
        tx.release()


def keeps_waiting(store: Store, tool: str, **arguments: Any) -> bool:
    """Return whether a call has to wait for others."""
    try:
        store.call(tool, arguments, wait=False)
    except MossError as error:
        return error.code == "STORAGE_BUSY"
    return False


def test_writers_wait_only_for_those_in_their_own_workspace(store: Store) -> None:
    kept = store.call("capsule_store", {"workspace": "a", "name": "n", "capsule_text": capsule()})
    text = {"capsule_text": capsule()}
    with writing(store, "A"):
        assert keeps_waiting(store, "capsule_store", workspace=" a ", **text)
        assert keeps_waiting(store, "capsule_append", workspace="a", name="n", section="Decisions", content="x")
        assert keeps_waiting(store, "capsule_update", id=kept["id"], title="other")
        assert not keeps_waiting(store, "capsule_store", workspace="b", **text)
        assert not keeps_waiting(store, "capsule_store", **text)
        assert not keeps_waiting(store, "tasks_create", workspace="b", kind="task", title="t")
        assert not keeps_waiting(store, "capsule_bulk_delete", workspace="b")
    with writing(store, None):
        assert keeps_waiting(store, "capsule_store", workspace="b", **text)


def test_a_taken_number_does_not_block_other_writers(store: Store) -> None:
    for workspace in ("a", "b"):
        store.call("branchmind_notes_commit", {"workspace": workspace, "content": "first"})
    call = CallContext(
        operation="test", config=store.config, clock_ms=wall_clock_ms, new_id=new_id, cancelled=None, progress=None,
        workspace="a",
    )  # fmt: skip
    from moss_memory.tools.reasoning.branches.visible_ranges import reserve_seqs

    tx: Any = store._engine.write_transaction(timeout_s=TIMEOUT_S, call=call)
    try:
        first = reserve_seqs(tx, 5)
        store.call("branchmind_notes_commit", {"workspace": "b", "content": "second"}, wait=False)
        assert reserve_seqs(tx) > first + 5
    finally:
        tx.rollback()
        tx.release()


def test_a_change_that_is_committed_late_is_not_overlooked(store: Store) -> None:
    store.call("capsule_store", {"workspace": "b", "capsule_text": capsule()})
    known = store.call("moss_changes", {})["seq"]
    with writing(store, "a"):
        store.call("capsule_store", {"workspace": "b", "capsule_text": capsule()})
        assert store.call("moss_changes", {"after": known}) == {"seq": known, "changes": [], "has_more": False}
    wait_until(  # others on the same server may be at work
        lambda: [change["workspace"] for change in store.call("moss_changes", {"after": known})["changes"]] == ["b"],
        "the change is overlooked",
    )


def test_a_transaction_in_another_database_holds_no_change_back(store: Store, tmp_path: Path) -> None:
    store.call("capsule_store", {"workspace": "a", "capsule_text": capsule()})
    known = store.call("moss_changes", {})["seq"]
    with psycopg.connect(databases().url_of(str(tmp_path / "other"))) as other:
        other.execute("select pg_current_xact_id()")
        store.call("capsule_store", {"workspace": "b", "capsule_text": capsule()})
        changes = store.call("moss_changes", {"after": known})["changes"]
        assert [change["workspace"] for change in changes] == ["b"]
        other.rollback()


@pytest.mark.parametrize("first", [str, Statement.filled])
def test_a_statement_is_translated_for_a_server_and_equal_plain_text_is_not(
    first: Callable[[Statement], str],
) -> None:
    own = sql["last_change"]
    statements._known.clear()
    translate_sql(first(own))
    assert translate_sql(str(own)).sql == own
    assert "last_change()" in translate_sql(own).sql


def test_marks_differ_after_every_commit(store: Store) -> None:
    store.call("capsule_store", {"workspace": "a", "capsule_text": capsule()})
    first = store._engine.change_token()
    with writing(store, "a"):
        store.call("capsule_store", {"workspace": "b", "capsule_text": capsule()})
        assert store._engine.change_token() != first


def test_within_a_workspace_numbers_rise_in_the_order_of_commits_and_watchers_see_every_change(
    store: Store, url: str, home: str
) -> None:
    store.call("capsule_list", {})
    writers = [start(WRITE, url, home, worker, WORKSPACES, ROUNDS) for worker in range(WRITERS)]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()
        watch = Watch(store)

        def are_done() -> bool:
            watch.look()
            return all(writer.poll() is not None for writer in writers)

        wait_until(are_done, "the writers do not come to an end")
        assert [writer.stdout.read() for writer in writers if writer.stdout] == ["done\n"] * WRITERS
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    wait_until(watch.has_seen_all, "a change is overlooked")
    watch.check()


class Watch:
    """Poll for new rows, by the largest number of a workspace and by the store's own changes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._largest: dict[str, int] = {}
        self._seen: set[int] = set()
        self._after = 0
        self._changes: list[int] = []

    def look(self) -> None:
        """Read new rows; fail if one is below the largest number of its workspace."""
        new = self._rows("select workspace_norm, seq from doc_entries order by seq")
        largest = dict(self._largest)
        for workspace, seq in new:
            if seq not in self._seen:
                assert seq > largest.get(workspace, 0), f"{seq} came late in {workspace}"
                self._seen.add(seq)
                self._largest[workspace] = max(seq, self._largest.get(workspace, 0))
        while True:
            answer = self._store.call("moss_changes", {"after": self._after, "limit": 1000})
            self._changes += [change["seq"] for change in answer["changes"]]
            self._after = self._changes[-1] if self._changes else 0
            if not answer["has_more"]:
                break

    def has_seen_all(self) -> bool:
        """Poll once more; other transactions on the same server may delay the last changes."""
        self.look()
        return self._changes == [seq for (seq,) in self._rows("select seq from events order by seq")]

    def check(self) -> None:
        """Compare the observed rows with the stored ones."""
        assert self._seen == {seq for _, seq in self._rows("select workspace_norm, seq from doc_entries")}
        dates = self._rows("select workspace, seq, ts_ms from events where workspace is not null order by seq")
        by_workspace = {workspace: [ts for one, _, ts in dates if one == workspace] for workspace, _, _ in dates}
        assert len(by_workspace) == WORKSPACES
        assert all(times == sorted(times) for times in by_workspace.values()), "changes are dated in another order"
        tasks = self._rows("select workspace_norm, count(*), count(distinct id) from tasks group by 1")
        assert sum(count for _, count, _ in tasks) == WRITERS * ROUNDS
        assert all(count == distinct for _, count, distinct in tasks), json.dumps(tasks)

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        call = CallContext(
            operation="test", config=self._store.config, clock_ms=wall_clock_ms, new_id=new_id, cancelled=None,
            progress=None,
        )  # fmt: skip
        tx = self._store._engine.read_transaction(snapshot=False, call=call)
        try:
            return list(tx.rows(sql))
        finally:
            tx.release()
