"""The dump and the mark of an engine, and its state after all rows were deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contract.doors import FULL, Clock, StoreDoor, open_test_store
from support.direct_store import DirectStore, Watch

if TYPE_CHECKING:
    from pathlib import Path


def test_a_store_that_was_never_written_has_nothing_and_is_not_made(tmp_path: Path) -> None:
    with DirectStore(tmp_path / "home") as direct:
        assert direct.dump() == {}
        direct.forget()
        assert not direct.engine.exists()


def test_a_dump_contains_every_row_and_no_derived_table(door: StoreDoor) -> None:
    door("capsule_store", name="auth", capsule_text=FULL)
    door("artifact_store", name="plan", kind="k", data={})
    with DirectStore(door.home) as direct:
        found = direct.dump()
    assert {"capsules", "artifacts", "events"} <= found.keys()
    assert (len(found["capsules"]), len(found["artifacts"]), len(found["events"])) == (1, 1, 2)
    assert not [table for table in found if table.startswith("search") or table in ("vectors", "unembedded")]


def test_a_running_server_sees_an_emptied_store_and_counts_from_one(door: StoreDoor) -> None:
    door("capsule_store", name="auth", capsule_text=FULL)
    door("tasks_create", workspace="w", kind="task", title="t", steps=[{"title": "s"}])
    with DirectStore(door.home) as direct:
        direct.forget("capsules")
        assert set(direct.dump()) == {"capsules"}
        direct.forget()
        assert direct.dump() == {}
        assert direct.problems() == []
    assert door("capsule_search", query="objective")["items"] == []
    assert door("tasks_create", workspace="w", kind="task", title="t", steps=[{"title": "s"}])["id"] == "TASK-001"


def test_a_mark_changes_after_a_commit_and_only_then(door: StoreDoor, tmp_path: Path) -> None:
    watch = Watch(door.home)
    try:
        assert not watch.saw_a_commit()
        door("capsule_store", name="auth", capsule_text=FULL)
        assert watch.saw_a_commit(), "the first write made the store"
        door("capsule_fetch", name="auth")
        door.refuses("NOT_FOUND", "capsule_fetch", name="other")
        assert not watch.saw_a_commit()
        with open_test_store(door.home, Clock()) as other:
            other.call("capsule_delete", {"name": "auth"})
        assert watch.saw_a_commit()
        door("capsule_store", name="auth", capsule_text=FULL)
        assert watch.saw_a_commit(), "the store's own writer is somebody too"
    finally:
        watch.close()


def test_a_mark_changes_if_the_store_is_replaced(door: StoreDoor, tmp_path: Path) -> None:
    door("capsule_store", name="auth", capsule_text=FULL)
    watch = Watch(door.home)
    try:
        door.store.close()
        (tmp_path / "old").mkdir()
        home = tmp_path / door.home
        for path in list(home.glob("moss.db*")):
            path.rename(tmp_path / "old" / path.name)
        assert watch.saw_a_commit()
        assert not watch.saw_a_commit()
        door("capsule_store", name="auth", capsule_text=FULL)
        assert watch.saw_a_commit()
    finally:
        watch.close()
