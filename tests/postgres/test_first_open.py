"""The first process to open an empty database makes the store; all that open it at the same time find it complete."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import psycopg
import pytest

from contract.doors import FULL
from moss_memory.config import default_config
from moss_memory.storage.postgres import schema
from moss_memory.store import Store
from support.store_truth import refusal

AT_ONCE = 8


def made(url: str, name: str, more: str = "") -> str:
    """Return the URL of a new database beside the given one, with a name of this test process."""
    name += "_of_" + url.partition("/moss_")[2].partition("?")[0]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"drop database if exists {name} with (force)")
        connection.execute(f"create database {name} {more}")
    return url.partition("/moss_")[0] + f"/{name}?" + url.partition("?")[2]


def test_many_processes_that_open_an_empty_database_at_once_all_write(url: str) -> None:
    there = made(url, "met_by_many")
    line = Barrier(AT_ONCE)

    def write(number: int) -> str:
        with Store(default_config("/nowhere").replace(url=there)) as store:
            line.wait()
            told: str = store.call("capsule_store", {"name": str(number), "capsule_text": FULL})["id"]
            return told

    with ThreadPoolExecutor(AT_ONCE) as pool:
        ids = list(pool.map(write, range(AT_ONCE)))
    with Store(default_config("/nowhere").replace(url=there)) as store:
        assert {item["id"] for item in store.call("capsule_list", {})["items"]} == set(ids)


def test_the_first_removed_words_are_found_after_they_are_stored_again(url: str) -> None:
    with Store(default_config("/nowhere").replace(url=made(url, "never_purged"))) as store:
        for _ in range(2):
            told = store.call("capsule_store", {"capsule_text": "the quokka", "allow_thin": True})["id"]
            found = store.call("capsule_search", {"query": "quokka", "search_mode": "keyword"})["items"]
            assert [one["id"] for one in found] == [told]
            store.call("capsule_delete", {"id": told})
            store.call("capsule_purge", {})


@pytest.mark.parametrize(
    "table",
    ["capsules (id int)", "events (seq int)", "moss_schema (made_by text)", "moss_schema as select 'x' as version"],
)
@pytest.mark.parametrize("tool", ["capsule_list", "capsule_store"])
def test_a_database_of_another_program_is_refused_and_not_changed(url: str, table: str, tool: str) -> None:
    there = made(url, "of_another")
    with psycopg.connect(there, autocommit=True) as connection:
        connection.execute(f"create table {table}")
        with Store(default_config("/nowhere").replace(url=there)) as store:
            error = refusal(store.call, tool, {"capsule_text": FULL} if tool == "capsule_store" else {})
        left = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
    assert error.code == "NOT_A_STORE"
    assert left == [(table.partition(" ")[0],)]


def test_a_database_that_cannot_keep_every_text_is_refused(url: str) -> None:
    there = made(url, "in_latin", "template template0 encoding 'LATIN1' locale 'C'")
    with Store(default_config("/nowhere").replace(url=there)) as store:
        error = refusal(store.call, "capsule_store", {"capsule_text": FULL})
    assert (error.code, "LATIN1" in error.message) == ("NOT_A_STORE", True)


def test_a_server_that_is_too_old_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there = made(url, "too_old")
    monkeypatch.setattr(schema, "_OLDEST", 99)
    with Store(default_config("/nowhere").replace(url=there)) as store:
        error = refusal(store.call, "capsule_list", {})
    assert (error.code, "needs 99 or newer" in error.message) == ("NOT_A_STORE", True)


@pytest.mark.parametrize(
    "option", ["connect_timeout=abc", "sslmode=maybe", "port=99999", "target_session_attrs=any-other"]
)
def test_a_url_with_unknown_options_is_refused_at_once(url: str, option: str) -> None:
    with Store(default_config("/nowhere").replace(url=f"{url}&{option}")) as store:
        error = refusal(store.call, "capsule_list", {})
    assert (error.code, error.retryable) == ("INVALID_REQUEST", False)


def test_every_text_is_stored_with_any_encoding_in_the_url(url: str) -> None:
    with Store(default_config("/nowhere").replace(url=f"{url}&client_encoding=LATIN1")) as store:
        store.call("capsule_store", {"name": "日本 €", "capsule_text": FULL})
        assert store.call("capsule_fetch", {"name": "日本 €"})["capsule_text"] == FULL
