"""An import, an export or a migration killed at each step on the disk has not begun or is complete."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contract.doors import Clock, open_test_store
from support.deadly_disk import DEADLY
from support.direct_store import DirectStore
from support.moved_store import files_of, rows_of
from support.old_store import make_old
from support.python_process import start
from support.store_truth import capsule, open_at, refusal
from support.thorough import first_of
from support.timeouts import TIMEOUT_S

EVERY_STEP = 6
"""The number of steps that are tried one by one; after them every thirteenth."""

CALLS = DEADLY + (
    """
from support.store_truth import capsule, open_at
store = open_at(sys.argv[2])
{}
print("whole", flush=True)
"""
)


def killed(script: str, prepare: Callable[[int], tuple[object, ...]]) -> Iterator[tuple[Any, bool]]:
    """Run a script repeatedly, each time killed some steps later, until it finishes."""
    steps = 0
    while True:
        arguments = prepare(steps)
        output, _ = start(CALLS.format(script), steps, *arguments).communicate(timeout=TIMEOUT_S)
        assert output in ("", "whole\n")
        yield arguments[0], bool(output)
        if output:
            return
        steps += 1 if steps < EVERY_STEP else 13


def problems(home: Path) -> list[str]:
    with DirectStore(home) as direct:
        return direct.problems()


def fill(home: Path) -> None:
    """Store some rows of each family."""
    with open_test_store(str(home), Clock()) as store:
        for name in "abc":
            store.call("capsule_store", {"name": name, "capsule_text": capsule(f"words of {name}")})
        store.call("capsule_update", {"name": "a", "title": "changed"})
        store.call("artifact_store", {"kind": "k", "name": "plan", "data": {"a": 1}})
        store.call("tasks_create", {"workspace": "w", "kind": "task", "title": "t", "steps": [{"title": "s"}]})
        store.call("branchmind_notes_commit", {"workspace": "w", "content": "a note"})


@pytest.mark.parametrize("mode", first_of(["replace", "error"]))
def test_a_killed_import_stores_all_or_nothing(tmp_path: Path, mode: str) -> None:
    source, base, out = tmp_path / "source", tmp_path / "base", tmp_path / "out"
    fill(source)
    with open_at(source) as store:
        store.export_folder(str(out), with_history=True)
    with open_at(base) as store:
        name = "a" if mode == "replace" else "there"
        store.call("capsule_store", {"name": name, "capsule_text": capsule("was there")})

    def prepare(steps: int) -> tuple[object, ...]:
        place = tmp_path / f"home {steps}"
        shutil.copytree(base, place)
        return place, out

    before, states = rows_of(str(base)), []
    for place, _ in killed(f"store.import_folder(sys.argv[3], mode={mode!r})", prepare):
        assert problems(place) == []
        states.append({name: len(rows) for name, rows in rows_of(str(place)).items()})
    old = {name: len(rows) for name, rows in before.items()}
    assert states[0] == old
    assert states[-1]["tasks"] == 1
    assert states[-1]["versions"] >= 1
    assert all(state in (old, states[-1]) for state in states)
    assert len(states) > EVERY_STEP


def test_a_killed_export_is_marked_unfinished_and_completed_by_the_next(tmp_path: Path) -> None:
    home, first, clean = tmp_path / "home", tmp_path / "first", tmp_path / "clean"
    fill(home)
    with open_at(home) as store:
        store.export_folder(str(first))
        store.call("capsule_update", {"name": "b", "title": "new"})
        store.call("capsule_delete", {"name": "c"})
        store.call("capsule_purge", {})
        store.call("capsule_store", {"name": "d", "capsule_text": capsule("later")})
        store.export_folder(str(clean))

    def prepare(steps: int) -> tuple[object, ...]:
        folder = tmp_path / f"out {steps}"
        shutil.copytree(first, folder)
        return home, folder

    before, after, count = files_of(first), files_of(clean), 0
    for _, _ in killed("store.export_folder(sys.argv[3])", prepare):
        folders = sorted(tmp_path.glob("out *"), key=lambda path: path.stat().st_ctime_ns)
        found = {name: one for name, one in files_of(folders[-1]).items() if not name.endswith(".tmp")}
        with open_at(tmp_path / f"into {count}") as other:
            if found not in (before, after):
                assert "is incomplete" in refusal(other.import_folder, str(folders[-1])).message
            else:
                other.import_folder(str(folders[-1]))
        with open_at(home) as store:
            store.export_folder(str(folders[-1]))
        done = {name: one for name, one in files_of(folders[-1]).items() if not name.endswith(".tmp")}
        assert done == after
        count += 1
    assert count > EVERY_STEP


@pytest.mark.parametrize("version", first_of([1, 8]))
def test_a_killed_migration_leaves_the_old_or_the_new_schema_with_every_row(tmp_path: Path, version: int) -> None:
    base = tmp_path / "base"
    fill(base)
    make_old(str(base), version)

    def prepare(steps: int) -> tuple[object, ...]:
        place = tmp_path / f"home {steps}"
        shutil.copytree(base, place)
        return (place,)

    found = []
    for place, _ in killed('store.call("capsule_list", {})', prepare):
        with open_at(place) as store:
            items = store.call("capsule_list", {})["items"]
        assert sorted(item["name"] for item in items) == ["a", "b", "c"]
        assert problems(place) == []
        found.append(place)
    assert len(found) > EVERY_STEP


def test_a_killed_sync_is_completed_by_the_next(tmp_path: Path) -> None:
    base, clean = tmp_path / "base", tmp_path / "clean"
    fill(base)
    with open_at(base) as store:
        store.sync(str(clean))

    def prepare(steps: int) -> tuple[object, ...]:
        place, folder = tmp_path / f"home {steps}", tmp_path / f"folder {steps}"
        shutil.copytree(base, place)
        (folder / "capsules" / "default").mkdir(parents=True)
        (folder / "capsules" / "default" / "by-hand.md").write_text("taken")
        return place, folder

    def things(folder: Path) -> dict[str, bytes]:
        return {name: one for name, one in files_of(folder).items() if not name.startswith(".")}

    count = 0
    for place, _ in killed("store.sync(sys.argv[3])", prepare):
        folder = Path(str(place).replace("home", "folder"))
        assert problems(place) == []
        with open_at(place) as store:
            told = store.sync(str(folder))
            assert (told["conflicts"], told["skipped"], told["deleted"]) == ([], [], 0)
            again = store.sync(str(folder))
            assert not any(again[key] for key in ("taken", "written", "deleted", "restored", "erased"))
            assert store.call("capsule_fetch", {"name": "by-hand"})["version"] == 1
        assert things(folder) == {**things(clean), "capsules/default/by-hand.md": b"taken"}
        count += 1
    assert count > EVERY_STEP
