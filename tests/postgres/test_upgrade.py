"""A schema changes by a command only; stores of every earlier schema are upgraded completely or not at all."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from moss_memory.config import default_config
from moss_memory.storage.call import CallContext
from moss_memory.storage.health import DAMAGED, FAILED
from moss_memory.storage.postgres import engine as engine_module
from moss_memory.storage.postgres import schema, transaction
from moss_memory.storage.schema_version import SCHEMA_VERSION
from moss_memory.store import Store
from postgres.make_old_stores import COMMITS, FILL, FOLDER, ROOT
from postgres.test_first_open import made
from support.http_server import HttpServer
from support.mcp_pipe import request
from support.store_truth import refusal
from support.team_load import REAL
from support.timeouts import TIMEOUT_S, wait_until

if TYPE_CHECKING:
    from support.cli_typist import Cli

RELEASE = "35ffcec7"
"""The last commit of version 0.1.0."""
NEXT = SCHEMA_VERSION + 1
THIN: dict[str, Any] = {"capsule_text": "the quokka", "allow_thin": True}
SHAPE = {
    "columns": "select table_name, column_name, data_type, is_nullable, collation_name from information_schema.columns"
    " where table_schema = 'public' order by 1, 2",
    "indexes": "select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1",
    "functions": "select proname, pg_get_functiondef(oid) from pg_proc"
    " where pronamespace = 'public'::regnamespace order by 1, 2",
    "triggers": "select tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal order by 1",
    "sequences": "select relname from pg_class where relkind = 'S' order by 1",
}
SERVE = """
import json, sys, tempfile
from moss_memory.config import default_config
from moss_memory.errors import MossError
from moss_memory.store import Store
with Store(default_config(tempfile.mkdtemp()).replace(url=sys.argv[1])) as store:
    for line in sys.stdin:
        try:
            answer = store.call(*json.loads(line))
        except MossError as error:
            answer = {"error": error.code}
        print(json.dumps(answer), flush=True)
"""


def opened(url: str) -> Store:
    """Return a store in a database."""
    return Store(default_config("/nowhere").replace(url=url))


def old_store(url: str, name: str) -> str:
    """Return the URL of a new database with a store of an earlier schema."""
    there = made(url, "of_old")
    with psycopg.connect(there, autocommit=True) as connection:
        connection.execute(gzip.decompress((FOLDER / f"{name}.sql.gz").read_bytes()))
    return there


def version(url: str) -> int:
    """Return the number of the schema of a database."""
    with psycopg.connect(url) as connection:
        row = connection.execute("select version from moss_schema").fetchone()
    assert row is not None
    return int(row[0])


def set_version(url: str, number: int, *, additive: bool) -> None:
    """Set the version of the schema."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("update moss_schema set version = %s, additive = %s", (number, int(additive)))


