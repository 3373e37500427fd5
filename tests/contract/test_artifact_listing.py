"""`artifact_list`, `artifact_bulk_delete` and `artifact_bulk_update`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import listed_names, put
from artifact.samples import no_artifacts as no_artifacts
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door

DOCUMENTED = {
    "id", "workspace", "name", "kind", "data", "version", "run_id", "phase", "role", "tags", "data_chars", "text_chars",
    "expires_at", "created_at", "updated_at",
}  # fmt: skip
FILTERS: list[dict[str, str]] = [
    {"workspace": " one "},
    {"kind": "k1"},
    {"run_id": "r1"},
    {"phase": "p1"},
    {"role": "x1"},
    {"tag": "t1"},
    {"workspace": "ONE", "kind": "k1", "run_id": "r1", "phase": "p1", "role": "x1", "tag": "t1"},
]
BULK: list[tuple[str, dict[str, Any]]] = [("artifact_bulk_delete", {}), ("artifact_bulk_update", {"set_phase": "new"})]


def store_samples(call: Door) -> None:
    """Store one artifact that matches every filter, and one for each filter that differs in that field alone."""
    right: dict[str, Any] = {
        "workspace": "One", "kind": "k1", "run_id": "r1", "phase": "p1", "role": "x1", "tags": ["t0", "t1"]
    }  # fmt: skip
    put(call, "right", **right)
    for key, wrong in {**right, "workspace": "Two", "kind": "K1", "run_id": "R1", "phase": "P1", "role": "X1"}.items():
        put(call, f"wrong {key}", **{**right, key: ["T1", "t10", "t"] if key == "tags" else wrong})


def wrong_key(filters: dict[str, str]) -> set[str]:
    """Return the names excluded by filters: all if there are several filters, else the one that differs."""
    return {f"wrong {'tags' if key == 'tag' else key}" for key in filters}


@holds("3 list: data, never text")
def test_a_list_shows_the_data_of_each_artifact_and_never_the_text(call: Door) -> None:
    stored = put(call, "A", workspace="W", data={"x": [1]}, text="secret text", run_id="r", tags=["t"], ttl_seconds=9)
    [item] = call("artifact_list")["items"]
    fetched = call("artifact_fetch", id=stored)
    assert set(item) >= DOCUMENTED
    assert "text" not in item
    assert {key: item[key] for key in DOCUMENTED} == {key: fetched[key] for key in DOCUMENTED}
    assert item["data"] == {"x": [1]}
    assert "secret" not in str(item)


@holds("3 list: 50 by default, 100 at most, limit, offset and has_more")
def test_a_list_of_artifacts_has_the_pagination_of_its_document(call: Door) -> None:
    assert call("artifact_list")["pagination"] == {"limit": 50, "offset": 0, "has_more": False, "count": 0}
    for number in range(3):
        put(call, str(number))
    assert call("artifact_list", limit=2)["pagination"] == {"limit": 2, "offset": 0, "has_more": True, "count": 2}
    assert call("artifact_list", limit=2, offset=1)["pagination"] == {
        "limit": 2,
        "offset": 1,
        "has_more": False,
        "count": 2,
    }
    assert call("artifact_list", limit=3)["pagination"]["has_more"] is False
    beyond = call("artifact_list", offset=10)
    assert (beyond["items"], beyond["pagination"]["has_more"]) == ([], False)


@holds("3 list: 50 by default, 100 at most, limit, offset and has_more")
def test_a_list_has_50_artifacts_by_default_and_at_most_100(call: Door) -> None:
    for _ in range(103):
        put(call)
    assert len(call("artifact_list")["items"]) == 50
    most = call("artifact_list", limit=5000)
    assert len(most["items"]) == 100
    assert most["pagination"] == {"limit": 100, "offset": 0, "has_more": True, "count": 100}
    assert len(call("artifact_list", limit=100, offset=100)["items"]) == 3


@holds("3 list: 50 by default, 100 at most, limit, offset and has_more")
@pytest.mark.parametrize("page", [{"limit": 0}, {"limit": -1}, {"offset": -1}])
def test_a_bad_page_of_artifacts_is_refused(call: Door, page: dict[str, int]) -> None:
    call.refuses("INVALID_REQUEST", "artifact_list", **page)


@holds("3 list: newest first by change or by creation")
def test_artifacts_are_listed_by_last_change_or_by_creation(call: Door) -> None:
    for name in "abcd":
        put(call, name, run_id="r")
    put(call, "b", run_id="r", mode="replace")
    call("artifact_touch", name="a", ttl_seconds=60)
    assert listed_names(call) == ["a", "b", "d", "c"]
    for filters in ({}, {"run_id": "r"}, {"workspace": "default"}, {"workspace": "default", "kind": "freeform"}):
        assert listed_names(call, order_by="updated_at", **filters) == ["a", "b", "d", "c"]
        assert listed_names(call, order_by="created_at", **filters) == ["d", "c", "b", "a"]
    call.refuses("INVALID_REQUEST", "artifact_list", order_by="name")


@holds("3 list: every filter, exact, everywhere unless a workspace is given")
@pytest.mark.parametrize("filters", FILTERS)
def test_artifacts_are_listed_by_every_filter_alone_and_together(call: Door, filters: dict[str, str]) -> None:
    store_samples(call)
    everything = set(listed_names(call))
    assert len(everything) == 7
    assert set(listed_names(call, **filters)) == everything - wrong_key(filters)


@holds("3 list: every filter, exact, everywhere unless a workspace is given")
def test_a_list_without_workspace_covers_all_workspaces(call: Door) -> None:
    put(call, "a", run_id="r")
    put(call, "b", workspace="plan", run_id="r")
    assert listed_names(call, run_id="r") == ["b", "a"]
    assert listed_names(call, workspace="default") == ["a"]


@holds("3 list: every filter, exact, everywhere unless a workspace is given")
def test_deleted_artifacts_are_listed_on_request_only(call: Door) -> None:
    put(call, "a")
    put(call, "b")
    call("artifact_delete", name="a")
    assert listed_names(call) == ["b"]
    assert listed_names(call, include_deleted=True) == ["a", "b"]
    assert listed_names(call, include_expired=True) == ["b"]


@holds("3 bulk: applies to the rows that match every filter; no filter is refused")
@pytest.mark.parametrize(("tool", "more"), BULK)
@pytest.mark.parametrize("filters", FILTERS)
def test_bulk_tools_change_the_artifacts_that_match_every_filter(
    call: Door, tool: str, more: dict[str, Any], filters: dict[str, str]
) -> None:
    store_samples(call)
    everything = set(listed_names(call))
    hit = everything - wrong_key(filters)
    answer = call(tool, **filters, **more)
    named = {"workspace": filters["workspace"]} if "workspace" in filters else {}
    assert answer == {"deleted" if tool == "artifact_bulk_delete" else "updated": len(hit), **named}
    if tool == "artifact_bulk_delete":
        assert set(listed_names(call)) == everything - hit
    else:
        assert set(listed_names(call, phase="new")) == hit


@holds("3 bulk: applies to the rows that match every filter; no filter is refused")
@pytest.mark.parametrize(("tool", "more"), BULK)
def test_bulk_tools_do_not_change_deleted_artifacts(call: Door, tool: str, more: dict[str, Any]) -> None:
    stored = put(call, "a", run_id="r")
    call("artifact_delete", name="a")
    before = call("artifact_fetch", id=stored, include_deleted=True)
    assert set(call(tool, run_id="r", **more).values()) == {0}
    assert call("artifact_fetch", id=stored, include_deleted=True) == before


@holds("3 bulk: applies to the rows that match every filter; no filter is refused")
@pytest.mark.parametrize(("tool", "more"), BULK)
def test_a_bulk_change_of_artifacts_without_a_filter_is_refused(call: Door, tool: str, more: dict[str, Any]) -> None:
    put(call, "a")
    assert call.refuses("FILTER_REQUIRED", tool, **more).status == 400
    call.refuses("FILTER_REQUIRED", tool, workspace=None, kind=None, tag=None, **more)
    for blank in ({"workspace": " "}, {"run_id": ""}, {"phase": " "}, {"role": ""}, {"tag": " "}):
        call.refuses("INVALID_REQUEST", tool, **blank, **more)
        call.refuses("INVALID_REQUEST", tool, **{"kind": "freeform", **blank}, **more)


@holds("3 bulk: applies to the rows that match every filter; no filter is refused")
@pytest.mark.parametrize(("tool", "more"), BULK)
@pytest.mark.parametrize("misspelt", ["runid", "name", "name_prefix", "tags", "include_expired"])
def test_a_misspelt_filter_never_widens_a_bulk_change_of_artifacts(
    call: Door, tool: str, more: dict[str, Any], misspelt: str
) -> None:
    put(call, "a")
    error = call.refuses("INVALID_REQUEST", tool, workspace="default", **more, **{misspelt: "x"})
    assert misspelt in error.message


@holds("3 bulk_update: sets the given fields, clears with empty values and a null ttl")
def test_a_bulk_update_sets_only_the_given_fields(call: Door) -> None:
    stored = put(call, "a", run_id="r", phase="p", role="x", tags=["t"], ttl_seconds=60, text="t")
    before = call("artifact_fetch", id=stored)
    steps: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"set_phase": " done "}, {"phase": "done"}),
        ({"set_role": "y"}, {"role": "y"}),
        ({"set_tags": ["u", " v", "u"]}, {"tags": ["u", "v"]}),
    ]
    for sets, changed in steps:
        assert call("artifact_bulk_update", run_id="r", **sets) == {"updated": 1}
        before.update(changed)
        after = call("artifact_fetch", id=stored)
        assert {**after, "updated_at": 0} == {**before, "updated_at": 0}


@holds("3 bulk_update: sets the given fields, clears with empty values and a null ttl")
def test_a_bulk_update_clears_with_empty_values_and_a_null_ttl(call: Door) -> None:
    stored = put(call, "a", run_id="r", phase="p", role="x", tags=["t"], ttl_seconds=60)
    call("artifact_bulk_update", run_id="r", set_phase="", set_role=" ", set_tags=[])
    fetched = call("artifact_fetch", id=stored)
    assert (fetched["phase"], fetched["role"], fetched["tags"], fetched["ttl_seconds"]) == (None, None, [], 60)
    assert call("artifact_bulk_update", run_id="r", set_ttl_seconds=None) == {"updated": 1}
    fetched = call("artifact_fetch", id=stored)
    assert (fetched["ttl_seconds"], fetched["expires_at"]) == (None, None)


@holds("3 bulk_update: sets the given fields, clears with empty values and a null ttl")
def test_a_bulk_update_sets_the_ttl_from_now_and_keeps_it_if_absent(call: Door) -> None:
    stored = put(call, "a", run_id="r")
    call("artifact_bulk_update", run_id="r", set_ttl_seconds=500)
    fetched = call("artifact_fetch", id=stored)
    assert (fetched["ttl_seconds"], fetched["expires_at"]) == (500, fetched["updated_at"] + 500)
    call("artifact_bulk_update", run_id="r", set_phase="p")
    again = call("artifact_fetch", id=stored)
    assert (again["ttl_seconds"], again["expires_at"]) == (500, fetched["expires_at"])


@holds("3 bulk_update: sets the given fields, clears with empty values and a null ttl")
@pytest.mark.parametrize("nothing", [{}, {"set_phase": None}, {"set_tags": None, "set_role": None}])
def test_a_bulk_update_of_artifacts_needs_something_to_set(call: Door, nothing: dict[str, Any]) -> None:
    put(call, "a", run_id="r")
    call.refuses("INVALID_REQUEST", "artifact_bulk_update", run_id="r", **nothing)


@holds("3 bulk_update: sets the given fields, clears with empty values and a null ttl")
def test_a_bulk_update_of_artifacts_refuses_bad_tags_by_path(call: Door) -> None:
    put(call, "a", run_id="r")
    error = call.refuses("INVALID_REQUEST", "artifact_bulk_update", run_id="r", set_tags=["ok", " "])
    assert (error.details or {})["path"] == "set_tags[1]"


@holds("3 bulk_update: sets the given fields, clears with empty values and a null ttl")
def test_a_bulk_change_moves_its_artifacts_to_the_front_in_their_order(call: Door) -> None:
    for name in "abcdef":
        put(call, name, tags=["odd"] if name in "ace" else [])
    call("artifact_bulk_update", tag="odd", set_role="r")
    assert listed_names(call) == list("ecafdb")
    call("artifact_bulk_delete", role="r")
    assert listed_names(call, include_deleted=True) == list("ecafdb")
