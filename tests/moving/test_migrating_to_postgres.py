"""`moss migrate` to PostgreSQL and back: the same store on both, down to the bytes of its export."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from contract.doors import FULL, Clock, StoreDoor, open_test_store
from contract.everything import call_everything, prepare
from moss_memory.config import default_config
from moss_memory.store import Store
from moss_memory.transfer import copy_store
from support.cli_typist import CAPSULE, Cli
from support.direct_store import rows, run
from support.moved_store import files_of
from support.postgres import PostgresServer
from support.python_process import start
from support.store_truth import open_at, refusal
from support.thorough import first_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.sqlite("it has a server of its own, and begins in a folder")

# Ends as if killed before a transaction of the target, counted from 0.
KILLED = """
import os, sys
from moss_memory.transfer import copy_store
from support.store_truth import open_at
home, to, after, at_once = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
copy_store._BATCH_ROWS = at_once
write, written = copy_store._write, [0]
def counted(*given):
    if written[0] == after:
        os.kill(os.getpid(), 9)
    write(*given)
    written[0] += 1
copy_store._write = counted
with open_at(home) as store:
    store.migrate(to)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """Start a separate server."""
    made = PostgresServer()
    yield made
    made.close()


@pytest.fixture
def url(server: PostgresServer, request: pytest.FixtureRequest) -> str:
    """Return an empty database."""
    name = f"to_{abs(hash(request.node.name))}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"create database {name}")
    return server.url.replace("/postgres?", f"/{name}?")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a store with all kinds of rows that tools can write."""
    home = str(tmp_path_factory.mktemp("source") / "home")
    prepare(home)
    with open_test_store(home, Clock()) as store:
        call_everything(StoreDoor(store))
    for doc in [doc for (doc,) in rows(home, "select doc from unembedded order by doc limit 3")]:
        run(
            home,
            f"delete from unembedded where doc = {doc}",
            f"insert into vectors (doc, model, vector) values ({doc}, 'm', x'00ff{doc % 256:02x}')",
        )
    return home


def at(url: str) -> Store:
    """Return the store on a server."""
    return Store(default_config("/nowhere").replace(url=url))


def exported(store: Store, folder: Path) -> dict[str, bytes]:
    """Return the files of an export of everything."""
    store.export_folder(str(folder), with_history=True)
    found: dict[str, bytes] = files_of(folder)
    return found


def test_migrating_there_and_back_gives_the_same_export(source: str, url: str, tmp_path: Path) -> None:
    with open_at(source) as store:
        there = store.migrate(url)
        wanted = exported(store, tmp_path / "source")
    with at(url) as store:
        assert exported(store, tmp_path / "there") == wanted
        back = store.migrate(f"sqlite:{tmp_path / 'back'}")
    assert back["tables"] == [table for table in there["tables"] if table["table"] in names(back)]
    with open_at(tmp_path / "back") as store:
        assert exported(store, tmp_path / "back again") == wanted


def test_vectors_and_rows_without_one_are_migrated_both_ways(source: str, url: str, tmp_path: Path) -> None:
    made, waiting = "select doc, model, vector from vectors order by doc", "select doc from unembedded order by seq"
    with open_at(source) as store:
        store.migrate(url)
    with psycopg.connect(url) as connection:
        there = [(doc, model, bytes(vector)) for doc, model, vector in connection.execute(made).fetchall()]
        assert there == rows(source, made)
        assert connection.execute(waiting).fetchall() == rows(source, waiting)
    with at(url) as store:
        store.migrate(f"sqlite:{tmp_path / 'back'}")
    assert len(there) == 3
    assert rows(str(tmp_path / "back"), made) == rows(source, made)
    assert rows(str(tmp_path / "back"), waiting) == rows(source, waiting)


@pytest.mark.parametrize("at_once", first_of([60, 5]))
def test_a_killed_migration_is_resumed(source: str, url: str, tmp_path: Path, at_once: int) -> None:
    for after in (1, 4, 9):
        process = start(KILLED, source, url, after, at_once)
        process.communicate()
        assert process.returncode == -9
        with at(url) as half:
            assert refusal(half.call, "capsule_list", {}).code == "NOT_A_STORE"
    with open_at(source) as store:
        counted = store.migrate(url, dry_run=True)
        answer = store.migrate(url)
        wanted = exported(store, tmp_path / "source")
    assert answer["resumed"] is True
    assert counted["rows"] == answer["rows"] > answer["changed"], "what was there was not written again"
    with at(url) as store:
        assert exported(store, tmp_path / "there") == wanted


def test_a_dry_run_counts_and_leaves_the_database_empty(source: str, url: str) -> None:
    with open_at(source) as store:
        counted = store.migrate(url, dry_run=True)
    assert (counted["dry_run"], counted["resumed"]) == (True, False)
    assert counted["rows"] > 0
    with psycopg.connect(url) as connection:
        assert connection.execute("select 1 from pg_class where relname = 'capsules'").fetchall() == []


def test_migrating_by_command_there_and_back_gives_equal_exports(
    source: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    here, there = {**os.environ, "MOSS_HOME": source}, {**os.environ, "MOSS_HOME": str(tmp_path), "MOSS_URL": url}
    back = {**os.environ, "MOSS_HOME": str(tmp_path / "back")}
    assert Cli(source, here).process("migrate", "--to", url).code == 0
    assert Cli("", there).process("store", "--name", "on-the-server", stdin=CAPSULE.encode()).code == 0
    assert Cli("", there).process("export", "--all", str(tmp_path / "exports" / "one")).code == 0
    assert Cli("", there).process("migrate", "--to", f"sqlite:{tmp_path / 'back'}").code == 0
    assert Cli("", back).process("export", "--all", str(tmp_path / "back" / "exports" / "two")).code == 0
    found = files_of(tmp_path / "exports" / "one")
    assert found == files_of(tmp_path / "back" / "exports" / "two")
    assert any("on-the-server" in name for name in found)


def names(answer: dict[str, Any]) -> set[str]:
    """Return the tables in an answer."""
    return {table["table"] for table in answer["tables"]}


def test_migrated_rows_are_usable_on_the_server_and_can_be_migrated_back(source: str, url: str, tmp_path: Path) -> None:
    with open_at(source) as store:
        store.migrate(url)
        here = store.call("capsule_list", {})["pagination"]["total"]
    with at(url) as store:
        stored = store.call("capsule_store", {"name": "on the server", "capsule_text": FULL})
        task = store.call("tasks_create", {"workspace": "new", "kind": "task", "title": "t", "steps": [{"title": "s"}]})
        assert store.call("capsule_list", {})["pagination"]["total"] == here + 1
        assert refusal(store.migrate, url).code == "CONFLICT"
        store.migrate(f"sqlite:{tmp_path / 'back'}")
        wanted = exported(store, tmp_path / "there")
    with open_at(tmp_path / "back") as store:
        assert exported(store, tmp_path / "here") == wanted
        assert store.call("capsule_fetch", {"name": "on the server"})["id"] == stored["id"]
        assert store.call("tasks_show", {"workspace": "new", "target": task["id"]})["title"] == "t"


def test_an_incompletely_migrated_store_is_refused_and_resumed(
    source: str, url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(copy_store, "_BATCH_ROWS", 50)
    with open_at(source) as store:
        for after in (0, 3, 20):
            with pytest.raises(KeyboardInterrupt):
                stopped(monkeypatch, after, lambda: store.migrate(url))
            with at(url) as half:
                for tool, arguments in (("capsule_list", {}), ("capsule_store", {"capsule_text": FULL})):
                    if after:
                        error = refusal(half.call, tool, arguments)
                        assert error.code == "NOT_A_STORE"
                        assert "moss migrate" in error.message
        answer = store.migrate(url)
        wanted = exported(store, tmp_path / "source")
    assert answer["resumed"] is True
    with at(url) as store:
        assert exported(store, tmp_path / "there") == wanted


def stopped(monkeypatch: pytest.MonkeyPatch, after: int, run: Callable[[], object]) -> None:
    """Run a function that is stopped after a number of transactions of the target."""
    write, written = copy_store._write, [0]

    def counted(*given: Any) -> None:
        if written[0] == after:
            raise KeyboardInterrupt
        write(*given)
        written[0] += 1

    with monkeypatch.context() as patch:
        patch.setattr(copy_store, "_write", counted)
        run()


@pytest.mark.parametrize(
    "to",
    [
        "postgresql://user:swordfish@localhost/db",
        "postgres://user:swordfish@localhost/db",
        "postgresql://localhost/db?password=swordfish",
        "postgresql://a:swordfish@localhost/db?sslpassword=swordfish",
        "postgresql://localhost/db\nswordfish",
    ],
)
def test_a_password_in_the_address_is_refused_and_never_repeated(source: str, to: str) -> None:
    with open_at(source) as store:
        error = refusal(store.migrate, to)
    assert error.code == "INVALID_REQUEST"
    assert "swordfish" not in str(error.payload())


def test_an_unreachable_server_is_a_typed_error_and_the_source_is_not_changed(source: str) -> None:
    with open_at(source) as store:
        before = store.call("capsule_list", {})
        error = refusal(store.migrate, "postgresql://moss@/none?host=/nowhere")
        assert error.code in ("STORAGE_BUSY", "STORAGE_READONLY")
        assert store.call("capsule_list", {}) == before