def shape(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return the tables, columns, indexes and functions of the schema."""
    with psycopg.connect(url) as connection:
        return {name: connection.execute(sql).fetchall() for name, sql in SHAPE.items()}


def problems(store: Store) -> list[str]:
    """Return the faults that the engine finds in a store."""
    call = CallContext(
        operation="test", config=store.config, clock_ms=lambda: 0, new_id=lambda now_ms: "", cancelled=None,
        progress=None,
    )  # fmt: skip
    found = store._engine.check_health(call=call, fix=False)
    return [one.subject for one in found if one.state in (DAMAGED, FAILED) and one.subject != "durability"]


def found(store: Store) -> int:
    """Return the number of capsules that a search finds."""
    call = {"query": "quokka", "workspace": "zoo", "search_mode": "keyword"}
    total: int = store.call("capsule_search", call)["pagination"]["total"]
    return total


@pytest.mark.parametrize("name", COMMITS)
def test_a_store_of_every_earlier_schema_is_upgraded_by_the_command_alone(url: str, name: str) -> None:
    there = old_store(url, name)
    number = int(name.partition("-")[0])
    with opened(there) as store:
        for tool, arguments in (("capsule_list", {}), ("capsule_store", THIN)):
            error = refusal(store.call, tool, arguments)
            assert (error.code, error.retryable) == ("STORAGE_BUSY", True)
            assert "`moss upgrade`" in error.message
        assert version(there) == number
        assert store.upgrade() == {"schema": SCHEMA_VERSION, "before": number, "upgraded": True}
        assert store.upgrade() == {"schema": SCHEMA_VERSION, "before": SCHEMA_VERSION, "upgraded": False}
        assert found(store) == 1
        hits = store.call("moss_search", {"query": "quokka", "workspace": "zoo", "search_mode": "keyword"})["items"]
        assert {"capsule", "artifact", "note"} <= {one["type"] for one in hits}
        assert problems(store) == []
        store.call("capsule_store", {**THIN, "workspace": "zoo", "name": "new"})
        assert found(store) == 2
    with opened(made(url, "of_today")) as new:
        new.call("capsule_list", {})
        assert shape(there) == shape(new.config.url)


def test_an_interrupted_upgrade_changes_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there = old_store(url, "16")
    send = transaction._run_pipeline

    def dying(connection: Any, before: list[Any], statements: list[Any], binary: bool) -> Any:
        connection.close()
        return send(connection, before, statements, binary)

    with opened(there) as store:
        with monkeypatch.context() as patch:
            patch.setattr(transaction, "_run_pipeline", dying)
            refusal(store.upgrade)
        assert version(there) == 16
        assert store.upgrade()["before"] == 16
        assert problems(store) == []


def test_a_schema_one_additive_version_ahead_is_served_and_no_other(url: str) -> None:
    there = made(url, "ahead")
    with opened(there) as store:
        store.call("capsule_store", THIN)
        set_version(there, NEXT, additive=True)
        store.call("capsule_store", THIN)  # a process that runs meanwhile
        with opened(there) as other:
            assert other.call("capsule_list", {})["pagination"]["total"] == 2
            other.call("capsule_store", THIN)
            assert other.upgrade()["upgraded"] is False
        assert version(there) == NEXT
        for number, additive in ((NEXT, False), (NEXT + 1, True)):
            set_version(there, SCHEMA_VERSION, additive=False)
            store.call("capsule_store", THIN)
            set_version(there, number, additive=additive)
            assert refusal(store.call, "capsule_store", THIN).code == "NOT_A_STORE"
            with opened(there) as other:
                assert refusal(other.call, "capsule_list", {}).code == "NOT_A_STORE"


@pytest.mark.parametrize("additive", [True, False])
def test_an_older_schema_is_served_while_the_change_is_additive(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, additive: bool
) -> None:
    there = made(url, "behind")
    with opened(there) as store:
        store.call("capsule_store", THIN)
    changes = tmp_path / "changes"
    shutil.copytree(schema.CHANGES, changes)
    first = "-- additive: yes" if additive else "-- additive: no"
    (changes / f"{NEXT:04}_later.sql").write_text(f"{first}\ncreate index later on events (ts_ms);\n")
    with opened(there) as old:
        old.call("capsule_list", {})
        with monkeypatch.context() as newer:
            newer.setattr(schema, "CHANGES", str(changes))
            newer.setattr(schema, "SCHEMA_VERSION", NEXT)
            newer.setattr(engine_module, "SCHEMA_VERSION", NEXT)
            with opened(there) as store:
                if additive:
                    store.call("capsule_store", THIN)
                    assert store.call("capsule_list", {})["pagination"]["total"] == 2
                else:
                    assert refusal(store.call, "capsule_list", {}).retryable
                assert version(there) == SCHEMA_VERSION
                assert store.upgrade() == {"schema": NEXT, "before": SCHEMA_VERSION, "upgraded": True}
                store.call("capsule_store", THIN)
        if additive:
            old.call("capsule_store", THIN)
        else:
            assert refusal(old.call, "capsule_store", THIN).code == "NOT_A_STORE"


def test_a_reader_without_its_tables_reports_a_changed_schema(url: str) -> None:
    there = made(url, "changed")
    with opened(there) as store:
        store.call("capsule_store", THIN)
        with psycopg.connect(there, autocommit=True) as connection:
            connection.execute("drop table search_postings")
        set_version(there, NEXT, additive=False)
        error = refusal(store.call, "capsule_search", {"query": "quokka", "search_mode": "keyword"})
    assert error.code == "NOT_A_STORE"
    assert error.details == {"database_version": NEXT, "known_version": SCHEMA_VERSION}


def test_every_migration_says_if_it_is_additive() -> None:
    assert [one.number for one in schema.migrations_after(0)][-1] == SCHEMA_VERSION
    assert {one.number for one in schema.migrations_after(0) if one.is_additive} == {16}


def test_the_command_upgrades_and_reports_it(url: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSS_URL", old_store(url, "16"))
    refused = cli("list")
    assert refused.code != 0
    assert "moss upgrade" in refused.err
    assert cli("upgrade", "--json").json == {"schema": SCHEMA_VERSION, "before": 16, "upgraded": True}
    assert cli("fetch", "animal", "-w", "zoo").code == 0


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the previous release, built as a wheel from its commit and installed in a folder."""
    folder = tmp_path_factory.mktemp("release")
    archive = subprocess.run(["git", "archive", RELEASE], check=True, capture_output=True, cwd=ROOT).stdout
    (folder / "source").mkdir()
    subprocess.run(["tar", "x", "-C", folder / "source"], input=archive, check=True)
    uv = Path(sys.executable).with_name("uv")
    subprocess.run(
        [uv, "build", "--wheel", "--offline", "--quiet", "--out-dir", folder], check=True, cwd=folder / "source"
    )
    [wheel] = folder.glob("*.whl")
    assert "-0.1.0-" in wheel.name
    installed = folder / "installed"
    subprocess.run(
        [uv, "pip", "install", "--offline", "--quiet", "--no-deps", "--target", installed, wheel], check=True
    )
    return str(installed)


class OldProcess:
    """A process of the previous release with a store of its schema."""

    def __init__(self, url: str, release: str) -> None:
        environment = {**os.environ, "PYTHONPATH": release}
        subprocess.run([sys.executable, "-c", FILL, url], check=True, env=environment)
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVE, url],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.acknowledged = {"animal"}

    def __enter__(self) -> OldProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=TIMEOUT_S)

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([tool, arguments]), file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def write(self, name: str) -> dict[str, Any]:
        answer = self.call("capsule_store", {**THIN, "workspace": "zoo", "name": name})
        if "error" not in answer:
            self.acknowledged.add(name)
        return answer


