"""`moss migrate` to PostgreSQL and back: the same store on both, down to the bytes of its export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from contract.doors import FULL, Clock, StoreDoor, open_test_store
from contract.everything import call_everything, prepare
from moss_memory.config import default_config
from moss_memory.moving import migration
from moss_memory.store import Store
from support.moved_store import files_of
from support.postgres import PostgresServer
from support.store_truth import open_at, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server of its own."""
    made = PostgresServer()
    yield made
    made.close()


@pytest.fixture
def url(server: PostgresServer, request: pytest.FixtureRequest) -> str:
    """An empty database."""
    name = f"to_{abs(hash(request.node.name))}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"create database {name}")
    return server.url.replace("/postgres?", f"/{name}?")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with everything that tools can write."""
    home = str(tmp_path_factory.mktemp("source") / "home")
    prepare(home)
    with open_test_store(home, Clock()) as store:
        call_everything(StoreDoor(store))
    return home


def at(url: str) -> Store:
    """The store on a server."""
    return Store(default_config("/nowhere").replace(url=url))


def exported(store: Store, folder: Path) -> dict[str, bytes]:
    """What an export of everything writes."""
    store.export_folder(str(folder), with_history=True)
    found: dict[str, bytes] = files_of(folder)
    return found


def test_there_and_back_again_gives_the_same_export(source: str, url: str, tmp_path: Path) -> None:
    with open_at(source) as store:
        there = store.migrate(url)
        wanted = exported(store, tmp_path / "source")
    with at(url) as store:
        assert exported(store, tmp_path / "there") == wanted
        back = store.migrate(f"sqlite:{tmp_path / 'back'}")
    assert back["tables"] == [table for table in there["tables"] if table["table"] in names(back)]
    with open_at(tmp_path / "back") as store:
        assert exported(store, tmp_path / "back again") == wanted


def names(answer: dict[str, Any]) -> set[str]:
    """The tables that an answer speaks of."""
    return {table["table"] for table in answer["tables"]}


def test_what_arrived_is_used_there_and_comes_back(source: str, url: str, tmp_path: Path) -> None:
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


def test_a_store_that_is_not_filled_to_its_end_is_refused_and_goes_on(
    source: str, url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(migration, "_ROWS_AT_ONCE", 50)
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
    """Runs something that is ended after so many transactions of the target."""
    write, written = migration._write, [0]

    def counted(*given: Any) -> None:
        if written[0] == after:
            raise KeyboardInterrupt
        write(*given)
        written[0] += 1

    with monkeypatch.context() as patch:
        patch.setattr(migration, "_write", counted)
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


def test_a_server_that_is_not_there_is_a_typed_error_and_the_source_is_as_it_was(source: str) -> None:
    with open_at(source) as store:
        before = store.call("capsule_list", {})
        error = refusal(store.migrate, "postgresql://moss@/none?host=/nowhere")
        assert error.code in ("STORAGE_BUSY", "STORAGE_READONLY")
        assert store.call("capsule_list", {}) == before
