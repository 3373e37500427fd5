"""Erasing killed at each step on the disk: a row is erased or unchanged, and the next write removes its last byte.

What goes in slices is there as before or as after one of them.
"""

from __future__ import annotations

import json
import random
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL, Clock, StoreDoor, open_test_store
from contract.records.archive import SAMPLES, capability_of
from moss_memory.storage.sqlite.transaction import SqliteWrite
from storage.test_erasing import word
from storage.test_purge import on_disk
from support.deadly_disk import DEADLY
from support.direct_store import DirectStore
from support.python_process import start
from support.slices import in_small_slices, repeatable
from support.store_truth import capsule, open_at
from support.thorough import first_of
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from pathlib import Path

HERE = {"workspace": "shop"}
ERASED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "capsule": ({"type": "capsule", "name": "auth"}, ["Bruzelkantoq", "Cwiffleplodz"]),
    "version": ({"type": "capsule", "name": "auth", "version": 1}, ["Bruzelkantoq"]),
    "artifact": ({"type": "artifact", "name": "plan"}, ["Dgorpthanzik", "Evlaxiquoomp"]),
    "record": ({"type": "record"}, ["Fjundrabbolx"]),
    "note": ({"type": "note", **HERE}, ["Gkwistlevonq"]),
    "trace": ({"type": "trace", **HERE, "doc": "trace"}, ["Mvortiquebaz"]),
    "node": ({"type": "node", **HERE, "id": "Q"}, ["Hzebruckmand", "Iplovquexart"]),
    "task": ({"type": "task", **HERE, "target": "TASK-001"}, ["Jmaxtrundelk", "Kqenvoblitzu", "Lyrgaspodunx"]),
    "step": ({"type": "task", **HERE, "target": "TASK-001", "step_id": "STEP-001"}, ["Kqenvoblitzu"]),
}
"""For each tool that erases: its arguments except the ids, and the words of the erased rows."""
Base = tuple["Path", dict[str, dict[str, Any]]]
"""The home of a store, and the arguments of each tool that needs ids."""

KILLS = 8
"""The number of kills per tool, spread over all its steps; most come before its commit."""

