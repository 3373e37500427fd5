"""A call is executed once and answered once, even if the connection is cut around its commit."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from moss_memory.config import default_config
from moss_memory.errors import MossError
from moss_memory.storage import server_tables
from moss_memory.storage.postgres import retry
from moss_memory.store import Store
from support.cutting_proxy import Cut, CuttingProxy
from support.postgres import PostgresServer, databases
from support.store_truth import capsule
from support.thorough import complete_or
from support.timeouts import TIMEOUT_S, wait_until

TIMES = complete_or(200, 60)
ANNA: dict[str, Any] = {"name": "anna", "sha256": "0" * 64, "read_only": False, "lifetime_s": None}
OTHERS = "from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()"


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Return an empty database, reached without a proxy."""
    return databases().url_of(str(tmp_path / "home"))


@pytest.fixture
def proxy(url: str) -> Iterator[CuttingProxy]:
    folder = urlsplit(url).query.removeprefix("host=")
    proxy = CuttingProxy(f"{folder}/.s.PGSQL.5432")
    yield proxy
    proxy.close()


@pytest.fixture
def store(url: str, proxy: CuttingProxy, tmp_path: Path) -> Iterator[Store]:
    """Return the store behind the proxy, already open."""
    config = default_config(str(tmp_path)).replace(url=proxy.url(urlsplit(url).path.strip("/")))
    with Store(config) as store:
        keep(store, "first")
        yield store


def keep(store: Store, title: str, **more: Any) -> str:
    """Store a capsule without a name, so that storing it twice makes two."""
    answer = store.call("capsule_store", {"workspace": "w", "title": title, "capsule_text": capsule()}, **more)
    return str(answer["id"])


def titles(url: str) -> list[tuple[str, str]]:
    """Return every capsule as title and id, queried from the server directly."""
    with psycopg.connect(url) as connection:
        return connection.execute("select title, id from capsules where title <> 'first' order by row_id").fetchall()


def test_acknowledged_writes_are_stored_once_if_commits_are_cut_off(
    store: Store, proxy: CuttingProxy, url: str
) -> None:
    told = []
    for number in range(TIMES):
        proxy.next = Cut.QUESTION if number % 2 else Cut.ANSWER
        told.append((f"{number}", keep(store, f"{number}")))
    assert proxy.cuts == TIMES
    assert titles(url) == told


def test_a_call_with_an_unknown_outcome_is_reported_and_safe_to_repeat(
    store: Store, proxy: CuttingProxy, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "IN_DOUBT_TIMEOUT_S", 0.1)
    for number, cut in enumerate((Cut.ANSWER, Cut.QUESTION)):
        proxy.next, proxy.turns_away = cut, True
        with pytest.raises(MossError) as caught:
            keep(store, f"{number}", wait=False)
        assert caught.value.code == "STORAGE_UNKNOWN"
        assert caught.value.payload()["error"]["retryable"] is True
        assert caught.value.details is not None
        proxy.turns_away = False
        once = keep(store, f"{number}", idempotency_key=caught.value.details["call_id"])
        assert titles(url)[number:] == [(f"{number}", once)]


def test_a_token_whose_commit_is_cut_off_is_made_and_revoked_once(store: Store, proxy: CuttingProxy) -> None:
    for cut in (Cut.ANSWER, Cut.QUESTION):
        proxy.next = cut
        assert store.write(server_tables.add_token, what="token_create", **ANNA)["name"] == "anna"
        proxy.next = cut
        assert store.write(server_tables.revoke_token, what="token_revoke", name="anna")["revoked"]
    assert proxy.cuts == 4
    assert store.read(server_tables.list_tokens, what="token_list") == []


def test_a_call_with_an_idempotency_key_is_found_by_that_key(
    store: Store, proxy: CuttingProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "IN_DOUBT_TIMEOUT_S", 0.1)
    proxy.next, proxy.turns_away = Cut.ANSWER, True
    with pytest.raises(MossError) as caught:
        keep(store, "kept", wait=False, idempotency_key="mine")
    assert caught.value.details == {"call_id": "mine"}


def test_a_write_that_is_no_tool_and_has_an_unknown_outcome_names_no_key(
    store: Store, proxy: CuttingProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "IN_DOUBT_TIMEOUT_S", 0.1)
    proxy.next, proxy.turns_away = Cut.ANSWER, True
    with pytest.raises(MossError) as caught:
        store.write(server_tables.add_token, what="token_create", timeout_s=0.0, **ANNA)
    assert caught.value.code == "STORAGE_UNKNOWN"
    assert caught.value.details is None
    assert "before you run it again" in caught.value.message


def test_a_call_that_may_be_committed_is_not_reported_as_cancelled(store: Store, proxy: CuttingProxy, url: str) -> None:
    proxy.next, proxy.turns_away = Cut.ANSWER, True
    with psycopg.connect(url) as beside, ThreadPoolExecutor() as pool:
        call = pool.submit(keep, store, "kept", cancelled=lambda: proxy.cuts > 0)
        wait_until(lambda: proxy.turned_away > 0, "the call is not retried")
        beside.execute("select enter_write('w', 1000)")
        proxy.turns_away = False
        wait_until(lambda: call.done() or has_waited_for_a_lock(url), "the retry does not wait for the lock")
        beside.rollback()
        assert titles(url) == [("kept", call.result())]


