"""Salvaging a damaged store: faults are listed with their rows, readable rows are saved, the rest is listed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import apsw
import pytest

from moss_memory.cli.commands.doctor import examine
from moss_memory.store import Store
from storage.database import connect
from support.original_store import KINDS, row, write_original
from support.store_truth import capsule, open_at, refusal


@pytest.fixture
def filled(store: Store) -> Store:
    """Return a store with forty capsules, an artifact, a note and a task."""
    for number in range(40):
        store.call("capsule_store", {"capsule_text": capsule(f"words {number} " * 20), "name": f"n{number}"})
    store.call("artifact_store", {"kind": "k", "name": "plan", "data": {"a": 1}})
    store.call("branchmind_notes_commit", {"workspace": "w", "content": "a note"})
    store.call("tasks_create", {"workspace": "w", "kind": "task", "title": "t"})
    return store


def damage(home: Path, *statements: str) -> None:
    connection = connect(home)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    for sql in statements:
        connection.execute(sql)
    connection.close()


def destroy_a_page(home: Path) -> None:
    """Overwrite a page in the middle of the capsules."""
    connection = connect(home)
    [(root,)] = connection.execute("select rootpage from sqlite_schema where name = 'capsules'").fetchall()
    pages = [page for (page,) in connection.execute(
        "select pageno from dbstat where name = 'capsules' and pagetype = 'leaf' order by pageno"
    )]  # fmt: skip
    connection.close()
    assert len(pages) > 4
    assert root not in pages
    with open(home / "moss.db", "r+b") as file:
        file.seek((pages[len(pages) // 2] - 1) * 4096)
        file.write(b"\x5a" * 4096)


def saved(store: Store, tmp_path: Path) -> tuple[dict[str, Any], Store]:
    """Return the answer of `salvage`, and a new store into which the folder was imported."""
    told = store.salvage(str(tmp_path / "out"))
    listed = (tmp_path / "out" / "unreadable.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in listed][:100] == told["lost"]
    new = open_at(tmp_path / "new")
    new.import_folder(str(tmp_path / "out"))
    return told, new


def names(store: Store) -> set[str]:
    return {item["name"] for item in store.call("capsule_inventory", {"limit": 500})["items"]}


EVERY = {f"n{number}" for number in range(40)}


def test_a_text_that_is_not_utf_8_is_reported_with_its_row_and_the_rest_is_saved(
    filled: Store, home: Path, tmp_path: Path
) -> None:
    damage(home, "update capsules set source = cast(x'41ff42' as text) where name_norm = 'n7'")
    error = refusal(filled.call, "capsule_fetch", {"name": "n7"})
    assert error.code == "STORAGE_CORRUPT"
    assert error.details is not None
    assert (error.details["table"], error.details["column"]) == ("capsules", "source")
    assert isinstance(error.details["row"], int)
    assert filled.call("capsule_fetch", {"name": "n8"})["name"] == "n8"
    for fix in (False, True):
        report = examine(str(home), fix=fix)
        assert not report["healthy"]
        assert any("not UTF-8: capsules row" in check["message"] for check in report["checks"])
    told, new = saved(filled, tmp_path)
    assert [(one["table"], one["column"]) for one in told["lost"]] == [("capsules", "source")]
    assert names(new) == EVERY
    assert new.call("capsule_fetch", {"name": "n7"})["source"] == "A\ufffdB"
    assert new.call("tasks_radar", {"workspace": "w", "target": "TASK-001"})["target"]["title"] == "t"


def test_a_damaged_schema_is_corrupt_and_every_row_is_saved(filled: Store, home: Path, tmp_path: Path) -> None:
    filled.close()
    damage(
        home, "pragma writable_schema = on",
        "update sqlite_schema set sql = 'create garbage' where name = 'capsules' and type = 'table'",
    )  # fmt: skip
    assert refusal(filled.call, "capsule_list", {}).code == "STORAGE_CORRUPT"
    assert not examine(str(home), fix=True)["healthy"]
    told, new = saved(filled, tmp_path)
    assert told["lost"] == []
    assert names(new) == EVERY


def test_rows_on_a_damaged_page_are_listed_and_all_others_are_saved(filled: Store, home: Path, tmp_path: Path) -> None:
    filled.close()
    destroy_a_page(home)
    before = (home / "moss.db").read_bytes()
    told, new = saved(filled, tmp_path)
    found = names(new)
    assert found < EVERY
    assert len(found) > 30
    assert {one["table"] for one in told["lost"]} == {"capsules"}
    assert len([one for one in told["lost"] if "row" in one]) >= len(EVERY - found)
    assert (home / "moss.db").read_bytes() == before
    assert not examine(str(home), fix=True)["healthy"]


def test_the_remaining_rows_of_a_truncated_database_are_saved(filled: Store, home: Path, tmp_path: Path) -> None:
    filled.close()
    size = (home / "moss.db").stat().st_size // 4096
    os.truncate(home / "moss.db", (size - 12) * 4096)
    assert refusal(filled.call, "capsule_list", {}).code == "STORAGE_CORRUPT"
    told, new = saved(filled, tmp_path)
    found = names(new)
    assert found
    assert found < EVERY
    lost = {one.get("row") for one in told["lost"] if one["table"] == "capsules"}
    assert len(lost) > len(EVERY - found)  # each row, and that there may have been more


def test_a_sound_store_is_saved_whole(filled: Store, tmp_path: Path) -> None:
    told, new = saved(filled, tmp_path)
    assert (told["unreadable"], told["lost"]) == (0, [])
    assert names(new) == EVERY
    assert not [name for name in os.listdir(tmp_path / "out") if name not in (
        "capsules", "artifacts", "reasoning", "tasks", "records", "deleted", "manifest.json", "unreadable.jsonl",
        "numbers.jsonl", "history.jsonl",
    )]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_of_the_original_is_saved_damaged_or_not(tmp_path: Path, kind: str) -> None:
    home = tmp_path / "original"
    rows = [row(number, name_raw=f"n{number}", capsule_text=capsule(f"words {number} " * 20)) for number in range(40)]
    write_original(home, rows, kind)
    with open_at(home) as store:
        told = store.salvage(str(tmp_path / "whole"))
        assert (told["counts"]["capsules"], told["lost"]) == (40, [])
        destroy_a_page(home)
        before = (home / "moss.db").read_bytes()
        told, new = saved(store, tmp_path)
    assert 30 < len(names(new)) < 40
    assert len([one for one in told["lost"] if "row" in one]) >= 40 - len(names(new))
    assert (home / "moss.db").read_bytes() == before


def test_salvaging_without_a_store_is_refused(tmp_path: Path) -> None:
    with open_at(tmp_path / "none") as store:
        assert refusal(store.salvage, str(tmp_path / "out")).code == "NOT_FOUND"