ERASES = (
    DEADLY
    + """
import json
from support.slices import in_small_slices, repeatable

class Patch:
    setattr = staticmethod(setattr)

in_small_slices(Patch())
steps, left = left, 10**9
store = repeatable(sys.argv[2])
store.call("capsule_list", {})
left = steps
answer = store.call(sys.argv[3], json.loads(sys.argv[4]))
print(steps - left if answer.get("erased", True) and answer.get("complete", True) else "not complete", flush=True)
left = 10**9
"""
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    """Return a home with one row of each kind that can be erased, among others."""
    home = tmp_path_factory.mktemp("erased") / "home"
    with open_test_store(str(home), Clock()) as store:
        door = StoreDoor(store)
        for number in range(10):
            door("capsule_store", name=f"other {number}", capsule_text=capsule(f"ordinary{number} " * 40))
        door("capsule_store", name="auth", capsule_text=FULL + "Bruzelkantoq")
        door("capsule_store", name="auth", capsule_text=FULL + "Cwiffleplodz", mode="replace")
        door("artifact_store", name="plan", kind="k", data={"key": "Dgorpthanzik"})
        door("artifact_store", name="plan", kind="k", data={"key": "Evlaxiquoomp"}, mode="replace")
        body = {**SAMPLES["release"], "version": "Fjundrabbolx"}
        submitted = door("submit_payload", capability_id=capability_of("release"), body=body)
        door("branchmind_notes_commit", **HERE, content="first")
        door("branchmind_branch_create", **HERE, name="try")
        note = door("branchmind_notes_commit", **HERE, content="Gkwistlevonq", branch="try")
        door("branchmind_merge", **HERE, **{"from": "try", "into": "main"})
        card = {"id": "Q", "type": "question", "title": "Hzebruckmand"}
        door("branchmind_think_card", **HERE, card=card)
        ops = [{"op": "node_upsert", "id": "Q", "type": "question", "title": "Iplovquexart"}]
        door("branchmind_graph_apply", **HERE, ops=ops)
        trace = door("branchmind_trace_step", **HERE, step="Mvortiquebaz")
        step = {"title": "Kqenvoblitzu"}
        door("tasks_create", **HERE, kind="task", title="Jmaxtrundelk", steps=[step, {"title": "other"}])
        door("tasks_note", **HERE, target="TASK-001", note="Lyrgaspodunx")
    named = {"note": {"seq": note["entry"]["seq"]}, "trace": {"seq": trace["entry"]["seq"]}}
    return home, {**named, "record": {"id": submitted["payload_id"]}}


def left_by(home: Path) -> dict[str, Any]:
    """Return every row of a sound store, without the pending maintenance."""
    with DirectStore(home) as direct:
        assert direct.problems() == []
        return {table: rows for table, rows in direct.dump().items() if table not in ("erasures", "upkeep")}


def erase(home: Path, steps: int, tool: str, what: dict[str, Any]) -> str:
    """Run an erasing tool in a process that dies after `steps` steps; return the number of steps if it finished."""
    process = start(ERASES, steps, home, tool, json.dumps(what))
    return process.communicate(timeout=TIMEOUT_S)[0].strip()


def is_killed(told: str, steps: int) -> bool:
    """Return whether the process was killed; it may have finished because the number of slices varies with time."""
    return told == "" or int(told) <= steps


@pytest.mark.parametrize("case", first_of(ERASED))
def test_killed_at_any_step_a_row_is_unchanged_or_erased_to_the_last_byte(
    base: Base, tmp_path: Path, case: str
) -> None:
    home, named = base
    words, what = ERASED[case][1], {**ERASED[case][0], **named.get(case, {})}
    place = tmp_path / "whole"
    shutil.copytree(home, place)
    total = int(erase(place, 10**9, "moss_erase", what))
    before, after, found = left_by(home), left_by(place), []
    for kill in range(KILLS):
        steps = total * kill**2 // KILLS**2
        place = tmp_path / str(steps)
        shutil.copytree(home, place)
        assert is_killed(erase(place, steps, "moss_erase", what), steps)
        state = left_by(place)
        assert state in (before, after)
        found.append(state == after)
        with open_at(place) as store:
            store.call("capsule_store", {"name": "next", "capsule_text": capsule()})
            if state == before:
                assert store.call("moss_erase", what)["complete"]
            assert on_disk(place, *words) == {}
    assert found == sorted(found)
    assert 3 <= sum(found) <= KILLS - 2, "it was not killed before and after its commit"


@pytest.mark.parametrize("tool", first_of(["branchmind_purge", "artifact_purge"]))
def test_a_purge_killed_at_any_step_leaves_whole_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    home, whole = tmp_path / "home", tmp_path / "whole"
    words = leave_behind(home, tool)
    shutil.copytree(home, whole)
    states = [left_by(home), *slices_of(whole, tool, monkeypatch), left_by(whole)]
    assert len(states) > 4
    place = tmp_path / "counted"
    shutil.copytree(home, place)
    total, found = int(erase(place, 10**9, tool, {})), []
    for kill in range(KILLS):
        place = tmp_path / str(kill)
        shutil.copytree(home, place)
        steps = total * kill // KILLS
        assert is_killed(erase(place, steps, tool, {}), steps)
        state = left_by(place)
        found.append(states.index(state))
        with open_at(place) as store:
            store.call("capsule_store", {"name": "next", "capsule_text": capsule()})
            gone = [one for one in words if one not in str(state)]
            assert on_disk(place, *gone) == {}
            assert store.call(tool, {})["erased"]
    assert found == sorted(found)
    assert gone == words
    assert len(set(found)) > 3, "it was not killed between its slices"


def leave_behind(home: Path, tool: str) -> list[str]:
    """Store notes hidden by a reset and deleted nodes, or deleted artifacts; return their words."""
    chance = random.Random(23)  # noqa: S311
    words = [word(chance) for _ in range(24)]
    with open_test_store(str(home), Clock()) as store:
        door = StoreDoor(store)
        if tool == "artifact_purge":
            for one in words:
                door("artifact_store", name=one, kind="k", data={"key": one})
            door("artifact_bulk_delete", kind="k")
            return words
        kept = door("branchmind_notes_commit", **HERE, content="kept")["entry"]["seq"]
        for number, one in enumerate(words):
            door("branchmind_notes_commit", **HERE, content=one)
            upsert = {"op": "node_upsert", "id": f"n{number}", "type": "idea", "title": one}
            door("branchmind_graph_apply", **HERE, ops=[upsert])
            door("branchmind_graph_apply", **HERE, ops=[{"op": "node_delete", "id": f"n{number}"}])
        door("branchmind_reset", **HERE, to=kept)
    return words


def slices_of(home: Path, tool: str, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the rows that a purge leaves after each of its slices."""
    in_small_slices(monkeypatch)
    found: list[dict[str, Any]] = []
    yield_lock = SqliteWrite.yield_lock

    def yielded(self: SqliteWrite) -> bool:
        going_on = yield_lock(self)
        found.append(left_by(home))
        return going_on

    monkeypatch.setattr(SqliteWrite, "yield_lock", yielded)
    with repeatable(str(home)) as store:
        store.call(tool, {})
    return found
