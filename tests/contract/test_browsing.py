"""`capsule_latest`, `capsule_list` and `capsule_inventory`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door

LISTS = [("capsule_list", 20, 100), ("capsule_inventory", 100, 500)]
SUMMARY = {
    "id", "workspace", "workspace_norm", "name", "name_norm", "title", "capsule_chars", "tokens_estimate", "tags",
    "source", "run_id", "phase", "role", "created_at", "updated_at", "version", "fetch_key",
}  # fmt: skip

PAGED: dict[str, dict[str, Any]] = {
    "capsule_list": {"include_deleted": True},
    "capsule_inventory": {"include_deleted": True, "tag": "t"},
    "artifact_list": {"include_deleted": True},
    "capsule_search": {"query": '"objective" OR other'},
    "moss_search": {"query": "obj* NOT other"},
    "retrieve_records": {"search": ['"objective" OR other']},
}
"""The lists, with the arguments that match most rows."""


def store_all(call: Door, *names: str, **fields: Any) -> None:
    for name in names:
        call("capsule_store", name=name, capsule_text=FULL, **fields)


@holds("2 §6.6: latest is the most recently changed capsule of the workspace, or null")
def test_latest_is_the_most_recently_changed_capsule(call: Door) -> None:
    store_all(call, "a", "b", "c")
    assert call("capsule_latest")["item"]["name"] == "c"
    call("capsule_update", name="a", title="T")
    assert call("capsule_latest")["item"]["name"] == "a"
    call("capsule_store", name="b", capsule_text=FULL, mode="replace")
    assert call("capsule_latest")["item"]["name"] == "b"


@holds("2 §6.6: latest is the most recently changed capsule of the workspace, or null")
def test_latest_of_an_empty_workspace_is_null(call: Door) -> None:
    assert call("capsule_latest") == {"item": None, "elsewhere": []}
    store_all(call, "a", workspace="other")
    assert call("capsule_latest")["item"] is None


@holds("2 §6.6: latest shows the text only if requested")
def test_latest_shows_the_text_on_request_only(call: Door) -> None:
    store_all(call, "a", tags=["t"], source="s", run_id="r", phase="p", role="o")
    summary = call("capsule_latest")["item"]
    assert set(summary) == SUMMARY
    full = call("capsule_latest", include_text=True)["item"]
    assert full == {**summary, "capsule_text": FULL}


@holds("1 §6.6: latest with deleted ones goes by the time of change alone")
def test_latest_with_deleted_has_no_preference_for_active_ones(call: Door) -> None:
    store_all(call, "a", "b")
    call("capsule_delete", name="a")
    assert call("capsule_latest", include_deleted=True)["item"]["name"] == "a"
    call("capsule_update", name="b", title="T")
    assert call("capsule_latest", include_deleted=True)["item"]["name"] == "b"


@holds("2 §6.6: latest narrows by run, phase and role")
def test_latest_narrows_by_run_phase_and_role(call: Door) -> None:
    store_all(call, "a", run_id="r", phase="design", role="x")
    store_all(call, "b", run_id="r", phase="build", role="x")
    store_all(call, "c", run_id="q", phase="design", role="y")
    assert call("capsule_latest", run_id="r", phase="design")["item"]["name"] == "a"
    assert call("capsule_latest", role="x")["item"]["name"] == "b"
    assert call("capsule_latest", run_id=" r ", phase="design", role="y")["item"] is None


@holds("2 §6.6: latest is the most recently changed capsule of the workspace, or null")
def test_latest_reads_one_workspace(call: Door) -> None:
    store_all(call, "a", workspace="One")
    store_all(call, "b", workspace="two")
    assert call("capsule_latest", workspace="ONE")["item"]["name"] == "a"


@holds("2 §6.7: lists are summaries with pagination and sort, never the text")
@pytest.mark.parametrize(("tool", "default", "maximum"), LISTS)
def test_a_list_shows_summaries_with_pagination_and_sort(call: Door, tool: str, default: int, maximum: int) -> None:
    store_all(call, "a", tags=["t"], source="s", run_id="r", phase="p", role="o")
    answer = call(tool)
    assert set(answer) == {"items", "pagination", "sort"}
    assert answer["sort"] == "updated_at_desc"
    assert answer["pagination"] == {"limit": default, "offset": 0, "has_more": False, "total": 1}
    assert set(answer["items"][0]) == SUMMARY
    assert answer["items"][0]["fetch_key"] == {"moss_capsule": "a", "moss_workspace": "default"}


@holds("2 §6.7: lists are summaries with pagination and sort, never the text")
@pytest.mark.parametrize("tool", ["capsule_list", "capsule_inventory"])
def test_a_list_never_shows_the_text(call: Door, tool: str) -> None:
    store_all(call, "a")
    call("capsule_delete", name="a")
    assert FULL.splitlines()[1] not in str(call(tool, include_deleted=True))
    call.refuses("INVALID_REQUEST", tool, include_text=True)


@holds("decisions §0: the order is the true order of change, also within one second")
@pytest.mark.parametrize("tool", ["capsule_list", "capsule_inventory"])
def test_a_list_is_in_the_true_order_of_change(call: Door, tool: str) -> None:
    store_all(call, "a", "b", "c", "d")
    call("capsule_update", name="b", title="T")
    call("capsule_append", name="a", section="Objective", content="x")
    assert call.names(tool) == ["a", "b", "d", "c"]


@holds("decisions §0: pages show every row exactly once")
@pytest.mark.parametrize("tool", ["capsule_list", "capsule_inventory"])
def test_pages_show_every_row_exactly_once(call: Door, tool: str) -> None:
    names = [f"n{number}" for number in range(7)]
    store_all(call, *names)
    seen: list[str] = []
    for offset in range(0, 9, 3):
        answer = call(tool, limit=3, offset=offset)
        assert answer["pagination"] == {"limit": 3, "offset": offset, "has_more": offset < 4, "total": 7}
        seen += [item["name"] for item in answer["items"]]
    assert seen == names[::-1]


@holds("decisions §0: pages show every row exactly once")
@pytest.mark.parametrize("tool", ["capsule_list", "capsule_inventory", "capsule_search"])
def test_a_page_beyond_the_end_is_empty_and_the_last(call: Door, tool: str) -> None:
    store_all(call, "a")
    query = {"query": "objective"} if tool == "capsule_search" else {}
    answer = call(tool, offset=5, **query)
    assert answer["items"] == []
    assert answer["pagination"]["has_more"] is False
    assert answer["pagination"]["total"] == 1


@holds("decisions §0: limits are clamped above and refused below; a negative offset is refused")
@pytest.mark.parametrize(("tool", "default", "maximum"), [*LISTS, ("capsule_search", 20, 100)])
def test_a_limit_above_the_maximum_is_clamped_and_shown(call: Door, tool: str, default: int, maximum: int) -> None:
    query = {"query": "x"} if tool == "capsule_search" else {}
    assert call(tool, **query)["pagination"]["limit"] == default
    assert call(tool, limit=maximum, **query)["pagination"]["limit"] == maximum
    assert call(tool, limit=maximum + 1, **query)["pagination"]["limit"] == maximum


@holds("decisions §0: limits are clamped above and refused below; a negative offset is refused")
@pytest.mark.parametrize("tool", PAGED)
def test_a_page_at_the_largest_offset_is_empty(call: Door, tool: str) -> None:
    for name in ("kept", "deleted"):
        call("capsule_store", name=name, capsule_text=FULL, tags=["t"])
        call("artifact_store", name=name, kind="k", data={})
    call("capsule_delete", name="deleted")
    answer = call(tool, offset=2**63 - 1, **PAGED[tool])
    assert not answer.get("items")
    assert not answer.get("records")
    assert answer["pagination"]["has_more"] is False


@holds("decisions §0: limits are clamped above and refused below; a negative offset is refused")
@pytest.mark.parametrize("tool", ["capsule_list", "capsule_inventory", "capsule_search"])
@pytest.mark.parametrize("page", [{"limit": 0}, {"limit": -1}, {"offset": -1}])
def test_a_limit_below_1_and_a_negative_offset_are_refused(call: Door, tool: str, page: dict[str, int]) -> None:
    query = {"query": "x"} if tool == "capsule_search" else {}
    call.refuses("INVALID_REQUEST", tool, **page, **query)


@holds("2 §6.7: deleted capsules are listed only if requested")
@pytest.mark.parametrize("tool", ["capsule_list", "capsule_inventory"])
def test_a_list_leaves_deleted_capsules_out_unless_asked(call: Door, tool: str) -> None:
    store_all(call, "a", "b")
    call("capsule_delete", name="a")
    assert call.names(tool) == ["b"]
    assert call.names(tool, include_deleted=True) == ["a", "b"]
    assert "deleted_at" in call(tool, include_deleted=True)["items"][0]
    assert "deleted_at" not in call(tool)["items"][0]


@holds("2 §6.8: a list is of one workspace, an inventory of all")
def test_a_list_covers_one_workspace_and_an_inventory_all(call: Door) -> None:
    store_all(call, "a")
    store_all(call, "b", workspace="Other")
    assert call.names("capsule_list") == ["a"]
    assert call.names("capsule_list", workspace=" OTHER") == ["b"]
    assert call.names("capsule_inventory") == ["b", "a"]
    assert call.names("capsule_inventory", workspace="other") == ["b"]


@holds("2 §6.7: lists narrow by run, phase and role")
@pytest.mark.parametrize("tool", ["capsule_list", "capsule_inventory"])
def test_a_list_narrows_by_run_phase_and_role_together(call: Door, tool: str) -> None:
    store_all(call, "a", run_id="r", phase="p", role="o")
    store_all(call, "b", run_id="r", phase="q", role="o")
    store_all(call, "c")
    assert call.names(tool, run_id="r") == ["b", "a"]
    assert call.names(tool, run_id="r", phase="p") == ["a"]
    assert call.names(tool, role="o", phase="q") == ["b"]
    assert call(tool, run_id="r", phase="none")["pagination"]["total"] == 0


@holds("2 §6.8: an inventory filters by exact tag and by the beginning of a name")
def test_an_inventory_filters_by_exact_tag(call: Door) -> None:
    store_all(call, "a", tags=["Auth", "x"])
    store_all(call, "b", tags=["auth"])
    store_all(call, "c", tags=["authentication"])
    assert call.names("capsule_inventory", tag="auth") == ["b"]
    assert call.names("capsule_inventory", tag="Auth") == ["a"]
    assert call.names("capsule_inventory", tag="aut") == []
    assert call.names("capsule_inventory", tag='"auth"') == []


@holds("2 §6.8: an inventory filters by exact tag and by the beginning of a name")
@pytest.mark.parametrize(
    ("prefix", "found"),
    [("au", ["auth two", "Auth"]), ("AUTH", ["auth two", "Auth"]), ("auth t", ["auth two"]), ("a%", ["a%b"]),
     ("a_", ["a_b"]), ("x", [])],
)  # fmt: skip
def test_an_inventory_filters_by_the_beginning_of_the_normalized_name(
    call: Door, prefix: str, found: list[str]
) -> None:
    store_all(call, "Auth", "auth two", "b", "a%b", "a_b")
    call("capsule_store", capsule_text=FULL)
    assert call.names("capsule_inventory", name_prefix=prefix) == found


@holds("2 §6.7: lists are summaries with pagination and sort, never the text")
def test_unnamed_capsules_are_listed_with_their_id_as_key(call: Door) -> None:
    stored = call("capsule_store", capsule_text=FULL)
    [item] = call("capsule_inventory")["items"]
    assert item["fetch_key"] == {"moss_id": stored["id"]}
    assert not {"name", "name_norm", "title"} & set(item)
