"""`capsule_compose`, `capsule_bulk_delete` and `capsule_bulk_update`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door


def thin(call: Door, text: str, **fields: Any) -> str:
    stored: str = call("capsule_store", capsule_text=text, allow_thin=True, **fields)["id"]
    return stored


@holds("2 §6.13: a Markdown bundle joins its parts under their display names")
def test_a_bundle_shows_each_part_under_its_display_name(call: Door) -> None:
    thin(call, "one", name="a", title="Title of a")
    thin(call, "two", name="b")
    unnamed = thin(call, "three")
    before = dump(call.home)
    answer = call("capsule_compose", items=[{"name": "a"}, {"name": "b"}, {"id": unnamed}])
    text = f"## Title of a\n\none\n\n---\n\n## b\n\ntwo\n\n---\n\n## {unnamed}\n\nthree"
    assert answer == {"bundle_text": text, "bundle_chars": len(text), "parts_count": 3}
    assert dump(call.home) == before


@holds("2 §6.13: a JSON bundle has structured parts")
def test_a_json_bundle_has_structured_parts(call: Door) -> None:
    a = thin(call, "one", workspace="W", name="a", title="T")
    b = thin(call, "three")
    answer = call("capsule_compose", items=[{"workspace": "w", "name": "a"}, {"id": b}], format="json")
    assert answer["parts"][0] == {
        "id": a, "workspace": "W", "name": "a", "version": 1, "display_name": "T", "text": "one", "chars": 3
    }  # fmt: skip
    assert answer["parts"][1]["display_name"] == b
    assert (answer["bundle_chars"], answer["parts_count"]) == (8, 2)
    assert "bundle_text" not in answer


@holds("2 §6.13: all or nothing")
def test_a_missing_part_fails_the_whole_bundle(call: Door) -> None:
    thin(call, "one", name="a")
    error = call.refuses("NOT_FOUND", "capsule_compose", items=[{"name": "a"}, {"name": "gone"}])
    assert "gone" in error.message
    call("capsule_delete", name="a")
    call.refuses("NOT_FOUND", "capsule_compose", items=[{"name": "a"}])


@holds("2 §4.3: exactly one way of addressing: an id beside a name or a workspace is ambiguous")
def test_an_ambiguous_part_fails_the_whole_bundle(call: Door) -> None:
    a = thin(call, "one", name="a")
    call.refuses("AMBIGUOUS_ADDRESSING", "capsule_compose", items=[{"id": a, "name": "a"}])


@holds("decisions §1: 1 to 50 items")
@pytest.mark.parametrize("count", [0, 51])
def test_a_bundle_has_1_to_50_parts(call: Door, count: int) -> None:
    thin(call, "one", name="a")
    call.refuses("INVALID_REQUEST", "capsule_compose", items=[{"name": "a"}] * count)


@holds("decisions §1: 1 to 50 items")
def test_a_bundle_of_50_parts_is_composed(call: Door) -> None:
    thin(call, "one", name="a")
    assert call("capsule_compose", items=[{"name": "a"}] * 50)["parts_count"] == 50


@holds("2 §6.13: a bundle above the limit is refused")
@pytest.mark.parametrize("format", ["markdown", "json"])
def test_a_bundle_above_the_limit_is_refused(call: Door, format: str) -> None:
    thin(call, "x" * 7_000, name="a")
    error = call.refuses("COMPOSE_TOO_LARGE", "capsule_compose", items=[{"name": "a"}] * 2, format=format)
    assert error.status == 413


@holds("2 §6.13: formats are markdown and json")
def test_an_unknown_format_is_refused(call: Door) -> None:
    thin(call, "one", name="a")
    call.refuses("INVALID_REQUEST", "capsule_compose", items=[{"name": "a"}], format="yaml")


@holds("2 §6.13: store_as stores as capsule_store does and needs a name")
def test_a_stored_bundle_is_a_capsule_like_any_other(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    fields = {"workspace": "W", "title": "T", "tags": ["t"], "source": "s", "run_id": "r", "phase": "p", "role": "o"}
    answer = call("capsule_compose", items=[{"name": "a"}], store_as={"name": "All", **fields})
    fetched = call("capsule_fetch", workspace="w", name="all")
    assert answer["stored"] == {"id": fetched["id"], "fetch_key": fetched["fetch_key"], "version": 1}
    assert fetched["capsule_text"] == answer["bundle_text"] == f"## a\n\n{FULL}"
    assert {key: fetched[key] for key in fields} == fields


@holds("2 §6.13: store_as stores as capsule_store does and needs a name")
def test_a_stored_bundle_is_checked_for_its_sections(call: Door) -> None:
    thin(call, "one", name="a")
    items = [{"name": "a"}]
    call.refuses("CAPSULE_TOO_THIN", "capsule_compose", items=items, store_as={"name": "b"})
    call("capsule_compose", items=items, store_as={"name": "b", "allow_thin": True})


@holds("2 §6.13: store_as stores as capsule_store does and needs a name")
def test_a_stored_bundle_respects_taken_names_and_the_mode(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    taken = call("capsule_store", name="b", capsule_text=FULL)
    items = [{"name": "a"}]
    call.refuses("NAME_ALREADY_EXISTS", "capsule_compose", items=items, store_as={"name": "B"})
    answer = call("capsule_compose", items=items, store_as={"name": "B", "mode": "replace"})
    assert answer["stored"]["id"] == taken["id"]


@holds("2 §6.13: store_as stores as capsule_store does and needs a name")
@pytest.mark.parametrize("store_as", [{}, {"workspace": "w"}, {"name": None}, {"name": ""}])
def test_a_stored_bundle_needs_a_name(call: Door, store_as: dict[str, Any]) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    call.refuses("INVALID_REQUEST", "capsule_compose", items=[{"name": "a"}], store_as=store_as)


@holds("2 §6.13: a JSON bundle cannot be stored")
def test_a_json_bundle_cannot_be_stored(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    items = [{"name": "a"}]
    call.refuses("INVALID_REQUEST", "capsule_compose", items=items, format="json", store_as={"name": "b"})


@holds("decisions §1: sections keeps only those sections; parts without any are named")
def test_a_bundle_keeps_only_the_wanted_sections(call: Door) -> None:
    thin(call, "intro\n\n## A\none\n\n## B:\ntwo\n\n```\n## A\n```\n\n# c #\nthree\n", name="x")
    answer = call("capsule_compose", items=[{"name": "x"}], sections=["C", "a"])
    assert answer["bundle_text"] == "## x\n\n## A\none\n\n# c #\nthree"
    assert answer["missing"] == []


@holds("decisions §1: sections keeps only those sections; parts without any are named")
def test_a_part_without_any_wanted_section_is_left_out_and_named(call: Door) -> None:
    thin(call, "## A\none\n", name="x")
    thin(call, "## B\ntwo\n", name="y", workspace="W")
    answer = call("capsule_compose", items=[{"name": "x"}, {"name": "y", "workspace": "w"}], sections=["A"])
    assert answer["parts_count"] == 1
    assert "two" not in answer["bundle_text"]
    assert [part["name"] for part in answer["missing"]] == ["y"]


BULK: dict[str, dict[str, Any]] = {"capsule_bulk_delete": {}, "capsule_bulk_update": {"set_phase": "archived"}}


def some_capsules(call: Door) -> None:
    for name, workspace, tags, run_id, phase, role in [
        ("pr-1", "project", ["stale"], "r1", "design", "x"),
        ("pr-2", "Project", ["stale", "keep"], "r1", "build", "y"),
        ("other", "project", [], "r2", "design", "x"),
        ("pr-3", "elsewhere", ["stale"], "r2", "build", "x"),
    ]:
        call(
            "capsule_store", name=name, workspace=workspace, tags=tags, run_id=run_id, phase=phase, role=role,
            capsule_text=FULL,
        )  # fmt: skip
    call("capsule_store", name="gone", workspace="project", tags=["stale"], run_id="r1", capsule_text=FULL)
    call("capsule_delete", name="gone", workspace="project")


@holds("2 §6.14: bulk tools hit active capsules that match every filter")
@pytest.mark.parametrize(
    ("filters", "hit"),
    [
        ({"workspace": "PROJECT"}, {"pr-1", "pr-2", "other"}),
        ({"tag": "stale"}, {"pr-1", "pr-2", "pr-3"}),
        ({"name_prefix": "PR-"}, {"pr-1", "pr-2", "pr-3"}),
        ({"run_id": "r1"}, {"pr-1", "pr-2"}),
        ({"phase": " build "}, {"pr-2", "pr-3"}),
        ({"role": "x"}, {"pr-1", "other", "pr-3"}),
        ({"workspace": "project", "tag": "stale"}, {"pr-1", "pr-2"}),
        ({"workspace": "project", "tag": "stale", "phase": "design", "role": "x"}, {"pr-1"}),
        ({"tag": "Stale"}, set()),
        ({"workspace": "project", "run_id": "none"}, set()),
    ],
)
def test_bulk_tools_change_the_active_capsules_that_match_every_filter(
    call: Door, filters: dict[str, str], hit: set[str]
) -> None:
    some_capsules(call)
    gone = call("capsule_fetch", name="gone", workspace="project", include_deleted=True)
    assert call("capsule_bulk_update", set_phase="archived", **filters)["updated"] == len(hit)
    assert set(call.names("capsule_inventory", phase="archived", include_deleted=True)) == hit
    if "phase" not in filters:
        assert call("capsule_bulk_delete", **filters)["deleted"] == len(hit)
        assert set(call.names("capsule_inventory")) == {"pr-1", "pr-2", "other", "pr-3"} - hit
    assert call("capsule_fetch", name="gone", workspace="project", include_deleted=True) == gone


@holds("2 §6.14: the message names the filters and what was set")
def test_bulk_messages_name_the_filters_and_the_new_values(call: Door) -> None:
    some_capsules(call)
    updated = call("capsule_bulk_update", workspace="project", set_phase="archived")
    assert updated["message"] == 'Updated 3 capsules matching workspace="project"; set phase="archived"'
    deleted = call("capsule_bulk_delete", workspace="project", tag="stale")
    assert deleted["message"] == 'Soft-deleted 2 capsules matching workspace="project", tag="stale"'


@holds("2 §6.14: at least one filter that is not blank is needed")
@pytest.mark.parametrize("tool", BULK)
@pytest.mark.parametrize(
    "filters",
    [{}, {"tag": " "}, {"run_id": "", "phase": "", "role": ""}, {"name_prefix": "  "}, {"workspace": ""},
     {"tag": None}],
)  # fmt: skip
def test_bulk_tools_without_any_real_filter_are_refused(call: Door, tool: str, filters: dict[str, Any]) -> None:
    some_capsules(call)
    call.refuses("INVALID_REQUEST", tool, **filters, **BULK[tool])


@holds("decisions §1: a blank filter beside a good one is refused")
@pytest.mark.parametrize("tool", BULK)
@pytest.mark.parametrize("blank", ["workspace", "tag", "name_prefix", "run_id", "phase", "role"])
def test_a_blank_filter_beside_a_good_one_is_refused(call: Door, tool: str, blank: str) -> None:
    some_capsules(call)
    good = {"tag": "stale"} if blank != "tag" else {"run_id": "r1"}
    call.refuses("INVALID_REQUEST", tool, **good, **{blank: " "}, **BULK[tool])


@holds("decisions §1: a blank filter beside a good one is refused")
@pytest.mark.parametrize("tool", BULK)
def test_a_misspelt_filter_never_widens_a_bulk_change(call: Door, tool: str) -> None:
    some_capsules(call)
    call.refuses("INVALID_REQUEST", tool, workspace="project", tags="stale", **BULK[tool])
    call.refuses("INVALID_REQUEST", tool, workspace="project", include_deleted=True, **BULK[tool])


@holds("2 §6.15: at least one field to set is needed")
def test_a_bulk_update_of_nothing_is_refused(call: Door) -> None:
    some_capsules(call)
    call.refuses("INVALID_REQUEST", "capsule_bulk_update", workspace="project")
    call.refuses("INVALID_REQUEST", "capsule_bulk_update", workspace="project", set_phase=None)


@holds("2 §6.15: tags are replaced, empty values clear")
def test_a_bulk_update_replaces_tags_and_clears_with_empty_values(call: Door) -> None:
    some_capsules(call)
    call("capsule_bulk_update", run_id="r1", set_tags=[" new ", "new"], set_role="", set_phase=" done ")
    for name in ("pr-1", "pr-2"):
        fetched = call("capsule_fetch", name=name, workspace="project")
        assert (fetched["tags"], fetched["phase"]) == (["new"], "done")
        assert "role" not in fetched
    call("capsule_bulk_update", run_id="r1", set_tags=[])
    assert not call("capsule_fetch", name="pr-1", workspace="project").get("tags")


@holds("2 §6.15: tags are replaced, empty values clear")
def test_a_bulk_update_refuses_bad_tags(call: Door) -> None:
    some_capsules(call)
    call.refuses("INVALID_REQUEST", "capsule_bulk_update", run_id="r1", set_tags=["ok", " "])


@holds("2 §6.15: a bulk change counts as a change of each capsule")
def test_a_bulk_change_moves_its_capsules_to_the_front_in_their_order(call: Door) -> None:
    some_capsules(call)
    call("capsule_bulk_update", run_id="r1", set_role="z")
    assert call.names("capsule_inventory") == ["pr-2", "pr-1", "pr-3", "other"]


@holds("2 §6.14: bulk tools hit active capsules that match every filter")
def test_bulk_deleted_capsules_can_be_restored(call: Door) -> None:
    some_capsules(call)
    call("capsule_bulk_delete", run_id="r1")
    deleted = call("capsule_fetch", name="pr-1", workspace="project", include_deleted=True)
    call("capsule_restore", id=deleted["id"])
    assert call("capsule_fetch", name="pr-1", workspace="project")["tags"] == ["stale"]
