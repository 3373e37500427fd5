"""Refused arguments: the error proposes a corrected call if the correction is certain."""

from __future__ import annotations

from typing import Any

import pytest

from contract.doors import FULL, Door
from support.direct_store import dump
from support.promises import holds

W = {"workspace": "shop"}

CERTAIN: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("a number as text", "moss_search", {"query": "x", "limit": "5"}, {"query": "x", "limit": 5}),
    ("a flag as text", "capsule_latest", {**W, "include_text": "true"}, {**W, "include_text": True}),
    ("a text for a list", "moss_search", {"query": "x", "types": "capsule"}, {"query": "x", "types": ["capsule"]}),
    ("a plural", "moss_search", {"query": "x", "types": ["capsules"]}, {"query": "x", "types": ["capsule"]}),
    ("tags with commas", "capsule_store", {"capsule_text": FULL, "tags": "a, b"},
     {"capsule_text": FULL, "tags": ["a", "b"]}),
    ("a list for a text", "capsule_fetch", {**W, "name": ["auth"]}, {**W, "name": "auth"}),
    ("a number for a text", "capsule_store", {"capsule_text": FULL, "name": 7}, {"capsule_text": FULL, "name": "7"}),
    ("an object as text", "artifact_store", {"kind": "k", "data": '{"a": 1}'}, {"kind": "k", "data": {"a": 1}}),
    ("upper case", "capsule_store", {"capsule_text": FULL, "mode": "REPLACE", "name": "n"},
     {"capsule_text": FULL, "mode": "replace", "name": "n"}),
    ("steps as texts", "tasks_create", {**W, "kind": "task", "title": "t", "steps": ["one", {"title": "two"}]},
     {**W, "kind": "task", "title": "t", "steps": [{"title": "one"}, {"title": "two"}]}),
    ("a misspelt argument", "capsule_fetch", {**W, "nme": "auth"}, {**W, "name": "auth"}),
    ("camel case", "artifact_list", {"runId": "r"}, {"run_id": "r"}),
    ("another word for the query", "moss_search", {"q": "x"}, {"query": "x"}),
    ("another word for the text", "capsule_store", {"name": "n", "content": FULL}, {"name": "n", "capsule_text": FULL}),
    ("another word for the project", "tasks_list", {"project": "shop"}, {"workspace": "shop"}),
    ("another word for the task", "tasks_show", {**W, "task_id": "TASK-001"}, {**W, "target": "TASK-001"}),
    ("another word for the card", "branchmind_think_set_status", {**W, "card_id": "c", "status": "done"},
     {**W, "ids": "c", "status": "done"}),
    ("one id for a list", "branchmind_think_set_status", {**W, "id": "c", "status": "done"},
     {**W, "ids": "c", "status": "done"}),
    ("an object for a flag", "tasks_verify", {**W, "target": "T", "checkpoints": {"criteria": {"ok": True}}},
     {**W, "target": "T", "checkpoints": {"criteria": True}}),
    ("a step by its path", "tasks_done", {**W, "task": "TASK-001", "step": "s:0"},
     {**W, "target": "TASK-001", "path": "s:0"}),
    ("a name for an item", "artifact_compose", {"items": ["review-0"]}, {"items": [{"name": "review-0"}]}),
    ("the end of a value", "branchmind_graph_conflict_resolve", {**W, "conflict_id": "c", "resolution": "from"},
     {**W, "conflict_id": "c", "resolution": "use_from"}),
    ("two faults", "moss_search", {"q": "x", "limit": "5"}, {"query": "x", "limit": 5}),
]  # fmt: skip

UNCERTAIN: list[tuple[str, str, dict[str, Any]]] = [
    ("words for a number", "moss_search", {"query": "x", "limit": "five"}),
    ("a number for a flag", "capsule_latest", {"include_text": 1}),
    ("a word that is no value", "tasks_create", {**W, "kind": "todo", "title": "t"}),
    ("an argument that it lacks", "capsule_fetch", {**W, "name": "auth", "limit": 5}),
    ("a filter that it lacks", "capsule_bulk_delete", {"workspace": "shop", "author": "x"}),
    ("two words for one argument", "moss_search", {"q": "x", "question": "y"}),
    ("a long text", "artifact_store", {"kind": "k", "data": "x" * 9000}),
]


