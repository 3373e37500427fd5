"""The search index agrees with the rows after every kind of change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from moss_memory.storage.sqlite.index_check import check_index
from moss_memory.store import Store
from storage.database import connect
from support.lock_user import call
from support.store_truth import capsule, check_truth, open_at

# FTS5 writes the length of a word's places as a number of one byte up to 63 places, then of two, then of three.
TIMES = [1, 10, 11, 64, 100, 200]


def documents_with(home: Path, word: str) -> int:
    connection = connect(home)
    try:
        found = connection.execute("select rowid from search_index where search_index match ?", (word,))
        return len(found.fetchall())
    finally:
        connection.close()


@pytest.mark.parametrize("times", TIMES)
def test_a_frequent_word_leaves_the_index_with_its_last_text(store: Store, home: Path, times: int) -> None:
    text = capsule("qzx " * times)
    identity = store.call("capsule_store", {"capsule_text": text, "name": "a"})["id"]
    for number in range(30):
        store.call("capsule_store", {"capsule_text": capsule(f"other{number}"), "name": f"other {number}"})
    store.call("capsule_update", {"id": identity, "title": "first"})
    store.call("capsule_append", {"id": identity, "section": "Decisions", "content": "second"})
    store.call("capsule_delete", {"id": identity})
    store.call("capsule_restore", {"id": identity})
    check_truth(home)
    assert documents_with(home, "qzx") == 1
    store.call("capsule_update", {"id": identity, "capsule_text": capsule()})
    assert documents_with(home, "qzx") == 0
    check_truth(home)
    store.call("capsule_delete", {"id": identity})
    store.call("capsule_purge", {})
    assert documents_with(home, "qzx") == 0
    check_truth(home)


def test_every_change_of_many_capsules_keeps_the_index_correct(store: Store, home: Path) -> None:
    for number in range(25):
        text = capsule(f"the word{number} and the " * (number * 3 + 1))
        store.call("capsule_store", {"capsule_text": text, "name": f"n{number}", "tags": ["t"], "title": f"T {number}"})
    store.call("capsule_bulk_update", {"tag": "t", "set_phase": "p", "set_tags": ["u"]})
    check_truth(home)
    store.call("capsule_export", {"path": "x.jsonl"})
    store.call("capsule_bulk_delete", {"tag": "u"})
    check_truth(home)
    store.call("capsule_import", {"path": "x.jsonl", "mode": "replace"})
    check_truth(home)
    store.call("capsule_import", {"path": "x.jsonl", "mode": "rename"})
    check_truth(home)
    store.call("capsule_bulk_delete", {"name_prefix": "n1"})
    store.call("capsule_purge", {})
    check_truth(home)
    assert documents_with(home, "word2") == 2
    assert documents_with(home, "word12") == 0


@pytest.mark.parametrize("damage", [None, "delete-all", "a word more", "a text less"])
def test_the_index_is_checked_in_a_snapshot_beside_the_writers(store: Store, home: Path, damage: str | None) -> None:
    for name in ("a", "b"):
        store.call("capsule_store", {"name": name, "capsule_text": capsule(name * 3)})
    connection = connect(home)
    if damage == "delete-all":
        connection.execute("insert into search_index (search_index) values ('delete-all')")
    elif damage == "a word more":
        connection.execute("insert into search_index (rowid, body) values (16000, 'more')")
    elif damage == "a text less":
        [(trigger,)] = connection.execute("select sql from sqlite_schema where name = 'capsules_reindexed'").fetchall()
        connection.execute("drop trigger capsules_reindexed")
        connection.execute("update capsules set capsule_text = 'less' where name_norm = 'a'")
        connection.execute(str(trigger))  # a store without it is refused
    connection.close()
    engine: Any = store._engine
    for _ in range(2):  # what the first leaves does not disturb the second
        tx = engine.read_transaction(snapshot=True, call=call())
        try:
            seen = None
            try:
                check_index(tx.connect())
            except apsw.CorruptError as error:
                seen = error
            with open_at(home) as other:
                other.call("branchmind_notes_commit", {"workspace": "w", "content": "meanwhile"}, wait=False)
        finally:
            tx.rollback()
            tx.release()
        assert (seen is not None) == (damage is not None)
