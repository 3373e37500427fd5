"""Remembered answers contain no byte of purged or erased rows, and cost nothing for calls without a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from storage.test_purge import on_disk
from support.direct_store import rows
from support.store_truth import capsule, open_at

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.store import Store

SECRETS = ("Aqvornimblex", "Bruzelkantoq", "Cwiffleplodz")


def compose(store: Store) -> str:
    """Store a capsule with the words and a bundle of it elsewhere, whose remembered answer contains them."""
    store.call("capsule_store", {"workspace": SECRETS[0], "name": SECRETS[1], "capsule_text": capsule(SECRETS[2])})
    arguments = {
        "items": [{"workspace": SECRETS[0], "name": SECRETS[1]}],
        "store_as": {"workspace": "elsewhere", "name": "bundle"},
    }
    answer = store.call("capsule_compose", arguments, idempotency_key="k")
    assert SECRETS[2] in str(answer)
    [(kept,)] = rows(store.config.home, "select answer from remembered")
    assert SECRETS[2] in kept
    bundle: str = answer["stored"]["id"]
    return bundle


def test_a_purge_leaves_no_byte_in_a_remembered_answer(store: Store, home: Path) -> None:
    compose(store)
    store.call("capsule_bulk_delete", {"workspace": SECRETS[0]})
    store.call("capsule_delete", {"workspace": "elsewhere", "name": "bundle"})
    assert store.call("capsule_purge", {})["erased"] is True
    store.close()
    assert on_disk(home, *SECRETS[1:]) == {}, "events name workspaces, and nothing else"
    assert rows(home, "select arguments, answer from remembered") == [(None, None)]


def test_erasing_one_row_leaves_no_byte_in_a_remembered_answer(store: Store, home: Path) -> None:
    bundle = compose(store)
    store.call("moss_erase", {"type": "capsule", "id": bundle})
    answer = store.call("moss_erase", {"type": "capsule", "workspace": SECRETS[0], "name": SECRETS[1]})
    assert answer["complete"] is True
    store.close()
    assert on_disk(home, SECRETS[2]) == {}


def test_calls_without_a_key_touch_no_table_of_answers(home: Path) -> None:
    with open_at(home) as store:
        store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
        seen: list[str] = []

        def note(_: Any, sql: str, __: Any) -> bool:
            seen.append(sql)
            return True

        engine: Any = store._engine
        engine._writer.exec_trace = note
        store.call("capsule_store", {"capsule_text": capsule(), "name": "b"})
        store.call("capsule_update", {"name": "b", "title": "t"})
        store.call("capsule_delete", {"name": "b"})
        assert len(seen) > 3
        assert not [sql for sql in seen if "remembered" in sql]
        store.call("capsule_delete", {"name": "a"}, idempotency_key="k")
        assert [sql for sql in seen if "remembered" in sql]
