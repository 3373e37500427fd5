"""Errors of unknown names: they list the workspaces with that name, and the call that loads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL, Door
from moss_memory.rows.suggestions import distance_to
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock
    from moss_memory.errors import MossError

TOOL_GROUPS = ("capsule", "artifact")


def keep(call: Door, family: str, name: str | None, workspace: str = "default", **more: Any) -> str:
    content: dict[str, Any] = {"capsule_text": FULL} if family == "capsule" else {"kind": "k", "data": {}}
    named = {} if name is None else {"name": name}
    kept: str = call(f"{family}_store", workspace=workspace, **named, **content, **more)["id"]
    return kept


def details(error: MossError) -> dict[str, Any]:
    assert error.details is not None
    return error.details


def follow(call: Door, error: MossError) -> dict[str, Any]:
    """Return the answer to the call that an error proposes."""
    assert error.recovery is not None
    return call(error.recovery["tool"], **error.recovery["arguments"])


@holds("decisions §7: NOT_FOUND by name lists its other places, the nearest names, and the call that loads the first")
@pytest.mark.parametrize("family", TOOL_GROUPS)
def test_a_name_in_another_workspace_is_reported_with_that_workspace(door: Door, family: str) -> None:
    there = keep(door, family, "Auth", "Shop")
    error = door.refuses("NOT_FOUND", f"{family}_fetch", name="auth")
    assert "there is Shop/Auth" in error.message
    assert details(error) == {"elsewhere": [{"workspace": "Shop", "name": "Auth"}], "nearest": []}
    assert follow(door, error)["id"] == there


@holds("decisions §7: NOT_FOUND by name lists its other places, the nearest names, and the call that loads the first")
def test_at_most_five_workspaces_with_the_name_are_reported_newest_first(door: Door) -> None:
    for number in range(7):
        keep(door, "capsule", "auth", f"w{number}")
    door("capsule_update", workspace="w2", name="auth", title="New")
    door("capsule_delete", workspace="w6", name="auth")
    error = door.refuses("NOT_FOUND", "capsule_fetch", name="auth")
    assert [one["workspace"] for one in details(error)["elsewhere"]] == ["w2", "w5", "w4", "w3", "w1"]


@holds("decisions §7: NOT_FOUND by name lists its other places, the nearest names, and the call that loads the first")
@pytest.mark.parametrize("family", TOOL_GROUPS)
def test_the_nearest_names_are_reported_own_workspace_first(door: Door, family: str) -> None:
    for name, workspace in (("auht", "shop"), ("auth2", "default"), ("auth-1", "default"), ("zebra", "default")):
        keep(door, family, name, workspace)
    error = door.refuses("NOT_FOUND", f"{family}_fetch", name="auth")
    assert details(error) == {"elsewhere": [], "nearest": ["auth2", "auth-1", "shop/auht"]}
    assert follow(door, error)["name"] == "auth2"


@holds("decisions §7: NOT_FOUND by name lists its other places, the nearest names, and the call that loads the first")
def test_dissimilar_names_are_not_proposed(door: Door) -> None:
    for name in ("b", "zebra crossing", "release notes"):
        keep(door, "capsule", name)
    for asked in ("a", "auth"):
        error = door.refuses("NOT_FOUND", "capsule_fetch", name=asked)
        assert details(error) == {"elsewhere": [], "nearest": []}
        assert error.recovery is not None
        assert error.recovery["tool"] == "capsule_list"


@holds("decisions §7: NOT_FOUND by name lists its other places, the nearest names, and the call that loads the first")
def test_expired_artifacts_are_not_proposed(door: Door, clock: Clock) -> None:
    keep(door, "artifact", "plan", "shop", ttl_seconds=10)
    keep(door, "artifact", "plam", ttl_seconds=10)
    clock.advance(11)
    error = door.refuses("NOT_FOUND", "artifact_fetch", name="plan")
    assert details(error) == {"elsewhere": [], "nearest": []}


@holds("decisions §7: NOT_FOUND by name lists its other places, the nearest names, and the call that loads the first")
@pytest.mark.parametrize("name", ["auth", "auht"])
@pytest.mark.parametrize(
    ("tool", "asked"), [("artifact_fetch", {"include_expired": True}), ("moss_history", {"type": "artifact"})]
)
def test_a_proposed_expired_artifact_is_shown_if_expired_ones_are_included(
    door: Door, clock: Clock, tool: str, asked: dict[str, Any], name: str
) -> None:
    there = keep(door, "artifact", "auth", "shop", ttl_seconds=1)
    clock.advance(2)
    assert follow(door, door.refuses("NOT_FOUND", tool, name=name, **asked))["id"] == there


@holds("decisions §7: NOT_FOUND by name lists its other places, the nearest names, and the call that loads the first")
@pytest.mark.parametrize("tool", ["capsule_delete", "capsule_append", "capsule_update"])
def test_a_change_of_an_unknown_name_proposes_a_read(door: Door, tool: str) -> None:
    there = keep(door, "capsule", "auth", "shop")
    content = {"capsule_append": {"section": "Decisions", "content": "x"}, "capsule_update": {"title": "x"}}
    error = door.refuses("NOT_FOUND", tool, name="auth", **content.get(tool, {}))
    assert follow(door, error)["id"] == there


@holds("decisions §7: NOT_FOUND by name lists its other places, the nearest names, and the call that loads the first")
def test_restoring_a_deleted_row_is_proposed_before_other_workspaces(door: Door) -> None:
    keep(door, "capsule", "auth", "shop")
    keep(door, "capsule", "auth")
    door("capsule_delete", name="auth")
    error = door.refuses("NOT_FOUND", "capsule_fetch", name="auth")
    assert follow(door, error)["restored"] is True


@holds("decisions §7: capsule_latest that finds none names the newest of other workspaces")
def test_latest_in_an_empty_workspace_reports_the_newest_of_others(door: Door) -> None:
    ids = {}
    for number in range(7):
        keep(door, "capsule", "old", f"w{number}", run_id="r" if number < 2 else "s")
        ids[f"w{number}"] = keep(door, "capsule", None if number == 6 else "new", f"w{number}")
    told = door("capsule_latest")["elsewhere"]
    assert [(one["workspace"], one["id"]) for one in told] == [(f"w{n}", ids[f"w{n}"]) for n in (6, 5, 4, 3, 2)]
    assert [one.get("name") for one in told] == [None, "new", "new", "new", "new"]
    mine = door("capsule_latest", run_id="r")["elsewhere"]
    assert [(one["workspace"], one["name"]) for one in mine] == [("w1", "old"), ("w0", "old")]
    assert "elsewhere" not in door("capsule_latest", workspace="w3")


@holds("decisions §7: NOT_FOUND by name lists its other places, the nearest names, and the call that loads the first")
def test_the_distance_between_names_is_the_minimum_number_of_edits() -> None:
    def by_hand(one: str, other: str) -> int:
        before = list(range(len(other) + 1))
        for place, letter in enumerate(one, start=1):
            row = [place]
            for at, facing in enumerate(other):
                row.append(min(before[at + 1] + 1, row[-1] + 1, before[at] + (letter != facing)))
            before = row
        return before[-1]

    words = ["a", "b", "ab", "ba", "auth", "auht", "oauth", "author", "kitten", "sitting", "größe", "x" * 256, "y" * 70]
    assert {(one, other): distance_to(one)(other) for one in words for other in words} == {
        (one, other): by_hand(one, other) for one in words for other in words
    }
