"""The eleven tool names of v1.0: they answer like the later tools, with `task_link`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL
from moss_memory.registry import catalog
from support.direct_store import rows
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door

V1_NAMES = [
    "moss.store", "moss.fetch", "moss.fetch_many", "moss.update", "moss.delete", "moss.latest", "moss.list",
    "moss.inventory", "moss.export", "moss.import", "moss.purge",
]  # fmt: skip


def walk(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for part in value.values() for key in walk(part))]
    return [key for part in value for key in walk(part)] if isinstance(value, list) else []


@holds("decisions §0: the eleven v1.0 names answer with task_link")
def test_every_v1_name_answers_like_its_later_tool_with_task_link(call: Door) -> None:
    stored = call("moss.store", workspace="startupA", name="auth", capsule_text=FULL)
    link = {"moss_capsule": "auth", "moss_workspace": "startupA"}
    assert stored.pop("created_workspace") is True
    assert stored == {"id": stored["id"], "task_link": link, "version": 1}
    address = {"workspace": "startupA", "name": "auth"}
    assert call("moss.fetch", **address)["task_link"] == link
    assert call("moss.fetch_many", items=[address])["items"][0]["task_link"] == link
    assert call("moss.update", **address, title="T") == {**stored, "version": 2}
    assert call("moss.latest", workspace="startupA")["item"]["task_link"] == link
    assert call("moss.list", workspace="startupA")["items"][0]["task_link"] == link
    assert call("moss.inventory")["items"][0]["task_link"] == link
    assert call("moss.export", path="v1.jsonl")["count"] == 1
    assert call("moss.delete", **address) == {"deleted": True, "id": stored["id"], "workspace": "startupA"}
    assert call("moss.purge")["purged"] == 1
    assert call("moss.import", path="v1.jsonl")["imported"] == 1


@holds("decisions §0: the eleven v1.0 names answer with task_link")
def test_an_unnamed_capsules_task_link_is_its_id(call: Door) -> None:
    stored = call("moss.store", capsule_text=FULL)
    assert stored["task_link"] == {"moss_id": stored["id"]}


@holds("decisions §0: the eleven v1.0 names answer with task_link")
def test_only_v1_answers_have_task_link_and_only_later_ones_fetch_key(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    for name in ("fetch_many", "latest", "list", "inventory"):
        arguments: dict[str, Any] = {"items": [{"name": "a"}]} if name == "fetch_many" else {}
        assert "fetch_key" not in walk(call(f"moss.{name}", **arguments))
        assert "task_link" not in walk(call(f"capsule_{name}", **arguments))


@holds("decisions §0: the eleven v1.0 names answer with task_link")
def test_a_v1_refusal_has_the_same_code(call: Door) -> None:
    call.refuses("NOT_FOUND", "moss.fetch", name="none")
    call.refuses("CAPSULE_TOO_THIN", "moss.store", capsule_text="thin")
    call.refuses("INVALID_REQUEST", "moss.list", limit=0)


@holds("decisions §0: they are never listed, and there are only eleven")
@pytest.mark.parametrize("name", V1_NAMES)
def test_a_v1_name_is_in_the_catalog_but_not_listed(name: str) -> None:
    found = catalog.find(name)
    assert found is not None
    assert (found.name, found.alias_of) == (name, f"capsule_{name[5:]}")
    assert name not in [operation.name for operation in catalog.operations()]


@holds("decisions §0: they are never listed, and there are only eleven")
@pytest.mark.parametrize("name", ["moss.append", "moss.search", "moss.compose", "moss.restore", "moss.", "moss.STORE"])
def test_tools_added_later_have_no_v1_name(call: Door, name: str) -> None:
    assert catalog.find(name) is None


@holds("decisions §0: the eleven v1.0 names answer with task_link")
def test_a_v1_write_is_logged_under_the_tools_own_name(call: Door) -> None:
    call("moss.store", capsule_text=FULL)
    assert rows(call.home, "select tool from events") == [("capsule_store",)]
