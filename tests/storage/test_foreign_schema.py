"""A store whose schema differs from that of the migrations is refused with the names of the foreign objects."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from moss_memory.storage.schema_version import SCHEMA_VERSION
from moss_memory.storage.sqlite import schema_check
from moss_memory.storage.sqlite.connections import open_empty
from moss_memory.storage.sqlite.schema_check import KNOWN, differences, schema_text
from moss_memory.store import Store
from storage.database import connect
from support.cli_typist import Cli
from support.old_store import make_old
from support.store_truth import capsule, open_at, refusal
from support.thorough import complete_or

ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n"
FOREIGN = {
    "evil_trigger": f"create trigger evil_trigger after insert on events begin delete from capsules; {ENDLESS}; end",
    "evil_view": f"create view evil_view as {ENDLESS}",
    "evil_table": "create table evil_table (x)",
    "evil_index": "create index evil_index on capsules (title)",
    "evil_virtual": "create virtual table evil_virtual using fts5 (x)",
    "note_rows": f"drop view note_rows; create view note_rows as {ENDLESS}",
    "capsules": "alter table capsules add column more text generated always as (hex(zeroblob(1000000000))) virtual",
    "capsules_indexed": "drop trigger capsules_indexed",
    "capsules_by_name": "drop index capsules_by_name",
    "branches": "drop table branches; create view branches as " + ENDLESS,
}


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("MOSS_HOME", str(home))
    return Cli(str(home), {**os.environ, "MOSS_HOME": str(home)})


@pytest.fixture
def filled(home: Path) -> Path:
    with open_at(home) as store:
        store.call("capsule_store", {"name": "kept", "capsule_text": capsule()})
    return home


@pytest.fixture
def fresh() -> Iterator[apsw.Connection]:
    connection = open_empty()
    connection.execute("pragma query_only = off")
    yield connection
    connection.close()


def add(home: Path, sql: str, name: str = "moss.db") -> None:
    connection = connect(home, name)
    connection.execute(sql)
    connection.close()


def test_the_generated_schema_is_the_one_of_the_migrations(fresh: apsw.Connection) -> None:
    assert Path(KNOWN).read_bytes().decode() == schema_text(fresh), "run `make docs`"


@pytest.mark.parametrize("name", FOREIGN)
def test_reads_writes_doctor_and_restore_name_the_foreign_objects(filled: Path, cli: Cli, name: str) -> None:
    add(filled, FOREIGN[name])
    for tool, arguments in (("capsule_list", {}), ("capsule_store", {"capsule_text": capsule()})):
        with open_at(filled) as store:
            error = refusal(lambda tool=tool, arguments=arguments: store.call(tool, arguments))
        assert error.code == "STORAGE_CORRUPT"
        assert name in error.message
        assert "moss export --salvage" in error.message
        assert error.details is not None
        assert name in [one["name"] for one in error.details["schema"]]
    report = json.loads(cli("doctor").out)
    assert not report["healthy"]
    assert [one for one in report["checks"] if one["status"] == "fail" and name in one["message"]]
    crafted = filled.parent / "crafted.db"
    os.rename(filled / "moss.db", crafted)
    done = cli("restore-backup", str(crafted))
    assert "STORAGE_CORRUPT" in done.err
    assert name in done.err
    assert not (filled / "moss.db").exists()
    assert not [one for one in os.listdir(filled) if ".part" in one]


def test_rows_of_a_store_with_a_foreign_schema_are_saved(filled: Path, cli: Cli) -> None:
    for name in ("evil_trigger", "evil_view", "evil_table", "note_rows", "branches"):
        add(filled, FOREIGN[name])
    folder = filled.parent / "saved"
    assert cli("export", "--salvage", str(folder)).code == 0
    assert list(folder.glob("capsules/default/kept*.md"))


def test_a_running_writer_notices_a_trigger_that_comes_later(filled: Path) -> None:
    with open_at(filled) as store:
        store.call("capsule_update", {"name": "kept", "title": "one"})
        add(filled, FOREIGN["evil_trigger"])
        error = refusal(lambda: store.call("capsule_update", {"name": "kept", "title": "two"}))
        assert error.code == "STORAGE_CORRUPT"
        assert "evil_trigger" in error.message
        add(filled, "drop trigger evil_trigger")
        store.call("capsule_update", {"name": "kept", "title": "three"})


def test_statistics_and_compaction_change_nothing(filled: Path) -> None:
    add(filled, "analyze; vacuum")
    with open_at(filled) as store:
        store.call("capsule_store", {"name": "more", "capsule_text": capsule()})
        assert store.call("capsule_list", {})["pagination"]["total"] == 2


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION, complete_or(1, 4)))
def test_older_stores_are_migrated_and_foreign_ones_are_not(filled: Path, version: int) -> None:
    make_old(str(filled), version)
    add(filled, "create trigger evil after insert on capsules begin select 1; end")
    with open_at(filled) as store:
        assert "evil" in refusal(lambda: store.call("capsule_list", {})).message
    add(filled, "drop trigger evil")
    with open_at(filled) as store:
        assert store.call("capsule_list", {})["pagination"]["total"] == 1
    with open_at(filled) as store:
        store.call("capsule_store", {"name": "more", "capsule_text": capsule()})


@pytest.mark.parametrize("number", [-(2**31), -1, 0, 5])
def test_a_wrong_schema_number_is_refused(filled: Path, number: int) -> None:
    add(filled, f"pragma user_version = {number}")
    with open_at(filled) as store:
        for tool, arguments in (("capsule_list", {}), ("capsule_store", {"capsule_text": capsule()})):
            error = refusal(lambda tool=tool, arguments=arguments: store.call(tool, arguments))
            assert error.code == "STORAGE_CORRUPT"


@pytest.mark.parametrize(
    "change",
    [
        "sql = replace(sql, '''tcapsule ''', '''tcapsule --'' || hex(zeroblob(9))\n''')",
        "sql = sql || ' /* -- */'",
        "sql = replace(sql, 'unique', '')",
        "tbl_name = 'events'",
        "name = 'sqlite_stat1'",
    ],
)
def test_a_changed_definition_is_not_mistaken_for_whitespace_or_a_comment(fresh: apsw.Connection, change: str) -> None:
    fresh.execute("pragma writable_schema = on")
    fresh.execute(f"update sqlite_schema set {change} where name = 'capsules'")
    assert schema_text(fresh) != Path(KNOWN).read_text("utf-8")
    assert [one for one in differences(fresh, SCHEMA_VERSION) if one["name"] in ("capsules", "sqlite_stat1")]


def test_comments_and_whitespace_of_another_release_are_no_difference(fresh: apsw.Connection) -> None:
    fresh.execute("pragma writable_schema = on")
    fresh.execute("update sqlite_schema set sql = replace(sql, ' text not null', '  text not null -- it''s new\n')")
    assert schema_text(fresh) != Path(KNOWN).read_text("utf-8")
    assert differences(fresh, SCHEMA_VERSION) == []


def test_a_sound_store_is_compared_with_the_generated_text_alone(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(_: int) -> None:
        raise AssertionError("a sound store made all migrations run")

    monkeypatch.setattr(schema_check, "_expected", slow)
    with open_at(filled) as store:
        store.call("capsule_list", {})
        store.call("capsule_update", {"name": "kept", "title": "t"})
    add(filled, "analyze")
    with open_at(filled) as store:
        store.call("capsule_list", {})


def test_a_store_that_is_used_by_the_schema_check_is_not_changed(store: Store, home: Path) -> None:
    store.call("capsule_store", {"capsule_text": capsule()})
    store.close()
    before = (home / "moss.db").read_bytes()
    with open_at(home) as other:
        other.call("capsule_list", {})
    assert (home / "moss.db").read_bytes() == before
