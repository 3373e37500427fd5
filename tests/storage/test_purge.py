"""A purge leaves no byte of the purged rows in any file of the home."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from moss_memory.storage.sqlite import transaction as sqlite_transaction
from moss_memory.store import Store
from storage.database import connect
from support.python_process import run
from support.store_truth import capsule, check_truth, open_at

OTHERS = 30
STORE_ONE = """
import sys
from support.store_truth import capsule, open_at
with open_at(sys.argv[1]) as store:
    store.call("capsule_store", {"capsule_text": capsule(), "name": "from another process"})
"""


def files_with(home: Path, *words: str) -> dict[str, list[str]]:
    """Return the words in each file of the home that contains any.

    The index leaves out the beginning that a word shares with the one before it, so its end is looked for.
    """
    found: dict[str, list[str]] = {}
    for folder, _, names in os.walk(home):
        for name in names:
            content = Path(folder, name).read_bytes().lower()
            there = [word for word in words if word.lower()[2:].encode() in content]
            if there:
                found[name] = there
    return found


READ_FILES = """
import json, pathlib, sys
from storage.test_purge import files_with
print(json.dumps(files_with(pathlib.Path(sys.argv[1]), *sys.argv[2:])))
"""


def on_disk(home: Path, *words: str) -> dict[str, list[str]]:
    """Call `files_with` in another process, because reading the files in this one would drop SQLite's locks."""
    found: dict[str, list[str]] = json.loads(run(READ_FILES, home, *words))
    return found


def fill(store: Store) -> None:
    for number in range(OTHERS):
        text = capsule(f"ordinary{number} work on module{number % 7} " * 20)
        store.call("capsule_store", {"capsule_text": text, "name": f"other {number}", "tags": [f"t{number}"]})


SECRETS = (
    "Aqvornimblex", "Bruzelkantoq", "Cwiffleplodz", "Dgorpthanzik", "Evlaxiquoomp", "Fjundrabbolx", "Gkwistlevonq",
    "Hzebruckmand", "Iplovquexart", "Jmaxtrundelk", "Kqenvoblitzu", "Lyrgaspodunx", "Mvortiquebaz", "Nwaxlempikru",
)  # fmt: skip


def store_secrets(store: Store, name: str = "Aqvornimblex") -> str:
    """Store a capsule in which every field, past and present, contains a unique word."""
    fields: dict[str, Any] = {"title": "Bruzelkantoq", "tags": ["Cwiffleplodz"], "source": "Dgorpthanzik"}
    labels = {"run_id": "Evlaxiquoomp", "phase": "Fjundrabbolx", "role": "Gkwistlevonq"}
    text = capsule("Hzebruckmand " + "filling " * 150 + "Lyrgaspodunx")
    identity = store.call("capsule_store", {"capsule_text": text, "name": name, **fields, **labels})["id"]
    fill(store)
    store.call("capsule_update", {"id": identity, "capsule_text": capsule("Iplovquexart " * 50)})
    store.call("capsule_update", {"id": identity, "title": "Mvortiquebaz", "tags": ["Nwaxlempikru"]})
    store.call("capsule_append", {"id": identity, "section": "Decisions", "content": "Jmaxtrundelk"})
    store.call("capsule_store", {"name": name, "capsule_text": capsule("Kqenvoblitzu"), "mode": "replace"})
    return str(identity)


def test_the_words_are_on_disk_before_they_are_purged(store: Store, home: Path) -> None:
    store_secrets(store)
    assert set().union(*on_disk(home, *SECRETS).values()) == set(SECRETS)


def test_purge_leaves_no_byte_in_any_file(store: Store, home: Path) -> None:
    identity = store_secrets(store)
    store.call("capsule_delete", {"id": identity})
    answer = store.call("capsule_purge", {})
    assert (answer["purged"], answer["erased"]) == (1, True)
    assert on_disk(home, *SECRETS) == {}
    assert store.call("capsule_list", {})["pagination"]["total"] == OTHERS
    store.close()
    assert on_disk(home, *SECRETS) == {}
    check_truth(home)


def test_purge_leaves_no_byte_of_text_that_was_checkpointed_before(store: Store, home: Path) -> None:
    identity = store_secrets(store)
    store.close()
    assert on_disk(home, "Kqenvoblitzu")["moss.db"] == ["Kqenvoblitzu"]
    store.call("capsule_delete", {"id": identity})
    assert store.call("capsule_purge", {})["erased"] is True
    assert on_disk(home, *SECRETS) == {}


