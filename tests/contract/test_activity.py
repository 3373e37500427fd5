"""`moss_activity` and `moss_changes`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contract.doors import FULL, Clock, StoreDoor, open_test_store
from support.direct_store import newest_change
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door

DAY_S = 86_400


@holds("decisions §9: the overview shows totals and changes, day by day")
def test_rows_are_counted_by_family_and_workspace(door: Door) -> None:
    door("capsule_store", workspace="a", name="kept", capsule_text=FULL)
    door("capsule_store", workspace="a", name="gone", capsule_text=FULL)
    door("capsule_delete", workspace="a", name="gone")
    door("artifact_store", workspace="b", kind="freeform", data={})
    door("branchmind_notes_commit", workspace="a", content="one")
    door("tasks_create", workspace="b", kind="plan", title="a plan is no task")
    assert door("moss_activity", workspace="a")["counts"]["capsule"] == 1
    assert door("moss_activity", workspace="b")["counts"]["capsule"] == 0
    counts = door("moss_activity")["counts"]
    assert {name: counts[name] for name in ("capsule", "artifact", "task", "record")} == {
        "capsule": 1, "artifact": 1, "task": 0, "record": 0,
    }  # fmt: skip
    assert door("moss_activity", workspace="a")["counts"]["reasoning"] == 1


@holds("decisions §9: the overview shows totals and changes, day by day")
def test_changes_are_counted_by_day_and_family(home: str, clock: Clock) -> None:
    with open_test_store(home, clock) as store:
        door = StoreDoor(store)
        door("capsule_store", workspace="a", name="one", capsule_text=FULL)
        clock.advance(DAY_S)
        door("capsule_append", workspace="a", name="one", section="Decisions", content="more")
        door("artifact_store", workspace="b", kind="freeform", data={})
        days = door("moss_activity", days=2)["days"]
        assert [(day["capsule"], day["artifact"]) for day in days] == [(1, 0), (1, 1)]
        assert days[0]["day"] < days[1]["day"]
        assert [day["capsule"] for day in door("moss_activity", days=1)["days"]] == [1]
        assert [day["artifact"] for day in door("moss_activity", workspace="B")["days"]] == [1]


@holds("decisions §9: the overview shows totals and changes, day by day")
def test_days_count_every_event_of_calls_that_write_several(door: Door, home: str) -> None:
    door("tasks_create", workspace="a", kind="task", title="one", steps=[{"title": "s"}])
    door("tasks_note", workspace="a", target="TASK-001", note="x")
    door("capsule_purge")
    newest_change(door, home)
    changes = door("moss_changes", after=0)["changes"]
    [day] = door("moss_activity")["days"]
    assert sum(count for name, count in day.items() if name != "day") == len(changes)


@holds("decisions §9: the overview shows totals and changes, day by day")
def test_an_empty_store_has_no_activity(door: Door) -> None:
    answer = door("moss_activity")
    assert (answer["days"], answer["seq"], "last" in answer) == ([], 0, False)
    assert door("moss_changes") == {"seq": 0, "changes": [], "has_more": False}


@holds("decisions §9: the overview shows totals and changes, day by day")
def test_changes_after_a_number_are_listed_once_oldest_first(door: Door, home: str) -> None:
    for name in ("one", "two", "three"):
        door("capsule_store", workspace="a", name=name, capsule_text=FULL)
    last = newest_change(door, home)
    seen, after = [], 0
    while True:
        answer = door("moss_changes", after=after, limit=2)
        seen += [(change["seq"], change["tool"], change["workspace"]) for change in answer["changes"]]
        after = seen[-1][0]
        if not answer["has_more"]:
            break
    assert [seq for seq, _, _ in seen] == [last - 2, last - 1, last]
    assert {(tool, workspace) for _, tool, workspace in seen} == {("capsule_store", "a")}
    assert door("moss_changes", after=last)["changes"] == []
    door.refuses("INVALID_REQUEST", "moss_changes", after=-1)


@holds("workspaces: the last changed come first, each with its contents")
def test_deleted_and_expired_rows_are_not_counted(door: Door, clock: Clock) -> None:
    for name, more in (("kept", {}), ("deleted", {}), ("expires", {"ttl_seconds": 10}), ("both", {"ttl_seconds": 10})):
        door("artifact_store", workspace="a", name=name, kind="freeform", data={}, **more)
    for name in ("deleted", "both"):
        door("artifact_delete", workspace="a", name=name)
    clock.advance(11)
    assert door("moss_activity")["counts"]["artifact"] == 1
    assert door("moss_activity", workspace="a")["counts"]["artifact"] == 1