@holds("decisions §10: the first guesses of agents are refused with a call that leads on")
@pytest.mark.parametrize(("tool", "sent", "proposed"), [one[1:] for one in CERTAIN], ids=[c[0] for c in CERTAIN])
def test_a_certain_correction_is_proposed(
    call: Door, tool: str, sent: dict[str, Any], proposed: dict[str, Any]
) -> None:
    recovery = call.refuses("INVALID_REQUEST", tool, **sent).recovery
    assert recovery is not None
    assert (recovery["tool"], recovery["arguments"]) == (tool, proposed)
    assert recovery["reason"]


@holds("decisions §10: the first guesses of agents are refused with a call that leads on")
@pytest.mark.parametrize(("tool", "sent"), [one[1:] for one in UNCERTAIN], ids=[u[0] for u in UNCERTAIN])
def test_an_uncertain_correction_is_not_guessed(call: Door, tool: str, sent: dict[str, Any]) -> None:
    assert call.refuses("INVALID_REQUEST", tool, **sent).recovery is None


@holds("decisions §10: the first guesses of agents are refused with a call that leads on")
def test_a_missing_argument_is_reported_with_the_other_errors(call: Door) -> None:
    error = call.refuses("INVALID_REQUEST", "tasks_create", **W, steps=["one"])
    assert [one["path"] for one in (error.details or {})["errors"]] == ["steps[0]", "kind", "title"]
    assert error.recovery is None
    chosen = call.refuses("INVALID_REQUEST", "tasks_create", **W, title="t")
    assert (chosen.details or {})["allowed"] == ["plan", "task"]
    assert "'plan', 'task'" in chosen.message


@holds("decisions §10: the first guesses of agents are refused with a call that leads on")
def test_a_corrected_call_also_gets_the_workspace(call: Door) -> None:
    call("tasks_create", **W, kind="task", title="t")
    error = call.refuses("INVALID_REQUEST", "tasks_list", limit="5")
    assert error.recovery is not None
    assert error.recovery["arguments"] == {"limit": 5, "workspace": "shop"}
    assert (error.details or {})["workspaces"] == ["shop"]


@holds("decisions §10: the first guesses of agents are refused with a call that leads on")
def test_all_errors_of_a_call_are_reported_at_once(call: Door) -> None:
    error = call.refuses("INVALID_REQUEST", "moss_search", query=["a", "b"], limit="x", offset="y")
    assert [one["path"] for one in (error.details or {})["errors"]] == ["query", "limit", "offset"]
    error = call.refuses("VALIDATION_ERROR", "submit_payload", body="x", bogus=1)
    assert {one["path"] for one in (error.details or {})["errors"]} == {"capability_id", "body", "bogus"}


@holds("decisions §10: the first guesses of agents are refused with a call that leads on")
def test_a_corrected_call_is_carried_out(call: Door) -> None:
    error = call.refuses("INVALID_REQUEST", "capsule_store", workspace="shop", name="n", text=FULL, tags="a")
    assert error.recovery is not None
    call(error.recovery["tool"], **error.recovery["arguments"])
    before = dump(call.home)
    assert call("capsule_fetch", workspace="shop", name="n")["tags"] == ["a"]
    assert dump(call.home) == before


@holds("decisions §10: the first guesses of agents are refused with a call that leads on")
def test_a_section_of_similar_spelling_is_proposed(call: Door) -> None:
    capsule = call("capsule_store", **W, name="auth", capsule_text=FULL)["id"]
    sent = {**W, "name": "auth", "section": "Next action", "content": "- more", "mode": "replace"}
    recovery = call.refuses("INVALID_REQUEST", "capsule_append", **sent).recovery
    assert recovery is not None
    assert recovery["arguments"] == {"id": capsule, "section": "Next actions", "content": "- more", "mode": "replace"}
    call(recovery["tool"], **recovery["arguments"])
    unknown = call.refuses("INVALID_REQUEST", "capsule_append", **{**sent, "section": "Quokkas"})
    assert unknown.recovery is not None
    assert (unknown.recovery["tool"], "capsule_update" in unknown.message) == ("capsule_fetch", True)
