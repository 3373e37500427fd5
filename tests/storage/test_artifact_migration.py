"""A migration that adds artifacts keeps all rows of an older store, and its search."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import check_artifacts, put
from contract.doors import FULL, Clock, StoreDoor, open_test_store
from moss_memory.storage.schema_version import SCHEMA_VERSION
from storage.database import connect
from support.direct_store import dump
from support.old_store import make_old
from support.python_process import finish, start

if TYPE_CHECKING:
    from pathlib import Path

QUERIES = ["zebra", "zebra stripes", '"zebra stripes"', "zeb*", "NOT okapi", "objective status"]
READ_AND_WRITE = """
import sys
from support.store_truth import open_at
sys.stdin.readline()
with open_at(sys.argv[1]) as store:
    assert len(store.call("capsule_search", {"query": "zebra"})["items"]) == 12
    store.call("artifact_store", {"name": sys.argv[2], "kind": "k", "data": {}})
"""


@pytest.fixture
def old_home(home: str) -> str:
    """Return a store that only the first migration made, with capsules in every state."""
    with open_test_store(home, Clock()) as store:
        fill(StoreDoor(store))
    make_old(home, 1)
    assert version_of(home) == 1
    return home


def fill(door: StoreDoor) -> None:
    for number in range(12):
        fields: dict[str, Any] = {"tags": ["t"], "run_id": f"r{number % 2}", "workspace": f"W{number % 3}"}
        text = FULL + ("zebra stripes" if number % 2 else "zebra")
        door("capsule_store", name=f"n{number}", capsule_text=text, title=f"Title {number}", **fields)
    door("capsule_store", name="gone", capsule_text=FULL + "zebra")
    door("capsule_delete", name="gone")
    door("capsule_store", name="purged", capsule_text=FULL + "zebra")
    door("capsule_delete", name="purged")
    door("capsule_bulk_update", run_id="r1", set_phase="p")


def version_of(home: str) -> int:
    connection = connect(home)
    found = connection.execute("pragma user_version").fetchone()
    connection.close()
    assert found is not None
    version: int = found[0]
    return version


def found(door: StoreDoor) -> list[Any]:
    return [
        [(item["id"], item["snippet"]) for item in door(tool, query=query, **more)["items"]]
        for query in QUERIES
        for tool, more in [
            ("capsule_search", {}),
            ("capsule_search", {"workspace": "w1"}),
            ("moss_search", {"search_mode": "keyword"}),
        ]
    ]


def expected(home: str) -> list[Any]:
    """Return the answers about the same capsules in a store that was never old."""
    with open_test_store(home, Clock()) as store:
        door = StoreDoor(store)
        fill(door)
        return [[snippet for _, snippet in hits] for hits in found(door)]


def of_old(dumped: dict[str, list[Any]], before: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the rows without the columns that were added later, which come last."""
    widths = {table: len(content[0]) for table, content in before.items()}
    return {table: [row[: widths.get(table)] for row in content] for table, content in dumped.items()}


@pytest.mark.parametrize("first", ["read", "write"])
def test_a_store_from_before_artifacts_keeps_every_row_and_its_search(
    old_home: str, tmp_path: Path, first: str
) -> None:
    before = dump(old_home)
    assert set(before) == {"capsules", "events"}
    with open_test_store(old_home, Clock()) as store:
        door = StoreDoor(store)
        if first == "write":
            put(door, "new")
            door("artifact_delete", name="new")
            assert of_old(dump(old_home), before)["capsules"] == before["capsules"]
        else:
            assert door("artifact_list")["items"] == []
            assert of_old(dump(old_home), before) == before
        assert version_of(old_home) == SCHEMA_VERSION
        snippets = [[snippet for _, snippet in hits] for hits in found(door)]
        assert snippets == expected(str(tmp_path / "fresh"))
        check_artifacts(old_home)


def test_a_migrated_store_takes_capsules_and_artifacts_and_finds_both(old_home: str) -> None:
    with open_test_store(old_home, Clock()) as store:
        door = StoreDoor(store)
        put(door, "new", text="zebra", workspace="w1")
        door("capsule_store", name="n1", workspace="w1", capsule_text=FULL + "okapi", mode="replace")
        titles = [
            item["title"] for item in door("moss_search", search_mode="keyword", query="zebra", workspace="w1")["items"]
        ]
        assert sorted(titles) == ["Title 10", "Title 4", "Title 7", "new"]
        assert [item["title"] for item in door("moss_search", search_mode="keyword", query="okapi")["items"]] == ["n1"]
        door("capsule_bulk_delete", workspace="w0")
        assert door("capsule_purge")["purged"] == 6
        check_artifacts(old_home)


def test_a_migrated_schema_is_the_schema_of_a_new_store(old_home: str, tmp_path: Path) -> None:
    schemas = []
    for home in (old_home, str(tmp_path / "fresh")):
        with open_test_store(home, Clock()) as store:
            store.call("capsule_bulk_delete", {"workspace": "none"})
        connection = connect(home)
        schemas.append(connection.execute("select type, name, sql from sqlite_schema order by 1, 2").fetchall())
        connection.close()
    assert schemas[0] == schemas[1]


def test_four_processes_that_open_an_old_store_at_once_migrate_it_once(old_home: str) -> None:
    processes = [start(READ_AND_WRITE, old_home, f"name {number}") for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda process: finish(process, "go\n"), processes))
    with open_test_store(old_home, Clock()) as store:
        assert len(store.call("artifact_list", {})["items"]) == 4
    check_artifacts(old_home)