def test_purge_leaves_no_byte_of_imported_and_bulk_deleted_rows(store: Store, home: Path) -> None:
    store_secrets(store)
    exported = store.call("capsule_export", {"path": "x.jsonl"})
    store.call("capsule_bulk_delete", {"workspace": "default"})
    store.call("capsule_import", {"path": "x.jsonl", "mode": "rename"})
    store.call("capsule_bulk_delete", {"workspace": "default"})
    os.unlink(exported["path"])
    answer = store.call("capsule_purge", {})
    assert (answer["purged"], answer["erased"]) == (2 * (OTHERS + 1), True)
    assert on_disk(home, *SECRETS, "ordinary7 work") == {}
    check_truth(home)


def test_rows_that_are_not_purged_keep_every_word(store: Store, home: Path) -> None:
    identity = store_secrets(store)
    kept = store_secrets_again(store)
    store.call("capsule_delete", {"id": identity})
    store.call("capsule_purge", {})
    assert store.call("capsule_fetch", {"id": kept})["capsule_text"] == capsule("Hzebruckmand stays")
    connection = connect(home)
    matches = connection.execute("select count(*) from search_index where search_index match 'hzebruckmand'")
    assert matches.fetchone() == (1,)
    connection.close()


def store_secrets_again(store: Store) -> str:
    answer = store.call("capsule_store", {"capsule_text": capsule("Hzebruckmand stays"), "name": "kept"})
    return str(answer["id"])


@pytest.mark.parametrize("next_write", ["this process", "another process"])
def test_a_reader_delays_erasure_until_the_next_write(
    store: Store, home: Path, monkeypatch: pytest.MonkeyPatch, next_write: str
) -> None:
    monkeypatch.setattr(sqlite_transaction, "ERASE_TIMEOUT_S", 0.05)
    identity = store_secrets(store)
    reader = connect(home)
    reader.execute("begin")
    reader.execute("select count(*) from capsules").fetchall()
    store.call("capsule_delete", {"id": identity})
    answer = store.call("capsule_purge", {})
    assert (answer["purged"], answer["erased"]) == (1, False)
    assert on_disk(home, "Kqenvoblitzu") != {}
    store.call("capsule_store", {"capsule_text": capsule(), "name": "too early"})
    assert on_disk(home, "Kqenvoblitzu") != {}
    reader.execute("rollback")
    if next_write == "this process":
        store.call("capsule_store", {"capsule_text": capsule(), "name": "next"})
    else:
        run(STORE_ONE, home)
    assert on_disk(home, *SECRETS) == {}
    pending = reader.execute("select count(*) from erasures").fetchone()
    assert pending == (0,)
    reader.close()
    check_truth(home)


def test_a_second_purge_does_not_report_erasure_while_a_reader_has_a_snapshot(
    store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_transaction, "ERASE_TIMEOUT_S", 0.05)
    identity = store_secrets(store)
    reader = connect(home)
    reader.execute("begin")
    reader.execute("select count(*) from capsules").fetchall()
    store.call("capsule_delete", {"id": identity})
    assert store.call("capsule_purge", {})["erased"] is False
    assert store.call("capsule_purge", {})["erased"] is False
    reader.execute("rollback")
    assert store.call("capsule_purge", {})["erased"] is True
    assert on_disk(home, *SECRETS) == {}
    reader.close()


def test_an_idle_reader_of_another_process_does_not_delay_erasure(store: Store, home: Path) -> None:
    identity = store_secrets(store)
    with open_at(home) as other:
        other.call("capsule_list", {})
        store.call("capsule_delete", {"id": identity})
        assert store.call("capsule_purge", {})["erased"] is True
        assert on_disk(home, *SECRETS) == {}


def test_only_old_enough_rows_of_the_workspace_are_purged(home: Path) -> None:
    now_ms = [1_700_000_000_000]
    with open_at(home, clock_ms=lambda: now_ms[0]) as store:
        for workspace in ("one", "two"):
            for name in ("old", "new", "alive"):
                store.call("capsule_store", {"capsule_text": capsule(), "name": name, "workspace": workspace})
            store.call("capsule_delete", {"name": "old", "workspace": workspace})
        now_ms[0] += 10 * 86_400_000
        for workspace in ("one", "two"):
            store.call("capsule_delete", {"name": "new", "workspace": workspace})
        assert store.call("capsule_purge", {"workspace": "one", "older_than_days": 7})["purged"] == 1
        left = store.call("capsule_inventory", {"include_deleted": True})["items"]
        assert sorted((item["workspace"], item["name"]) for item in left) == [
            ("one", "alive"), ("one", "new"), ("two", "alive"), ("two", "new"), ("two", "old"),
        ]  # fmt: skip
        assert store.call("capsule_purge", {"older_than_days": 0})["purged"] == 3
