"""`moss doctor` on a server: its name, its durability, and its free space."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psycopg

from moss_memory.storage.postgres import segment_size
from support.cli_typist import CAPSULE

if TYPE_CHECKING:
    import pytest

    from support.cli_typist import Cli, Outcome

LOST = ("fsync", "full_page_writes", "synchronous_commit")


def checks(shown: Outcome) -> dict[str, dict[str, str]]:
    """Return the checks of the doctor by name, asserting that they contain no password."""
    assert "swordfish" not in shown.out + shown.err
    return {check["name"]: check for check in json.loads(shown.out)["checks"]}


def test_doctor_names_the_server_and_reports_a_missing_store(cli: Cli, url: str) -> None:
    name = fresh(url)
    cli.environment["MOSS_URL"] = url.partition("/moss_")[0] + f"/{name}?" + url.partition("?")[2]
    for _ in range(2):
        found = checks(cli.process("doctor", "--json"))
        assert found["server"]["status"] == "ok"
        assert "the primary, timeline 1" in found["server"]["message"]
        assert f"database {name}, " in found["server"]["message"]
        assert "no store in this database yet" in found["store"]["message"], "looking made none"
        assert " of 297 connections" in found["connections"]["message"]


def fresh(url: str) -> str:
    """Return a database in which no process has looked for a store."""
    name = "never_opened"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"drop database if exists {name} with (force)")
        connection.execute(f"create database {name}")
    return name


def test_a_server_that_may_lose_acknowledged_writes_is_not_healthy(cli: Cli) -> None:
    cli("store", "--name", "auth", stdin=CAPSULE)
    shown = cli("doctor", "--json")
    found = checks(shown)
    assert shown.code == 1
    assert found["durability"]["status"] == "fail"
    assert all(name in found["durability"]["message"] for name in LOST)
    assert "1 active capsule" in found["store"]["message"]


DAMAGES = {
    "a document is missing": "delete from search_docs where slot = (select min(slot) from search_docs)",
    "one is there that is no text": "insert into search_docs (slot, doc, workspace, live, length, terms)"
    " values (7, 1600, 'w', 1, 3, '')",
    "postings of the buffer are lost": "delete from search_buffer",
    "postings of a segment are lost": "delete from search_postings where key = (select max(key) from search_postings)",
    "a text was changed behind the index": "alter table capsules disable trigger capsules_change_noted;"
    " update capsules set capsule_text = capsule_text || ' quokka';"
    " alter table capsules enable trigger capsules_change_noted",
    "it counts another number of documents": "insert into search_totals (docs, length) values (1, 10)",
}


def test_an_index_that_disagrees_with_the_texts_is_found_and_built_again(
    cli: Cli, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for damage, sql in DAMAGES.items():
        for place, segment in enumerate((1, 1 << 30)):  # the first document is in a segment, the next in the buffer
            monkeypatch.setattr(segment_size, "SEGMENT", segment)
            assert cli("store", "--name", f"{damage} {place}", stdin=CAPSULE).code == 0
        found = names_found(cli)
        assert checks(cli("doctor", "--json"))["search index"]["status"] == "ok"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(sql)
        damaged = checks(cli("doctor", "--json"))["search index"]
        assert damaged["status"] == "fail", damage
        assert "moss doctor --fix" in damaged["todo"]
        assert "built again" in checks(cli("doctor", "--fix", "--json"))["search index"]["message"], damage
        assert checks(cli("doctor", "--json"))["search index"]["status"] == "ok", damage
        assert names_found(cli) == found


def names_found(cli: Cli) -> list[str]:
    """Return the result of a search for a word of every capsule, in order."""
    found = cli("search", "tokens", "--search-mode", "keyword", "--limit", "100").json["items"]
    return [one["fetch"]["arguments"]["name"] for one in found]


def test_an_unreachable_server_is_reported_without_the_password(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSS_URL", "postgresql://moss:swordfish@127.0.0.1:1/team")
    shown = cli("doctor", "--json")
    found = checks(shown)
    assert shown.code == 1
    assert found["server"]["status"] == "fail"
    assert "postgresql://moss@127.0.0.1:1/team cannot be reached" in found["server"]["message"]
    assert "refused" in found["server"]["message"]


def test_no_command_shows_or_takes_a_password(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    telling = "postgresql://moss:swordfish@127.0.0.1:1/team"
    for words in (("config", "set", "url", telling), ("migrate", "--to", telling)):
        refused = cli(*words)
        assert refused.code != 0
        assert "PGPASSFILE" in refused.err
        assert "swordfish" not in refused.out + refused.err
    monkeypatch.setenv("MOSS_URL", telling)
    for line in ("config", "list", "fetch x", "backup", "export --all x", "mcp --nonsense"):
        shown = cli(*line.split())
        assert "swordfish" not in shown.out + shown.err
    assert cli("config").json["settings"]["url"]["value"] == "postgresql://moss@127.0.0.1:1/team"


def test_a_cycle_of_branches_and_a_counter_at_its_end_are_named(cli: Cli, url: str) -> None:
    cli("store", "--name", "auth", stdin=CAPSULE)
    assert cli("notes", "add", "-w", "w", stdin="x").code == 0
    assert checks(cli("doctor", "--json"))["rows"]["status"] == "ok"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("update branches set base_id = branch_id, base_seq = 9")
        connection.execute("update events set seq = 9223372036854775807 where seq = (select max(seq) from events)")
    found = checks(cli("doctor", "--json"))["rows"]
    assert found["status"] == "fail"
    assert "base_id is part of a cycle" in found["message"]
    assert "events" in found["message"]
