"""Addresses of capsules and artifacts: fetch keys, former names, and names in several workspaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL, Door
from moss_memory.registry import catalog
from support.promises import holds

if TYPE_CHECKING:
    from moss_memory.errors import MossError

FAMILIES = ("capsule", "artifact")


def store(door: Door, family: str, workspace: str = "shop", **more: Any) -> dict[str, Any]:
    content: dict[str, Any] = {"capsule_text": FULL} if family == "capsule" else {"kind": "k", "data": {}, "text": "t"}
    return door(f"{family}_store", workspace=workspace, **{**content, **more})


def key_of(door: Door, family: str, address: str) -> dict[str, Any]:
    row = door(f"{family}_fetch", id=address)
    if row.get("name") is None:
        return {"moss_id": address}
    return {f"moss_{family}": row["name"], "moss_workspace": row["workspace"]}


def follow(door: Door, error: MossError) -> dict[str, Any]:
    assert error.recovery is not None
    return door(error.recovery["tool"], **error.recovery["arguments"])


NEEDED: dict[str, dict[str, Any]] = {
    "capsule_update": {"title": "New"},
    "capsule_append": {"section": "Decisions", "content": "more"},
    "artifact_touch": {"ttl_seconds": 60},
    "moss_history": {},
    "moss_revert": {"version": 1},
    "moss_rename": {"new_name": "other"},
    "moss_erase": {"dry_run": True},
}
ADDRESSING = [
    operation.name for operation in catalog.operations() if {"id", "workspace", "name"} <= operation.parameters.keys()
]


@holds("decisions §10: a fetch_key is an address wherever a capsule or artifact is addressed by name")
def test_every_tool_with_an_address_is_tested_here() -> None:
    assert {*NEEDED, "capsule_fetch", "artifact_fetch", "capsule_restore", "artifact_delete"} <= set(ADDRESSING)


@holds("decisions §10: a fetch_key is an address wherever a capsule or artifact is addressed by name")
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("tool", ADDRESSING)
def test_a_fetch_key_is_an_address(call: Door, tool: str, named: bool) -> None:
    family = "artifact" if tool.startswith("artifact_") else "capsule"
    operation = catalog.find(tool)
    assert operation is not None
    typed = {"type": family} if "type" in operation.parameters else {}
    first = store(call, family, **({"name": "auth"} if named else {}))["id"]
    key = key_of(call, family, first)
    if tool.endswith("_restore"):
        call(f"{family}_delete", id=first)
    answer = call(tool, fetch_key=key, **typed, **NEEDED.get(tool, {}))
    assert answer.get("id", first) == first


@holds("decisions §10: a fetch_key is an address wherever a capsule or artifact is addressed by name")
@pytest.mark.parametrize("tool", ["capsule_fetch_many", "capsule_compose", "artifact_compose"])
def test_a_fetch_key_is_an_item(call: Door, tool: str) -> None:
    family = tool.partition("_")[0]
    key = key_of(call, family, store(call, family, name="auth")["id"])
    answer = call(tool, items=[{"fetch_key": key}])
    assert answer.get("parts_count", len(answer.get("items", []))) == 1


@holds("decisions §10: a fetch_key is an address wherever a capsule or artifact is addressed by name")
@pytest.mark.parametrize("beside", [{"id": "x"}, {"workspace": "shop"}, {"name": "auth"}])
def test_a_fetch_key_excludes_other_addresses(call: Door, beside: dict[str, str]) -> None:
    key = store(call, "capsule", name="auth")["fetch_key"]
    call.refuses("AMBIGUOUS_ADDRESSING", "capsule_fetch", fetch_key=key, **beside)


@holds("decisions §10: a fetch_key is an address wherever a capsule or artifact is addressed by name")
@pytest.mark.parametrize("key", [{}, {"name": "auth"}, {"moss_capsule": 1}, {"moss_workspace": "shop"}, "auth"])
def test_an_invalid_fetch_key_is_refused(call: Door, key: Any) -> None:
    call.refuses("INVALID_REQUEST", "capsule_fetch", fetch_key=key)


@holds("decisions §10: a fetch_key is an address wherever a capsule or artifact is addressed by name")
def test_a_fetch_key_of_another_family_proposes_its_tool(call: Door) -> None:
    error = call.refuses("INVALID_REQUEST", "capsule_fetch", fetch_key={"moss_artifact": "a", "moss_workspace": "w"})
    assert "artifact_fetch" in error.message


@holds("decisions §10: a name in several places is listed, a renamed one is followed, an active row is not restored")
def test_an_ambiguous_name_lists_its_workspaces_and_none_is_chosen(call: Door) -> None:
    for workspace in ("shop", "billing"):
        store(call, "capsule", workspace, name="auth")
    error = call.refuses("NOT_FOUND", "capsule_fetch", name="auth")
    assert error.recovery is not None
    assert (error.recovery["tool"], error.recovery["arguments"]) == ("capsule_inventory", {"name_prefix": "auth"})
    assert {item["workspace"] for item in follow(call, error)["items"]} == {"shop", "billing"}


@holds("decisions §10: a name in several places is listed, a renamed one is followed, an active row is not restored")
def test_an_artifact_name_in_several_workspaces_proposes_a_search(call: Door) -> None:
    for workspace in ("shop", "billing"):
        store(call, "artifact", workspace, name="auth")
    error = call.refuses("NOT_FOUND", "artifact_fetch", name="auth")
    assert error.recovery is not None
    assert error.recovery["tool"] == "moss_search"
    assert "items" in follow(call, error)


@holds("decisions §10: a name in several places is listed, a renamed one is followed, an active row is not restored")
@pytest.mark.parametrize(
    ("change", "there"),
    [
        ({"new_name": "Sign-in"}, {"workspace": "shop", "name": "Sign-in"}),
        ({"new_workspace": "store"}, {"workspace": "store", "name": "Auth"}),
    ],
)
def test_a_former_name_proposes_the_new_one(call: Door, change: dict[str, str], there: dict[str, str]) -> None:
    first = store(call, "capsule", name="Auth")["id"]
    call("moss_rename", type="capsule", workspace="shop", name="Auth", **change)
    call("capsule_update", id=first, title="later")
    error = call.refuses("NOT_FOUND", "capsule_fetch", workspace="shop", name="auth")
    assert error.details is not None
    assert error.details["renamed_to"] == there
    assert follow(call, error)["id"] == first


@holds("decisions §10: a name in several places is listed, a renamed one is followed, an active row is not restored")
def test_a_reused_former_name_belongs_to_its_new_capsule(call: Door) -> None:
    store(call, "capsule", name="auth")
    call("moss_rename", type="capsule", workspace="shop", name="auth", new_name="old")
    second = store(call, "capsule", name="auth")["id"]
    assert call("capsule_fetch", workspace="shop", name="auth")["id"] == second


@holds("decisions §10: a name in several places is listed, a renamed one is followed, an active row is not restored")
@pytest.mark.parametrize("family", FAMILIES)
def test_restoring_an_active_capsule_proposes_its_versions(call: Door, family: str) -> None:
    store(call, family, name="auth")
    error = call.refuses("CONFLICT", f"{family}_restore", workspace="shop", name="auth")
    assert error.recovery is not None
    assert error.recovery["tool"] == "moss_history"
    assert follow(call, error)["name"] == "auth"


@holds("decisions §10: capsule_append replaces one section or adds to it; a replaced capsule names the version before")
def test_replacing_a_section_keeps_the_others(call: Door) -> None:
    store(call, "capsule", name="auth", capsule_text=FULL)
    named = {"workspace": "shop", "name": "auth", "section": "decisions"}
    answer = call("capsule_append", **named, content="- only this\n", mode="replace")
    assert (answer["replaced"], answer["version"]) == (True, 2)
    expected = FULL.replace("Decisions of the work.", "- only this")
    assert call("capsule_fetch", workspace="shop", name="auth")["capsule_text"] == expected


@holds("decisions §10: capsule_append replaces one section or adds to it; a replaced capsule names the version before")
@pytest.mark.parametrize(
    ("there", "added", "between"),
    [
        ("- one", "- two", "\n"),
        ("- one\n  more of it", "- two", "\n"),
        ("1. one", "2. two", "\n"),
        ("* one", "- two", "\n\n"),
        ("- one", "text", "\n\n"),
        ("text", "- two", "\n\n"),
        ("- one\ntext", "- two", "\n\n"),
        ("1. one", "- two", "\n\n"),
        ("-one", "-two", "\n\n"),
    ],
)
def test_items_of_one_list_stay_together(call: Door, there: str, added: str, between: str) -> None:
    store(call, "capsule", name="auth", capsule_text=FULL.replace("Decisions of the work.", there))
    call("capsule_append", workspace="shop", name="auth", section="Decisions", content=added)
    text = call("capsule_fetch", workspace="shop", name="auth")["capsule_text"]
    assert f"## Decisions\n{there}{between}{added}\n\n## Next actions" in text


@holds("decisions §10: capsule_append replaces one section or adds to it; a replaced capsule names the version before")
def test_an_unknown_append_mode_is_refused(call: Door) -> None:
    store(call, "capsule", name="auth")
    named = {"workspace": "shop", "name": "auth", "section": "Decisions", "content": "x"}
    call.refuses("INVALID_REQUEST", "capsule_append", **named, mode="overwrite")


@holds("decisions §10: capsule_append replaces one section or adds to it; a replaced capsule names the version before")
def test_a_replacement_returns_the_previous_version(call: Door) -> None:
    assert "previous_version" not in store(call, "capsule", name="auth")
    call("capsule_update", workspace="shop", name="auth", title="two")
    replaced = store(call, "capsule", name="auth", mode="replace")
    assert (replaced["version"], replaced["previous_version"]) == (3, 2)


@holds("decisions §10: a composed artifact takes the labels of its run; every bounded page counts its rows")
def test_a_stored_bundle_of_artifacts_has_the_given_labels(call: Door) -> None:
    for number in range(100):
        store(call, "artifact", name=f"a{number}")
    items = [{"workspace": "shop", "name": f"a{number}"} for number in range(100)]
    labels = {"run_id": "r", "phase": "p", "role": "lead", "ttl_seconds": 60}
    call("artifact_compose", items=items, store_as={"workspace": "shop", "name": "all", "kind": "summary", **labels})
    kept = call("artifact_fetch", workspace="shop", name="all")
    assert {key: kept[key] for key in labels} == labels
    call.refuses("INVALID_REQUEST", "artifact_compose", items=[*items, items[0]])


@holds("decisions §10: a composed artifact takes the labels of its run; every bounded page counts its rows")
def test_a_page_of_a_bounded_list_counts_its_rows(call: Door) -> None:
    for number in range(3):
        store(call, "artifact", name=f"a{number}")
    assert call("artifact_list", workspace="shop", limit=2)["pagination"]["count"] == 2
    assert call("artifact_list", workspace="shop", offset=2)["pagination"]["count"] == 1
    for tool in ("retrieve_records", "retrieve_entities", "list_timeline_events"):
        assert call(tool)["pagination"]["count"] == 0


@holds("decisions §0: a blank workspace is refused and never means `default`")
@pytest.mark.parametrize("workspace", ["", "  "])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_blank_workspace_of_an_address_is_not_the_default_one(call: Door, family: str, workspace: str) -> None:
    store(call, family, workspace="default", name="auth")
    error = call.refuses("INVALID_REQUEST", f"{family}_fetch", workspace=workspace, name="auth")
    assert error.details == {"path": "workspace"}
    assert "is blank" in error.message
