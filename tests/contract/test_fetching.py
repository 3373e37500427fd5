"""`capsule_fetch` and `capsule_fetch_many`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door

ADDRESSED: dict[str, dict[str, Any]] = {
    "capsule_fetch": {},
    "capsule_update": {"title": "T"},
    "capsule_delete": {},
    "capsule_append": {"section": "Objective", "content": "x"},
}


@holds("1 §6.2: fetch shows the whole capsule, by name or by id")
def test_a_fetch_shows_the_whole_capsule(call: Door) -> None:
    stored = call("capsule_store", workspace="startupA", name="auth", capsule_text=FULL, tags=["t"], source="s")
    fetched = call("capsule_fetch", workspace="startupA", name="auth")
    assert set(fetched) == {
        "id", "workspace", "workspace_norm", "name", "name_norm", "title", "capsule_text", "capsule_chars",
        "tokens_estimate", "tags", "source", "created_at", "updated_at", "version", "fetch_key",
    }  # fmt: skip
    assert fetched["id"] == stored["id"]
    assert fetched["capsule_text"] == FULL
    assert fetched["capsule_chars"] == len(FULL)
    assert isinstance(fetched["created_at"], int)
    assert fetched["fetch_key"] == stored["fetch_key"]


@holds("1 §6.2: fetch shows the whole capsule, by name or by id")
def test_a_capsule_is_fetched_by_its_id(call: Door) -> None:
    stored = call("capsule_store", workspace="startupA", name="auth", capsule_text=FULL)
    assert call("capsule_fetch", id=stored["id"])["name"] == "auth"


@holds("2 §6.2: a peek leaves the text out")
def test_a_peek_leaves_the_text_out(call: Door) -> None:
    call("capsule_store", name="auth", capsule_text=FULL)
    peek = call("capsule_fetch", name="auth", include_text=False)
    assert "capsule_text" not in peek
    assert peek["capsule_chars"] == len(FULL)


@holds("2 §6.2: deleted capsules are hidden unless include_deleted")
def test_a_deleted_capsule_is_not_found(call: Door) -> None:
    stored = call("capsule_store", name="auth", capsule_text=FULL)
    call("capsule_delete", name="auth")
    assert call.refuses("NOT_FOUND", "capsule_fetch", name="auth").status == 404
    call.refuses("NOT_FOUND", "capsule_fetch", id=stored["id"])


@holds("2 §6.2: deleted capsules are hidden unless include_deleted")
def test_include_deleted_shows_a_deleted_capsule(call: Door) -> None:
    stored = call("capsule_store", name="auth", capsule_text=FULL)
    call("capsule_delete", name="auth")
    for address in ({"name": "auth"}, {"id": stored["id"]}):
        fetched = call("capsule_fetch", include_deleted=True, **address)
        assert fetched["id"] == stored["id"]
        assert isinstance(fetched["deleted_at"], int)


@holds("decisions §1: with include_deleted a name finds the active one, else the most recently deleted one")
def test_a_name_finds_the_active_capsule_before_deleted_ones(call: Door) -> None:
    call("capsule_store", name="auth", capsule_text=FULL)
    call("capsule_delete", name="auth")
    active = call("capsule_store", name="auth", capsule_text=FULL)
    assert call("capsule_fetch", name="auth", include_deleted=True)["id"] == active["id"]


@holds("decisions §1: with include_deleted a name finds the active one, else the most recently deleted one")
def test_a_name_without_active_capsule_finds_the_most_recently_deleted_one(call: Door) -> None:
    for _ in range(3):
        latest = call("capsule_store", name="auth", capsule_text=FULL)
        call("capsule_delete", name="auth")
    assert call("capsule_fetch", name="auth", include_deleted=True)["id"] == latest["id"]


@holds("decisions §1: with include_deleted a name finds the active one, else the most recently deleted one")
def test_the_most_recently_deleted_is_decided_by_the_time_of_deletion(call: Door) -> None:
    record = {"workspace_raw": "w", "name_raw": "auth", "capsule_text": FULL, "created_at": 10}
    path = call.write_export(
        {**record, "id": "DELETED-LAST", "updated_at": 100, "deleted_at": 300},
        {**record, "id": "DELETED-FIRST", "updated_at": 250, "deleted_at": 200},
    )
    call("capsule_import", path=path)
    found = call("capsule_fetch", workspace="w", name="auth", include_deleted=True)
    assert found["id"] == "DELETED-LAST"


@holds("2 §4.3: exactly one way of addressing: an id beside a name or a workspace is ambiguous")
@pytest.mark.parametrize("tool", ADDRESSED)
@pytest.mark.parametrize("extra", [{"name": "auth"}, {"workspace": "default"}, {"name": "a", "workspace": "w"}])
def test_an_id_beside_a_name_or_workspace_is_ambiguous(call: Door, tool: str, extra: dict[str, str]) -> None:
    stored = call("capsule_store", name="auth", capsule_text=FULL)
    error = call.refuses("AMBIGUOUS_ADDRESSING", tool, id=stored["id"], **extra, **ADDRESSED[tool])
    assert error.status == 400


@holds("decisions §1: no address at all is invalid")
@pytest.mark.parametrize("tool", ADDRESSED)
@pytest.mark.parametrize("address", [{}, {"workspace": "default"}, {"id": None, "name": None}])
def test_a_capsule_must_be_addressed(call: Door, tool: str, address: dict[str, Any]) -> None:
    call.refuses("INVALID_REQUEST", tool, **address, **ADDRESSED[tool])


@holds("decisions §0: not found carries the one best next call")
@pytest.mark.parametrize("tool", ADDRESSED)
@pytest.mark.parametrize("address", [{"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}, {"name": "none", "workspace": "W"}])
def test_a_missing_capsule_is_not_found_and_proposes_the_list(call: Door, tool: str, address: dict[str, str]) -> None:
    error = call.refuses("NOT_FOUND", tool, **address, **ADDRESSED[tool])
    assert error.recovery is not None
    assert set(error.recovery) == {"tool", "arguments", "reason"}
    assert call(error.recovery["tool"], **error.recovery["arguments"])["items"] == []


@holds("2 §4.2: names and workspaces are stored raw and compared normalized")
@pytest.mark.parametrize("tool", ADDRESSED)
def test_names_are_looked_up_normalized_in_the_default_workspace(call: Door, tool: str) -> None:
    stored = call("capsule_store", name="Auth Flow", capsule_text=FULL)
    assert call(tool, name="  auth   FLOW", **ADDRESSED[tool])["id"] == stored["id"]


@holds("2 §6.3: fetch_many: mixed addresses, answered in the requested order, each with its fetch_key")
def test_fetch_many_mixes_addresses_and_keeps_the_order_asked_for(call: Door) -> None:
    a = call("capsule_store", name="a", capsule_text=FULL)["id"]
    b = call("capsule_store", workspace="W", name="b", capsule_text=FULL)["id"]
    c = call("capsule_store", capsule_text=FULL)["id"]
    answer = call("capsule_fetch_many", items=[{"id": c}, {"workspace": "w", "name": "B"}, {"name": "a"}, {"id": c}])
    assert [item["id"] for item in answer["items"]] == [c, b, a, c]
    assert answer["errors"] == []
    assert answer["items"][0]["fetch_key"] == {"moss_id": c}
    assert answer["items"][1]["fetch_key"] == {"moss_capsule": "b", "moss_workspace": "W"}


@holds("2 §6.3: fetch_many: mixed addresses, answered in the requested order, each with its fetch_key")
def test_fetch_many_returns_each_capsule_as_fetch_does(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    assert call("capsule_fetch_many", items=[{"name": "a"}])["items"] == [call("capsule_fetch", name="a")]


@holds("2 §6.3: fetch_many: partial success")
def test_fetch_many_reports_missing_capsules_beside_found_ones(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    missing = {"workspace": "default", "name": "missing"}
    answer = call("capsule_fetch_many", items=[missing, {"name": "a"}])
    assert [item["name"] for item in answer["items"]] == ["a"]
    [error] = answer["errors"]
    assert error["ref"] == missing
    assert error["code"] == "NOT_FOUND"
    assert "missing" in error["message"]


@holds("2 §6.3: fetch_many: partial success")
def test_fetch_many_reports_a_bad_address_as_that_items_error(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    answer = call("capsule_fetch_many", items=[{"id": "x", "name": "a"}, {}, {"name": "a"}])
    assert [error["code"] for error in answer["errors"]] == ["AMBIGUOUS_ADDRESSING", "INVALID_REQUEST"]
    assert [item["name"] for item in answer["items"]] == ["a"]


@holds("2 §6.3: fetch_many: include_text and include_deleted")
def test_fetch_many_can_leave_out_texts_and_include_deleted_ones(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    call("capsule_delete", name="a")
    assert call("capsule_fetch_many", items=[{"name": "a"}])["items"] == []
    [item] = call("capsule_fetch_many", items=[{"name": "a"}], include_deleted=True, include_text=False)["items"]
    assert "capsule_text" not in item
    assert "deleted_at" in item


@holds("2 §6.3: fetch_many: at most 50, none is fine")
def test_fetch_many_accepts_at_most_50_items(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    assert len(call("capsule_fetch_many", items=[{"name": "a"}] * 50)["items"]) == 50
    assert call.refuses("INVALID_REQUEST", "capsule_fetch_many", items=[{"name": "a"}] * 51).status == 400


@holds("2 §6.3: fetch_many: at most 50, none is fine")
def test_fetch_many_without_items_returns_an_empty_list(call: Door) -> None:
    assert call("capsule_fetch_many", items=[]) == {"items": [], "errors": []}


@holds("decisions §0: wrong types are refused with the path of the bad value")
def test_a_wrong_type_is_refused_with_the_path_of_the_bad_value(call: Door) -> None:
    error = call.refuses("INVALID_REQUEST", "capsule_fetch_many", items=[{"id": "a"}, {"id": "b"}, {"id": 3}])
    assert "items[2].id" in error.message


@holds("decisions §0: unknown arguments are refused, naming the nearest known one")
def test_an_unknown_argument_inside_an_item_is_refused_by_path(call: Door) -> None:
    error = call.refuses("INVALID_REQUEST", "capsule_fetch_many", items=[{"nmae": "a"}])
    assert "items[0].nmae" in error.message
    assert "'name'" in error.message
