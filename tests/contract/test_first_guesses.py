"""Common mistakes of first calls: each is refused without a write, and its error proposes the right call."""

from __future__ import annotations

from typing import Any

import pytest

from contract.doors import FULL, Door
from moss_memory.registry import catalog
from support.direct_store import dump
from support.promises import holds

W = {"workspace": "shop"}
STEPS = [{"title": "one", "success_criteria": "it works", "tests": "pytest"}]

READ = "the proposed call reads"
SAYS = "the message names the way out"

MISTAKES: list[tuple[str, str, dict[str, Any], str, str]] = [
    ("a workspace is missing", "tasks_radar", {}, "INVALID_REQUEST", READ),
    ("a workspace is missing in a write", "tasks_create", {"kind": "task", "title": "t"}, "INVALID_REQUEST", SAYS),
    ("a workspace is mistyped", "branchmind_context_pack", {"workspace": "shpo"}, "NOT_FOUND", READ),
    ("a name is mistyped", "capsule_fetch", {**W, "name": "auht"}, "NOT_FOUND", READ),
    ("a name is in another workspace", "capsule_fetch", {"name": "auth"}, "NOT_FOUND", READ),
    ("a name stands in id", "capsule_fetch", {"id": "auth"}, "NOT_FOUND", READ),
    ("an id beside a name", "capsule_fetch", {"id": "x", "name": "auth"}, "AMBIGUOUS_ADDRESSING", SAYS),
    ("no address", "capsule_fetch", {}, "INVALID_REQUEST", SAYS),
    ("a stringified object", "artifact_store", {"kind": "k", "data": '{"a": 1}'}, "INVALID_REQUEST", SAYS),
    ("a stringified number", "capsule_list", {"limit": "5"}, "INVALID_REQUEST", SAYS),
    ("a stringified flag", "capsule_fetch", {**W, "name": "auth", "include_text": "true"}, "INVALID_REQUEST", SAYS),
    ("an array for a string", "capsule_fetch", {"name": ["auth"]}, "INVALID_REQUEST", SAYS),
    ("a string for an array", "capsule_store", {"capsule_text": FULL, "tags": "a,b"}, "INVALID_REQUEST", SAYS),
    ("a number for a string", "capsule_store", {"capsule_text": FULL, "name": 7}, "INVALID_REQUEST", SAYS),
    ("a required field is missing", "capsule_store", {"name": "new"}, "INVALID_REQUEST", SAYS),
    ("an empty text", "capsule_store", {"capsule_text": " "}, "INVALID_REQUEST", SAYS),
    ("a thin text", "capsule_store", {"capsule_text": "## Objective\nx"}, "CAPSULE_TOO_THIN", SAYS),
    ("a taken name", "capsule_store", {**W, "name": "auth", "capsule_text": FULL}, "NAME_ALREADY_EXISTS", READ),
    ("the wrong case of a mode", "capsule_store", {"capsule_text": FULL, "mode": "REPLACE"}, "INVALID_REQUEST", SAYS),
    ("an old version", "capsule_update", {**W, "name": "auth", "title": "t", "expected_version": 9}, "VERSION_MISMATCH",
     READ),
    ("an unknown version", "capsule_fetch", {**W, "name": "auth", "version": 9}, "NOT_FOUND", READ),
    ("an unknown section", "capsule_append", {**W, "name": "auth", "section": "Notes", "content": "x"},
     "INVALID_REQUEST", SAYS),
    ("a blank section", "capsule_append", {**W, "name": "auth", "section": " ", "content": "x"},
     "INVALID_REQUEST", SAYS),
    ("restoring what is there", "capsule_restore", {**W, "name": "auth"}, "CONFLICT", READ),
    ("a bulk delete without filters", "capsule_bulk_delete", {}, "INVALID_REQUEST", SAYS),
    ("a negative offset", "capsule_list", {"offset": -1}, "INVALID_REQUEST", SAYS),
    ("a limit of zero", "capsule_list", {"limit": 0}, "INVALID_REQUEST", SAYS),
    ("a time in words", "capsule_fetch", {**W, "name": "auth", "as_of": "yesterday"}, "INVALID_REQUEST", SAYS),
    ("a time for seconds", "artifact_touch", {**W, "name": "plan", "ttl_seconds": "2026-05-04T00:00:00Z"},
     "INVALID_REQUEST", SAYS),
    ("seconds below one", "artifact_touch", {**W, "name": "plan", "ttl_seconds": 0}, "INVALID_REQUEST", SAYS),
    ("an unknown task", "tasks_show", {**W, "target": "TASK-999"}, "NOT_FOUND", READ),
    ("the wrong case of a task", "tasks_show", {**W, "target": "task-001"}, "NOT_FOUND", READ),
    ("an unknown step", "tasks_done", {**W, "target": "TASK-001", "path": "s:9"}, "NOT_FOUND", READ),
    ("no step", "tasks_done", {**W, "target": "TASK-001"}, "INVALID_REQUEST", SAYS),
    ("the wrong case of a status", "tasks_complete", {**W, "target": "TASK-001", "status": "done"}, "INVALID_REQUEST",
     SAYS),
    ("a task with open steps", "tasks_complete", {**W, "target": "TASK-001"}, "CONFLICT", SAYS),
    ("an unknown card", "branchmind_think_set_status", {**W, "ids": "nobody", "status": "open"}, "NOT_FOUND", READ),
    ("an unknown branch", "branchmind_notes_commit", {**W, "content": "x", "branch": "nobody"}, "NOT_FOUND", READ),
    ("a target beside a branch", "branchmind_notes_commit", {**W, "content": "x", "target": "TASK-001",
     "branch": "main"}, "INVALID_REQUEST", SAYS),
    ("an unknown document", "branchmind_show", {**W, "doc": "nobody"}, "NOT_FOUND", READ),
    ("an unknown capability", "submit_payload", {"capability_id": "facts", "body": {}}, "UNKNOWN_CAPABILITY", SAYS),
    ("a blank query", "moss_search", {"query": " "}, "INVALID_REQUEST", SAYS),
]  # fmt: skip


def prepare(door: Door) -> None:
    door("capsule_store", **W, name="auth", capsule_text=FULL)
    door("artifact_store", **W, name="plan", kind="k", data={})
    door("tasks_create", **W, kind="task", title="t", steps=STEPS)
    door("branchmind_think_card", **W, card={"id": "c", "type": "decision", "title": "d"})


@holds("decisions §10: the first guesses of agents are refused with a call that leads on")
@pytest.mark.parametrize(
    ("tool", "arguments", "code", "way"), [one[1:] for one in MISTAKES], ids=[m[0] for m in MISTAKES]
)
def test_a_mistake_is_refused_with_a_working_proposal(
    call: Door, tool: str, arguments: dict[str, Any], code: str, way: str
) -> None:
    prepare(call)
    error = call.refuses(code, tool, **arguments)
    if way == READ:
        assert error.recovery is not None, error.payload()
        proposed = catalog.find(error.recovery["tool"])
        assert proposed is not None
        assert not proposed.mutates, "a mistake must not lead to a write"
        before = dump(call.home)
        call(error.recovery["tool"], **error.recovery["arguments"])
        assert dump(call.home) == before
    else:
        about = error.details or error.recovery
        assert about is not None or "`" in error.message, error.payload()
