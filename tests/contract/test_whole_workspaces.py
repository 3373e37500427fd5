"""Renaming and deleting whole workspaces: every family, the search index, references from other rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.doors import FULL, StoreDoor, open_test_store
from support.direct_store import dump, newest_change
from support.promises import holds

if TYPE_CHECKING:
    import pytest

    from contract.doors import Clock, Door

UNIT = "neotoma:store_feature_unit:v1"
BODY = {
    "id": "FU-1", "description": "Zebra rotation", "status": "completed",
    "created_at": "2025-11-01", "updated_at": "2025-12-01",
}  # fmt: skip
TYPES = ("capsule", "artifact", "note", "node", "record")


def fill(door: Door, workspace: str = "Shop") -> str:
    """Store a searchable word in every family; return the id of the record."""
    place = {"workspace": workspace}
    door("capsule_store", **place, name="auth", capsule_text=FULL + "zebra\n")
    door("capsule_store", **place, name="auth", capsule_text=FULL + "a second zebra\n", mode="replace")
    door("capsule_store", **place, name="old", capsule_text=FULL)
    door("capsule_delete", **place, name="old")
    door("artifact_store", **place, name="plan", kind="k", data={"a": 1}, text="a zebra in a plan")
    door("branchmind_notes_commit", **place, content="a zebra was seen")
    door("branchmind_branch_create", **place, name="what-if")
    ops = [{"op": "node_upsert", "id": "q", "type": "question", "title": "Which zebra?", "tags": ["a"]}]
    door("branchmind_graph_apply", **place, ops=ops)
    door("tasks_create", **place, kind="plan", title="Ship")
    steps = [{"title": "One"}, {"title": "Two"}]
    door("tasks_create", **place, kind="task", title="Build", parent="PLAN-001", steps=steps)
    door("tasks_claim", **place, agent="ada", target="TASK-001", path="s:0")
    door("tasks_evidence", **place, target="TASK-001", texts=["seen"])
    door("tasks_focus", **place, target="TASK-001")
    told = door("submit_payload", **place, capability_id=UNIT, body=BODY, client_request_id="r1")
    return str(told["payload_id"])


def found(door: Door, workspace: str | None = None) -> dict[str, list[str]]:
    """Return the workspaces in which the word is found, by type."""
    place = {} if workspace is None else {"workspace": workspace}
    hits = door("moss_search", query="zebra", search_mode="keyword", limit=100, **place)["items"]
    return {one: sorted({hit["workspace"] for hit in hits if hit["type"] == one}) for one in TYPES}


def everywhere(*workspaces: str) -> dict[str, list[str]]:
    return {one: list(workspaces) for one in TYPES}


def seen(door: Door, workspace: str) -> dict[str, Any]:
    """Return the contents of a workspace without its name."""
    place = {"workspace": workspace}
    records = door("retrieve_records", **place)["records"]
    return {
        "capsule": door("capsule_fetch", **place, name="auth")["capsule_text"],
        "artifact": door("artifact_fetch", **place, name="plan")["data"],
        "notes": [one["content"] for one in door("branchmind_show", **place, doc_kind="notes")["entries"]],
        "branches": [one["name"] for one in door("branchmind_branch_list", **place)["branches"]],
        "nodes": door("branchmind_graph_query", **place, tags_any=["a"])["nodes"],
        "task": door("tasks_show", **place, target="TASK-001")["steps"],
        "focus": door("tasks_focus", **place)["focus"],
        "events": [one["event_id"] for one in door("tasks_delta", **place)["events"]],
        "bodies": [one["properties"] for one in records],
        "entities": [one["snapshot"] for one in door("retrieve_entities", **place)["entities"]],
        "timeline": [one["event_type"] for one in door("list_timeline_events", **place)["events"]],
        "changes": door("moss_activity", **place)["days"][0]["task"],
    }


@holds("workspaces: a workspace is renamed with every family, only to an unused name")
def test_a_renamed_workspace_has_everything_of_every_family_under_its_new_name(door: Door) -> None:
    fill(door)
    before = seen(door, "shop")
    answer = door("moss_workspace_rename", name="shop", new_name="The Store")
    assert (answer["workspace"], answer["was"], answer["dry_run"]) == ("The Store", "Shop", False)
    counts = {"capsules": 1, "artifacts": 1, "tasks": 2, "records": 1, "deleted": 1}
    assert {key: answer["holds"][key] for key in counts} == counts
    assert seen(door, "the store") == before
    assert found(door) == found(door, "the store") == everywhere("The Store")
    assert found(door, "shop") == everywhere()
    assert [one["workspace"] for one in door("moss_workspaces")["workspaces"]] == ["The Store"]
    assert door("capsule_restore", workspace="the store", name="old")["id"]
    assert len(door("moss_history", type="capsule", workspace="the store", name="auth")["versions"]) == 3


@holds("workspaces: a workspace is renamed with every family, only to an unused name")
def test_a_renamed_record_has_the_id_of_its_new_workspace(door: Door) -> None:
    before = fill(door)
    door("moss_workspace_rename", name="Shop", new_name="store")
    again = door("submit_payload", workspace="store", capability_id=UNIT, body=BODY, client_request_id="r1")
    assert again["payload_id"] != before
    assert [one["id"] for one in door("retrieve_records", workspace="store")["records"]] == [again["payload_id"]]
    assert again["workspace"] == "store"
    # The old name is free: the same content there is a separate record.
    assert door("submit_payload", workspace="shop", capability_id=UNIT, body=BODY)["payload_id"] == before


@holds("workspaces: a workspace is renamed with every family, only to an unused name")
def test_a_renamed_capsule_has_its_next_version_and_an_artifact_its_old_one(door: Door) -> None:
    fill(door)
    door("moss_workspace_rename", name="Shop", new_name="store")
    assert door("capsule_fetch", workspace="store", name="auth")["version"] == 3
    assert door("artifact_fetch", workspace="store", name="plan")["version"] == 1


@holds("workspaces: a workspace is renamed with every family, only to an unused name")
def test_the_spelling_of_a_workspace_can_be_changed(door: Door) -> None:
    fill(door)
    door("moss_workspace_rename", name="shop", new_name="SHOP")
    assert [one["workspace"] for one in door("moss_workspaces")["workspaces"]] == ["SHOP"]
    assert found(door, "shop") == everywhere("SHOP")


@holds("workspaces: a workspace is renamed with every family, only to an unused name")
def test_a_taken_name_is_a_conflict_and_changes_nothing(door: Door) -> None:
    fill(door)
    for tool, arguments in (
        ("capsule_store", {"workspace": "one", "capsule_text": FULL}),
        ("artifact_store", {"workspace": "two", "kind": "k", "data": {}}),
        ("branchmind_init", {"workspace": "three"}),
        ("tasks_create", {"workspace": "four", "kind": "task", "title": "x"}),
        ("submit_payload", {"workspace": "five", "capability_id": UNIT, "body": BODY}),
    ):
        door(tool, **arguments)
        for dry_run in (True, False):
            error = door.refuses(
                "CONFLICT", "moss_workspace_rename", name="shop", new_name=arguments["workspace"], dry_run=dry_run
            )
            assert str(arguments["workspace"]) in error.message


@holds("workspaces: a workspace is renamed with every family, only to an unused name")
def test_a_name_used_by_deleted_capsules_only_is_taken_and_the_error_explains_it(door: Door) -> None:
    fill(door)
    door("capsule_store", workspace="gone", name="a", capsule_text=FULL)
    door("capsule_delete", workspace="gone", name="a")
    error = door.refuses("CONFLICT", "moss_workspace_rename", name="shop", new_name="gone")
    assert "1 deleted one" in error.message


@holds("workspaces: a workspace is renamed with every family, only to an unused name")
def test_an_unknown_workspace_is_not_found_with_the_nearest(door: Door) -> None:
    fill(door)
    for tool, more in (("moss_workspace_rename", {"new_name": "x"}), ("moss_workspace_delete", {"dry_run": False})):
        error = door.refuses("NOT_FOUND", tool, name="shpo", **more)
        assert (error.details or {})["nearest"] == "Shop"
        assert (error.recovery or {})["tool"] == "moss_workspaces"
    door.refuses("INVALID_REQUEST", "moss_workspace_rename", name="shop", new_name=" ")


@holds("workspaces: one is deleted with every family; a dry run lists the contents, restorable rows can be restored")
def test_a_dry_run_counts_and_changes_nothing(door: Door) -> None:
    fill(door)
    before = dump(door.home)
    renamed = door("moss_workspace_rename", name="shop", new_name="store", dry_run=True)
    deleted = door("moss_workspace_delete", name="shop")
    assert (renamed["dry_run"], deleted["dry_run"]) == (True, True)
    assert renamed["holds"] == deleted["holds"]
    assert "which can be restored" in deleted["message"]
    assert "for good" in deleted["message"]
    assert dump(door.home) == before


@holds("workspaces: one is deleted with every family; a dry run lists the contents, restorable rows can be restored")
def test_a_deleted_workspace_keeps_only_restorable_rows(door: Door) -> None:
    fill(door)
    fill(door, "other")
    before = seen(door, "other")
    answer = door("moss_workspace_delete", name="shop", dry_run=False)
    assert not answer["dry_run"]
    assert [one["workspace"] for one in door("moss_workspaces")["workspaces"]] == ["other"]
    assert found(door) == everywhere("other")
    assert seen(door, "other") == before
    assert door("retrieve_records", workspace="shop")["records"] == []
    assert door("list_timeline_events", workspace="shop")["events"] == []
    door.refuses("NOT_FOUND", "tasks_show", workspace="shop", target="TASK-001")
    assert door("capsule_restore", filters={"workspace": "shop"})["restored_count"] == 2
    assert door("artifact_restore", workspace="shop", name="plan")["id"]
    assert "a second zebra" in door("capsule_fetch", workspace="shop", name="auth")["capsule_text"]
    assert "zebra" in door("capsule_fetch", workspace="shop", name="auth", version=1)["capsule_text"]
    assert fill(door, "fresh")


@holds("workspaces: one is deleted with every family; a dry run lists the contents, restorable rows can be restored")
def test_change_numbers_continue_after_a_deletion(door: Door, home: str) -> None:
    door("tasks_create", workspace="shop", kind="task", title="x")
    last = newest_change(door, home)
    door("moss_workspace_delete", name="shop", dry_run=False)
    newest_change(door, home)
    changes = door("moss_changes", after=last)["changes"]
    assert [one["tool"] for one in changes] == ["moss_workspace_delete"]


@holds("workspaces: one is deleted with every family; a dry run lists the contents, restorable rows can be restored")
def test_a_deleted_workspace_can_be_used_again(door: Door) -> None:
    fill(door)
    door("moss_workspace_delete", name="shop", dry_run=False)
    assert door("tasks_create", workspace="shop", kind="task", title="x")["id"] == "TASK-001"
    assert door("branchmind_notes_commit", workspace="shop", content="new")
    assert [one["content"] for one in door("branchmind_show", workspace="shop", doc_kind="notes")["entries"]] == ["new"]


@holds("workspaces: a workspace is renamed with every family, only to an unused name")
def test_renaming_the_default_workspace_is_reported(tmp_path: pytest.TempPathFactory, clock: Clock) -> None:
    with open_test_store(str(tmp_path), clock, workspace="shop") as store:
        fill(StoreDoor(store))
        answer = store.call("moss_workspace_rename", {"name": "shop", "new_name": "store"})
        assert "shop" in answer["warning"]


@holds("workspaces: one is deleted with every family; a dry run lists the contents, restorable rows can be restored")
def test_a_workspace_is_not_changed_if_a_family_is_closed(tmp_path: pytest.TempPathFactory) -> None:
    with open_test_store(str(tmp_path), disabled_types=("task",)) as store:
        store.call("capsule_store", {"workspace": "shop", "capsule_text": FULL})
        door = StoreDoor(store)
        for tool, more in (("moss_workspace_rename", {"new_name": "x"}), ("moss_workspace_delete", {"dry_run": False})):
            assert "task" in door.refuses("INVALID_REQUEST", tool, name="shop", **more).message
