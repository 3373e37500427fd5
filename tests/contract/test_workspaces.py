"""Listing workspaces and counting their contents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contract.doors import FULL, StoreDoor, open_test_store
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock, Door


def fill(door: Door, clock: Clock) -> None:
    """Create five workspaces, each with rows of another family."""
    clock.advance(1)
    door("capsule_store", workspace="Hand-overs", name="a", capsule_text=FULL)
    clock.advance(1)
    door("artifact_store", workspace="state", name="a", kind="k", data={})
    clock.advance(1)
    door("tasks_create", workspace="Work", kind="plan", title="Ship")
    door("tasks_create", workspace="work", kind="task", title="Build", parent="PLAN-001")
    clock.advance(1)
    door("branchmind_graph_apply", workspace="Graph", ops=[{"op": "node_upsert", "id": "q", "type": "question"}])
    clock.advance(1)
    door("branchmind_notes_commit", workspace="notes", content="seen")
    door("branchmind_notes_commit", workspace="notes", content="heard")


@holds("decisions §7: moss_workspaces lists the workspaces with counts, most recently changed first")
def test_workspaces_are_listed_with_counts_newest_change_first(door: Door, clock: Clock) -> None:
    assert door("moss_workspaces") == {
        "workspaces": [],
        "pagination": {"limit": 50, "offset": 0, "has_more": False, "total": 0},
    }
    fill(door, clock)
    found = door("moss_workspaces")["workspaces"]
    assert [one["workspace"] for one in found] == ["notes", "Graph", "Work", "state", "Hand-overs"]
    assert [one["updated_at"] for one in found] == [clock.seconds - age for age in range(5)]
    counted = {one["workspace"]: {key: one[key] for key in one if one[key]} for one in found}
    assert {name: set(counts) - {"workspace", "updated_at"} for name, counts in counted.items()} == {
        "notes": {"notes"}, "Graph": set(), "Work": {"tasks"}, "state": {"artifacts"}, "Hand-overs": {"capsules"},
    }  # fmt: skip
    assert (counted["notes"]["notes"], counted["Work"]["tasks"]) == (2, 2)
    clock.advance(1)
    door("capsule_append", workspace="hand-overs", name="a", section="Decisions", content="x")
    assert door("moss_workspaces")["workspaces"][0]["workspace"] == "Hand-overs"


@holds("decisions §10: the order of workspaces is the true order of change within a second")
def test_changes_within_one_second_are_listed_in_their_true_order(door: Door) -> None:
    for workspace in ("b", "a", "c"):
        door("capsule_store", workspace=workspace, name="x", capsule_text=FULL)
    assert [one["workspace"] for one in door("moss_workspaces")["workspaces"]] == ["c", "a", "b"]
    door("tasks_create", workspace="b", kind="plan", title="P")
    found = door("moss_workspaces")["workspaces"]
    assert [one["workspace"] for one in found] == ["b", "c", "a"]
    assert found[0]["tasks"] == 1


@holds("decisions §7: moss_workspaces lists the workspaces with counts, most recently changed first")
def test_deleted_rows_are_not_counted_and_empty_workspaces_not_listed(door: Door, clock: Clock) -> None:
    door("capsule_store", workspace="w", name="a", capsule_text=FULL)
    door("artifact_store", workspace="v", name="a", kind="k", data={}, ttl_seconds=10)
    door("capsule_delete", workspace="w", name="a")
    clock.advance(11)
    assert door("moss_workspaces")["workspaces"] == []


@holds("decisions §7: moss_workspaces lists the workspaces with counts, most recently changed first")
def test_the_list_of_workspaces_is_paged(door: Door) -> None:
    for number in range(5):
        door("capsule_store", workspace=f"w{number}", capsule_text=FULL)
    seen = [door("moss_workspaces", limit=2, offset=offset) for offset in (0, 2, 4)]
    assert sorted(one["workspace"] for page in seen for one in page["workspaces"]) == [f"w{n}" for n in range(5)]
    assert [page["pagination"]["has_more"] for page in seen] == [True, True, False]
    assert door.refuses("INVALID_REQUEST", "moss_workspaces", limit=0)


@holds("decisions §7: moss_workspaces lists the workspaces with counts, most recently changed first")
@pytest.mark.parametrize(
    ("closed", "left"),
    [("capsule", {"state", "Work", "Graph", "notes"}), ("reasoning", {"Hand-overs", "state", "Work"})],
)
def test_rows_of_a_closed_family_are_not_counted_and_list_no_workspace(
    home: str, clock: Clock, closed: str, left: set[str]
) -> None:
    with open_test_store(home, clock) as store:
        fill(StoreDoor(store), clock)
    with open_test_store(home, clock, disabled_types=[closed]) as store:
        assert {one["workspace"] for one in store.call("moss_workspaces", {})["workspaces"]} == left


@holds("workspaces: the last changed come first, each with its contents")
def test_recent_workspaces_are_listed_newest_first_with_counts(door: Door, clock: Clock) -> None:
    assert door("moss_recent") == {"workspaces": [], "total": 0}
    fill(door, clock)
    found = door("moss_recent")
    assert [(one["workspace"], one["holds"]) for one in found["workspaces"]] == [
        ("notes", ["reasoning"]), ("Graph", ["reasoning"]), ("Work", ["task"]), ("state", ["artifact"]),
        ("Hand-overs", ["capsule"]),
    ]  # fmt: skip
    assert [one["ts_ms"] // 1000 for one in found["workspaces"]] == [clock.seconds - age for age in range(5)]
    clock.advance(1)
    door("capsule_append", workspace="hand-overs", name="a", section="Decisions", content="x")
    assert door("moss_recent", limit=1)["workspaces"][0]["workspace"] == "Hand-overs"
    assert door("moss_recent", limit=1)["total"] == 5


@holds("workspaces: the last changed come first, each with its contents")
def test_an_empty_workspace_is_not_recent(door: Door, clock: Clock) -> None:
    door("capsule_store", workspace="w", name="a", capsule_text=FULL)
    door("artifact_store", workspace="v", name="a", kind="k", data={}, ttl_seconds=10)
    door("branchmind_init", workspace="empty")
    door("capsule_delete", workspace="w", name="a")
    clock.advance(11)
    assert door("moss_recent") == {"workspaces": [], "total": 0}


@holds("workspaces: the last changed come first, each with its contents")
def test_old_changes_are_ordered_by_day(home: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    from moss_memory.tools.everything import workspace_tools

    monkeypatch.setattr(workspace_tools, "CHANGES_READ", 1)
    with open_test_store(home, clock) as store:
        door = StoreDoor(store)
        for workspace in ("z", "a", "m"):
            door("capsule_store", workspace=workspace, capsule_text=FULL)
            clock.advance(86_400)
        found = door("moss_recent")["workspaces"]
    assert [one["workspace"] for one in found] == ["m", "a", "z"]
    assert ["ts_ms" in one for one in found] == [True, False, False]
    assert found[1]["day"] > found[2]["day"]


@holds("workspaces: the last changed come first, each with its contents")
@pytest.mark.parametrize("closed", ["capsule", "artifact", "reasoning", "task"])
def test_changes_of_a_closed_family_make_no_workspace_recent(home: str, clock: Clock, closed: str) -> None:
    with open_test_store(home, clock) as store:
        fill(StoreDoor(store), clock)
    with open_test_store(home, clock, disabled_types=[closed]) as store:
        found = store.call("moss_recent", {})["workspaces"]
    assert closed not in {family for one in found for family in one["holds"]}