def test_a_call_that_may_be_committed_is_not_reported_as_refused_by_a_lock(
    store: Store, proxy: CuttingProxy, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "IN_DOUBT_TIMEOUT_S", 1.0)
    proxy.next, proxy.turns_away = Cut.ANSWER, True
    with psycopg.connect(url) as beside, ThreadPoolExecutor() as pool:
        call = pool.submit(keep, store, "kept", wait=False)
        wait_until(lambda: proxy.turned_away > 0, "the call is not retried")
        beside.execute("select enter_write('w', 1000)")
        proxy.turns_away = False
        with pytest.raises(MossError) as caught:
            call.result()
    assert caught.value.code == "STORAGE_UNKNOWN"


def has_waited_for_a_lock(url: str) -> bool:
    """Return whether any process has waited for a lock for longer than the interval of checks for cancellation."""
    waiting = f"{OTHERS} and wait_event_type = 'Lock' and now() - query_start > interval '0.7 s'"
    with psycopg.connect(url) as connection:
        return connection.execute(f"select 1 {waiting}").fetchone() is not None


def test_a_connection_cut_during_a_call_does_not_make_it_fail(store: Store, url: str) -> None:
    ended = threading.Event()

    def cancelled() -> bool:
        if not ended.is_set() and is_writing(url):
            ended.set()
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(f"select pg_terminate_backend(pid) {OTHERS}")
        return False

    lines = [
        {"id": f"{number}", "workspace_raw": "w", "title": f"{number}", "capsule_text": "t"} for number in range(3)
    ]
    exports = Path(store.config.home) / "exports"
    exports.mkdir()
    (exports / "given.jsonl").write_text("\n".join(map(json.dumps, lines)))
    store.call("capsule_import", {"path": "given.jsonl"}, cancelled=cancelled)
    assert ended.is_set()
    assert titles(url) == [("0", "0"), ("1", "1"), ("2", "2")]


def is_writing(url: str) -> bool:
    """Return whether any process is inside a writing transaction."""
    with psycopg.connect(url) as connection:
        found = connection.execute(f"select count(*) {OTHERS} and backend_xid is not null").fetchone()
    return found is not None and found[0] > 0


def test_a_call_that_stops_waiting_for_a_standby_is_answered_only_once_it_is_replicated(tmp_path: Path) -> None:
    server = PostgresServer("synchronous_commit=on")
    try:
        config = default_config(str(tmp_path)).replace(url=server.url)
        with (
            Store(config) as store,
            psycopg.connect(server.url, autocommit=True) as beside,
            ThreadPoolExecutor() as pool,
        ):
            keep(store, "first")
            set_standbys(beside, "'nobody'")
            calls: list[Future[str]] = []

            def a_call_waits() -> bool:
                # The server applies its settings a moment after the reload, so the first calls may not wait.
                if not calls or calls[-1].done():
                    calls.append(pool.submit(keep, store, "kept"))
                return bool(waiting_for_a_standby(beside))

            try:
                wait_until(a_call_waits, "no call waits for a standby")
                [pid] = waiting_for_a_standby(beside)
                beside.execute("select pg_cancel_backend(%s)", (pid,))
                wait_until(lambda: waiting_for_a_standby(beside) not in ([], [pid]), "the retry waits for no standby")
                assert not calls[-1].done()
            finally:
                set_standbys(beside, "default")  # a call that waits would keep a failed test from ending
            assert titles(server.url) == [("kept", call.result()) for call in calls]
    finally:
        server.close()


def set_standbys(beside: Any, names: str) -> None:
    """Set the standbys that each commit waits for."""
    beside.execute(f"alter system set synchronous_standby_names = {names}")
    beside.execute("select pg_reload_conf()")


def waiting_for_a_standby(beside: Any) -> list[int]:
    """Return the ids of the server's processes that wait for a standby."""
    rows = beside.execute("select pid from pg_stat_activity where wait_event = 'SyncRep'").fetchall()
    return [pid for (pid,) in rows]


def test_a_read_waits_for_a_server_that_is_away_for_a_moment(store: Store, proxy: CuttingProxy) -> None:
    store.close()
    proxy.turns_away = True
    with pytest.raises(MossError) as caught:
        store.call("capsule_list", {}, wait=False)
    assert caught.value.code == "STORAGE_BUSY"
    assert caught.value.retryable
    before = proxy.turned_away

    def come_back() -> None:
        wait_until(lambda: proxy.turned_away >= before + 3, "the read does not try again")
        proxy.turns_away = False

    waiting = threading.Thread(target=come_back)
    waiting.start()
    [found] = store.call("capsule_list", {"workspace": "w"})["items"]
    waiting.join(TIMEOUT_S)
    assert found["title"] == "first"


def test_a_read_that_waits_can_be_cancelled(store: Store, proxy: CuttingProxy) -> None:
    store.close()
    proxy.turns_away = True
    with pytest.raises(MossError) as caught:
        store.call("capsule_list", {}, cancelled=lambda: proxy.turned_away > 2)
    assert caught.value.code == "CANCELLED"