def names(listed: dict[str, Any]) -> set[str]:
    """Return the names of the capsules in a list."""
    return {one["name"] for one in listed["items"]}


def test_the_previous_release_serves_until_the_upgrade_and_loses_nothing(url: str, release: str) -> None:
    there = made(url, "rolling")
    with OldProcess(there, release) as old, opened(there) as new:
        assert "error" not in old.write("before")
        assert refusal(new.call, "capsule_list", {}).retryable
        assert "error" not in old.write("meanwhile"), "a reader of the new version changes nothing"
        assert new.upgrade()["before"] == 16
        assert old.write("after") == {"error": "NOT_A_STORE"}
        assert names(new.call("capsule_list", {"workspace": "zoo"})) == old.acknowledged
        assert found(new) == 3
        assert problems(new) == []


def test_a_server_upgrades_before_it_serves_and_others_continue_or_report_the_reason(
    url: str, release: str, tmp_path: Path
) -> None:
    there = made(url, "served")
    homes = [tmp_path / name / "home" for name in ("waiting", "upgrading")]
    for home in homes:
        home.mkdir(parents=True, mode=0o700)
    listing = request("tools/call", {"name": "capsule_list", "arguments": {"workspace": "zoo"}})
    with OldProcess(there, release) as old, HttpServer(homes[0], code=REAL, url=there) as waiting:
        assert waiting.ask("GET", "/readyz").status == 503
        told = waiting.post(listing).json["result"]["structuredContent"]["error"]
        assert (told["code"], told["retryable"]) == ("STORAGE_BUSY", True)
        assert "`moss upgrade`" in told["message"]
        assert version(there) == 16
        assert "error" not in old.write("before")
        assert names(old.call("capsule_list", {"workspace": "zoo"})) == old.acknowledged
        with HttpServer(homes[1], "--upgrade", code=REAL, url=there) as server:
            assert version(there) == SCHEMA_VERSION
            assert server.ask("GET", "/readyz").status == 200
            wait_until(lambda: waiting.ask("GET", "/readyz").status == 200, "the other server does not go on")
            for one in (server, waiting):
                assert names(one.post(listing).json["result"]["structuredContent"]) == old.acknowledged
        assert old.write("after") == {"error": "NOT_A_STORE"}
        assert names(old.call("capsule_list", {"workspace": "zoo"})) == old.acknowledged, "its lists are still true"
    with opened(there) as store:
        assert found(store) == 2
        assert problems(store) == []
