"""The default workspace: where it is configured, and which calls use it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL, StoreDoor, open_test_store
from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.mcp.instructions import instructions
from moss_memory.mcp.tool_list import tool_list_of
from support.promises import holds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from moss_memory.store import Store


@pytest.fixture
def shop(home: str) -> Iterator[Store]:
    """Return an empty store with the default workspace `shop`."""
    with open_test_store(home, workspace="shop") as opened:
        yield opened


@holds("decisions §7: the default workspace is MOSS_WORKSPACE, else the repository's, else the user's")
def test_the_default_workspace_comes_from_the_environment_the_repository_or_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, repository = tmp_path / "home", tmp_path / "code"
    for folder, name in ((home, "mine"), (repository / ".moss", "theirs")):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps({"workspace": name}))
    monkeypatch.setenv("MOSS_WORKSPACE", "now")
    assert load_config(str(home), cwd=str(repository)).workspace == "now"
    assert load_config(str(home), cwd=str(repository)).sources["workspace"] == "MOSS_WORKSPACE"
    monkeypatch.setenv("MOSS_WORKSPACE", " ")
    assert load_config(str(home), cwd=str(repository)).workspace == "theirs"
    (repository / ".moss" / "config.json").write_text('{"workspace": ""}')
    assert load_config(str(home), cwd=str(repository)).workspace == "mine"
    os.remove(home / "config.json")
    assert load_config(str(home), cwd=str(repository)).workspace == ""


@holds("decisions §7: the default workspace is MOSS_WORKSPACE, else the repository's, else the user's")
@pytest.mark.parametrize("odd", ["a\tb", "x" * 257, "\udc80"])
def test_an_invalid_default_workspace_is_refused_or_a_warning(
    odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"workspace": odd}))
    config = load_config(str(tmp_path), cwd="/")
    assert config.workspace == ""
    assert "workspace is ignored" in config.warnings[0]
    monkeypatch.setenv("MOSS_WORKSPACE", odd)
    with pytest.raises(MossError, match="MOSS_WORKSPACE"):
        load_config(str(tmp_path / "other"), cwd="/")


@holds("decisions §7: every tool that works in a workspace uses the configured default workspace")
def test_calls_without_a_workspace_store_and_find_in_the_default_one(shop: Store) -> None:
    stored = shop.call("capsule_store", {"name": "auth", "capsule_text": FULL})
    assert stored["fetch_key"]["moss_workspace"] == "shop"
    assert shop.call("capsule_fetch", {"name": "auth"})["id"] == stored["id"]
    assert [item["id"] for item in shop.call("capsule_list", {})["items"]] == [stored["id"]]
    assert shop.call("capsule_latest", {})["item"]["id"] == stored["id"]
    artifact = shop.call("artifact_store", {"name": "plan", "kind": "plan", "data": {}, "text": "go"})
    assert shop.call("artifact_fetch", {"name": "plan"})["workspace"] == "shop"
    assert shop.call("artifact_touch", {"name": "plan", "ttl_seconds": 60})["id"] == artifact["id"]


@holds("decisions §7: every tool that works in a workspace uses the configured default workspace")
def test_tools_that_require_a_workspace_use_the_default_one(shop: Store) -> None:
    shop.call("branchmind_notes_commit", {"content": "seen"})
    assert shop.call("branchmind_show", {"doc_kind": "notes", "workspace": "shop"})["entries"][0]["content"] == "seen"
    assert shop.call("tasks_create", {"kind": "task", "title": "Ship"})["id"] == "TASK-001"
    assert shop.call("tasks_radar", {})["workspace"] == "shop"


@holds("decisions §7: every tool that works in a workspace uses the configured default workspace")
def test_references_in_lists_and_bundles_mean_the_default_workspace(shop: Store) -> None:
    one = shop.call("capsule_store", {"name": "one", "capsule_text": FULL})
    asked: dict[str, Any] = {"items": [{"name": "one"}, {"id": one["id"]}, {"name": "one", "workspace": "default"}]}
    answer = shop.call("capsule_fetch_many", asked)
    assert [item["id"] for item in answer["items"]] == [one["id"], one["id"]]
    assert answer["errors"][0]["ref"] == {"name": "one", "workspace": "default"}
    bundle = shop.call("capsule_compose", {"items": [{"name": "one"}], "store_as": {"name": "all"}})
    assert bundle["stored"]["fetch_key"]["moss_workspace"] == "shop"
    assert asked["items"][0] == {"name": "one"}, "the caller's own arguments were changed"


@holds("decisions §7: a default beside an id is not ambiguous; filters without a workspace look everywhere")
def test_a_default_workspace_beside_an_id_is_not_ambiguous(shop: Store) -> None:
    stored = shop.call("capsule_store", {"workspace": "other", "name": "auth", "capsule_text": FULL})
    assert shop.call("capsule_fetch", {"id": stored["id"]})["workspace"] == "other"
    shop.call("capsule_update", {"id": stored["id"], "title": "New"})
    refused = StoreDoor(shop).refuses("AMBIGUOUS_ADDRESSING", "capsule_fetch", id=stored["id"], workspace="shop")
    assert "id" in refused.message


@holds("decisions §7: a default beside an id is not ambiguous; filters without a workspace look everywhere")
def test_filters_still_cover_all_workspaces(shop: Store) -> None:
    for workspace in ("shop", "other"):
        shop.call("capsule_store", {"workspace": workspace, "name": "auth", "capsule_text": FULL, "tags": ["t"]})
        shop.call("artifact_store", {"workspace": workspace, "name": "a", "kind": "k", "data": {}})
    assert len(shop.call("capsule_inventory", {})["items"]) == 2
    assert len(shop.call("capsule_search", {"query": "work"})["items"]) == 2
    assert {hit["workspace"] for hit in shop.call("moss_search", {"query": "work"})["items"]} == {"shop", "other"}
    assert len(shop.call("artifact_list", {"kind": "k"})["items"]) == 2
    assert shop.call("capsule_bulk_delete", {"tag": "t"})["deleted"] == 2


@holds("decisions §7: every tool that works in a workspace uses the configured default workspace")
def test_a_connection_may_have_its_own_workspace(shop: Store) -> None:
    shop.call("capsule_store", {"name": "auth", "capsule_text": FULL}, workspace="crew")
    assert shop.call("capsule_fetch", {"name": "auth"}, workspace="crew")["workspace"] == "crew"
    with pytest.raises(MossError, match="shop/auth"):
        shop.call("capsule_fetch", {"name": "auth"})


@holds("decisions §7: every tool that works in a workspace uses the configured default workspace")
def test_without_a_default_workspace_the_tools_require_one_as_before(store: Store) -> None:
    refused = StoreDoor(store).refuses("INVALID_REQUEST", "tasks_list")
    assert "`workspace` is required" in refused.message
    assert '"required":["workspace"' in tool_list_of(store.config, None).listing()


@holds("decisions §7: every tool that works in a workspace uses the configured default workspace")
def test_the_list_of_tools_shows_the_default_workspace_and_does_not_require_it(shop: Store) -> None:
    tools = {tool["name"]: tool["inputSchema"] for tool in json.loads(tool_list_of(shop.config, None).listing())}
    usual = {tool["name"]: tool["inputSchema"] for tool in json.loads(tool_list_of(shop.config, None, "").listing())}
    assert tools.keys() == usual.keys()
    for name, schema in tools.items():
        place = schema["properties"].get("workspace", {})
        means_one = "workspace" in usual[name].get("required", ()) or "default" in usual[name]["properties"].get(
            "workspace", {}
        )
        assert place.get("default") == ("shop" if means_one else None), name
        required = [one for one in usual[name].get("required", ()) if one != "workspace"]
        assert schema.get("required", []) == required, name
    assert "required" not in tools["tasks_radar"]
    assert "default" not in tools["capsule_fetch"]["properties"]["workspace"]


@holds("decisions §7: every tool that works in a workspace uses the configured default workspace")
def test_the_instructions_name_the_default_workspace(shop: Store) -> None:
    assert 'Your workspace is "shop"' in instructions(tool_list_of(shop.config, None))
    assert "reasoning and task tools need one" in instructions(tool_list_of(shop.config, None, ""))
