"""Incomplete calls: a missing argument or another form of address is refused with a proposed call."""

from __future__ import annotations

from typing import Any

import pytest

from contract.doors import FULL, Door
from support.promises import holds

W = {"workspace": "shop"}


def proposed(call: Door, tool: str, /, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """Return the call that the error of this call proposes."""
    recovery = call.refuses("INVALID_REQUEST", tool, **arguments).recovery
    assert recovery is not None
    assert recovery["reason"]
    return recovery["tool"], recovery["arguments"]


def prepare(call: Door) -> None:
    call("capsule_store", **W, name="auth", capsule_text=FULL, run_id="r")
    call("capsule_store", **W, name="auth", capsule_text=FULL + "more", mode="replace", run_id="r")
    call("artifact_store", **W, name="plan", kind="k", data={"a": 1}, text="one", run_id="r")
    call("artifact_store", **W, name="plan", kind="k", data={"a": 2}, text="two", run_id="r", mode="replace")


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
def test_an_artifact_without_a_kind_is_proposed_as_freeform(call: Door) -> None:
    tool, arguments = proposed(call, "artifact_store", **W, name="plan", data={"a": 1})
    assert (tool, arguments) == ("artifact_store", {**W, "name": "plan", "data": {"a": 1}, "kind": "freeform"})
    assert call(tool, **arguments)["kind"] == "freeform"


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
def test_a_long_artifact_without_a_kind_proposes_the_list_of_kinds(call: Door) -> None:
    tool, arguments = proposed(call, "artifact_store", **W, data={"a": "x" * 9000})
    assert (tool, arguments) == ("artifact_kinds", {})
    assert call(tool, **arguments)["kinds"]


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
def test_a_kind_is_added_beside_other_corrections(call: Door) -> None:
    tool, arguments = proposed(call, "artifact_store", data='{"a": 1}', tags="x, y")
    assert (tool, arguments) == ("artifact_store", {"data": {"a": 1}, "tags": ["x", "y"], "kind": "freeform"})


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
def test_an_artifact_without_data_is_not_guessed(call: Door) -> None:
    assert call.refuses("INVALID_REQUEST", "artifact_store", **W, name="plan").recovery is None


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
@pytest.mark.parametrize(("name", "type"), [("auth", "capsule"), ("plan", "artifact")])
@pytest.mark.parametrize("sent", [{}, {"version": 1}, {"type": ""}])
def test_a_revert_without_type_or_version_proposes_the_history(
    call: Door, name: str, type: str, sent: dict[str, Any]
) -> None:
    prepare(call)
    asked = {**sent, "type": type} if "type" in sent else sent
    tool, arguments = proposed(call, "moss_revert", **W, name=name, **asked)
    if "version" in sent:
        assert (tool, arguments) == ("moss_revert", {**W, "name": name, "version": 1, "type": type})
    else:
        assert (tool, arguments) == ("moss_history", {**W, "name": name, "type": type})
    assert call(tool, **arguments)["id"]


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
def test_a_revert_by_id_or_key_proposes_the_history(call: Door) -> None:
    prepare(call)
    key = call("artifact_fetch", **W, name="plan")["id"]
    assert proposed(call, "moss_revert", id=key) == ("moss_history", {"id": key, "type": "artifact"})
    link = {"moss_capsule": "auth", "moss_workspace": "shop"}
    assert proposed(call, "moss_revert", fetch_key=link) == ("moss_history", {"fetch_key": link, "type": "capsule"})


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
def test_a_revert_without_address_proposes_the_last_changes(call: Door) -> None:
    prepare(call)
    tool, arguments = proposed(call, "moss_revert", version=1)
    assert tool == "moss_log"
    assert call(tool, **arguments)["events"]


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
def test_a_revert_of_an_unknown_name_proposes_a_history_with_the_nearest_name(call: Door) -> None:
    prepare(call)
    tool, arguments = proposed(call, "moss_revert", **W, name="auht")
    assert (tool, arguments) == ("moss_history", {**W, "name": "auht", "type": "capsule"})
    assert (call.refuses("NOT_FOUND", tool, **arguments).details or {})["nearest"] == ["auth"]


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
@pytest.mark.parametrize(("tool", "more"), [("moss_history", {}), ("moss_rename", {"new_name": "other"})])
def test_the_type_of_a_row_is_added(call: Door, tool: str, more: dict[str, Any]) -> None:
    prepare(call)
    expected = (tool, {**W, "name": "plan", **more, "type": "artifact"})
    assert proposed(call, tool, **W, name="plan", **more) == expected
    assert call(tool, **expected[1])["id"]


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
@pytest.mark.parametrize("bad", [{"name": {}}, {"name": "a", "id": "b"}, {"fetch_key": {"x": 1}}, {"name": " "}])
def test_an_invalid_address_proposes_nothing(call: Door, bad: dict[str, Any]) -> None:
    prepare(call)
    assert call.refuses("INVALID_REQUEST", "moss_revert", **bad).recovery is None


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
def test_the_given_type_is_kept(call: Door) -> None:
    prepare(call)
    call("capsule_store", **W, name="plan", capsule_text=FULL)
    expected = {**W, "name": "plan", "type": "artifact"}
    assert proposed(call, "moss_revert", **expected) == ("moss_history", expected)


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
def test_a_bundle_by_run_is_proposed_with_its_items(call: Door) -> None:
    prepare(call)
    ids = [call("artifact_fetch", **W, name="plan")["id"]]
    ids.append(call("artifact_store", **W, kind="k", data={}, text="three", run_id="r")["id"])
    call("artifact_store", **W, kind="k", data={}, run_id="r")
    tool, arguments = proposed(call, "artifact_compose", run_id="r", format="json")
    assert (tool, arguments) == ("artifact_compose", {"format": "json", "items": [{"id": one} for one in ids]})
    assert [part["text"] for part in call(tool, **arguments)["parts"]] == ["two", "three"]


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
def test_a_bundle_by_names_is_proposed_with_its_items(call: Door) -> None:
    prepare(call)
    named = {"items": [{"name": "plan", "workspace": "shop"}]}
    assert proposed(call, "artifact_compose", **W, names=["plan"]) == ("artifact_compose", named)
    assert call("artifact_compose", **named)["parts_count"] == 1
    assert proposed(call, "artifact_compose", names=["plan"])[1] == {"items": [{"name": "plan"}]}
    assert proposed(call, "artifact_compose", ids="X")[1] == {"items": [{"id": "X"}]}


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
@pytest.mark.parametrize("sent", [{"run_id": "nobody"}, {**W, "kind": "other"}, {}])
def test_an_empty_bundle_proposes_the_list(call: Door, sent: dict[str, Any]) -> None:
    prepare(call)
    call("artifact_store", **W, kind="other", data={})
    tool, arguments = proposed(call, "artifact_compose", **sent)
    assert (tool, arguments) == ("artifact_list", sent)
    call(tool, **arguments)


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
@pytest.mark.parametrize("sent", [{"run_id": 7}, {"names": [7]}, {"names": [], "x": 1}, {"items": [], "run_id": "r"}])
def test_a_bundle_of_bad_values_is_not_guessed(call: Door, sent: dict[str, Any]) -> None:
    prepare(call)
    assert call.refuses("INVALID_REQUEST", "artifact_compose", **sent).recovery is None


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
def test_a_bundle_of_capsules_by_run_is_proposed_with_its_items(call: Door) -> None:
    prepare(call)
    key = call("capsule_fetch", **W, name="auth")["id"]
    tool, arguments = proposed(call, "capsule_compose", run_id="r", sections=["Decisions"])
    assert (tool, arguments) == ("capsule_compose", {"sections": ["Decisions"], "items": [{"id": key}]})
    assert call(tool, **arguments)["parts_count"] == 1
    assert proposed(call, "capsule_compose", run_id="nobody") == ("capsule_inventory", {"run_id": "nobody"})


def hit(call: Door, word: str) -> dict[str, Any]:
    """Return the only hit of a search for a word."""
    (found,) = call("moss_search", query=word)["items"]
    return dict(found)


@holds("decisions §10: moss_erase takes the handle that a search hit has")
@pytest.mark.parametrize("place", [W, {}], ids=["workspace", "no-workspace"])
def test_a_note_is_erased_by_the_id_of_its_hit(call: Door, place: dict[str, Any]) -> None:
    call("branchmind_notes_commit", workspace="other", content="the parrot is red")
    call("branchmind_notes_commit", **W, content="the quokka is brown")
    found = hit(call, "quokka")
    answer = call("moss_erase", type=found["type"], id=found["id"], **place)
    assert (answer["type"], answer["workspace"], answer["removed"]["rows"]) == ("note", "shop", 1)
    assert call("moss_search", query="quokka")["items"] == []
    assert hit(call, "parrot")["workspace"] == "other"


@holds("decisions §10: moss_erase takes the handle that a search hit has")
def test_an_entry_of_the_trace_is_erased_by_the_id_of_its_hit(call: Door) -> None:
    call("branchmind_trace_step", **W, step="measure the wombat", message="it is large")
    found = hit(call, "wombat")
    call("moss_erase", type=found["type"], id=found["id"])
    assert call("moss_search", query="wombat")["items"] == []


@holds("decisions §10: moss_erase takes the handle that a search hit has")
def test_every_hit_of_a_search_can_be_erased_by_its_fields(call: Door) -> None:
    call("capsule_store", **W, name="auth", capsule_text=FULL + "quokka")
    call("artifact_store", **W, name="plan", kind="k", data={}, text="quokka")
    call("branchmind_notes_commit", **W, content="quokka")
    call("branchmind_think_card", **W, card={"id": "c", "type": "decision", "title": "quokka"})
    call("tasks_create", **W, kind="task", title="quokka", steps=[{"title": "the quokka step"}])
    decision = {"decision": "quokka", "rationale": "r", "timestamp": "2026-05-04T00:00:00Z"}
    call("submit_payload", **W, capability_id="neotoma:store_agent_decision:v1", body=decision)
    found = call("moss_search", query="quokka")["items"]
    assert {one["type"] for one in found} == {"capsule", "artifact", "note", "node", "task", "record"}
    for one in found:
        place = {} if one["type"] in ("capsule", "artifact") else {"workspace": one["workspace"]}
        assert call("moss_erase", type=one["type"], id=one["id"], **place)["removed"]["rows"], one
    assert call("moss_search", query="quokka")["items"] == []


@holds("decisions §10: moss_erase takes the handle that a search hit has")
def test_an_invalid_id_of_a_note_or_step_is_refused(call: Door) -> None:
    number = call("branchmind_notes_commit", **W, content="x")["entry"]["seq"]
    call("tasks_create", **W, kind="task", title="t")
    for bad in ("x", "-1", "1" * 30, "", "\u0661"):
        assert call.refuses("INVALID_REQUEST", "moss_erase", type="note", id=bad).details == {"path": "id"}
    call.refuses("INVALID_REQUEST", "moss_erase", type="note", id=str(number), seq=number, **W)
    call.refuses("INVALID_REQUEST", "moss_erase", type="task", id="TASK-001", target="TASK-001", **W)
    call.refuses("INVALID_REQUEST", "moss_erase", type="task", id="TASK-001")
    call.refuses("NOT_FOUND", "moss_erase", type="note", id="999999")
    call.refuses("NOT_FOUND", "moss_erase", type="note", id=str(number), workspace="other")
    error = call.refuses("NOT_FOUND", "moss_erase", type="task", id="STEP-999", **W)
    assert error.recovery is not None
    assert call(error.recovery["tool"], **error.recovery["arguments"])["items"]


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
@pytest.mark.parametrize("sent", [{"step": 1}, {"step": "the first"}, {"done": True}])
def test_another_form_of_address_of_a_step_proposes_the_steps(call: Door, sent: dict[str, Any]) -> None:
    call("tasks_create", **W, kind="task", title="t", steps=[{"title": "one"}, {"title": "two"}])
    expected = ("tasks_show", {**W, "target": "TASK-001"})
    assert proposed(call, "tasks_done", **W, target="TASK-001", **sent) == expected
    assert call(expected[0], **expected[1])["steps"][0]["step_id"] == "STEP-001"


@holds("decisions §10: a call that lacks an argument, or names things in another way, leads to the right one")
@pytest.mark.parametrize("sent", [{}, {"resolution": "theirs"}])
def test_a_resolution_without_a_choice_proposes_to_show_the_conflict(call: Door, sent: dict[str, Any]) -> None:
    def upsert(branch: str, title: str) -> None:
        ops = [{"op": "node_upsert", "id": "n", "type": "note", "title": title}]
        call("branchmind_graph_apply", **W, branch=branch, ops=ops)

    call("branchmind_init", **W)
    call("branchmind_branch_create", **W, name="b")
    upsert("b", "there")
    upsert("main", "here")
    [conflict] = call("branchmind_merge_back", **W, **{"from": "b"})["conflicts"]
    here = {**W, "conflict_id": conflict["conflict_id"]}
    assert proposed(call, "branchmind_graph_conflict_resolve", **here, **sent) == (
        "branchmind_graph_conflict_show", here,
    )  # fmt: skip
    assert call("branchmind_graph_conflict_show", **here)["conflict"]["from"]["title"] == "there"
